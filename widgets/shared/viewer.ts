// The frame that both instruments share: head, picture with its text tree, inspector, foot, find, help and errors.
import { button, Help, isTyping, matches, relabel, type Key } from './controls';
import { h, setText, Undos } from './dom';
import { ExportMenu, type Exporter } from './export';
import { Finder } from './find';
import { HoverCard } from './hovercard';
import { layoutOf, type Box } from './layout';
import { defaultFolds, holds, outlineOf, STORAGE, type Outline } from './outline';
import { ROOM, type Overlay } from './overlay';
import type { Shown } from './paint';
import { Picture } from './picture';
import type { Run } from './run';
import { Scene, type Hit, type Item, type Look } from './scene';
import type { Layer } from './kept';
import type { Graph, NodeDetail } from './snapshot';
import { Tree } from './tree';

export interface ViewerOptions {
  readonly testid: string;
  /** What the instrument is, first words of the head. */
  readonly what: string;
  readonly keys: readonly Key[];
  /** Where its exported pictures come from; left out where there are none. */
  readonly exporter?: Exporter;
  /** Takes the height of its container. */
  readonly fill?: boolean;
  /** What boxes say at first; nodes of backward unless told. */
  readonly layer?: Layer;
  /** The least height of picture and inspector. */
  readonly least?: number;
  /** Everything about a node, or null when there is nobody to ask. */
  detailOf(node: number): Promise<NodeDetail> | null;
  /** Something was opened, or closed (null). */
  opened(item: Item | null): void;
  /** A click on the border where breakpoints stand. */
  breakAt?(node: number): void;
  /** It came into sight. */
  seen?(): void;
}

export class Viewer {
  readonly root: HTMLElement;
  readonly controls = h('div', { class: 'tl-controls', role: 'toolbar', 'aria-label': 'controls' });
  readonly foot = h('div', { class: 'tl-foot-row' });
  readonly inspector = h('aside', { class: 'tl-inspector', 'data-testid': 'tl-inspector', tabindex: -1 });
  readonly picture: Picture;
  readonly tree: Tree;
  readonly undos = new Undos();
  outline: Outline | null = null;
  scene: Scene | null = null;
  run: Run | null = null;
  selected: Item | null = null;
  private folded = new Set<number>();
  private looks: readonly Look[] = [];
  private states: Uint8Array | null = null;
  private hovered: Item | null = null;
  private hoveredFold: number | null = null;
  private matches: ReadonlySet<Box> | null = null;
  private emphasized: readonly Item[] | null = null;
  private overlay: Overlay | null = null;
  private painted = 0;
  private tall = 0;
  private scrolled = false;
  private treeTimer = 0;
  private readonly of = h('code', { class: 'tl-of tl-cut' });
  private readonly status = h('span', { class: 'tl-status tl-muted tl-cut', 'data-testid': 'tl-status' });
  private readonly sentence = h('p', {
    class: 'tl-sentence',
    'data-testid': 'tl-sentence',
    'aria-live': 'polite',
  });
  private readonly empty = h('p', { class: 'tl-empty' }, 'Reading the graph …');
  private readonly errors = h('div', { class: 'tl-errors' });
  private readonly body = h('div', { class: 'tl-body' });
  private readonly foldButton: HTMLButtonElement;
  private readonly finder: Finder;
  private readonly card: HoverCard;
  private readonly help: Help;

