// The tools of a graph view: which layer is shown, the storages that are kept, numbers over the boxes, and where a value comes from.
import { button } from './controls';
import { h, setAttributes } from './dom';
import { OVERLAYS, type OverlayName } from './overlay';
import { LAYERS, type Layer } from './kept';

export interface ToolEvents {
  layer(layer: Layer): void;
  saved(on: boolean): void;
  overlay(name: OverlayName): void;
  refresh(): void;
}

const WORDS: Record<Layer, string> = { both: 'Both', forward: 'Forward', backward: 'Backward' };

/** Buttons and a list for the head of a graph view; each has a key, and keys call the same methods. */
export class GraphTools {
  readonly elements: HTMLElement[];
  layer: Layer = 'both';
  isSaved = false;
  overlay: OverlayName = 'none';
  private readonly layers: Map<Layer, HTMLButtonElement>;
  private readonly savedButton: HTMLButtonElement;
  private readonly list: HTMLSelectElement;

  constructor(
    private readonly events: ToolEvents,
    live: boolean,
  ) {
    this.layers = new Map(
      LAYERS.map(layer => [
        layer,
        button({ label: WORDS[layer], testid: `tl-layer-${layer}`, title: TITLES[layer] }, () =>
          this.setLayer(layer),
        ),
      ]),
    );
    const group = h(
      'div',
      { class: 'tl-segments', role: 'group', 'aria-label': 'layer (l)' },
      ...this.layers.values(),
    );
    this.savedButton = button(
      {
        icon: 'store',
        label: 'Saved',
        key: 's',
        testid: 'tl-saved',
        title: 'Show the storages that are kept for backward (s)',
      },
      () => this.toggleSaved(),
    );
    this.list = h(
      'select',
      {
        class: 'tl-input',
        'aria-label': 'numbers in the boxes (o)',
        'data-testid': 'tl-overlay',
        title: 'Numbers in the boxes (o)',
      },
      ...names(live).map(name => h('option', { value: name }, OVERLAYS[name])),
    );
    this.list.addEventListener('change', () => this.setOverlay(this.list.value as OverlayName));
    const refresh = button(
      { icon: 'again', label: 'Look again', key: 'r', bare: true, testid: 'tl-refresh' },
      () => events.refresh(),
    );
    this.elements = [group, this.list, this.savedButton, ...(live ? [refresh] : [])];
    this.show();
  }

  setLayer(layer: Layer): void {
    this.layer = layer;
    this.show();
    this.events.layer(layer);
  }

  nextLayer(): void {
    this.setLayer(LAYERS[(LAYERS.indexOf(this.layer) + 1) % LAYERS.length]);
  }

  toggleSaved(): void {
    this.isSaved = !this.isSaved;
    this.show();
    this.events.saved(this.isSaved);
  }

  setOverlay(name: OverlayName): void {
    this.overlay = name;
    this.show();
    this.events.overlay(name);
  }

  nextOverlay(): void {
    const known = Array.from(this.list.options, option => option.value as OverlayName);
    this.setOverlay(known[(known.indexOf(this.overlay) + 1) % known.length]);
  }

  /** Hides what a document has nothing for: a module has no backward and keeps nothing. */
  offer(hasBackward: boolean, keeps: boolean): void {
    const [group, list, saved] = this.elements;
    group.hidden = list.hidden = !hasBackward;
    saved.hidden = !keeps;
  }

  private show(): void {
    for (const [layer, element] of this.layers)
      setAttributes(element, { 'aria-pressed': String(layer === this.layer) });
    setAttributes(this.savedButton, { 'aria-pressed': String(this.isSaved) });
    this.list.value = this.overlay;
  }
}

/** Without a kernel nothing can be measured. */
const names = (live: boolean) =>
  (Object.keys(OVERLAYS) as OverlayName[]).filter(name => live || name === 'none' || name === 'bytes');

const TITLES: Record<Layer, string> = {
  both: 'Calls, and the nodes of backward under them (l)',
  forward: 'What was called, and the shapes of values (l)',
  backward: 'The nodes that gradients pass (l)',
};
