// Where everything stands: step B of layout.md, the same numbers as tensorlab/display/layout.py.
import { enclose, moveToMargin, placeX, placeY, pointsOf, spansOf, type Rows } from './place';
import { badgeText, foldLines, holds, linesOf, shownAs, type Outline } from './outline';

export const BOX = 46;
export const BADGE_TOP = 43;
export const BADGE = 17;
export const WITH_BADGES = BADGE_TOP + BADGE;
export const BADGE_GAP = 6;
const MOST_BADGES = 3;
const WIDEST_BADGES = 244;
const WIDEST = 264;
export const LONG = 8;
const LARGE = 5000;
const NONE: readonly never[] = [];

export interface Box {
  /** A node's position, or -1 for a folded part. */
  readonly node: number;
  readonly fold: number;
  readonly home: number;
  readonly title: string;
  readonly subtitle: string;
  badges: readonly Badge[];
  /** Positions of all its parameters, also of those that no badge names. */
  parameters: readonly number[];
  x: number;
  y: number;
  w: number;
  layer: number;
  /** Its number. */
  index: number;
}

export interface Badge {
  /** The parameter's position, or -1 for "and more". */
  readonly node: number;
  readonly text: string;
  readonly w: number;
  x: number;
  y: number;
}

export interface Edge {
  readonly a: number;
  readonly b: number;
  /** Positions in the document's edges. */
  readonly members: number[];
  /** A long edge: only its two ends are drawn. */
  stub: boolean;
  /** The items that stand for it in the layers it passes: `dummies` of them, from `firstDummy` on. */
  firstDummy: number;
  dummies: number;
}

export interface Enclosure {
  readonly fold: number;
  x: number;
  y: number;
  w: number;
  h: number;
  clean: boolean;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
  readonly enclosures: readonly Enclosure[];
  /** Per node: the box it is drawn in, or -1 for a badge. */
  readonly boxOf: Int32Array;
  /** Per layer: its boxes from left to right, its top and its bottom. */
  readonly layers: readonly (readonly number[])[];
  readonly rows: Rows;
  /** x, y, x, y, ... from the producer down to the consumer. */
  pointsOf(edge: Edge): readonly number[];
}

/** Per item: its neighbours are `list[start[item]] .. list[start[item + 1] - 1]`. */
export interface Links {
  readonly start: Int32Array;
  readonly list: Int32Array;
}

/** Things that stand in layers: the boxes, then one dummy for each layer an edge passes. */
export interface Items {
  readonly width: Int32Array;
  readonly home: Int32Array;
  readonly layers: number[][];
  readonly above: Links;
  readonly below: Links;
  readonly index: Float64Array;
  readonly x: Float64Array;
  /** The longest way to it from above, and from it down. */
  readonly depth: Int32Array;
  readonly height: Int32Array;
  /** It stands on the longest way to something below it, and from something above it. */
  readonly mainUp: Uint8Array;
  readonly mainDown: Uint8Array;
  readonly isSource: Uint8Array;
  /** The first dummy. */
  readonly boxes: number;
}

export function layoutOf(outline: Outline, folded: ReadonlySet<number>): Layout {
  const boxOf = new Int32Array(outline.home.length).fill(-1);
  const boxes = makeBoxes(outline, folded, boxOf);
  const edges = makeEdges(outline, boxes, boxOf);
  for (const box of boxes) measure(box, outline.room);
  const items = makeItems(outline, boxes, edges);
  const paths = foldPaths(outline);
  orderLayers(items, paths);
  placeX(items, paths);
  for (let b = 0; b < boxes.length; b++) boxes[b].x = Math.floor(items.x[b] - boxes[b].w / 2 + 0.5) | 0;
  const spans = spansOf(outline, folded, boxes);
  const rows = placeY(outline, boxes, items, spans);
  const enclosures = enclose(outline, boxes, items, spans);
  const size = moveToMargin(boxes, enclosures, items, rows);
  const known = new Map<Edge, readonly number[]>();
  const points = (edge: Edge) => {
    let found = known.get(edge);
    if (!found) known.set(edge, (found = pointsOf(edge, boxes, items, rows)));
    return found;
  };
  const layers = items.layers.map(layer => layer.filter(item => item < boxes.length));
  return { ...size, boxes, edges, enclosures, boxOf, layers, rows, pointsOf: points };
}

