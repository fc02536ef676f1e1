import type { Cell } from '@jupyterlab/cells';
import { isCodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { Line } from '../../widgets/shared/codelink';
import { SHOW_LINE } from '../../widgets/shared/codelink';
import type { Site } from '../../widgets/shared/snapshot';

/** How long a line stays lit. */
const LIT = 6000;
const VIEWS = '[data-testid="tl-graph"]';

const linesOf = (cell: Cell): string[] => cell.model.sharedModel.getSource().split('\n');

/** IPython takes away the empty lines that a cell begins with, so its line 1 is the first that is not empty. */
const skipped = (cell: Cell): number =>
  Math.max(
    0,
    linesOf(cell).findIndex(line => line.trim() !== ''),
  );

/** Whether a line of a cell is the code of a site; long lines were cut when it was noted. */
function isCode(line: string | undefined, { code }: Site): boolean {
  const text = (line ?? '').trim();
  return text === code || (code.endsWith('…') && text.startsWith(code.slice(0, -1)));
}

/**
 * The cell and the line (from 0) that a site names. A cell that was run again has another count, and one that was edited other lines, so
 * the code itself is looked for where the numbers do not lead to it: in that cell, then in all others.
 */
export function placeIn(notebook: NotebookPanel, site: Site): { cell: Cell; line: number } | null {
  const cells = notebook.content.widgets.filter(cell => isCodeCellModel(cell.model));
  const counted = cells.find(cell => isCodeCellModel(cell.model) && cell.model.executionCount === site.cell);
  const at = counted ? site.line - 1 + skipped(counted) : 0;
  if (counted && isCode(linesOf(counted)[at], site)) {
    return { cell: counted, line: at };
  }
  for (const cell of counted ? [counted, ...cells] : cells) {
    const line = linesOf(cell).findIndex(text => isCode(text, site));
    if (line >= 0) {
      return { cell, line };
    }
  }
  return null;
}

let unlight: () => void = () => undefined;

/** Scrolls to a line of a cell, puts the cursor there, and lights it for a while. */
export async function light(notebook: NotebookPanel, cell: Cell, line: number): Promise<void> {
  const { content } = notebook;
  content.activeCellIndex = content.widgets.indexOf(cell);
  await content.scrollToCell(cell, 'smart');
  await cell.ready;
  const length = linesOf(cell)[line]?.length ?? 0;
  cell.editor?.setSelection({ start: { line, column: 0 }, end: { line, column: length } });
  cell.editor?.revealPosition({ line, column: 0 });
  unlight();
  const element = cell.node.querySelectorAll('.cm-line')[line];
  element?.classList.add('tl-lit');
  element?.scrollIntoView({ block: 'nearest' });
  const timer = window.setTimeout(() => unlight(), LIT);
  unlight = () => {
    clearTimeout(timer);
    element?.classList.remove('tl-lit');
  };
}

/** What a person means: the line of the cursor in a cell that is being edited, else the whole cell. */
export function lineAt(cell: Cell, editing: boolean): Line | null {
  const { model } = cell;
  if (!isCodeCellModel(model) || model.executionCount === null) {
    return null;
  }
  const line = editing && cell.editor ? cell.editor.getCursorPosition().line + 1 - skipped(cell) : 0;
  return { cell: model.executionCount, file: '', line, found: 0 };
}

/** Asks every graph under these elements for the nodes of a line; returns how many they show. */
export function showNodes(line: Line, under: readonly Element[]): number {
  let found = 0;
  for (const element of under) {
    for (const view of element.querySelectorAll(VIEWS)) {
      const asked = { ...line, found: 0 };
      view.dispatchEvent(new CustomEvent(SHOW_LINE, { detail: asked }));
      found += asked.found;
    }
  }
  return found;
}
