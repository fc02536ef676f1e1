// Numbers over the boxes of a graph: what they keep, how long they took, how large their gradients are, where NaN stands.
import { bytes, short } from './format';
import type { Measures } from './kept';
import type { Graph } from './snapshot';

export const OVERLAYS = {
  none: 'no numbers',
  bytes: 'kept bytes',
  forward: 'forward time',
  backward: 'backward time',
  norm: 'gradient norm',
  bad: 'NaN or Inf',
} as const;
export type OverlayName = keyof typeof OVERLAYS;

/** What one box shows: words, the part of the greatest value (0 to 1), and whether something is wrong there. */
export interface Meter {
  readonly text: string;
  readonly part: number;
  readonly wrong: boolean;
}

export interface Overlay {
  readonly name: OverlayName;
  /** Per node, NaN where nothing is known. */
  readonly values: Float64Array;
  readonly wrong: Uint8Array;
  readonly most: number;
}

/** Characters that a number needs beside a title. */
export const ROOM = 11;

const BAD = ['', 'value', 'gradient', 'value, gradient'];

/** The overlay of this name, or null where it needs measures that nobody took. */
export function overlayOf(name: OverlayName, graph: Graph, measures: Measures | null): Overlay | null {
  const count = graph.nodes.id.length;
  const values = new Float64Array(count).fill(NaN);
  const wrong = new Uint8Array(count);
  if (name === 'none') return null;
  if (name === 'bytes') keptBytes(graph, values);
  else if (!measures) return null;
  else {
    const places = new Map<number, number>();
    for (let i = 0; i < count; i++) places.set(graph.nodes.id[i], i);
    const column: readonly (number | null)[] = measures[name];
    measures.node.forEach((id, k) => {
      const at = places.get(id);
      if (at === undefined) return;
      if ((name === 'norm' || name === 'bad') && measures.bad[k]) wrong[at] = 1;
      const value = column[k];
      if (value !== null && (name !== 'bad' || value)) values[at] = value;
    });
  }
  let most = 0;
  for (const value of values) if (value > most && value < Infinity) most = value;
  return { name, values, wrong, most };
}

/** A storage counts for the first node that keeps it, so that sums are what memory holds. */
function keptBytes({ keeps, storages }: Graph, values: Float64Array): void {
  const seen = new Set<number>();
  for (let k = 0; k < keeps.node.length; k++) {
    const storage = keeps.storage[k];
    if (seen.has(storage)) continue;
    seen.add(storage);
    const at = keeps.node[k];
    values[at] = (Number.isNaN(values[at]) ? 0 : values[at]) + storages.bytes[storage];
  }
}

/** What the nodes of one box show together: bytes and times are added, of norms the greatest is told. */
export function meterOf({ name, values, wrong, most }: Overlay, nodes: readonly number[]): Meter | null {
  let total = NaN;
  let bad = false;
  const added = name === 'bytes' || name === 'forward' || name === 'backward';
  for (const node of nodes) {
    bad ||= wrong[node] === 1;
    const value = values[node];
    if (Number.isNaN(value)) continue;
    if (Number.isNaN(total)) total = value;
    else total = added ? total + value : Math.max(total, value);
  }
  if (Number.isNaN(total)) return bad ? { text: 'not finite', part: 0, wrong: true } : null;
  return { text: write(name, total), part: partOf(name, total, most), wrong: bad };
}

function write(name: OverlayName, value: number): string {
  if (name === 'bytes') return bytes(value);
  if (name === 'norm') return `‖g‖ ${short(value)}`;
  if (name === 'bad') return BAD[value] ?? 'not finite';
  return value >= 1000 ? `${short(value / 1000)} ms` : `${short(value)} µs`;
}

/** Norms stand on a logarithmic scale of six decades. */
function partOf(name: OverlayName, value: number, most: number): number {
  if (!(value > 0) || !(most > 0) || value === Infinity) return 0;
  if (name !== 'norm') return Math.min(1, value / most);
  return Math.min(1, Math.max(0.02, 1 + Math.log10(value / most) / 6));
}
