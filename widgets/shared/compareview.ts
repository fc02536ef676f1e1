// The compare instrument: what was added, removed and changed between two models, steps or graphs, as a tree and as pictures.
import { CHANGES, type Comparison } from './compared';
import { button } from './controls';
import { h, setAttributes, setText, type Undo } from './dom';
import { exporterOf } from './export';
import { plural, short } from './format';
import { Frame } from './frame';
import { mountGraph } from './graphview';
import { Client, type Transport } from './protocol';

const SIGNS = ['=', '~', '+', '−'];
const [SAME, CHANGED] = [0, 1];
/** Rows that stand in the page at once. */
const MOST = 600;

type Pictures = 'none' | 'merged' | 'both';

export function mountCompare(element: HTMLElement, transport: Transport): Undo {
  const client = new Client(transport, {
    event: () => undefined,
    broken: error => view.fail(error.message),
  });
  const view = new CompareView(element, client);
  client
    .request<{ comparison: Comparison }>('initialize')
    .then(({ comparison }) => view.show(comparison))
    .catch((error: Error) => view.fail(error.message));
  return () => {
    client.close();
    view.undo();
  };
}

class CompareView {
  private readonly frame: Frame;
  private readonly tree = h('div', {
    class: 'tl-differences',
    role: 'tree',
    tabindex: 0,
    'aria-label': 'what differs',
    'data-testid': 'tl-differences',
  });
  private readonly pictures = h('div', { class: 'tl-pictures', 'data-testid': 'tl-pictures' });
  private readonly buttons: HTMLButtonElement[];
  private found: Comparison | null = null;
  private depths: number[] = [];
  private open = new Set<number>();
  private onlyChanges = true;
  private rows: number[] = [];
  private here = -1;
  private chosen = -1;
  private shown: Pictures = 'none';
  private unmount: Undo[] = [];

  constructor(host: HTMLElement, client: Client) {
    this.frame = new Frame(host, {
      testid: 'tl-compare',
      what: 'compare',
      exporter: exporterOf(client),
      keys: [
        { name: 'Arrows', does: 'Up and down through the rows; left and right close and open a part' },
        { name: 'n', does: 'Next difference', run: () => this.next(1) },
        { name: 'p', does: 'Previous difference', run: () => this.next(-1) },
        { name: 'a', does: 'All rows, or only those that differ', run: () => this.toggleAll() },
        { name: 'm', does: 'Both graphs as one picture', run: () => this.showPictures('merged') },
        { name: 'b', does: 'Both graphs side by side', run: () => this.showPictures('both') },
      ],
    });
    const { frame } = this;
    this.buttons = [
      button({ label: 'All rows', key: 'a', testid: 'tl-all' }, () => this.toggleAll()),
      button({ label: 'Merged', key: 'm', testid: 'tl-merged' }, () => this.showPictures('merged')),
      button({ label: 'Side by side', key: 'b', testid: 'tl-both' }, () => this.showPictures('both')),
    ];
    const group = h(
      'div',
      { class: 'tl-segments', role: 'group', 'aria-label': 'what is shown' },
      ...this.buttons,
    );
    frame.controls.prepend(group);
    frame.main.append(this.heads(), this.tree, this.pictures);
    frame.undos.add(() => this.clear());
    frame.undos.on(this.tree, 'keydown', event => this.key(event));
    frame.undos.on(this.tree, 'click', event => this.click(event));
  }

  readonly undo = (): void => this.frame.undo();

  fail(message: string): void {
    if (this.found) this.frame.fail(message);
    else this.frame.giveUp(`This comparison could not be shown: ${message}`);
  }

  show(found: Comparison): void {
    this.found = found;
    const { parent } = found.rows;
    this.depths = [];
    for (let r = 0; r < parent.length; r++) this.depths.push(parent[r] < 0 ? 0 : this.depths[parent[r]] + 1);
    // What differs is open from the start, what was added or removed as a whole is one row.
    for (let r = 0; r < parent.length; r++)
      if (found.rows.status[r] === CHANGED && found.rows.changes[r] > 0) this.open.add(r);
    const differing = found.rows.changes.reduce((sum, n, r) => sum + (parent[r] < 0 ? n : 0), 0);
    this.frame.setTitle(found.title, differing ? plural(differing, 'difference') : 'no difference');
    this.frame.say(found.sentence);
    const [, ...graphs] = this.buttons;
    for (const each of graphs) each.hidden = !found.merged;
    const [left, right] = this.frame.main.querySelectorAll('.tl-heads .tl-side');
    setText(left, found.names[0] || 'left');
    setText(right, found.names[1] || 'right');
    this.fill();
    this.choose(this.rows.find(r => this.isLeaf(r) && found.rows.status[r] > SAME) ?? this.rows[0] ?? -1);
    this.frame.drawn();
  }

