// The layout instrument: cells by index, the storage under them, who else lies there, and what calls would do.
import { broadcastFigure, CallsView } from './callsview';
import { button, type Key } from './controls';
import { h, type Undo } from './dom';
import { exporterOf } from './export';
import { Frame } from './frame';
import { numberField } from './numberfield';
import { Client, type Transport } from './protocol';
import { Scratchpad } from './scratchpad';
import type { LayoutDocument, LayoutGrid, Picked, Scratch, StorageStrip, Tried } from './snapshot';
import { StorageView } from './storageview';

const count = (number: number) => number.toLocaleString('en');
const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;

/** Draws a tensor's layout over a session; returns the undo, which leaves nothing behind. */
export function mountLayout(element: HTMLElement, transport: Transport): Undo {
  const client = new Client(transport, {
    event: () => undefined,
    broken: error => view.broken(error),
  });
  const view: LayoutView = new LayoutView(element, client);
  client
    .request<{ layout: LayoutDocument }>('initialize')
    .then(({ layout }) => view.show(layout))
    .catch((error: Error) => view.frame.giveUp(`This layout could not be shown: ${error.message}`));
  return () => {
    client.close();
    view.frame.undo();
  };
}

class LayoutView {
  readonly frame: Frame;
  private document: LayoutDocument | null = null;
  private grid: LayoutGrid | null = null;
  private index: number[] = [];
  private readonly cells = h('table', {
    class: 'tl-grid',
    role: 'grid',
    'aria-label': 'values by index',
    'data-testid': 'tl-grid',
  });
  private readonly caption = h('p', { class: 'tl-muted', 'data-testid': 'tl-grid-caption' });
  private readonly where = h('div', { class: 'tl-where', 'data-testid': 'tl-where', role: 'status' });
  private readonly lead = h('div', { class: 'tl-field-row', 'data-testid': 'tl-lead' });
  private readonly storage: StorageView;
  private readonly calls: CallsView;
  private readonly scratchpad: Scratchpad;
  private readonly lines = new Set<number>(); // cache lines touched on a walk
  private asked = 0;

  constructor(
    element: HTMLElement,
    private readonly client: Client,
  ) {
    const keys: Key[] = [
      { name: 'ArrowRight', does: 'the next element of the row' },
      { name: 'ArrowDown', does: 'the same place of the next row' },
      { name: 'PageDown', does: 'the next index of the dimension before' },
      { name: 'Home', does: 'the first element' },
      { name: 'w', does: 'walk on to the next element in the order of reading', run: () => this.walk() },
      { name: 't', does: 'type a call to try', run: () => this.calls.focus() },
      { name: 'r', does: 'read the tensor again', run: () => this.refresh() },
    ];
    this.frame = new Frame(element, {
      testid: 'tl-layout',
      what: 'layout',
      keys,
      exporter: exporterOf(client),
    });
    this.frame.controls.prepend(
      button({ icon: 'restart', label: 'Read again', key: 'r', testid: 'tl-refresh' }, () => this.refresh()),
    );
    this.frame.controls.prepend(
      button({ icon: 'next', label: 'Walk', key: 'w', testid: 'tl-walk' }, () => this.walk()),
    );
    this.storage = new StorageView(
      first => this.client.request<StorageStrip>('strip', { first }),
      error => this.frame.fail(error.message),
    );
    this.calls = new CallsView(call => this.client.request<Tried>('try', { call }));
    this.scratchpad = new Scratchpad(
      (shape, stride, offset) => this.client.request<Scratch>('scratch', { shape, stride, offset }),
      scratch => this.storage.tryOut(scratch),
    );
    this.frame.undos.on(this.cells, 'keydown', event => this.key(event));
    this.frame.undos.on(this.cells, 'click', event => {
      const cell = (event.target as HTMLElement).closest<HTMLElement>('td[data-row]');
      if (cell)
        this.pick([...this.grid!.lead, ...this.place(Number(cell.dataset.row), Number(cell.dataset.column))]);
    });
  }

  broken(error: Error): void {
    this.frame.fail(`A message from Python could not be read: ${error.message}`);
  }

