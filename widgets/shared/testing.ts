// Graph documents made by hand, for tests.
import type { Request } from './protocol';
import {
  GRAPH,
  SESSION,
  type Graph,
  type Group,
  type SessionState,
  type Site,
  type Stopped,
} from './snapshot';

export interface NodeSketch {
  name: string;
  label?: string;
  kind?: 'operation' | 'parameter' | 'leaf' | 'input' | 'root';
  shape?: string;
  dtype?: string;
  group?: number;
  site?: number;
  flags?: number;
  saved?: number;
  inputs?: number[];
  op?: string;
}

/** A document of these nodes, in forward order; `inputs` are positions of earlier nodes. */
export function graphOf(sketch: readonly NodeSketch[], groups: Group[] = [], sites: Site[] = []): Graph {
  const strings: string[] = [];
  const numbers = new Map<string, number>();
  const text = (value: string | undefined) => {
    if (value === undefined) return -1;
    if (!numbers.has(value)) numbers.set(value, strings.push(value) - 1);
    return numbers.get(value)!;
  };
  const kinds = ['operation', 'parameter', 'leaf', 'input', 'root'];
  const ends = sketch.flatMap(({ inputs = [] }, target) =>
    inputs.map((source, slot) => ({ source, target, slot })),
  );
  return {
    schema: GRAPH,
    title: 'loss',
    sentence: `${sketch.length} nodes`,
    strings,
    nodes: {
      id: sketch.map((_, i) => i + 100),
      kind: sketch.map(node => kinds.indexOf(node.kind ?? 'operation')),
      name: sketch.map(node => text(node.name)),
      op: sketch.map(node => text(node.op)),
      label: sketch.map(node => text(node.label)),
      shape: sketch.map(node => text(node.shape ?? '[64, 16]')),
      dtype: sketch.map(node => text(node.dtype ?? 'float32')),
      group: sketch.map(node => node.group ?? -1),
      site: sketch.map(node => node.site ?? -1),
      flags: sketch.map(node => node.flags ?? 0),
      saved_bytes: sketch.map(node => node.saved ?? 0),
      state: sketch.map(() => 0),
      freed: sketch.map(() => -1),
    },
    edges: {
      source: ends.map(e => e.source),
      target: ends.map(e => e.target),
      slot: ends.map(e => e.slot),
      broadcast: ends.map(() => -1),
    },
    groups,
    sites,
    broadcasts: [],
    storages: { bytes: [], label: [], text: [], dtype: [], source: [], holder: [] },
    keeps: { storage: [], node: [], name: [] },
    hidden: 0,
  };
}

/** The network of the pictures: two hidden layers in a module, an output layer, a loss with a target. */
export function perceptron(): Graph {
  const groups = [
    { name: 'hidden', type: 'Sequential', parent: -1 },
    { name: 'hidden.0', type: 'Linear', parent: 0 },
    { name: 'hidden.1', type: 'Tanh', parent: 0 },
    { name: 'out', type: 'Linear', parent: -1 },
  ];
  const sites = [
    { file: 'cell', line: 1, function: '<module>', code: 'a = hidden[0](x)', cell: 4 },
    { file: 'cell', line: 2, function: '<module>', code: 'h = torch.tanh(a)', cell: 4 },
  ];
  const parameter = (label: string, shape: string): NodeSketch => ({
    name: 'AccumulateGrad',
    kind: 'parameter',
    label,
    shape,
  });
  return graphOf(
    [
      { name: 'input', kind: 'input', label: 'input', shape: '[64, 2]' },
      parameter('hidden.0.weight', '[16, 2]'),
      parameter('hidden.0.bias', '[16]'),
      { name: 'AddmmBackward0', group: 1, site: 0, inputs: [0, 1, 2], saved: 512 },
      { name: 'TanhBackward0', group: 2, site: 1, inputs: [3], saved: 4096 },
      parameter('out.weight', '[10, 16]'),
      parameter('out.bias', '[10]'),
      { name: 'AddmmBackward0', group: 3, shape: '[64, 10]', inputs: [4, 5, 6], saved: 4096 },
      { name: 'LogSoftmaxBackward0', shape: '[64, 10]', inputs: [7], saved: 2560 },
      { name: 'target', kind: 'input', label: 'target', shape: '[64]', dtype: 'int64', flags: 1 },
      { name: 'NllLossBackward0', kind: 'root', label: 'loss', shape: '[]', inputs: [8, 9], saved: 512 },
    ],
    groups,
    sites,
  );
}

