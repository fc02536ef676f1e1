// The stepper: a backward pass that waits. Every key is a request; what comes back is where the run stands.
import './theme.css';
import type { Editing, Paging } from './arrays';
import { Conditions } from './conditions';
import { button, enable } from './controls';
import { h, Undos, type Undo } from './dom';
import { exporterOf, type Exporter } from './export';
import { inspect } from './inspector';
import { runOverview } from './overview';
import { Client, Refused, type Transport } from './protocol';
import { Questions } from './questions';
import {
  applyBreakpoints,
  applyStopped,
  closeRun,
  CURRENT,
  DONE,
  isOver,
  startRun,
  statusOf,
  WAITING,
  type Run,
} from './run';
import type { Item } from './scene';
import { Scrubber } from './scrubber';
import type { ArrayWindow, GradientSlot, NodeDetail, SessionState, Site, Stopped } from './snapshot';
import type { Breakpoints, Predicate, Watches } from './asking';
import { enableButtons, stepButtons, stepKeys, type StepActions, type StepButtons } from './stepcontrols';
import { Viewer } from './viewer';

export interface StepperOptions {
  /** Where exported pictures come from, if not from the session. */
  exporter?: Exporter;
  /** Opens a place in the code. */
  openSite?(site: Site): void;
  /** Takes the height of its container, as in a panel. */
  fill?: boolean;
}

/** Opens the session behind `transport` in an element; returns the undo, which leaves nothing behind. */
export function mountStepper(element: HTMLElement, transport: Transport, options: StepperOptions = {}): Undo {
  return new Stepper(element, transport, options).undo;
}

/** Why a session is over, from its `closed` event. */
const closing = (body: unknown) => {
  const message = (body as { message?: string } | null)?.message ?? '';
  if (!message) return 'Closed.';
  const said = /\bclosed\b/i.test(message);
  return said ? `${message[0].toUpperCase()}${message.slice(1)}.` : `Closed: ${message}.`;
};

const LINES_KEPT = 200;
/** Milliseconds after which a move that has not ended can be stopped. */
const LONG = 400;

class Stepper {
  private readonly client: Client;
  private readonly viewer: Viewer;
  private readonly scrubber: Scrubber;
  private readonly conditions: Conditions;
  private readonly undos = new Undos();
  private readonly questions: Questions;
  private readonly buttons: StepButtons;
  private readonly output = h('pre', { class: 'tl-output', 'data-testid': 'tl-output', hidden: true });
  private run: Run | null = null;
  /** Details that hold at this step, by node id. */
  private details = new Map<number, Promise<NodeDetail>>();
  /** By node id: where the grids of its arrays stand that somebody has moved. */
  private readonly windows = new Map<number, Record<string, readonly number[]>>();
  /** Steps asked for while an answer is awaited: forward positive, back negative. */
  private queued = 0;
  private busy = false;
  private wishes = 0;
  private stale = false;

