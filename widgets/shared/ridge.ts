// How the gradients of one parameter are spread: one curve a look, the oldest behind, sizes on a log scale.
import { h, svg } from './dom';
import { short } from './format';
import { LEVELS, type Ridge } from './training';

const WIDTH = 300;
const LIFT = 7;
const HIGH = 30;
const SHOWN = 24;

/** The norm that a level stands for; null for none and for what is not finite. */
export function normOf(level: number): number | null {
  if (level === LEVELS.zero) return 0;
  return level === LEVELS.none || level === LEVELS.not_finite ? null : 10 ** (level / 1000);
}

export function ridgeFigure(ridge: Ridge): HTMLElement {
  const looks = Math.min(ridge.steps.length, SHOWN);
  const from = ridge.steps.length - looks;
  const rows = Array.from({ length: looks }, (_, i) =>
    Array.from(ridge.counts.slice((from + i) * ridge.bins, (from + i + 1) * ridge.bins)),
  );
  const [low, high] = reach(rows, ridge.bins);
  if (!looks || high < low)
    return h('p', { class: 'tl-muted' }, 'How its gradients are spread is known after the first look.');
  const most = Math.max(1, ...rows.flat());
  const height = HIGH + LIFT * looks + 16;
  const x = (bin: number) => ((bin - low + 0.5) / (high - low + 1)) * WIDTH;
  const curves = rows.map((row, i) => {
    const base = HIGH + LIFT * i;
    const points = row
      .slice(low, high + 1)
      .map((count, k) => `${x(low + k).toFixed(1)},${(base - (count / most) * (HIGH - 4)).toFixed(1)}`);
    const d = `M0 ${base}L${points.join('L')}L${WIDTH} ${base}`;
    return svg('path', { d, class: i === looks - 1 ? 'tl-ridge tl-ridge-now' : 'tl-ridge' });
  });
  const ticks: Element[] = [];
  const decade = (bin: number) => (ridge.first + 2 * bin) * Math.log10(2);
  const every = Math.max(1, Math.ceil((decade(high + 1) - decade(low)) / 5));
  for (let power = Math.ceil(decade(low)); power <= decade(high + 1); power += every) {
    const at = ((power - decade(low)) / (decade(high + 1) - decade(low))) * WIDTH;
    const label = svg('text', { x: Math.min(at, WIDTH - 24), y: height - 2, class: 'tl-tick' });
    label.textContent = `1e${power}`;
    ticks.push(svg('path', { d: `M${at} ${height - 14}v-4`, class: 'tl-ridge' }), label);
  }
  const median = (row: number[]) => {
    const half = row.reduce((a, b) => a + b, 0) / 2;
    let sum = 0;
    const bin = row.findIndex(count => (sum += count) >= half);
    return 2 ** (ridge.first + 2 * bin + 1);
  };
  const said = `sizes of gradients by step ${ridge.steps[from]} to ${ridge.steps[ridge.steps.length - 1]}: half of them were above ${short(median(rows[0]))}, now above ${short(median(rows[looks - 1]))}`;
  const zeros = ridge.zeros[ridge.zeros.length - 1] ?? 0;
  const taken = rows[looks - 1].reduce((a, b) => a + b, 0) + zeros;
  return h(
    'figure',
    { 'data-testid': 'tl-ridge' },
    svg(
      'svg',
      { class: 'tl-ridges', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': said },
      ...curves,
      ...ticks,
    ) as unknown as HTMLElement,
    h(
      'p',
      { class: 'tl-muted' },
      `${said}${zeros ? `; ${Math.round((100 * zeros) / taken)}% are exactly 0` : ''}`,
    ),
  );
}

/** The first and last bin that holds anything, one wider on each side. */
function reach(rows: readonly number[][], bins: number): [number, number] {
  const held = (bin: number) => rows.some(row => row[bin] > 0);
  let low = 0;
  let high = bins - 1;
  while (low < bins && !held(low)) low++;
  while (high >= low && !held(high)) high--;
  return low > high ? [low, high] : [Math.max(0, low - 1), Math.min(bins - 1, high + 1)];
}
