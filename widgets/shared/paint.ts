// Draws a scene: enclosures, edges, boxes, badges and marks, with less detail the smaller they are.
import { BOX, heightOf, WITH_BADGES, type Box, type Edge } from './layout';
import { short } from './format';
import { ICONS, type IconName } from './icons';
import { hasGradient, isReference } from './marks';
import { paintBox, paintBadge, paintDots } from './paintbox';
import { paintHeads, paintStretched } from './paintlayers';
import { framesIn, namesOf, occupiedBy, paintFrames, paintNames } from './parts';
import { DONE, WAITING, type Run } from './run';
import { type Item, type Look, type Rect, type Scene } from './scene';
import type { Tokens } from './theme';

export interface View {
  scale: number;
  /** Where the picture's origin stands on the canvas, in CSS pixels. */
  x: number;
  y: number;
}

export interface Shown {
  readonly scene: Scene;
  readonly run: Run | null;
  readonly looks: readonly Look[];
  readonly selected: Item | null;
  /** Where the keyboard is, when the instrument has focus. */
  readonly cursor: Item | null;
  readonly hovered: Item | null;
  /** The open part whose name the pointer is on. */
  readonly hoveredFold: number | null;
  /** Boxes that a search found; the others step back. */
  readonly matches: ReadonlySet<Box> | null;
  /** Open parts of which nothing is there yet. */
  readonly unmade?: ReadonlySet<number> | null;
}

/** Below this scale text would be a smear: boxes are drawn as marks. */
const TEXT_SCALE = 0.45;
/** From this scale on everything is written in its own size; below it only titles are, as large as can be read. */
export const ROOMY = 0.91;
/** No letter is smaller than this on the screen. */
const SMALLEST = 10.5;
/** Below this edges are straight lines without heads. */
export const FAR = 0.25;

export class Pen {
  private fitted = new Map<string, string>();
  private widths = new Map<string, number>();
  private readonly paths = new Map<IconName, Path2D>();
  pixel = 1;

  constructor(
    readonly ctx: CanvasRenderingContext2D,
    public tokens: Tokens,
  ) {}

  useTokens(tokens: Tokens): void {
    this.tokens = tokens;
    this.fitted = new Map();
    this.widths = new Map();
  }

  /** There is room for everything that a box says. */
  get roomy(): boolean {
    return this.pixel <= 1 / ROOMY;
  }

  /** A size of letters, raised to what can be read at this scale. */
  legible(size: number): number {
    return this.roomy ? size : Math.max(size, Math.ceil(SMALLEST * this.pixel));
  }

  font(kind: 'title' | 'body' | 'code', size = kind === 'title' ? 13 : 11.5): string {
    const { font, code } = this.tokens;
    return `${kind === 'title' ? '600 ' : ''}${size}px ${kind === 'code' ? code : font}`;
  }

  width(text: string, font: string): number {
    const key = `${font}|${text}`;
    let found = this.widths.get(key);
    if (found === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      this.ctx.font = font;
      this.widths.set(key, (found = this.ctx.measureText(text).width));
    }
    return found;
  }

  /** Text cut to a width, with an ellipsis. */
  fit(text: string, width: number, font: string): string {
    const { ctx } = this;
    ctx.font = font;
    const key = `${width}|${font}|${text}`;
    let found = this.fitted.get(key);
    if (found === undefined) {
      if (this.fitted.size > 20_000) this.fitted.clear();
      this.fitted.set(key, (found = this.cut(text, width)));
    }
    return found;
  }

  private cut(text: string, width: number): string {
    if (this.ctx.measureText(text).width <= width) return text;
    let low = 0;
    let high = Math.min(text.length, 400);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.ctx.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
      else high = middle - 1;
    }
    return `${text.slice(0, low).trimEnd()}…`;
  }

  text(text: string, x: number, y: number, width: number, font: string, colour: string): void {
    const fitted = this.fit(text, width, font);
    this.ctx.fillStyle = colour;
    this.ctx.fillText(fitted, x, y);
  }

  icon(name: IconName, x: number, y: number, size: number, colour: string, filled = false): void {
    const { ctx } = this;
    let path = this.paths.get(name);
    if (!path) this.paths.set(name, (path = new Path2D(ICONS[name])));
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(size / 16, size / 16);
    if (filled) {
      ctx.fillStyle = colour;
      ctx.fill(path);
    } else {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.9;
      ctx.lineCap = ctx.lineJoin = 'round';
      ctx.stroke(path);
    }
    ctx.restore();
  }
}

