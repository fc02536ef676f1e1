// Where a recorded pass stops: conditions and modules, worked out from the recorded document alone.
import type { Graph } from './snapshot';
import type { Predicate } from './asking';

/** Of a node, by its position, where a recorded pass stands before it: the norm that waits there, `null` if it is not finite. */
export interface Waiting {
  readonly node: number;
  readonly norm: number | null;
}

/** Whether conditions stop a pass before a node; `hits` counts how often they held, and is counted on. */
export function stopsAt(
  graph: Graph,
  predicates: readonly Predicate[],
  together: boolean,
  waiting: Waiting,
  hits: { count: number },
): boolean {
  const others = predicates.filter(({ kind }) => kind !== 'hit');
  const wanted = predicates.find(({ kind }) => kind === 'hit')?.value ?? null;
  const holds = (predicate: Predicate) => fulfils(graph, predicate, waiting);
  const met = others.length ? (together ? others.every(holds) : others.some(holds)) : wanted !== null;
  if (!met || wanted === null) return met;
  return ++hits.count === wanted;
}

function fulfils(graph: Graph, { kind, value, text }: Predicate, { node, norm }: Waiting): boolean {
  const { nodes, strings, sites } = graph;
  if (kind === 'shape') {
    const sizes = (words: string) =>
      words
        .replace(/[[\]()\s]/g, '')
        .split(',')
        .filter(Boolean);
    const [want, have] = [sizes(text), sizes(strings[nodes.shape[node]] ?? '')];
    return want.length === have.length && want.every((size, dim) => size === '*' || size === have[dim]);
  }
  if (kind === 'module') return pathOf(graph, node).some(path => matches(path, text));
  if (kind === 'line') {
    const site = sites[nodes.site[node]];
    if (!site) return false;
    const [where, line] = [text.replace(/^\s*cell\s+/i, ''), String(site.line)];
    const [file, wanted] = where.split(/\s*(?::|,?\s*line\s+)\s*/i);
    return (
      wanted === line && (site.cell >= 0 ? file === String(site.cell) : `/${site.file}`.endsWith(`/${file}`))
    );
  }
  if (kind === 'nan' || kind === 'inf') return norm === null;
  if (norm === null) return kind === 'norm_above';
  return kind === 'norm_above' ? norm > (value ?? Infinity) : norm < (value ?? -Infinity);
}

/** The modules that made a node, innermost first, each by its whole path. */
function pathOf({ nodes, groups }: Graph, node: number): string[] {
  const found: string[] = [];
  for (let group = nodes.group[node]; group >= 0; group = groups[group].parent)
    found.push(groups[group].name);
  return found;
}

function matches(path: string, pattern: string): boolean {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${escaped}$`).test(path);
}

/** The module that a step over a node leaves, or with `out` the one around it; -1 where there is none. */
export function groupToLeave({ nodes, groups }: Graph, node: number, out: boolean): number {
  const group = node < 0 ? -1 : nodes.group[node];
  return out && group >= 0 ? groups[group].parent : group;
}

/** Whether a node lies outside of a module. Leaves belong to whatever their gradients came from. */
export function hasLeft(graph: Graph, node: number, group: number): boolean {
  const { nodes, groups } = graph;
  if (nodes.kind[node] === 1 || nodes.kind[node] === 2) return false;
  for (let at = nodes.group[node]; at >= 0; at = groups[at].parent) if (at === group) return false;
  return true;
}
