import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { type Cell, isCodeCellModel } from '@jupyterlab/cells';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { graphOfCell, type Run, Unable } from '../kernel/graph_of_cell';
import { GraphPanel, graphIcon } from '../panels';

const COMMAND = 'tensorlab:show-graph';

/** The latest run of a cell; throws `Unable` with what is missing for there to be one. */
function latestRun(notebook: NotebookPanel, cell: Cell | null): Run {
  if (!cell || !isCodeCellModel(cell.model)) {
    throw new Unable('Select a code cell whose result is a tensor.');
  }
  const kernel = notebook.sessionContext.session?.kernel;
  if (!kernel) {
    throw new Unable('This notebook has no kernel. Start one, run the cell and ask again.');
  }
  if (cell.model.executionState === 'running') {
    throw new Unable('This cell is still running. Ask again when it is done.');
  }
  if (cell.model.executionCount === null) {
    throw new Unable('Run this cell first: what is drawn is the graph of its result.');
  }
  return { kernel, count: cell.model.executionCount, source: cell.model.sharedModel.getSource() };
}

/** One command: draw the graph of what the selected cell ended with in a panel beside the notebook. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'tensorlab-extension:palette',
  description: 'Draws the computation graph of the selected cell in a panel.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, notebooks: INotebookTracker, commandPalette: ICommandPalette | null) => {
    // The panel of each cell that has one: a second call draws in it again.
    const panels = new Map<string, GraphPanel>();

    const panelOf = (cell: string, ref: string): GraphPanel => {
      const standing = panels.get(cell);
      if (standing) {
        return standing;
      }
      const panel = new GraphPanel();
      panels.set(cell, panel);
      panel.disposed.connect(() => panels.delete(cell));
      app.shell.add(panel, 'main', { mode: 'split-right', ref });
      return panel;
    };

    const show = async (): Promise<void> => {
      const notebook = notebooks.currentWidget;
      if (!notebook) {
        throw new Unable('Open a notebook and select a cell whose result is a tensor.');
      }
      const cell = notebook.content.activeCell;
      const run = latestRun(notebook, cell);
      const bundle = await graphOfCell(run);
      const panel = panelOf(`${notebook.id} ${cell!.model.id}`, notebook.id);
      await panel.draw(`Graph of [${run.count}]`, `${notebook.title.label}, cell [${run.count}]`, bundle);
      app.shell.activateById(panel.id);
    };

    app.commands.addCommand(COMMAND, {
      label: "Show graph of the selected cell's result",
      caption: 'Draw the computation graph of the tensor that the selected cell ended with',
      icon: graphIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => {
        try {
          await show();
        } catch (error) {
          if (!(error instanceof Unable)) {
            throw error;
          }
          Notification.warning(error.message, { autoClose: 8000 });
        }
      },
    });
    commandPalette?.addItem({ command: COMMAND, category: 'tensorlab' });
  },
};

export default plugin;
