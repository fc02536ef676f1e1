// A whole number that is typed, stepped with the arrow keys, or dragged sideways.
import { h } from './dom';

/** Pixels of dragging that change a number by one. */
const PIXELS = 8;

export interface NumberField {
  readonly label: string;
  readonly value: number;
  readonly most?: number;
  /** Called with every number that it takes. */
  readonly set: (value: number) => void;
}

export function numberField({ label, value, most, set }: NumberField): HTMLInputElement {
  let now = value;
  const input = h('input', {
    class: 'tl-input tl-number',
    type: 'number',
    min: 0,
    max: most,
    step: 1,
    value: String(value),
    'aria-label': label,
    'data-field': label,
  });
  const take = (wanted: number, write = true) => {
    if (!Number.isInteger(wanted) || wanted < 0) return;
    now = Math.min(wanted, most ?? Infinity);
    if (write) input.value = String(now);
    set(now);
  };
  input.addEventListener('input', () => input.value !== '' && take(Number(input.value)));
  input.addEventListener('keydown', event => event.stopPropagation());
  input.addEventListener('pointerdown', start => {
    const from = now;
    const move = (event: PointerEvent) => {
      const steps = Math.round((event.clientX - start.clientX) / PIXELS);
      if (steps || now !== from) take(Math.max(0, from + steps));
    };
    const end = () => {
      for (const [type, listener] of listeners) window.removeEventListener(type, listener);
    };
    const listeners: [string, EventListener][] = [
      ['pointermove', move as EventListener],
      ['pointerup', end],
      ['pointercancel', end],
    ];
    for (const [type, listener] of listeners) window.addEventListener(type, listener);
  });
  return input;
}
