// The graph instrument: what was computed, from the inputs at the top to the result at the bottom.
import './theme.css';
import type { Paging } from './arrays';
import { answerLines, nodesOfLine, type Line } from './codelink';
import { button } from './controls';
import type { Undo } from './dom';
import { exporterOf, type Exporter } from './export';
import { plural } from './format';
import { GraphTools } from './graphtools';
import { inspect } from './inspector';
import { streamOf, type Stream } from './marks';
import { OVERLAYS, overlayOf, type OverlayName } from './overlay';
import { graphOverview } from './overview';
import { Client, Refused, type Transport } from './protocol';
import type { Item } from './scene';
import type { Layer, Measures } from './kept';
import type { ArrayWindow, Graph, NodeDetail, Site } from './snapshot';
import { withStorages } from './stored';
import { Viewer } from './viewer';

export interface GraphOptions {
  /** Everything about a node, by its id. Left out where there is no kernel to ask: the document's own facts are shown. */
  detailOf?(id: number): Promise<NodeDetail>;
  /** A part of one of a node's arrays, likewise. */
  valuesOf?(id: number, part: string, start: readonly number[]): Promise<ArrayWindow>;
  /** Where exported pictures come from. Left out where there are none. */
  exporter?: Exporter;
  /** Runs the backward pass once, changing nothing, and says what it measured. */
  measure?(): Promise<Measures>;
  /** The document as it would be made now, or null where it would be the same. */
  refresh?(): Promise<Graph | null>;
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
  const measure = () => client.request<Measures>('measure');
  const refresh = () => client.request<{ graph: Graph | null }>('refresh').then(({ graph }) => graph);
  const view: GraphView = new GraphView(element, {
    detailOf,
    valuesOf,
    measure,
    refresh,
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
  private readonly tools: GraphTools;
  /** The document without storages as boxes. */
  private graph: Graph | null = null;
  private measures: Measures | null = null;
  private looked = 0;
  private live = true;

  constructor(
    element: HTMLElement,
    private readonly options: GraphOptions,
  ) {
    this.viewer = new Viewer(element, {
      testid: 'tl-graph',
      what: 'graph',
      keys: [
        { name: 'l', does: 'Next layer: both, forward, backward', run: () => this.tools.nextLayer() },
        {
          name: 's',
          does: 'Show or hide the storages that are kept for backward',
          run: () => this.tools.toggleSaved(),
        },
        {
          name: 'o',
          does: 'Next numbers in the boxes: bytes, times, norms, NaN',
          run: () => this.tools.nextOverlay(),
        },
        { name: 'u', does: 'Light up what leads to the node', run: () => this.stream('up') },
        { name: 'd', does: 'Light up what the node leads to', run: () => this.stream('down') },
        { name: 'r', does: 'Look at the graph again, as it is now', run: () => this.refresh(true) },
      ],
      fill: options.fill,
      exporter: options.exporter,
      layer: 'both',
      detailOf: node => this.detailOf(node),
      opened: item => this.inspect(item),
      seen: () => this.refresh(false),
    });
    const { viewer } = this;
    this.tools = new GraphTools(
      {
        layer: layer => this.showLayer(layer),
        saved: on => this.showSaved(on),
        overlay: name => void this.showOverlay(name),
        refresh: () => this.refresh(true),
      },
      options.measure !== undefined,
    );
    viewer.controls.prepend(...this.tools.elements);
    viewer.undos.add(answerLines(viewer.root, line => this.showLine(line)));
    viewer.undos.on(viewer.root, 'pointerenter', () => this.refresh(false));
    viewer.undos.on(viewer.root, 'focusin', () => this.refresh(false));
  }

  readonly undo = (): void => {
    this.live = false;
    this.viewer.undo();
  };

  show(graph: Graph): void {
    const { viewer } = this;
    const count = graph.nodes.id.length;
    this.graph = graph;
    viewer.setTitle(graph.title);
    viewer.setStatus(plural(count, 'node'));
    viewer.say(graph.sentence);
    this.tools.offer(
      graph.nodes.op.some(op => op >= 0),
      graph.storages.bytes.length > 0,
    );
    viewer.setGraph(graph, null, null);
    this.looked = Date.now();
    this.inspect(null);
  }

  private showLayer(layer: Layer): void {
    this.viewer.setLayer(layer);
    this.viewer.say(SAID[layer]);
    this.again();
  }

  private showSaved(on: boolean): void {
    if (!this.graph) return;
    const { storages } = this.graph;
    this.details.clear();
    this.viewer.replaceGraph(on ? withStorages(this.graph) : this.graph);
    const some = plural(storages.bytes.length, 'storage');
    this.viewer.say(
      on ? `${some}, each drawn once, with a line to every node that keeps it.` : 'Storages are hidden.',
    );
    void this.showOverlay(this.tools.overlay, true);
    this.again();
  }

  /** Numbers in the boxes; what no one has measured yet is measured first. */
  private async showOverlay(name: OverlayName, quiet = false): Promise<void> {
    const { viewer } = this;
    const needs = name !== 'none' && name !== 'bytes';
    if (needs && !this.measures && this.options.measure) {
      viewer.say('Running the backward pass once; no .grad is changed.');
      try {
        this.measures = await this.options.measure();
      } catch (error) {
        if (this.live) viewer.fail(`Nothing could be measured: ${(error as Error).message}`);
        return;
      }
    }
    if (!viewer.outline || this.tools.overlay !== name) return;
    viewer.setOverlay(overlayOf(name, viewer.outline.graph, this.measures));
    if (quiet) return;
    const said = needs && this.measures ? ` ${this.measures.sentence}` : '';
    viewer.say(name === 'none' ? 'No numbers in the boxes.' : `Each box shows its ${OVERLAYS[name]}.${said}`);
  }

  /** Asks for the document again: at once if a person wants it, else at most once a second, when somebody looks. */
  private refresh(wanted: boolean): void {
    const { refresh } = this.options;
    if (!refresh || !this.live || !this.graph || (!wanted && Date.now() - this.looked < 1000)) return;
    this.looked = Date.now();
    refresh()
      .then(graph => {
        if (!this.live) return;
        if (graph) {
          this.graph = graph;
          this.measures = null;
          this.details.clear();
          this.viewer.replaceGraph(this.tools.isSaved ? withStorages(graph) : graph);
          this.viewer.say(graph.sentence);
          this.again();
        } else if (wanted) this.viewer.say('The graph is as it is drawn.');
      })
      .catch((error: Error) => wanted && this.viewer.fail(error.message));
  }

  private again(): void {
    this.inspect(this.viewer.selected);
  }

  private stream(way: Stream): void {
    const { viewer } = this;
    const item = viewer.tree.cursor ?? viewer.selected;
    if (item === null || !viewer.scene)
      return viewer.say('Open a node first, then ask what leads to it or what it leads to.');
    const box = viewer.scene.boxOf(item);
    const from = item >= 0 ? [item] : box ? viewer.scene.nodesIn(box) : [];
    const found = streamOf(viewer.scene.outline.graph, from, way);
    viewer.emphasize(found);
    const others = plural(found.length - from.length, 'node');
    viewer.say(`${others} ${way === 'up' ? 'lead here' : 'come from here'}; Escape ends this.`);
  }

  /** The nodes that a line of code made, or a whole cell; returns how many there are. */
  private showLine(line: Line): number {
    const { viewer } = this;
    if (!viewer.outline) return 0;
    const found = nodesOfLine(viewer.outline.graph, line);
    if (!found.length) return 0;
    viewer.open(found[found.length - 1]);
    viewer.emphasize(found);
    const where = line.cell >= 0 ? `cell ${line.cell}` : line.file;
    viewer.say(
      `${plural(found.length, 'node')} made by ${where}${line.line ? `, line ${line.line}` : ''}; Escape ends this.`,
    );
    viewer.root.scrollIntoView({ block: 'nearest' });
    return found.length;
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
      const open = [...(item < 0 ? [this.foldAction(-1 - item)] : []), ...this.streamActions()];
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

  private streamActions(): HTMLElement[] {
    return [
      button({ label: 'What leads here', key: 'u', testid: 'tl-up' }, () => this.stream('up')),
      button({ label: 'What follows', key: 'd', testid: 'tl-down' }, () => this.stream('down')),
    ];
  }

  private foldAction(fold: number): HTMLElement {
    const folded = this.viewer.isFolded(fold);
    return button({ icon: folded ? 'unfold' : 'fold', label: folded ? 'Unfold' : 'Fold', key: 'f' }, () => {
      this.viewer.toggleFold(fold);
      this.inspect(null);
    });
  }
}

const SAID: Record<Layer, string> = {
  both: 'Calls and their nodes of backward. Filled heads point the way of values, hollow ones the way of gradients.',
  forward: 'Forward: what was called, with the shapes of values.',
  backward: 'Backward: the nodes that gradients pass, from the result up.',
};
