// A recorded backward pass that answers as a session does, so that the stepper plays it without a kernel.
import type { Request, Transport } from './protocol';
import { groupToLeave, hasLeft, stopsAt } from './recordedstops';
import {
  STATES,
  type Changes,
  type Graph,
  type NodeDetail,
  type Reason,
  type SessionState,
  type Stopped,
} from './snapshot';
import type { Predicate } from './asking';

export interface Recording {
  readonly schema: string;
  readonly state: SessionState;
  readonly steps: readonly Stopped[];
  readonly details: Readonly<Record<string, NodeDetail>>;
  readonly total: number;
}

const [IDLE, WAITING, CURRENT, DONE] = ['idle', 'waiting', 'current', 'done'].map(name =>
  STATES.indexOf(name as (typeof STATES)[number]),
);

interface Node {
  state: number;
  norm: number | null;
}

/** Where every node stands after a number of steps, and what moved along the edges. */
interface Moment {
  readonly nodes: Map<number, Node>;
  readonly flow: Map<number, number | null>;
}

export function recordedTransport(recording: Recording): Transport {
  const session = new RecordedSession(recording);
  return {
    send: request => session.receive(request),
    onMessage: callback => {
      session.listeners.add(callback);
      return () => session.listeners.delete(callback);
    },
  };
}

class Declined extends Error {}

class RecordedSession {
  readonly listeners = new Set<(message: unknown) => void>();
  private step = 0;
  private breaks: readonly number[] = [];
  private predicates: readonly Predicate[] = [];
  private together = false;
  private readonly stops: readonly Stopped[];

  constructor(private readonly recording: Recording) {
    this.stops = [recording.state.stopped, ...recording.steps];
  }

  receive({ seq, command, arguments: given }: Request): void {
    const answer = {
      type: 'response',
      seq,
      command,
      success: true,
      message: null as string | null,
      body: null as unknown,
    };
    try {
      answer.body = this.answer(command, given);
    } catch (error) {
      answer.success = false;
      answer.message = (error as Error).message;
    }
    queueMicrotask(() => this.listeners.forEach(listener => listener(answer)));
  }

  private answer(command: string, given: Record<string, unknown>): unknown {
    const last = this.stops.length - 1;
    const count = typeof given.count === 'number' ? given.count : 1;
    switch (command) {
      case 'initialize':
        return { ...this.recording.state, stopped: this.at('entry'), blocking: false };
      case 'next':
        if (given.granularity === 'module') return this.leave(false, given);
        return this.go(Math.min(this.step + count, last), 'step', given);
      case 'stepIn':
        return this.go(Math.min(this.step + 1, last), 'step', given);
      case 'stepOut':
        return this.leave(true, given);
      case 'stepBack':
        return this.go(Math.max(this.step - count, 0), 'back', given);
      case 'goTo':
        return this.go(Math.max(0, Math.min(Number(given.step), last)), 'goto', given);
      case 'restart':
        return this.go(0, 'entry', given);
      case 'finish':
        return this.go(last, 'done', given);
      case 'runTo':
        return this.go(this.before(Number(given.node)), 'goto', given);
      case 'continue':
        return this.proceed(given);
      case 'setBreakpoints':
        this.breaks = (given.nodes as number[]) ?? [];
        this.predicates = (given.predicates as Predicate[]) ?? [];
        this.together = given.together === true;
        return { nodes: this.breaks, predicates: this.predicates, together: this.together };
      case 'inspect':
        return this.detail(Number(given.node));
      case 'disconnect':
        return {};
      default:
        throw new Declined('This is a recording: it can be walked through, not changed.');
    }
  }

  private before(node: number): number {
    const at = this.stops.findIndex(stop => stop.node === node);
    if (at < 0) throw new Declined('This node is no part of the recorded pass.');
    return at;
  }

  private get graph(): Graph {
    return this.recording.state.graph;
  }