  constructor(
    element: HTMLElement,
    private readonly transport: Transport,
    private readonly options: StepperOptions,
  ) {
    this.client = new Client(transport, {
      event: (name, body) => this.event(name, body),
      broken: error => this.viewer.fail(`A message from Python could not be read: ${error.message}`),
    });
    this.viewer = new Viewer(element, {
      testid: 'tl-stepper',
      what: 'backward',
      keys: stepKeys(this.acts()),
      fill: options.fill,
      exporter: options.exporter ?? exporterOf(this.client),
      least: 430,
      detailOf: node => this.detailOf(node),
      opened: () => this.inspect(false),
      breakAt: node => void this.toggleBreak(node),
      seen: () => {
        if (this.stale) this.inspect(true);
      },
    });
    this.scrubber = new Scrubber(this.viewer.root, step => this.goTo(step));
    this.questions = new Questions(
      this.client,
      () => this.viewer,
      () => this.run,
      ({ watches }) => this.run && this.setRun({ ...this.run, watches }),
      (command, error) => this.refused(command, error),
    );
    this.conditions = new Conditions(
      (predicates, together) => void this.setBreaks(this.run?.breaks ?? new Set(), predicates, together),
      () => void this.setBreaks(new Set(), this.run?.predicates ?? []),
      () => this.viewer.focus(),
    );
    this.buttons = stepButtons(this.acts());
    const { restart, back, next, over, out, continue: go, finish, stop, watch } = this.buttons;
    const { button: conditions, panel } = this.conditions;
    this.viewer.controls.prepend(restart, back, next, over, out, go, finish, stop, conditions, watch);
    this.viewer.root.append(panel);
    this.viewer.showTime(this.scrubber.element);
    const { sheet, watches } = this.questions;
    this.viewer.foot.before(sheet.element, watches.element, this.output);
    this.undos.add(() => this.client.close(), this.viewer.undo, this.scrubber.undo, this.conditions.undo);
    this.undos.add(watches.undo);
    enableButtons(this.buttons, null);
    enable(conditions, false);
    stop.hidden = true;
    this.keepMenuAway();
    this.start();
  }

  readonly undo = (): void => {
    // A cell that waits for this run must not wait for a view that is gone.
    if (this.run?.blocking && this.transport.isLast?.() !== false)
      this.client.request('disconnect').catch(() => undefined);
    this.undos.undo();
    this.run = null;
  };

  /** Asks for the run until there is an answer: the first request may have gone to a thread that a waiting cell blocks. */
  private opened(): Promise<SessionState> {
    let timer = 0;
    this.undos.add(() => clearTimeout(timer));
    return new Promise<SessionState>((resolve, reject) => {
      const ask = (patience: number) => {
        this.client.request<SessionState>('initialize').then(resolve, reject);
        if (patience < 10_000) timer = window.setTimeout(() => ask(2 * patience), patience);
      };
      ask(500);
    }).finally(() => clearTimeout(timer));
  }

  private start(): void {
    this.opened()
      .then(state => {
        this.run = startRun(state);
        const { graph } = state;
        this.conditions.offer(graph);
        this.viewer.setTitle(graph.title);
        this.viewer.setGraph(graph, this.run, this.run.current < 0 ? null : this.run.current);
        if (state.closed) this.run = closeRun(this.run, closing({ message: state.closed }));
        this.show();
      })
      .catch((error: Error) => this.viewer.giveUp(`This run could not be shown: ${error.message}`));
  }

  private acts(): StepActions {
    return {
      ask: (command, given) => this.ask(command, given),
      step: by => this.step(by),
      runToTarget: () => this.runTo(this.target()),
      toggleBreak: () => void this.toggleBreak(this.target()),
      edit: () => this.edit(),
      editAll: () => this.editAll(),
      compare: () => void this.questions.compare(),
      check: () => void this.questions.check(this.target()),
      watch: () => this.questions.watches.open(),
      pause: () => this.pause(),
    };
  }

  /** Shift+F10 is also the browser's key for its menu. */
  private keepMenuAway(): void {
    let until = 0;
    this.undos.on(
      this.viewer.root,
      'keydown',
      event => {
        if (event.key === 'F10' && event.shiftKey) until = performance.now() + 400;
      },
      { capture: true },
    );
    this.undos.on(this.viewer.root, 'contextmenu', event => {
      if (performance.now() < until) event.preventDefault();
    });
  }

  private event(name: string, body: unknown): void {
    if (!this.run) return;
    if (name === 'stopped') this.arrive(body as Stopped);
    else if (name === 'breakpoints') this.setRun(applyBreakpoints(this.run, body as Breakpoints));
    else if (name === 'watches') this.setRun({ ...this.run, watches: (body as Watches).watches });
    else if (name === 'closed') this.setRun(closeRun(this.run, closing(body)));
    else if (name === 'output') this.print((body as { text?: string } | null)?.text ?? '');
  }

