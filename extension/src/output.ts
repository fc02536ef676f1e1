import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Kernel } from '@jupyterlab/services';
import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import { DOCUMENT_MIMES, DocumentView } from './document';
import { isKept, openKept } from './kept';

/** Marks an output in which an instrument lives. */
export const VIEW_MIME = 'application/vnd.tensorlab.view+json';

const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';
const SVG = 'image/svg+xml';
/** How often, and how many times, a kernel that comes later is asked for the instrument of an output. */
const PATIENCE = { milliseconds: 500, times: 120 };

/** What may stand in the main area: panels that speak to a kernel. */
interface WithKernel {
  readonly sessionContext?: { readonly session: { readonly kernel: Kernel.IKernelConnection | null } | null };
  readonly console?: WithKernel;
}

function kernelOf(panel: WithKernel): Kernel.IKernelConnection | null {
  return (panel.sessionContext ?? panel.console?.sessionContext)?.session?.kernel ?? null;
}

/** A drawing in an image, where nothing of it can run, or else the text of an output. */
class Picture extends Widget implements IRenderMime.IRenderer {
  async renderModel({ data }: IRenderMime.IMimeModel): Promise<void> {
    const text = [data['text/plain'] ?? ''].flat().join('');
    const drawing = [data[SVG] ?? ''].flat().join('');
    const image = document.createElement('img');
    image.alt = text;
    image.src = `data:${SVG};charset=utf-8,${encodeURIComponent(drawing)}`;
    this.node.replaceChildren(drawing ? image : text);
  }
}

function still({ data }: IRenderMime.IMimeModel): IRenderMime.IRenderer {
  if (isKept(data[VIEW_MIME])) {
    return new KeptView();
  }
  const mime = DOCUMENT_MIMES.find(each => each in data);
  return mime ? new DocumentView(mime) : new Picture();
}

/** A view that was closed with its kernel, open again with the answers that were kept; a picture where they cannot be shown. */
class KeptView extends Widget implements IRenderMime.IRenderer {
  private undo: (() => void) | null = null;

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const picture = [model.data[SVG] ?? ''].flat().join('');
    this.undo = openKept(this.node, model.data[VIEW_MIME], picture);
  }

  override dispose(): void {
    this.undo?.();
    this.undo = null;
    super.dispose();
  }
}

/**
 * The output of an instrument. It is shown live as long as there is a kernel that knows it; else, as in a notebook that was saved and
 * opened again, what it left there: the graph as it was, or a picture.
 */
export class InstrumentOutput extends Widget implements IRenderMime.IRenderer {
  private model: IRenderMime.IMimeModel | null = null;
  private shown: string | null = null;
  private timer = 0;

  constructor(private readonly app: JupyterFrontEnd) {
    super();
    this.layout = new PanelLayout();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    this.shown = null;
    // Only where it stands in an output area is it known what else can be shown there.
    await Promise.resolve();
    await this.draw();
  }

  override dispose(): void {
    clearInterval(this.timer);
    super.dispose();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    clearInterval(this.timer);
    if (!this.instrument()) {
      return;
    }
    let left = PATIENCE.times;
    this.timer = window.setInterval(() => {
      if (this.shown === WIDGET_VIEW || left-- === 0) {
        clearInterval(this.timer);
      } else {
        void this.draw();
      }
    }, PATIENCE.milliseconds);
  }

  protected override onBeforeDetach(message: Message): void {
    clearInterval(this.timer);
    super.onBeforeDetach(message);
  }

  /** The id of the live instrument in the output, if it may run. */
  private instrument(): string | null {
    const view = this.model?.trusted
      ? (this.model.data[WIDGET_VIEW] as { model_id?: string } | undefined)
      : null;
    return view?.model_id || null;
  }

  private isAlive(id: string): boolean {
    const panels = [...this.app.shell.widgets('main')] as WithKernel[];
    return panels.some(panel => kernelOf(panel)?.hasComm(id));
  }

  private async draw(): Promise<void> {
    const { model } = this;
    const id = this.instrument();
    const registry = id && this.isAlive(id) ? this.registry() : null;
    const wanted = registry ? WIDGET_VIEW : 'still';
    if (!model || this.isDisposed || this.shown === wanted) {
      return;
    }
    this.shown = wanted;
    const layout = this.layout as PanelLayout;
    for (const old of [...layout.widgets]) {
      old.dispose();
    }
    const content = registry?.createRenderer(WIDGET_VIEW) ?? still(model);
    layout.addWidget(content);
    await content.renderModel(model);
  }

  /** The renderers of the output area around this, which know the widgets of its kernel. */
  private registry(): IRenderMimeRegistry | null {
    for (let around: Widget | null = this.parent; around; around = around.parent) {
      const { rendermime } = around as { rendermime?: IRenderMimeRegistry };
      if (rendermime) {
        return rendermime;
      }
    }
    return null;
  }
}
