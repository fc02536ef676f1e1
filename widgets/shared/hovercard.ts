// A small card beside a node: what it is at once, what is in it when Python has answered.
import { statistics } from './arrays';
import { h } from './dom';
import { shape as shapeText, short } from './format';
import { linesOf } from './outline';
import type { Run } from './run';
import type { Scene } from './scene';
import type { NodeDetail } from './snapshot';

/** Nothing is asked while the pointer only passes. */
const DWELL = 140;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export class HoverCard {
  readonly element = h('div', { class: 'tl-card', role: 'tooltip', hidden: true });
  private node = -1;
  private timer = 0;

  constructor(private readonly detailOf: (node: number) => Promise<NodeDetail> | null) {}

  readonly undo = (): void => this.hide();

  hide(): void {
    clearTimeout(this.timer);
    this.node = -1;
    this.element.hidden = true;
  }

  show(scene: Scene, run: Run | null, node: number, place: Place): void {
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

  private put({ x, y, h: high }: Place): void {
    const { element } = this;
    element.hidden = false;
    const room = element.parentElement!;
    const [w, tall] = [element.offsetWidth, element.offsetHeight];
    const left = Math.max(8, Math.min(room.clientWidth - w - 8, x + 16));
    const below = y + high + 10;
    const top = below + tall <= room.clientHeight - 8 ? below : Math.max(8, y - tall - 10);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
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
