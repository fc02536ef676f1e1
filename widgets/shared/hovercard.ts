// A small card beside a node: what it is at once, what is in it when Python has answered.
import { statistics } from './arrays';
import { h } from './dom';
import { shape as shapeText, short } from './format';
import { linesOf } from './outline';
import type { Run } from './run';
import type { Rect, Scene } from './scene';
import type { NodeDetail } from './snapshot';

/** Nothing is asked while the pointer only passes. */
const DWELL = 140;

export class HoverCard {
  readonly element = h('div', { class: 'tl-card', role: 'tooltip', hidden: true });
  private node = -1;
  private timer = 0;

  /** `covered` counts the boxes that a place of the picture would cover. */
  constructor(
    private readonly detailOf: (node: number) => Promise<NodeDetail> | null,
    private readonly covered: (place: Rect) => number,
  ) {}

  readonly undo = (): void => this.hide();

  hide(): void {
    clearTimeout(this.timer);
    this.node = -1;
    this.element.hidden = true;
  }

  show(scene: Scene, run: Run | null, node: number, place: Rect): void {
    if (node === this.node) return;
    this.hide();
    this.node = node;
    this.timer = window.setTimeout(() => {
      this.fill(scene, run, node, null);
      this.put(place);
      const asked = this.detailOf(node);
      asked
        ?.then(detail => {
          if (this.node !== node) return;
          this.fill(scene, run, node, detail);
          this.put(place);
        })
        .catch(() => undefined);
    }, DWELL);
  }

  /** Beside the node, on the side where it covers the fewest others; below or above it where it fits on neither. */
  private put(node: Rect): void {
    const { element } = this;
    element.hidden = false;
    const { clientWidth, clientHeight } = element.parentElement!;
    const [w, h] = [element.offsetWidth, element.offsetHeight];
    const inside = (at: number, size: number, room: number) => Math.max(8, Math.min(room - size - 8, at));
    const level = inside(node.y, h, clientHeight);
    const along = inside(node.x + 16, w, clientWidth);
    const places = [
      { x: node.x + node.w + 14, y: level },
      { x: node.x - w - 14, y: level },
      { x: along, y: node.y + node.h + 22 },
      { x: along, y: node.y - h - 12 },
    ].map(({ x, y }) => ({ x, y, w, h }));
    const cost = (place: Rect) => {
      const out =
        place.x < 4 || place.y < 4 || place.x + w > clientWidth - 4 || place.y + h > clientHeight - 4;
      return this.covered(place) + (out ? 1000 : 0);
    };
    const best = places.reduce((a, b) => (cost(b) < cost(a) ? b : a));
    element.style.left = `${inside(best.x, w, clientWidth)}px`;
    element.style.top = `${inside(best.y, h, clientHeight)}px`;
  }

  private fill(scene: Scene, run: Run | null, node: number, detail: NodeDetail | null): void {
    const { graph } = scene.outline;
    const { title, subtitle } = linesOf(scene.outline, node);
    const site = detail?.site ?? graph.sites[graph.nodes.site[node]];
    const value = detail?.value ?? null;
    const norm = run ? run.norm[node] : -1;
    const array = detail ? shapeText(detail.shape) + (detail.dtype ? ` ${detail.dtype}` : '') : subtitle;
    const strides = detail?.stride.length ? ` · stride (${detail.stride.join(', ')})` : '';
    const line = (text: string, code = false) => text && h(code ? 'code' : 'span', { class: 'tl-cut' }, text);
    this.element.replaceChildren(
      h('strong', { class: 'tl-cut' }, title),
      ...[
        line(detail?.formula ?? '', true),
        line(array + strides),
        line(value ? statistics(value) : ''),
        line(norm >= 0 ? `waiting gradient: norm ${short(norm)}` : ''),
        line(site ? `line ${site.line}: ${site.code}` : '', true),
      ].filter(part => part instanceof HTMLElement),
    );
  }
}
