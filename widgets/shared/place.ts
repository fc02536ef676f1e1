// The numbers of layout.md: B.7 to B.10, from ordered layers to places on the canvas.
import {
  BADGE_GAP,
  BADGE_TOP,
  BOX,
  heightOf,
  leastMain,
  type Box,
  type Edge,
  type Enclosure,
  type Items,
  type Links,
} from './layout';
import { depthOf, holds, type Outline } from './outline';

const GAP = 28;
const ROW = 40;
const MARGIN = 24;
const LARGE = 5000;
/** How much more a box on the longest way keeps to it than others keep to theirs. */
const MAIN = 2 ** 20;

/** The top and the bottom of every layer. */
export interface Rows {
  readonly top: Int32Array;
  readonly bottom: Int32Array;
}

/** B.7: every item as near to its neighbours' middle as order and gaps allow (pool adjacent violators). */
export function placeX(items: Items, paths: readonly number[][]): void {
  const { layers, above, below, x, depth, height, mainUp, mainDown } = items;
  const offsets = layers.map(layer => offsetsOf(layer, items, paths));
  layers.forEach((layer, l) => {
    const half = offsets[l][layer.length - 1] / 2;
    for (let i = 0; i < layer.length; i++) x[layer[i]] = offsets[l][i] - half;
  });
  const widest = layers.reduce((most, layer) => Math.max(most, layer.length), 0);
  const sums = new Float64Array(widest);
  const masses = new Float64Array(widest);
  const firsts = new Int32Array(widest + 1);
  const settle = (
    layer: readonly number[],
    offset: Float64Array,
    links: Links,
    rank: Int32Array,
    main: Uint8Array,
    last = false,
  ) => {
    let blocks = 0;
    for (let i = 0; i < layer.length; i++) {
      const item = layer[i];
      const stays = last && !items.isSource[item];
      const wish = stays ? NaN : wishOf(item, links, rank, items);
      const keeps = wish !== wish;
      let mass = stays ? 1000 : keeps || last ? 1 : main[item] ? MAIN : item >= items.boxes ? 8 : 4;
      let sum = mass * ((keeps ? x[item] : wish) - offset[i]);
      let first = i;
      while (blocks && sum / mass < sums[blocks - 1] / masses[blocks - 1]) {
        blocks--;
        sum = sums[blocks] + sum;
        mass = masses[blocks] + mass;
        first = firsts[blocks];
      }
      sums[blocks] = sum;
      masses[blocks] = mass;
      firsts[blocks++] = first;
    }
    firsts[blocks] = layer.length;
    for (let block = 0; block < blocks; block++) {
      const mean = sums[block] / masses[block];
      for (let i = firsts[block]; i < firsts[block + 1]; i++) x[layer[i]] = mean + offset[i];
    }
  };
  const last = items.width.length <= LARGE ? 8 : 2;
  for (let round = 0; round <= last; round++) {
    if (round % 2 === 0)
      for (let l = 1; l < layers.length; l++) settle(layers[l], offsets[l], above, depth, mainDown);
    else for (let l = layers.length - 2; l >= 0; l--) settle(layers[l], offsets[l], below, height, mainUp);
  }
  for (let l = layers.length - 2; l >= 0; l--) settle(layers[l], offsets[l], below, height, mainUp, true);
}

/**
 * The middle of the neighbours on one side that stand on the longest way (or one short of it), without boxes that nothing enters
 * unless all are such; NaN if there are none.
 */
function wishOf(item: number, { start, list }: Links, rank: Int32Array, { x, isSource }: Items): number {
  const from = start[item];
  const to = start[item + 1];
  if (to - from === 1) return x[list[from]];
  const least = leastMain(from, to, list, rank, isSource);
  let count = 0;
  let total = 0;
  for (let k = from; k < to; k++) {
    const other = list[k];
    if (least >= 0 && (isSource[other] || rank[other] < least)) continue;
    total += x[other];
    count++;
  }
  return total / count;
}

function offsetsOf(
  layer: readonly number[],
  { home, width }: Items,
  paths: readonly number[][],
): Float64Array {
  const offsets = new Float64Array(layer.length);
  for (let i = 1; i < layer.length; i++) {
    const l = layer[i - 1];
    const r = layer[i];
    let gap = GAP;
    if (home[l] !== home[r]) {
      const a = paths[home[l]] ?? [];
      const b = paths[home[r]] ?? [];
      let common = 0;
      while (common < a.length && a[common] === b[common]) common++;
      gap += 16 * (a.length + b.length - 2 * common);
    }
    offsets[i] = offsets[i - 1] + width[l] / 2 + gap + width[r] / 2;
  }
  return offsets;
}

/** B.9: the folds that get an enclosure, each with its first and last layer. */
export interface Spans {
  readonly first: Int32Array;
  readonly last: Int32Array;
  /** Ids, ascending. */
  readonly drawn: number[];
}

export function spansOf({ folds }: Outline, folded: ReadonlySet<number>, boxes: readonly Box[]): Spans {
  const first = new Int32Array(folds.length).fill(-1);
  const last = new Int32Array(folds.length).fill(-1);
  const counts = new Int32Array(folds.length);
  for (const box of boxes)
    for (let f = box.home; f >= 0; f = folds[f].parent) {
      first[f] = counts[f] ? Math.min(first[f], box.layer) : box.layer;
      last[f] = Math.max(last[f], box.layer);
      counts[f]++;
    }
  const drawn = folds.filter(({ id }) => counts[id] >= 2 && !folded.has(id)).map(fold => fold.id);
  return { first, last, drawn };
}