  private print(text: string): void {
    if (!text) return;
    const lines = (this.output.textContent + text).split('\n').slice(-LINES_KEPT);
    this.output.textContent = lines.join('\n');
    this.output.hidden = false;
    this.output.scrollTop = this.output.scrollHeight;
  }

  // ---- moving ---------------------------------------------------------------------------------------------------------

  /** Steps that are asked for faster than they are answered travel together. */
  private step(by: 1 | -1): void {
    if (!this.run || this.run.closed) return;
    this.queued += by;
    if (!this.busy) void this.walk();
  }

  private async walk(): Promise<void> {
    this.busy = true;
    while (this.queued !== 0 && this.run) {
      const { queued, run } = this;
      this.queued = 0;
      if (queued > 0 ? isOver(run) : run.step === 0) break;
      await this.move(queued > 0 ? 'next' : 'stepBack', { count: Math.abs(queued) });
    }
    this.queued = 0;
    this.busy = false;
  }

  private ask(command: string, parameters: Record<string, unknown> = {}): void {
    if (this.run && !this.run.closed) void this.move(command, parameters);
  }

  private goTo(step: number): Promise<void> {
    return this.run ? this.move('goTo', { step }) : Promise.resolve();
  }

  private runTo(node: number): void {
    if (!this.run || node < 0 || this.run.closed) return;
    const step = this.run.schedule.indexOf(node);
    if (step < 0) this.viewer.say('No gradient goes to this node in this run.');
    else if (step < this.run.step) void this.goTo(step);
    else void this.move('runTo', { node: this.idOf(node) });
  }

  /** Sends a move. The answer brings what is to be seen of the node where it stops. */
  private async move(command: string, parameters: Record<string, unknown>): Promise<void> {
    const inspect = this.viewer.picture.visible;
    const long = window.setTimeout(() => this.takesLong(true), LONG);
    try {
      const stopped = await this.client.request<Stopped>(command, { ...parameters, inspect });
      this.viewer.fail(null);
      this.arrive(stopped);
    } catch (error) {
      this.refused(command, error as Error);
    } finally {
      clearTimeout(long);
      this.takesLong(false);
    }
  }

  private takesLong(long: boolean): void {
    this.buttons.stop.hidden = !long;
    if (long) this.viewer.say('Still running. Stop (s) ends it, and so does interrupting the kernel.');
  }

  /** Asks for a stop before the next node; Python interrupts a hook that does not come back. */
  private pause(): void {
    if (this.run && !this.run.closed) this.client.request('pause').catch(() => undefined);
  }

  private refused(command: string, error: Error): void {
    this.queued = 0;
    this.viewer.fail(error instanceof Refused ? error.message : `${command} failed: ${error.message}`);
  }

  private arrive(stopped: Stopped): void {
    if (!this.run) return;
    try {
      const run = applyStopped(this.run, stopped);
      this.details.clear();
      if (stopped.detail) this.details.set(stopped.detail.id, Promise.resolve(stopped.detail));
      // A move is about where the run stands now: what was opened before steps back.
      if (stopped.reason !== 'edited') {
        this.viewer.selected = null;
        this.viewer.tree.cursor = null;
      }
      this.setRun(run);
      if (run.reason === 'exception') this.viewer.fail(run.sentence);
      this.questions.tellOfEdits(run);
      if (run.current >= 0) this.viewer.picture.reveal(run.current);
    } catch (error) {
      this.viewer.fail(`A message from Python could not be shown: ${(error as Error).message}`);
    }
  }

  private setRun(run: Run): void {
    this.run = run;
    this.viewer.setRun(run);
    this.show();
  }

  private show(): void {
    const run = this.run!;
    const { dataset } = this.viewer.root;
    dataset.step = String(run.step);
    dataset.current = run.current < 0 ? '' : String(this.idOf(run.current));
    dataset.reason = run.closed ? 'closed' : run.reason;
    this.viewer.root.classList.toggle('tl-closed', run.closed);
    this.viewer.setStatus(statusOf(run) + (run.blocking && !isOver(run) ? ' · a cell waits' : ''));
    this.viewer.say(run.sentence);
    enableButtons(this.buttons, run);
    enable(this.conditions.button, !run.closed);
    this.conditions.show(run.predicates, run.breaks.size, run.together);
    this.questions.watches.show(run.watches);
    this.scrubber.show(run);
    this.inspect(true);
  }

