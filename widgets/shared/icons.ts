// Every icon is a path in a 16 by 16 square, for the page (SVG) and for the canvas (Path2D) alike.
import { svg } from './dom';

/** Drawn as a line, unless the name is in `FILLED`. */
export const ICONS = {
  next: 'M5 3.2v9.6L12.6 8Z',
  back: 'M11 3.2v9.6L3.4 8Z',
  continue: 'M2.5 3.5v9L8 8Zm6 0v9L14 8Z',
  restart: 'M3 3h1.8v10H3ZM13 3.2v9.6L5.6 8Z',
  finish: 'M3 3.2v9.6L10.4 8ZM11.2 3H13v10h-1.8Z',
  runTo: 'M2 8h7.5M6.5 4.8 9.8 8l-3.3 3.2M13 2.5v11',
  pencil: 'M2.8 13.2l.7-3L10.8 2.9a1 1 0 0 1 1.4 0l.9.9a1 1 0 0 1 0 1.4L5.8 12.5Z M9.6 4.1l2.3 2.3',
  octagon: 'M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4Z',
  octagonLine: 'M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4Z',
  find: 'M7 2.2a4.8 4.8 0 1 1 0 9.6a4.8 4.8 0 0 1 0-9.6M10.6 10.6l3.4 3.4',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  fold: 'M4 1.8 8 5.4l4-3.6M4 14.2l4-3.6 4 3.6M2.5 8h11',
  unfold: 'M4 5 8 1.6 12 5M4 11l4 3.4L12 11M2.5 8h11',
  help: 'M5.6 5.6a2.4 2.4 0 1 1 3.4 2.2c-.7.3-1 .8-1 1.6M8 12.2v.6',
  condition: 'M2.5 3h11L9.3 8.2v4.6l-2.6-1.4V8.2Z',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  tick: 'M3 8.6 6.4 12 13 4.4',
  shift: 'M8 2.5 3 8h2.6v5h4.8V8H13Z',
  down: 'M3.5 6 8 10.5 12.5 6',
  right: 'M6 3.5 10.5 8 6 12.5',
  copy: 'M5.5 5.5h7v7h-7ZM3.5 10.5v-7h7',
  pause: 'M5 3h2v10H5ZM9 3h2v10H9Z',
  record: 'M8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9',
  up: 'M8 13V3.5M4.5 7 8 3.4 11.5 7',
  into: 'M2.5 3.5h6v6M5.6 7 8.5 10 11.4 7M3 13h10.5',
  out: 'M8.5 10V3.2M5.6 6 8.5 3.2 11.4 6M3 13h10.5',
  save: 'M8 2.5v7M4.9 6.6 8 9.7l3.1-3.1M2.8 10.6v2.6h10.4v-2.6',
  store: 'M3 4.2c0-2.6 10-2.6 10 0v7.6c0 2.6-10 2.6-10 0ZM3 4.2c0 2.6 10 2.6 10 0M3 8c0 2.6 10 2.6 10 0',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  over: 'M2.2 8.6a5.8 5 0 0 1 11.2-.8M13.9 3.9l-.4 4.1-3.9-.7M8 12.2v.1',
  eye: 'M1.8 8c3.4-5 9-5 12.4 0-3.4 5-9 5-12.4 0ZM8 6.4v3.2M6.4 8h3.2',
  stop: 'M4 4h8v8H4Z',
  changed: 'M8 3 13.4 12.6H2.6Z',
  scale: 'M8 2.5v11M3 5h10M3 5 1.6 9.4h2.8ZM13 5l-1.4 4.4h2.8Z',
} as const;

export type IconName = keyof typeof ICONS;

const FILLED: ReadonlySet<string> = new Set<IconName>([
  'next',
  'back',
  'continue',
  'restart',
  'finish',
  'octagon',
  'pause',
  'record',
  'stop',
  'changed',
]);

export function icon(name: IconName, size = 14): SVGElement {
  const filled = FILLED.has(name);
  const path = svg('path', {
    d: ICONS[name],
    fill: filled ? 'currentColor' : 'none',
    stroke: filled ? 'none' : 'currentColor',
    'stroke-width': 1.6,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  });
  return svg(
    'svg',
    {
      class: 'tl-icon',
      viewBox: '0 0 16 16',
      width: size,
      height: size,
      'aria-hidden': 'true',
      focusable: 'false',
    },
    path,
  );
}
