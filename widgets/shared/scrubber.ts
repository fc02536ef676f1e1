// Time: one tick for each node in the order they run, breakpoints above. Drag it or use the arrow keys to go to a step.
import { h, onFrame, setAttributes, Undos } from './dom';
import { plural } from './format';
import { ICONS } from './icons';
import { Pen } from './paint';
import { CURRENT, DONE, isOver, notFinite, WAITING, type Run } from './run';
import { readTokens, watchTheme } from './theme';

const HEIGHT = 30;
const MIDDLE = 19;
const PAD = 10;
/** Ticks narrower than this become one bar. */
const NARROW = 4;

export interface Spread {
  readonly pitch: number;
  /** Ticks are drawn one by one. */
  readonly single: boolean;
}

/** How wide a tick is for `total` nodes in `width` pixels. */
export function spreadOf(total: number, width: number): Spread {
  const pitch = Math.min(30, (width - 2 * PAD) / Math.max(1, total));
  return { pitch, single: pitch >= NARROW };
}

/** The step under a pixel: step `k` is the moment before tick `k`. */
export function stepAt(x: number, total: number, width: number): number {
  const { pitch } = spreadOf(total, width);
  return Math.max(0, Math.min(total, Math.floor((x - PAD) / pitch)));
}

export class Scrubber {
  readonly element = h('div', {
    class: 'tl-scrubber',
    role: 'slider',
    tabindex: 0,
    'data-testid': 'tl-scrubber',
    'aria-label': 'step',
    'aria-valuemin': 0,
  });
  private readonly canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly pen: Pen;
  private readonly undos = new Undos();
  private readonly frame = onFrame(() => this.paint());
  private run: Run | null = null;
  private bad: ReadonlySet<number> = new Set();
  private width = 0;
  /** Where a drag is, before the answer comes. */
  private wished: number | null = null;

  constructor(
    root: HTMLElement,
    private readonly goTo: (step: number) => Promise<unknown>,
    private readonly named?: (step: number) => string,
  ) {
    this.pen = new Pen(this.canvas.getContext('2d')!, readTokens(root));
    this.element.append(this.canvas);
    const resize = new ResizeObserver(() => {
      this.width = this.element.clientWidth;
      this.paint();
    });
    resize.observe(this.element);
    this.undos.add(
      () => resize.disconnect(),
      this.frame.undo,
      watchTheme(() => {
        this.pen.useTokens(readTokens(root));
        this.frame.ask();
      }),
    );
    this.listen();
  }

  readonly undo = (): void => this.undos.undo();

  show(run: Run): void {
    this.run = run;
    this.bad = notFinite(run);
    const { breaks, edited } = run;
    const marks = [
      breaks.size && plural(breaks.size, 'breakpoint'),
      edited.size && `${plural(edited.size, 'node')} edited`,
      this.bad.size && `${plural(this.bad.size, 'node')} with NaN or Inf`,
    ].filter(Boolean);
    setAttributes(this.element, {
      'aria-valuemax': run.total,
      'aria-valuenow': run.step,
      'aria-valuetext': [`step ${run.step} of ${run.total}`, ...marks].join(', '),
      'data-marks': `${breaks.size} ${edited.size} ${this.bad.size}`,
      'aria-disabled': run.closed ? 'true' : null,
    });
    this.frame.ask();
  }

  private listen(): void {
    const { element, undos } = this;
    let following: Promise<void> | null = null;
    // One request at a time while the pointer moves, or keys repeat; the latest wish wins.
    const followWish = async () => {
      while (this.wished !== null && this.run && this.wished !== this.run.step && !this.run.closed) {
        const step = this.wished;
        await this.goTo(step).catch(() => undefined);
        if (this.run.step !== step) break;
      }
    };
    const follow = () => (following ??= followWish().finally(() => (following = null)));
    const wish = (event: PointerEvent) => {
      if (!this.run || this.run.closed) return;
      const x = event.clientX - element.getBoundingClientRect().left;
      this.wished = stepAt(x, this.run.total, this.width);
      this.frame.ask();
      void follow();
    };
    undos.on(element, 'pointerdown', event => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      element.focus({ preventScroll: true });
      wish(event);
      event.preventDefault();
    });
    undos.on(element, 'pointermove', event => {
      if (event.buttons & 1 && this.wished !== null) wish(event);
      else this.name(event);
    });
    const leave = () => {
      this.wished = null;
      this.frame.ask();
    };
    // The last wish is followed to its end, also when its answer comes after the pointer has gone.
    const settle = () => void follow().then(leave);
    undos.on(element, 'pointerup', settle);
    undos.on(element, 'pointercancel', settle);
    undos.on(element, 'keydown', event => {
      if (!this.run || this.run.closed || event.ctrlKey || event.altKey || event.metaKey) return;
      const { total } = this.run;
      const step = this.wished ?? this.run.step;
      const steps: Record<string, number> = {
        ArrowLeft: step - 1,
        ArrowDown: step - 1,
        ArrowRight: step + 1,
        ArrowUp: step + 1,
        PageDown: step - 10,
        PageUp: step + 10,
        Home: 0,
        End: total,
      };
      const to = steps[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.wished = Math.max(0, Math.min(total, to));
      this.frame.ask();
      settle();
    });
  }

