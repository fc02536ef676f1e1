// Generated from tensorlab/observe/schema_training.py by `python -m tensorlab.observe.typescript`. Do not edit.

export const FLOW = 'tensorlab.flow/2';
export const FLOW_NOW = 'tensorlab.flow-now/1';
export const LEVELS = { none: -2000000, zero: -1000000, not_finite: 1000000 } as const;
export const FINDINGS = [
  'not finite',
  'exploded',
  'vanished',
  'none',
  'zero',
  'dead',
  'saturated',
  'left out',
  'large update',
  'small update',
  'changed',
] as const;

/**
 * Something that needs a look: which parameter or module, how many others are like it, what, since which
 * step, and what to try.
 */
export interface Finding {
  readonly name: string;
  readonly others: number;
  readonly kind: 'not finite' | 'exploded' | 'vanished' | 'none' | 'zero' | 'dead' | 'saturated' | 'left out' | 'large update' | 'small update' | 'changed';
  readonly since: number;
  readonly what: string;
  readonly attempt: string;
}

/**
 * Gradients of parameters over training steps. `levels` holds a row a step, with one whole number a
 * parameter: a thousandth of the power of ten of its norm (`-1500` is `10 ** -1.5`), or one of `LEVELS`.
 * `weight`, `update` (size of the last update over size of the weights) and `flips` (part of the signs that
 * changed) hold one such number a parameter, `looks` how grave what was found of it is (0 for nothing).
 * `clipped` holds the norm of all gradients before they were clipped, step by step, and `left_out` the steps
 * that a gradient scaler left out. Names and shapes are told when `generation` is new: a model may change
 * while it trains.
 */
export interface FlowDocument {
  readonly schema: 'tensorlab.flow/2';
  readonly title: string;
  readonly generation: number;
  readonly names: readonly string[];
  readonly shapes: readonly string[];
  readonly steps: readonly number[];
  readonly levels: readonly number[];
  readonly loss: readonly (number | null)[];
  readonly clipped: readonly (number | null)[];
  readonly left_out: readonly number[];
  readonly weight: readonly number[];
  readonly update: readonly number[];
  readonly flips: readonly number[];
  readonly looks: readonly number[];
  readonly findings: readonly Finding[];
  readonly attached: boolean;
  readonly sentence: string;
}

/**
 * How the sizes of one parameter's gradients are spread, look by look. `counts` holds a row of bins a look:
 * elements of size `2 ** (first + 2 * bin)` to four times that, of a sample; `zeros` are those of size 0.
 */
export interface Ridge {
  readonly name: string;
  readonly first: number;
  readonly bins: number;
  readonly steps: readonly number[];
  readonly counts: readonly number[];
  readonly zeros: readonly number[];
  readonly update: readonly number[];
  readonly flips: readonly number[];
  readonly sentence: string;
}

/**
 * The latest gradients by the name of the parameter, for a graph that draws them as the width of its edges.
 */
export interface FlowNow {
  readonly schema: 'tensorlab.flow-now/1';
  readonly title: string;
  readonly step: number;
  readonly names: readonly string[];
  readonly levels: readonly number[];
}
