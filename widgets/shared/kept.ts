// Generated from tensorlab/observe/schema_kept.py by `python -m tensorlab.observe.typescript`. Do not edit.

export const MEASURES = 'tensorlab.measures/1';
export const FIRST_STORAGE = -1048576;
export const LAYERS = ['both', 'forward', 'backward'] as const;
export const HOLDERS = ['nobody else', 'a parameter or leaf', 'a name in your code'] as const;
export type Layer = (typeof LAYERS)[number];

/**
 * A value that an operation stretched without being told to: forward along which dimensions, backward summed
 * over them. `outer` is set where every input was stretched, so that each element met all of the other
 * input's.
 */
export interface Stretched {
  readonly given: string;
  readonly result: string;
  readonly dims: readonly number[];
  readonly outer: boolean;
  readonly forward: string;
  readonly backward: string;
}

/**
 * Memory that nodes keep for backward, one entry a storage however often it is kept.
 */
export interface StorageColumns {
  readonly bytes: readonly number[];
  /** string: what a person calls a tensor in it, or what made it */
  readonly label: readonly number[];
  /** string: "4.0 KiB · [64, 16]" */
  readonly text: readonly number[];
  readonly dtype: readonly number[];
  /** position of the node whose value it is, or -1 */
  readonly source: readonly number[];
  /** index into HOLDERS */
  readonly holder: readonly number[];
}

/**
 * Who keeps what: one entry for each saved value of each node.
 */
export interface KeepColumns {
  /** index into the storage columns */
  readonly storage: readonly number[];
  /** position in the node columns */
  readonly node: readonly number[];
  /** string: "result", "self" */
  readonly name: readonly number[];
}

/**
 * What one backward pass over a graph measured, one entry a node: microseconds, the norm of the gradient that
 * came to it, and whether its value (1), its gradient (2) or both (3) hold NaN or Inf.
 */
export interface Measures {
  readonly schema: 'tensorlab.measures/1';
  readonly node: readonly number[];
  readonly forward: readonly (number | null)[];
  readonly backward: readonly (number | null)[];
  readonly norm: readonly (number | null)[];
  readonly bad: readonly number[];
  readonly sentence: string;
}
