// The layout instrument: cells by index, the storage under them, who else lies there, and what calls would do.
import { button, type Key } from './controls';
import { h, svg, type Undo } from './dom';
import { exporterOf } from './export';
import { bytes } from './format';
import { Frame } from './frame';
import { icon, type IconName } from './icons';
import { Client, type Transport } from './protocol';
import { Scratchpad } from './scratchpad';
import type { Alias, LayoutDocument, LayoutGrid, Picked, Scratch, StorageStrip, Verdict } from './snapshot';

const LINE = 64;
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
  private readonly cells = h('table', { class: 'tl-grid', role: 'grid', 'data-testid': 'tl-grid' });
  private readonly caption = h('p', { class: 'tl-muted', 'data-testid': 'tl-grid-caption' });
  private readonly where = h('div', { class: 'tl-where', 'data-testid': 'tl-where', 'aria-live': 'polite' });
  private readonly strip = h('div', { class: 'tl-storage', 'data-testid': 'tl-strip' });
  private readonly bars = h('div', { class: 'tl-bars', 'data-testid': 'tl-aliases' });
  private readonly scratchpad: Scratchpad;
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
    this.scratchpad = new Scratchpad((shape, stride, offset) =>
      this.client.request<Scratch>('scratch', { shape, stride, offset }),
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
    frame.main.replaceChildren(
      h('div', { class: 'tl-where-row' }, h('div', {}, this.caption, this.cells), this.where),
      this.storageTitle(document),
      this.strip,
      h('h4', {}, 'Who lies in it'),
      this.bars,
    );
    frame.aside.replaceChildren(
      h('h4', {}, `What would a call do to ${document.title || 'it'}?`),
      h('ul', { class: 'tl-verdicts', 'data-testid': 'tl-verdicts' }, ...document.verdicts.map(verdictRow)),
      h('h4', {}, 'Reading it in order'),
      h('p', { class: 'tl-muted' }, document.reading),
      h('h4', {}, 'Try it'),
      this.scratchpad.element,
    );
    this.scratchpad.reset(document);
    this.drawStrip(document.strip);
    this.bars.replaceChildren(...document.aliases.map(alias => aliasRow(alias, document.strip.total)));
    this.setGrid(document.grid);
    const start = document.shape.map(() => 0);
    if (!document.shape.includes(0))
      this.pick(this.index.length === start.length ? this.clamped(this.index) : start, false);
    else this.frame.drawn();
  }

  private clamped(index: readonly number[]): number[] {
    return index.map((i, d) => Math.max(0, Math.min(i, this.document!.shape[d] - 1)));
  }

  private storageTitle(document: LayoutDocument): HTMLElement {
    const { strip } = document;
    const part =
      strip.text.length < strip.total
        ? `, elements ${count(strip.first)} to ${count(strip.first + strip.text.length - 1)} shown`
        : '';
    const about = `${count(strip.total)} elements · ${bytes(strip.bytes)} · ${document.device} · version ${document.version}${part}`;
    return h('p', {}, h('strong', {}, 'storage '), h('span', { class: 'tl-muted' }, about));
  }

  // ---- the grid ------------------------------------------------------------------------------------------------------

  private setGrid(grid: LayoutGrid): void {
    this.grid = grid;
    const lead = grid.lead.length ? `at ${list(grid.lead)} ` : '';
    const note = [lead && `${lead}of the dimensions before`, grid.caption].filter(Boolean).join(' · ');
    this.caption.textContent = note || 'values by index';
    const head = h(
      'tr',
      {},
      h('th', {}),
      ...grid.column_numbers.map(c => h('th', { scope: 'col' }, String(c))),
    );
    const rows = grid.row_numbers.map((row, r) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, this.document!.shape.length > 1 ? String(row) : ''),
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

  private async pick(index: number[], focus = true): Promise<void> {
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
      this.mark(picked, focus);
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

  private mark(picked: Picked, focus: boolean): void {
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
    for (const cell of this.strip.querySelectorAll<HTMLElement>('.tl-slot')) {
      const chosen = Number(cell.dataset.element) === picked.element;
      cell.classList.toggle('tl-picked', chosen);
    }
    this.frame.root.dataset.element = String(picked.element);
    const name = this.document!.title || 'it';
    const letters = [
      'offset',
      ...picked.index.map((i, d) => `${i}·stride${String.fromCharCode(0x2080 + (d % 10))}`),
    ];
    this.where.replaceChildren(
      h('h4', {}, `Where is ${name}${n ? list(picked.index) : ''}?`),
      h('p', {}, h('code', {}, letters.join(' + '))),
      h('p', {}, h('code', {}, picked.sum)),
      h('p', {}, `element ${count(picked.element)}, byte ${count(picked.byte)}: ${picked.text}`),
      ...(picked.also.length
        ? [h('p', { class: 'tl-muted' }, `The same bytes: ${picked.also.join(', ')}`)]
        : []),
      h('details', {}, h('summary', {}, 'bits'), h('code', { class: 'tl-bits' }, picked.bits)),
    );
  }

  // ---- the storage ---------------------------------------------------------------------------------------------------

  private drawStrip(strip: StorageStrip): void {
    const { itemsize, aliases } = this.document!;
    const own = aliases[0];
    const reached = (e: number) => own.first.some((a, i) => a <= e && e <= own.last[i]);
    this.strip.replaceChildren(
      ...strip.text.map((text, i) => {
        const element = strip.first + i;
        const starts = (element * itemsize + strip.skew) % LINE < itemsize;
        return h(
          'div',
          {
            class: `tl-slot${reached(element) ? '' : ' tl-unreached'}${starts ? ' tl-line-start' : ''}`,
            'data-element': element,
            title: `element ${element}, byte ${element * itemsize}${starts ? ', a cache line of 64 bytes begins here' : ''}`,
          },
          h('span', {}, text),
          h('small', {}, String(element * itemsize)),
        );
      }),
    );
    if (!strip.text.length) this.strip.append(h('p', { class: 'tl-muted' }, 'The storage is empty.'));
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

const OUTCOMES: Record<Verdict['kind'], { name: IconName; word: string }> = {
  view: { name: 'tick', word: 'view' },
  copy: { name: 'copy', word: 'copies' },
  cannot: { name: 'close', word: 'cannot' },
};

function verdictRow(verdict: Verdict): HTMLElement {
  const { name, word } = OUTCOMES[verdict.kind];
  const detail =
    verdict.kind === 'view'
      ? `stride ${list(verdict.stride)}`
      : verdict.kind === 'copy'
        ? bytes(verdict.bytes)
        : '';
  return h(
    'li',
    { class: `tl-verdict tl-${verdict.kind}`, 'data-call': verdict.call, 'data-kind': verdict.kind },
    h('code', {}, verdict.call),
    h('span', { class: 'tl-outcome' }, icon(name, 12), ` ${word}`),
    h('span', { class: 'tl-muted' }, [detail, verdict.why].filter(Boolean).join(' · ')),
  );
}

function aliasRow(alias: Alias, total: number): HTMLElement {
  const bar = svg('svg', {
    viewBox: `0 0 ${Math.max(total, 1)} 1`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });
  alias.first.forEach((a, i) =>
    bar.append(svg('rect', { x: a, y: 0, width: alias.last[i] - a + 1, height: 1, class: 'tl-span' })),
  );
  const reach = alias.first.length
    ? `elements ${alias.first[0]} to ${alias.last[alias.last.length - 1]}`
    : 'no elements';
  return h(
    'div',
    { class: 'tl-alias', title: reach },
    h(
      'code',
      { class: 'tl-cut' },
      alias.name,
      alias.note ? h('span', { class: 'tl-muted' }, ` ${alias.note}`) : null,
    ),
    h('div', { class: 'tl-reach' }, bar),
    h('span', { class: 'tl-muted tl-cut' }, `${list(alias.shape)} stride ${list(alias.stride)}`),
  );
}
