// The graph as text: a tree that a keyboard walks and a screen reader reads. The canvas shows where it stands.
import { h, setAttributes, setText, Undos } from './dom';
import { short } from './format';
import { saidOf } from './marks';
import { linesOf } from './outline';
import type { Run } from './run';
import type { Item, Look, Scene } from './scene';
import { STATES } from './snapshot';
import { walk, type Way } from './walk';

/** Trees up to this size stand in the page whole; of larger ones a window around the cursor does. */
const WHOLE = 400;
const WINDOW = 120;

export interface Row {
  readonly item: Item;
  readonly level: number;
  /** Folded (false) or unfolded (true) part; null for a node. */
  readonly expanded: boolean | null;
}

export interface TreeEvents {
  moved(item: Item): void;
  open(item: Item): void;
  close(): void;
}

let trees = 0;

export class Tree {
  readonly element = h('div', {
    class: 'tl-tree',
    role: 'tree',
    tabindex: 0,
    'data-testid': 'tl-tree',
    'aria-label': 'nodes of the graph',
  });
  cursor: Item | null = null;
  private rows: Row[] = [];
  private places = new Map<Item, number>();
  private scene: Scene | null = null;
  private run: Run | null = null;
  private looks: readonly Look[] = [];
  private selected: Item | null = null;
  private readonly prefix = `tl-tree-${++trees}`;
  private readonly undos = new Undos();

  constructor(private readonly events: TreeEvents) {
    this.undos.on(this.element, 'keydown', event => this.key(event));
    this.undos.on(this.element, 'click', event => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-item]');
      if (row) this.events.open(Number(row.dataset.item));
    });
  }

  readonly undo = (): void => this.undos.undo();

  show(scene: Scene, run: Run | null, looks: readonly Look[], selected: Item | null): void {
    if (scene !== this.scene) {
      this.rows = rowsOf(scene);
      this.places = new Map(this.rows.map((row, i) => [row.item, i]));
    }
    Object.assign(this, { scene, run, looks, selected });
    if (this.cursor !== null && !scene.boxOf(this.cursor)) this.cursor = null;
    this.render();
  }

  moveTo(item: Item | null): void {
    this.cursor = item;
    this.render();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !this.scene) return;
    const ways: Record<string, Way> = {
      ArrowUp: 'up',
      ArrowDown: 'down',
      ArrowLeft: 'left',
      ArrowRight: 'right',
      Home: 'first',
      End: 'last',
    };
    const way = ways[event.key];
    const here = this.cursor ?? this.selected ?? this.run?.current ?? NaN;
    if (way) {
      const next = this.cursor === null && this.scene.boxOf(here) ? here : walk(this.scene, here, way);
      if (next !== null) {
        this.moveTo(next);
        this.events.moved(next);
      }
    } else if ((event.key === 'Enter' || event.key === ' ') && this.cursor !== null)
      this.events.open(this.cursor);
    else if (event.key === 'Escape') this.events.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private render(): void {
    const { scene, element } = this;
    if (!scene) return;
    const count = this.rows.length;
    const middle = this.places.get(this.cursor ?? this.run?.current ?? count - 1) ?? count - 1;
    const first = count <= WHOLE ? 0 : Math.max(0, Math.min(count - WINDOW, middle - WINDOW / 2));
    const last = count <= WHOLE ? count : Math.min(count, first + WINDOW);
    while (element.childElementCount > last - first) element.lastElementChild!.remove();
    while (element.childElementCount < last - first) element.append(h('div', { role: 'treeitem' }));
    let active = '';
    for (let i = first; i < last; i++) {
      const row = this.rows[i];
      const line = element.children[i - first];
      const id = `${this.prefix}-${row.item}`;
      if (row.item === this.cursor) active = id;
      this.renderRow(line, row, id, i);
    }
    setAttributes(element, { 'aria-activedescendant': active || null });
  }

  private renderRow(line: Element, { item, level, expanded }: Row, id: string, i: number): void {
    const scene = this.scene!;
    const { run } = this;
    const look = this.lookOf(item);
    setAttributes(line, {
      id,
      'data-testid': 'tl-tree-item',
      'data-item': item,
      'data-node-id': item >= 0 ? scene.outline.graph.nodes.id[item] : null,
      'data-state': look ? STATES[look.state] : null,
      'aria-level': level,
      'aria-posinset': i + 1,
      'aria-setsize': this.rows.length,
      'aria-expanded': expanded === null ? null : String(expanded),
      'aria-selected': String(item === this.selected),
    });
    setText(line, describe(scene, item, run, look));
  }

  private lookOf(item: Item): Look | null {
    const box = this.scene!.boxOf(item);
    if (!box) return null;
    return item >= 0 && box.node !== item && !this.looks[box.index].ghost
      ? this.scene!.lookOf(item, this.run)
      : this.looks[box.index];
  }
}

/** Lines of the tree: unfolded parts stand above what is in them, parameters under their first consumer. */
export function rowsOf(scene: Scene): Row[] {
  const { folds } = scene.outline;
  const drawn = new Set(scene.layout.enclosures.map(rect => rect.fold));
  const rows: Row[] = [];
  let part: Row[] = [];
  let open: number[] = [];
  const seen = new Set<number>();
  for (const box of scene.layout.boxes) {
    const path: number[] = [];
    for (let f = box.home; f >= 0; f = folds[f].parent) if (drawn.has(f)) path.unshift(f);
    // What is merely given may stand between the nodes of a module: it goes before the whole module.
    const given = box.node >= 0 && scene.outline.isSource[box.node] && !path.length;
    if (!path.length && !given) {
      rows.push(...part);
      part = [];
      open = [];
    }
    const into = path.length ? part : rows;
    path.forEach((fold, depth) => {
      if (open[depth] !== fold) {
        into.push({ item: -1 - fold, level: depth + 1, expanded: true });
        open = [...open.slice(0, depth), fold];
      }
    });
    const level = path.length + 1;
    into.push({ item: scene.itemOf(box), level, expanded: box.fold >= 0 ? false : null });
    if (box.fold >= 0) continue;
    for (const item of box.parameters) {
      if (seen.has(item)) continue;
      seen.add(item);
      into.push({ item, level: level + 1, expanded: null });
    }
  }
  rows.push(...part);
  return rows;
}

/** One line in words: `TanhBackward0, [64, 16] · hidden.1, waiting, norm 3.1e-2`. */
export function describe(scene: Scene, item: Item, run: Run | null, look: Look | null): string {
  const words: string[] = [];
  const box = scene.boxOf(item);
  if (item < 0) words.push(box ? `${box.title}, ${box.subtitle}` : scene.titleOf(-1 - item));
  else {
    const { title, subtitle } = linesOf(scene.outline, item);
    words.push(title, subtitle);
  }
  if (look) {
    if (look.state > 0) words.push(STATES[look.state]);
    if (item < 0 && run && look.total) words.push(`${look.done} of ${look.total} done`);
    if (look.ghost) words.push('not made yet');
    if (look.nan) words.push('holds NaN or Inf');
    if (look.edited) words.push('edited');
    if (look.broken) words.push('breakpoint');
  }
  const norm = item >= 0 && run ? run.norm[item] : -1;
  if (norm >= 0) words.push(`norm ${short(norm)}`);
  const meter = run ? null : scene.meterOfItem(item);
  if (meter)
    words.push(meter.wrong && meter.text !== 'not finite' ? `${meter.text}, not finite` : meter.text);
  if (item >= 0 && !run) words.push(...saidOf(scene.outline.graph, item));
  return words.filter(Boolean).join(', ');
}
