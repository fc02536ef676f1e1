// Find: matches light up while a person types, Enter goes from one to the next.
import { h, setText, Undos } from './dom';
import { icon } from './icons';
import { placeOf } from './marks';
import { linesOf, type Outline } from './outline';
import type { Item } from './scene';

export interface FinderEvents {
  /** What was found; null when nothing is looked for. */
  found(items: readonly Item[] | null): void;
  go(item: Item): void;
  leave(): void;
}

/** What of each node a search looks at, in small letters. */
export function haystacks(outline: Outline): string[] {
  const { nodes, sites, strings } = outline.graph;
  return Array.from(nodes.id, (_, i) => {
    const { title, subtitle } = linesOf(outline, i);
    const label = strings[nodes.label[i]] ?? '';
    const name = strings[nodes.name[i]] ?? '';
    const site = sites[nodes.site[i]];
    const where = site
      ? `${placeOf(site)}\n${site.file || `cell ${site.cell}`}:${site.line}\n${site.code}`
      : '';
    const path = outline.paths[nodes.group[i]] ?? '';
    return `${title}\n${subtitle}\n${label}\n${name}\n${path}\n${where}`.toLowerCase();
  });
}

/** Positions of the nodes in which every word occurs. */
export function search(haystack: readonly string[], query: string): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: number[] = [];
  haystack.forEach((text, i) => {
    if (words.every(word => text.includes(word))) found.push(i);
  });
  return found;
}

export class Finder {
  readonly element: HTMLElement;
  private readonly input = h('input', {
    class: 'tl-input',
    type: 'search',
    placeholder: 'find node',
    'aria-label': 'find node',
    'data-testid': 'tl-find',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  private readonly count = h('span', { class: 'tl-muted tl-count', role: 'status' });
  private readonly undos = new Undos();
  private outline: Outline | null = null;
  private texts: string[] | null = null;
  private found: number[] = [];
  private at = -1;

  constructor(private readonly events: FinderEvents) {
    this.element = h('div', { class: 'tl-finder' }, icon('find'), this.input, this.count, h('kbd', {}, '/'));
    this.undos.on(this.input, 'input', () => this.look());
    this.undos.on(this.input, 'keydown', event => {
      if (event.key === 'Enter') this.next(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        this.clear();
        this.events.leave();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  readonly undo = (): void => this.undos.undo();

  setOutline(outline: Outline): void {
    this.outline = outline;
    this.texts = null;
  }

  focus(): void {
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  /** Empties it; false when it was empty. */
  clear(): boolean {
    if (!this.input.value) return false;
    this.input.value = '';
    this.look();
    return true;
  }

  /** The picture was built anew: show the matches in it. */
  again(): void {
    if (this.input.value) this.events.found(this.found);
  }

  private look(): void {
    if (!this.outline) return;
    this.texts ??= haystacks(this.outline);
    this.found = search(this.texts, this.input.value);
    this.at = -1;
    this.say();
    this.events.found(this.input.value.trim() ? this.found : null);
  }

  private next(by: number): void {
    if (!this.found.length) return;
    const { length } = this.found;
    this.at = this.at < 0 ? (by > 0 ? 0 : length - 1) : (this.at + by + length) % length;
    this.say();
    this.events.go(this.found[this.at]);
  }

  private say(): void {
    const { length } = this.found;
    const where =
      this.at < 0 ? length.toLocaleString('en') : `${this.at + 1} of ${length.toLocaleString('en')}`;
    setText(this.count, this.input.value.trim() ? (length ? where : 'none') : '');
  }
}