  // ---- breakpoints ----------------------------------------------------------------------------------------------------

  private toggleBreak(node: number): Promise<void> {
    if (!this.run || node < 0) return Promise.resolve();
    const breaks = new Set(this.run.breaks);
    if (!breaks.delete(node)) breaks.add(node);
    return this.setBreaks(breaks, this.run.predicates);
  }

  private async setBreaks(
    nodes: ReadonlySet<number>,
    predicates: readonly Predicate[],
    together = this.run?.together ?? false,
  ): Promise<void> {
    if (!this.run || this.run.closed) return;
    const ids = [...nodes].map(node => this.idOf(node));
    // Only the answer to the latest wish is shown: an earlier one would take a tick away for a moment.
    const wish = ++this.wishes;
    try {
      const answer = await this.client.request<Breakpoints>('setBreakpoints', {
        nodes: ids,
        predicates,
        together,
      });
      this.viewer.fail(null);
      if (this.run && wish === this.wishes) this.setRun(applyBreakpoints(this.run, answer));
    } catch (error) {
      this.conditions.show(this.run.predicates, this.run.breaks.size, this.run.together);
      this.refused('setBreakpoints', error as Error);
    }
  }

  // ---- the inspector --------------------------------------------------------------------------------------------------

  private idOf(node: number): number {
    return this.run!.graph.nodes.id[node];
  }

  /** The node that keys and actions are about: what is opened, else where the run stands. */
  private target(): number {
    const { selected } = this.viewer;
    if (selected !== null) return selected;
    return this.run?.current ?? -1;
  }

  private detailOf(node: number): Promise<NodeDetail> | null {
    if (!this.run || this.run.closed) return null;
    const id = this.idOf(node);
    let detail = this.details.get(id);
    if (!detail) {
      detail = this.client.request<NodeDetail>('inspect', { node: id, windows: this.windows.get(id) ?? {} });
      detail.catch(() => this.details.delete(id));
      this.details.set(id, detail);
    }
    return detail;
  }

  private inspect(same: boolean): void {
    const { run, viewer } = this;
    const { scene } = viewer;
    if (!run || !scene) return;
    const item = viewer.selected ?? run.current;
    if (viewer.selected === null && run.current < 0) {
      viewer.inspector.dataset.nodeId = '';
      return viewer.showInspector(
        runOverview(scene, run, to => viewer.open(to)),
        same,
      );
    }
    this.stale = !viewer.picture.visible;
    const asked = item >= 0 && !this.stale ? this.detailOf(item) : null;
    if (!asked) return this.fill(item, null, same);
    // Until the answer is here the last node stays in view, so that nothing flickers.
    const soon = window.setTimeout(() => this.run === run && this.fill(item, null, same), 120);
    asked
      .then(detail => {
        clearTimeout(soon);
        if (this.run !== run || (viewer.selected ?? run.current) !== item) return;
        this.fill(item, detail, same);
      })
      .catch((error: Error) => {
        clearTimeout(soon);
        if (this.run !== run) return;
        this.fill(item, null, same, error.message);
      });
  }

  private fill(item: Item, detail: NodeDetail | null, same: boolean, note = ''): void {
    const { viewer } = this;
    const run = this.run!;
    const opened = {
      scene: viewer.scene!,
      item,
      detail,
      note,
      state: item < 0 ? -1 : run.state[item],
      gradients: true,
      actions: item < 0 ? [] : this.actions(item, detail),
      editing: (slot: GradientSlot) => this.editing(item, slot),
      paging: (part: string) => this.paging(item, part),
      go: (to: Item) => viewer.open(to),
      openSite: this.options.openSite,
    };
    const id = item < 0 ? '' : String(this.idOf(item));
    const unmoved = same && viewer.inspector.dataset.nodeId === id;
    viewer.showInspector(inspect(opened), unmoved);
    viewer.inspector.dataset.nodeId = id;
    viewer.inspector.dataset.step = detail ? String(run.step) : '';
  }

