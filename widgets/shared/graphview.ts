// The graph instrument: what was computed, from the inputs at the top to the result at the bottom.
import './theme.css';
import type { Paging } from './arrays';
import { button } from './controls';
import type { Undo } from './dom';
import { exporterOf, type Exporter } from './export';
import { inspect } from './inspector';
import { graphOverview } from './overview';
import { Client, Refused, type Transport } from './protocol';
import type { Item } from './scene';
import type { ArrayWindow, Graph, NodeDetail, Site } from './snapshot';
import { Viewer } from './viewer';

export interface GraphOptions {
  /** Everything about a node, by its id. Left out where there is no kernel to ask: the document's own facts are shown. */
  detailOf?(id: number): Promise<NodeDetail>;
  /** A part of one of a node's arrays, likewise. */
  valuesOf?(id: number, part: string, start: readonly number[]): Promise<ArrayWindow>;
  /** Where exported pictures come from. Left out where there are none. */
  exporter?: Exporter;
  /** Opens a place in the code. */
  openSite?(site: Site): void;
  /** Takes the height of its container, as in a panel. */
  fill?: boolean;
  /** Kept for callers that say so: a graph can always be walked. */
  interactive?: boolean;
}

/** Draws a graph document into an element; returns the undo, which leaves nothing behind. */
export function mountGraph(element: HTMLElement, graph: Graph, options: GraphOptions = {}): Undo {
  const view = new GraphView(element, options);
  try {
    view.show(graph);
  } catch (error) {
    view.undo();
    throw error;
  }
  return view.undo;
}

/** The same, with the document and every detail asked for over a session. */
export function mountGraphSession(
  element: HTMLElement,
  transport: Transport,
  options: GraphOptions = {},
): Undo {
  const client = new Client(transport, {
    event: (name, body) => {
      if (name === 'closed') view.closed((body as { message?: string } | null)?.message ?? '');
    },
    broken: error => view.broken(error),
  });
  const detailOf = (id: number) => client.request<NodeDetail>('inspect', { node: id });
  const valuesOf = (node: number, part: string, start: readonly number[]) =>
    client.request<ArrayWindow>('values', { node, part, start });
  const view: GraphView = new GraphView(element, {
    detailOf,
    valuesOf,
    exporter: exporterOf(client),
    ...options,
  });
  client
    .request<{ graph: Graph }>('initialize')
    .then(({ graph }) => view.show(graph))
    .catch((error: Error) => view.broken(error));
  return () => {
    client.close();
    view.undo();
  };
}

class GraphView {
  private readonly viewer: Viewer;
  private readonly details = new Map<number, Promise<NodeDetail>>();
  private live = true;

  constructor(
    element: HTMLElement,
    private readonly options: GraphOptions,
  ) {
    this.viewer = new Viewer(element, {
      testid: 'tl-graph',
      what: 'graph',
      keys: [],
      fill: options.fill,
      exporter: options.exporter,
      detailOf: node => this.detailOf(node),
      opened: item => this.inspect(item),
    });
  }

  readonly undo = (): void => {
    this.live = false;
    this.viewer.undo();
  };

  show(graph: Graph): void {
    const { viewer } = this;
    const count = graph.nodes.id.length;
    viewer.setTitle(graph.title);
    viewer.setStatus(`${count.toLocaleString('en')} node${count === 1 ? '' : 's'}`);
    viewer.say(graph.sentence);
    viewer.setGraph(graph, null, null);
    this.inspect(null);
  }

  closed(message: string): void {
    this.viewer.setStatus('closed');
    if (message) this.viewer.say(message);
    this.live = false;
  }

  broken(error: Error): void {
    if (this.viewer.scene) this.viewer.fail(`A message from Python could not be read: ${error.message}`);
    else this.viewer.giveUp(`This graph could not be shown: ${error.message}`);
  }

  /** Asked once for each node; a failed question is asked again next time. */
  private detailOf(node: number): Promise<NodeDetail> | null {
    const ask = this.options.detailOf;
    if (!ask || !this.live || !this.viewer.outline) return null;
    let detail = this.details.get(node);
    if (!detail) {
      detail = ask(this.viewer.outline.graph.nodes.id[node]);
      detail.catch(() => this.details.delete(node));
      this.details.set(node, detail);
      if (this.details.size > 64) this.details.delete(this.details.keys().next().value!);
    }
    return detail;
  }

  private inspect(item: Item | null): void {
    const { viewer } = this;
    const { scene } = viewer;
    if (!scene) return;
    if (item === null)
      return viewer.showInspector(
        graphOverview(scene, to => viewer.open(to)),
        false,
      );
    const show = (detail: NodeDetail | null, same: boolean, note = '') => {
      const open = item < 0 ? [this.foldAction(-1 - item)] : [];
      const opened = {
        scene,
        item,
        detail,
        note,
        state: item < 0 ? -1 : scene.outline.graph.nodes.state[item],
        gradients: false,
        actions: open,
        editing: () => null,
        paging: (part: string) => this.paging(item, part),
        go: (to: Item) => viewer.open(to),
        openSite: this.options.openSite,
      };
      viewer.showInspector(inspect(opened), same);
      viewer.inspector.dataset.nodeId = item < 0 ? '' : String(scene.outline.graph.nodes.id[item]);
    };
    show(null, false);
    if (item < 0) return;
    this.detailOf(item)
      ?.then(detail => {
        if (viewer.selected !== item) return;
        viewer.fail(null);
        show(detail, true);
      })
      .catch((error: Error) => {
        if (viewer.selected !== item) return;
        if (error instanceof Refused) show(null, true, error.message);
        else viewer.fail(`This node could not be opened: ${error.message}`);
      });
  }

  private paging(item: Item, part: string): Paging | null {
    const { valuesOf } = this.options;
    if (!valuesOf || item < 0 || !this.live) return null;
    const id = this.viewer.outline!.graph.nodes.id[item];
    return { part, load: start => valuesOf(id, part, start), moved: () => undefined };
  }

  private foldAction(fold: number): HTMLElement {
    const folded = this.viewer.isFolded(fold);
    return button({ icon: folded ? 'unfold' : 'fold', label: folded ? 'Unfold' : 'Fold', key: 'f' }, () => {
      this.viewer.toggleFold(fold);
      this.inspect(null);
    });
  }
}