/** B.1: boxes, numbered by the last position they hold. */
function makeBoxes(outline: Outline, folded: ReadonlySet<number>, boxOf: Int32Array): Box[] {
  const { folds, home, isBadge } = outline;
  const top = shownAs(folds, folded);
  const boxOfFold = new Int32Array(folds.length).fill(-1);
  const boxes: Box[] = [];
  for (let i = home.length - 1; i >= 0; i--) {
    if (isBadge[i]) continue;
    const fold = home[i] < 0 ? -1 : top[home[i]];
    if (fold >= 0 && boxOfFold[fold] >= 0) continue;
    if (fold >= 0) boxOfFold[fold] = boxes.length;
    const { title, subtitle } = fold >= 0 ? foldLines(outline, folds[fold]) : linesOf(outline, i);
    const where = fold >= 0 ? folds[fold].parent : home[i];
    boxes.push({
      node: fold >= 0 ? -1 : i,
      fold,
      home: where,
      title,
      subtitle,
      badges: NONE,
      parameters: NONE,
      index: 0,
      x: 0,
      y: 0,
      w: 0,
      layer: 0,
    });
    if (fold < 0) boxOf[i] = boxes.length - 1;
  }
  boxes.reverse().forEach((box, b) => (box.index = b));
  for (let i = 0; i < home.length; i++) {
    if (isBadge[i]) continue;
    const fold = home[i] < 0 ? -1 : top[home[i]];
    boxOf[i] = boxes.length - 1 - (fold >= 0 ? boxOfFold[fold] : boxOf[i]);
  }
  return boxes;
}

/** B.2: one edge for each pair of boxes; parameters become badges. */
function makeEdges({ graph, isBadge }: Outline, boxes: readonly Box[], boxOf: Int32Array): Edge[] {
  const edges: Edge[] = [];
  const known = new Map<number, Edge>();
  const { source, target } = graph.edges;
  for (let e = 0; e < source.length; e++) {
    const a = boxOf[source[e]];
    const b = boxOf[target[e]];
    if (b < 0) continue;
    if (isBadge[source[e]]) {
      const box = boxes[b];
      if (box.parameters.includes(source[e])) continue;
      box.parameters = [...box.parameters, source[e]];
      if (box.fold < 0) box.badges = [...box.badges, badgeOf(graph, source[e])];
    } else if (a !== b) {
      const pair = a * boxes.length + b;
      const edge = known.get(pair);
      if (edge) edge.members.push(e);
      else {
        const made = { a, b, members: [e], stub: false, firstDummy: 0, dummies: 0 };
        known.set(pair, made);
        edges.push(made);
      }
    }
  }
  return edges;
}

function badgeOf(graph: Outline['graph'], node: number, text = badgeText(graph, node)): Badge {
  return { node, text, w: badgeWidth(text), x: 0, y: 0 };
}

/** Its words, and room for a mark beside them. */
const badgeWidth = (text: string) => 26 + 7 * lengthOf(text);

const SURROGATE = /[\ud800-\udbff]/;

/** Length in code points, as Python counts. */
function lengthOf(text: string): number {
  return SURROGATE.test(text) ? [...text].length : text.length;
}

/** B.3 */
function measure(box: Box, room: number): void {
  box.badges = fitting(box.badges);
  const title = 50 + Math.floor((17 * (lengthOf(box.title) + room)) / 2);
  const badges = box.badges.length ? 20 + rowOf(box.badges) : 0;
  const wanted = Math.max(title, 28 + 7 * lengthOf(box.subtitle), badges);
  box.w = Math.min(WIDEST, Math.max(120, Math.ceil(wanted / 24) * 24));
}

/** The badges that a box has room for: all, or the first ones and a count of the others. */
function fitting(badges: readonly Badge[]): readonly Badge[] {
  if (badges.length <= MOST_BADGES && rowOf(badges) <= WIDEST_BADGES) return badges;
  let shown: readonly Badge[] = badges;
  for (let kept = Math.min(badges.length, MOST_BADGES) - 1; kept >= 1; kept--) {
    const text = `+${badges.length - kept}`;
    shown = [...badges.slice(0, kept), { node: -1, text, w: badgeWidth(text), x: 0, y: 0 }];
    if (rowOf(shown) <= WIDEST_BADGES) break;
  }
  const left = WIDEST_BADGES - rowOf(shown.slice(1)) - (shown.length > 1 ? BADGE_GAP : 0);
  return shown.map((badge, k) => (k ? badge : { ...badge, w: Math.min(badge.w, left) }));
}

