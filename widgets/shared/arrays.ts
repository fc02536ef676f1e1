// A look at an array: heat map, histogram, one line of statistics; and the edit of one of its values.
import { h, svg } from './dom';
import { exact, parseNumber, short } from './format';
import type { ArrayPreview } from './snapshot';

/** Up to this many columns the numbers themselves fit into the cells. */
const NUMBERS = 4;

export interface Editing {
  /** What the array is called, for the person who edits it. */
  readonly name: string;
  /** Asks for the new value of one element; resolves when it is set. */
  set(index: readonly number[], value: number | string): Promise<void>;
}

/** The element of the array that a cell of the grid shows: the grid is the first rows of the last two dimensions. */
export function indexOf(shape: readonly number[], row: number, column: number): number[] {
  if (shape.length === 0) return [];
  if (shape.length === 1) return [column];
  return [...new Array<number>(shape.length - 2).fill(0), row, column];
}

/** How strong a cell is, 0 to 1, of the greatest size in the grid. */
export function strengths(grid: ArrayPreview['grid']): number[][] {
  let most = 0;
  for (const row of grid) for (const value of row) if (value !== null) most = Math.max(most, Math.abs(value));
  return grid.map(row =>
    row.map(value => (value === null || most === 0 ? 0 : (Math.abs(value) / most) ** 0.75)),
  );
}

function heatMap(preview: ArrayPreview, editing: Editing | null): HTMLElement {
  const { grid, marks, shape } = preview;
  const columns = grid[0]?.length ?? 0;
  const strength = strengths(grid);
  const numbers = columns <= NUMBERS;
  const table = h('div', {
    class: numbers ? 'tl-heat tl-heat-numbers' : 'tl-heat',
    role: 'grid',
    'aria-label': `values, ${preview.grid_caption}`,
    style: `--tl-columns:${columns};--tl-rows:${grid.length}`,
  });
  grid.forEach((row, r) => {
    const line = h('div', { role: 'row', class: 'tl-heat-row' });
    row.forEach((value, c) => {
      const mark = marks[r]?.[c] ?? '';
      const name = `[${indexOf(shape, r, c).join(', ')}]`;
      const said = value === null ? mark || 'not finite' : exact(value);
      const cell = h('div', {
        role: 'gridcell',
        class: `tl-cell${value !== null && value < 0 ? ' tl-negative' : ''}${strength[r][c] > 0.45 ? ' tl-strong' : ''}${mark ? ` tl-${mark.replace('-', 'minus-')}` : ''}`,
        tabindex: r === 0 && c === 0 ? 0 : -1,
        'data-row': r,
        'data-column': c,
        'aria-label': `${name} ${said}`,
        title: `${name}  ${said}`,
        style: `--tl-t:${Math.round(strength[r][c] * (numbers ? 55 : 100))}%`,
      });
      if (numbers) cell.textContent = value === null ? mark : short(value);
      line.append(cell);
    });
    table.append(line);
  });
  const whole = h('div', { class: 'tl-heat-whole' }, table);
  listen(whole, table, preview, editing);
  return whole;
}

/** Arrow keys move through the cells; click or Enter edits one where that is offered. */
function listen(
  whole: HTMLElement,
  table: HTMLElement,
  preview: ArrayPreview,
  editing: Editing | null,
): void {
  const cellAt = (r: number, c: number) =>
    table.querySelector<HTMLElement>(`[data-row="${r}"][data-column="${c}"]`);
  const placeOf = (cell: HTMLElement) => [Number(cell.dataset.row), Number(cell.dataset.column)];
  const goTo = (r: number, c: number) => {
    const cell = cellAt(r, c);
    if (!cell) return;
    for (const other of table.querySelectorAll('[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    cell.setAttribute('tabindex', '0');
    cell.focus({ preventScroll: true });
  };
  const edit = (cell: HTMLElement) => {
    const [r, c] = placeOf(cell);
    whole.querySelector('form')?.remove();
    if (editing) whole.append(editor(preview, editing, r, c, () => goTo(r, c)));
    whole.querySelector('input')?.select();
  };
  table.addEventListener('click', event => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('.tl-cell');
    if (!cell) return;
    goTo(...(placeOf(cell) as [number, number]));
    edit(cell);
  });
  table.addEventListener('keydown', event => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('.tl-cell');
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    const [r, c] = placeOf(cell);
    const steps: Record<string, [number, number]> = {
      ArrowUp: [r - 1, c],
      ArrowDown: [r + 1, c],
      ArrowLeft: [r, c - 1],
      ArrowRight: [r, c + 1],
    };
    const step = steps[event.key];
    if (step) goTo(...step);
    else if ((event.key === 'Enter' || event.key === ' ') && editing) edit(cell);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function editor(
  preview: ArrayPreview,
  editing: Editing,
  r: number,
  c: number,
  leave: () => void,
): HTMLElement {
  const index = indexOf(preview.shape, r, c);
  const name = `${editing.name}[${index.join(', ')}]`;
  const value = preview.grid[r][c];
  const input = h('input', {
    class: 'tl-input',
    'data-testid': 'tl-edit-value',
    'aria-label': `new value of ${name}`,
    value: value === null ? preview.marks[r]?.[c] || 'nan' : exact(value),
    size: 12,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const hint = h('span', { class: 'tl-muted', role: 'status' }, 'Enter sets, Escape leaves');
  const form = h('form', { class: 'tl-editor' }, h('label', {}, h('code', {}, `${name} = `), input), hint);
  const say = (text: string) => {
    hint.textContent = text;
    hint.classList.add('tl-wrong');
  };
  form.addEventListener('submit', event => {
    event.preventDefault();
    const wanted = parseNumber(input.value);
    if (wanted === null) return say('write a number, nan, inf or -inf');
    editing.set(index, wanted).catch((error: Error) => say(error.message));
  });
  form.addEventListener('keydown', event => {
    // Nobody else hears what is typed (JupyterLab would take Enter); the keys that step are the instrument's.
    if (!/^F\d/.test(event.key)) event.stopPropagation();
    if (event.key !== 'Escape') return;
    form.remove();
    leave();
  });
  return form;
}

const BARS = 30;

export function histogram(preview: ArrayPreview): HTMLElement | null {
  const { histogram: counts, low, high } = preview;
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (!most || low === null || high === null) return null;
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

/** `norm 8.4e-2 · mean −1.2e-5 · std 3.1e-3 · NaN 0` */
export function statistics({ elements, norm, mean, std, nan, inf, sampled }: ArrayPreview): string {
  if (elements === 0) return 'no elements';
  const parts = [`norm ${short(norm)}`, `mean ${short(mean)}`];
  if (std !== null) parts.push(`std ${short(std)}`);
  parts.push(`NaN ${nan.toLocaleString('en')}`);
  if (inf) parts.push(`Inf ${inf.toLocaleString('en')}`);
  if (sampled) parts.push('from a sample');
  return parts.join(' · ');
}

/** Heat map, caption, statistics and histogram of one array. */
export function arrayView(preview: ArrayPreview, editing: Editing | null): HTMLElement {
  const caption = [preview.grid_caption, statistics(preview)].filter(Boolean).join(' · ');
  return h(
    'div',
    { class: 'tl-array' },
    preview.grid.length > 0 && heatMap(preview, editing),
    h('p', { class: preview.nan || preview.inf ? 'tl-caption tl-wrong' : 'tl-caption' }, caption),
    histogram(preview),
  );
}
