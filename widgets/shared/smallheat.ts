// A few values as small squares: the stronger the larger, below zero in the other hue with a bar, a cross where not finite.
import { h, svg } from './dom';

const LEVELS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+';
const ZERO = 31;
const CELL = 14;

export function smallHeat(rows: string): HTMLElement {
  const lines = rows.split(' ');
  const width = Math.max(...lines.map(line => line.length));
  const picture = svg('svg', {
    class: 'tl-small-heat',
    viewBox: `0 0 ${width * CELL} ${lines.length * CELL}`,
    width: width * CELL,
    height: lines.length * CELL,
    role: 'img',
    'aria-label': `the first ${lines.length} by ${width} values as a heat map`,
  });
  lines.forEach((line, r) =>
    [...line].forEach((letter, c) => {
      const [x, y] = [c * CELL, r * CELL];
      const level = LEVELS.indexOf(letter) - ZERO;
      const finite = letter !== '!';
      const strength = finite ? (Math.abs(level) / ZERO) ** 0.75 : 1;
      const hue = !finite || level < 0 ? 'var(--tl-warn)' : 'var(--tl-accent)';
      const fill = `color-mix(in srgb, ${hue} ${Math.round(strength * 100)}%, var(--tl-raised))`;
      picture.append(svg('rect', { x, y, width: CELL - 1, height: CELL - 1, style: `fill:${fill}` }));
      const bar = strength > 0.45 ? 'var(--tl-surface)' : 'var(--tl-warn)';
      if (!finite)
        picture.append(
          svg('path', {
            d: `M${x + 3} ${y + 3}l7 7m0-7l-7 7`,
            style: 'stroke:var(--tl-surface);stroke-width:1.6',
          }),
        );
      else if (level < 0)
        picture.append(svg('rect', { x: x + 4, y: y + 6, width: 5, height: 1.5, style: `fill:${bar}` }));
    }),
  );
  return h('div', { class: 'tl-heat-whole' }, picture as unknown as HTMLElement);
}
