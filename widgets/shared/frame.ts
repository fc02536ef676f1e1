// The frame of an instrument that is made of elements: head, main part, aside, foot, help, and its empty and failed states.
import { button, Help, isTyping, matches, type Key } from './controls';
import { h, setText, Undos, type Undo } from './dom';
import { ExportMenu, type Exporter } from './export';

export interface FrameOptions {
  readonly testid: string;
  /** What the instrument is, first word of the head. */
  readonly what: string;
  readonly keys: readonly Key[];
  /** Where its exported pictures come from: `exporterOf(client)`. */
  readonly exporter: Exporter;
}

export class Frame {
  readonly root: HTMLElement;
  readonly controls = h('div', { class: 'tl-controls', role: 'toolbar', 'aria-label': 'controls' });
  readonly main = h('div', { class: 'tl-main' });
  readonly aside = h('aside', { class: 'tl-inspector', 'data-testid': 'tl-inspector', tabindex: -1 });
  readonly undos = new Undos();
  private painted = 0;
  private readonly of = h('code', { class: 'tl-of tl-cut' });
  private readonly status = h('span', { class: 'tl-status tl-muted tl-cut', 'data-testid': 'tl-status' });
  private readonly sentence = h('p', {
    class: 'tl-sentence',
    'data-testid': 'tl-sentence',
    'aria-live': 'polite',
  });
  private readonly errors = h('p', {
    class: 'tl-error tl-wrong',
    role: 'alert',
    'data-testid': 'tl-error',
    hidden: true,
  });
  private readonly help: Help;

  constructor(host: HTMLElement, options: FrameOptions) {
    this.root = h('div', {
      class: 'tl tl-elements',
      'data-testid': options.testid,
      'data-painted': 0,
      tabindex: -1,
      role: 'region',
      'aria-label': options.what,
    });
    const menu = new ExportMenu(this.root, options.exporter, { failed: message => this.fail(message) });
    const keys: Key[] = [
      ...options.keys,
      menu.key,
      { name: '?', does: 'list all keys', run: () => this.help.toggle() },
    ];
    this.help = new Help(keys);
    this.controls.append(
      menu.element,
      button({ icon: 'help', label: 'All keys', key: '?', bare: true }, () => this.help.toggle()),
    );
    const title = h('div', { class: 'tl-title' }, h('strong', {}, options.what), this.of, this.status);
    this.root.append(
      h('header', { class: 'tl-head' }, title, this.controls),
      h('div', { class: 'tl-columns' }, this.main, this.aside),
      h('footer', { class: 'tl-foot' }, h('div', { class: 'tl-foot-row' }, this.sentence), this.errors),
      this.help.element,
    );
    host.append(this.root);
    this.undos.add(menu.undo, this.help.undo, () => this.root.remove());
    // JupyterLab must not take the keys of this instrument for its own.
    this.undos.on(
      window,
      'keydown',
      ({ target, ctrlKey, altKey, metaKey }) => {
        if (target instanceof Element && this.root.contains(target))
          target.toggleAttribute('data-lm-suppress-shortcuts', !(ctrlKey || altKey || metaKey));
      },
      { capture: true },
    );
    this.undos.on(this.root, 'keydown', event => {
      if (event.defaultPrevented || (isTyping(event.target) && event.key.length === 1)) return;
      const key = keys.find(({ name, run }) => run && matches(event, name));
      if (!key) return;
      event.preventDefault();
      event.stopPropagation();
      key.run!();
    });
  }

  readonly undo: Undo = () => this.undos.undo();

  setTitle(of: string, status: string): void {
    setText(this.of, of);
    setText(this.status, status);
  }

  say(sentence: string): void {
    setText(this.sentence, sentence);
  }

  /** Something could not be done; an empty text takes the word back. */
  fail(message: string): void {
    this.errors.hidden = !message;
    setText(this.errors, message);
  }

  /** Nothing can be shown at all. */
  giveUp(message: string): void {
    this.main.replaceChildren(h('p', { class: 'tl-nothing-here' }, message));
    this.aside.replaceChildren();
    this.drawn();
  }

  drawn(): void {
    this.root.dataset.painted = String(++this.painted);
  }
}