  private proceed(given: Record<string, unknown>): unknown {
    const last = this.stops.length - 1;
    const moment = this.moment(0);
    const hits = { count: 0 };
    for (let step = 0; step < last; step++) {
      if (step) advance(moment, this.stops[step].changes);
      const { node: id } = this.stops[step];
      const waiting = { node: this.graph.nodes.id.indexOf(id), norm: moment.nodes.get(id)?.norm ?? null };
      const met = stopsAt(this.graph, this.predicates, this.together, waiting, hits);
      if (step <= this.step) continue;
      if (this.breaks.includes(id)) return this.go(step, 'breakpoint', given);
      if (met) return this.go(step, 'predicate', given);
    }
    return this.go(last, 'done', given);
  }

  /** Steps over the module of the next node, or out of the one around it. */
  private leave(out: boolean, given: Record<string, unknown>): unknown {
    const { graph } = this;
    const last = this.stops.length - 1;
    const at = (step: number) => graph.nodes.id.indexOf(this.stops[step].node);
    const group = groupToLeave(graph, at(this.step), out);
    if (group < 0 && out) throw new Declined('This node is in no module inside another.');
    if (group < 0) return this.go(Math.min(this.step + 1, last), 'step', given);
    let step = this.step + 1;
    while (step < last && !hasLeft(graph, at(step), group)) step++;
    return this.go(Math.min(step, last), 'step', given);
  }

  private go(step: number, reason: Reason, given: Record<string, unknown>): unknown {
    this.step = step;
    const stopped = this.at(step === this.stops.length - 1 ? this.stops[step].reason : reason);
    const wanted = given.inspect === true ? stopped.node : given.inspect;
    if (typeof wanted !== 'number' || wanted < 0) return stopped;
    return { ...stopped, detail: this.recording.details[wanted] ? this.detail(wanted) : null };
  }

  private moment(step: number): Moment {
    const moment: Moment = { nodes: new Map(), flow: new Map() };
    for (const { changes } of this.stops.slice(0, step + 1)) advance(moment, changes);
    return moment;
  }

  /** Where the pass stands, told in full: a reader may come from anywhere. */
  private at(reason: Reason): Stopped {
    const stop = this.stops[this.step];
    const { nodes, flow } = this.moment(this.step);
    const first = this.recording.state.stopped;
    const ids = this.recording.state.graph.nodes.id;
    const standing = Array.from(ids, id => nodes.get(id) ?? { state: IDLE, norm: null });
    const known = Array.from(ids, (id, i) => ({ id, ...standing[i] }));
    const changes: Changes = {
      node: known.map(({ id }) => id),
      state: known.map(({ state }) => state),
      norm: known.map(({ norm }) => norm),
      edge: [...flow.keys()],
      flow: [...flow.values()],
    };
    return { ...stop, reason, order: first.order, upcoming: first.upcoming, changes };
  }

  /** What was known of a node, as far as it had come by now. */
  private detail(id: number): NodeDetail {
    const whole = this.recording.details[id];
    if (!whole)
      throw new Declined('The recording holds no details of this node: it keeps those of the first 400.');
    const { nodes } = this.moment(this.step);
    const state = nodes.get(id)?.state ?? IDLE;
    const shown = (role: string) =>
      state === DONE || ((state === WAITING || state === CURRENT) && role === 'incoming');
    const neighbours = whole.neighbours.map(each => ({
      ...each,
      state: STATES[nodes.get(each.id)?.state ?? IDLE],
    }));
    const gradients = whole.gradients.filter(({ role }) => shown(role));
    return { ...whole, state: STATES[state], gradients, neighbours };
  }
}

function advance({ nodes, flow }: Moment, changes: Changes): void {
  changes.node.forEach((id, k) => nodes.set(id, { state: changes.state[k], norm: changes.norm[k] }));
  changes.edge.forEach((edge, k) => flow.set(edge, changes.flow[k]));
}