export function paint(
  pen: Pen,
  shown: Shown,
  view: View,
  width: number,
  height: number,
  ratio: number,
): void {
  const { ctx, tokens } = pen;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = tokens.surface;
  ctx.fillRect(0, 0, width, height);
  const { scale } = view;
  ctx.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * view.x, ratio * view.y);
  pen.pixel = 1 / scale;
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  const rect = { x: -view.x / scale, y: -view.y / scale, w: width / scale, h: height / scale };
  const { unmade } = shown;
  const frames = framesIn(shown.scene, rect).filter(({ fold }) => !unmade?.has(fold));
  const names = namesOf(pen, shown.scene, frames, scale);
  paintFrames(pen, frames, scale);
  paintEdges(pen, shown, rect, scale, occupiedBy(frames, names));
  if (scale < TEXT_SCALE) paintDots(pen, shown, rect);
  else {
    paintNames(pen, names, shown.hoveredFold);
    shown.scene.boxesIn(rect, box => {
      const ghost = shown.looks[box.index].ghost;
      ctx.globalAlpha = ghost ? 0.16 : shown.matches && !shown.matches.has(box) ? 0.35 : 1;
      paintBox(pen, shown, box);
      for (const badge of box.badges) paintBadge(pen, shown, badge);
    });
    ctx.globalAlpha = 1;
  }
  paintRings(pen, shown);
}

export interface Stroke {
  readonly edge: Edge;
  readonly points: readonly number[];
}

/** `taken` are places where no number may stand. */
function paintEdges(pen: Pen, shown: Shown, rect: Rect, scale: number, taken: Rect[]): void {
  const { ctx, tokens } = pen;
  const { run, scene } = shown;
  const flowing: Stroke[] = [];
  const heads: Stroke[] = [];
  const stubs: Stroke[] = [];
  const kept: Stroke[] = [];
  const { graph, layer } = scene.outline;
  ctx.lineWidth = Math.max(1.1, pen.pixel);
  ctx.strokeStyle = tokens.edge;
  ctx.globalAlpha = shown.matches ? 0.4 : 1;
  ctx.beginPath();
  const shortest = 2.5 / scale;
  scene.edgesIn(rect, (edge, points) => {
    if (shown.looks[edge.b].ghost) return;
    if (edge.stub) {
      if (scale >= 0.3) stubs.push({ edge, points });
      return;
    }
    const end = points.length - 2;
    const far = scale < FAR;
    if (far && Math.abs(points[end] - points[0]) + Math.abs(points[end + 1] - points[1]) < shortest) return;
    if (run && flowOf(run, edge) !== null) return void flowing.push({ edge, points });
    if (isReference(graph, edge.members)) return void kept.push({ edge, points });
    if (far) return straight(ctx, points);
    const up = !run && layer !== 'forward' && hasGradient(graph, edge.members);
    const down = !run && (layer !== 'backward' || !up);
    trace(ctx, points, 0, down ? 6 : 0);
    if (!run) heads.push({ edge, points });
  });
  ctx.stroke();
  paintKept(pen, kept, scale);
  if (scale >= FAR) {
    paintHeads(pen, scene, heads);
    if (pen.roomy) paintStretched(pen, scene, heads, taken);
  }
  for (const stroke of stubs) paintStub(pen, shown, stroke);
  if (scale < FAR) paintFarFlows(pen, shown, flowing);
  else {
    const arrows = flowing.map(stroke => paintFlow(pen, shown, stroke, taken));
    if (pen.roomy) for (const arrow of arrows) paintNumber(pen, scene, arrow, taken);
  }
  ctx.globalAlpha = 1;
}

