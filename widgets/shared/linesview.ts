// The forward pass line by line: the line that runs is lit, what it makes appears, and its values stand beside it.
import './theme.css';
import './linesview.css';
import { arrayView } from './arrays';
import { CodePanel, marginOf, nameOf } from './codepanel';
import { button, enable, type Key } from './controls';
import { h, Undos, type Undo } from './dom';
import { exporterOf, type Exporter } from './export';
import { plural, short } from './format';
import { Client, Refused, type Transport } from './protocol';
import { CURRENT, IDLE, startRun, type Run } from './run';
import { GHOST, type Item } from './scene';
import { Scrubber } from './scrubber';
import type { ArrayPreview, LinesDocument } from './snapshot';
import { smallHeat } from './smallheat';
import { Viewer } from './viewer';

export interface LinesOptions {
  /** Where exported pictures come from, if not from the session. */
  exporter?: Exporter;
}

/** Opens a record of lines over a session; returns the undo, which leaves nothing behind. */
export function mountLines(element: HTMLElement, transport: Transport, options: LinesOptions = {}): Undo {
  const client = new Client(transport, {
    event: name => {
      if (name === 'closed') view.closed();
    },
    broken: error => view.viewer.fail(`A message from Python could not be read: ${error.message}`),
  });
  const view: LinesView = new LinesView(element, client, options.exporter ?? exporterOf(client));
  client
    .request<{ lines: LinesDocument }>('initialize')
    .then(({ lines }) => view.begin(lines))
    .catch((error: Error) => view.viewer.giveUp(`These lines could not be shown: ${error.message}`));
  return () => {
    client.close();
    view.undo();
  };
}

/** Values of one step that are shown closely. */
const SHOWN = 4;

class LinesView {
  readonly viewer: Viewer;
  private readonly code: CodePanel;
  private readonly scrubber: Scrubber;
  private readonly undos = new Undos();
  private readonly buttons: Record<'first' | 'back' | 'over' | 'into' | 'out', HTMLButtonElement>;
  private readonly looks = new Map<number, Promise<ArrayPreview>>();
  private lines: LinesDocument | null = null;
  private run: Run | null = null;
  /** Nodes that each step made or first used. */
  private made: number[][] = [];
  private step = 0;
  private opened: number | null = null;

  constructor(
    element: HTMLElement,
    private readonly client: Client,
    exporter: Exporter,
  ) {
    this.viewer = new Viewer(element, {
      testid: 'tl-lines',
      what: 'lines',
      keys: this.keys(),
      least: 430,
      exporter,
      detailOf: () => null,
      opened: item => this.open(item),
    });
    this.viewer.root.classList.add('tl-with-code');
    this.code = new CodePanel(
      step => this.goTo(step),
      (source, line) => this.goToLine(source, line),
    );
    this.viewer.picture.element.before(this.code.element);
    this.scrubber = new Scrubber(
      this.viewer.root,
      step => Promise.resolve(this.goTo(step)),
      step => (step < this.count ? this.where(step) : 'the end'),
    );
    this.viewer.showTime(this.scrubber.element);
    this.buttons = this.makeButtons();
    const { first, back, over, into, out } = this.buttons;
    this.viewer.controls.prepend(first, back, over, into, out);
    this.undos.add(this.viewer.undo, this.code.undo, this.scrubber.undo);
  }

  readonly undo: Undo = () => this.undos.undo();

  private keys(): Key[] {
    return [
      { name: 'F10', does: 'Next: the next line, past what it calls', run: () => this.goTo(this.over()) },
      {
        name: 'F11',
        does: 'Into: the next line that ran, wherever it is',
        run: () => this.goTo(this.step + 1),
      },
      { name: 'Shift+F11', does: 'Out: on where this function was called', run: () => this.goTo(this.out()) },
      { name: 'Shift+F10', does: 'Back: the line that ran before', run: () => this.goTo(this.step - 1) },
      { name: 'n', does: 'The next time that this line runs', run: () => this.again() },
    ];
  }

  private makeButtons() {
    const to = (step: () => number) => () => this.goTo(step());
    return {
      first: button(
        { icon: 'restart', label: 'First', testid: 'tl-first' },
        to(() => 0),
      ),
      back: button(
        { icon: 'back', label: 'Back', key: 'Shift+F10', testid: 'tl-back' },
        to(() => this.step - 1),
      ),
      over: button(
        { icon: 'next', label: 'Next', key: 'F10', testid: 'tl-next', primary: true },
        to(() => this.over()),
      ),
      into: button(
        { icon: 'into', label: 'Into', key: 'F11', testid: 'tl-into' },
        to(() => this.step + 1),
      ),
      out: button(
        { icon: 'out', label: 'Out', key: 'Shift+F11', testid: 'tl-out' },
        to(() => this.out()),
      ),
    };
  }

  private get count(): number {
    return this.lines!.steps.line.length;
  }

