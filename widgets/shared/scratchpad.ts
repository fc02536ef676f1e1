// A view to try out: sizes, strides and an offset that are typed, stepped with the arrow keys or dragged.
import { h } from './dom';
import type { LayoutDocument, Scratch } from './snapshot';

type Ask = (shape: number[], stride: number[], offset: number) => Promise<Scratch>;

/** Pixels of dragging that change a number by one. */
const PIXELS = 8;

export class Scratchpad {
  readonly element: HTMLElement;
  private readonly fields = h('div', { class: 'tl-fields' });
  private readonly note = h('p', {
    class: 'tl-muted',
    'aria-live': 'polite',
    'data-testid': 'tl-scratch-note',
  });
  private readonly table = h('table', { class: 'tl-grid tl-small', 'data-testid': 'tl-scratch-grid' });
  private shape: number[] = [];
  private stride: number[] = [];
  private offset = 0;
  private asked = 0;

  constructor(private readonly ask: Ask) {
    const hint = h(
      'p',
      { class: 'tl-muted' },
      'Type a number, or drag it. A scratch view never touches your tensor.',
    );
    this.element = h(
      'div',
      { class: 'tl-scratch', 'data-testid': 'tl-scratch' },
      this.fields,
      this.note,
      this.table,
      hint,
    );
  }

  reset(document: LayoutDocument): void {
    this.shape = [...document.shape];
    this.stride = [...document.stride];
    this.offset = document.offset;
    const line = (name: string, numbers: number[]) =>
      h(
        'div',
        { class: 'tl-field-row' },
        h('span', { class: 'tl-muted' }, name),
        ...numbers.map((_, d) => this.field(`${name} ${d}`, numbers, d)),
      );
    const offset = [this.offset];
    const single = this.field('offset', offset, 0, () => (this.offset = offset[0]));
    this.fields.replaceChildren(
      line('shape', this.shape),
      line('stride', this.stride),
      h('div', { class: 'tl-field-row' }, h('span', { class: 'tl-muted' }, 'offset'), single),
    );
    this.note.textContent = 'as the tensor is';
    this.table.replaceChildren();
  }

  private field(label: string, numbers: number[], at: number, then?: () => void): HTMLElement {
    const input = h('input', {
      class: 'tl-input tl-number',
      type: 'number',
      min: 0,
      step: 1,
      value: String(numbers[at]),
      'aria-label': label,
      'data-field': label,
    });
    const set = (value: number) => {
      if (!Number.isInteger(value) || value < 0) return;
      numbers[at] = value;
      input.value = String(value);
      then?.();
      void this.tryOut();
    };
    input.addEventListener('input', () => set(Number(input.value)));
    input.addEventListener('keydown', event => event.stopPropagation());
    input.addEventListener('pointerdown', start => {
      const from = numbers[at];
      const move = (event: PointerEvent) => {
        const steps = Math.round((event.clientX - start.clientX) / PIXELS);
        if (steps || numbers[at] !== from) set(Math.max(0, from + steps));
      };
      const end = () => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', end);
        window.removeEventListener('pointercancel', end);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', end);
      window.addEventListener('pointercancel', end);
    });
    return input;
  }

  private async tryOut(): Promise<void> {
    const asked = ++this.asked;
    try {
      const found = await this.ask(this.shape, this.stride, this.offset);
      if (asked !== this.asked) return;
      this.note.textContent = found.note;
      this.note.classList.toggle('tl-wrong', found.grid === null);
      const rows = found.grid?.text ?? [];
      this.table.replaceChildren(...rows.map(row => h('tr', {}, ...row.map(text => h('td', {}, text)))));
    } catch (error) {
      if (asked === this.asked) this.note.textContent = (error as Error).message;
    }
  }
}
