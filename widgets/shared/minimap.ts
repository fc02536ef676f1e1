// A small map of a picture that is larger than its canvas: where the view is, and a way to go elsewhere.
import { h, setAttributes } from './dom';
import type { Shown, View } from './paint';
import { CURRENT, DONE, WAITING } from './run';
import type { Tokens } from './theme';

const WIDTH = 120;
const HEIGHT = 150;

export class Minimap {
  readonly element = h('canvas', { class: 'tl-minimap', 'aria-hidden': 'true', hidden: true });
  private readonly ctx = this.element.getContext('2d')!;
  private readonly still = document.createElement('canvas');
  private drawn: { looks: unknown; scene: unknown; tokens: Tokens; ratio: number } | null = null;
  private scale = 1;
  private late = false;

  constructor(goTo: (x: number, y: number) => void) {
    const go = (event: PointerEvent) => {
      const box = this.element.getBoundingClientRect();
      goTo((event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale);
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
    const whole = layout.width * view.scale <= width * 1.3 && layout.height * view.scale <= height * 1.3;
    this.element.hidden = whole || width < 420 || height < 240;
    if (this.element.hidden) return;
    this.scale = Math.min(WIDTH / layout.width, HEIGHT / layout.height);
    const ratio = devicePixelRatio || 1;
    const { drawn, still, element, ctx } = this;
    const w = Math.max(14, layout.width * this.scale);
    const h = Math.max(14, layout.height * this.scale);
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
    const map = (at: number) => at * this.scale;
    const [x, y] = [map(-view.x / view.scale), map(-view.y / view.scale)];
    ctx.strokeStyle = tokens.ink;
    ctx.lineWidth = 1;
    const right = Math.min(w - 0.5, x + Math.max(5, map(width / view.scale)));
    const bottom = Math.min(h - 0.5, y + Math.max(5, map(height / view.scale)));
    const [left, top] = [Math.max(0.5, x), Math.max(0.5, y)];
    ctx.strokeRect(left, top, right - left, bottom - top);
  }

  private paintStill({ scene, looks }: Shown, tokens: Tokens, ratio: number): void {
    const ctx = this.still.getContext('2d')!;
    const k = this.scale * ratio;
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
        ctx.fillRect(box.x * k, box.y * k, Math.max(least, box.w * k), Math.max(least, 46 * k));
      }
    }
  }
}
