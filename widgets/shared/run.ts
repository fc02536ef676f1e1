// Where a run stands, as plain values: each answer from Python makes the next one from the last.
import { STATES, type Graph, type Reason, type SessionState, type Stopped } from './snapshot';
import type { Breakpoints, Predicate, Watched } from './asking';

export const IDLE = STATES.indexOf('idle');
export const WAITING = STATES.indexOf('waiting');
export const CURRENT = STATES.indexOf('current');
export const DONE = STATES.indexOf('done');
export const FREED = STATES.indexOf('freed');

export interface Run {
  readonly graph: Graph;
  /** Position of each node id. */
  readonly positions: ReadonlyMap<number, number>;
  /** Per node: index into STATES. */
  readonly state: Uint8Array;
  /** Per node: norm of the gradient that waits there; NaN when it is not finite, -1 when there is none. */
  readonly norm: Float64Array;
  /** Per edge: norm of the gradient that moved along it, likewise. */
  readonly flow: Float64Array;
  readonly reason: Reason;
  readonly step: number;
  readonly total: number;
  /** Position of the node that runs next, or -1. */
  readonly current: number;
  /** Positions in the order they run. */
  readonly schedule: Int32Array;
  readonly edited: ReadonlySet<number>;
  readonly breaks: ReadonlySet<number>;
  readonly predicates: readonly Predicate[];
  /** Conditions must hold together. */
  readonly together: boolean;
  readonly watches: readonly Watched[];
  readonly histogram: readonly number[];
  readonly sentence: string;
  readonly blocking: boolean;
  readonly closed: boolean;
}

function positionsOf(graph: Graph): Map<number, number> {
  const positions = new Map<number, number>();
  const { id } = graph.nodes;
  for (let i = 0; i < id.length; i++) positions.set(id[i], i);
  return positions;
}

export function startRun({ graph, stopped, breakpoints, blocking }: SessionState): Run {
  const n = graph.nodes.id.length;
  const run: Run = {
    graph,
    positions: positionsOf(graph),
    state: Uint8Array.from(graph.nodes.state),
    norm: new Float64Array(n).fill(-1),
    flow: new Float64Array(graph.edges.source.length).fill(-1),
    reason: 'entry',
    step: 0,
    total: 0,
    current: -1,
    schedule: new Int32Array(0),
    edited: new Set(),
    breaks: new Set(),
    predicates: [],
    together: false,
    watches: [],
    histogram: [],
    sentence: '',
    blocking,
    closed: false,
  };
  return applyBreakpoints(applyStopped(run, stopped), breakpoints);
}

/** The run after a step, or any other move. Ids that the graph does not hold are passed over. */
export function applyStopped(run: Run, stopped: Stopped): Run {
  const { changes } = stopped;
  const state = run.state.slice();
  const norm = run.norm.slice();
  const flow = run.flow.slice();
  const place = (id: number) => run.positions.get(id) ?? -1;
  for (let k = 0; k < changes.node.length; k++) {
    const i = place(changes.node[k]);
    if (i < 0) continue;
    state[i] = changes.state[k];
    const holds = state[i] === WAITING || state[i] === CURRENT;
    norm[i] = changes.norm[k] ?? (holds ? NaN : -1);
  }
  for (let k = 0; k < changes.edge.length; k++) {
    const e = changes.edge[k];
    if (e < 0 || e >= flow.length) continue;
    flow[e] = changes.flow[k] ?? NaN;
  }
  // A gradient has moved along an edge only if the node it came from has run: so going back needs no list of what to clear.
  const { target } = run.graph.edges;
  for (let e = 0; e < flow.length; e++) if (state[target[e]] !== DONE) flow[e] = -1;
  const known = stopped.order.length + stopped.upcoming.length > 0;
  const schedule = known ? Int32Array.from([...stopped.order, ...stopped.upcoming], place) : run.schedule;
  return {
    ...run,
    state,
    norm,
    flow,
    schedule,
    reason: stopped.reason,
    step: stopped.step,
    total: stopped.total,
    current: stopped.node < 0 ? -1 : place(stopped.node),
    edited: new Set(stopped.edited.map(place).filter(i => i >= 0)),
    histogram: stopped.histogram,
    watches: stopped.watches,
    sentence: stopped.sentence,
  };
}

export function applyBreakpoints(run: Run, { nodes, predicates, together }: Breakpoints): Run {
  const breaks = new Set(Array.from(nodes, id => run.positions.get(id) ?? -1).filter(i => i >= 0));
  return { ...run, breaks, predicates, together };
}

/**
 * Nodes that a gradient came to which is not finite, as far as it is known: what waits there, and what was sent there along edges.
 */
export function notFinite({ graph, norm, flow }: Run): Set<number> {
  const found = new Set<number>();
  norm.forEach((size, node) => Number.isNaN(size) && found.add(node));
  flow.forEach((size, edge) => Number.isNaN(size) && found.add(graph.edges.source[edge]));
  return found;
}

/** The run as it is shown once its session is over. */
export function closeRun(run: Run, sentence: string): Run {
  return { ...run, closed: true, blocking: false, sentence: sentence || run.sentence };
}

export const isOver = (run: Run) => run.current < 0;

/** The muted words in the head: what stopped the run, and where. */
export function statusOf(run: Run): string {
  if (run.closed) return 'closed';
  const where = `${run.step.toLocaleString('en')} of ${run.total.toLocaleString('en')} done`;
  if (isOver(run) && run.reason !== 'exception') return `${where} · finished`;
  const why = run.reason === 'entry' && run.step > 0 ? WHY.step : WHY[run.reason];
  return `${where} · ${why}`;
}

const WHY: Record<Reason, string> = {
  entry: 'before the first node',
  step: 'paused before a node',
  back: 'one step back',
  breakpoint: 'at a breakpoint',
  predicate: 'a condition was met',
  goto: 'paused before a node',
  edited: 'gradient edited',
  paused: 'paused',
  done: 'finished',
  exception: 'a node raised an exception',
};