/** An LSTM cell written out by hand, `steps` times, with shared weights. */
export function recurrent(steps: number): Graph {
  const nodes: NodeSketch[] = [
    { name: 'AccumulateGrad', kind: 'parameter', label: 'cell.weight_ih', shape: '[64, 8]' },
    { name: 'AccumulateGrad', kind: 'parameter', label: 'cell.weight_hh', shape: '[64, 16]' },
    { name: 'AccumulateGrad', kind: 'parameter', label: 'cell.bias', shape: '[64]' },
    { name: 'h0', kind: 'input', label: 'h0', shape: '[32, 16]' },
    { name: 'c0', kind: 'input', label: 'c0', shape: '[32, 16]' },
  ];
  const add = (name: string, inputs: number[], shape = '[32, 16]') => nodes.push({ name, inputs, shape }) - 1;
  let [h, c] = [3, 4];
  for (let t = 0; t < steps; t++) {
    const x = nodes.push({ name: 'input', kind: 'input', label: `x[${t}]`, shape: '[32, 8]' }) - 1;
    const gates = add(
      'AddBackward0',
      [add('MmBackward0', [x, 0], '[32, 64]'), add('MmBackward0', [h, 1], '[32, 64]')],
      '[32, 64]',
    );
    const biased = add('AddBackward0', [gates, 2], '[32, 64]');
    const split = add('SplitBackward0', [biased]);
    const [i, f, o] = [0, 1, 2].map(() => add('SigmoidBackward0', [split]));
    const g = add('TanhBackward0', [split]);
    c = add('AddBackward0', [add('MulBackward0', [f, c]), add('MulBackward0', [i, g])]);
    h = add('MulBackward0', [o, add('TanhBackward0', [c])]);
  }
  nodes.push({ name: 'SumBackward0', kind: 'root', label: 'loss', shape: '[]', inputs: [h] });
  return graphOf(nodes);
}

/** `n` nodes without any repeat: every node has a shape of its own and takes one or two earlier ones. */
export function tangle(n: number, reach = 40): Graph {
  let seed = 1;
  const random = (limit: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % limit;
  };
  const names = ['MulBackward0', 'AddBackward0', 'TanhBackward0', 'MmBackward0', 'SigmoidBackward0'];
  return graphOf(
    Array.from({ length: n }, (_, i) => ({
      name: names[random(names.length)],
      shape: `[${1 + random(50)}, ${1 + random(50)}]`,
      inputs:
        i === 0
          ? []
          : random(3)
            ? [i - 1 - random(Math.min(i, reach))]
            : [i - 1, i - 1 - random(Math.min(i, reach))],
    })),
  );
}

/** The body of a `stopped` event in which nothing changed but what is given. */
export function stoppedOf(facts: Partial<Stopped> = {}): Stopped {
  return {
    reason: 'step',
    step: 0,
    total: 9,
    node: -1,
    order: [],
    upcoming: [],
    edited: [],
    changes: { node: [], state: [], norm: [], edge: [], flow: [] },
    histogram: [],
    sentence: '',
    watches: [],
    detail: null,
    ...facts,
  };
}

/** A session that stands before its first node. Whatever requires no grad takes no part. */
export function sessionOf(graph: Graph): SessionState {
  const { id, kind } = graph.nodes;
  const upcoming = Array.from(id, (_, i) => i)
    .filter(i => kind[i] !== 3)
    .reverse()
    .map(i => id[i]);
  const changes = { node: upcoming.slice(0, 1), state: [2], norm: [1], edge: [], flow: [] };
  const stopped = stoppedOf({
    reason: 'entry',
    total: upcoming.length,
    node: upcoming[0],
    upcoming,
    changes,
  });
  const breakpoints = { nodes: [], predicates: [], together: false };
  return { schema: SESSION, graph, stopped, breakpoints, blocking: false, closed: '' };
}

/** The Python side of a session, played by a table of answers; what was asked is kept in `sent`. */
export function playedSession(answers: Record<string, (parameters: Record<string, unknown>) => unknown>) {
  const sent: Request[] = [];
  const listeners = new Set<(message: unknown) => void>();
  const say = (message: unknown) => listeners.forEach(listener => listener(message));
  return {
    sent,
    listeners,
    say,
    event: (event: string, body: unknown) => say({ type: 'event', event, body }),
    asked: (command: string) => sent.filter(request => request.command === command),
    send(request: Request) {
      sent.push(request);
      const { seq, command } = request;
      queueMicrotask(() => {
        const reply = {
          type: 'response',
          seq,
          command,
          success: true,
          message: null as string | null,
          body: null as unknown,
        };
        try {
          const answer = answers[command];
          if (!answer) throw new Error(`nobody answers ${command}`);
          reply.body = answer(request.arguments);
        } catch (error) {
          Object.assign(reply, { success: false, message: (error as Error).message });
        }
        say(reply);
      });
    },
    onMessage(callback: (message: unknown) => void) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
  };
}

/** Lets answers arrive and what follows from them be done. */
export const settled = () => new Promise(resolve => setTimeout(resolve, 5));
