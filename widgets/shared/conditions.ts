// "Break when ...": conditions that stop a run before the nodes that fulfil them.
import { button, enable, isTyping } from './controls';
import { h, Undos } from './dom';
import { parseNumber, plural } from './format';
import type { Graph } from './snapshot';
import type { Predicate, PredicateKind } from './asking';

interface Choice {
  readonly kind: PredicateKind;
  readonly text: string;
  readonly testid: string;
  /** What its input holds at first; without one there is none. */
  readonly value?: string;
  /** What its input is called, and whether it takes words. */
  readonly input?: string;
  readonly words?: boolean;
}

interface Row {
  readonly choice: Choice;
  readonly box: HTMLInputElement;
  readonly input: HTMLInputElement | null;
}

const CHOICES: readonly Choice[] = [
  { kind: 'nan', text: 'the gradient holds NaN', testid: 'tl-break-nan' },
  { kind: 'inf', text: 'the gradient holds Inf', testid: 'tl-break-inf' },
  { kind: 'norm_above', text: 'its norm is above', testid: 'tl-break-above', value: '1e3', input: 'norm' },
  { kind: 'norm_below', text: 'its norm is below', testid: 'tl-break-below', value: '1e-8', input: 'norm' },
  {
    kind: 'shape',
    text: 'its shape is',
    testid: 'tl-break-shape',
    value: '[64, *]',
    input: 'shape, * is any size',
    words: true,
  },
  {
    kind: 'module',
    text: 'a module made it',
    testid: 'tl-break-module',
    value: '',
    input: 'module',
    words: true,
  },
  { kind: 'line', text: 'a line made it', testid: 'tl-break-line', value: '', input: 'line', words: true },
  { kind: 'hit', text: 'but only hit number', testid: 'tl-break-hit', value: '1', input: 'which hit' },
];

let lists = 0;

export class Conditions {
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
  private readonly rows: Row[];
  private readonly together = h(
    'select',
    { class: 'tl-input', 'aria-label': 'how many must hold', 'data-testid': 'tl-break-together' },
    h('option', { value: 'any' }, 'one holds'),
    h('option', { value: 'all' }, 'all hold'),
  );
  private readonly count = h('span', { class: 'tl-muted' });
  private readonly clear: HTMLButtonElement;
  private readonly undos = new Undos();

  constructor(
    private readonly changed: (predicates: Predicate[], together: boolean) => void,
    clearNodes: () => void,
    private readonly leave: () => void,
  ) {
    this.button = button(
      {
        icon: 'condition',
        label: 'Break when',
        testid: 'tl-break-when',
        title: 'Stop before nodes that fulfil a condition',
      },
      () => this.toggle(),
    );
    this.button.setAttribute('aria-expanded', 'false');
    this.rows = CHOICES.map(choice => ({
      choice,
      box: h('input', { type: 'checkbox', 'data-testid': choice.testid }),
      input: choice.value === undefined ? null : inputOf(choice),
    }));
    const lines = this.rows.map(({ box, input, choice }) =>
      h('div', { class: 'tl-condition' }, h('label', {}, box, choice.text), input),
    );
    this.clear = button({ icon: 'close', label: 'Clear all' }, clearNodes);
    this.panel = h(
      'div',
      { class: 'tl-conditions', role: 'group', 'aria-label': 'stop before a node when', hidden: true },
      h('div', { class: 'tl-condition' }, h('h4', {}, 'Stop before a node when'), this.together),
      ...lines,
      h('div', { class: 'tl-condition' }, this.count, this.clear),
    );
    for (const { box, input } of this.rows) {
      this.undos.on(box, 'change', () => this.tell(input && box.checked ? input : null));
      if (input) this.undos.on(input, 'change', () => this.tell());
    }
    this.undos.on(this.together, 'change', () => this.tell());
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

  /** What the graph offers to choose from: the modules and lines that made its nodes. */
  offer(graph: Graph): void {
    const modules = [...new Set(graph.groups.map(group => group.name).filter(Boolean))].slice(0, 200);
    const lines = graph.sites.map(({ cell, file, line }) =>
      cell >= 0 ? `cell ${cell}, line ${line}` : `${file}:${line}`,
    );
    for (const { choice, input } of this.rows) {
      const words = choice.kind === 'module' ? modules : choice.kind === 'line' ? lines.slice(0, 200) : [];
      if (!input || !words.length) continue;
      const list = h('datalist', { id: `tl-list-${++lists}` }, ...words.map(value => h('option', { value })));
      input.setAttribute('list', list.id);
      input.placeholder = words[words.length - 1];
      this.panel.append(list);
    }
  }

  show(predicates: readonly Predicate[], nodes: number, together: boolean): void {
    for (const { choice, box, input } of this.rows) {
      const set = predicates.find(each => each.kind === choice.kind);
      // A condition that still lacks its word stays ticked while one types it.
      if (!set && input?.classList.contains('tl-wrong') && choice.words) continue;
      box.checked = set !== undefined;
      if (!input || !set || document.activeElement === input) continue;
      input.value = choice.words ? set.text : String(set.value);
    }
    this.together.value = together ? 'all' : 'any';
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

  /** Tells what is set. A condition that still lacks its word waits for it, in the input that is given the focus. */
  private tell(lacking: HTMLInputElement | null = null): void {
    const predicates: Predicate[] = [];
    for (const { choice, box, input } of this.rows) {
      const { kind } = choice;
      const text = choice.words ? input!.value.trim() : '';
      const value = input && !choice.words ? parseNumber(input.value) : null;
      const whole = kind !== 'hit' || (Number.isInteger(value) && (value as number) > 0);
      const right = !input || (choice.words ? text !== '' : typeof value === 'number' && whole);
      input?.classList.toggle('tl-wrong', box.checked && !right);
      if (!box.checked || !right) continue;
      predicates.push({ kind, value: typeof value === 'number' ? value : null, text });
    }
    if (lacking?.classList.contains('tl-wrong')) lacking.focus({ preventScroll: true });
    this.changed(predicates, this.together.value === 'all');
  }
}

function inputOf({ value, testid, input, words }: Choice): HTMLInputElement {
  return h('input', {
    class: words ? 'tl-input tl-words' : 'tl-input',
    value,
    size: words ? 14 : 6,
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': input,
    'data-testid': `${testid}-value`,
  });
}
