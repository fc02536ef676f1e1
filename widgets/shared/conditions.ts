// "Break when ...": conditions that stop a run wherever a gradient fulfils them.
import { button, enable, isTyping } from './controls';
import { h, Undos } from './dom';
import { parseNumber, plural } from './format';
import type { Predicate, PredicateKind } from './snapshot';

interface Row {
  readonly kind: PredicateKind;
  readonly box: HTMLInputElement;
  readonly number: HTMLInputElement | null;
}

const CHOICES: readonly { kind: PredicateKind; text: string; testid: string; value?: string }[] = [
  { kind: 'nan', text: 'a gradient holds NaN', testid: 'tl-break-nan' },
  { kind: 'inf', text: 'a gradient holds Inf', testid: 'tl-break-inf' },
  { kind: 'norm_above', text: 'its norm is above', testid: 'tl-break-above', value: '1e3' },
  { kind: 'norm_below', text: 'its norm is below', testid: 'tl-break-below', value: '1e-8' },
];

export class Conditions {
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
  private readonly rows: Row[];
  private readonly count = h('span', { class: 'tl-muted' });
  private readonly clear: HTMLButtonElement;
  private readonly undos = new Undos();

  constructor(
    private readonly changed: (predicates: Predicate[]) => void,
    clearNodes: () => void,
    private readonly leave: () => void,
  ) {
    this.button = button(
      {
        icon: 'condition',
        label: 'Break when',
        testid: 'tl-break-when',
        title: 'Stop wherever a gradient …',
      },
      () => this.toggle(),
    );
    this.button.setAttribute('aria-expanded', 'false');
    this.rows = CHOICES.map(({ kind, testid, value }) => ({
      kind,
      box: h('input', { type: 'checkbox', 'data-testid': testid }),
      number: value === undefined ? null : this.numberInput(value, testid),
    }));
    const lines = this.rows.map(({ box, number }, i) =>
      h('div', { class: 'tl-condition' }, h('label', {}, box, CHOICES[i].text), number),
    );
    this.clear = button({ icon: 'close', label: 'Clear all' }, clearNodes);
    this.panel = h(
      'div',
      { class: 'tl-conditions', role: 'group', 'aria-label': 'stop before a node when', hidden: true },
      h('h4', {}, 'Stop before a node when'),
      ...lines,
      h('div', { class: 'tl-condition' }, this.count, this.clear),
    );
    for (const { box, number } of this.rows) {
      this.undos.on(box, 'change', () => this.tell());
      if (number) this.undos.on(number, 'change', () => this.tell());
    }
    this.undos.on(this.panel, 'keydown', event => {
      // What is typed is nobody else's: JupyterLab would take Enter, which sets the number here.
      if (!/^F\d/.test(event.key)) event.stopPropagation();
      if (event.key === 'Enter' && isTyping(event.target)) this.tell();
      if (event.key !== 'Escape') return;
      event.preventDefault();
      this.toggle(false);
      this.button.focus({ preventScroll: true });
    });
    const outside = (event: PointerEvent) => {
      const target = event.target as Node;
      if (!this.panel.hidden && !this.panel.contains(target) && !this.button.contains(target))
        this.toggle(false);
    };
    this.undos.on(document.body, 'pointerdown', outside);
  }

  readonly undo = (): void => this.undos.undo();

  show(predicates: readonly Predicate[], nodes: number): void {
    for (const { kind, box, number } of this.rows) {
      const set = predicates.find(each => each.kind === kind);
      box.checked = set !== undefined;
      if (number && set && set.value !== null && document.activeElement !== number)
        number.value = String(set.value);
    }
    const active = predicates.length;
    this.button.classList.toggle('tl-active', active > 0);
    this.button.setAttribute(
      'aria-label',
      active ? `Break when, ${plural(active, 'condition')} set` : 'Break when',
    );
    this.count.textContent = nodes ? plural(nodes, 'breakpoint') : 'No breakpoint at a node.';
    enable(this.clear, nodes > 0);
  }

  toggle(open = this.panel.hidden): void {
    this.panel.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
    if (open) this.rows[0].box.focus({ preventScroll: true });
    else this.leave();
  }

  private numberInput(value: string, testid: string): HTMLInputElement {
    return h('input', {
      class: 'tl-input',
      value,
      size: 6,
      spellcheck: 'false',
      'aria-label': 'norm',
      'data-testid': `${testid}-value`,
    });
  }

  private tell(): void {
    const predicates: Predicate[] = [];
    for (const { kind, box, number } of this.rows) {
      const value = number ? parseNumber(number.value) : null;
      number?.classList.toggle('tl-wrong', typeof value !== 'number');
      if (!box.checked || (number && typeof value !== 'number')) continue;
      predicates.push({ kind, value: typeof value === 'number' ? value : null });
    }
    this.changed(predicates);
  }
}
