// What is on the canvas: which boxes and edges a rectangle shows, what lies under the pointer, and what each box says of the run.
import { BADGE, BOX, heightOf, LONG, type Badge, type Box, type Edge, type Layout } from './layout';
import { foldLines, type Outline } from './outline';
import { HEADER } from './parts';
import { CURRENT, DONE, FREED, IDLE, WAITING, type Run } from './run';
import { FLAGS } from './snapshot';
import { meterOf, type Meter, type Overlay } from './overlay';

/** A node is its position, a folded part is `-1 - id`. */
export type Item = number;

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** What a box, or a badge, says of the run. */
export interface Look {
  readonly state: number;
  readonly hollow: boolean;
  readonly edited: boolean;
  readonly broken: boolean;
  readonly nan: boolean;
  /** It is not there yet: an outline of what is to come. */
  readonly ghost?: boolean;
  /** Nodes in it that have run, and all. */
  readonly done: number;
  readonly total: number;
}

/** Among the states that a view gives: a node that is not there yet. */
export const GHOST = 255;

export type Hit =
  | { kind: 'box'; box: Box; item: Item }
  | { kind: 'break'; box: Box; item: Item }
  | { kind: 'badge'; badge: Badge; box: Box; item: Item }
  | { kind: 'fold'; fold: number }
  | { kind: 'stub'; edge: Edge; item: Item };

export class Scene {
  /** Per layer: the edges that leave it, and the stubs that arrive below it. */
  private readonly leaving: Edge[][];
  private readonly arriving = new Map<number, Edge[]>();
  /** The nodes in each folded part. */
  private readonly inside = new Map<number, number[]>();
  private readonly badgeBoxes = new Map<number, Box>();
  private readonly foldBoxes = new Map<number, Box>();
  private overlay: Overlay | null = null;
  private meters: (Meter | null)[] = [];

  constructor(
    readonly outline: Outline,
    readonly layout: Layout,
  ) {
    const { boxes, layers } = layout;
    this.leaving = layers.map(() => []);
    for (const edge of layout.edges) {
      this.leaving[boxes[edge.a].layer].push(edge);
      if (!edge.stub) continue;
      const { layer } = boxes[edge.b];
      this.arriving.set(layer, [...(this.arriving.get(layer) ?? []), edge]);
    }
    for (const box of layout.boxes) {
      if (box.fold < 0) continue;
      this.foldBoxes.set(box.fold, box);
      this.inside.set(box.index, []);
    }
    if (this.inside.size)
      for (let i = 0; i < layout.boxOf.length; i++) this.inside.get(layout.boxOf[i])?.push(i);
    for (const box of layout.boxes)
      for (const node of box.parameters) {
        if (this.badgeBoxes.has(node)) continue;
        this.badgeBoxes.set(node, box);
        this.inside.get(box.index)?.push(node);
      }
  }

  /** Writes a number into every box, or into none. */
  setOverlay(overlay: Overlay | null): void {
    this.overlay = overlay;
    this.meters = overlay ? this.layout.boxes.map(box => meterOf(overlay, this.nodesIn(box))) : [];
  }

  /** What the overlay says of a box. */
  meterOf(box: Box): Meter | null {
    return this.meters[box.index] ?? null;
  }

  /** What it says of an item, a parameter included. */
  meterOfItem(item: Item): Meter | null {
    const box = this.boxOf(item);
    if (!box || !this.overlay) return null;
    return item >= 0 && box.node !== item ? meterOf(this.overlay, [item]) : this.meterOf(box);
  }

  itemOf(box: Box): Item {
    return box.node >= 0 ? box.node : -1 - box.fold;
  }

  /** The box in which an item is drawn, if it is. */
  boxOf(item: Item): Box | undefined {
    const { boxOf, boxes } = this.layout;
    if (item < 0) return this.foldBoxes.get(-1 - item);
    return boxOf[item] >= 0 ? boxes[boxOf[item]] : this.badgeBoxes.get(item);
  }