/** Who keeps which storage: dashed, without a head. */
function paintKept({ ctx, pixel }: Pen, strokes: readonly Stroke[], scale: number): void {
  if (!strokes.length) return;
  ctx.setLineDash([4 * pixel, 3 * pixel]);
  ctx.beginPath();
  for (const { points } of strokes) {
    if (scale < FAR) straight(ctx, points);
    else trace(ctx, points, 0, 0);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

function straight(ctx: CanvasRenderingContext2D, points: readonly number[]): void {
  ctx.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) ctx.lineTo(points[i], points[i + 1]);
}

/** From far away gradients are lines of one width: those that wait dashed, those that are not finite in the colour of a warning. */
function paintFarFlows(pen: Pen, { run, looks }: Shown, strokes: readonly Stroke[]): void {
  const { ctx, tokens, pixel } = pen;
  const kindOf = ({ edge }: Stroke) => {
    if (Number.isNaN(flowOf(run!, edge))) return 2;
    return looks[edge.a].state === WAITING ? 1 : 0;
  };
  const colours = [tokens.done, tokens.waiting, tokens.warn];
  for (const [kind, colour] of colours.entries()) {
    ctx.beginPath();
    for (const stroke of strokes) if (kindOf(stroke) === kind) straight(ctx, stroke.points);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.4 * pixel;
    ctx.setLineDash(kind === 1 ? [4 * pixel, 3 * pixel] : []);
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

/** The norm of the gradient that moved along a picture edge (the greatest of its members); NaN when not finite, null when none moved. */
function flowOf(run: Run, edge: Edge): number | null {
  let found: number | null = null;
  for (const e of edge.members) {
    const flow = run.flow[e];
    if (Number.isNaN(flow)) return NaN;
    if (flow >= 0 && (found === null || flow > found)) found = flow;
  }
  return found;
}

/** 1.5 to 6.5 pixels for norms of 1e-6 to 1e2. */
export function widthOf(norm: number): number {
  if (!(norm > 0)) return 1.5;
  return Math.min(6.5, Math.max(1.5, 1.5 + (Math.log10(norm) + 6) * 0.625));
}

/** The line through an edge's points, shortened at its ends to leave room for arrowheads. */
function trace(
  ctx: CanvasRenderingContext2D,
  points: readonly number[],
  cutStart: number,
  cutEnd: number,
): void {
  const last = points.length - 2;
  let x = points[0];
  let y = points[1] + cutStart;
  ctx.moveTo(x, y);
  for (let i = 2; i <= last; i += 2) {
    const u = points[i];
    const v = points[i + 1] - (i === last ? cutEnd : 0);
    if (u === x) ctx.lineTo(u, v);
    else {
      const bend = (v - y) / 2;
      ctx.bezierCurveTo(x, y + bend, u, v - bend, u, v);
    }
    x = u;
    y = v;
  }
}

/** An arrowhead with its tip at a place, pointing down (1) or up (-1). */
export function head(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  way: 1 | -1,
  half: number,
  long: number,
): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - half, y - way * long);
  ctx.lineTo(x + half, y - way * long);
  ctx.closePath();
  ctx.fill();
}

interface Arrow {
  readonly points: readonly number[];
  readonly width: number;
  readonly norm: number;
}

/** A gradient on its way up: wide when it is large, dashed while it waits. */
function paintFlow(pen: Pen, shown: Shown, { edge, points }: Stroke, taken: Rect[]): Arrow {
  const { ctx, tokens } = pen;
  const norm = flowOf(shown.run!, edge)!;
  const waits = shown.looks[edge.a].state === WAITING;
  const colour = Number.isNaN(norm) ? tokens.warn : waits ? tokens.waiting : tokens.done;
  const width = widthOf(norm);
  const long = 6 + width * 0.9;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = Math.max(width, pen.pixel * 1.2);
  // The tip stops below a badge that hangs in its way.
  const [x] = points;
  const hangs = shown.scene.layout.boxes[edge.a].badges.some(
    badge => x > badge.x - 8 && x < badge.x + badge.w + 8,
  );
  const from = [x, points[1] + (hangs ? WITH_BADGES - BOX : 0), ...points.slice(2)];
  ctx.setLineDash(waits ? [4 + width, 2 + width * 0.7] : norm === 0 ? [1, 4] : []);
  ctx.beginPath();
  trace(ctx, from, long - 1, 0);
  ctx.stroke();
  ctx.setLineDash([]);
  head(ctx, x, from[1], -1, 3.5 + width * 0.6, long);
  taken.push({ x: x - 5, y: from[1], w: 10, h: 18 });
  return { points: from, width, norm };
}

/** The number stands beside the first stretch of its edge, where nothing else does. */
function paintNumber(pen: Pen, scene: Scene, { points, width, norm }: Arrow, taken: Rect[]): void {
  const { ctx, tokens } = pen;
  const [x0, y0, x1, y1] = points;
  const text = Number.isNaN(norm) ? 'not finite' : `‖g‖ ${short(norm)}`;
  const font = pen.font('body');
  ctx.font = font;
  const w = pen.width(text, font);
  // A line that bends away leaves room on its other side.
  const bends = Math.abs(x1 - x0) > 6;
  const x = x1 > x0 + 6 ? x0 - w - 9 - width / 2 : x0 + 9 + width / 2;
  const middle = (y0 + y1) / 2 + 4;
  const heights = bends ? [y0 + 15] : NEAR.map(by => middle + by);
  for (const y of heights) {
    const room = { x: x - 3, y: y - 11, w: w + 6, h: 14 };
    if (room.y < y0 || room.y + room.h > y1 || taken.some(other => overlap(other, room))) continue;
    if (occupied(scene, room)) continue;
    taken.push(room);
    // Lines pass behind it.
    ctx.fillStyle = tokens.surface;
    ctx.fillRect(room.x + 1, room.y, room.w - 2, room.h);
    ctx.font = font;
    ctx.fillStyle = Number.isNaN(norm) ? tokens.warn : tokens.muted;
    ctx.fillText(text, x, y);
    return;
  }
}

/** How far from the middle of its line a number may stand, the likeliest first. */
const NEAR = [0, -8, 8, -16, 16, -24, 24, -32, 32, -40, 40];

export const overlap = (a: Rect, b: Rect) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

export function occupied(scene: Scene, room: Rect): boolean {
  let found = false;
  scene.boxesIn(room, box => {
    found ||= overlap({ x: box.x, y: box.y, w: box.w, h: heightOf(box) }, room);
  });
  return found;
}

/** The two ends of a long edge: a short line and a ring, which says that it goes on elsewhere. */
function paintStub(pen: Pen, shown: Shown, { edge, points }: Stroke): void {
  const { ctx, tokens } = pen;
  const flow = shown.run && flowOf(shown.run, edge);
  const colour =
    flow === null ? tokens.muted : shown.looks[edge.a].state === DONE ? tokens.done : tokens.waiting;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.3;
  ctx.fillStyle = tokens.surface;
  for (const [x, y, ring] of [
    [points[0], points[1], points[3]],
    [points[6], points[7], points[5]],
  ]) {
    ctx.beginPath();
    ctx.setLineDash([2, 2]);
    ctx.moveTo(x, y);
    ctx.lineTo(x, ring);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.arc(x, ring, 3.5, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
}

/** Rings around what is opened, and around where the keyboard is. */
function paintRings(pen: Pen, { scene, selected, cursor }: Shown): void {
  const { ctx, tokens } = pen;
  const ring = (item: Item | null, colour: string, width: number) => {
    const rect = item === null ? null : scene.outerRectOf(item);
    if (!rect) return;
    const gap = rect.h > 30 ? 6 : 3;
    const w = Math.max(width, width * pen.pixel * 0.8);
    ctx.strokeStyle = colour;
    ctx.lineWidth = w;
    ctx.beginPath();
    ctx.roundRect(rect.x - gap, rect.y - gap, rect.w + 2 * gap, rect.h + 2 * gap, rect.h > 30 ? 10 : 12);
    ctx.stroke();
  };
  if (selected !== cursor) ring(selected, tokens.ink, 1);
  ring(cursor, tokens.accent, 2);
}
