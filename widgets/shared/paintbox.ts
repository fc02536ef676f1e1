// One box, one badge, and the small marks that boxes become when the picture is far away. State is border, mark and colour.
import { BADGE, BOX, type Badge, type Box } from './layout';
import { STORAGE } from './outline';
import type { Meter } from './overlay';
import type { Pen, Shown } from './paint';
import { CURRENT, DONE, FREED, IDLE, WAITING } from './run';
import type { Look, Rect } from './scene';
import type { Tokens } from './theme';

const RADIUS = 6;

interface Style {
  readonly border: string;
  readonly fill: string;
  readonly text: string;
  readonly dash: readonly number[];
  readonly width: number;
}

function styleOf({ state, hollow }: Look, tokens: Tokens): Style {
  const { ink, muted, surface, edge } = tokens;
  if (state === CURRENT)
    return { border: tokens.accent, fill: tokens.accentSoft, text: ink, dash: [], width: 2.4 };
  if (state === WAITING)
    return { border: tokens.waiting, fill: tokens.waitingSoft, text: ink, dash: [5, 3], width: 1.6 };
  if (state === DONE) return { border: tokens.done, fill: tokens.doneSoft, text: ink, dash: [], width: 1.6 };
  if (state === FREED || hollow)
    return { border: muted, fill: surface, text: muted, dash: [1.5, 2.5], width: 1.2 };
  return { border: edge, fill: surface, text: ink, dash: [], width: 1 };
}

/** Memory that is kept: dashed all around, so that it looks like nothing that was computed. */
const storedStyle = ({ muted, raised, ink }: Tokens): Style => ({
  border: muted,
  fill: raised,
  text: ink,
  dash: [7, 2],
  width: 1.2,
});

export function paintBox(pen: Pen, shown: Shown, box: Box): void {
  const { ctx, tokens } = pen;
  const look = shown.looks[box.index];
  const stored = box.node >= 0 && shown.scene.outline.graph.nodes.kind[box.node] === STORAGE;
  const style = stored ? storedStyle(tokens) : styleOf(look, tokens);
  const { x, y, w } = box;
  const hovered = shown.hovered === shown.scene.itemOf(box);
  ctx.strokeStyle = style.border;
  if (box.fold >= 0) paintSheets(pen, box, style);
  ctx.fillStyle = style.fill;
  ctx.lineWidth = style.width;
  ctx.setLineDash(style.dash as number[]);
  ctx.beginPath();
  ctx.roundRect(x, y, w, BOX, RADIUS);
  ctx.fill();
  if (look.nan) hatch(pen, box);
  if (hovered && look.state === IDLE) ctx.strokeStyle = tokens.muted;
  ctx.stroke();
  ctx.setLineDash([]);
  if (look.state === CURRENT) paintCurrent(pen, { x, y, w, h: BOX });
  const meter = shown.scene.meterOf(box);
  const marks = meter && !shown.run ? paintMeter(pen, box, meter) : paintMarks(pen, look, x + w - 20, y + 8);
  const left = box.fold >= 0 ? 24 : 12;
  if (box.fold >= 0) pen.icon('right', x + 8, y + (pen.roomy ? 9 : 17), 11, tokens.muted);
  const running = box.fold >= 0 && shown.run && look.done > 0 && look.done < look.total;
  const size = pen.legible(13);
  const base = pen.roomy ? 19 : BOX / 2 + size * 0.36;
  pen.text(box.title, x + left, y + base, w - left - 10 - marks, pen.font('title', size), style.text);
  if (pen.roomy) {
    const subtitle = running ? `${look.done} of ${look.total} done` : box.subtitle;
    pen.text(subtitle, x + left, y + 35, w - left - (look.edited ? 26 : 10), pen.font('body'), tokens.muted);
  }
  if (running) paintProgress(pen, box, look);
  if (look.broken) octagon(pen, x, y, true);
  else if (hovered && shown.run && box.node >= 0 && !look.hollow) octagon(pen, x, y, false);
}

/** A number in the corner and a bar along the lower edge, hatched where something is wrong; returns the room it takes. */
function paintMeter(pen: Pen, { x, y, w }: Box, { text, part, wrong }: Meter): number {
  const { ctx, tokens } = pen;
  const size = pen.legible(11);
  const font = pen.font('code', size);
  const wide = pen.roomy ? pen.width(text, font) : 0;
  if (pen.roomy) {
    ctx.font = font;
    ctx.fillStyle = wrong ? tokens.warn : tokens.muted;
    ctx.fillText(text, x + w - 10 - wide, y + 18);
  }
  ctx.fillStyle = tokens.line;
  ctx.fillRect(x + 12, y + BOX - 6, w - 24, 3);
  ctx.fillStyle = wrong ? tokens.warn : tokens.accent;
  if (wrong) for (let at = x + 12; at < x + w - 16; at += 6) ctx.fillRect(at, y + BOX - 8, 2.5, 6);
  else if (part > 0) ctx.fillRect(x + 12, y + BOX - 6, Math.max(2, (w - 24) * part), 3);
  return wide + 4;
}