  constructor(
    host: HTMLElement,
    private readonly options: ViewerOptions,
  ) {
    this.root = h('div', {
      class: options.fill ? 'tl tl-fill' : 'tl',
      'data-testid': options.testid,
      'data-painted': 0,
      tabindex: -1,
      role: 'region',
      'aria-label': options.what,
    });
    host.append(this.root);
    this.tree = new Tree({
      moved: item => this.moved(item),
      open: item => this.open(item),
      close: () => this.close(),
    });
    this.picture = new Picture(this.root, {
      pick: (hit, twice) => this.pick(hit, twice),
      hover: hit => this.hover(hit),
      seen: () => options.seen?.(),
      focus: () => this.focus(),
      hasFocus: () => this.root.contains(document.activeElement),
      painted: () => (this.root.dataset.painted = String(++this.painted)),
    });
    this.card = new HoverCard(
      node => options.detailOf(node),
      place => this.picture.covered(place),
    );
    this.finder = new Finder({
      found: items => this.showMatches(items),
      go: item => this.open(item),
      leave: () => this.focus(),
    });
    const menu = options.exporter
      ? new ExportMenu(this.root, options.exporter, {
          look: () => this.look(),
          failed: message => this.fail(message),
        })
      : null;
    const keys = [...options.keys, ...(menu ? [menu.key] : []), ...this.ownKeys()];
    this.help = new Help(keys);
    this.foldButton = button({ icon: 'fold', label: 'Fold all parts', testid: 'tl-fold', bare: true }, () =>
      this.foldAll(),
    );
    if (menu) {
      this.controls.append(menu.element);
      this.undos.add(menu.undo);
    }
    this.build();
    this.undos.add(this.picture.undo, this.tree.undo, this.finder.undo, this.card.undo, this.help.undo);
    this.undos.add(() => this.root.remove());
    this.undos.on(this.root, 'keydown', event => this.key(event, keys));
    this.undos.on(window, 'keydown', event => this.keepKey(event), { capture: true });
    this.undos.on(this.tree.element, 'blur', () => {
      this.card.hide();
      this.refresh();
    });
    this.undos.on(this.tree.element, 'focus', () => this.refresh());
    this.undos.on(this.inspector, 'scroll', () => (this.scrolled = true), { passive: true });
    this.undos.add(() => clearTimeout(this.treeTimer));
  }

  readonly undo = (): void => this.undos.undo();

  private build(): void {
    const zoom = h(
      'div',
      { class: 'tl-zoom' },
      this.foldButton,
      button({ icon: 'minus', label: 'Zoom out', key: '-', bare: true }, () => this.picture.zoom(1 / 1.3)),
      button({ icon: 'plus', label: 'Zoom in', key: '+', bare: true }, () => this.picture.zoom(1.3)),
      button({ icon: 'fit', label: 'Fit', key: '0', bare: true, testid: 'tl-fit' }, () => this.picture.fit()),
    );
    const helpButton = button({ icon: 'help', label: 'All keys', key: '?', bare: true }, () =>
      this.help.toggle(),
    );
    const title = h('div', { class: 'tl-title' }, h('strong', {}, this.options.what), this.of, this.status);
    this.controls.append(helpButton);
    this.foldButton.hidden = true;
    this.picture.element.append(this.tree.element, zoom, this.card.element, this.empty);
    this.body.append(this.picture.element, this.inspector);
    this.foot.append(this.sentence, this.finder.element);
    this.root.append(
      h('header', { class: 'tl-head' }, title, this.controls),
      this.body,
      this.errors,
      h('footer', { class: 'tl-foot' }, this.foot),
      this.help.element,
    );
  }

  private ownKeys(): Key[] {
    return [
      { name: '/', does: 'Find a node by name, shape, module or code', run: () => this.finder.focus() },
      { name: 'Arrows', does: 'Walk the graph: up and down along edges, left and right along rows' },
      { name: 'Enter', does: 'Open the node in the inspector, or unfold a folded part' },
      { name: 'Escape', does: 'Close what is open', run: () => this.close() },
      { name: 'Page Down', does: 'In a heat map: the next rows; [ and ] turn to another slice' },
      { name: 'f', does: 'Fold or unfold the part around the node', run: () => this.foldHere() },
      { name: '+', does: 'Zoom in (also Ctrl and the wheel)', run: () => this.picture.zoom(1.3) },
      { name: '-', does: 'Zoom out', run: () => this.picture.zoom(1 / 1.3) },
      { name: '0', does: 'Fit the whole graph', run: () => this.picture.fit() },
      { name: '?', does: 'Show this list', run: () => this.help.toggle() },
    ];
  }

  /**
   * A plain key pressed here is ours: JupyterLab would cut the cell at an `x`. Its listener sees the key first, and passes over
   * targets with this attribute. Keys with Ctrl, Alt or Meta stay the host's.
   */
  private keepKey({ target, ctrlKey, altKey, metaKey }: KeyboardEvent): void {
    if (!(target instanceof Element) || !this.root.contains(target)) return;
    target.toggleAttribute('data-lm-suppress-shortcuts', !(ctrlKey || altKey || metaKey));
  }

  private key(event: KeyboardEvent, keys: readonly Key[]): void {
    const key = keys.find(each => each.run && matches(event, each.name));
    if (!key || event.defaultPrevented) return;
    if (isTyping(event.target) && !/^(Shift\+)?F\d/.test(key.name)) return;
    event.preventDefault();
    event.stopPropagation();
    key.run!();
  }

  focus(): void {
    this.tree.element.focus({ preventScroll: true });
  }

