import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { DOCUMENT_MIMES, DocumentView } from '../document';
import { InstrumentOutput, VIEW_MIME } from '../output';

/** Before SVG (80) and HTML (50), so that a bundle that also holds a still picture shows the living one. */
const RANK = 45;
/** Before live widgets (-10): an output in which an instrument lived decides itself what is shown. */
const VIEW_RANK = -20;

/** Draws our documents wherever JupyterLab shows an output, also in a saved notebook that has no kernel. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'tensorlab-extension:mime',
  description: 'Draws the graphs and records that notebooks hold.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry) => {
    for (const mime of DOCUMENT_MIMES) {
      rendermime.addFactory(
        {
          safe: true, // text and canvas only: nothing of a document can run or become markup
          mimeTypes: [mime],
          createRenderer: () => new DocumentView(mime),
        },
        RANK,
      );
    }
    rendermime.addFactory(
      {
        safe: true, // it shows the live widget only where the output is trusted, and nothing that is not safe elsewhere
        mimeTypes: [VIEW_MIME],
        createRenderer: () => new InstrumentOutput(app),
      },
      VIEW_RANK,
    );
  },
};

export default plugin;
