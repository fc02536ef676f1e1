// Generated from tensorlab/observe/schema.py by `python -m tensorlab.observe.typescript`. Do not edit.

import type { Breakpoints, Contribution, Watched } from './asking';
import type { KeepColumns, StorageColumns, Stretched } from './kept';

export const GRAPH = 'tensorlab.graph/1';
export const NODE = 'tensorlab.node/1';
export const SESSION = 'tensorlab.session/1';
export const LAYOUT = 'tensorlab.layout/2';
export const LINES = 'tensorlab.lines/1';
export const KINDS = ['operation', 'parameter', 'leaf', 'input', 'root', 'storage'] as const;
export const STATES = ['idle', 'waiting', 'current', 'done', 'freed'] as const;
export const FLAGS = { no_grad: 1, hooks: 2, retains_grad: 4, in_place: 8, view: 16, nan: 32, folded: 64 } as const;
export type Kind = (typeof KINDS)[number];
export type State = (typeof STATES)[number];

export type Reason =
  | 'entry'
  | 'step'
  | 'back'
  | 'breakpoint'
  | 'predicate'
  | 'goto'
  | 'edited'
  | 'paused'
  | 'done'
  | 'exception';

/**
 * A place in the user's code. `cell` is the execution count of a notebook cell, or -1 outside notebooks.
 */
export interface Site {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly code: string;
  readonly cell: number;
}

/**
 * A module that enclosed the making of nodes. `parent` is an index into `Graph.groups`, or -1.
 */
export interface Group {
  readonly name: string;
  readonly type: string;
  readonly parent: number;
}

/**
 * Nodes in forward order (a producer stands before its consumers), one entry a node in every column.
 */
export interface NodeColumns {
  readonly id: readonly number[];
  /** index into KINDS */
  readonly kind: readonly number[];
  /** string: "MulBackward0", "AccumulateGrad", "input" */
  readonly name: readonly number[];
  /** string: what was called, "mul"; or -1 for what was given */
  readonly op: readonly number[];
  /** string: the user's name for the value, "W1", "hidden.0.weight"; or -1 */
  readonly label: readonly number[];
  /** string: "[64, 16]" */
  readonly shape: readonly number[];
  /** string: "float32" */
  readonly dtype: readonly number[];
  /** index into Graph.groups, or -1 */
  readonly group: readonly number[];
  /** index into Graph.sites, or -1 */
  readonly site: readonly number[];
  /** bits of FLAGS */
  readonly flags: readonly number[];
  readonly saved_bytes: readonly number[];
  /** index into STATES */
  readonly state: readonly number[];
  /** index into Graph.sites: the call that freed what it had saved; or -1 */
  readonly freed: readonly number[];
}

/**
 * Edges in the direction data moved: from the producer to the consumer. Ends are positions in the node
 * columns.
 */
export interface EdgeColumns {
  readonly source: readonly number[];
  readonly target: readonly number[];
  /** which input of the consumer */
  readonly slot: readonly number[];
  /** index into Graph.broadcasts where the value was stretched on its way; or -1 */
  readonly broadcast: readonly number[];
}

/**
 * A computation graph as a picture needs it (mime type `application/vnd.tensorlab.graph+json`).
 */
export interface Graph {
  readonly schema: 'tensorlab.graph/1';
  readonly title: string;
  readonly sentence: string;
  readonly strings: readonly string[];
  readonly nodes: NodeColumns;
  readonly edges: EdgeColumns;
  readonly groups: readonly Group[];
  readonly sites: readonly Site[];
  readonly broadcasts: readonly Stretched[];
  readonly storages: StorageColumns;
  readonly keeps: KeepColumns;
  /** nodes left out because the graph is larger than the limit asked for */
  readonly hidden: number;
}

/**
 * A bounded look at an array: at most 8 x 16 values, 64 bins, one line of statistics. Non-finite values are
 * `null` in `grid` and named in `marks` ("nan", "inf", "-inf", or "" for a finite one).
 */