  private heads(): HTMLElement {
    const cell = (text: string, look = '') => h('span', { class: `tl-cut ${look}` }, text);
    return h(
      'div',
      { class: 'tl-difference tl-heads', 'aria-hidden': 'true' },
      cell('what'),
      cell('left', 'tl-side'),
      cell('right', 'tl-side'),
      cell('how much, log scale'),
    );
  }

  private text(index: number): string {
    return index < 0 ? '' : this.found!.strings[index];
  }

  private isLeaf(row: number): boolean {
    const { parent } = this.found!.rows;
    return parent[row + 1] !== row;
  }

  /** The rows that can be seen: every part around them is open, and they differ unless all are wanted. */
  private fill(): void {
    const { parent, status } = this.found!.rows;
    const visible = new Set<number>();
    this.rows = [];
    for (let r = 0; r < parent.length; r++) {
      if (parent[r] >= 0 && !(visible.has(parent[r]) && this.open.has(parent[r]))) continue;
      if (this.onlyChanges && status[r] === SAME) continue;
      visible.add(r);
      this.rows.push(r);
    }
    const shown = this.rows.slice(0, MOST);
    this.tree.replaceChildren(...shown.map(r => this.row(r)));
    if (!shown.length)
      this.tree.append(h('p', { class: 'tl-muted' }, 'Nothing differs. Press a to see all rows.'));
    const rest = this.rows.length - shown.length;
    if (rest > 0)
      this.tree.append(
        h('p', { class: 'tl-muted' }, `and ${plural(rest, 'more row')}: close a part to see them`),
      );
    setAttributes(this.buttons[0], { 'aria-pressed': String(!this.onlyChanges) });
    this.mark();
  }

  private row(r: number): HTMLElement {
    const { rows, amount } = this.found!;
    const status = rows.status[r];
    const part = !this.isLeaf(r);
    const size = amount[r];
    const note = this.text(rows.note[r]);
    const inside = part && status === CHANGED ? plural(rows.changes[r], 'difference') : '';
    const bar = h('span', { class: 'tl-bar' }, h('span', { style: `width:${100 * lengthOf(size)}%` }));
    const words = size !== null ? percent(size) : inside || (note && !/became/.test(note) ? note : '');
    const side = (text: string) => h('code', { class: 'tl-side tl-cut', title: text }, text);
    return h(
      'div',
      {
        class: 'tl-difference',
        role: 'treeitem',
        id: `${this.prefix}${r}`,
        'data-row': r,
        'data-status': CHANGES[status],
        'aria-level': this.depths[r] + 1,
        'aria-expanded': part ? String(this.open.has(r)) : null,
        'aria-label': this.describe(r),
        style: `--tl-depth:${this.depths[r]}`,
      },
      h(
        'span',
        { class: 'tl-named' },
        h('span', { class: 'tl-sign-of' }, SIGNS[status]),
        h(
          'code',
          { class: 'tl-cut', title: this.nameOf(r) },
          this.nameOf(r) + (part ? (this.open.has(r) ? ' ▾' : ' ▸') : ''),
        ),
      ),
      side(this.text(rows.left[r])),
      side(this.text(rows.right[r])),
      h(
        'span',
        { class: 'tl-howmuch' },
        size !== null ? bar : null,
        h('span', { class: 'tl-muted tl-cut', title: note }, words),
      ),
    );
  }

  private readonly prefix = `tl-difference-${Math.random().toString(36).slice(2)}-`;

  private nameOf(r: number): string {
    return this.text(this.found!.rows.name[r]) || this.text(this.found!.rows.kind[r]);
  }

  /** One row in words, as a screen reader hears it. */
  private describe(r: number): string {
    const { rows, amount } = this.found!;
    const sides = [this.text(rows.left[r]), this.text(rows.right[r])].filter(Boolean);
    const size = amount[r];
    return [
      `${CHANGES[rows.status[r]]} ${this.text(rows.kind[r])} ${this.nameOf(r)}`,
      sides[0] === sides[1] ? sides[0] : sides.join(' to '),
      this.text(rows.note[r]) || (size === null ? '' : percent(size)),
    ]
      .filter(Boolean)
      .join(', ');
  }