  /** Where an item is drawn: its box, or its badge. */
  rectOf(item: Item): Rect | null {
    const box = this.boxOf(item);
    if (!box) return null;
    const badge = item >= 0 && box.node !== item ? box.badges.find(each => each.node === item) : undefined;
    if (badge) return { x: badge.x, y: badge.y, w: badge.w, h: BADGE };
    return { x: box.x, y: box.y, w: box.w, h: BOX };
  }

  /** The same with the badges that hang on a box. */
  outerRectOf(item: Item): Rect | null {
    const [box, rect] = [this.boxOf(item), this.rectOf(item)];
    return box && rect?.h === BOX ? { ...rect, h: heightOf(box) } : rect;
  }

  titleOf(fold: number): string {
    return foldLines(this.outline, this.outline.folds[fold]).title;
  }

  nodesIn(box: Box): readonly number[] {
    return box.node >= 0 ? [box.node] : (this.inside.get(box.index) ?? []);
  }

  private rowsIn(top: number, bottom: number): [number, number] {
    const { rows } = this.layout;
    let first = lowerBound(rows.bottom, top - 24);
    let last = lowerBound(rows.top, bottom);
    first = Math.max(0, first - 1);
    last = Math.min(rows.top.length, last + 1);
    return [first, last];
  }

