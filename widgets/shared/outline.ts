// What of a graph can be folded: modules, and parts that repeat. Step A of layout.md; depends on the document only.
import type { Layer } from './kept';
import { FLAGS, KINDS, type Graph } from './snapshot';

const BADGE_CONSUMERS = 3;
const LONGEST_PERIOD = 64;
const FEWEST_TIMES = 3;
const FEWEST_OPS = 16;
const ROUNDS = 3;
export const STORAGE = KINDS.indexOf('storage');

/** A part that can be drawn as one box. `group` is an index into `Graph.groups`, or -1 for a repeat (then `times` counts). */
export interface Fold {
  readonly id: number;
  readonly group: number;
  readonly times: number;
  /** How many items one of the times holds, and the first of them (a node's position, or `-1 - id` of a fold). */
  readonly period: number;
  readonly first: number;
  parent: number;
  ops: number;
}

export interface Outline {
  readonly graph: Graph;
  /** What the boxes say: the call, what its gradient takes, or both. */
  readonly layer: Layer;
  /** Characters that every title leaves free for a number beside it. */
  readonly room: number;
  readonly folds: readonly Fold[];
  /** Per group: its dotted path, `"hidden.0"`. */
  readonly paths: readonly string[];
  /** Per node: the fold it stands in, or -1. */
  readonly home: Int32Array;
  readonly isSource: Uint8Array;
  readonly isBadge: Uint8Array;
}

/** An item of a fold: a node is its position, a fold is `-1 - id`. */
type Items = number[];

export function outlineOf(graph: Graph, layer: Layer = 'both', room = 0): Outline {
  const n = graph.nodes.id.length;
  const { isSource, isBadge } = sourcesAndBadges(graph);
  const home = new Int32Array(n).fill(-1);
  const folds: Fold[] = [];
  const items: Items[] = [];
  const rootItems = moduleFolds(graph, isSource, home, folds, items);
  repeatFolds(graph, home, folds, items, rootItems);
  const paths = graph.groups.map((_, g) => pathOf(graph, g));
  const outline = { graph, layer, room, folds, paths, home, isSource, isBadge };
  settleSources(outline);
  return outline;
}

function sourcesAndBadges(graph: Graph): { isSource: Uint8Array; isBadge: Uint8Array } {
  const n = graph.nodes.id.length;
  const isSource = new Uint8Array(n).fill(1);
  const isBadge = new Uint8Array(n);
  const consumers = new Int32Array(n);
  const { source, target } = graph.edges;
  for (let e = 0; e < source.length; e++) {
    isSource[target[e]] = 0;
    consumers[source[e]]++;
  }
  for (let i = 0; i < n; i++) {
    const kind = graph.nodes.kind[i];
    const few = kind === 1 ? 0 : BADGE_CONSUMERS;
    isBadge[i] = isSource[i] && kind >= 1 && kind <= 3 && consumers[i] > few ? 1 : 0;
  }
  return { isSource, isBadge };
}

function moduleFolds(
  graph: Graph,
  isSource: Uint8Array,
  home: Int32Array,
  folds: Fold[],
  items: Items[],
): Items {
  const paths = graph.groups.map((_, g) => {
    const path = [];
    for (let at = g; at >= 0; at = graph.groups[at].parent) path.push(at);
    return path.reverse();
  });
  const rootItems: Items = [];
  const open: Fold[] = [];
  for (let i = 0; i < home.length; i++) {
    if (isSource[i]) continue;
    const path = graph.nodes.group[i] < 0 ? [] : paths[graph.nodes.group[i]];
    while (open.length > path.length || open.some((fold, d) => fold.group !== path[d])) open.pop();
    while (open.length < path.length) {
      const group = path[open.length];
      const parent = open.length ? open[open.length - 1].id : -1;
      const fold: Fold = { id: folds.length, group, times: 1, period: 1, first: i, parent, ops: 0 };
      (parent < 0 ? rootItems : items[parent]).push(-1 - fold.id);
      folds.push(fold);
      items.push([]);
      open.push(fold);
    }
    home[i] = open.length ? open[open.length - 1].id : -1;
    (home[i] < 0 ? rootItems : items[home[i]]).push(i);
    for (const fold of open) fold.ops++;
  }
  return rootItems;
}