/** A folded part is a pile of sheets. */
function paintSheets(pen: Pen, { x, y, w }: Box, style: Style): void {
  const { ctx } = pen;
  ctx.lineWidth = 1;
  ctx.fillStyle = pen.tokens.surface;
  for (const behind of [6, 3]) {
    ctx.beginPath();
    ctx.roundRect(x + behind, y + behind, w - 2 * behind, BOX, RADIUS);
    ctx.fill();
    ctx.globalAlpha *= 0.7;
    ctx.strokeStyle = style.border;
    ctx.stroke();
    ctx.globalAlpha /= 0.7;
  }
}

function paintProgress(pen: Pen, { x, y, w }: Box, { done, total }: Look): void {
  const { ctx, tokens } = pen;
  ctx.fillStyle = tokens.line;
  ctx.fillRect(x + 12, y + BOX - 5, w - 24, 2);
  ctx.fillStyle = tokens.done;
  ctx.fillRect(x + 12, y + BOX - 5, ((w - 24) * done) / total, 2);
}

/** The second line around the current node, and the triangle at its left edge. */
function paintCurrent(pen: Pen, { x, y, w, h }: Rect): void {
  secondLine(pen, { x, y, w, h }, 3.5, RADIUS + 3);
  triangle(pen, x - 7, y + h / 2, 9);
}

function secondLine({ ctx, tokens }: Pen, { x, y, w, h }: Rect, gap: number, radius: number): void {
  ctx.strokeStyle = tokens.accent;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.roundRect(x - gap, y - gap, w + 2 * gap, h + 2 * gap, radius);
  ctx.stroke();
}

/** A triangle that points right, with its tip at a place. */
function triangle({ ctx, tokens }: Pen, x: number, y: number, long: number): void {
  ctx.fillStyle = tokens.accent;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - long, y - long * 0.67);
  ctx.lineTo(x - long, y + long * 0.67);
  ctx.closePath();
  ctx.fill();
}

/** Tick, clock, cross and pencil at the right; returns the room they take. */
function paintMarks(pen: Pen, { state, nan, edited }: Look, right: number, y: number): number {
  const { tokens } = pen;
  let x = right;
  if (nan) {
    pen.icon('close', x, y, 12, tokens.warn);
    x -= 16;
  } else if (state === DONE) {
    pen.icon('tick', x, y, 13, tokens.done);
    x -= 16;
  } else if (state === WAITING) {
    clock(pen, x + 6, y + 6, 5);
    x -= 16;
  }
  if (edited) pen.icon('pencil', right, y + 18, 13, tokens.warn);
  return right - x;
}

/** A circle with one quarter filled. */
function clock({ ctx, tokens }: Pen, x: number, y: number, radius: number): void {
  ctx.strokeStyle = ctx.fillStyle = tokens.waiting;
  ctx.lineWidth = radius / 4;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.arc(x, y, radius, -Math.PI / 2, 0);
  ctx.fill();
}

function hatch({ ctx, tokens }: Pen, { x, y, w }: Box): void {
  ctx.save();
  ctx.clip();
  ctx.globalAlpha *= 0.45;
  ctx.strokeStyle = tokens.warn;
  ctx.lineWidth = 1;
  ctx.setLineDash([]);
  ctx.beginPath();
  for (let i = -BOX; i < w; i += 7) {
    ctx.moveTo(x + i, y + BOX);
    ctx.lineTo(x + i + BOX, y);
  }
  ctx.stroke();
  ctx.restore();
  ctx.beginPath();
  ctx.roundRect(x, y, w, BOX, RADIUS);
}