const rowOf = (badges: readonly Badge[]) =>
  badges.reduce((total, badge) => total + badge.w, BADGE_GAP * Math.max(0, badges.length - 1));

/** The height of a box with what hangs on it. */
export const heightOf = (box: Box) => (box.badges.length ? WITH_BADGES : BOX);

/** B.4: boxes below their producers, and right above the first that needs them; fills in depths and heights. */
function makeLayers(
  boxes: readonly Box[],
  edges: readonly Edge[],
  depth: Int32Array,
  height: Int32Array,
): Uint8Array {
  const from = Int32Array.from(edges, edge => edge.a);
  const { start, list } = linksOf(
    boxes.length,
    from,
    Int32Array.from(edges, edge => edge.b),
  );
  const isSource = new Uint8Array(boxes.length).fill(1);
  for (const { b } of edges) isSource[b] = 0;
  for (let a = 0; a < boxes.length; a++)
    for (let k = start[a]; k < start[a + 1]; k++)
      if (a < list[k]) depth[list[k]] = Math.max(depth[list[k]], depth[a] + 1);
  for (let a = boxes.length - 1; a >= 0; a--) {
    let nearest = Infinity;
    for (let k = start[a]; k < start[a + 1]; k++) {
      if (a >= list[k]) continue;
      nearest = Math.min(nearest, boxes[list[k]].layer);
      height[a] = Math.max(height[a], height[list[k]] + 1);
    }
    boxes[a].layer = nearest < Infinity ? nearest - 1 : depth[a];
  }
  return isSource;
}

function linksOf(items: number, from: Int32Array, to: Int32Array): Links {
  const start = new Int32Array(items + 1);
  for (let i = 0; i < from.length; i++) start[from[i] + 1]++;
  for (let i = 0; i < items; i++) start[i + 1] += start[i];
  const next = start.slice();
  const list = new Int32Array(from.length);
  for (let i = 0; i < from.length; i++) list[next[from[i]]++] = to[i];
  return { start, list };
}

/** B.5 */
function makeItems({ folds }: Outline, boxes: readonly Box[], edges: readonly Edge[]): Items {
  const depths = new Int32Array(boxes.length);
  const heights = new Int32Array(boxes.length);
  const sources = makeLayers(boxes, edges, depths, heights);
  let items = boxes.length;
  let links = 0;
  for (const edge of edges) {
    const span = boxes[edge.b].layer - boxes[edge.a].layer;
    edge.stub = span > LONG || span < 1;
    if (edge.stub) continue;
    edge.firstDummy = items;
    edge.dummies = span - 1;
    items += span - 1;
    links += span;
  }
  const count = 1 + boxes.reduce((most, box) => Math.max(most, box.layer), 0);
  const layers: number[][] = Array.from({ length: count }, () => []);
  const width = new Int32Array(items).fill(8);
  const home = new Int32Array(items);
  const depth = new Int32Array(items);
  const height = new Int32Array(items);
  depth.set(depths);
  height.set(heights);
  for (let b = 0; b < boxes.length; b++) {
    layers[boxes[b].layer].push(b);
    width[b] = boxes[b].w;
    home[b] = boxes[b].home;
  }
  const upper = new Int32Array(links);
  const lower = new Int32Array(links);
  let link = 0;
  for (const edge of edges) {
    if (edge.stub) continue;
    const { a, b, firstDummy, dummies } = edge;
    const around = dummies ? commonFold(folds, boxes[a].home, boxes[b].home) : -1;
    upper[link] = a;
    for (let k = 0; k < dummies; k++) {
      const item = firstDummy + k;
      home[item] = around;
      depth[item] = depth[a];
      height[item] = height[b];
      layers[boxes[a].layer + 1 + k].push(item);
      lower[link++] = item;
      upper[link] = item;
    }
    lower[link++] = b;
  }
  const index = new Float64Array(items);
  for (const layer of layers) for (let i = 0; i < layer.length; i++) index[layer[i]] = i;
  const isSource = new Uint8Array(items);
  isSource.set(sources);
  const above = linksOf(items, lower, upper);
  const below = linksOf(items, upper, lower);
  return {
    width,
    home,
    layers,
    above,
    below,
    index,
    x: new Float64Array(items),
    isSource,
    depth,
    height,
    mainUp: mainOf(above, depth, isSource),
    mainDown: mainOf(below, height, isSource),
    boxes: boxes.length,
  };
}

