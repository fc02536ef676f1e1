// The gradient flow instrument: parameters in model order, steps to the right, the latest norm as a bar, and what needs a look.
import { button, relabel, type Key } from './controls';
import { h, onFrame, setAttributes, setText, svg, type Undo } from './dom';
import { exporterOf } from './export';
import { short } from './format';
import { Frame } from './frame';
import { drawHeat, SCALE, WORDS } from './heatrow';
import { icon, type IconName } from './icons';
import { Client, type Transport } from './protocol';
import { normOf, ridgeFigure } from './ridge';
import { FINDINGS, LEVELS, type Finding, type FlowDocument, type Ridge } from './training';
import { readTokens, watchTheme } from './theme';

const SHOWN = 120;
/** Pixels of a row, rows that stand in the page beyond those in sight, and up to how many all do. */
const HEIGHT = 20;
const MARGIN = 10;
const WHOLE = 60;
const KEPT = 600;
/** Milliseconds between questions while there is news, while there is none, and between looks at one parameter. */
const QUICK = 100;
const SLOW = 1000;
const MARKS: Partial<Record<Finding['kind'], IconName>> = {
  exploded: 'up',
  vanished: 'down',
  changed: 'pencil',
};

/** Draws gradients over a session; returns the undo, which leaves nothing behind. */
export function mountFlow(element: HTMLElement, transport: Transport): Undo {
  const client = new Client(transport, {
    event: () => undefined,
    broken: error => view.frame.fail(error.message),
  });
  const view: FlowView = new FlowView(element, client);
  client
    .request<{ flow: FlowDocument }>('initialize')
    .then(({ flow }) => view.begin(flow))
    .catch((error: Error) => view.frame.giveUp(`These gradients could not be shown: ${error.message}`));
  return () => {
    view.stop();
    client.close();
    view.frame.undo();
  };
}

interface Row {
  readonly line: HTMLTableRowElement;
  readonly heat: HTMLCanvasElement;
  readonly level: HTMLElement;
  readonly fill: HTMLElement;
  readonly words: HTMLElement;
}

/** One step: a level for every parameter, and the least and greatest of them. */
interface Step {
  readonly number: number;
  readonly levels: ArrayLike<number>;
  readonly low: number;
  readonly high: number;
  readonly loss: number | null;
  readonly clipped: number | null;
}

class FlowView {
  readonly frame: Frame;
  private flow: FlowDocument | null = null; // the latest, with the names
  private steps: Step[] = [];
  private rows: (Row | undefined)[] = []; // made when they are first seen
  private shown: number[] = []; // parameters that are listed
  private timer = 0;
  private pause = SLOW;
  private paused = false;
  private stopped = false;
  private visible = true;
  private opened = -1;
  private ridgeAsked = 0;
  private onlyLooks = false;
  private readonly repaint = onFrame(() => this.drawRows());
  private readonly pauseButton: HTMLButtonElement;
  private readonly filterButton: HTMLButtonElement;
  private readonly table = h('table', { class: 'tl-flow', 'data-testid': 'tl-flow-table' });
  private readonly body = h('tbody', {});
  private readonly scroll = h('div', { class: 'tl-flow-scroll' }, this.table);
  private readonly look = h('div', { 'data-testid': 'tl-findings' });
  private readonly detail = h('div', { 'data-testid': 'tl-flow-detail', role: 'status' });
  private readonly ridge = h('div', {});
  private readonly loss = svg('svg', {
    class: 'tl-loss',
    preserveAspectRatio: 'none',
    viewBox: '0 0 120 40',
    role: 'img',
  });
  private readonly ends = [h('span', { class: 'tl-muted' }), h('span', { class: 'tl-muted' })];

