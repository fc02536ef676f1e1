// The numbers of an array as a grid of at most 8 x 16 cells, which can be moved over all of it; and the edit of one of them.
import { button } from './controls';
import { h, type Undo } from './dom';
import { exact, parseNumber, short } from './format';
import type { ArrayPreview, ArrayWindow } from './snapshot';

/** Up to this many columns the numbers themselves fit into the cells. */
const NUMBERS = 4;
const ROWS = 8;
const COLUMNS = 16;

type Index = readonly number[];

export interface Editing {
  /** What the array is called, for the person who edits it. */
  readonly name: string;
  /** Asks for the new value of one element; resolves when it is set. */
  set(index: Index, value: number | string): Promise<void>;
  /** Puts what an expression such as `grad * 0` gives in the place of all; resolves when it is there. */
  setAll(expression: string): Promise<void>;
}

export interface Paging {
  /** The name of the array among those of its node. */
  readonly part: string;
  /** Asks for the part that begins at an element, or as near to it as there is one. */
  load(start: Index): Promise<ArrayWindow>;
  /** Is told where the grid stands, so that it stands there again when the node is shown anew. */
  moved(start: Index): void;
}

/** The element that a cell shows: the grid begins at `start` and lies in the last two dimensions. */
export function indexOf(start: Index, row: number, column: number): number[] {
  const index = [...start];
  if (index.length) index[index.length - 1] += column;
  if (index.length > 1) index[index.length - 2] += row;
  return index;
}

/** The element that a person typed: `3, 40`, also in brackets, also counted from the end; or why it is none. */
export function parseIndex(text: string, shape: Index): number[] | string {
  const words = text.replace(/[[\]()]/g, ' ').split(/[\s,]+/);
  const numbers = words
    .filter(Boolean)
    .map(word => (/^[-−]?\d+$/.test(word) ? Number(word.replace('−', '-')) : NaN));
  if (numbers.length !== shape.length || numbers.some(Number.isNaN))
    return shape.length === 1
      ? 'write a whole number'
      : `write ${shape.length} whole numbers, such as ${shape.map(() => 0).join(', ')}`;
  const found = numbers.map((number, dim) => (number < 0 ? number + shape[dim] : number));
  const wrong = found.findIndex((number, dim) => number < 0 || number >= shape[dim]);
  return wrong < 0 ? found : `${numbers[wrong]} is not in 0 to ${(shape[wrong] - 1).toLocaleString('en')}`;
}

/** How strong a cell is, 0 to 1, of the greatest size there is. */
export function strengths(grid: ArrayPreview['grid'], least = 0): number[][] {
  let most = least;
  for (const row of grid) for (const value of row) if (value !== null) most = Math.max(most, Math.abs(value));
  return grid.map(row =>
    row.map(value => (value === null || most === 0 ? 0 : (Math.abs(value) / most) ** 0.75)),
  );
}

export class HeatMap {
  readonly element = h('div', { class: 'tl-heat-whole' });
  private readonly table: HTMLElement;
  private readonly frame: HTMLElement;
  private readonly bars: { down: Bar | null; across: Bar | null };
  private readonly slice: HTMLElement | null = null;
  /** How many elements of each dimension are shown. */
  private readonly most: Index;
  private shown: ArrayWindow;
  /** Where the cells that stand in the page begin. */
  private drawn: Index = [];
  /** Where the grid is to stand, and the element that then has the keyboard. */
  private wanted: Index;
  private cell: Index | null = null;
  private loading = false;

