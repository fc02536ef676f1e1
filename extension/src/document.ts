import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import type { Exporter } from '../../widgets/shared/export';
import { mountGraph } from '../../widgets/shared/graphview';
import { mountLines } from '../../widgets/shared/linesview';
import { modelTransport } from '../../widgets/shared/model';
import { keptModel } from '../../widgets/shared/offline';
import { GRAPH, LINES, type Graph } from '../../widgets/shared/snapshot';

/** The mime type of a graph document, and of a run line by line. */
export const GRAPH_MIME = 'application/vnd.tensorlab.graph+json';
export const LINES_MIME = 'application/vnd.tensorlab.lines+json';

/** A kind of document: what it is called, the version that is read, and what draws it. */
interface Kind {
  readonly word: string;
  readonly schema: string;
  draw(node: HTMLElement, document: unknown, exporter: Exporter | undefined, fill: boolean): () => void;
}

const KINDS: Readonly<Record<string, Kind>> = {
  [GRAPH_MIME]: {
    word: 'graph',
    schema: GRAPH,
    draw: (node, graph, exporter, fill) =>
      mountGraph(node, graph as Graph, { interactive: true, fill, exporter }),
  },
  [LINES_MIME]: {
    word: 'record of lines',
    schema: LINES,
    draw: (node, lines, exporter) => {
      const nowhere: Exporter = { svg: () => Promise.reject(new Error('this output holds no picture')) };
      const kept = { answers: [['initialize', {}, null, { lines }] as const], stem: 'lines' };
      const model = keptModel(kept, exporter ?? nowhere);
      return mountLines(node, modelTransport(model), { exporter: exporter ?? nowhere });
    },
  },
};

/** The kinds of documents that can be drawn, the most telling first. */
export const DOCUMENT_MIMES = Object.keys(KINDS);

/** Draws one document with the code that the widgets use. It needs no kernel, and shows nothing but text and a canvas. */
export class DocumentView extends Widget implements IRenderMime.IRenderer {
  private undo: (() => void) | null = null;

  /** `fill` makes the picture as high as its container; else it has the height that suits a cell's output. */
  constructor(
    private readonly mime = GRAPH_MIME,
    private readonly fill = false,
  ) {
    super();
    this.addClass('tl-Document');
  }

  /** Draws the document of the model in place of the one that stood here. A document that cannot be drawn is named, not thrown. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.clear();
    const { word, schema: known, draw } = KINDS[this.mime];
    const document = model.data[this.mime] as { schema?: unknown } | undefined;
    const schema = document?.schema;
    if (schema !== known) {
      this.say(
        schema === undefined
          ? `This output says that it is a tensorlab ${word}, but it holds none.`
          : `This ${word} is written as ${String(schema)}; this tensorlab reads ${known}. Install the tensorlab that wrote it, or run the cell again.`,
      );
      return;
    }
    try {
      const picture = [model.data['image/svg+xml'] ?? ''].flat().join('');
      const name = `${word.split(' ').at(-1)}.svg`;
      const exporter = picture ? { svg: () => Promise.resolve({ name, text: picture }) } : undefined;
      this.undo = draw(this.node, document, exporter, this.fill);
    } catch (error) {
      this.clear();
      this.say(`This ${word} could not be drawn: ${error instanceof Error ? error.message : String(error)}`);
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
    const paragraph = this.node.ownerDocument.createElement('p');
    paragraph.className = 'tl-Document-sentence';
    paragraph.dataset.testid = 'tl-error';
    paragraph.setAttribute('role', 'alert');
    paragraph.textContent = sentence;
    this.node.append(paragraph);
  }
}
