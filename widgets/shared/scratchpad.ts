// A view to try out: sizes, strides and an offset that are typed, stepped with the arrow keys or dragged.
import { button } from './controls';
import { h, setText } from './dom';
import { numberField } from './numberfield';
import type { LayoutDocument, Scratch } from './snapshot';

type Ask = (shape: number[], stride: number[], offset: number) => Promise<Scratch>;

const MOST = 6;

export class Scratchpad {
  readonly element: HTMLElement;
  private readonly fields = h('div', { class: 'tl-fields' });
  private readonly note = h('p', { class: 'tl-muted', role: 'status', 'data-testid': 'tl-scratch-note' });
  private readonly call = h('code', { class: 'tl-scratch-call', 'data-testid': 'tl-scratch-call' });
  private readonly table = h('table', {
    class: 'tl-grid tl-small',
    'data-testid': 'tl-scratch-grid',
    'aria-label': 'values of the scratch view',
  });
  private document: LayoutDocument | null = null;
  private shape: number[] = [];
  private stride: number[] = [];
  private offset = 0;
  private asked = 0;

  /** `shown` hears of every view that was tried out, and null when the pad is as the tensor is. */
  constructor(
    private readonly ask: Ask,
    private readonly shown: (scratch: Scratch | null) => void,
  ) {
    const hint = h(
      'p',
      { class: 'tl-muted' },
      'Type a number, drag it, or use the arrow keys. A scratch view never touches your tensor.',
    );
    const buttons = h(
      'div',
      { class: 'tl-field-row' },
      button({ icon: 'plus', label: 'Dimension', testid: 'tl-more-dims' }, () => this.grow()),
      button({ icon: 'minus', label: 'Dimension', title: 'One dimension less', testid: 'tl-less-dims' }, () =>
        this.shrink(),
      ),
      button({ icon: 'restart', label: 'As it is', testid: 'tl-scratch-reset' }, () =>
        this.reset(this.document!),
      ),
    );
    this.element = h(
      'div',
      { class: 'tl-scratch', 'data-testid': 'tl-scratch' },
      this.fields,
      buttons,
      this.call,
      this.note,
      this.table,
      hint,
    );
  }

  reset(document: LayoutDocument): void {
    this.document = document;
    this.asked++;
    this.shape = [...document.shape];
    this.stride = [...document.stride];
    this.offset = document.offset;
    this.draw();
    setText(this.note, 'as the tensor is');
    setText(this.call, '');
    this.table.replaceChildren();
    this.shown(null);
  }

  private grow(): void {
    if (this.shape.length >= MOST) return;
    this.shape.push(2);
    this.stride.push(1);
    this.draw();
    void this.tryOut();
  }

  private shrink(): void {
    if (!this.shape.length) return;
    this.shape.pop();
    this.stride.pop();
    this.draw();
    void this.tryOut();
  }

  private draw(): void {
    const line = (name: string, numbers: number[]) =>
      h(
        'div',
        { class: 'tl-field-row' },
        h('span', { class: 'tl-muted' }, name),
        ...numbers.map((value, d) =>
          numberField({ label: `${name} ${d}`, value, set: wanted => this.put(numbers, d, wanted) }),
        ),
      );
    const offset = numberField({
      label: 'offset',
      value: this.offset,
      set: wanted => {
        this.offset = wanted;
        void this.tryOut();
      },
    });
    this.fields.replaceChildren(
      line('shape', this.shape),
      line('stride', this.stride),
      h('div', { class: 'tl-field-row' }, h('span', { class: 'tl-muted' }, 'offset'), offset),
    );
  }

  private put(numbers: number[], at: number, value: number): void {
    numbers[at] = value;
    void this.tryOut();
  }

  private async tryOut(): Promise<void> {
    const asked = ++this.asked;
    try {
      const found = await this.ask(this.shape, this.stride, this.offset);
      if (asked !== this.asked) return;
      setText(this.note, found.note);
      setText(this.call, `${this.document!.title || 'it'}.${found.call}`);
      this.note.classList.toggle('tl-wrong', found.grid === null);
      const rows = found.grid?.text ?? [];
      this.table.replaceChildren(...rows.map(row => h('tr', {}, ...row.map(text => h('td', {}, text)))));
      this.shown(found);
    } catch (error) {
      if (asked === this.asked) setText(this.note, (error as Error).message);
    }
  }
}