  setTitle(of: string): void {
    setText(this.of, of);
    this.of.title = of;
    this.root.setAttribute('aria-label', `${this.options.what} of ${of}`);
  }

  /** A scrubber takes the place of the sentence, which goes below. */
  showTime(scrubber: HTMLElement): void {
    this.foot.prepend(scrubber);
    this.foot.after(this.sentence);
  }

  setStatus(text: string): void {
    setText(this.status, text);
  }

  say(text: string): void {
    setText(this.sentence, text);
  }

  /** There is nothing to show, and will not be. */
  giveUp(message: string): void {
    this.fail(message);
    setText(this.empty, 'Nothing to show.');
    this.root.classList.add('tl-nothing');
  }

  /** A message under the picture that stays until it is closed or the next one comes; null takes it away. */
  fail(message: string | null): void {
    this.errors.replaceChildren();
    if (message === null) return;
    const close = button({ icon: 'close', label: 'Close this message', bare: true }, () => this.fail(null));
    this.errors.append(
      h(
        'div',
        { class: 'tl-error', role: 'alert', 'data-testid': 'tl-error' },
        h('span', {}, message),
        close,
      ),
    );
  }

  /** Replaces what the inspector shows; focus and place stay where they were if they can. */
  showInspector(parts: readonly HTMLElement[], same: boolean): void {
    const focused = document.activeElement as HTMLElement | null;
    const inside = focused !== null && focused !== this.inspector && this.inspector.contains(focused);
    const top = same && this.scrolled ? this.inspector.scrollTop : 0;
    this.inspector.replaceChildren(...parts);
    // To ask for the place, or to set it, lays the page out: only where somebody has scrolled.
    if (this.scrolled) this.inspector.scrollTop = top;
    if (!inside) return;
    const { testid, row, column } = focused!.dataset;
    const part = focused!.closest<HTMLElement>('[data-part]')?.dataset.part;
    const within = part ? `[data-part="${part}"] ` : '';
    const wanted = testid
      ? `${within}[data-testid="${testid}"]`
      : row
        ? `${within}[data-row="${row}"][data-column="${column}"]`
        : null;
    const again = wanted ? this.inspector.querySelector<HTMLElement>(wanted) : null;
    if (again) again.focus({ preventScroll: true });
    else this.focus();
  }

  /** Shows a graph; `start` is what to begin at where the whole does not fit. */
  setGraph(graph: Graph, run: Run | null, start: Item | null): void {
    const outline = outlineOf(graph, this.outline?.layer ?? this.options.layer ?? 'backward');
    this.outline = outline;
    this.run = run;
    this.folded = defaultFolds(outline);
    this.foldButton.hidden = outline.folds.length === 0;
    this.rebuild();
    this.empty.hidden = graph.nodes.id.length > 0;
    this.root.classList.toggle('tl-nothing', !this.empty.hidden);
    setText(this.empty, graph.sentence || 'There is no graph to show.');
    this.finder.setOutline(outline);
    this.tall = 0;
    this.grow();
    this.picture.show(this.shown(), start);
    // The picture first; a long text follows when it stands.
    if (this.scene!.layout.boxes.length < 1000) this.showTree();
    else this.treeTimer = window.setTimeout(() => this.showTree(), 60);
  }

  /** Shows another document of the same graph: what is opened, folded and looked at stays, by the ids of nodes. */
  replaceGraph(graph: Graph): void {
    const before = this.outline!;
    const ids = before.graph.nodes.id;
    const places = new Map<number, number>();
    for (let i = 0; i < graph.nodes.id.length; i++) places.set(graph.nodes.id[i], i);
    const moved = (item: Item | null) => (item === null || item < 0 ? item : (places.get(ids[item]) ?? null));
    this.outline = outlineOf(graph, before.layer, before.room);
    if (this.outline.folds.length !== before.folds.length) this.folded = defaultFolds(this.outline);
    const cursor = moved(this.tree.cursor);
    this.selected = moved(this.selected);
    this.emphasized = null;
    this.finder.setOutline(this.outline);
    this.redraw();
    this.tree.moveTo(cursor);
  }

  /** What boxes say: calls, nodes of backward, or both. */
  setLayer(layer: Layer): void {
    if (!this.outline || this.outline.layer === layer) return;
    this.outline = { ...this.outline, layer };
    this.finder.setOutline(this.outline);
    this.redraw();
  }