export interface ArrayPreview {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly stride: readonly number[];
  readonly device: string;
  readonly elements: number;
  readonly bytes: number;
  /** statistics come from an even sample, not from every element */
  readonly sampled: boolean;
  /** the element in the upper left corner of the grid */
  readonly start: readonly number[];
  readonly grid: readonly (readonly (number | null)[])[];
  readonly marks: readonly (readonly string[])[];
  /** "first 8 of 64 rows" */
  readonly grid_caption: string;
  readonly histogram: readonly number[];
  readonly low: number | null;
  readonly high: number | null;
  readonly mean: number | null;
  readonly std: number | null;
  readonly norm: number | null;
  readonly nan: number;
  readonly inf: number;
  /** as the tensor prints, cut short */
  readonly text: string;
}

/**
 * Another part of an array that is looked at: what `ArrayPreview` says of its grid.
 */
export interface ArrayWindow {
  readonly start: readonly number[];
  readonly grid: readonly (readonly (number | null)[])[];
  readonly marks: readonly (readonly string[])[];
  /** "rows 8 to 15 of 64" */
  readonly grid_caption: string;
}

/**
 * A value that a node keeps for its backward.
 */
export interface Saved {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly bytes: number;
  readonly version: number;
  readonly version_now: number;
  /** equal for values that share memory */
  readonly storage: number;
  readonly preview: ArrayPreview | null;
}

/**
 * A node that this node's gradients go to.
 */
export interface Neighbour {
  readonly id: number;
  readonly name: string;
  readonly label: string;
  readonly shape: string;
  readonly state: string;
}

/**
 * A gradient that waits at, or passed through, one output of a node. `preview` is `null` when there is none.
 */
export interface GradientSlot {
  readonly output: number;
  readonly role: 'incoming' | 'outgoing' | 'accumulated';
  readonly name: string;
  readonly preview: ArrayPreview | null;
  readonly edited: boolean;
}

/**
 * Everything an inspector shows of one node, made when it is opened.
 */
export interface NodeDetail {
  readonly schema: 'tensorlab.node/1';
  readonly id: number;
  readonly name: string;
  readonly label: string;
  readonly state: string;
  readonly module: string;
  /** "result = tanh(self)" */
  readonly formula: string;
  /** "grad_self = grad · (1 − result²)" */
  readonly derivative: string;
  /** "grad [64, 16] · result [64, 16]" */
  readonly derivative_shapes: string;
  readonly site: Site | null;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly stride: readonly number[];
  /** the value that the node made, when somebody still holds it */
  readonly value: ArrayPreview | null;
  readonly gradients: readonly GradientSlot[];
  readonly saved: readonly Saved[];
  readonly freed_by: Site | null;
  readonly hooks: readonly string[];
  readonly neighbours: readonly Neighbour[];
  /** of a leaf */
  readonly contributions: readonly Contribution[];
  /** "2 contributions: cell 7 twice", or "" */
  readonly badge: string;
  /** a sentence for what is unusual here, or "" */
  readonly note: string;
}

/**
 * What a step changed, in columns: node ids with their new state and the norm of the gradient that waits
 * there (`null` where there is none), and edges (positions in `Graph.edges`) with the norm of the gradient
 * that moved along them.
 */
export interface Changes {
  readonly node: readonly number[];
  readonly state: readonly number[];
  readonly norm: readonly (number | null)[];
  readonly edge: readonly number[];
  readonly flow: readonly (number | null)[];
}

/**
 * Where a run stands after a request: the body of the `stopped` event.
 */