/** B.8 */
export function placeY({ folds }: Outline, boxes: readonly Box[], items: Items, spans: Spans): Rows {
  const count = items.layers.length;
  const rows = { top: new Int32Array(count), bottom: new Int32Array(count) };
  const heights = new Int32Array(count).fill(BOX);
  for (const box of boxes) if (box.badges.length) heights[box.layer] = heightOf(box);
  const opens = new Int32Array(count);
  const closes = new Int32Array(count);
  if (spans.drawn.length) {
    const isDrawn = new Uint8Array(folds.length);
    for (const id of spans.drawn) isDrawn[id] = 1;
    for (const { home, layer } of boxes) {
      let first = 0;
      let last = 0;
      for (let f = home; f >= 0; f = folds[f].parent) {
        if (isDrawn[f] && spans.first[f] === layer) first++;
        if (isDrawn[f] && spans.last[f] === layer) last++;
      }
      opens[layer] = Math.max(opens[layer], first);
      closes[layer] = Math.max(closes[layer], last);
    }
  }
  let y = 0;
  for (let l = 0; l < count; l++) {
    rows.top[l] = y += 24 * opens[l];
    rows.bottom[l] = y += heights[l];
    y += ROW + 12 * closes[l];
  }
  for (const box of boxes) box.y = rows.top[box.layer];
  return rows;
}

/** B.9: the rectangles, innermost first, and whether a stranger stands in one. */
export function enclose({ folds }: Outline, boxes: readonly Box[], items: Items, spans: Spans): Enclosure[] {
  if (!spans.drawn.length) return [];
  const edges = new Map(spans.drawn.map(id => [id, [Infinity, Infinity, -Infinity, -Infinity]]));
  const add = (fold: number, l: number, t: number, r: number, b: number) => {
    while (fold >= 0 && !edges.has(fold)) fold = folds[fold].parent;
    const old = edges.get(fold);
    if (old)
      edges.set(fold, [Math.min(old[0], l), Math.min(old[1], t), Math.max(old[2], r), Math.max(old[3], b)]);
  };
  for (const box of boxes) add(box.home, box.x, box.y, box.x + box.w, box.y + heightOf(box));
  const depths = new Map(spans.drawn.map(id => [id, depthOf(folds, id)]));
  const innermostFirst = [...spans.drawn].sort((p, q) => depths.get(q)! - depths.get(p)! || p - q);
  const made = innermostFirst.map(fold => {
    const [l, t, r, b] = edges.get(fold)!;
    const rect = { fold, x: l - 12, y: t - 24, w: r - l + 24, h: b - t + 36, clean: true };
    add(folds[fold].parent, rect.x, rect.y, rect.x + rect.w, rect.y + rect.h);
    for (let layer = spans.first[fold]; layer <= spans.last[fold] && rect.clean; layer++)
      rect.clean = !items.layers[layer].some(
        item => item < boxes.length && intrudes(folds, boxes[item], rect),
      );
    return rect;
  });
  return made.sort((p, q) => p.fold - q.fold);
}

function intrudes(folds: Outline['folds'], box: Box, { fold, x, y, w, h }: Enclosure): boolean {
  const overlaps = box.x < x + w && box.x + box.w > x && box.y < y + h && box.y + heightOf(box) > y;
  return overlaps && !holds(folds, fold, box.home);
}

/** Moves everything so that it begins at the margin, and puts the badges on their boxes. */
export function moveToMargin(
  boxes: readonly Box[],
  enclosures: readonly Enclosure[],
  items: Items,
  rows: Rows,
) {
  if (!boxes.length) return { width: 2 * MARGIN, height: 2 * MARGIN };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const include = (x: number, y: number, w: number, h: number) => {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + w);
    bottom = Math.max(bottom, y + h);
  };
  for (const { x, y, w, h } of enclosures) include(x, y, w, h);
  for (const box of boxes) include(box.x, box.y, box.w, heightOf(box));
  const dx = MARGIN - left;
  const dy = MARGIN - top;
  for (const rect of enclosures) {
    rect.x += dx;
    rect.y += dy;
  }
  for (const box of boxes) {
    box.x += dx;
    box.y += dy;
    let x = box.x + 10;
    for (const badge of box.badges) {
      badge.x = x;
      badge.y = box.y + BADGE_TOP;
      x += badge.w + BADGE_GAP;
    }
  }
  for (let l = 0; l < rows.top.length; l++) {
    rows.top[l] += dy;
    rows.bottom[l] += dy;
  }
  for (let i = 0; i < items.x.length; i++) items.x[i] = Math.floor(items.x[i] + 0.5) + dx;
  return { width: right + dx + MARGIN, height: bottom + dy + MARGIN };
}

/** B.10: x, y, x, y, ... from the producer down to the consumer. */
export function pointsOf(edge: Edge, boxes: readonly Box[], items: Items, rows: Rows): number[] {
  const [from, to] = [boxes[edge.a], boxes[edge.b]];
  const [start, end] = [from.y + BOX, to.y];
  if (edge.stub) {
    const [x, u] = [from.x + from.w - 14, to.x + to.w - 14];
    return [x, start, x, start + 14, u, end - 14, u, end];
  }
  const { dummies, firstDummy } = edge;
  const first = dummies ? items.x[firstDummy] : to.x + to.w / 2;
  const last = dummies ? items.x[firstDummy + dummies - 1] : from.x + from.w / 2;
  const points = [port(from, first), start];
  for (let k = 0; k < dummies; k++) {
    const layer = from.layer + 1 + k;
    const x = items.x[firstDummy + k];
    points.push(x, rows.top[layer], x, rows.bottom[layer]);
  }
  points.push(port(to, last), end);
  return points;
}

function port(box: Box, towards: number): number {
  const middle = box.x + box.w / 2;
  const most = box.w / 2 - 16;
  return middle + Math.min(most, Math.max(-most, Math.floor((towards - middle) / 4)));
}