  /** Writes a number into every box, or into none. */
  setOverlay(overlay: Overlay | null): void {
    if (!this.outline) return;
    this.overlay = overlay;
    const room = overlay ? ROOM : 0;
    if (this.outline.room !== room) this.outline = { ...this.outline, room };
    this.redraw();
  }

  /** Lets everything but some nodes step back; null ends that. */
  emphasize(items: readonly Item[] | null): void {
    this.emphasized = items;
    this.showMatches(items);
  }

  /** Everything anew, with what is opened under the same pixel. */
  private redraw(): void {
    const anchor = this.selected ?? this.tree.cursor;
    const { scene } = this;
    this.rebuild();
    this.grow();
    this.picture.showMoved(this.shown(), anchor !== null && scene?.boxOf(anchor) ? anchor : null);
    this.showTree();
    if (this.emphasized) this.showMatches(this.emphasized);
  }

  /** How a person has arranged the picture, for one that Python draws. */
  private look(): Record<string, unknown> {
    const { outline, overlay } = this;
    const saved = outline?.graph.nodes.kind.includes(STORAGE) ?? false;
    return {
      folded: [...this.folded],
      layer: outline?.layer ?? 'both',
      saved,
      overlay: overlay?.name ?? 'none',
    };
  }

  /** As high as the picture needs, within bounds; what was once given to it stays. */
  private grow(): void {
    const wanted = Math.round(Math.max(this.options.least ?? 360, Math.min(560, this.scene!.layout.height)));
    if (wanted <= this.tall) return;
    this.tall = wanted;
    this.root.style.setProperty('--tl-height', `${wanted}px`);
    this.picture.measure();
  }

  setRun(run: Run): void {
    this.run = run;
    this.looks = this.scene!.looks(run);
    this.refresh();
    this.showTree();
  }

  /** States of nodes that no run tells: what is made by now, what is being made, and what is not there yet. */
  setStates(states: Uint8Array): void {
    this.states = states;
    this.looks = this.scene!.looks(null, states);
    this.refresh();
    this.showTree();
  }

  /** Brings an item into sight, or the folded part that it is in. */
  reveal(item: Item): void {
    this.picture.reveal(item);
  }

  /** Opens an item in the inspector (null closes it), bringing it into sight. */
  open(item: Item | null): void {
    if (item !== null && item < 0 && this.selected === item) return this.toggleFold(-1 - item);
    if (item !== null) this.uncover(item);
    this.selected = item;
    if (item !== null) {
      this.tree.moveTo(item);
      this.picture.reveal(item);
    }
    this.card.hide();
    this.refresh();
    this.showTree();
    this.options.opened(item);
  }

  private close(): void {
    if (this.finder.clear()) return;
    if (this.emphasized) return this.emphasize(null);
    this.card.hide();
    if (this.selected !== null || this.tree.cursor !== null) {
      this.tree.moveTo(null);
      this.open(null);
    }
  }

  toggleFold(fold: number): void {
    const item = -1 - fold;
    const opening = this.folded.has(fold);
    if (opening) this.folded.delete(fold);
    else this.folded.add(fold);
    this.rebuild();
    this.grow();
    const anchor = opening ? (this.currentIn(fold) ?? this.firstIn(fold)) : item;
    if (this.selected === item && opening) this.selected = null;
    this.picture.showMoved(this.shown(), null);
    if (anchor !== null) {
      this.tree.moveTo(anchor);
      this.picture.reveal(anchor);
    }
    this.showTree();
    this.say(opening ? `Unfolded ${this.scene!.titleOf(fold)}.` : `Folded ${this.scene!.titleOf(fold)}.`);
  }

  isFolded(fold: number): boolean {
    return this.folded.has(fold);
  }

  /** Where the run stands, if that is in this part. */
  private currentIn(fold: number): Item | null {
    const { folds, home } = this.outline!;
    const current = this.run?.current ?? -1;
    return current >= 0 && holds(folds, fold, this.homeOf(current, home)) ? current : null;
  }

  private firstIn(fold: number): Item | null {
    const { folds } = this.outline!;
    const box = this.scene!.layout.boxes.find(each => holds(folds, fold, each.home));
    return box ? this.scene!.itemOf(box) : null;
  }

  private foldHere(): void {
    const item = this.tree.cursor ?? this.selected ?? this.run?.current ?? null;
    if (item === null || !this.scene) return;
    const box = this.scene.boxOf(item);
    if (box && box.fold >= 0) this.toggleFold(box.fold);
    else if (box && this.partAround(box) >= 0) this.toggleFold(this.partAround(box));
    else this.say('Nothing to fold here: this node stands in no module and in no repeat.');
  }