  constructor(
    element: HTMLElement,
    private readonly client: Client,
  ) {
    const keys: Key[] = [
      { name: ' ', does: 'hold the picture, or go on', run: () => this.toggle() },
      { name: 'ArrowDown', does: 'the next parameter', run: () => this.walk(1) },
      { name: 'ArrowUp', does: 'the parameter before', run: () => this.walk(-1) },
      { name: 'n', does: 'the next parameter that needs a look', run: () => this.nextLook() },
      { name: 'm', does: 'the parameter with the largest gradient', run: () => this.largest() },
      { name: 'l', does: 'only what needs a look, or all', run: () => this.filter() },
    ];
    this.frame = new Frame(element, {
      testid: 'tl-flow',
      what: 'gradient flow',
      keys,
      exporter: exporterOf(client),
    });
    this.pauseButton = button(
      { icon: 'finish', label: 'Hold', testid: 'tl-hold', title: 'Hold the picture (Space)' },
      () => this.toggle(),
    );
    this.filterButton = button(
      {
        icon: 'condition',
        label: 'Needs a look',
        testid: 'tl-only-looks',
        title: 'Only what needs a look (l)',
      },
      () => this.filter(),
    );
    this.filterButton.setAttribute('aria-pressed', 'false');
    this.frame.controls.prepend(this.filterButton, this.pauseButton);
    this.frame.undos.add(
      watchTheme(() => this.draw()),
      this.repaint.undo,
    );
    const seen = new IntersectionObserver(entries => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) this.soon(0);
    });
    seen.observe(this.frame.root);
    const sized = new ResizeObserver(() => this.repaint.ask());
    sized.observe(this.scroll);
    this.frame.undos.add(
      () => seen.disconnect(),
      () => sized.disconnect(),
    );
    this.frame.undos.on(this.scroll, 'scroll', () => this.repaint.ask());
    this.frame.undos.on(this.table, 'click', event => {
      const line = (event.target as Element).closest<HTMLElement>('tr[data-at]');
      if (line) this.open(Number(line.dataset.at));
    });
  }

  /** Begins anew: at first, and when the model has other parameters than before. */
  begin(flow: FlowDocument): void {
    const was = this.flow?.names[this.opened];
    this.flow = flow;
    this.steps = [];
    this.take(flow);
    const head = h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { class: 'tl-name', scope: 'col' }, 'parameter'),
        h('th', { scope: 'col' }, h('span', { 'data-steps': '' })),
        h('th', { class: 'tl-now', scope: 'col' }, 'gradient norm, log scale'),
      ),
    );
    this.rows = [];
    this.body.replaceChildren();
    this.table.replaceChildren(head, this.body);
    this.opened = was === undefined ? -1 : flow.names.indexOf(was);
    const scale = h('div', { style: `background: linear-gradient(to right, ${SCALE.join(', ')})` });
    this.frame.main.replaceChildren(
      this.scroll,
      h('div', { class: 'tl-scale' }, this.ends[0], scale, this.ends[1]),
    );
    this.frame.aside.replaceChildren(
      h('h4', {}, 'Needs a look'),
      this.look,
      this.detail,
      this.ridge,
      h('h4', {}, 'Loss'),
      this.loss as unknown as HTMLElement,
    );
    this.draw();
    this.soon(QUICK);
  }

  private row(name: string, shape: string, at: number): Row {
    const heat = h('canvas', { class: 'tl-heat', 'aria-hidden': 'true' });
    const fill = h('span', { class: 'tl-fill-level' });
    const words = h('span', {});
    const level = h('div', { class: 'tl-level' }, h('div', { class: 'tl-track' }, fill), words);
    const line = h(
      'tr',
      { 'data-at': at, tabindex: at === Math.max(this.opened, 0) ? 0 : -1, 'data-name': name },
      h('th', { class: 'tl-cut', scope: 'row', title: `${name} ${shape}` }, name),
      h('td', {}, heat),
      h('td', {}, level),
    );
    return { line, heat, level, fill, words };
  }

  // ---- asking --------------------------------------------------------------------------------------------------------

  private soon(wait: number): void {
    clearTimeout(this.timer);
    if (!this.stopped && this.flow?.attached) this.timer = window.setTimeout(() => void this.ask(), wait);
  }

  private async ask(): Promise<void> {
    if (this.stopped || this.paused || !this.visible || document.hidden) return this.soon(SLOW);
    const known = this.flow!;
    try {
      const { flow } = await this.client.request<{ flow: FlowDocument }>('steps', {
        since: this.steps[this.steps.length - 1]?.number ?? -1,
        generation: known.generation,
      });
      if (this.stopped) return;
      this.frame.fail('');
      if (flow.generation !== known.generation) return this.begin(flow);
      const news =
        flow.steps.length > 0 || flow.attached !== known.attached || flow.sentence !== known.sentence;
      this.flow = { ...flow, names: known.names, shapes: known.shapes };
      this.take(flow);
      if (news) this.draw();
      this.pause = news ? QUICK : Math.min(SLOW, this.pause * 1.5);
    } catch (error) {
      this.frame.fail((error as Error).message);
      this.pause = SLOW;
    }
    this.soon(this.pause);
  }

  private take(more: FlowDocument): void {
    const n = this.flow!.names.length;
    more.steps.forEach((number, j) => {
      const levels = more.levels.slice(j * n, (j + 1) * n);
      let low = Infinity;
      let high = -Infinity;
      for (const level of levels) {
        if (WORDS.has(level)) continue;
        low = Math.min(low, level);
        high = Math.max(high, level);
      }
      this.steps.push({ number, levels, low, high, loss: more.loss[j], clipped: more.clipped[j] });
    });
    if (this.steps.length > KEPT) this.steps = this.steps.slice(-KEPT);
  }

  private toggle(): void {
    this.paused = !this.paused;
    relabel(this.pauseButton, this.paused ? 'Go on' : 'Hold', this.paused ? 'next' : 'finish');
    this.frame.root.dataset.held = String(this.paused);
    if (!this.paused) this.soon(0);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // ---- drawing -------------------------------------------------------------------------------------------------------

  private get last(): Step | undefined {
    return this.steps[this.steps.length - 1];
  }

  private get span(): [number, number] {
    const low = Math.min(...this.steps.map(step => step.low));
    const high = Math.max(...this.steps.map(step => step.high));
    if (!Number.isFinite(low)) return [-6, 0];
    return [Math.floor(low / 1000), Math.max(Math.ceil(high / 1000), Math.floor(low / 1000) + 1)];
  }

  private draw(): void {
    const { flow, frame, last } = this;
    if (!flow) return;
    const clip = last?.clipped ? ` · clipped, ${short(last.clipped)} before` : '';
    frame.setTitle(
      flow.title || 'parameters',
      `${flow.attached ? 'live' : 'ended'} · ${last ? `step ${last.number}${clip}` : 'no steps yet'}`,
    );
    frame.say(flow.sentence);
    frame.root.dataset.step = String(last?.number ?? -1);
    const [low, high] = this.span;
    setText(this.ends[0], `1e${low}`);
    setText(this.ends[1], `1e${high}`);
    const first = this.steps[Math.max(0, this.steps.length - SHOWN)];
    const steps = this.table.querySelector('[data-steps]')!;
    setText(steps, last ? `step ${first.number} to ${last.number}` : 'steps');
    this.drawRows();
    this.look.replaceChildren(
      ...(flow.findings.length
        ? flow.findings.map(found => this.card(found))
        : [h('p', { class: 'tl-muted' }, 'Nothing.')]),
    );
    this.drawDetail();
    this.drawLoss();
    frame.drawn();
  }

  /** Draws the rows that are in sight, however many there are. */
  private drawRows(): void {
    const { flow, last } = this;
    if (!flow) return;
    const span = this.span;
    const [low, high] = span;
    const shown = this.steps.slice(-SHOWN);
    const tokens = readTokens(this.frame.root);
    this.shown = flow.names.flatMap((_, i) => (this.onlyLooks && !flow.looks[i] ? [] : [i]));
    const inView = this.place();
    for (const i of inView) {
      const row = this.rowAt(i);
      const kind = FINDINGS[flow.looks[i] - 1];
      drawHeat(row.heat, shown.length, j => shown[j].levels[i] ?? LEVELS.none, span, tokens);
      const level = last?.levels[i] ?? LEVELS.none;
      const norm = normOf(level);
      const part = norm ? Math.max(0.02, (level / 1000 - low) / (high - low)) : 0;
      row.fill.style.width = `${part * 100}%`;
      row.level.classList.toggle('tl-empty-level', !norm);
      row.level.classList.toggle('tl-look', !!kind);
      setText(row.words, WORDS.get(level) ?? short(norm));
      row.words.title = kind ?? '';
      if (kind)
        row.words.append(
          ' ',
          icon(MARKS[kind] ?? 'close', 10),
          h('span', { class: 'tl-unseen' }, `, ${kind}`),
        );
    }
  }

  /** Puts the rows that can be seen into the table, with room for the others above and below. */
  private place(): readonly number[] {
    const { shown } = this;
    const many = shown.length > WHOLE;
    const first = many ? Math.max(0, Math.floor(this.scroll.scrollTop / HEIGHT) - MARGIN) : 0;
    const count = Math.ceil(this.scroll.clientHeight / HEIGHT) + 2 * MARGIN;
    const inView = many ? shown.slice(first, first + count) : shown;
    const lines = inView.map(i => this.rowAt(i).line);
    const keep = new Set<Element>(lines);
    const focused = document.activeElement;
    for (const line of Array.from(this.body.children)) {
      if (keep.has(line)) continue;
      line.remove();
      if (line === focused) this.frame.root.focus({ preventScroll: true });
    }
    lines.forEach((line, k) => {
      if (this.body.children[k] !== line) this.body.insertBefore(line, this.body.children[k] ?? null);
    });
    this.table.style.marginTop = `${first * HEIGHT}px`;
    this.table.style.marginBottom = `${Math.max(0, shown.length - first - inView.length) * HEIGHT}px`;
    this.table.setAttribute('aria-rowcount', String(shown.length + 1));
    lines.forEach((line, k) => line.setAttribute('aria-rowindex', String(first + k + 2)));
    return inView;
  }

  private rowAt(i: number): Row {
    return (this.rows[i] ??= this.row(this.flow!.names[i], this.flow!.shapes[i], i));
  }

  // ---- one parameter -------------------------------------------------------------------------------------------------

  private walk(by: number): void {
    const { shown } = this;
    const at = shown.indexOf(this.opened);
    const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.max(0, Math.min(at + by, shown.length - 1));
    if (shown.length) this.open(shown[next]);
  }

  private nextLook(): void {
    const looks = this.flow?.looks ?? [];
    const found = looks.map((_, k) => (this.opened + 1 + k) % looks.length).find(i => looks[i]);
    if (found === undefined) this.frame.say('Nothing needs a look.');
    else this.open(found);
  }

  private largest(): void {
    const levels = Array.from(this.last?.levels ?? [], level => (WORDS.has(level) ? -Infinity : level));
    if (levels.length) this.open(levels.indexOf(Math.max(...levels)));
  }

  private filter(): void {
    this.onlyLooks = !this.onlyLooks;
    this.filterButton.setAttribute('aria-pressed', String(this.onlyLooks));
    this.filterButton.classList.toggle('tl-active', this.onlyLooks);
    this.drawRows();
    this.repaint.ask();
  }

  private open(at: number): void {
    if (!this.flow?.names.length) return;
    this.opened = Math.max(0, Math.min(at, this.flow.names.length - 1));
    const place = this.shown.indexOf(this.opened) * HEIGHT;
    const { scrollTop, clientHeight } = this.scroll;
    if (place < scrollTop || place + 3 * HEIGHT > scrollTop + clientHeight)
      this.scroll.scrollTop = Math.max(0, place - clientHeight / 2);
    this.drawRows();
    this.rows.forEach((row, i) => {
      row?.line.classList.toggle('tl-opened', i === this.opened);
      if (row) setAttributes(row.line, { 'aria-current': i === this.opened ? 'true' : null });
      if (row) row.line.tabIndex = i === this.opened ? 0 : -1;
    });
    const { line } = this.rowAt(this.opened);
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: 'nearest' });
    this.ridge.replaceChildren();
    this.ridgeAsked = 0;
    this.drawDetail();
  }

  private drawDetail(): void {
    const { flow, opened: i } = this;
    if (!flow) return;
    if (i < 0)
      return this.detail.replaceChildren(
        h('p', { class: 'tl-muted' }, 'Choose a parameter to see its numbers.'),
      );
    const percent = (level: number | undefined) => {
      const value = normOf(level ?? LEVELS.none);
      return value === null ? 'not looked at yet' : `${Number((value * 100).toPrecision(2))}%`;
    };
    const level = this.last?.levels[i] ?? LEVELS.none;
    const kind = FINDINGS[flow.looks[i] - 1];
    const lines = [
      `gradient ${WORDS.get(level) ?? short(normOf(level))}, weights ${short(normOf(flow.weight[i] ?? LEVELS.none))}`,
      `last update: ${percent(flow.update[i])} of the weights`,
      `signs that changed: ${percent(flow.flips[i])}`,
    ];
    this.detail.replaceChildren(
      h('h4', {}, `${flow.names[i]} ${flow.shapes[i]}${kind ? `: ${kind}` : ''}`),
      ...lines.map(line => h('p', {}, line)),
    );
    void this.askRidge(i);
  }

  private async askRidge(at: number): Promise<void> {
    const now = performance.now();
    if (this.ridgeAsked && now - this.ridgeAsked < SLOW) return;
    this.ridgeAsked = now;
    try {
      const { ridge } = await this.client.request<{ ridge: Ridge }>('ridge', { parameter: at });
      if (at === this.opened && !this.stopped) this.ridge.replaceChildren(ridgeFigure(ridge));
    } catch (error) {
      if (!this.stopped) this.ridge.replaceChildren(h('p', { class: 'tl-muted' }, (error as Error).message));
    }
  }

  private card(found: Finding): HTMLElement {
    const at = this.flow!.names.indexOf(found.name);
    const name = `${found.name}${found.others ? ` and ${found.others.toLocaleString('en')} more` : ''}`;
    const head = h('strong', {}, icon(MARKS[found.kind] ?? 'close', 12), ` ${name}`);
    const open = h('button', { type: 'button', class: 'tl-link', title: 'Show its numbers' }, head);
    open.addEventListener('click', () => this.open(at));
    return h(
      'div',
      { class: 'tl-finding', 'data-kind': found.kind, 'data-name': found.name },
      at < 0 ? head : open,
      h('p', {}, `${found.kind} since step ${found.since}: ${found.what}. ${found.attempt}`),
    );
  }

  private drawLoss(): void {
    const shown = this.steps.slice(-SHOWN);
    const known = shown.map(({ loss }, at) => ({ loss, at })).filter(({ loss }) => loss !== null);
    const values = known.map(({ loss }) => loss!);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const points = known.map(
      ({ loss, at }) =>
        `${(at / Math.max(1, shown.length - 1)) * 120},${38 - ((loss! - low) / (high - low || 1)) * 36}`,
    );
    const label = values.length
      ? `loss from ${short(values[0])} to ${short(values[values.length - 1])}`
      : 'no loss was logged; call view.log(loss)';
    this.loss.setAttribute('aria-label', label);
    const line = svg('polyline', {
      points: points.join(' '),
      fill: 'none',
      stroke: 'var(--tl-accent)',
      'stroke-width': 1.2,
      'vector-effect': 'non-scaling-stroke',
    });
    this.loss.replaceChildren(line);
  }
}
