// The canvas with its view: pan, zoom, fit, what is under the pointer. It paints when something changed and it can be seen.
import { h, onFrame, setAttributes, Undos } from './dom';
import { heightOf } from './layout';
import { Minimap } from './minimap';
import { FAR, paint, Pen, type Shown, type View } from './paint';
import type { Hit, Item, Rect, Scene } from './scene';
import { readTokens, watchTheme } from './theme';

const SMALLEST = 0.004;
const LARGEST = 2.5;
/** A picture opens no smaller than this, where everything in it is written; what does not fit is reached by panning. */
const READABLE = 0.92;
const GLIDE = 140;
/** Pictures of more boxes are kept as a still while they are seen from far away, if they have no more pixels than that. */
const MANY = 1500;
const STILL_PIXELS = 6e6;

export interface PictureEvents {
  /** A click; `null` where nothing is. */
  pick(hit: Hit | null, twice: boolean): void;
  /** What is under the pointer. */
  hover(hit: Hit | null): void;
  /** The canvas wants the keyboard. */
  focus(): void;
  hasFocus(): boolean;
  painted(): void;
  /** The picture came into sight. */
  seen(): void;
}

export class Picture {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', {
    class: 'tl-canvas',
    'data-testid': 'tl-canvas',
    'aria-hidden': 'true',
    hidden: true,
  });
  private readonly root: HTMLElement;
  private readonly pen: Pen;
  private readonly minimap: Minimap;
  private readonly undos = new Undos();
  private readonly frame = onFrame(() => this.paintNow());
  private shown: Shown | null = null;
  private view: View = { scale: 1, x: 0, y: 0 };
  private width = 0;
  private height = 0;
  private still: { pen: Pen; shown: Shown; scale: number; ratio: number } | null = null;
  private lastScale = 0;
  private placed = false;
  /** Nobody has panned or zoomed yet: the view may follow the size of the canvas. */
  private pristine = true;
  private start: Item | null = null;
  visible = true;
  private glide: { from: View; to: View; start: number } | null = null;

  constructor(
    root: HTMLElement,
    private readonly events: PictureEvents,
  ) {
    this.root = root;
    const ctx = this.canvas.getContext('2d', { alpha: false })!;
    this.pen = new Pen(ctx, readTokens(root));
    this.minimap = new Minimap((x, y) => this.moveTo(this.centredOn(x, y), false));
    this.element = h('div', { class: 'tl-picture' }, this.canvas, this.minimap.element);
    const resize = new ResizeObserver(() => this.resize());
    resize.observe(this.element);
    const sight = new IntersectionObserver(entries => {
      const before = this.visible;
      this.visible = entries[entries.length - 1].isIntersecting;
      if (before || !this.visible) return;
      this.frame.ask();
      this.events.seen();
    });
    sight.observe(this.element);
    this.undos.add(
      () => resize.disconnect(),
      () => sight.disconnect(),
      this.frame.undo,
      watchTheme(() => {
        this.pen.useTokens(readTokens(root));
        this.frame.ask();
      }),
    );
    this.listen();
  }

  readonly undo = (): void => this.undos.undo();

  get ready(): boolean {
    return this.width > 0 && this.height > 0;
  }

  /** Shows a state; the view stays where it is, or is put where the picture can be read if it is the first. */
  show(shown: Shown, start: Item | null): void {
    this.shown = shown;
    if (!this.placed) this.start = start;
    if (!this.placed && this.ready) this.place();
    this.frame.ask();
  }

  /** Shows a scene in which something moved, with `item` under the same pixel as before. */
  showMoved(shown: Shown, item: Item | null): void {
    const before = item === null ? null : this.shown?.scene.rectOf(item);
    const after = item === null ? null : shown.scene.rectOf(item);
    this.shown = shown;
    this.glide = null;
    if (this.pristine && this.ready) this.place();
    if (before && after) {
      this.view.x += (before.x - after.x) * this.view.scale;
      this.view.y += (before.y - after.y) * this.view.scale;
    }
    this.clamp(this.view);
    this.frame.ask();
  }

  private place(): void {
    const { start } = this;
    this.placed = true;
    this.view = this.wholeView();
    if (this.view.scale >= READABLE) return;
    const rect = start === null ? null : this.shown!.scene.rectOf(start);
    const { boxes } = this.shown!.scene.layout;
    this.view.scale = READABLE;
    const { x, y, w, h } = rect ?? { ...boxes[boxes.length - 1], h: 0 };
    this.view = this.snug(this.centredOn(x + w / 2, y + h / 2));
  }

  /** Without empty space on a side where the picture goes on on the other. */
  private snug({ scale, x, y }: View): View {
    const { layout } = this.shown!.scene;
    const fill = (at: number, size: number, room: number) =>
      size * scale <= room ? (room - size * scale) / 2 : Math.min(0, Math.max(room - size * scale, at));
    return { scale, x: fill(x, layout.width, this.width), y: fill(y, layout.height, this.height) };
  }

  private wholeView(): View {
    const { layout } = this.shown!.scene;
    const scale = Math.max(SMALLEST, Math.min(1, this.width / layout.width, this.height / layout.height));
    return {
      scale,
      x: (this.width - layout.width * scale) / 2,
      y: Math.max(0, (this.height - layout.height * scale) / 2),
    };
  }

  fit(): void {
    if (this.shown) this.moveTo(this.wholeView());
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2, gliding = true): void {
    const { view } = this;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor));
    const by = scale / view.scale;
    this.moveTo({ scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by }, gliding);
  }

  /** Brings an item into sight if it is not, moving as little as makes it easy to read around. */
  reveal(item: Item): void {
    const rect = this.shown?.scene.rectOf(item);
    if (!rect || !this.ready) return;
    const { scale, x, y } = this.glide?.to ?? this.view;
    const [left, top] = [rect.x * scale + x, rect.y * scale + y];
    const [w, h] = [rect.w * scale, rect.h * scale];
    const border = Math.min(72, this.height / 5);
    const inside =
      left >= 24 && left + w <= this.width - 24 && top >= border && top + h <= this.height - border;
    if (inside && scale >= 0.2) return;
    const to = { scale: Math.max(scale, 0.45), x: 0, y: 0 };
    const [cx, cy] = [rect.x + rect.w / 2, rect.y + rect.h / 2];
    const fits = left >= 24 && left + w <= this.width - 24 && to.scale === scale;
    to.x = fits ? x : this.width / 2 - cx * to.scale;
    to.y = this.height / 2 - cy * to.scale;
    this.moveTo(this.snug(to));
  }

  /** Where an item is drawn, in the picture's own pixels. */
  placeOf(item: Item): { x: number; y: number; w: number; h: number } | null {
    const rect = this.shown?.scene.rectOf(item);
    const { scale, x, y } = this.view;
    return rect
      ? { x: rect.x * scale + x, y: rect.y * scale + y, w: rect.w * scale, h: rect.h * scale }
      : null;
  }

  /** How many boxes a place of the picture would cover. */
  covered({ x, y, w, h }: Rect): number {
    const { scale, x: left, y: top } = this.view;
    let count = 0;
    const rect = { x: (x - left) / scale, y: (y - top) / scale, w: w / scale, h: h / scale };
    this.shown?.scene.boxesIn(rect, box => {
      if (box.y < rect.y + rect.h && box.y + heightOf(box) > rect.y) count++;
    });
    return count;
  }

  private centredOn(x: number, y: number): View {
    const { scale } = this.view;
    return { scale, x: this.width / 2 - x * scale, y: this.height / 2 - y * scale };
  }

  private moveTo(to: View, gliding = true): void {
    this.pristine = false;
    this.clamp(to);
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.glide = gliding && !calm ? { from: { ...this.view }, to, start: performance.now() } : null;
    if (!this.glide) this.view = to;
    this.frame.ask();
  }

  /** Keeps some of the picture in sight; a picture smaller than the canvas stays in the middle of it. */
  private clamp(view: View): void {
    const { layout } = this.shown!.scene;
    const keep = (at: number, size: number, room: number) => {
      const drawn = size * view.scale;
      if (drawn <= room) return Math.min(Math.max(at, 0), room - drawn);
      return Math.min(room / 2, Math.max(room / 2 - drawn, at));
    };
    view.x = keep(view.x, layout.width, this.width);
    view.y = keep(view.y, layout.height, this.height);
  }

  /** Takes note of the size at once, without waiting for the page to be laid out. */
  measure(): void {
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === this.width && clientHeight === this.height) return;
    const [dx, dy] = [clientWidth - this.width, clientHeight - this.height];
    this.width = clientWidth;
    this.height = clientHeight;
    if (!this.shown || !this.ready) return;
    if (!this.placed || this.pristine) this.place();
    else {
      this.view.x += dx / 2;
      this.view.y += dy / 2;
      this.clamp(this.view);
    }
    this.paintNow();
  }

  private paintNow(): void {
    if (!this.shown || !this.ready || !this.visible) return;
    if (!this.pen.tokens.known) this.pen.useTokens(readTokens(this.root));
    this.advance();
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h)
      setAttributes(this.canvas, { width: w, height: h });
    if (!this.paintStill(ratio)) paint(this.pen, this.shown, this.view, this.width, this.height, ratio);
    this.canvas.hidden = false;
    this.minimap.paint(this.shown, this.pen.tokens, this.view, this.width, this.height, this.frame.ask);
    this.tellPlace();
    this.events.painted();
  }

  /** Notes on the canvas where the opened node stands, for whoever points at it from outside. */
  private tellPlace(): void {
    const { cursor, selected } = this.shown!;
    const item = cursor ?? selected;
    const at = item === null ? null : this.placeOf(item);
    this.canvas.dataset.at = at ? [at.x, at.y, at.w, at.h].map(Math.round).join(' ') : '';
  }

  /** A large picture seen from far away is drawn once for its size; panning then only moves it. */
  private paintStill(ratio: number): boolean {
    const { pen, view, width, height } = this;
    const shown = this.shown!;
    const { layout } = shown.scene;
    const k = view.scale * ratio;
    const [w, h] = [Math.ceil(layout.width * k), Math.ceil(layout.height * k)];
    const steady = this.lastScale === view.scale;
    this.lastScale = view.scale;
    if (!steady || view.scale >= FAR || layout.boxes.length < MANY || w * h > STILL_PIXELS) return false;
    const { tokens } = pen;
    let still = this.still;
    const drawn = still?.shown === shown && still.scale === view.scale && still.ratio === ratio;
    if (!still || !drawn || still.pen.tokens !== tokens) {
      const canvas = still?.pen.ctx.canvas ?? document.createElement('canvas');
      canvas.width = w;
      canvas.height = h;
      still = {
        pen: new Pen(canvas.getContext('2d', { alpha: false })!, tokens),
        shown,
        scale: view.scale,
        ratio,
      };
      paint(still.pen, shown, { scale: view.scale, x: 0, y: 0 }, w / ratio, h / ratio, ratio);
      this.still = still;
    }
    const { ctx } = pen;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = tokens.surface;
    ctx.fillRect(0, 0, width * ratio, height * ratio);
    ctx.drawImage(still.pen.ctx.canvas, Math.round(view.x * ratio), Math.round(view.y * ratio));
    return true;
  }

  private advance(): void {
    if (!this.glide) return;
    const { from, to, start } = this.glide;
    const t = Math.min(1, (performance.now() - start) / GLIDE);
    const ease = 1 - (1 - t) ** 3;
    const between = (a: number, b: number) => a + (b - a) * ease;
    this.view = { scale: between(from.scale, to.scale), x: between(from.x, to.x), y: between(from.y, to.y) };
    if (t < 1) this.frame.ask();
    else this.glide = null;
  }

  private hitAt(event: MouseEvent): Hit | null {
    const box = this.canvas.getBoundingClientRect();
    // A host may scale the page: measure in the canvas's own pixels.
    const grown = box.width / this.width || 1;
    const [x, y] = [(event.clientX - box.left) / grown, (event.clientY - box.top) / grown];
    const { view } = this;
    const scene: Scene | undefined = this.shown?.scene;
    const hit = scene?.hit(
      (x - view.x) / view.scale,
      (y - view.y) / view.scale,
      view.scale < 0.7 ? 3 / view.scale : 0,
    );
    return hit ?? null;
  }

  private listen(): void {
    const { canvas, undos } = this;
    let drag: { x: number; y: number; moved: boolean; view: View } | null = null;
    let pointer: PointerEvent | null = null;
    const hover = onFrame(() => {
      if (!pointer || drag?.moved) return;
      const hit = this.hitAt(pointer);
      canvas.style.cursor = hit ? 'pointer' : 'grab';
      this.events.hover(hit);
    });
    undos.add(hover.undo);
    undos.on(canvas, 'pointerdown', event => {
      if (event.button !== 0) return;
      drag = { x: event.clientX, y: event.clientY, moved: false, view: { ...this.view } };
      canvas.setPointerCapture(event.pointerId);
      this.events.focus();
      event.preventDefault();
    });
    undos.on(canvas, 'pointermove', event => {
      pointer = event;
      if (drag) {
        const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
        if (!drag.moved && Math.hypot(dx, dy) < 4) return;
        if (!drag.moved) this.events.hover(null);
        drag.moved = true;
        canvas.style.cursor = 'grabbing';
        this.moveTo({ scale: drag.view.scale, x: drag.view.x + dx, y: drag.view.y + dy }, false);
      } else hover.ask();
    });
    const release = (event: PointerEvent) => {
      const moved = drag?.moved ?? true;
      drag = null;
      if (!moved && event.type === 'pointerup') this.events.pick(this.hitAt(event), event.detail > 1);
      hover.ask();
    };
    undos.on(canvas, 'pointerup', release);
    undos.on(canvas, 'pointercancel', release);
    undos.on(canvas, 'pointerleave', () => {
      pointer = null;
      this.events.hover(null);
    });
    undos.on(canvas, 'dblclick', event => this.events.pick(this.hitAt(event), true));
    undos.on(canvas, 'wheel', event => this.wheel(event), { passive: false });
  }

  private wheel(event: WheelEvent): void {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? this.height : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      const factor = Math.exp(-Math.max(-60, Math.min(60, event.deltaY * unit)) / 150);
      this.zoom(factor, event.clientX - box.left, event.clientY - box.top, false);
    } else if (this.events.hasFocus() && this.shown) {
      const sideways = event.shiftKey && !event.deltaX;
      const before = { ...this.view };
      const to = {
        scale: before.scale,
        x: before.x - (sideways ? event.deltaY : event.deltaX) * unit,
        y: before.y - (sideways ? 0 : event.deltaY) * unit,
      };
      this.clamp(to);
      // At its end the picture lets the page scroll on.
      if (to.x === before.x && to.y === before.y) return;
      event.preventDefault();
      this.moveTo(to, false);
    }
  }
}
