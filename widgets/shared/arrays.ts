// A look at an array: heat map, histogram, one line of statistics.
import { h, svg } from './dom';
import { short } from './format';
import { HeatMap, type Editing, type Paging } from './heatmap';
import type { ArrayPreview } from './snapshot';

export type { Editing, Paging } from './heatmap';

const BARS = 30;

export function histogram(preview: ArrayPreview): HTMLElement | null {
  const { histogram: counts, low, high } = preview;
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (!most || low === null || high === null || low === high) return null;
  const bars = counts.map((count, i) => {
    const tall = count ? Math.max(1, (count / most) * BARS) : 0;
    return tall ? `M${i} ${BARS}v${-tall.toFixed(2)}h.8v${tall.toFixed(2)}z` : '';
  });
  const picture = svg(
    'svg',
    {
      class: 'tl-histogram',
      viewBox: `0 0 ${counts.length} ${BARS}`,
      preserveAspectRatio: 'none',
      role: 'img',
    },
    svg('path', { d: bars.join('') }),
  );
  const said = `histogram of ${counts.length} bins from ${short(low)} to ${short(high)}`;
  picture.setAttribute('aria-label', said);
  const axis = h('div', { class: 'tl-axis' }, h('span', {}, short(low)), h('span', {}, short(high)));
  const zero = low < 0 && high > 0 ? (-low / (high - low)) * 100 : null;
  if (zero !== null) axis.append(h('span', { class: 'tl-zero', style: `left:${zero.toFixed(1)}%` }, '0'));
  if (zero !== null && (zero < 14 || zero > 86)) axis.lastElementChild!.classList.add('tl-zero-bare');
  return h('figure', { class: 'tl-figure' }, picture, axis);
}

/**
 * `norm 8.4e-2 · mean −1.2e-5 · std 3.1e-3 · NaN 0`. Where something is not finite the norm is not either; the other figures are of
 * the finite values, and say so.
 */
export function statistics({
  elements,
  norm,
  mean,
  std,
  nan,
  inf,
  low,
  high,
  sampled,
}: ArrayPreview): string {
  if (elements === 0) return 'no elements';
  const alike = low !== null && low === high && elements > 1;
  const spread = std === null ? [] : [`std ${short(std)}`];
  const figures = alike ? [`every value is ${short(low)}`] : [`mean ${short(mean)}`, ...spread];
  const wrong = [`NaN ${nan.toLocaleString('en')}`, ...(inf ? [`Inf ${inf.toLocaleString('en')}`] : [])];
  const finite = mean === null ? [] : [`of the finite: ${figures.join(', ')}`];
  const parts =
    nan || inf
      ? [`norm ${nan ? 'NaN' : 'Inf'}`, ...wrong, ...finite]
      : [`norm ${short(norm)}`, ...figures, ...wrong];
  if (sampled) parts.push('from a sample');
  return parts.join(' · ');
}

/** Heat map, caption, statistics and histogram of one array; a single number stands alone. */
export function arrayView(
  preview: ArrayPreview,
  editing: Editing | null,
  paging: Paging | null = null,
): HTMLElement {
  const facts = statistics(preview);
  const caption = h('p', { class: preview.nan || preview.inf ? 'tl-caption tl-wrong' : 'tl-caption' });
  const say = (part: string) => (caption.textContent = [part, facts].filter(Boolean).join(' · '));
  say(preview.grid_caption);
  const map = preview.grid.length > 0 ? new HeatMap(preview, editing, paging, say) : null;
  if (preview.elements === 1) return h('div', { class: 'tl-array tl-alone' }, map?.element);
  return h('div', { class: 'tl-array' }, map?.element, caption, histogram(preview));
}
