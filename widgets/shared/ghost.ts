// A value that was stretched, drawn: full cells are its own, hollow ones are copies; backward they are summed into the full ones.
import { h, svg } from './dom';
import type { Stretched } from './kept';

const CELL = 11;
const MOST = 6;

const sizesOf = (text: string) =>
  text
    .replace(/[[\]\s]/g, '')
    .split(',')
    .filter(Boolean)
    .map(Number);

/** The last two dimensions of the result, at most so many cells each way. */
function picture({ result, dims }: Stretched): SVGElement {
  const sizes = sizesOf(result);
  while (sizes.length < 2) sizes.unshift(1);
  const shift = sizesOf(result).length - 2;
  const [rows, columns] = sizes.slice(-2).map(size => Math.min(MOST, size));
  const hollowRow = dims.includes(shift);
  const hollowColumn = dims.includes(shift + 1);
  const cells: SVGElement[] = [];
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const copy = (hollowRow && r > 0) || (hollowColumn && c > 0);
      cells.push(
        svg('rect', {
          class: copy ? 'tl-ghost-copy' : 'tl-ghost-own',
          x: c * CELL + 1,
          y: r * CELL + 1,
          width: CELL - 3,
          height: CELL - 3,
          rx: 1.5,
        }),
      );
    }
  const [w, height] = [columns * CELL + 1, rows * CELL + 1];
  return svg(
    'svg',
    { class: 'tl-ghosts', viewBox: `0 0 ${w} ${height}`, width: w, height, 'aria-hidden': 'true' },
    ...cells,
  );
}

/** How a node stretched its inputs, and what its backward does about it. */
export function ghosts(marks: readonly Stretched[]): HTMLElement | null {
  if (!marks.length) return null;
  const parts = marks.map(mark => {
    const sentence = `${mark.forward[0].toUpperCase()}${mark.forward.slice(1)}.`;
    return h(
      'div',
      { class: 'tl-ghostrow' },
      picture(mark),
      h(
        'div',
        {},
        h('p', { class: mark.outer ? 'tl-wrong' : null }, mark.outer ? `Check: ${sentence}` : sentence),
        h('p', { class: 'tl-muted' }, `Backward: ${mark.backward}.`),
      ),
    );
  });
  return h('section', { 'data-testid': 'tl-stretched' }, h('h4', {}, 'Stretched by broadcasting'), ...parts);
}