function repeatFolds(graph: Graph, home: Int32Array, folds: Fold[], items: Items[], rootItems: Items): void {
  const repeats = new Repeats(graph, home, folds, items);
  for (let f = folds.length - 1; f >= 0; f--) {
    items[f] = repeats.find(items[f], f);
    repeats.nameModule(f);
  }
  repeats.find(rootItems, -1);
}

/** A.3. Signatures are numbers: equal ones for parts that look alike. */
class Repeats {
  private readonly numbers = new Map<string | number, number>();
  private readonly ofOp: Int32Array;
  private readonly ofFold: number[] = [];

  constructor(
    private readonly graph: Graph,
    private readonly home: Int32Array,
    private readonly folds: Fold[],
    private readonly items: Items[],
  ) {
    const { name, shape, dtype } = graph.nodes;
    const base = graph.strings.length + 1;
    this.ofOp = new Int32Array(home.length);
    for (let i = 0; i < home.length; i++)
      this.ofOp[i] = this.intern(((name[i] + 1) * base + shape[i] + 1) * base + dtype[i] + 1);
  }

  nameModule(fold: number): void {
    const { type } = this.graph.groups[this.folds[fold].group];
    this.ofFold[fold] = this.intern(`module ${type}:${this.items[fold].map(this.signature).join()}`);
  }

  /** The items with their repeats put together. */
  find(list: Items, parent: number): Items {
    let current = list;
    for (let round = 0; round < ROUNDS; round++) {
      const sig = current.map(this.signature);
      const again = nextAlike(sig, this.numbers.size);
      const next: Items = [];
      for (let i = 0; i < current.length;) {
        const near = again[i] - i <= LONGEST_PERIOD;
        const [period, times] = near ? repeatAt(sig, again, i, current, this.ops) : NOTHING;
        const end = i + Math.max(1, period * times);
        next.push(
          times ? this.make(current.slice(i, end), period, sig.slice(i, i + period), parent) : current[i],
        );
        i = end;
      }
      if (next.length === current.length) break;
      current = next;
    }
    return current;
  }

  private readonly signature = (item: number) => (item < 0 ? this.ofFold[-1 - item] : this.ofOp[item]);

  private readonly ops = (item: number) => (item < 0 ? this.folds[-1 - item].ops : 1);

  private intern(key: string | number): number {
    let number = this.numbers.get(key);
    if (number === undefined) this.numbers.set(key, (number = this.numbers.size));
    return number;
  }

  private make(part: Items, period: number, sig: readonly number[], parent: number): number {
    const { folds, home } = this;
    const id = folds.length;
    const times = part.length / period;
    folds.push({
      id,
      group: -1,
      times,
      period,
      first: part[0],
      parent,
      ops: sum(part, 0, part.length, this.ops),
    });
    this.items.push(part);
    this.ofFold[id] = this.intern(`repeat ${times}:${sig.join()}`);
    for (const item of part) {
      if (item < 0) folds[-1 - item].parent = id;
      else home[item] = id;
    }
    return -1 - id;
  }
}

function sum(list: Items, from: number, to: number, value: (item: number) => number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += value(list[i]);
  return total;
}

const NOTHING = [0, 0] as const;

/** Per item: the place of the next one with the same signature, or one past all. */
function nextAlike(sig: readonly number[], signatures: number): Int32Array {
  const seen = new Int32Array(signatures).fill(2 ** 30);
  const next = new Int32Array(sig.length);
  for (let i = sig.length - 1; i >= 0; i--) {
    next[i] = seen[sig[i]];
    seen[sig[i]] = i;
  }
  return next;
}

/**
 * The smallest period of a repeat that starts at `i`, and how often it comes; `[0, 0]` when nothing repeats enough. What starts at
 * `i` can only come again where an item like the one at `i` does.
 */