export interface Stopped {
  readonly reason: Reason;
  /** nodes run so far */
  readonly step: number;
  /** nodes of the whole run */
  readonly total: number;
  /** id of the node that runs next, or -1 when the run is over */
  readonly node: number;
  /** ids in the order they ran, only in the first event of a session; else empty */
  readonly order: readonly number[];
  /** ids in the order they will run, likewise */
  readonly upcoming: readonly number[];
  /** ids of nodes whose waiting gradient a person changed */
  readonly edited: readonly number[];
  readonly changes: Changes;
  /** 64 bins of the gradient that waits at `node` */
  readonly histogram: readonly number[];
  readonly sentence: string;
  readonly watches: readonly Watched[];
  /** of the node that the request wanted to see next */
  readonly detail: NodeDetail | null;
}

/**
 * The answer to `initialize`: the outline and where the run stands.
 */
export interface SessionState {
  readonly schema: 'tensorlab.session/1';
  readonly graph: Graph;
  readonly stopped: Stopped;
  readonly breakpoints: Breakpoints;
  /** a cell waits for this run */
  readonly blocking: boolean;
  /** why the session is over, or "" */
  readonly closed: string;
}

/**
 * A part of a tensor as a table: the last two dimensions, at one index of those before. `row_numbers` and
 * `column_numbers` are the indexes shown; `element` says which element of the storage each cell is.
 */
export interface LayoutGrid {
  readonly lead: readonly number[];
  readonly row_numbers: readonly number[];
  readonly column_numbers: readonly number[];
  readonly element: readonly (readonly number[])[];
  readonly text: readonly (readonly string[])[];
  readonly caption: string;
}

/**
 * A stretch of a storage, element by element. `first` is the element it begins with, of `total`; the storage
 * begins `skew` bytes into a cache line.
 */
export interface StorageStrip {
  readonly first: number;
  readonly total: number;
  readonly bytes: number;
  readonly skew: number;
  readonly text: readonly string[];
}

/**
 * A tensor that lies in the same storage. It reaches stretches of elements, each from a `first` to a `last`
 * one.
 */
export interface Alias {
  readonly name: string;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
  readonly offset: number;
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly note: string;
}

/**
 * What a call would do: give a view, copy so many bytes, or fail for a reason. `dims` are the dimensions that
 * stand in the way; `order` the elements of the storage that a copy takes first, in the order in which it
 * takes them.
 */
export interface Verdict {
  readonly call: string;
  readonly kind: 'view' | 'copy' | 'cannot';
  readonly bytes: number;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
  readonly why: string;
  readonly dims: readonly number[];
  readonly order: readonly number[];
}

/**
 * Reading a tensor in the order of its indexes: the first elements of the storage that are read and the cache
 * line of each, how many lines are touched, and how often the line changes. `least` is what as many elements
 * in one piece need.
 */
export interface Reading {
  readonly element: readonly number[];
  readonly line: readonly number[];
  readonly reads: number;
  readonly touched: number;
  readonly fetched: number;
  readonly least: number;
  readonly exact: boolean;
  readonly sentence: string;
}

/**
 * One side of a broadcast. `stretched` are the dimensions of the result along which it repeats itself,
 * `missing` those of them that it does not have; `text` and `ghost` are a corner of it as the result sees it,
 * ghosts being repeats. In backward its gradient is summed over `stretched`: each element collects `each`
 * gradients.
 */
export interface Operand {
  readonly name: string;
  readonly shape: readonly number[];
  readonly stretched: readonly number[];
  readonly missing: number;
  readonly each: number;
  readonly text: readonly (readonly string[])[];
  readonly ghost: readonly (readonly boolean[])[];
}

/**
 * Shapes that meet in one operation, aligned at the right. `outer` says that each side stretches where the
 * other does not; `dim` is the dimension of the result at which they do not meet, or -1.
 */
export interface Broadcast {
  readonly operands: readonly Operand[];
  readonly shape: readonly number[];
  readonly outer: boolean;
  readonly dim: number;
  readonly sentence: string;
}

/**
 * How a tensor lies in memory.
 */