/** Marks the neighbours of each item whose rank is the greatest or one less; boxes that nothing enters only among their like. */
function mainOf({ start, list }: Links, rank: Int32Array, isSource: Uint8Array): Uint8Array {
  const main = new Uint8Array(rank.length);
  for (let item = 0; item < rank.length; item++) {
    const least = leastMain(start[item], start[item + 1], list, rank, isSource);
    for (let k = start[item]; k < start[item + 1]; k++)
      if (least < 0 || (!isSource[list[k]] && rank[list[k]] >= least)) main[list[k]] = 1;
  }
  return main;
}

/** The least rank that counts as main among neighbours, or -1 where all of them do. */
export function leastMain(
  from: number,
  to: number,
  list: Int32Array,
  rank: Int32Array,
  isSource: Uint8Array,
): number {
  let most = -1;
  for (let k = from; k < to; k++) if (!isSource[list[k]]) most = Math.max(most, rank[list[k]]);
  return most < 0 ? -1 : Math.max(0, most - 1);
}

function commonFold(folds: Outline['folds'], a: number, b: number): number {
  while (a >= 0 && !holds(folds, a, b)) a = folds[a].parent;
  return a;
}

/** Per fold: the folds from the outermost down to itself. */
function foldPaths({ folds }: Outline): number[][] {
  return folds.map(fold => {
    const path = [];
    for (let f = fold.id; f >= 0; f = folds[f].parent) path.push(f);
    return path.reverse();
  });
}

/** B.6: neighbours' mean places, parts of one fold kept together. */
function orderLayers(items: Items, paths: readonly number[][]): void {
  const { layers, above, below, index, home, width } = items;
  const bary = new Float64Array(width.length);
  const sortLayer = (layer: number[], { start, list }: Links) => {
    let sorted = true;
    let alike = true;
    for (let i = 0; i < layer.length; i++) {
      const item = layer[i];
      let total = 0;
      for (let k = start[item]; k < start[item + 1]; k++) total += index[list[k]];
      const near = start[item + 1] - start[item];
      bary[item] = near ? total / near : index[item];
      sorted &&= i === 0 || bary[layer[i - 1]] <= bary[item];
      alike &&= home[item] === home[layer[0]];
    }
    if (alike && sorted) return;
    if (alike) layer.sort((p, q) => bary[p] - bary[q] || index[p] - index[q]);
    else sortByFolds(layer, items, paths, bary);
    for (let i = 0; i < layer.length; i++) index[layer[i]] = i;
  };
  for (let sweep = width.length <= LARGE ? 4 : 2; sweep > 0; sweep--) {
    for (let l = 1; l < layers.length; l++) sortLayer(layers[l], above);
    for (let l = layers.length - 2; l >= 0; l--) sortLayer(layers[l], below);
  }
}

function sortByFolds(layer: number[], items: Items, paths: readonly number[][], bary: Float64Array): void {
  const means = new Map<number, { total: number; count: number }>();
  const pathOf = (item: number) => paths[items.home[item]] ?? [];
  for (const item of layer)
    for (const fold of pathOf(item)) {
      const mean = means.get(fold) ?? { total: 0, count: 0 };
      means.set(fold, { total: mean.total + bary[item], count: mean.count + 1 });
    }
  const keys = new Map<number, number[]>();
  for (const item of layer) {
    const key: number[] = [];
    for (const fold of pathOf(item)) key.push(means.get(fold)!.total / means.get(fold)!.count, fold);
    keys.set(item, [...key, bary[item], paths.length + items.index[item]]);
  }
  layer.sort((p, q) => {
    const a = keys.get(p)!;
    const b = keys.get(q)!;
    let k = 0;
    while (k < a.length && k < b.length && a[k] === b[k]) k++;
    return a[k] - b[k];
  });
}