function repeatAt(
  sig: readonly number[],
  again: Int32Array,
  i: number,
  list: Items,
  ops: (item: number) => number,
): readonly [number, number] {
  const m = sig.length;
  const longest = Math.min(LONGEST_PERIOD, Math.floor((m - i) / FEWEST_TIMES));
  for (let p = again[i] - i; p <= longest; p = again[i + p] - i) {
    let k = i;
    while (k + p < m && sig[k] === sig[k + p]) k++;
    const times = Math.floor((k - i) / p) + 1;
    if (times >= FEWEST_TIMES && times * sum(list, i, i + p, ops) >= FEWEST_OPS) return [p, times];
  }
  return NOTHING;
}

/** A.4: a source lives in the innermost repeat that holds all its consumers, if enough others do: one for each time. */
function settleSources({ graph, folds, home, isSource, isBadge }: Outline): void {
  const repeatFrom = (fold: number) => {
    while (fold >= 0 && folds[fold].group >= 0) fold = folds[fold].parent;
    return fold;
  };
  const manyFrom = (fold: number) => {
    while (fold >= 0 && folds[fold].ops < 2) fold = folds[fold].parent;
    return fold;
  };
  const seen = new Uint8Array(home.length);
  const { source, target } = graph.edges;
  for (let e = 0; e < source.length; e++) {
    const s = source[e];
    if (!isSource[s] || isBadge[s]) continue;
    const stored = graph.nodes.kind[s] === STORAGE;
    const from = stored ? manyFrom : repeatFrom;
    if (!seen[s]) {
      seen[s] = 1;
      home[s] = from(home[target[e]]);
    }
    while (home[s] >= 0 && !holds(folds, home[s], home[target[e]])) home[s] = from(folds[home[s]].parent);
  }
  for (let s = 0; s < home.length; s++) if (graph.nodes.kind[s] === STORAGE) seen[s] = 0;
  const counts = new Int32Array(folds.length);
  for (let s = 0; s < home.length; s++) if (seen[s] && home[s] >= 0) counts[home[s]]++;
  for (let s = 0; s < home.length; s++)
    while (seen[s] && home[s] >= 0 && counts[home[s]] < folds[home[s]].times)
      home[s] = repeatFrom(folds[home[s]].parent);
}

/** Whether `inner` is `outer` or stands somewhere in it. */
export function holds(folds: readonly Fold[], outer: number, inner: number): boolean {
  while (inner >= 0 && inner !== outer) inner = folds[inner].parent;
  return inner === outer;
}

function pathOf(graph: Graph, group: number): string {
  let path = '';
  const chain = [];
  for (let g = group; g >= 0; g = graph.groups[g].parent) chain.push(graph.groups[g].name);
  for (const name of chain.reverse()) {
    if (name === '') continue;
    path = path === '' || name.startsWith(`${path}.`) ? name : `${path}.${name}`;
  }
  return path;
}

/** The two lines of the box of a node. */
export function linesOf(
  { graph, layer, paths, isSource }: Outline,
  node: number,
): { title: string; subtitle: string } {
  const { strings, nodes } = graph;
  const label = nodes.label[node] < 0 ? '' : strings[nodes.label[node]];
  const name = nodes.name[node] < 0 ? '' : strings[nodes.name[node]];
  const dtype = nodes.dtype[node] < 0 ? '' : strings[nodes.dtype[node]];
  let subtitle = nodes.shape[node] < 0 ? '' : strings[nodes.shape[node]];
  if (dtype && dtype !== 'float32') subtitle += ` ${dtype}`;
  if (isSource[node]) {
    if (nodes.flags[node] & FLAGS.no_grad) subtitle += ' · no grad';
    return { title: label || name, subtitle };
  }
  const path = nodes.group[node] < 0 ? '' : paths[nodes.group[node]];
  const op = nodes.op[node] < 0 || layer === 'backward' ? '' : strings[nodes.op[node]];
  const where = op ? (layer === 'both' ? name : path) : label || path;
  if (where) subtitle += ` · ${where}`;
  if (!op) return { title: name, subtitle };
  return { title: label ? `${label} = ${op}` : op, subtitle };
}