  constructor(
    private readonly preview: ArrayPreview,
    private readonly editing: Editing | null,
    private readonly paging: Paging | null,
    private readonly say: (caption: string) => void,
  ) {
    const { shape, start } = preview;
    this.shown = preview;
    this.wanted = start;
    this.most = shape.map((_, dim) => [ROWS, COLUMNS][dim - shape.length + 2] ?? 1);
    this.table = h('div', { role: 'grid' });
    const bar = (dim: number, upright: boolean) => {
      const size = shape.at(dim) ?? 1;
      const most = this.most.at(dim) ?? 1;
      if (!paging || size <= most) return null;
      return new Bar(size, most, upright, at => this.moveTo(this.moved(this.wanted, dim, at), null));
    };
    this.bars = { down: shape.length > 1 ? bar(-2, true) : null, across: bar(-1, false) };
    const { down, across } = this.bars;
    this.frame = h('div', { class: 'tl-heat-frame' }, this.table, down?.element, across?.element);
    this.element.append(this.frame);
    if (paging) this.element.dataset.part = paging.part;
    const outer = shape.slice(0, -2).reduce((a, b) => a * b, 1);
    if (paging && (down || across || outer > 1)) {
      if (outer > 1) this.slice = h('code', {});
      this.element.append(this.pager());
    }
    this.listen();
    this.fill();
  }

  // ---- cells ----------------------------------------------------------------------------------------------------------