  private canEdit(item: Item): boolean {
    const state = this.run?.state[item];
    return !this.run?.closed && (state === WAITING || state === CURRENT);
  }

  private editing(item: Item, slot: GradientSlot): Editing | null {
    if (slot.role !== 'incoming' || item < 0 || !this.canEdit(item)) return null;
    const set = async (index: readonly number[], value: number | string) => {
      const node = this.idOf(item);
      const seen = { inspect: node, windows: this.windows.get(node) ?? {} };
      const request = { node, output: slot.output, index, value, ...seen };
      this.arrive(await this.client.request<Stopped>('setGradient', request));
    };
    const setAll = async (expression: string) => {
      const node = this.idOf(item);
      const seen = { inspect: node, windows: this.windows.get(node) ?? {} };
      const request = { node, output: slot.output, expression, ...seen };
      this.arrive(await this.client.request<Stopped>('setExpression', request));
    };
    return { name: slot.name, set, setAll };
  }

  private paging(item: Item, part: string): Paging | null {
    if (item < 0 || this.run?.closed) return null;
    const node = this.idOf(item);
    return {
      part,
      load: start => this.client.request<ArrayWindow>('values', { node, part, start }),
      moved: start => {
        this.windows.set(node, { ...this.windows.get(node), [part]: start });
        // What is known of the node shows another part than the one that is looked at now.
        this.details.delete(node);
      },
    };
  }

  private edit(): void {
    const cell = this.viewer.inspector.querySelector<HTMLElement>(
      '[data-testid="tl-gradient-incoming"] .tl-cell',
    );
    if (!cell || !this.canEdit(this.target()))
      this.viewer.say('No gradient waits here that could be edited.');
    else cell.click();
  }

  private editAll(): void {
    const input = this.viewer.inspector.querySelector<HTMLElement>('[data-testid="tl-edit-expression"]');
    if (!input || !this.canEdit(this.target()))
      this.viewer.say('No gradient waits here that could be edited.');
    else input.focus({ preventScroll: false });
  }

  private actions(item: number, detail: NodeDetail | null): HTMLElement[] {
    const run = this.run!;
    const broken = run.breaks.has(item);
    const waits = detail?.gradients.some(slot => slot.role === 'incoming' && slot.preview) ?? false;
    const done = run.state[item] === DONE;
    const actions: HTMLElement[] = [];
    if (run.closed || !run.schedule.includes(item)) return actions;
    if (waits && this.canEdit(item))
      actions.push(
        button({ icon: 'pencil', label: 'Edit gradient', key: 'e', testid: 'tl-edit' }, () => this.edit()),
      );
    if (item !== run.current)
      actions.push(
        button(
          { icon: 'runTo', label: done ? 'Back to here' : 'Run to here', key: 'r', testid: 'tl-run-to' },
          () => this.runTo(item),
        ),
      );
    const label = broken ? 'Do not break here' : 'Break here';
    const look = { icon: 'octagon', label, key: 'b', testid: 'tl-break' } as const;
    const breakButton = button(look, () => void this.toggleBreak(item));
    breakButton.classList.add('tl-break');
    breakButton.setAttribute('aria-pressed', String(broken));
    actions.push(breakButton);
    if (run.edited.has(item))
      actions.push(
        button(
          { icon: 'changed', label: 'What changed', key: 'c', testid: 'tl-compare' },
          () => void this.questions.compare(),
        ),
      );
    actions.push(
      button(
        { icon: 'scale', label: 'Check backward', key: 'g', testid: 'tl-check' },
        () => void this.questions.check(item),
      ),
    );
    return actions;
  }
}
