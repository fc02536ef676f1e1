// What a graph says of single nodes and edges besides their names: values that were stretched, calls that freed, storages kept.
import type { Stretched } from './kept';
import type { Graph, Site } from './snapshot';
import { STORAGE } from './outline';

/** A place in words: `cell 4, line 2`. */
export function placeOf(site: Site): string {
  return site.cell >= 0 ? `cell ${site.cell}, line ${site.line}` : `${site.file}, line ${site.line}`;
}

const intoNode = new WeakMap<Graph, Map<number, Stretched[]>>();

/** How a node stretched its inputs. */
export function stretchedInto(graph: Graph, node: number): readonly Stretched[] {
  let known = intoNode.get(graph);
  if (!known) {
    known = new Map();
    const { target, broadcast } = graph.edges;
    if (graph.broadcasts.length)
      for (let e = 0; e < target.length; e++) {
        if (broadcast[e] < 0) continue;
        const list = known.get(target[e]);
        if (list) list.push(graph.broadcasts[broadcast[e]]);
        else known.set(target[e], [graph.broadcasts[broadcast[e]]]);
      }
    intoNode.set(graph, known);
  }
  return known.get(node) ?? [];
}

/** The mark of edges that stand for these document edges, the one that looks like a mistake first; null where nothing was stretched. */
export function stretchedAlong(graph: Graph, members: readonly number[]): Stretched | null {
  let found: Stretched | null = null;
  for (const e of members) {
    const mark = graph.edges.broadcast[e];
    if (mark >= 0 && (!found || graph.broadcasts[mark].outer)) found = graph.broadcasts[mark];
  }
  return found;
}

/** Whether an edge says that a node keeps a storage: nothing flows along it. */
export const isReference = (graph: Graph, members: readonly number[]) =>
  members.every(e => graph.edges.slot[e] < 0);

/** Whether a gradient comes back along an edge. */
export function hasGradient({ nodes, edges }: Graph, members: readonly number[]): boolean {
  return members.some(e => nodes.op[edges.target[e]] >= 0 && !(nodes.flags[edges.source[e]] & 1));
}

/** What else a screen reader hears of a node. */
export function saidOf(graph: Graph, node: number): string[] {
  const { nodes, sites } = graph;
  const said: string[] = [];
  const site = sites[nodes.site[node]];
  if (site) said.push(`made in ${placeOf(site)}`);
  for (const { outer, forward } of stretchedInto(graph, node))
    said.push(`${outer ? 'check: ' : ''}${forward}`);
  const freed = sites[nodes.freed[node]];
  if (freed) said.push(`freed by ${freed.code} in ${placeOf(freed)}`);
  if (nodes.kind[node] === STORAGE) said.push(`kept by ${keepersOf(graph, node).length}`);
  return said;
}

/** The nodes that keep the storage drawn at this position. */
export function keepersOf({ edges }: Graph, node: number): number[] {
  const found = new Set<number>();
  for (let e = 0; e < edges.source.length; e++)
    if (edges.source[e] === node && edges.slot[e] < 0) found.add(edges.target[e]);
  return [...found];
}

export type Stream = 'up' | 'down';

/** Everything that leads to a node (up) or that it leads to (down), itself included; storages follow who keeps them. */
export function streamOf({ nodes, edges }: Graph, from: readonly number[], way: Stream): number[] {
  const [near, far] = way === 'up' ? [edges.target, edges.source] : [edges.source, edges.target];
  const count = nodes.id.length;
  const start = new Int32Array(count + 1);
  for (let e = 0; e < near.length; e++) start[near[e] + 1]++;
  for (let i = 0; i < count; i++) start[i + 1] += start[i];
  const next = start.slice();
  const list = new Int32Array(near.length);
  for (let e = 0; e < near.length; e++) list[next[near[e]]++] = far[e];
  const seen = new Uint8Array(count);
  const stack = [...from];
  for (const node of from) seen[node] = 1;
  const found: number[] = [];
  while (stack.length) {
    const node = stack.pop()!;
    found.push(node);
    for (let k = start[node]; k < start[node + 1]; k++) {
      if (seen[list[k]]) continue;
      seen[list[k]] = 1;
      stack.push(list[k]);
    }
  }
  return found.sort((a, b) => a - b);
}
