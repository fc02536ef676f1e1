// The memory instrument: bytes over time by use, what stood at the peak or at any moment, who holds it, and what grew.
import { button, relabel, type Key } from './controls';
import { h, setText, svg, type Undo } from './dom';
import { exporterOf } from './export';
import { bytes, plural } from './format';
import { Frame } from './frame';
import {
  areas,
  blockDetail,
  growthLine,
  HIGH,
  phaseWords,
  place,
  shareLine,
  total,
  WIDE,
} from './memoryparts';
import { Client, type Transport } from './protocol';
import { USES, type MemoryBlock, type MemoryCurve, type MemoryDocument } from './watching';

const QUICK = 250;
const SLOW = 1500;
type Order = 'bytes' | 'name' | 'op' | 'module';

/** Draws memory over a session; returns the undo, which leaves nothing behind. */
export function mountMemory(element: HTMLElement, transport: Transport): Undo {
  const client = new Client(transport, {
    event: () => undefined,
    broken: error => view.frame.fail(error.message),
  });
  const view: MemoryView = new MemoryView(element, client);
  client
    .request<{ memory: MemoryDocument }>('initialize')
    .then(({ memory }) => view.begin(memory))
    .catch((error: Error) => view.frame.giveUp(`Memory could not be shown: ${error.message}`));
  return () => {
    view.stop();
    client.close();
    view.frame.undo();
  };
}

class MemoryView {
  readonly frame: Frame;
  private state: MemoryDocument | null = null;
  private curve: MemoryCurve | null = null;
  private at: { tick: number; blocks: readonly MemoryBlock[]; bytes: number } | null = null;
  private chosen = -1;
  private cursor = -1;
  private order: Order = 'bytes';
  private timer = 0;
  private pause = QUICK;
  private stale = false;
  private stopped = false;
  private visible = true;
  private asked = 0;
  private readonly record: HTMLButtonElement;
  private readonly marking: HTMLButtonElement;
  private readonly legend = h('div', { class: 'tl-uses' });
  private readonly plot = svg('svg', {
    class: 'tl-plot',
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: 'none',
    role: 'slider',
    tabindex: 0,
    'data-testid': 'tl-plot',
  });
  private readonly scale = h('div', { class: 'tl-plot-scale', 'aria-hidden': 'true' });
  private readonly phases = h('div', { class: 'tl-phases' });
  private readonly title = h('h4', { 'data-testid': 'tl-moment' });
  private readonly table = h('table', { class: 'tl-blocks', 'data-testid': 'tl-blocks' });
  private readonly detail = h('div', { 'data-testid': 'tl-block-detail', 'aria-live': 'polite' });
  private readonly shares = h('div', { 'data-testid': 'tl-shares' });
  private readonly growth = h('div', { 'data-testid': 'tl-growth' });

