// What a view gives away: an SVG, a PNG of twice its size, or a page of HTML that needs no kernel. One menu for every instrument.
import { button, type Key } from './controls';
import { h, setText, Undos, type Undo } from './dom';
import type { Client } from './protocol';

export interface Exported {
  readonly name: string;
  readonly text: string;
}

/** Where a view's pictures come from. `look` says how a person has arranged it. */
export interface Exporter {
  svg(look: Record<string, unknown>): Promise<Exported>;
  /** Left out where nobody can make a page. */
  html?(): Promise<Exported>;
}

/** Asks Python for the pictures of a view. */
export function exporterOf(client: Client): Exporter {
  return {
    svg: look => client.request<Exported>('export', { kind: 'svg', ...look }),
    html: () => client.request<Exported>('export', { kind: 'html' }),
  };
}

export interface ExportEvents {
  /** How a person has arranged the view. */
  look?(): Record<string, unknown>;
  failed(message: string): void;
}

const ITEMS = [
  { kind: 'svg', name: 'SVG', about: 'picture in both themes' },
  { kind: 'png', name: 'PNG', about: 'this theme, twice the size' },
  { kind: 'html', name: 'HTML', about: 'page, works without a kernel' },
] as const;

type Kind = (typeof ITEMS)[number]['kind'];

/** The button, the menu that it opens, and a word for screen readers when a file was made. */
export class ExportMenu {
  readonly element: HTMLElement;
  readonly key: Key = { name: 'x', does: 'Export: SVG, PNG or a page of HTML', run: () => this.toggle() };
  private readonly opener: HTMLButtonElement;
  private readonly menu: HTMLElement;
  private readonly items: readonly HTMLButtonElement[];
  private readonly told = h('span', { class: 'tl-unseen', role: 'status', 'data-testid': 'tl-exported' });
  private readonly undos = new Undos();
  private live = true;

  constructor(
    private readonly root: HTMLElement,
    private readonly exporter: Exporter,
    private readonly events: ExportEvents,
  ) {
    this.opener = button({ icon: 'save', label: 'Export', key: 'x', bare: true, testid: 'tl-export' }, () =>
      this.toggle(),
    );
    this.opener.setAttribute('aria-haspopup', 'menu');
    this.items = ITEMS.filter(({ kind }) => kind !== 'html' || exporter.html).map(({ kind, name, about }) => {
      const item = h(
        'button',
        { type: 'button', role: 'menuitem', tabindex: -1, class: 'tl-menu-item', 'data-kind': kind },
        h('strong', {}, name),
        h('span', { class: 'tl-muted' }, about),
      );
      item.addEventListener('click', () => void this.give(kind));
      return item;
    });
    this.menu = h(
      'div',
      {
        class: 'tl-menu',
        role: 'menu',
        'aria-label': 'Export',
        'data-testid': 'tl-export-menu',
        hidden: true,
      },
      ...this.items,
    );
    this.element = h('div', { class: 'tl-export' }, this.opener, this.menu, this.told);
    this.undos.on(this.menu, 'keydown', event => this.walk(event));
    this.undos.on(document, 'pointerdown', event => {
      if (!this.element.contains(event.target as Node)) this.toggle(false);
    });
    this.undos.on(this.element, 'focusout', event => {
      if (event.relatedTarget && !this.element.contains(event.relatedTarget as Node)) this.toggle(false);
    });
    this.undos.add(() => (this.live = false));
    this.toggle(false);
  }

  readonly undo: Undo = () => this.undos.undo();

  toggle(open = this.menu.hidden): void {
    const inside = this.menu.contains(document.activeElement);
    this.menu.hidden = !open;
    this.opener.setAttribute('aria-expanded', String(open));
    if (open) this.items[0].focus({ preventScroll: true });
    else if (inside) this.opener.focus({ preventScroll: true });
  }

  private walk(event: KeyboardEvent): void {
    const at = this.items.indexOf(document.activeElement as HTMLButtonElement);
    const { length } = this.items;
    const to: Record<string, number> = {
      ArrowDown: (at + 1) % length,
      ArrowUp: (at + length - 1) % length,
      Home: 0,
      End: length - 1,
    };
    if (event.key in to) this.items[to[event.key]].focus({ preventScroll: true });
    else if (event.key === 'Escape' || event.key === 'x') this.toggle(false);
    else if (event.key === 'Tab') return this.toggle(false);
    else if (event.key === 'Enter' || event.key === ' ') this.items[at]?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private async give(kind: Kind): Promise<void> {
    this.toggle(false);
    this.opener.classList.add('tl-working');
    setText(this.told, `Making the ${kind.toUpperCase()} file.`);
    try {
      const { name, text } =
        kind === 'html' ? await this.exporter.html!() : await this.exporter.svg(this.events.look?.() ?? {});
      const blob =
        kind === 'png'
          ? await rastered(text, this.root)
          : new Blob([text], { type: kind === 'svg' ? 'image/svg+xml' : 'text/html' });
      if (!this.live) return;
      const file = kind === 'png' ? name.replace(/\.svg$/, '.png') : name;
      download(file, blob);
      setText(this.told, `Saved ${file}.`);
    } catch (error) {
      setText(this.told, '');
      if (this.live) this.events.failed(`This could not be exported: ${(error as Error).message}`);
    } finally {
      this.opener.classList.remove('tl-working');
    }
  }
}

function download(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  const link = h('a', { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A picture in one theme: ours carry both, and choose by the system's. */
export function themed(picture: string, dark: boolean): string {
  return picture.replace(/@media\(prefers-color-scheme:dark\)\{(\.tl-svg\{[^}]*\})\}/g, dark ? '$1' : '');
}

const SCALE = 2;
/** No side of a canvas may be longer than this, nor may it have more pixels. */
const LONGEST = 16_384;
const MOST_PIXELS = 120e6;

async function rastered(picture: string, root: HTMLElement): Promise<Blob> {
  const style = getComputedStyle(root);
  const image = new Image();
  const dark = style.colorScheme === 'dark';
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(themed(picture, dark))}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(SCALE, LONGEST / Math.max(width, height), Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d')!;
  context.fillStyle = dark ? '#16191d' : '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob => (blob ? resolve(blob) : reject(new Error('the picture is too large'))),
      'image/png',
    ),
  );
}