  /** Says which node the tick under the pointer is. */
  private name(event: PointerEvent): void {
    if (!this.run) return;
    const { graph, schedule, total } = this.run;
    const step = stepAt(event.clientX - this.element.getBoundingClientRect().left, total, this.width);
    if (this.named) {
      this.element.title = this.named(step);
      return;
    }
    const node = schedule[step] ?? -1;
    const { name, label } = graph.nodes;
    const words = [graph.strings[name[node]], graph.strings[label[node]]].filter(Boolean).join(' ');
    this.element.title = node < 0 ? `step ${step}: the end` : `step ${step}: before ${words}`;
  }

  private paint(): void {
    const { run, width, canvas, pen } = this;
    if (!run || !width) return;
    if (!pen.tokens.known) pen.useTokens(readTokens(this.element));
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
    if (canvas.width !== w || canvas.height !== h)
      setAttributes(canvas, { width: w, height: h, style: `width:${width}px;height:${HEIGHT}px` });
    const { ctx, tokens } = pen;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, HEIGHT);
    const spread = spreadOf(run.total, width);
    if (spread.single) for (let k = 0; k < run.total; k++) this.paintTick(k, spread.pitch);
    else this.paintBar(spread.pitch);
    this.paintMarks(spread.pitch);
    if (this.wished !== null && this.wished !== run.step) {
      ctx.fillStyle = tokens.ink;
      ctx.fillRect(PAD + this.wished * spread.pitch - 0.5, 6, 1, HEIGHT - 8);
    }
  }

  private paintTick(k: number, pitch: number): void {
    const { ctx, tokens } = this.pen;
    const run = this.run!;
    const state = run.state[run.schedule[k]] ?? -1;
    const current = k === run.step && !isOver(run);
    const gap = Math.min(8, pitch * 0.28);
    const [x, w] = [PAD + k * pitch + gap / 2, pitch - gap];
    const tall = current ? 15 : 8;
    ctx.beginPath();
    ctx.roundRect(x, MIDDLE - tall / 2, w, tall, Math.min(2.5, w / 3));
    if (current) this.paintHere(x, w);
    else if (k < run.step || state === DONE) {
      ctx.fillStyle = tokens.done;
      ctx.fill();
    } else {
      const waits = state === WAITING || state === CURRENT;
      ctx.strokeStyle = waits ? tokens.waiting : tokens.edge;
      ctx.lineWidth = waits ? 1.5 : 1;
      ctx.setLineDash(waits && w > 6 ? [3, 2] : []);
      ctx.stroke();
      ctx.setLineDash([]);
    }
  }

  private paintHere(x: number, w: number): void {
    const { ctx, tokens } = this.pen;
    ctx.fillStyle = tokens.accent;
    ctx.fill();
    if (w < 9) return;
    ctx.fillStyle = tokens.surface;
    ctx.beginPath();
    ctx.moveTo(x + w / 2 - 3, MIDDLE - 4);
    ctx.lineTo(x + w / 2 + 4, MIDDLE);
    ctx.lineTo(x + w / 2 - 3, MIDDLE + 4);
    ctx.fill();
  }

  private paintBar(pitch: number): void {
    const { ctx, tokens } = this.pen;
    const run = this.run!;
    const [x, w] = [PAD, pitch * run.total];
    const here = x + run.step * pitch;
    ctx.fillStyle = tokens.raised;
    ctx.strokeStyle = tokens.edge;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.roundRect(x, MIDDLE - 4, w, 8, 3);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = tokens.done;
    ctx.beginPath();
    ctx.roundRect(x, MIDDLE - 4, here - x, 8, 3);
    ctx.fill();
    if (!isOver(run)) {
      ctx.fillStyle = tokens.accent;
      ctx.beginPath();
      ctx.roundRect(here - 2.5, MIDDLE - 8, 5, 16, 2);
      ctx.fill();
    }
  }

  /** Above: octagons for breakpoints, a pencil for an edit. Below: a cross where a gradient is not finite. */
  private paintMarks(pitch: number): void {
    const { ctx, tokens } = this.pen;
    const { breaks, edited, schedule } = this.run!;
    if (!breaks.size && !edited.size && !this.bad.size) return;
    ctx.fillStyle = ctx.strokeStyle = tokens.warn;
    for (let k = 0; k < schedule.length; k++) {
      const node = schedule[k];
      const x = PAD + (k + 0.5) * pitch;
      if (breaks.has(node)) octagon(ctx, x, 6, 4.5);
      else if (edited.has(node)) stroked(ctx, PENCIL, x - 5, 0.5, 10 / 16);
      if (this.bad.has(node)) stroked(ctx, CROSS, x - 3, HEIGHT - 6.5, 6 / 16);
    }
  }
}

const PENCIL = ICONS.pencil;
const CROSS = ICONS.close;

/** An icon at a place of the canvas, drawn as a line of one width whatever its size. */
function stroked(ctx: CanvasRenderingContext2D, path: string, x: number, y: number, scale: number): void {
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(scale, scale);
  ctx.lineWidth = 1.4 / scale;
  ctx.stroke(new Path2D(path));
  ctx.restore();
}

function octagon(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath();
  for (let i = 0; i < 8; i++) {
    const angle = Math.PI / 8 + (i * Math.PI) / 4;
    ctx.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  ctx.fill();
}
