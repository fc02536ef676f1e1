// Open parts: their dotted frames and their names, which stand beside the lines that go through.
import type { Enclosure } from './layout';
import type { Pen } from './paint';
import type { Rect, Scene } from './scene';

export const HEADER = 20;
/** Below this scale a name would not be read. */
const NAME_SCALE = 0.5;
const LEFT = 22;
const RIGHT = 10;

/** Where the name of a part is written. */
interface Name {
  readonly fold: number;
  readonly text: string;
  readonly x: number;
  /** Baseline. */
  readonly y: number;
  readonly w: number;
  readonly font: string;
  /** A line goes through it, for want of room. */
  readonly crossed: boolean;
}

type Span = readonly [number, number];

const overlaps = (a: Rect, b: Rect) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

export function framesIn(scene: Scene, rect: Rect): Enclosure[] {
  return scene.layout.enclosures.filter(each => overlaps(each, rect));
}

export function paintFrames(pen: Pen, frames: readonly Enclosure[], scale: number): void {
  const { ctx, tokens } = pen;
  ctx.lineWidth = pen.pixel;
  ctx.strokeStyle = tokens.muted;
  ctx.globalAlpha = 0.75;
  ctx.setLineDash([1.5 * pen.pixel, 3 * pen.pixel]);
  for (const rect of frames) {
    if (!rect.clean || rect.w * scale < 12) continue;
    ctx.beginPath();
    ctx.roundRect(rect.x, rect.y, rect.w, rect.h, 8);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** What numbers keep off: the borders of frames, and their names. */
export function occupiedBy(frames: readonly Enclosure[], names: readonly Name[]): Rect[] {
  const found = names.map(({ x, y, w }) => ({ x: x - 14, y: y - 12, w: w + 18, h: 17 }));
  for (const { x, y, w, h, clean } of frames) {
    if (!clean) continue;
    found.push({ x, y: y - 2, w, h: 4 }, { x, y: y + h - 2, w, h: 4 });
    found.push({ x: x - 2, y, w: 4, h }, { x: x + w - 2, y, w: 4, h });
  }
  return found;
}

export function namesOf(pen: Pen, scene: Scene, frames: readonly Enclosure[], scale: number): Name[] {
  return scale < NAME_SCALE ? [] : frames.map(rect => nameOf(pen, scene, rect));
}

/** The name where no line goes through: with its type, or without, or cut short; right of a line if the left is too narrow. */
function nameOf(pen: Pen, scene: Scene, rect: Enclosure): Name {
  const size = pen.legible(11.5);
  const font = pen.font('body', size);
  const { folds, graph } = scene.outline;
  const { id, group } = folds[rect.fold];
  const title = scene.titleOf(id);
  const type = group >= 0 ? graph.groups[group].type : '';
  const texts = type && type !== title ? [`${title} (${type})`, title] : [title];
  const spans = spansOf(scene, rect);
  const y = rect.y + 12 + size * 0.36;
  const at = (text: string, x: number, crossed = false) => {
    const w = pen.width(text, font);
    return { fold: id, text, x, y, w, font, crossed };
  };
  for (const text of texts) {
    const w = pen.width(text, font);
    const span = spans.find(([from, to]) => to - from >= w);
    if (span) return at(text, span[0]);
  }
  const [from, to] = spans.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a), [0, 0]);
  if (to - from >= 44) return at(pen.fit(title, to - from, font), from);
  return at(pen.fit(title, rect.w - LEFT - RIGHT, font), rect.x + LEFT, true);
}

const known = new WeakMap<Enclosure, Span[]>();

/** The stretches of a part's first line that no edge goes through. */
function spansOf(scene: Scene, rect: Enclosure): Span[] {
  let spans = known.get(rect);
  if (spans) return spans;
  const crossed: Span[] = [];
  scene.edgesIn({ x: rect.x, y: rect.y, w: rect.w, h: HEADER }, (edge, points) => {
    const span = crossing(points, rect.y + 2, rect.y + HEADER);
    if (span && !edge.stub) crossed.push(span);
  });
  crossed.sort((a, b) => a[0] - b[0]);
  spans = [];
  let from = rect.x + LEFT;
  for (const [left, right] of crossed) {
    if (left - 8 > from) spans.push([from, left - 8]);
    from = Math.max(from, right + LEFT);
  }
  spans.push([from, rect.x + rect.w - RIGHT]);
  known.set(rect, spans);
  return spans;
}

/** From where to where a line stands between two heights, or null where it does not come there. */
function crossing(points: readonly number[], top: number, bottom: number): Span | null {
  let left = Infinity;
  let right = -Infinity;
  for (let i = 2; i < points.length; i += 2) {
    const [x, y, u, v] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
    if (Math.max(y, v) < top || Math.min(y, v) > bottom) continue;
    for (let k = 0; k <= 8; k++) {
      const t = k / 8;
      // The curve leaves and arrives upright, so its place is this blend at this height.
      const blend = t * t * (3 - 2 * t);
      const height = y + (v - y) * (1.5 * t - 1.5 * t * t + t * t * t);
      if (height < top - 6 || height > bottom + 6) continue;
      left = Math.min(left, x + (u - x) * blend);
      right = Math.max(right, x + (u - x) * blend);
    }
    if (x === u) [left, right] = [Math.min(left, x), Math.max(right, x)];
  }
  return right < left ? null : [left, right];
}

/** The names of open parts; one that a line goes through hides the line behind it. */
export function paintNames(pen: Pen, names: readonly Name[], hovered: number | null): void {
  const { ctx, tokens } = pen;
  for (const { fold, text, x, y, w, font, crossed } of names) {
    const colour = hovered === fold ? tokens.ink : tokens.muted;
    if (crossed) {
      ctx.fillStyle = tokens.surface;
      ctx.fillRect(x - 15, y - 11, w + 18, 15);
    }
    pen.icon('down', x - 14, y - 9, 10, colour);
    ctx.font = font;
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  }
}
