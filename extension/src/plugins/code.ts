import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';

import { HOSTED, OPEN_SITE } from '../../../widgets/shared/codelink';
import type { Site } from '../../../widgets/shared/snapshot';
import { light, lineAt, placeIn, showNodes } from '../code';
import { graphIcon } from '../panels';

const COMMAND = 'tensorlab:show-nodes-of-line';

const say = (message: string) => Notification.warning(message, { autoClose: 8000 });

/** From a node to the line that made it, and from a line to its nodes. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'tensorlab-extension:code',
  description: 'Leads from the nodes of a graph to the code that made them, and back.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, notebooks: INotebookTracker, palette: ICommandPalette | null) => {
    document.documentElement.setAttribute(HOSTED, '');

    /** The notebook that a view stands in; of a view beside it, the one that was used last. */
    const notebookOf = (view: Node): NotebookPanel | null =>
      notebooks.find(panel => panel.node.contains(view)) ?? notebooks.currentWidget;

    const openFile = (site: Site, notebook: NotebookPanel | null): void => {
      const folder = notebook?.context.path.split('/').slice(0, -1) ?? [];
      const path = [...folder, site.file].join('/');
      app.commands.execute('docmanager:open', { path }).then(
        () => app.commands.execute('fileeditor:go-to-line', { line: site.line }).catch(() => undefined),
        () =>
          say(`${site.file} could not be opened: it does not lie under the folder that JupyterLab shows.`),
      );
    };

    document.addEventListener(OPEN_SITE, event => {
      const site = (event as CustomEvent<Site>).detail;
      const notebook = notebookOf(event.target as Node);
      if (site.cell < 0) {
        openFile(site, notebook);
        return;
      }
      const place = notebook && placeIn(notebook, site);
      if (!place) {
        say(`The line "${site.code}" is in no cell of this notebook any more: it was edited or deleted.`);
        return;
      }
      app.shell.activateById(notebook.id);
      void light(notebook, place.cell, place.line);
    });

    app.commands.addCommand(COMMAND, {
      label: 'Show the nodes that this line made',
      caption:
        'Light up the nodes of the graphs in this notebook that the line of the cursor made, or the whole cell',
      icon: graphIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => {
        const notebook = notebooks.currentWidget;
        const cell = notebook?.content.activeCell;
        const line = notebook && cell ? lineAt(cell, notebook.content.mode === 'edit') : null;
        if (!notebook || !line) {
          say('Put the cursor into a line of a cell that was run.');
          return;
        }
        const beside = [...document.querySelectorAll('.tl-GraphPanel')];
        if (!showNodes(line, [notebook.node, ...beside])) {
          const where = line.line ? `line ${line.line} of cell [${line.cell}]` : `cell [${line.cell}]`;
          say(`No graph in this notebook shows a node that ${where} made.`);
        }
      },
    });
    app.commands.addKeyBinding({ command: COMMAND, keys: ['Alt Shift N'], selector: '.jp-Notebook' });
    app.contextMenu.addItem({ command: COMMAND, selector: '.jp-CodeCell', rank: 30 });
    palette?.addItem({ command: COMMAND, category: 'tensorlab' });
  },
};

export default plugin;
