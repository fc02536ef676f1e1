// Watched expressions: typed once, told after every step.
import { button } from './controls';
import { h, Undos } from './dom';
import { icon } from './icons';
import type { Watched } from './asking';

export class Watches {
  readonly element: HTMLElement;
  private readonly rows = h('div', { class: 'tl-watch-rows', role: 'list' });
  private readonly input = h('input', {
    class: 'tl-input',
    placeholder: 'grad.norm()',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'an expression to watch',
    'data-testid': 'tl-watch-input',
  });
  private readonly says = h('span', {
    class: 'tl-caption',
    'aria-live': 'polite',
    'data-testid': 'tl-watch-says',
  });
  private readonly undos = new Undos();
  private shown: readonly Watched[] = [];

  constructor(
    /** Asks for these expressions to be watched; rejects with why not. */
    private readonly set: (expressions: string[]) => Promise<void>,
    private readonly leave: () => void,
  ) {
    const form = h(
      'form',
      { class: 'tl-watch-form' },
      h('label', {}, 'Watch', this.input),
      button({ icon: 'plus', label: 'Add', bare: true }, () => void this.add()),
      this.says,
    );
    const title = 'an expression on grad, grads, node (node.saved["self"]) and your own names';
    form.title = title;
    this.element = h(
      'section',
      { class: 'tl-watches', 'data-testid': 'tl-watches', 'aria-label': 'watched expressions', hidden: true },
      this.rows,
      form,
    );
    this.undos.on(form, 'submit', event => {
      event.preventDefault();
      void this.add();
    });
    this.undos.on(this.element, 'keydown', event => {
      if (!/^F\d/.test(event.key)) event.stopPropagation();
      if (event.key !== 'Escape') return;
      event.preventDefault();
      if (!this.shown.length) this.element.hidden = true;
      this.leave();
    });
  }

  readonly undo = (): void => this.undos.undo();

  /** Opens it and gives its input the keyboard. */
  open(): void {
    this.element.hidden = false;
    this.input.focus({ preventScroll: true });
  }

  show(watches: readonly Watched[]): void {
    this.shown = watches;
    if (watches.length) this.element.hidden = false;
    this.rows.replaceChildren(...watches.map(watch => this.row(watch)));
  }

  private row({ expression, text, wrong, changed }: Watched): HTMLElement {
    const remove = button(
      { icon: 'close', label: `Watch ${expression} no more`, bare: true, testid: 'tl-watch-remove' },
      () => void this.ask(this.shown.map(each => each.expression).filter(each => each !== expression)),
    );
    const value = h('code', { class: wrong ? 'tl-wrong' : '', title: text }, text);
    const mark = h(
      'span',
      { class: 'tl-watch-mark', title: changed ? 'changed by the last move' : null },
      wrong ? icon('close', 11) : changed ? icon('changed', 11) : null,
    );
    if (wrong) mark.setAttribute('title', 'it could not be worked out');
    return h(
      'div',
      {
        class: 'tl-watch',
        role: 'listitem',
        'data-testid': 'tl-watch',
        'data-changed': changed ? 'true' : null,
      },
      h('code', { class: 'tl-cut', title: expression }, expression),
      mark,
      value,
      remove,
    );
  }

  private async add(): Promise<void> {
    const text = this.input.value.trim();
    if (!text) return;
    if (await this.ask([...this.shown.map(each => each.expression), text])) this.input.value = '';
  }

  private async ask(expressions: string[]): Promise<boolean> {
    try {
      await this.set(expressions);
      this.says.textContent = '';
      this.says.classList.remove('tl-wrong');
      return true;
    } catch (error) {
      this.says.textContent = (error as Error).message;
      this.says.classList.add('tl-wrong');
      return false;
    }
  }
}