  private click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>('[data-row]');
    if (!row) return;
    const r = Number(row.dataset.row);
    const again = this.chosen === r;
    this.choose(r);
    if (again || event.detail > 1) this.toggle(r);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !this.found) return;
    const at = this.rows.indexOf(this.here);
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.choose(this.rows[Math.min(this.rows.length - 1, at + 1)] ?? -1),
      ArrowUp: () => this.choose(this.rows[Math.max(0, at - 1)] ?? -1),
      Home: () => this.choose(this.rows[0] ?? -1),
      End: () => this.choose(this.rows[this.rows.length - 1] ?? -1),
      ArrowRight: () => (this.open.has(this.here) ? moves.ArrowDown() : this.toggle(this.here)),
      ArrowLeft: () => {
        if (this.open.has(this.here) && !this.isLeaf(this.here)) this.toggle(this.here);
        else if (this.here >= 0 && this.found!.rows.parent[this.here] >= 0)
          this.choose(this.found!.rows.parent[this.here]);
      },
      Enter: () => this.toggle(this.here),
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
    event.stopPropagation();
  }

  private toggle(r: number): void {
    if (r < 0 || this.isLeaf(r)) return;
    if (!this.open.delete(r)) this.open.add(r);
    this.fill();
  }

  private toggleAll(): void {
    this.onlyChanges = !this.onlyChanges;
    if (this.found) this.fill();
    this.frame.say(this.onlyChanges ? 'Only what differs.' : 'All rows.');
  }

  /** The next row that differs and holds no others, opening what it stands in. */
  private next(by: number): void {
    if (!this.found) return;
    const { status, parent } = this.found.rows;
    let r = this.here;
    do r += by;
    while (r >= 0 && r < status.length && !(status[r] > SAME && this.isLeaf(r)));
    if (r < 0 || r >= status.length)
      return this.frame.say(by > 0 ? 'That was the last difference.' : 'That was the first difference.');
    for (let up = parent[r]; up >= 0; up = parent[up]) this.open.add(up);
    this.fill();
    this.choose(r);
  }

  private choose(r: number): void {
    this.here = this.chosen = r;
    this.mark();
    if (r < 0) return void this.frame.aside.replaceChildren();
    this.frame.aside.replaceChildren(...this.details(r));
    this.frame.aside.dataset.row = String(r);
    if (this.frame.root.dataset.painted !== '0') this.frame.say(this.describe(r));
  }

  private mark(): void {
    for (const row of this.tree.querySelectorAll<HTMLElement>('[data-row]')) {
      const here = Number(row.dataset.row) === this.here;
      row.classList.toggle('tl-here', here);
      setAttributes(row, { 'aria-selected': String(here) });
      if (here) row.scrollIntoView?.({ block: 'nearest' });
    }
    setAttributes(this.tree, {
      'aria-activedescendant': this.here >= 0 ? `${this.prefix}${this.here}` : null,
    });
  }

  private details(r: number): HTMLElement[] {
    const { rows, amount, names } = this.found!;
    const status = rows.status[r];
    const facts: [string, string][] = [
      [names[0] || 'left', this.text(rows.left[r]) || 'not there'],
      [names[1] || 'right', this.text(rows.right[r]) || 'not there'],
    ];
    const size = amount[r];
    if (size !== null) facts.push(['changed by', `${percent(size)} of its size`]);
    if (!this.isLeaf(r)) facts.push(['differ in it', rows.changes[r].toLocaleString('en')]);
    const note = this.text(rows.note[r]);
    const where: string[] = [];
    for (let up = rows.parent[r]; up >= 0; up = rows.parent[up]) where.unshift(this.nameOf(up));
    return [
      h(
        'header',
        { class: 'tl-node' },
        h('strong', {}, this.nameOf(r)),
        h('span', { class: 'tl-chip' }, `${SIGNS[status]} ${CHANGES[status]}`),
        where.length ? h('p', { class: 'tl-muted' }, where.join(' › ')) : null,
      ),
      h(
        'dl',
        { class: 'tl-facts' },
        ...facts.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]),
      ),
      ...(note ? [h('p', { class: 'tl-note' }, note)] : []),
    ];
  }

  private clear(): void {
    for (const undo of this.unmount.splice(0)) undo();
    this.pictures.replaceChildren();
  }

  /** One picture of both graphs, or one beside the other; asked for again, none. */
  private showPictures(which: Pictures): void {
    const { found } = this;
    if (!found?.merged || !found.left || !found.right) return;
    this.shown = this.shown === which ? 'none' : which;
    this.clear();
    const graphs = { none: [], merged: [found.merged], both: [found.left, found.right] }[this.shown];
    for (const graph of graphs) {
      const place = h('div', {});
      this.pictures.append(place);
      this.unmount.push(mountGraph(place, graph));
    }
    setAttributes(this.buttons[1], { 'aria-pressed': String(this.shown === 'merged') });
    setAttributes(this.buttons[2], { 'aria-pressed': String(this.shown === 'both') });
    const said = {
      none: 'No picture.',
      merged: 'Both graphs as one: + was added, − was removed, ~ changed.',
      both: 'Both graphs side by side, the left one first.',
    };
    this.frame.say(said[this.shown]);
  }
}

/** Six decades up to a change as large as the value itself. */
function lengthOf(amount: number | null): number {
  return amount !== null && amount > 0 ? Math.min(1, Math.max(0.02, 1 + Math.log10(amount) / 6)) : 0;
}

function percent(amount: number): string {
  if (amount >= 100) return `${short(amount)} times its size`;
  const part = 100 * amount;
  return `${part >= 10 ? part.toFixed(0) : short(part)} %`;
}
