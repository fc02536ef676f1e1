import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import { mountGraph } from '../../widgets/shared/graphview';
import { GRAPH, type Graph } from '../../widgets/shared/snapshot';

/** The mime type of a graph document. */
export const GRAPH_MIME = 'application/vnd.tensorlab.graph+json';

/** Draws one graph document with the code that the widgets use. It needs no kernel, and shows nothing but text and a canvas. */
export class GraphDocument extends Widget implements IRenderMime.IRenderer {
  private undo: (() => void) | null = null;

  /** `fill` makes the picture as high as its container; else it has the height that suits a cell's output. */
  constructor(private readonly fill = false) {
    super();
    this.addClass('tl-Document');
  }

  /** Draws the document of the model in place of the one that stood here. A document that cannot be drawn is named, not thrown. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.clear();
    const graph = model.data[GRAPH_MIME] as Partial<Graph> | undefined;
    const schema = graph?.schema;
    if (schema !== GRAPH) {
      this.say(
        schema === undefined
          ? 'This output says that it is a tensorlab graph, but it holds none.'
          : `This graph is written as ${String(schema)}; this tensorlab reads ${GRAPH}. Install the tensorlab that wrote it, or run the cell again.`,
      );
      return;
    }
    try {
      const picture = [model.data['image/svg+xml'] ?? ''].flat().join('');
      const exporter = { svg: () => Promise.resolve({ name: 'graph.svg', text: picture }) };
      this.undo = mountGraph(this.node, graph as Graph, {
        interactive: true,
        fill: this.fill,
        exporter: picture ? exporter : undefined,
      });
    } catch (error) {
      this.clear();
      this.say(`This graph could not be drawn: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.clear();
    }
    super.dispose();
  }

  private clear(): void {
    this.undo?.();
    this.undo = null;
    this.node.replaceChildren();
  }

  private say(sentence: string): void {
    const paragraph = document.createElement('p');
    paragraph.className = 'tl-Document-sentence';
    paragraph.dataset.testid = 'tl-error';
    paragraph.setAttribute('role', 'alert');
    paragraph.textContent = sentence;
    this.node.append(paragraph);
  }
}
