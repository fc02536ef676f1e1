// A graph with the storages that its nodes keep as boxes of their own, as tensorlab/observe/stored.py makes it.
import { FIRST_STORAGE } from './kept';
import type { Graph, NodeColumns } from './snapshot';
import { STORAGE } from './outline';

/** The same graph with a node for each storage before the first that keeps it; lines from storages have slot -1. */
export function withStorages(graph: Graph): Graph {
  const { nodes, storages, keeps, edges } = graph;
  const count = storages.bytes.length;
  if (!count) return graph;
  const strings = [...graph.strings, 'storage'];
  const first = new Int32Array(count).fill(nodes.id.length);
  for (let k = 0; k < keeps.node.length; k++)
    first[keeps.storage[k]] = Math.min(first[keeps.storage[k]], keeps.node[k]);
  const before = new Map<number, number[]>();
  for (let s = 0; s < count; s++) before.set(first[s], [...(before.get(first[s]) ?? []), s]);
  // Positions of nodes, and of storages as -1 - storage.
  const order: number[] = [];
  for (let i = 0; i < nodes.id.length; i++) {
    for (const s of before.get(i) ?? []) order.push(-1 - s);
    order.push(i);
  }
  const placeOfNode = new Int32Array(nodes.id.length);
  const placeOfStorage = new Int32Array(count);
  order.forEach((item, at) => {
    if (item >= 0) placeOfNode[item] = at;
    else placeOfStorage[-1 - item] = at;
  });
  const own: Partial<Record<keyof NodeColumns, (s: number) => number>> = {
    id: s => FIRST_STORAGE - s,
    kind: () => STORAGE,
    name: () => strings.length - 1,
    label: s => storages.label[s],
    shape: s => storages.text[s],
    dtype: s => storages.dtype[s],
    flags: () => 0,
    saved_bytes: s => storages.bytes[s],
    state: () => 0,
  };
  const columns = Object.fromEntries(
    (Object.keys(nodes) as (keyof NodeColumns)[]).map(name => {
      const value = own[name] ?? (() => -1);
      const column = nodes[name];
      return [name, Int32Array.from(order, item => (item >= 0 ? column[item] : value(-1 - item)))];
    }),
  ) as unknown as NodeColumns;
  const references = keeps.node.length;
  const joined = (given: readonly number[], more: (k: number) => number) => {
    const all = new Int32Array(given.length + references);
    all.set(given);
    for (let k = 0; k < references; k++) all[given.length + k] = more(k);
    return all as unknown as readonly number[];
  };
  const moved = (column: readonly number[]) => Array.from(column, at => (at < 0 ? -1 : placeOfNode[at]));
  return {
    ...graph,
    strings,
    nodes: columns,
    edges: {
      source: joined(moved(edges.source), k => placeOfStorage[keeps.storage[k]]),
      target: joined(moved(edges.target), k => placeOfNode[keeps.node[k]]),
      slot: joined(edges.slot, () => -1),
      broadcast: joined(edges.broadcast, () => -1),
    },
    storages: { ...storages, source: moved(storages.source) },
    keeps: { ...keeps, node: moved(keeps.node) },
  };
}