  show(document: LayoutDocument): void {
    this.document = document;
    const { frame } = this;
    const kind = document.contiguous ? 'contiguous' : 'not contiguous';
    frame.setTitle(
      document.title || 'tensor',
      `${list(document.shape)} ${document.dtype} · stride ${list(document.stride)} · offset ${document.offset} · ${kind}`,
    );
    frame.say(document.sentence);
    this.storage.show(document);
    this.calls.show(document);
    this.lines.clear();
    frame.main.replaceChildren(
      ...(document.broadcast ? [broadcastFigure(document.broadcast)] : []),
      h('div', { class: 'tl-where-row' }, h('div', {}, this.lead, this.caption, this.cells), this.where),
      this.storage.element,
    );
    frame.aside.replaceChildren(
      this.calls.element,
      h('h4', {}, 'Try another layout'),
      this.scratchpad.element,
    );
    this.scratchpad.reset(document);
    this.drawLead(document);
    this.setGrid(document.grid);
    const start = document.shape.map(() => 0);
    if (!document.shape.includes(0))
      this.pick(this.index.length === start.length ? this.clamped(this.index) : start, false);
    else this.frame.drawn();
  }

  private clamped(index: readonly number[]): number[] {
    return index.map((i, d) => Math.max(0, Math.min(i, this.document!.shape[d] - 1)));
  }

  /** A number for each dimension before the last two. */
  private drawLead({ shape }: LayoutDocument): void {
    const before = Math.max(shape.length - 2, 0);
    const fields = shape.slice(0, before).map((size, d) =>
      numberField({
        label: `index of dimension ${d}`,
        value: 0,
        most: Math.max(size - 1, 0),
        set: value => {
          if (value !== this.index[d])
            void this.pick(
              this.index.map((i, k) => (k === d ? value : i)),
              false,
            );
        },
      }),
    );
    this.lead.hidden = !before || shape.includes(0);
    this.lead.replaceChildren(
      h('span', { class: 'tl-muted' }, 'at'),
      ...fields.flatMap((field, d) => [field, h('span', { class: 'tl-muted' }, `of ${shape[d]}`)]),
    );
  }

  // ---- the grid ------------------------------------------------------------------------------------------------------

  private setGrid(grid: LayoutGrid): void {
    this.grid = grid;
    const lead = grid.lead.length ? `the last two dimensions at ${list(grid.lead)}` : '';
    const note = [lead, grid.caption].filter(Boolean).join(' · ');
    grid.lead.forEach((value, d) => {
      const field = this.lead.querySelectorAll('input')[d];
      if (field && Number(field.value) !== value) field.value = String(value);
    });
    this.caption.textContent = note || 'values by index';
    const head = h(
      'tr',
      {},
      h('th', {}, h('span', { class: 'tl-unseen' }, 'row and column')),
      ...grid.column_numbers.map(c => h('th', { scope: 'col' }, String(c))),
    );
    const rows = grid.row_numbers.map((row, r) =>
      h(
        'tr',
        {},
        h(
          'th',
          { scope: 'row' },
          this.document!.shape.length > 1 ? String(row) : h('span', { class: 'tl-unseen' }, 'values'),
        ),
        ...grid.column_numbers.map((column, c) =>
          h(
            'td',
            {
              role: 'gridcell',
              tabindex: -1,
              'data-row': row,
              'data-column': column,
              'data-element': grid.element[r][c],
              title: `element ${grid.element[r][c]}`,
            },
            grid.text[r][c],
          ),
        ),
      ),
    );
    this.cells.replaceChildren(head, ...rows);
  }

  /** The last two coordinates, one or none of them, of a cell. */
  private place(row: number, column: number): number[] {
    const n = this.document!.shape.length;
    return n > 1 ? [row, column] : n === 1 ? [column] : [];
  }

  private key(event: KeyboardEvent): void {
    const { shape } = this.document!;
    const next = this.index.slice();
    const last = next.length - 1;
    const moves: Record<string, () => void> = {
      ArrowRight: () => next[last]++,
      ArrowLeft: () => next[last]--,
      ArrowDown: () => next[last - 1]++,
      ArrowUp: () => next[last - 1]--,
      PageDown: () => next[last - 2]++,
      PageUp: () => next[last - 2]--,
      Home: () => next.fill(0),
      End: () => next.forEach((_, d) => (next[d] = shape[d] - 1)),
    };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
    if (next.length !== this.index.length || next.some(Number.isNaN)) return;
    void this.pick(this.clamped(next));
  }