  begin(lines: LinesDocument): void {
    this.lines = lines;
    const { graph, values, steps, sentence, title } = lines;
    this.made = Array.from(steps.line, () => []);
    values.step.forEach((step, node) => this.made[step]?.push(node));
    this.viewer.setTitle(title);
    this.viewer.say(sentence);
    if (!this.count) return this.viewer.giveUp(sentence);
    this.code.setLines(lines);
    this.viewer.setGraph(
      { ...graph, sentence: graph.nodes.id.length ? '' : 'No line made a tensor.' },
      null,
      null,
    );
    this.run = scrubberRun(lines);
    // An error is what a person wants to see; else the whole, with its last line.
    const raised = steps.raised.lastIndexOf(1);
    this.goTo(lines.error && raised >= 0 ? raised : this.count - 1, false);
    this.viewer.say(sentence);
  }

  closed(): void {
    this.viewer.setStatus('closed');
  }

  // ---- where to ------------------------------------------------------------------------------------------------------

  private over(): number {
    const { depth } = this.lines!.steps;
    let step = this.step + 1;
    while (step < this.count && depth[step] > depth[this.step]) step++;
    return step;
  }

  private out(): number {
    const { depth } = this.lines!.steps;
    let step = this.step + 1;
    while (step < this.count && depth[step] >= depth[this.step]) step++;
    return step;
  }

  private again(): void {
    this.goToLine(this.lines!.steps.source[this.step], this.lines!.steps.line[this.step]);
  }

  /** The next time that a line runs; after the last time, the first. */
  private goToLine(source: number, line: number): void {
    const { steps } = this.lines!;
    const is = (step: number) =>
      steps.source[step] === source && steps.line[step] === line && !steps.back[step];
    for (let k = 1; k <= this.count; k++) {
      const step = (this.step + k) % this.count;
      if (is(step)) return this.goTo(step);
    }
  }

  private goTo(wanted: number, tell = true): void {
    if (!this.lines || !this.count) return;
    this.step = Math.max(0, Math.min(this.count - 1, wanted));
    this.opened = null;
    this.show();
    const made = this.lines.values.step.filter(step => step <= this.step).length;
    if (made) this.viewer.reveal(made - 1);
    if (tell) this.viewer.say(this.told(this.step));
  }

  /** A node was picked in the picture: the line that made it. */
  private open(item: Item | null): void {
    if (!this.lines || item === null || item < 0) return this.inspect();
    this.step = this.lines.values.step[item];
    this.opened = item;
    this.show();
    this.viewer.say(this.told(this.step));
  }

  // ---- showing -------------------------------------------------------------------------------------------------------

  private show(): void {
    const { lines, step, viewer } = this;
    const { values, steps } = lines!;
    const states = Uint8Array.from(values.step, made => (made < step ? IDLE : made > step ? GHOST : CURRENT));
    viewer.setStates(states);
    this.code.show(step);
    this.run = { ...this.run!, step, current: 0 };
    this.scrubber.show(this.run);
    viewer.setStatus(`step ${(step + 1).toLocaleString('en')} of ${this.count.toLocaleString('en')}`);
    const last = step === this.count - 1;
    enable(this.buttons.first, step > 0);
    enable(this.buttons.back, step > 0);
    enable(this.buttons.over, !last);
    enable(this.buttons.into, !last);
    enable(this.buttons.out, !last && steps.depth[step] > 0);
    Object.assign(viewer.root.dataset, {
      step: String(step),
      line: String(steps.line[step]),
      depth: String(steps.depth[step]),
      made: String(states.filter(state => state !== GHOST).length),
    });
    this.inspect();
  }

  private where(step: number): string {
    const { sources, steps } = this.lines!;
    const source = sources[steps.source[step]];
    const turn = steps.turn[step] > 1 ? `, time ${steps.turn[step]}` : '';
    const back = steps.back[step] ? ', back' : '';
    if (source.name === 'call') return `the call${back}`;
    return `${nameOf(source.name, source.function)}, line ${steps.line[step]}${turn}${back}`;
  }

  private codeOf(step: number): string {
    const { sources, steps } = this.lines!;
    const { text, first } = sources[steps.source[step]];
    const lines = text.slice(steps.line[step] - first, steps.last[step] - first + 1);
    const margin = marginOf(lines);
    return lines.map(line => line.slice(margin)).join('\n');
  }

  private textOf(index: number): string {
    return index < 0 ? '' : (this.lines!.strings[index] ?? '');
  }

  private nameOfNode(node: number): string {
    const { nodes, strings } = this.lines!.graph;
    return strings[nodes.label[node]] ?? strings[nodes.name[node]];
  }

  private shapeOf(node: number): string {
    const { nodes, strings } = this.lines!.graph;
    return strings[nodes.shape[node]];
  }

