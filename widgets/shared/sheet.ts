// A sentence and a table that somebody asked for: a node's backward beside differences, or what an edit has changed.
import { button } from './controls';
import { h } from './dom';
import { exact, short } from './format';
import { icon } from './icons';
import type { Changed, Check } from './asking';

export class Sheet {
  readonly element = h('section', {
    class: 'tl-sheet',
    'data-testid': 'tl-sheet',
    tabindex: -1,
    hidden: true,
  });

  constructor(private readonly leave: () => void) {}

  close(): void {
    if (this.element.hidden) return;
    const inside = this.element.contains(document.activeElement);
    this.element.hidden = true;
    this.element.replaceChildren();
    if (inside) this.leave();
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  check(found: Check): void {
    const rows = found.inputs.map(row => [
      h('code', {}, row.name),
      h('code', {}, row.shape),
      verdict(row.agrees, row.agrees ? 'agrees' : 'disagrees'),
      `${short(row.relative)} of the largest entry`,
      h('code', {}, `${row.index || 'value'} ${exact(row.backward)} · ${exact(row.difference)}`),
      `${row.checked.toLocaleString('en')} of ${row.elements.toLocaleString('en')}`,
    ]);
    const head = [
      'gradient',
      'shape',
      'verdict',
      'largest error',
      'there: backward · differences',
      'elements',
    ];
    this.open('Backward against forward', found.sentence, head, rows, found.done && !found.agrees);
  }

  changed(found: Changed, go: (node: number) => void): void {
    const rows = found.gradients.map(row => {
      const name = h('button', { type: 'button', class: 'tl-link' }, h('code', {}, row.label || row.name));
      name.addEventListener('click', () => go(row.node));
      const part = row.relative === null ? 1 : Math.min(1, row.relative);
      const bar = h(
        'span',
        { class: 'tl-bar', 'aria-hidden': 'true' },
        h('span', { style: `width:${(100 * part).toFixed(0)}%` }),
      );
      return [
        name,
        row.name === 'AccumulateGrad' ? 'leaf' : h('code', {}, row.name),
        `${short(row.before)} → ${short(row.after)}`,
        h(
          'span',
          { class: 'tl-change' },
          bar,
          row.relative === null ? 'from nothing' : percent(row.relative),
        ),
      ];
    });
    this.open('What the edit changed', found.sentence, ['gradient of', 'node', 'norm', 'by'], rows, false);
  }

  private open(
    title: string,
    sentence: string,
    head: string[],
    rows: (Node | string)[][],
    wrong: boolean,
  ): void {
    const close = button({ icon: 'close', label: 'Close', bare: true, testid: 'tl-sheet-close' }, () =>
      this.close(),
    );
    const table = h(
      'table',
      {},
      h('thead', {}, h('tr', {}, ...head.map(word => h('th', { scope: 'col' }, word)))),
      h(
        'tbody',
        {},
        ...rows.map(cells =>
          h('tr', {}, ...cells.map((cell, at) => h('td', { 'data-head': at ? head[at] : null }, cell))),
        ),
      ),
    );
    this.element.setAttribute('aria-label', title);
    this.element.replaceChildren(
      h('div', { class: 'tl-sheet-head' }, h('h4', {}, title), close),
      h('p', { class: wrong ? 'tl-wrong' : '' }, sentence),
      ...(rows.length ? [h('div', { class: 'tl-sheet-table' }, table)] : []),
    );
    this.element.hidden = false;
    this.element.scrollIntoView?.({ block: 'nearest' });
  }
}

const percent = (part: number) => `${short(100 * part)} %`;

function verdict(good: boolean, text: string): HTMLElement {
  return h('span', { class: good ? 'tl-good' : 'tl-wrong' }, icon(good ? 'tick' : 'close', 11), ` ${text}`);
}