/** A breakpoint on the border, or where one would stand. */
function octagon({ ctx, tokens }: Pen, x: number, y: number, set: boolean, radius = 6.5): void {
  ctx.beginPath();
  for (let i = 0; i < 8; i++) {
    const angle = Math.PI / 8 + (i * Math.PI) / 4;
    ctx.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  ctx.closePath();
  ctx.fillStyle = set ? tokens.warn : tokens.surface;
  ctx.strokeStyle = set ? tokens.surface : tokens.warn;
  ctx.lineWidth = set ? 1.5 : 1.2;
  ctx.fill();
  ctx.stroke();
}

export function paintBadge(pen: Pen, shown: Shown, badge: Badge): void {
  const { ctx, tokens } = pen;
  const { x, y, w } = badge;
  const look = badge.node >= 0 ? shown.scene.lookOf(badge.node, shown.run) : null;
  const style = look && look.state !== IDLE ? styleOf(look, tokens) : null;
  ctx.fillStyle = style?.fill ?? tokens.raised;
  ctx.strokeStyle = style?.border ?? (shown.hovered === badge.node && look ? tokens.muted : tokens.edge);
  ctx.lineWidth = style ? Math.min(2, style.width) : 1;
  ctx.setLineDash((style?.dash as number[]) ?? []);
  ctx.beginPath();
  ctx.roundRect(x, y, w, BADGE, BADGE / 2);
  ctx.fill();
  ctx.stroke();
  ctx.setLineDash([]);
  if (look?.state === CURRENT) secondLine(pen, { x, y, w, h: BADGE }, 2.5, BADGE / 2 + 2.5);
  paintInBadge(pen, badge, look, style?.text ?? tokens.ink);
  if (look?.broken) octagon(pen, x + 4, y + 1, true, 5);
}

const MARK = 8;

/** What stands in a badge, in its middle: a triangle if it is current, its words where they can be read, its marks. */
function paintInBadge(pen: Pen, { text, x, y, w }: Badge, look: Look | null, colour: string): void {
  const { tokens } = pen;
  const font = pen.font('code');
  const marks: ('close' | 'tick' | 'clock' | 'pencil')[] = [];
  if (look?.nan) marks.push('close');
  else if (look?.state === DONE) marks.push('tick');
  else if (look?.state === WAITING) marks.push('clock');
  if (look?.edited) marks.push('pencil');
  const current = look?.state === CURRENT;
  const signs = marks.length + (current ? 1 : 0);
  const gap = signs > 1 ? 2 : 4;
  const beside = (MARK + gap) * signs;
  const words = pen.roomy ? pen.fit(text, w - 6 - beside, font) : '';
  const wide = words ? pen.width(words, font) : -gap;
  let at = x + (w - wide - beside) / 2;
  if (current) {
    triangle(pen, at + MARK, y + BADGE / 2, MARK);
    at += MARK + gap;
  }
  if (words) {
    pen.ctx.font = font;
    pen.ctx.fillStyle = colour;
    pen.ctx.fillText(words, at, y + 12.5);
  }
  at += wide + gap;
  for (const mark of marks) {
    const top = y + (BADGE - MARK) / 2;
    if (mark === 'clock') clock(pen, at + MARK / 2, y + BADGE / 2, 4);
    else pen.icon(mark, at, top, MARK, mark === 'tick' ? tokens.done : tokens.warn);
    at += MARK + gap;
  }
}

/** From far away a box is a rectangle: outlined when not reached, half full when a gradient waits, full when done. */
export function paintDots(pen: Pen, shown: Shown, rect: Rect): void {
  const { ctx, tokens, pixel } = pen;
  const groups = new Map<string, Box[]>();
  shown.scene.boxesIn(rect, box => {
    const { state, nan, hollow } = shown.looks[box.index];
    const dim = shown.matches && !shown.matches.has(box);
    const key = `${dim ? 1 : 0}${state}${nan ? 1 : 0}${hollow ? 1 : 0}`;
    const group = groups.get(key);
    if (group) group.push(box);
    else groups.set(key, [box]);
  });
  for (const [key, boxes] of groups) {
    const look = shown.looks[boxes[0].index];
    const style = styleOf(look, tokens);
    ctx.globalAlpha = key[0] === '1' ? 0.3 : 1;
    if (BOX < 4 * pixel) {
      ctx.fillStyle = look.nan ? tokens.warn : style.border;
      for (const { x, y, w } of boxes) ctx.fillRect(x, y, w, Math.max(BOX, pixel));
      continue;
    }
    ctx.fillStyle = look.state === IDLE ? tokens.raised : style.fill;
    ctx.strokeStyle = look.nan ? tokens.warn : style.border;
    ctx.lineWidth = Math.max(style.width, pixel);
    ctx.beginPath();
    for (const { x, y, w } of boxes) ctx.rect(x, y, w, BOX);
    ctx.fill();
    ctx.stroke();
    if (look.state !== DONE && look.state !== WAITING) continue;
    ctx.fillStyle = style.border;
    const height = look.state === DONE ? BOX : BOX / 2;
    for (const { x, y, w } of boxes) ctx.fillRect(x, y + BOX - height, w, height);
  }
  ctx.globalAlpha = 1;
  paintFarCurrent(pen, shown);
}

/** The current node keeps a mark of readable size at any distance. */
function paintFarCurrent({ ctx, tokens, pixel }: Pen, { scene, run }: Shown): void {
  const place = run && run.current >= 0 ? scene.rectOf(run.current) : null;
  if (!place) return;
  const [x, y, size] = [place.x - 3 * pixel, place.y + place.h / 2, 9 * pixel];
  ctx.fillStyle = tokens.accent;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - size * 1.3, y - size * 0.8);
  ctx.lineTo(x - size * 1.3, y + size * 0.8);
  ctx.closePath();
  ctx.fill();
}
