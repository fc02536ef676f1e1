import { MainAreaWidget } from '@jupyterlab/apputils';
import { MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { LabIcon } from '@jupyterlab/ui-components';

import { DocumentView, GRAPH_MIME } from './document';
import iconSource from '../style/graph.svg';

/** Two values flowing into a third. */
export const graphIcon = new LabIcon({ name: 'tensorlab:graph', svgstr: iconSource });

/** A panel of the main area that shows one graph and can be given another. */
export class GraphPanel extends MainAreaWidget<DocumentView> {
  constructor() {
    super({ content: new DocumentView(GRAPH_MIME, true) });
    this.addClass('tl-GraphPanel');
    this.title.icon = graphIcon;
    this.title.closable = true;
  }

  /** Shows the graph of a display bundle under a title. */
  async draw(title: string, caption: string, data: IRenderMime.IMimeModel['data']): Promise<void> {
    this.title.label = title;
    this.title.caption = caption;
    await this.content.renderModel(new MimeModel({ data }));
  }
}