export interface LayoutDocument {
  readonly schema: 'tensorlab.layout/2';
  readonly title: string;
  readonly dtype: string;
  readonly itemsize: number;
  readonly device: string;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
  readonly offset: number;
  readonly contiguous: boolean;
  readonly version: number;
  readonly grid: LayoutGrid;
  readonly strip: StorageStrip;
  readonly aliases: readonly Alias[];
  readonly verdicts: readonly Verdict[];
  readonly reading: Reading;
  readonly broadcast: Broadcast | null;
  readonly sentence: string;
}

/**
 * A group of bits of one element, and what it says: a sign, an exponent, a mantissa.
 */
export interface Bits {
  readonly part: string;
  readonly bits: string;
  readonly says: string;
}

/**
 * Where one element lies: the sum that leads to it, and which other tensors see it, by index. `line` is its
 * cache line, counted from the first of the storage.
 */
export interface Picked {
  readonly index: readonly number[];
  readonly element: number;
  readonly byte: number;
  readonly address: string;
  readonly line: number;
  readonly text: string;
  readonly sum: string;
  readonly also: readonly string[];
  readonly parts: readonly Bits[];
  /** how the bits make up the value */
  readonly value: string;
}

/**
 * A view that a person tries out: what it would show and the stretches of the storage it reaches, or why it
 * cannot be.
 */
export interface Scratch {
  readonly grid: LayoutGrid | null;
  readonly contiguous: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly call: string;
  readonly note: string;
}

/**
 * The answer to a call that was typed: a verdict, or how shapes meet.
 */
export interface Tried {
  readonly verdict: Verdict | null;
  readonly broadcast: Broadcast | null;
}

/**
 * A piece of code that ran: a cell, or a function of a cell or file. `first` is the number of its first line.
 */
export interface LineSource {
  /** "cell 4", "model.py" */
  readonly name: string;
  /** "forward", or "" for a whole cell */
  readonly function: string;
  readonly first: number;
  readonly text: readonly string[];
}

/**
 * Lines in the order they ran, one entry a step in every column. A line that goes on after a call stands
 * again, as `back`.
 */
export interface StepColumns {
  /** index into LinesDocument.sources */
  readonly source: readonly number[];
  readonly line: readonly number[];
  /** the last line of the statement */
  readonly last: readonly number[];
  /** calls around it */
  readonly depth: readonly number[];
  /** the step that called, or -1 */
  readonly caller: readonly number[];
  /** how often the line has run in this call, this time included */
  readonly turn: readonly number[];
  /** 1 where a line goes on after a call */
  readonly back: readonly number[];
  /** 1 where an exception came out of the line */
  readonly raised: readonly number[];
  /** string: what names became, "i = 2"; or -1 */
  readonly note: readonly number[];
  /** string: what the line printed; or -1 */
  readonly printed: readonly number[];
}

/**
 * What the nodes of a record held when they were made, one entry a node of its graph.
 */
export interface ValueColumns {
  /** the step that made or first used it */
  readonly step: readonly number[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  readonly mean: readonly (number | null)[];
  readonly std: readonly (number | null)[];
  /** values that are not finite */
  readonly bad: readonly number[];
  /** string: a small heat map, a letter a value ("0" lowest, "V" zero, "!" not finite); or -1 */
  readonly heat: readonly number[];
}

/**
 * A run line by line (mime type `application/vnd.tensorlab.lines+json`). `graph` holds everything that took
 * part, in the order of time.
 */
export interface LinesDocument {
  readonly schema: 'tensorlab.lines/1';
  readonly title: string;
  readonly sentence: string;
  readonly strings: readonly string[];
  readonly sources: readonly LineSource[];
  readonly steps: StepColumns;
  readonly graph: Graph;
  readonly values: ValueColumns;
  /** what ended the run, or "" */
  readonly error: string;
  /** why the record ends before the run did, or "" */
  readonly cut: string;
}