/** The two lines of the box of a folded part. */
export function foldLines(
  { graph, layer, folds, paths }: Outline,
  { group, times, period, first, ops }: Fold,
) {
  const { strings, nodes } = graph;
  if (group >= 0) {
    const { type, name } = graph.groups[group];
    if (type === 'part') return { title: name, subtitle: `${ops} node${ops === 1 ? '' : 's'}` };
    return { title: paths[group] || type, subtitle: `${type} · ${ops} nodes` };
  }
  if (period === 1 && first >= 0) {
    const word = nodes.op[first] < 0 || layer === 'backward' ? nodes.name[first] : nodes.op[first];
    return { title: `×${times} ${strings[word]}`, subtitle: strings[nodes.shape[first]] ?? '' };
  }
  const inside = first < 0 ? folds[-1 - first].group : -1;
  const what = period === 1 && inside >= 0 ? graph.groups[inside].type : 'steps';
  return { title: `×${times} ${what}`, subtitle: `${ops / times} nodes each` };
}

/** What a parameter's badge says: `W 10×64`. */
export function badgeText(graph: Graph, node: number): string {
  const { strings, nodes } = graph;
  const label = nodes.label[node] < 0 ? '' : strings[nodes.label[node]];
  const last = label.slice(label.lastIndexOf('.') + 1);
  const short = last === 'weight' ? 'W' : last === 'bias' ? 'b' : last;
  const shape = nodes.shape[node] < 0 ? '' : strings[nodes.shape[node]];
  const text = `${short} ${shape.replace(/^\[|\]$/g, '').replaceAll(', ', '×')}`.trim();
  return text || strings[nodes.name[node]];
}

/** How deep a fold stands: the number of folds around it. */
export function depthOf(folds: readonly Fold[], fold: number): number {
  let depth = 0;
  for (let f = folds[fold].parent; f >= 0; f = folds[f].parent) depth++;
  return depth;
}

/** The outermost folded fold at or above each fold, or -1. */
export function shownAs(folds: readonly Fold[], folded: ReadonlySet<number>): Int32Array {
  const top = new Int32Array(folds.length).fill(-1);
  for (const { id } of folds) for (let f = id; f >= 0; f = folds[f].parent) if (folded.has(f)) top[id] = f;
  return top;
}

function countBoxes({ folds, home, isBadge }: Outline, folded: ReadonlySet<number>): number {
  const top = shownAs(folds, folded);
  const boxes = new Set<number>();
  let alone = 0;
  for (let i = 0; i < home.length; i++) {
    if (isBadge[i]) continue;
    const fold = home[i] < 0 ? -1 : top[home[i]];
    if (fold < 0) alone++;
    else boxes.add(fold);
  }
  return alone + boxes.size;
}

/** The outermost folds of which a person's function wants every node folded. */
function wantedFolds({ graph, folds, home, isSource }: Outline): Set<number> {
  const missing = new Uint8Array(folds.length);
  for (let i = 0; i < home.length; i++)
    if (!isSource[i] && !(graph.nodes.flags[i] & FLAGS.folded))
      for (let f = home[i]; f >= 0 && !missing[f]; f = folds[f].parent) missing[f] = 1;
  return new Set(
    folds.filter(({ id, parent }) => !missing[id] && (parent < 0 || missing[parent])).map(fold => fold.id),
  );
}

/**
 * The folds that are closed when a graph is first shown: those that a person asked for, or else none if it is small, then repeats, then the
 * deepest modules.
 */
export function defaultFolds(outline: Outline, limit = 240): Set<number> {
  const { folds } = outline;
  const folded = wantedFolds(outline);
  if (folded.size) return folded;
  if (countBoxes(outline, folded) <= limit) return folded;
  for (const fold of folds) if (fold.group < 0) folded.add(fold.id);
  const depths = folds.map(fold => depthOf(folds, fold.id));
  for (let depth = depths.reduce((a, b) => Math.max(a, b), 0); depth >= 0; depth--) {
    if (countBoxes(outline, folded) <= limit) break;
    for (const fold of folds) if (fold.group >= 0 && depths[fold.id] === depth) folded.add(fold.id);
  }
  return folded;
}