  boxesIn({ x, y, w, h }: Rect, visit: (box: Box, index: number) => void): void {
    const { layers, boxes } = this.layout;
    const [first, last] = this.rowsIn(y, y + h);
    for (let l = first; l < last; l++) {
      const layer = layers[l];
      let low = 0;
      let high = layer.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (boxes[layer[middle]].x + boxes[layer[middle]].w < x) low = middle + 1;
        else high = middle;
      }
      for (let i = low; i < layer.length && boxes[layer[i]].x <= x + w; i++) visit(boxes[layer[i]], layer[i]);
    }
  }

  edgesIn({ x, y, w, h }: Rect, visit: (edge: Edge, points: readonly number[]) => void): void {
    const { boxes } = this.layout;
    const [first, last] = this.rowsIn(y, y + h);
    const show = (edge: Edge) => {
      const points = this.layout.pointsOf(edge);
      let left = points[0];
      let right = left;
      for (let i = 2; i < points.length; i += 2) {
        if (points[i] < left) left = points[i];
        else if (points[i] > right) right = points[i];
      }
      if (right >= x - 8 && left <= x + w + 8) visit(edge, points);
    };
    // An edge that is drawn whole is at most LONG layers long.
    for (let l = Math.max(0, first - LONG); l < last; l++)
      for (const edge of this.leaving[l])
        if (l >= first || edge.stub || boxes[edge.b].layer >= first) show(edge);
    for (let l = first; l < last; l++)
      for (const edge of this.arriving.get(l) ?? []) {
        const from = boxes[edge.a].layer;
        if (from < first - LONG || from >= last) show(edge);
      }
  }

  /** What lies at a place; `slack` makes small things easier to catch when the picture is small. */
  hit(x: number, y: number, slack: number): Hit | null {
    let found: Hit | null = null;
    this.boxesIn({ x: x - 16, y: y - 30, w: 32, h: 60 }, box => {
      const item = this.itemOf(box);
      for (const badge of box.badges)
        if (badge.node >= 0 && within(x, y, badge.x, badge.y, badge.w, BADGE))
          found = { kind: 'badge', badge, box, item: badge.node };
      if (found) return;
      if (Math.hypot(x - box.x, y - box.y) < 8 + slack && box.node >= 0) found = { kind: 'break', box, item };
      else if (box.fold >= 0 && within(x, y, box.x, box.y, 26, 26)) found = { kind: 'fold', fold: box.fold };
      else if (within(x, y, box.x, box.y, box.w, BOX)) found = { kind: 'box', box, item };
    });
    if (found) return found;
    for (const rect of this.layout.enclosures)
      if (within(x, y, rect.x + 2, rect.y, Math.min(rect.w, 200), HEADER))
        return { kind: 'fold', fold: rect.fold };
    this.edgesIn({ x: x - 10, y: y - 20, w: 20, h: 40 }, (edge, points) => {
      if (!edge.stub) return;
      const { boxes } = this.layout;
      if (Math.hypot(x - points[2], y - points[3]) < 8 + slack)
        found = { kind: 'stub', edge, item: this.itemOf(boxes[edge.b]) };
      if (Math.hypot(x - points[4], y - points[5]) < 8 + slack)
        found = { kind: 'stub', edge, item: this.itemOf(boxes[edge.a]) };
    });
    return found;
  }

  /** Per box, in order: what it says of the run, or of the states that a view gives. */
  looks(run: Run | null, states: Uint8Array | null = null): Look[] {
    return this.layout.boxes.map(box =>
      box.node >= 0 ? this.lookOf(box.node, run, states) : this.lookOfMany(this.nodesIn(box), run, states),
    );
  }

  lookOf(node: number, run: Run | null, states: Uint8Array | null = null): Look {
    const { nodes } = this.outline.graph;
    const flags = nodes.flags[node];
    if (states)
      return states[node] === GHOST ? UNMADE : plainLook(states[node], false, (flags & FLAGS.nan) !== 0);
    const state = run ? run.state[node] : nodes.state[node];
    const hollow = state === FREED || (flags & FLAGS.no_grad) !== 0;
    if (run === null) return plainLook(state, hollow, (flags & FLAGS.nan) !== 0);
    const nan = (flags & FLAGS.nan) !== 0 || Number.isNaN(run.norm[node]);
    const edited = run.edited.has(node);
    const broken = run.breaks.has(node);
    if (!edited && !broken) return plainLook(state, hollow, nan);
    return { state, hollow, edited, broken, nan, done: state === DONE ? 1 : 0, total: 1 };
  }

  /** Open parts in which every box is still to come. */
  unmade(looks: readonly Look[]): Set<number> {
    const { folds } = this.outline;
    const none = new Set(this.layout.enclosures.map(({ fold }) => fold));
    for (const box of this.layout.boxes)
      if (!looks[box.index].ghost) for (let f = box.home; f >= 0; f = folds[f].parent) none.delete(f);
    return none;
  }

  private lookOfMany(nodes: readonly number[], run: Run | null, given: Uint8Array | null): Look {
    if (given && nodes.every(node => given[node] === GHOST)) return UNMADE;
    const { flags } = this.outline.graph.nodes;
    const counts = [0, 0, 0, 0, 0];
    const states = given ?? run?.state ?? this.outline.graph.nodes.state;
    let [nan, edited, broken, counted] = [false, false, false, 0];
    for (const node of nodes) {
      if (flags[node] & FLAGS.no_grad) continue;
      counted++;
      counts[states[node]]++;
      nan ||= (flags[node] & FLAGS.nan) !== 0 || (run !== null && Number.isNaN(run.norm[node]));
      edited ||= run?.edited.has(node) ?? false;
      broken ||= run?.breaks.has(node) ?? false;
    }
    let state = IDLE;
    if (counts[CURRENT]) state = CURRENT;
    else if (counts[WAITING]) state = WAITING;
    else if (counted && counts[DONE] === counted) state = DONE;
    else if (counted && counts[FREED] === counted) state = FREED;
    return { state, hollow: state === FREED, edited, broken, nan, done: counts[DONE], total: counted };
  }
}

const PLAIN: Look[] = [];
const UNMADE: Look = {
  state: IDLE,
  hollow: false,
  nan: false,
  edited: false,
  broken: false,
  ghost: true,
  done: 0,
  total: 1,
};

/** Most nodes look like many others: they share what they say. */
function plainLook(state: number, hollow: boolean, nan: boolean): Look {
  const key = state * 4 + (hollow ? 2 : 0) + (nan ? 1 : 0);
  const done = state === DONE ? 1 : 0;
  return (PLAIN[key] ??= { state, hollow, nan, edited: false, broken: false, done, total: 1 });
}

function within(x: number, y: number, left: number, top: number, w: number, h: number): boolean {
  return x >= left && x <= left + w && y >= top && y <= top + h;
}

/** The first index whose value is at least `value`, in ascending numbers. */
function lowerBound(values: Int32Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
