// Generated from tensorlab/observe/schema_watching.py by `python -m tensorlab.observe.typescript`. Do not edit.

import type { ArrayPreview, Site } from './snapshot';

export const HOOKS = 'tensorlab.hooks/1';

export type HookState = 'fired' | 'silent' | 'removed' | 'gone';

export type OutputForm = 'images' | 'sequence' | 'statistics';

/**
 * A hook, or several that one line registered: who registered it, whether it was called, and if not, why not.
 */
export interface HookEntry {
  /** of its registration; of the first one where there are several */
  readonly number: number;
  /** "tensor", "post accumulate", "node pre", "forward", "backward", "step pre" ... */
  readonly kind: string;
  /** what it hangs on, by the user's name */
  readonly owner: string;
  /** of the function */
  readonly name: string;
  /** registrations that this entry stands for */
  readonly count: number;
  /** the first of them */
  readonly owners: readonly string[];
  readonly defined: Site | null;
  readonly registered: Site | null;
  /** the notebook cell that ran when it was registered, or -1 */
  readonly cell: number;
  /** somebody holds its handle */
  readonly held: boolean;
  /** a function of tensorlab itself */
  readonly library: boolean;
  readonly fired: number;
  readonly state: HookState;
  /** why it looks left behind, and what to do; or "" */
  readonly left: string;
  /** why it was not called in the last pass; or "" */
  readonly why: string;
}

/**
 * One line of the timeline: a hook that was called, a gradient that was added to `.grad`, a pass or a call
 * that began.
 */
export interface HookRow {
  readonly row: number;
  readonly what: 'hook' | 'accumulated' | 'pass' | 'call';
  /** of the entry it belongs to, or -1 */
  readonly number: number;
  /** the backward pass, counted since the recording began, or -1 */
  readonly turn: number;
  readonly kind: string;
  readonly owner: string;
  readonly name: string;
  /** where that is relative to the accumulation: "before w.grad is added to" */
  readonly place: string;
  /** norm of what it was given */
  readonly before: number | null;
  /** norm of what went on */
  readonly after: number | null;
  /** "unchanged", "halved", "× 0.5", "replaced" ... */
  readonly change: string;
  /** it wrote into what it was given */
  readonly wrote: boolean;
  readonly printed: string;
  /** in all; more than are kept */
  readonly printed_characters: number;
  readonly error: string;
  readonly milliseconds: number;
  readonly site: Site | null;
}

/**
 * Something that a hook was given or gave.
 */
export interface HookLook {
  readonly label: string;
  readonly preview: ArrayPreview;
}

/**
 * The last call of a hook that was looked at closely.
 */
export interface HookDetail {
  readonly number: number;
  readonly row: HookRow | null;
  readonly looks: readonly HookLook[];
  readonly note: string;
}

/**
 * A part of an output as a small picture: cells from 0 (`ModuleOutput.low`) to 99 (`high`), -1 for what is
 * not finite.
 */
export interface Tile {
  readonly label: string;
  readonly cells: readonly (readonly number[])[];
}

/**
 * What a module gave last: as pictures of channels, as a sequence, or as numbers.
 */
export interface ModuleOutput {
  readonly name: string;
  readonly type: string;
  readonly calls: number;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly form: OutputForm;
  readonly mean: number | null;
  readonly std: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** part of the elements that are exactly 0 */
  readonly zeros: number | null;
  /** elements that are NaN or infinite */
  readonly bad: number;
  /** histogram in 16 bins */
  readonly bars: readonly number[];
  readonly caption: string;
  readonly tiles: readonly Tile[];
}

/**
 * Every hook there is, what they did, and what modules gave.
 */
export interface HooksDocument {
  readonly schema: 'tensorlab.hooks/1';
  readonly title: string;
  readonly hooks: readonly HookEntry[];
  /** entries that there is no room for */
  readonly unlisted: number;
  readonly rows: readonly HookRow[];
  /** rows that are too old to be kept */
  readonly forgotten: number;
  readonly outputs: readonly ModuleOutput[];
  readonly attached: boolean;
  /** what went wrong in the recording itself; or "" */
  readonly trouble: string;
  readonly sentence: string;
}
