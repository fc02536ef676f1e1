// Generated from tensorlab/observe/schema_asking.py by `python -m tensorlab.observe.typescript`. Do not edit.


export type PredicateKind =
  | 'nan'
  | 'inf'
  | 'norm_above'
  | 'norm_below'
  | 'shape'
  | 'module'
  | 'line'
  | 'hit';

/**
 * A part of what adds up to `.grad` of a leaf: one earlier pass, or what one node sent in the pass that is
 * looked at. `node` is that node's id, or -1 for a pass; `norm` is `null` where it was not noted.
 */
export interface Contribution {
  readonly node: number;
  /** "pass 3", or the node that sent it */
  readonly source: string;
  /** "cell 7, line 2" */
  readonly place: string;
  /** "14:05:12", empty in the pass that is looked at */
  readonly time: string;
  readonly norm: number | null;
  readonly state: 'added' | 'arriving' | 'to come';
}

/**
 * A condition that stops a run before the node that fulfils it. `value` is the norm to compare with, or which
 * hit is meant; `text` is the shape, the module or the line.
 */
export interface Predicate {
  readonly kind: PredicateKind;
  readonly value: number | null;
  readonly text: string;
}

/**
 * An expression that is worked out after every step, and what came out: a value or an error, in words.
 */
export interface Watched {
  readonly expression: string;
  readonly text: string;
  readonly wrong: boolean;
  /** since the stop before */
  readonly changed: boolean;
}

/**
 * All breakpoints of a session, as they are now. A node must fulfil all conditions where they hold
 * `together`, else any.
 */
export interface Breakpoints {
  readonly nodes: readonly number[];
  readonly predicates: readonly Predicate[];
  readonly together: boolean;
}

/**
 * A gradient that is another one because of an edit: its norm without and with it, and the norm of the
 * difference, also in parts of the norm without it (`null` where that was zero).
 */
export interface ChangedGradient {
  readonly node: number;
  readonly name: string;
  readonly label: string;
  readonly shape: string;
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  readonly relative: number | null;
}

/**
 * What the edits of a run have changed so far, largest effect on leaves first. `same` counts the gradients
 * that are equal.
 */
export interface Changed {
  readonly gradients: readonly ChangedGradient[];
  readonly same: number;
  readonly sentence: string;
}

/**
 * One gradient that a node works out, beside finite differences of its forward: the greatest errors, and
 * where the greatest is.
 */
export interface CheckedInput {
  readonly name: string;
  readonly shape: string;
  readonly checked: number;
  readonly elements: number;
  readonly error: number;
  readonly relative: number;
  /** "[0, 3]" */
  readonly index: string;
  readonly backward: number;
  readonly difference: number;
  readonly agrees: boolean;
}

/**
 * The verdict on one node's backward. `done` is false where it could not be checked, and the sentence says
 * why.
 */
export interface Check {
  readonly node: number;
  readonly name: string;
  readonly done: boolean;
  readonly agrees: boolean;
  readonly inputs: readonly CheckedInput[];
  readonly sentence: string;
}

/**
 * All watched expressions, with what they are now.
 */
export interface Watches {
  readonly watches: readonly Watched[];
}
