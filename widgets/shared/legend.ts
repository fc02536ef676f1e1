// What the marks of the picture mean: shown with the keys.
import { h, svg } from './dom';
import { ICONS, type IconName } from './icons';

interface Sign {
  readonly means: string;
  readonly look: string;
  readonly mark?: IconName | 'clock' | 'double' | 'corner';
}

const SIGNS: readonly Sign[] = [
  { means: 'not reached', look: 'idle' },
  { means: 'a gradient waits', look: 'waiting', mark: 'clock' },
  { means: 'runs next', look: 'current', mark: 'double' },
  { means: 'done', look: 'done', mark: 'tick' },
  { means: 'freed, or needs no grad', look: 'freed' },
  { means: 'breakpoint', look: 'idle', mark: 'corner' },
  { means: 'edited', look: 'done', mark: 'pencil' },
  { means: 'NaN or Inf', look: 'nan', mark: 'close' },
];

export function legend(): HTMLElement {
  const rows = SIGNS.map(({ means, look, mark }) =>
    h('div', { class: 'tl-sign' }, picture(look, mark), h('span', {}, means)),
  );
  return h('div', { class: 'tl-legend', 'aria-label': 'what the marks mean' }, ...rows);
}

function picture(look: string, mark: Sign['mark']): SVGElement {
  const box = svg('rect', { class: 'tl-sign-box', x: 9, y: 4, width: 38, height: 18, rx: 4 });
  const parts: SVGElement[] = [box];
  if (look === 'nan')
    parts.push(svg('path', { class: 'tl-sign-hatch', d: 'M12 22 30 4M20 22 38 4M28 22 46 4' }));
  if (mark === 'clock')
    parts.push(
      svg('circle', { class: 'tl-sign-mark', cx: 38, cy: 13, r: 4 }),
      svg('path', { class: 'tl-sign-fill', d: 'M38 13V9a4 4 0 0 1 4 4Z' }),
    );
  else if (mark === 'double')
    parts.push(
      svg('rect', { class: 'tl-sign-mark', x: 6.5, y: 1.5, width: 43, height: 23, rx: 6 }),
      svg('path', { class: 'tl-sign-fill', d: 'M0 9.5v7l4.5-3.5Z' }),
    );
  else if (mark === 'corner')
    parts.push(
      svg('path', { class: 'tl-sign-break', d: ICONS.octagon, transform: 'translate(3.4 -1.6) scale(.7)' }),
    );
  else if (mark)
    parts.push(
      svg('path', {
        class: `tl-sign-mark tl-sign-${mark}`,
        d: ICONS[mark],
        transform: 'translate(32 7.4) scale(.7)',
      }),
    );
  return svg(
    'svg',
    { class: `tl-sign-${look}`, viewBox: '0 0 52 26', width: 52, height: 26, 'aria-hidden': 'true' },
    ...parts,
  );
}
