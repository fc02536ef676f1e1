import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { GRAPH_MIME, GraphDocument } from '../document';

/** Before SVG (80) and HTML (50), so that a bundle that also holds a still picture shows the living one. */
const RANK = 45;

/** Draws graph documents wherever JupyterLab shows an output, also in a saved notebook that has no kernel. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'tensorlab-extension:mime',
  description: 'Draws the computation graphs that notebooks hold.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (_app: JupyterFrontEnd, rendermime: IRenderMimeRegistry) => {
    rendermime.addFactory(
      {
        safe: true, // text and canvas only: nothing of a document can run or become markup
        mimeTypes: [GRAPH_MIME],
        createRenderer: () => new GraphDocument(),
      },
      RANK,
    );
  },
};

export default plugin;
