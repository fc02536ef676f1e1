// A small map of a picture that is larger than its canvas: where the view is, and a way to go elsewhere.
import { h, setAttributes } from './dom';
import { BOX, type Layout } from './layout';
import type { Shown, View } from './paint';
import { CURRENT, DONE, WAITING } from './run';
import type { Tokens } from './theme';

const WIDTH = 120;
const HEIGHT = 150;
const THINNEST = 16;
/** In a narrower picture a map would cover what it shows. */
const LEAST_WIDTH = 600;

/** How much of a picture the canvas shows, 0 to 1. */
function inSight(layout: Layout, { scale, x, y }: View, width: number, height: number): number {
  const part = (at: number, size: number, room: number) =>
    Math.max(0, Math.min(room, at + size * scale) - Math.max(0, at)) / (size * scale);
  return part(x, layout.width, width) * part(y, layout.height, height);
}

export class Minimap {
  readonly element = h('canvas', { class: 'tl-minimap', 'aria-hidden': 'true', hidden: true });
  private readonly ctx = this.element.getContext('2d')!;
  private readonly still = document.createElement('canvas');
  private drawn: { looks: unknown; scene: unknown; tokens: Tokens; ratio: number } | null = null;
  /** A side that would be too thin to be seen is drawn wider than the other demands. */
  private scale = { x: 1, y: 1 };
  private late = false;

  constructor(goTo: (x: number, y: number) => void) {
    const go = (event: PointerEvent) => {
      const box = this.element.getBoundingClientRect();
      goTo((event.clientX - box.left) / this.scale.x, (event.clientY - box.top) / this.scale.y);
    };
    // Listeners on an element of our own go with it.
    this.element.addEventListener('pointerdown', event => {
      this.element.setPointerCapture(event.pointerId);
      go(event);
    });
    this.element.addEventListener('pointermove', event => {
      if (event.buttons & 1) go(event);
    });
  }

  /** Draws it where it is of use; `again` asks for another frame. */
  paint(shown: Shown, tokens: Tokens, view: View, width: number, height: number, again: () => void): void {
    const { layout } = shown.scene;
    this.element.hidden = width < LEAST_WIDTH || height < 240 || inSight(layout, view, width, height) > 0.6;
    if (this.element.hidden) return;
    const scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
    const ratio = devicePixelRatio || 1;
    const { drawn, still, element, ctx } = this;
    const w = Math.max(THINNEST, layout.width * scale);
    const h = Math.max(THINNEST, layout.height * scale);
    this.scale = { x: w / layout.width, y: h / layout.height };
    const stale =
      drawn?.looks !== shown.looks ||
      drawn.scene !== shown.scene ||
      drawn.tokens !== tokens ||
      drawn.ratio !== ratio;
    if (stale && layout.boxes.length > 2000 && !this.late) {
      // The picture first; the map of a large one follows in the next frame.
      this.late = true;
      again();
      return;
    }
    if (stale) {
      this.late = false;
      still.width = Math.round(w * ratio);
      still.height = Math.round(h * ratio);
      this.paintStill(shown, tokens, ratio);
      this.drawn = { looks: shown.looks, scene: shown.scene, tokens, ratio };
    }
    if (element.width !== still.width || element.height !== still.height)
      setAttributes(element, {
        width: still.width,
        height: still.height,
        style: `width:${w}px;height:${h}px`,
      });
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, element.width, element.height);
    ctx.drawImage(still, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [kx, ky] = [this.scale.x / view.scale, this.scale.y / view.scale];
    const [x, y] = [-view.x * kx, -view.y * ky];
    ctx.strokeStyle = tokens.ink;
    ctx.lineWidth = 1;
    const right = Math.min(w - 0.5, x + Math.max(5, width * kx));
    const bottom = Math.min(h - 0.5, y + Math.max(5, height * ky));
    const [left, top] = [Math.max(0.5, x), Math.max(0.5, y)];
    ctx.strokeRect(left, top, right - left, bottom - top);
  }

  private paintStill({ scene, looks }: Shown, tokens: Tokens, ratio: number): void {
    const ctx = this.still.getContext('2d')!;
    const [kx, ky] = [this.scale.x * ratio, this.scale.y * ratio];
    ctx.fillStyle = tokens.raised;
    ctx.fillRect(0, 0, this.still.width, this.still.height);
    const colours: [string, (state: number) => boolean][] = [
      [tokens.edge, state => state !== DONE && state !== WAITING && state !== CURRENT],
      [tokens.done, state => state === DONE],
      [tokens.waiting, state => state === WAITING],
      [tokens.accent, state => state === CURRENT],
    ];
    for (const [colour, wanted] of colours) {
      ctx.fillStyle = colour;
      for (const box of scene.layout.boxes) {
        const { state } = looks[box.index];
        if (!wanted(state)) continue;
        const least = state === CURRENT ? 3 * ratio : 0.6;
        ctx.fillRect(box.x * kx, box.y * ky, Math.max(least, box.w * kx), Math.max(least, BOX * ky));
      }
    }
  }
}