  /** The next element as the tensor is read in order, and what that costs. */
  private walk(): void {
    const { shape } = this.document!;
    if (shape.includes(0)) return;
    const next = this.index.slice();
    let d = next.length - 1;
    while (d >= 0 && ++next[d] === shape[d]) next[d--] = 0;
    if (d < 0) this.lines.clear();
    void this.pick(next, true, true);
  }

  private async pick(index: number[], focus = true, walking = false): Promise<void> {
    const asked = ++this.asked;
    this.index = index;
    try {
      if (!this.inSight(index)) {
        const n = index.length;
        const [row, column] = n > 1 ? [index[n - 2], index[n - 1]] : [0, index[n - 1] ?? 0];
        const window = {
          lead: index.slice(0, Math.max(n - 2, 0)),
          row: row - (row % 8),
          column: column - (column % 16),
        };
        const grid = await this.client.request<LayoutGrid>('look', window);
        if (asked !== this.asked) return;
        this.setGrid(grid);
      }
      const picked = await this.client.request<Picked>('pick', { index });
      if (asked !== this.asked) return;
      this.frame.fail('');
      this.mark(picked, focus, walking);
      await this.storage.pick(picked.element);
    } catch (error) {
      this.frame.fail((error as Error).message);
    }
    this.frame.drawn();
  }

  private inSight(index: readonly number[]): boolean {
    const grid = this.grid!;
    const n = index.length;
    const lead = index.slice(0, Math.max(n - 2, 0));
    const inside = (wanted: number, shown: readonly number[]) => shown.includes(wanted);
    return (
      lead.every((i, d) => grid.lead[d] === i) &&
      (n < 2 || inside(index[n - 2], grid.row_numbers)) &&
      (n < 1 || inside(index[n - 1], grid.column_numbers))
    );
  }

  private mark(picked: Picked, focus: boolean, walking: boolean): void {
    const n = picked.index.length;
    for (const cell of this.cells.querySelectorAll<HTMLElement>('td')) {
      const row = n > 1 ? picked.index[n - 2] : 0;
      const column = n > 0 ? picked.index[n - 1] : 0;
      const chosen = Number(cell.dataset.row) === row && Number(cell.dataset.column) === column;
      cell.classList.toggle('tl-picked', chosen);
      cell.setAttribute('aria-selected', String(chosen));
      cell.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) cell.focus({ preventScroll: true });
    }
    this.frame.root.dataset.element = String(picked.element);
    const name = this.document!.title || 'it';
    const letters = [
      'offset',
      ...picked.index.map((i, d) => `${i}·stride${String.fromCharCode(0x2080 + (d % 10))}`),
    ];
    const known = this.lines.has(picked.line);
    if (!walking) this.lines.clear();
    this.lines.add(picked.line);
    const walked = known
      ? 'a cache line that was touched before'
      : `cache line number ${this.lines.size} of this walk`;
    const open = this.where.querySelector('details')?.open ?? false;
    const bits = h(
      'details',
      {},
      h('summary', {}, `bits of ${picked.text}`),
      h(
        'div',
        { class: 'tl-bits', 'data-testid': 'tl-bits' },
        ...picked.parts.map(part =>
          h(
            'div',
            { class: 'tl-bit' },
            h('code', {}, part.bits),
            h('span', { class: 'tl-muted' }, part.part),
            h('span', {}, part.says),
          ),
        ),
      ),
      h('p', {}, h('code', {}, picked.value)),
    );
    bits.open = open;
    this.where.replaceChildren(
      h('h4', {}, `Where is ${name}${n ? list(picked.index) : ''}?`),
      h('p', {}, h('code', {}, letters.join(' + '))),
      h('p', {}, h('code', {}, picked.sum)),
      h('p', {}, `element ${count(picked.element)}, byte ${count(picked.byte)}: ${picked.text}`),
      h(
        'p',
        { class: 'tl-muted' },
        `address ${picked.address} · cache line ${count(picked.line)}${walking ? ` · ${walked}` : ''}`,
      ),
      ...(picked.also.length
        ? [h('p', { class: 'tl-muted' }, `The same bytes: ${picked.also.join(', ')}`)]
        : []),
      bits,
    );
  }

  private async refresh(): Promise<void> {
    try {
      const { layout } = await this.client.request<{ layout: LayoutDocument }>('refresh');
      this.frame.fail('');
      this.show(layout);
    } catch (error) {
      this.frame.fail((error as Error).message);
    }
  }
}
