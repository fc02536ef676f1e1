// The heads of lines, down where values go and up where gradients come back, and the marks of values that were stretched.
import { BOX, WITH_BADGES } from './layout';
import { hasGradient, stretchedAlong } from './marks';
import { head, occupied, overlap, type Pen, type Stroke } from './paint';
import type { Rect, Scene } from './scene';

/** Filled heads point the way of the values, hollow ones the way of the gradients. */
export function paintHeads(pen: Pen, { outline, layout }: Scene, strokes: readonly Stroke[]): void {
  const { ctx, tokens } = pen;
  const { graph, layer } = outline;
  ctx.fillStyle = tokens.edge;
  const rising: Stroke[] = [];
  for (const stroke of strokes) {
    const { edge, points } = stroke;
    const up = layer !== 'forward' && hasGradient(graph, edge.members);
    if (up) rising.push(stroke);
    if (layer !== 'backward' || !up) head(ctx, points[points.length - 2], points[points.length - 1], 1, 4, 7);
  }
  if (!rising.length) return;
  ctx.fillStyle = tokens.surface;
  ctx.strokeStyle = tokens.accent;
  ctx.lineWidth = 1.4;
  for (const { edge, points } of rising) {
    const [x, y] = points;
    const hangs = layout.boxes[edge.a].badges.some(badge => x > badge.x - 6 && x < badge.x + badge.w + 6);
    head(ctx, x, y + 1 + (hangs ? WITH_BADGES - BOX : 0), -1, 4, 7);
    ctx.stroke();
  }
}

/** Hollow copies and the shapes, where an operation stretches what comes along a line; with an exclamation where it looks like a mistake. */
export function paintStretched(pen: Pen, scene: Scene, strokes: readonly Stroke[], taken: Rect[]): void {
  const { ctx, tokens } = pen;
  const { graph, layer } = scene.outline;
  if (!graph.broadcasts.length) return;
  for (const { edge, points } of strokes) {
    const mark = stretchedAlong(graph, edge.members);
    if (!mark) continue;
    const { given, result, outer } = mark;
    const words = layer === 'backward' ? `Σ ${result} → ${given}` : `${given} → ${result}`;
    const text = outer ? `! ${words}` : words;
    const font = `${outer ? '600 ' : ''}${pen.font('code', 11)}`;
    const [x, y] = [points[points.length - 2], points[points.length - 1]];
    const wide = pen.width(text, font);
    const room = { x: x + 6, y: y - 19, w: wide + 6, h: 14 };
    ghost(pen, x, y);
    if (occupied(scene, room) || taken.some(other => overlap(other, room))) continue;
    taken.push(room);
    ctx.fillStyle = tokens.surface;
    ctx.fillRect(room.x, room.y, room.w, room.h);
    ctx.font = font;
    ctx.fillStyle = outer ? tokens.warn : tokens.muted;
    ctx.fillText(text, x + 8, y - 8);
  }
}

/** One full cell and its hollow copies, beside the head of a line. */
function ghost({ ctx, tokens }: Pen, x: number, y: number): void {
  ctx.fillStyle = ctx.strokeStyle = tokens.muted;
  ctx.lineWidth = 1;
  ctx.fillRect(x - 24, y - 14, 5, 5);
  ctx.setLineDash([1.5, 1.5]);
  ctx.strokeRect(x - 17.5, y - 13.5, 4, 4);
  ctx.strokeRect(x - 11.5, y - 13.5, 4, 4);
  ctx.setLineDash([]);
}
