// Generated from tensorlab/observe/schema_compare.py by `python -m tensorlab.observe.typescript`. Do not edit.

import type { Graph } from './snapshot';

export const COMPARE = 'tensorlab.compare/1';
export const CHANGES = ['same', 'changed', 'added', 'removed'] as const;

/**
 * Parts and what stands in them, a part before what is in it; one entry a row in every column.
 */
export interface RowColumns {
  /** index of the row around it, or -1 */
  readonly parent: readonly number[];
  /** index into CHANGES */
  readonly status: readonly number[];
  /** string */
  readonly name: readonly number[];
  /** string: "part", "operation", "parameter", "buffer", "input" */
  readonly kind: readonly number[];
  /** string: what it is on the left, "[64, 16] float32"; or -1 where it is not */
  readonly left: readonly number[];
  readonly right: readonly number[];
  /** string: what changed, in words; or -1 */
  readonly note: readonly number[];
  /** rows below it (or itself) that are not the same */
  readonly changes: readonly number[];
  /** id of its node in the left graph, or -1 */
  readonly first: readonly number[];
  /** and in the right one */
  readonly second: readonly number[];
}

/**
 * Two models, steps or graphs compared. `amount` is the size of the difference over the size of the left
 * value, one entry a row.
 */
export interface Comparison {
  readonly schema: 'tensorlab.compare/1';
  readonly title: string;
  /** of the left and the right */
  readonly names: readonly string[];
  readonly sentence: string;
  readonly strings: readonly string[];
  readonly rows: RowColumns;
  readonly amount: readonly (number | null)[];
  /** both graphs as one picture; names begin with +, - or ~ where they differ */
  readonly merged: Graph | null;
  readonly left: Graph | null;
  readonly right: Graph | null;
}
