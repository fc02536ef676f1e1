// Buttons that show their keys, and the list of all keys.
import { h, setAttributes, setText, Undos } from './dom';
import { icon, type IconName } from './icons';
import { legend } from './legend';

export interface Key {
  /** As on the keyboard: `F10`, `Shift+F10`, `/`, `Enter`. */
  readonly name: string;
  readonly does: string;
  /** Left out where an element of its own handles the key. */
  readonly run?: () => void;
}

/** Whether an event is that key. Function keys also act while a person types; the others do not. */
export function matches(event: KeyboardEvent, name: string): boolean {
  const shift = name.startsWith('Shift+');
  const key = shift ? name.slice(6) : name;
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  if (key.length > 1 && event.shiftKey !== shift) return false;
  return event.key === key || (key === '+' && event.key === '=');
}

export const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');

export interface ButtonLook {
  readonly icon?: IconName;
  readonly label: string;
  readonly testid?: string;
  readonly key?: string;
  readonly primary?: boolean;
  /** Only the icon is shown. */
  readonly bare?: boolean;
  readonly title?: string;
}

export function button(look: ButtonLook, act: () => void): HTMLButtonElement {
  const { label, key, bare, primary, testid } = look;
  const title = look.title ?? (key ? `${label} (${key})` : label);
  const element = h(
    'button',
    {
      type: 'button',
      class: `tl-button${primary ? ' tl-primary' : ''}${bare ? ' tl-bare' : ''}`,
      'data-testid': testid,
      'aria-label': bare ? label : null,
      'aria-keyshortcuts': key ?? null,
      title,
    },
    look.icon ? icon(look.icon) : null,
    bare ? null : h('span', { class: 'tl-label' }, label),
    key && !bare ? keycap(key) : null,
  );
  // A button that cannot act keeps the focus, so that the keys beside it go on working.
  element.addEventListener('click', () => {
    if (element.getAttribute('aria-disabled') !== 'true') act();
  });
  return element;
}

export function enable(element: HTMLElement, able: boolean): void {
  setAttributes(element, { 'aria-disabled': able ? null : 'true' });
}

/** Another word and another icon, for a button that does one of two things. */
export function relabel(element: HTMLElement, label: string, name: IconName): void {
  const text = element.querySelector('.tl-label');
  if (text) setText(text, label);
  else element.setAttribute('aria-label', label);
  element.setAttribute('title', label);
  element.querySelector('svg')?.replaceWith(icon(name));
}

function keycap(name: string): HTMLElement {
  if (!name.startsWith('Shift+')) return h('kbd', {}, name);
  return h('kbd', { 'aria-label': name }, icon('shift', 10), name.slice(6));
}

/** A panel over the instrument that lists every key; Escape or a click beside it closes it. */
export class Help {
  readonly element: HTMLElement;
  private back: HTMLElement | null = null;
  private readonly undos = new Undos();

  constructor(keys: readonly Key[]) {
    const rows = keys.map(({ name, does }) =>
      h('div', { class: 'tl-keyrow' }, keycap(name), h('span', {}, does)),
    );
    const close = button({ icon: 'close', label: 'Close', bare: true }, () => this.toggle(false));
    const panel = h(
      'div',
      {
        class: 'tl-panel',
        role: 'dialog',
        'aria-modal': 'true',
        'aria-label': 'all keys',
        'data-testid': 'tl-help',
      },
      h('div', { class: 'tl-panel-head' }, h('strong', {}, 'Keys and marks'), close),
      h('div', { class: 'tl-help' }, h('div', { class: 'tl-keys' }, ...rows), legend()),
      h(
        'p',
        { class: 'tl-muted' },
        'They act while the instrument has the focus: click it, or reach it with Tab.',
      ),
    );
    this.element = h('div', { class: 'tl-veil', hidden: true }, panel);
    this.undos.on(this.element, 'click', event => {
      if (event.target === this.element) this.toggle(false);
    });
    this.undos.on(this.element, 'keydown', event => {
      if (event.key === 'Escape' || event.key === '?') this.toggle(false);
      if (event.key === 'Tab') close.focus();
      event.preventDefault();
      event.stopPropagation();
    });
  }

  readonly undo = (): void => this.undos.undo();

  toggle(open = this.element.hidden): void {
    if (open) this.back = document.activeElement as HTMLElement | null;
    this.element.hidden = !open;
    if (open) this.element.querySelector('button')!.focus({ preventScroll: true });
    else this.back?.focus({ preventScroll: true });
  }
}