  /** The innermost part around a box that is drawn as one, or -1. */
  private partAround(box: Box): number {
    const drawn = new Set(this.scene!.layout.enclosures.map(rect => rect.fold));
    let fold = box.home;
    while (fold >= 0 && !drawn.has(fold)) fold = this.outline!.folds[fold].parent;
    return fold;
  }

  private foldAll(): void {
    const { folds } = this.outline!;
    const unfold = this.folded.size > 0;
    this.folded = new Set(
      unfold ? [] : folds.filter(fold => fold.parent < 0 && fold.ops > 1).map(fold => fold.id),
    );
    this.rebuild();
    this.grow();
    const start = this.selected ?? this.run?.current ?? null;
    this.picture.showMoved(this.shown(), null);
    if (start !== null && start >= 0) this.picture.reveal(start);
    else this.picture.fit();
    this.showTree();
    this.say(unfold ? 'Everything is unfolded.' : 'Everything is folded.');
  }

  /** Unfolds what hides an item. */
  private uncover(item: Item): void {
    const { folds, home } = this.outline!;
    let changed = false;
    const inner = item < 0 ? folds[-1 - item].parent : this.homeOf(item, home);
    for (let f = inner; f >= 0; f = folds[f].parent) changed = this.folded.delete(f) || changed;
    if (!changed) return;
    this.rebuild();
    this.picture.showMoved(this.shown(), null);
  }

  /** A parameter is where its first consumer is. */
  private homeOf(node: number, home: Int32Array): number {
    if (!this.outline!.isBadge[node]) return home[node];
    const { source, target } = this.outline!.graph.edges;
    const e = source.indexOf(node);
    return e < 0 ? -1 : home[target[e]];
  }

  private rebuild(): void {
    this.scene = new Scene(this.outline!, layoutOf(this.outline!, this.folded));
    this.scene.setOverlay(this.overlay);
    this.looks = this.scene.looks(this.run, this.states);
    this.matches = null;
    this.hovered = null;
    this.finder.again();
    relabel(
      this.foldButton,
      this.folded.size ? 'Unfold all parts' : 'Fold all parts',
      this.folded.size ? 'unfold' : 'fold',
    );
  }

  private shown(): Shown {
    const { scene, run, looks, selected, hovered, hoveredFold } = this;
    const focused = document.activeElement === this.tree.element;
    const cursor = focused ? this.tree.cursor : null;
    const unmade = this.states ? scene!.unmade(looks) : null;
    const { matches } = this;
    return { scene: scene!, run, looks, selected, hovered, hoveredFold, cursor, matches, unmade };
  }

  private refresh(): void {
    if (this.scene) this.picture.show(this.shown(), this.selected);
  }

  private showTree(): void {
    this.tree.show(this.scene!, this.run, this.looks, this.selected);
  }

  private showMatches(items: readonly Item[] | null): void {
    if (!this.scene) return;
    const boxes = items?.map(item => this.scene!.boxOf(item)).filter(box => box !== undefined);
    this.matches = boxes ? new Set(boxes) : null;
    this.refresh();
  }

  private moved(item: Item): void {
    this.picture.reveal(item);
    this.refresh();
    const place = this.picture.placeOf(item);
    if (item >= 0 && place && this.scene) this.card.show(this.scene, this.run, item, place);
    else this.card.hide();
  }

  private pick(hit: Hit | null, twice: boolean): void {
    if (!hit) return twice ? undefined : this.open(null);
    if (hit.kind === 'fold') return twice ? undefined : this.toggleFold(hit.fold);
    if (hit.kind === 'break' && this.options.breakAt)
      return twice ? undefined : this.options.breakAt(hit.item);
    if (twice) {
      if (hit.item < 0) this.toggleFold(-1 - hit.item);
    } else if (hit.item !== this.selected) this.open(hit.item);
  }

  private hover(hit: Hit | null): void {
    const item = hit && hit.kind !== 'fold' ? hit.item : null;
    const fold = hit?.kind === 'fold' ? hit.fold : null;
    if (item !== this.hovered || fold !== this.hoveredFold) {
      this.hovered = item;
      this.hoveredFold = fold;
      this.refresh();
    }
    const place = item !== null && item >= 0 && hit?.kind !== 'break' ? this.picture.placeOf(item) : null;
    if (place && this.scene) this.card.show(this.scene, this.run, item!, place);
    else this.card.hide();
  }
}