  private fill(): void {
    const { grid, marks, start, grid_caption } = this.shown;
    const { low, high } = this.preview;
    const columns = grid[0]?.length ?? 0;
    const numbers = columns <= NUMBERS;
    const strength = strengths(grid, Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0)));
    this.table.className = numbers ? 'tl-heat tl-heat-numbers' : 'tl-heat';
    this.table.setAttribute('aria-label', `values, ${grid_caption}`);
    this.frame.style.cssText = `--tl-columns:${columns};--tl-rows:${grid.length}`;
    const lines = grid.map((row, r) => {
      const line = h('div', { role: 'row', class: 'tl-heat-row' });
      row.forEach((value, c) => {
        const mark = marks[r]?.[c] ?? '';
        const name = `[${indexOf(start, r, c).join(', ')}]`;
        const said = value === null ? mark || 'not finite' : exact(value);
        const words = numbers ? (value === null ? mark : short(value)) : '';
        const looks = [
          'tl-cell',
          value !== null && value < 0 && 'tl-negative',
          strength[r][c] > 0.45 && 'tl-strong',
          mark && `tl-${mark.replace('-', 'minus-')}`,
        ];
        line.append(
          h(
            'div',
            {
              role: 'gridcell',
              class: looks.filter(Boolean).join(' '),
              tabindex: r === 0 && c === 0 ? 0 : -1,
              'data-row': r,
              'data-column': c,
              'data-said': `${name} ${said}`,
              style: `--tl-t:${Math.round(strength[r][c] * (numbers ? 46 : 100))}%`,
            },
            words && h('span', { 'aria-hidden': 'true' }, words), // shortened; what is read says it in full
            h('span', { class: 'tl-unseen' }, `${name} ${said}`),
          ),
        );
      });
      return line;
    });
    const index = this.active();
    this.table.replaceChildren(...lines);
    this.drawn = start;
    this.bars.down?.show(start.at(-2)!);
    this.bars.across?.show(start.at(-1)!);
    if (this.slice) this.slice.textContent = `[${[...start.slice(0, -2), '·', '·'].join(', ')}]`;
    this.say(grid_caption);
    if (index) this.focusOn(index);
  }

  private cellAt(row: number, column: number): HTMLElement | null {
    return this.table.querySelector(`[data-row="${row}"][data-column="${column}"]`);
  }

  private focus(row: number, column: number): void {
    const cell = this.cellAt(row, column);
    if (!cell) return;
    for (const other of this.table.querySelectorAll('[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    cell.setAttribute('tabindex', '0');
    cell.focus({ preventScroll: true });
  }

  // ---- moving ---------------------------------------------------------------------------------------------------------

  private clamped(start: Index): number[] {
    const { shape } = this.preview;
    return start.map((at, dim) => Math.max(0, Math.min(shape[dim] - this.most[dim], at)));
  }

  /** A start with the number of one dimension, counted from the end, put in its place. */
  private moved(start: Index, dim: number, at: number): number[] {
    return this.clamped(start.map((old, d) => (d === start.length + dim ? at : old)));
  }

  /** The nearest start from which an element is seen; `before` is how many are to stand before one that was not. */
  private holding(index: Index, start: Index, before: (dim: number, ahead: boolean) => number): number[] {
    return this.clamped(
      index.map((at, dim) => {
        const first = start[dim];
        if (at >= first && at < first + this.most[dim]) return first;
        return at - before(dim, at > first);
      }),
    );
  }

  /** The slice so many further on, in the order of memory. */
  private sliceAt(by: number): number[] {
    const outer = this.preview.shape.slice(0, -2);
    const many = outer.reduce((a, b) => a * b, 1);
    let flat = outer.reduce((at, size, dim) => at * size + this.wanted[dim], 0) + by;
    flat = (flat + many) % many;
    const start = [...this.wanted];
    for (let dim = outer.length - 1; dim >= 0; dim--) {
      start[dim] = flat % outer[dim];
      flat = Math.floor(flat / outer[dim]);
    }
    return start;
  }

  /** Moves the grid; `cell` is the element that then has the keyboard. The latest wish wins while an answer is awaited. */
  private moveTo(start: Index, cell: Index | null): void {
    if (String(start) === String(this.shown.start) && !this.loading) return this.focusOn(cell);
    if (!this.paging) return;
    this.wanted = start;
    this.cell = cell;
    this.element.querySelector('form.tl-editor')?.remove();
    if (!this.loading) void this.load(this.paging);
  }

  private async load({ load, moved }: Paging): Promise<void> {
    this.loading = true;
    try {
      while (String(this.wanted) !== String(this.shown.start)) {
        const asked = this.wanted;
        this.shown = await load(asked);
        // Where no part begins just there, the nearest that does is shown.
        if (asked === this.wanted) this.wanted = this.shown.start;
        this.fill();
        moved(this.shown.start);
      }
      this.focusOn(this.cell);
    } catch (error) {
      this.wanted = this.shown.start;
      this.say(`This part could not be shown: ${(error as Error).message}`);
    }
    this.loading = false;
  }

  /** Gives an element the keyboard, or the one nearest to it that is shown. */
  private focusOn(index: Index | null): void {
    if (!index) return;
    const { start, grid } = this.shown;
    const [row, column] = [0, 0, ...index.map((at, dim) => at - start[dim])].slice(-2);
    const inside = (at: number, size: number) => Math.max(0, Math.min(size - 1, at));
    this.focus(inside(row, grid.length), inside(column, grid[0].length));
  }

  // ---- keys, mouse, edits ---------------------------------------------------------------------------------------------

  private listen(): void {
    const { table } = this;
    const cellOf = (event: Event) => (event.target as HTMLElement).closest<HTMLElement>('.tl-cell');
    const placeOf = (cell: HTMLElement): [number, number] => [
      Number(cell.dataset.row),
      Number(cell.dataset.column),
    ];
    table.addEventListener('click', event => {
      const cell = cellOf(event);
      if (!cell) return;
      this.focus(...placeOf(cell));
      this.edit(...placeOf(cell));
    });
    table.addEventListener('mouseover', event => {
      const cell = cellOf(event);
      if (cell) cell.title = cell.dataset.said!;
    });
    table.addEventListener('keydown', event => {
      const cell = cellOf(event);
      if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
      if (!this.key(event.key, cell)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    table.addEventListener(
      'wheel',
      event => {
        if (!table.contains(document.activeElement) || event.ctrlKey) return;
        const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        const by = Math.sign(event.deltaX + event.deltaY) * 2;
        if (this.scroll(across ? -1 : -2, by)) event.preventDefault();
      },
      { passive: false },
    );
  }

  /** Moves the grid along a dimension; false at its end. */
  private scroll(dim: -1 | -2, by: number): boolean {
    if (!(dim === -1 ? this.bars.across : this.bars.down)) return false;
    const start = this.moved(this.wanted, dim, this.wanted.at(dim)! + by);
    if (String(start) === String(this.wanted)) return false;
    this.moveTo(start, null);
    return true;
  }

  /** The element that has the keyboard, if one has. */
  private active(): Index | null {
    const cell = document.activeElement as HTMLElement | null;
    return cell && this.table.contains(cell) ? this.elementOf(cell) : null;
  }

  private elementOf(cell: HTMLElement): Index {
    return indexOf(this.drawn, Number(cell.dataset.row), Number(cell.dataset.column));
  }

  private key(key: string, cell: HTMLElement): boolean {
    const steps: Record<string, readonly [-1 | -2, number]> = {
      ArrowUp: [-2, -1],
      ArrowDown: [-2, 1],
      ArrowLeft: [-1, -1],
      ArrowRight: [-1, 1],
      PageUp: [-2, -ROWS],
      PageDown: [-2, ROWS],
      Home: [-1, -Infinity],
      End: [-1, Infinity],
    };
    // Keys that come faster than answers go on from where the last one leads.
    const index = (this.loading && this.cell) || this.elementOf(cell);
    const step = steps[key];
    if (step) this.walk(index, ...step);
    else if ((key === 'Enter' || key === ' ') && this.editing)
      this.edit(Number(cell.dataset.row), Number(cell.dataset.column));
    else if ((key === '[' || key === ']') && this.slice) {
      const start = this.sliceAt(key === ']' ? 1 : -1);
      this.moveTo(start, [...start.slice(0, -2), ...index.slice(-2)]);
    } else return false;
    return true;
  }

  /** The element some steps away has the keyboard next; the grid follows where it has to. */
  private walk(index: Index, dim: -1 | -2, by: number): void {
    const at = index.at(dim);
    if (at === undefined) return;
    const to = Math.max(0, Math.min(this.preview.shape.at(dim)! - 1, at + by));
    const target = index.map((old, d) => (d === index.length + dim ? to : old));
    const from =
      Math.abs(by) === ROWS ? this.moved(this.wanted, dim, this.wanted.at(dim)! + by) : this.wanted;
    const edge = (d: number, ahead: boolean) => (ahead ? this.most[d] - 1 : 0);
    this.moveTo(this.holding(target, from, edge), target);
  }

  /** Brings an element into the grid, in the middle of it where it was not there, and gives it the keyboard. */
  private goTo(index: Index): void {
    const middle = (dim: number) => this.most[dim] >> 1;
    this.moveTo(this.holding(index, this.wanted, middle), index);
  }

  private pager(): HTMLElement {
    const { shape } = this.preview;
    const input = h('input', {
      class: 'tl-input tl-index',
      'data-testid': 'tl-element',
      'aria-label': `go to an element of ${shape.join(' by ')}`,
      placeholder: shape.map(() => 0).join(', '),
      size: Math.max(8, 4 * shape.length + 2),
      spellcheck: 'false',
      autocomplete: 'off',
    });
    const hint = h('span', { class: 'tl-muted', role: 'status' });
    const form = h(
      'form',
      { class: 'tl-pager' },
      h('label', {}, h('span', { class: 'tl-muted' }, 'go to '), input),
      hint,
    );
    form.addEventListener('submit', event => {
      event.preventDefault();
      const index = parseIndex(input.value, shape);
      hint.textContent = typeof index === 'string' ? index : '';
      hint.classList.toggle('tl-wrong', typeof index === 'string');
      if (typeof index !== 'string') this.goTo(index);
    });
    keepKeys(form, () => this.focus(0, 0));
    if (this.slice) {
      const turn = (by: number) => () => this.moveTo(this.sliceAt(by), null);
      form.prepend(
        button(
          { icon: 'back', label: 'The slice before', key: '[', bare: true, testid: 'tl-slice-back' },
          turn(-1),
        ),
        this.slice,
        button(
          { icon: 'next', label: 'The next slice', key: ']', bare: true, testid: 'tl-slice-next' },
          turn(1),
        ),
      );
    }
    return form;
  }

  private edit(row: number, column: number): void {
    this.element.querySelector('form.tl-editor')?.remove();
    if (!this.editing) return;
    const value = this.shown.grid[row][column];
    const form = editor(
      this.editing,
      indexOf(this.shown.start, row, column),
      value === null ? this.shown.marks[row]?.[column] || 'nan' : exact(value),
      () => this.focus(row, column),
    );
    this.frame.after(form);
    form.querySelector('input')?.select();
  }
}

/** Nobody else hears what is typed in a form (JupyterLab would take Enter); the keys that step are the instrument's. */
function keepKeys(form: HTMLElement, leave: Undo): void {
  form.addEventListener('keydown', event => {
    if (!/^F\d/.test(event.key)) event.stopPropagation();
    if (event.key === 'Escape') leave();
  });
}

function editor(editing: Editing, index: Index, text: string, leave: () => void): HTMLElement {
  const name = `${editing.name}[${index.join(', ')}]`;
  const input = h('input', {
    class: 'tl-input',
    'data-testid': 'tl-edit-value',
    'aria-label': `new value of ${name}`,
    value: text,
    size: 12,
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const hint = h('span', { class: 'tl-muted', role: 'status' }, 'Enter sets, Escape leaves');
  const form = h('form', { class: 'tl-editor' }, h('label', {}, h('code', {}, `${name} = `), input), hint);
  const say = (words: string) => {
    hint.textContent = words;
    hint.classList.add('tl-wrong');
  };
  form.addEventListener('submit', event => {
    event.preventDefault();
    const wanted = parseNumber(input.value);
    if (wanted === null) return say('write a number, nan, inf or -inf');
    editing.set(index, wanted).catch((error: Error) => say(error.message));
  });
  keepKeys(form, () => {
    form.remove();
    leave();
  });
  return form;
}

/** Which part of a long side is shown, and a way to draw it elsewhere. */
class Bar {
  readonly element: HTMLElement;
  private readonly thumb = h('div', {});

  constructor(
    private readonly size: number,
    private readonly most: number,
    private readonly upright: boolean,
    moveTo: (at: number) => void,
  ) {
    const way = upright ? 'tl-bar-down' : 'tl-bar-across';
    this.element = h(
      'div',
      { class: `tl-scroll ${way}`, 'aria-hidden': 'true', 'data-testid': way },
      this.thumb,
    );
    let held = 0;
    const at = (event: PointerEvent) => {
      const box = this.element.getBoundingClientRect();
      return upright ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    };
    this.element.addEventListener('pointerdown', event => {
      const thumb = this.thumb.getBoundingClientRect();
      const box = this.element.getBoundingClientRect();
      const from = upright ? (thumb.top - box.top) / box.height : (thumb.left - box.left) / box.width;
      const long = upright ? thumb.height / box.height : thumb.width / box.width;
      const place = at(event);
      held = place >= from && place <= from + long ? place - from : long / 2;
      this.element.setPointerCapture(event.pointerId);
      event.preventDefault();
      moveTo(Math.round((place - held) * size));
    });
    this.element.addEventListener('pointermove', event => {
      if (event.buttons & 1) moveTo(Math.round((at(event) - held) * size));
    });
  }

  show(first: number): void {
    const part = Math.max(0.08, this.most / this.size);
    const from = (first / (this.size - this.most)) * (1 - part);
    const [place, long] = [`${(100 * from).toFixed(2)}%`, `${(100 * part).toFixed(2)}%`];
    this.thumb.style.cssText = this.upright ? `top:${place};height:${long}` : `left:${place};width:${long}`;
  }
}
