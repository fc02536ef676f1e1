// Small pictures of numbers: cells from 0 to 99 in viridis, and -1 for what is not finite.
import { h } from './dom';
import type { Tile } from './watching';

/** Viridis, low to high. */
export const VIRIDIS = [
  '#440154', '#482475', '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26', '#fde725',
] as const; // prettier-ignore

/** One picture, as large as its place; what is not finite stays hollow. */
export function tile({ label, cells }: Tile, what: string): HTMLElement {
  const canvas = h('canvas', {
    class: 'tl-tile',
    role: 'img',
    'aria-label': label ? `${what}, channel ${label}` : what,
    title: label ? `channel ${label}` : what,
  });
  canvas.width = cells[0]?.length || 1;
  canvas.height = cells.length || 1;
  const context = canvas.getContext('2d');
  cells.forEach((row, y) =>
    row.forEach((value, x) => {
      if (value < 0 || !context) return;
      context.fillStyle = VIRIDIS[Math.round((value / 99) * (VIRIDIS.length - 1))];
      context.fillRect(x, y, 1, 1);
    }),
  );
  return canvas;
}

/** Bars of a histogram, as a row of elements. */
export function bars(counts: readonly number[], what: string): HTMLElement {
  const most = Math.max(1, ...counts);
  return h(
    'div',
    { class: 'tl-minibars', role: 'img', 'aria-label': what },
    ...counts.map(count =>
      h('span', { style: `height:${count ? Math.max(4, (100 * count) / most).toFixed(0) : 0}%` }),
    ),
  );
}
