// Generated from tensorlab/observe/schema_watching.py by `python -m tensorlab.observe.typescript`. Do not edit.

import type { ArrayPreview, Site } from './snapshot';

export const HOOKS = 'tensorlab.hooks/1';
export const MEMORY = 'tensorlab.memory/1';
export const USES = [
  'there before',
  'kept for backward',
  'gradients',
  'made in forward',
  'passing in backward',
  'optimizer state',
] as const;

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

/**
 * Where a part of the timeline begins: forward, a backward pass, a step of an optimizer.
 */
export interface MemoryPhase {
  readonly tick: number;
  readonly name: string;
}

/**
 * Bytes over time. Time is counted in ticks: a tick is one buffer more or one fewer, or one that changes its
 * use.
 */
export interface MemoryCurve {
  readonly ticks: readonly number[];
  /** a row for each of USES */
  readonly stack: readonly (readonly number[])[];
  readonly phases: readonly MemoryPhase[];
  readonly now: number;
  readonly peak: number;
  readonly peak_tick: number;
  /** the latest tick */
  readonly last: number;
  readonly attached: boolean;
  /** not what was, but what a backward pass will free */
  readonly forecast: boolean;
  readonly sentence: string;
}

/**
 * A buffer, counted once however many tensors and nodes look at it.
 */
export interface MemoryBlock {
  readonly number: number;
  readonly bytes: number;
  /** by the user's name, or by the operation that made it */
  readonly name: string;
  /** index into USES */
  readonly use: number;
  readonly op: string;
  readonly module: string;
  readonly shape: string;
  readonly made: Site | null;
  readonly born: number;
  /** tick, or -1 while it is there */
  readonly died: number;
  /** who holds it now */
  readonly holders: readonly string[];
  /** what freed it, or what will */
  readonly frees: string;
  readonly at_peak: boolean;
}

/**
 * The part of the peak that belongs to one module or one operation.
 */
export interface MemoryShare {
  readonly name: string;
  readonly bytes: number;
  readonly count: number;
}

/**
 * What there is more of than at the first of two snapshots, by what made it and who holds it.
 */
export interface MemoryGrowth {
  readonly name: string;
  readonly made: Site | null;
  readonly holder: string;
  readonly count_before: number;
  readonly count_after: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
}

/**
 * Memory of a GPU as its pool sees it: used by arrays, and taken from the system altogether.
 */
export interface MemoryPool {
  readonly device: string;
  readonly used: number;
  readonly taken: number;
}

/**
 * Who holds memory, how much there was over time, and what stood at the peak.
 */
export interface MemoryDocument {
  readonly schema: 'tensorlab.memory/1';
  readonly title: string;
  readonly device: string;
  readonly curve: MemoryCurve;
  readonly blocks: readonly MemoryBlock[];
  /** blocks that are too small to be listed */
  readonly unlisted: number;
  readonly unlisted_bytes: number;
  readonly modules: readonly MemoryShare[];
  readonly ops: readonly MemoryShare[];
  readonly growth: readonly MemoryGrowth[];
  /** a snapshot was taken that growth is measured from */
  readonly marked: boolean;
  readonly pools: readonly MemoryPool[];
  readonly trouble: string;
  readonly sentence: string;
}

/**
 * What was held at one moment: groups by what made it and who holds it. Two of them tell what grew.
 */
export interface MemorySnapshot {
  readonly name: string;
  readonly device: string;
  readonly bytes: number;
  /** with the same figures before and after */
  readonly groups: readonly MemoryGrowth[];
}