  constructor(
    element: HTMLElement,
    private readonly client: Client,
  ) {
    const keys: Key[] = [
      { name: 'ArrowLeft', does: 'a moment earlier', run: () => this.scrub(-1) },
      { name: 'ArrowRight', does: 'a moment later', run: () => this.scrub(1) },
      { name: 'p', does: 'back to the peak', run: () => this.toPeak() },
      { name: 'ArrowDown', does: 'the next block', run: () => this.walk(1) },
      { name: 'ArrowUp', does: 'the block before', run: () => this.walk(-1) },
      { name: 's', does: 'sort by another column', run: () => this.resort() },
      { name: 'm', does: 'mark: growth is measured from now on', run: () => void this.whole('mark') },
      { name: 'l', does: 'look who holds what now', run: () => void this.whole('look') },
      { name: 'r', does: 'stop or start a recording', run: () => this.toggle() },
    ];
    this.frame = new Frame(element, {
      testid: 'tl-memory',
      what: 'memory',
      keys,
      exporter: exporterOf(client),
    });
    this.record = button({ icon: 'pause', label: 'Stop', key: 'r', testid: 'tl-record' }, () =>
      this.toggle(),
    );
    this.marking = button(
      {
        icon: 'plus',
        label: 'Mark',
        key: 'm',
        testid: 'tl-mark',
        title: 'Growth is measured from now on (m)',
      },
      () => void this.whole('mark'),
    );
    this.frame.controls.prepend(
      this.record,
      this.marking,
      button(
        { icon: 'find', label: 'Look', key: 'l', testid: 'tl-look', title: 'Look who holds what now (l)' },
        () => void this.whole('look'),
      ),
    );
    const seen = new IntersectionObserver(entries => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) this.soon(0);
    });
    seen.observe(this.frame.root);
    this.frame.undos.add(() => seen.disconnect());
    let held = false;
    this.frame.undos.on(this.plot, 'pointerdown', event => {
      held = true;
      this.plot.setPointerCapture(event.pointerId);
      this.pick(event);
    });
    this.frame.undos.on(this.plot, 'pointermove', event => {
      if (held && event.buttons & 1) this.pick(event);
    });
    this.frame.undos.on(this.plot, 'pointerup', () => (held = false));
    this.frame.undos.on(this.table, 'click', event => {
      const target = event.target as Element;
      const head = target.closest<HTMLElement>('button[data-order]');
      if (head) return this.sort(head.dataset.order as Order);
      const line = target.closest<HTMLElement>('tr[data-number]');
      if (line) this.choose(Number(line.dataset.number));
    });
  }

  begin(memory: MemoryDocument): void {
    this.frame.main.replaceChildren(
      this.legend,
      h('div', { class: 'tl-plot-row' }, this.scale, this.plot as unknown as HTMLElement),
      this.phases,
      this.title,
      h('div', { class: 'tl-blocks-box' }, this.table),
    );
    this.frame.aside.replaceChildren(this.detail, this.growth, this.shares);
    this.take(memory);
    this.soon(QUICK);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // ---- asking --------------------------------------------------------------------------------------------------------

  private soon(wait: number): void {
    clearTimeout(this.timer);
    if (!this.stopped && this.curve?.attached) this.timer = window.setTimeout(() => void this.follow(), wait);
  }

  /** The curve while the program runs; who holds what once it rests, since finding that out costs a walk. */
  private async follow(): Promise<void> {
    if (this.stopped || !this.visible || document.hidden) return this.soon(SLOW);
    const before = performance.now();
    try {
      const { curve } = await this.client.request<{ curve: MemoryCurve }>('refresh');
      if (this.stopped) return;
      const news = curve.last !== this.curve!.last || curve.attached !== this.curve!.attached;
      this.curve = curve;
      if (news) {
        this.stale = true;
        this.drawCurve();
      } else if (this.stale) {
        await this.whole('look');
      }
      this.pause = news ? QUICK : Math.min(SLOW, this.pause * 1.5);
      if (news) this.frame.fail('');
    } catch (error) {
      if (!this.stopped) this.frame.fail((error as Error).message);
      this.pause = SLOW;
    }
    this.soon(Math.max(this.pause, 10 * (performance.now() - before)));
  }

  private async whole(command: string): Promise<void> {
    try {
      const { memory } = await this.client.request<{ memory: MemoryDocument }>(command);
      if (this.stopped) return;
      this.take(memory);
      this.soon(QUICK);
    } catch (error) {
      if (!this.stopped) this.frame.fail((error as Error).message);
    }
  }

  private take(memory: MemoryDocument): void {
    this.state = memory;
    this.curve = memory.curve;
    this.stale = false;
    this.at = null;
    this.cursor = -1;
    this.frame.fail(memory.trouble);
    this.drawCurve();
    this.drawBlocks();
    this.drawAside();
    this.frame.drawn();
  }

  private toggle(): void {
    if (!this.curve?.forecast) void this.whole(this.curve?.attached ? 'detach' : 'attach');
  }

  // ---- the curve -----------------------------------------------------------------------------------------------------

  private drawCurve(): void {
    const curve = this.curve!;
    const { frame } = this;
    const state = curve.forecast ? 'forecast' : curve.attached ? 'recording' : 'recorded';
    frame.setTitle(
      this.state?.title || this.state?.device || '',
      `${state} · ${bytes(curve.now)} now · peak ${bytes(curve.peak)}`,
    );
    frame.say(curve.sentence);
    frame.root.dataset.attached = String(curve.attached);
    frame.root.dataset.peak = String(curve.peak);
    frame.root.dataset.last = String(curve.last);
    this.record.hidden = this.marking.hidden = curve.forecast;
    relabel(this.record, curve.attached ? 'Stop' : 'Record', curve.attached ? 'pause' : 'record');
    const used = USES.map((name, use) => ({ name, use })).filter(({ use }) =>
      curve.stack[use]?.some(Boolean),
    );
    this.legend.replaceChildren(
      ...used.map(({ name, use }) =>
        h('span', { class: 'tl-use' }, h('i', { class: `tl-use-${use}` }), name),
      ),
    );
    this.scale.replaceChildren(
      ...[curve.peak, curve.peak / 2, 0].map(size =>
        h('span', { class: 'tl-muted' }, bytes(Math.round(size))),
      ),
    );
    this.plot.replaceChildren(...areas(curve), ...this.cursorMarks(curve));
    this.plot.setAttribute('aria-label', 'moment of the recording');
    this.plot.setAttribute('aria-valuemin', '0');
    this.plot.setAttribute('aria-valuemax', String(curve.last));
    this.sayMoment();
    this.phases.replaceChildren(...phaseWords(curve));
    frame.drawn();
  }

  private cursorMarks(curve: MemoryCurve): SVGElement[] {
    const x = place(this.cursor < 0 ? curve.peak_tick : this.cursor, curve);
    return [
      svg('path', {
        class: 'tl-cursor',
        d: `M${x.toFixed(1)} 0V${HIGH}`,
        'vector-effect': 'non-scaling-stroke',
      }),
    ];
  }

  private sayMoment(): void {
    const curve = this.curve!;
    const tick = this.cursor < 0 ? curve.peak_tick : this.cursor;
    const size = this.at ? this.at.bytes : this.cursor < 0 ? curve.peak : total(curve, tick);
    this.plot.setAttribute('aria-valuenow', String(tick));
    const phase = curve.phases.filter(one => one.tick <= tick).at(-1)?.name;
    const during = phase ? ` during ${phase}` : '';
    const words =
      this.cursor < 0
        ? curve.forecast
          ? `${bytes(size)} before backward`
          : `the peak: ${bytes(size)}${during}`
        : `moment ${tick} of ${curve.last}: ${bytes(size)}${during}`;
    this.plot.setAttribute('aria-valuetext', words);
    setText(this.title, words[0].toUpperCase() + words.slice(1));
  }

  private pick(event: PointerEvent): void {
    const box = this.plot.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    this.goTo(Math.round(part * (this.curve?.last ?? 0)));
  }

  private scrub(by: number): void {
    const curve = this.curve;
    if (!curve) return;
    const step = Math.max(1, Math.round(curve.last / 200));
    this.goTo(
      Math.max(0, Math.min(curve.last, (this.cursor < 0 ? curve.peak_tick : this.cursor) + by * step)),
    );
  }

  private toPeak(): void {
    this.cursor = -1;
    this.at = null;
    this.drawCurve();
    this.drawBlocks();
  }

  private goTo(tick: number): void {
    if (!this.curve || this.curve.forecast) return;
    this.cursor = tick;
    this.at = null;
    this.plot.querySelector('.tl-cursor')?.replaceWith(...this.cursorMarks(this.curve));
    this.sayMoment();
    const asked = ++this.asked;
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => void this.askAt(tick, asked), 120);
  }

  private settling = 0;

  private async askAt(tick: number, asked: number): Promise<void> {
    try {
      const found = await this.client.request<{ blocks: MemoryBlock[]; bytes: number }>('at', { tick });
      if (asked !== this.asked || this.stopped) return;
      this.at = { tick, ...found };
      this.sayMoment();
      this.drawBlocks();
      this.frame.fail('');
      this.frame.drawn();
    } catch (error) {
      if (asked === this.asked && !this.stopped) this.frame.fail((error as Error).message);
    }
  }

  // ---- blocks --------------------------------------------------------------------------------------------------------

  private shown(): MemoryBlock[] {
    const all = this.at?.blocks ?? this.state!.blocks.filter(block => block.at_peak || this.curve!.forecast);
    const by = this.order;
    return [...all].sort((a, b) =>
      by === 'bytes' ? b.bytes - a.bytes : a[by].localeCompare(b[by]) || b.bytes - a.bytes,
    );
  }

  private sort(order: Order): void {
    this.order = order;
    this.drawBlocks();
    this.table.querySelector<HTMLElement>(`button[data-order="${order}"]`)?.focus();
  }

  private resort(): void {
    const all: Order[] = ['bytes', 'name', 'op', 'module'];
    this.order = all[(all.indexOf(this.order) + 1) % all.length];
    this.drawBlocks();
  }

  private drawBlocks(): void {
    const shown = this.shown();
    const most = Math.max(1, ...shown.map(block => block.bytes));
    const head = (order: Order, words: string) =>
      h(
        'th',
        { 'aria-sort': this.order === order ? (order === 'bytes' ? 'descending' : 'ascending') : null },
        h(
          'button',
          { type: 'button', class: 'tl-sort', 'data-order': order },
          words,
          this.order === order ? ' ↓' : '',
        ),
      );
    const rest = this.at ? 0 : this.state!.unlisted;
    this.table.replaceChildren(
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head('bytes', 'bytes'),
          head('name', 'what'),
          head('op', 'made by'),
          head('module', 'module'),
        ),
      ),
      h(
        'tbody',
        {},
        ...shown.map((block, at) => this.line(block, most, at)),
        ...(shown.length
          ? []
          : [h('tr', {}, h('td', { colspan: 4, class: 'tl-muted' }, 'Nothing is held here.'))]),
        ...(rest
          ? [
              h(
                'tr',
                {},
                h(
                  'td',
                  { colspan: 4, class: 'tl-muted' },
                  `${plural(rest, 'smaller block')}, ${bytes(this.state!.unlisted_bytes)}`,
                ),
              ),
            ]
          : []),
      ),
    );
  }

  private line(block: MemoryBlock, most: number, at: number): HTMLElement {
    const chosen = block.number === this.chosen;
    return h(
      'tr',
      {
        'data-number': block.number,
        'data-name': block.name,
        tabindex: chosen || (this.chosen < 0 && at === 0) ? 0 : -1,
        class: chosen ? 'tl-opened' : '',
        'aria-selected': String(chosen),
      },
      h(
        'td',
        {},
        h('i', {
          class: `tl-use-${block.use} tl-share`,
          style: `width:${Math.max(2, (60 * block.bytes) / most).toFixed(0)}px`,
        }),
        h('span', {}, bytes(block.bytes)),
      ),
      h(
        'td',
        { class: 'tl-cut', title: `${block.name} ${block.shape}: ${USES[block.use]}` },
        h('code', {}, block.name),
      ),
      h('td', { class: 'tl-cut tl-muted' }, block.op || USES[block.use]),
      h('td', { class: 'tl-cut tl-muted' }, block.module),
    );
  }

  private walk(by: number): void {
    const shown = this.shown();
    if (!shown.length) return;
    const at = shown.findIndex(block => block.number === this.chosen);
    this.choose(shown[Math.max(0, Math.min(shown.length - 1, at + by))].number);
  }

  private choose(number: number): void {
    this.chosen = number;
    for (const line of this.table.querySelectorAll<HTMLElement>('tr[data-number]')) {
      const chosen = Number(line.dataset.number) === number;
      line.classList.toggle('tl-opened', chosen);
      line.setAttribute('aria-selected', String(chosen));
      line.tabIndex = chosen ? 0 : -1;
      if (chosen) line.focus({ preventScroll: false });
    }
    this.drawAside();
    this.frame.drawn();
  }

  // ---- beside --------------------------------------------------------------------------------------------------------

  private drawAside(): void {
    const state = this.state!;
    const block = this.shown().find(({ number }) => number === this.chosen);
    this.detail.replaceChildren(
      ...(block
        ? blockDetail(block)
        : [h('p', { class: 'tl-muted' }, 'Choose a block to see who holds it and what frees it.')]),
    );
    this.growth.replaceChildren(
      ...(state.marked
        ? [
            h('h4', {}, 'Grown since the mark'),
            ...(state.growth.length
              ? state.growth.slice(0, 20).map(growthLine)
              : [h('p', { class: 'tl-muted' }, 'Nothing.')]),
          ]
        : []),
    );
    this.shares.replaceChildren(
      ...state.pools.map(pool =>
        h(
          'p',
          {},
          `pool of ${pool.device}: ${bytes(pool.used)} in arrays, ${bytes(pool.taken)} taken from the system`,
        ),
      ),
      h('h4', {}, state.curve.forecast ? 'By module' : 'By module, at the peak'),
      ...state.modules.slice(0, 12).map(share => shareLine(share, state.modules[0].bytes)),
      h('h4', {}, state.curve.forecast ? 'By operation' : 'By operation, at the peak'),
      ...state.ops.slice(0, 12).map(share => shareLine(share, state.ops[0].bytes)),
    );
  }
}