  /** One sentence: where, what was run, and what came of it. */
  private told(step: number): string {
    const { steps, values } = this.lines!;
    const code = this.codeOf(step).trim().split('\n')[0];
    const made = this.madeHere(step).map(node => {
      const mean = values.mean[node];
      const number =
        mean === null ? '' : this.shapeOf(node) === '[]' ? ` ${short(mean)}` : ` mean ${short(mean)}`;
      return `${this.nameOfNode(node)} ${this.shapeOf(node)}${number}`;
    });
    const few =
      made.length > 3
        ? `${plural(made.length, 'value')}, the last ${made[made.length - 1]}`
        : made.join(', ');
    const note = this.textOf(steps.note[step]);
    const came = steps.raised[step] ? `raised ${note}` : few ? `made ${few}` : note;
    return `${this.where(step)}: ${code}${came ? ` · ${came}` : ''}.`;
  }

  private madeHere(step: number): number[] {
    const { nodes, strings } = this.lines!.graph;
    return this.made[step].filter(node => strings[nodes.name[node]] !== 'input');
  }

  private inspect(): void {
    const { lines, step, viewer } = this;
    if (!lines) return;
    const { steps } = lines;
    const note = this.textOf(steps.note[step]);
    const printed = this.textOf(steps.printed[step]);
    const raised = steps.raised[step] === 1;
    const chosen = this.opened === null ? this.madeHere(step) : [this.opened];
    const given = this.opened === null ? this.made[step].filter(node => !chosen.includes(node)) : [];
    const head = h(
      'header',
      { class: 'tl-node' },
      h('strong', {}, steps.back[step] ? 'Back in the line' : 'The line'),
      h('span', { class: 'tl-muted' }, this.where(step)),
      h('pre', { class: 'tl-formula' }, this.codeOf(step)),
    );
    const parts = [
      head,
      raised
        ? h('p', { class: 'tl-note' }, note)
        : note && !chosen.length && h('p', { class: 'tl-muted' }, note),
      printed && h('section', {}, h('h4', {}, 'Printed'), h('pre', { class: 'tl-output' }, printed)),
      ...chosen.slice(-SHOWN).map(node => this.valueOf(node)),
      chosen.length > SHOWN &&
        h('p', { class: 'tl-muted' }, `and ${plural(chosen.length - SHOWN, 'more value')} before these`),
      ...given.slice(0, SHOWN).map(node => this.valueOf(node)),
    ];
    viewer.showInspector(
      parts.filter(part => part instanceof HTMLElement),
      false,
    );
  }

  private valueOf(node: number): HTMLElement {
    const { nodes, strings } = this.lines!.graph;
    const { values } = this.lines!;
    const operation = strings[nodes.name[node]];
    const name = this.nameOfNode(node);
    const kind = operation === 'input' ? 'from outside' : operation === name ? '' : operation;
    const title = h(
      'h4',
      { class: 'tl-slot' },
      h('code', {}, name),
      h('span', { class: 'tl-chip' }, `${this.shapeOf(node)} ${strings[nodes.dtype[node]]}`),
      kind ? h('span', { class: 'tl-muted' }, kind) : null,
    );
    const figures = (['mean', 'std', 'low', 'high'] as const).flatMap(figure =>
      values[figure][node] === null ? [] : [`${figure} ${short(values[figure][node])}`],
    );
    if (values.bad[node]) figures.push(`${values.bad[node].toLocaleString('en')} not finite`);
    const heat = this.textOf(values.heat[node]);
    const body = h(
      'div',
      {},
      heat ? smallHeat(heat) : null,
      h('p', { class: values.bad[node] ? 'tl-caption tl-wrong' : 'tl-caption' }, figures.join(' · ')),
    );
    this.lookAt(node)
      .then(look => body.isConnected && body.replaceChildren(arrayView(look, null)))
      .catch((error: Error) => {
        if (error instanceof Refused && body.isConnected) body.title = error.message;
      });
    return h('section', { 'data-testid': 'tl-value', 'data-node': node }, title, body);
  }

  private lookAt(node: number): Promise<ArrayPreview> {
    let look = this.looks.get(node);
    if (!look) {
      look = this.client.request<ArrayPreview>('value', { node });
      look.catch(() => this.looks.delete(node));
      this.looks.set(node, look);
      if (this.looks.size > 64) this.looks.delete(this.looks.keys().next().value!);
    }
    return look;
  }
}

/** What a scrubber needs to know of a record: a tick a step. */
function scrubberRun({ graph, steps }: LinesDocument): Run {
  const changes = { node: [], state: [], norm: [], edge: [], flow: [] };
  const stopped = {
    reason: 'entry' as const,
    step: 0,
    total: steps.line.length,
    node: -1,
    order: [],
    upcoming: [],
    edited: [],
    changes,
    histogram: [],
    sentence: '',
    watches: [],
    detail: null,
  };
  return startRun({
    schema: 'tensorlab.session/1',
    graph,
    stopped,
    breakpoints: { nodes: [], predicates: [], together: false },
    blocking: false,
    closed: '',
  });
}
