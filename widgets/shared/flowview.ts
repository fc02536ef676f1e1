// The gradient flow instrument: parameters in model order, steps to the right, the latest norm as a bar, and what needs a look.
import { button, type Key } from './controls';
import { h, setText, svg, type Undo } from './dom';
import { exporterOf } from './export';
import { short } from './format';
import { Frame } from './frame';
import { icon } from './icons';
import { Client, type Transport } from './protocol';
import type { Finding, FlowDocument } from './snapshot';
import { readTokens, watchTheme } from './theme';

/** Viridis, low to high. */
const SCALE = [
  '#440154', '#482475', '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26', '#fde725',
]; // prettier-ignore
const WORDS = ['none', 'zero', '', 'NaN/Inf'];
const SHOWN = 120;
const KEPT = 600;
const QUICK = 100;
const SLOW = 1000;

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

class FlowView {
  readonly frame: Frame;
  private flow: FlowDocument | null = null;
  private rows: Row[] = [];
  private timer = 0;
  private pause = SLOW;
  private paused = false;
  private stopped = false;
  private visible = true;
  private opened = -1;
  private readonly pauseButton: HTMLButtonElement;
  private readonly table = h('table', { class: 'tl-flow', 'data-testid': 'tl-flow-table' });
  private readonly look = h('div', { 'data-testid': 'tl-findings' });
  private readonly detail = h('div', { 'data-testid': 'tl-flow-detail', 'aria-live': 'polite' });
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
      { name: 'ArrowDown', does: 'the next parameter', run: () => this.open(this.opened + 1) },
      { name: 'ArrowUp', does: 'the parameter before', run: () => this.open(this.opened - 1) },
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
    this.frame.controls.prepend(this.pauseButton);
    this.frame.undos.add(watchTheme(() => this.draw()));
    const seen = new IntersectionObserver(entries => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) this.soon(0);
    });
    seen.observe(this.frame.root);
    this.frame.undos.add(() => seen.disconnect());
    this.frame.undos.on(this.table, 'click', event => {
      const line = (event.target as Element).closest<HTMLElement>('tr[data-at]');
      if (line) this.open(Number(line.dataset.at));
    });
  }

  begin(flow: FlowDocument): void {
    this.flow = flow;
    const head = h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { class: 'tl-name' }, 'parameter'),
        h('th', {}, h('span', { 'data-steps': '' })),
        h('th', { class: 'tl-now' }, 'gradient norm, log scale'),
      ),
    );
    this.rows = flow.names.map((name, i) => this.row(name, flow.shapes[i], i));
    this.table.replaceChildren(head, h('tbody', {}, ...this.rows.map(row => row.line)));
    const scale = h('div', { style: `background: linear-gradient(to right, ${SCALE.join(', ')})` });
    this.frame.main.replaceChildren(
      this.table,
      h('div', { class: 'tl-scale' }, this.ends[0], scale, this.ends[1]),
    );
    this.frame.aside.replaceChildren(
      h('h4', {}, 'Needs a look'),
      this.look,
      this.detail,
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
      { 'data-at': at, tabindex: at === 0 ? 0 : -1, 'data-name': name },
      h('td', { class: 'tl-cut', title: `${name} ${shape}` }, name),
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
    const steps = this.flow!.steps;
    try {
      const { flow } = await this.client.request<{ flow: FlowDocument }>('steps', {
        since: steps[steps.length - 1] ?? -1,
      });
      if (this.stopped) return;
      const news = flow.steps.length > 0 || flow.attached !== this.flow!.attached;
      this.merge(flow);
      if (news) this.draw();
      this.pause = news ? QUICK : Math.min(SLOW, this.pause * 1.5);
      this.frame.fail('');
    } catch (error) {
      this.frame.fail((error as Error).message);
      this.pause = SLOW;
    }
    this.soon(this.pause);
  }

  private merge(more: FlowDocument): void {
    const old = this.flow!;
    const keep = <T>(a: readonly T[], b: readonly T[]): T[] => [...a, ...b].slice(-KEPT);
    this.flow = {
      ...more,
      steps: keep(old.steps, more.steps),
      norm: old.norm.map((row, i) => keep(row, more.norm[i])),
      state: old.state.map((row, i) => keep(row, more.state[i])),
      loss: keep(old.loss, more.loss),
    };
  }

  private toggle(): void {
    this.paused = !this.paused;
    setText(this.pauseButton.querySelector('.tl-label')!, this.paused ? 'Go on' : 'Hold');
    this.frame.root.dataset.held = String(this.paused);
    if (!this.paused) this.soon(0);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // ---- drawing -------------------------------------------------------------------------------------------------------

  private draw(): void {
    const flow = this.flow;
    if (!flow) return;
    const { frame } = this;
    const last = flow.steps.length - 1;
    frame.setTitle(
      flow.title || 'parameters',
      `${flow.attached ? 'live' : 'ended'} · ${last < 0 ? 'no steps yet' : `step ${flow.steps[last]}`}`,
    );
    frame.say(flow.sentence);
    frame.root.dataset.step = String(flow.steps[last] ?? -1);
    const [low, high] = span(flow);
    setText(this.ends[0], `1e${low}`);
    setText(this.ends[1], `1e${high}`);
    const first = Math.max(0, flow.steps.length - SHOWN);
    const steps = this.table.querySelector('[data-steps]')!;
    setText(steps, last < 0 ? 'steps' : `step ${flow.steps[first]} to ${flow.steps[last]}`);
    const looks = new Map(flow.findings.map(found => [found.name, found]));
    const tokens = readTokens(frame.root);
    this.rows.forEach((row, i) => {
      this.drawHeat(row.heat, flow, i, first, low, high, tokens);
      const norm = flow.norm[i][last] ?? null;
      const state = flow.state[i][last] ?? 0;
      const part = norm ? Math.max(0.02, (Math.log10(norm) - low) / (high - low)) : 0;
      row.fill.style.width = `${part * 100}%`;
      row.level.classList.toggle('tl-empty-level', !norm);
      row.level.classList.toggle('tl-look', looks.has(flow.names[i]));
      setText(row.words, `${WORDS[state] || short(norm)}${looks.has(flow.names[i]) ? ' !' : ''}`);
    });
    this.look.replaceChildren(
      ...(flow.findings.length ? flow.findings.map(card) : [h('p', { class: 'tl-muted' }, 'Nothing.')]),
    );
    this.drawDetail(flow);
    this.drawLoss(flow, first);
    frame.drawn();
  }

  private drawHeat(
    canvas: HTMLCanvasElement,
    flow: FlowDocument,
    i: number,
    first: number,
    low: number,
    high: number,
    tokens: { readonly muted: string; readonly warn: string; readonly edge: string },
  ): void {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth * ratio;
    const height = canvas.clientHeight * ratio;
    if (!width) return;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext('2d')!;
    context.clearRect(0, 0, width, height);
    const count = flow.steps.length - first;
    const wide = Math.min(width / Math.max(count, 1), 14 * ratio);
    for (let j = 0; j < count; j++) {
      const norm = flow.norm[i][first + j];
      const state = flow.state[i][first + j];
      const x = j * wide;
      if (state === 2 && norm) {
        const at = (Math.log10(norm) - low) / (high - low);
        context.fillStyle =
          SCALE[Math.min(SCALE.length - 1, Math.max(0, Math.round(at * (SCALE.length - 1))))];
        context.fillRect(x, 2 * ratio, Math.max(wide - ratio, 1), height - 4 * ratio);
      } else if (state === 1) {
        context.fillStyle = tokens.edge;
        context.fillRect(x + wide / 2 - ratio, height / 2 - ratio, 2 * ratio, 2 * ratio);
      } else {
        context.strokeStyle = state === 3 ? tokens.warn : tokens.muted;
        context.lineWidth = ratio;
        context.setLineDash(state === 3 ? [] : [ratio, 2 * ratio]);
        context.strokeRect(x + ratio / 2, 3.5 * ratio, Math.max(wide - 2 * ratio, 1), height - 7 * ratio);
        if (state === 3) {
          context.beginPath();
          context.moveTo(x, 3 * ratio);
          context.lineTo(x + wide - ratio, height - 3 * ratio);
          context.stroke();
        }
      }
    }
    context.setLineDash([]);
  }

  private open(at: number): void {
    if (!this.rows.length) return;
    this.opened = Math.max(0, Math.min(at, this.rows.length - 1));
    this.rows.forEach(({ line }, i) => {
      line.classList.toggle('tl-opened', i === this.opened);
      line.tabIndex = i === this.opened ? 0 : -1;
    });
    this.rows[this.opened].line.focus({ preventScroll: false });
    this.drawDetail(this.flow!);
  }

  private drawDetail(flow: FlowDocument): void {
    const i = this.opened;
    if (i < 0)
      return this.detail.replaceChildren(
        h('p', { class: 'tl-muted' }, 'Choose a parameter to see its numbers.'),
      );
    const percent = (value: number | null) =>
      value === null ? 'not looked at yet' : `${(value * 100).toPrecision(2)}%`;
    this.detail.replaceChildren(
      h('h4', {}, `${flow.names[i]} ${flow.shapes[i]}`),
      h(
        'p',
        {},
        `gradient ${short(flow.norm[i][flow.steps.length - 1] ?? null)}, weights ${short(flow.weight[i])}`,
      ),
      h('p', {}, `last update: ${percent(flow.update[i])} of the weights`),
      h('p', {}, `signs that changed: ${percent(flow.flips[i])}`),
    );
  }

  private drawLoss(flow: FlowDocument, first: number): void {
    const known = flow.loss
      .slice(first)
      .map((value, at) => ({ value, at }))
      .filter(({ value }) => value !== null);
    const values = known.map(({ value }) => value!);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const points = known.map(
      ({ value, at }) =>
        `${(at / Math.max(1, flow.steps.length - first - 1)) * 120},${38 - ((value! - low) / (high - low || 1)) * 36}`,
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

function span(flow: FlowDocument): [number, number] {
  const known = flow.norm.flatMap(row => row.filter((norm): norm is number => !!norm)).map(Math.log10);
  if (!known.length) return [-6, 0];
  let low = Infinity;
  let high = -Infinity;
  for (const value of known) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
}

function card(found: Finding): HTMLElement {
  return h(
    'div',
    { class: 'tl-finding', 'data-kind': found.kind, 'data-name': found.name },
    h(
      'strong',
      {},
      icon(found.kind === 'exploded' ? 'up' : found.kind === 'vanished' ? 'down' : 'close', 12),
      ` ${found.name}`,
    ),
    h('p', {}, `${found.kind} since step ${found.since}: ${found.what}. ${found.attempt}`),
  );
}
