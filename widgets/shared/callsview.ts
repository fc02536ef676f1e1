// What calls would do to a tensor, those that are usual and those that a person types; and how shapes meet.
import { button } from './controls';
import { h, svg } from './dom';
import { bytes } from './format';
import { icon, type IconName } from './icons';
import type { Broadcast, LayoutDocument, Operand, Tried, Verdict } from './snapshot';

const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;

const OUTCOMES: Record<Verdict['kind'], { name: IconName; word: string }> = {
  view: { name: 'tick', word: 'view' },
  copy: { name: 'copy', word: 'copies' },
  cannot: { name: 'close', word: 'cannot' },
};

export class CallsView {
  readonly element = h('div', { class: 'tl-calls' });
  private readonly input = h('input', {
    class: 'tl-input tl-call',
    'data-testid': 'tl-call',
    'aria-label': 'a call to try, such as view(2, 6), [:, 1] or + other',
    placeholder: 'view(2, 6)   [:, 1]   + other',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  private readonly answer = h('div', { role: 'status', 'data-testid': 'tl-tried' });
  private readonly usual = h('ul', { class: 'tl-verdicts', 'data-testid': 'tl-verdicts' });
  private readonly title = h('h4', {});
  private document: LayoutDocument | null = null;
  private asked = 0;

  constructor(private readonly ask: (call: string) => Promise<Tried>) {
    const form = h('form', { class: 'tl-field-row' }, this.input);
    form.append(button({ icon: 'next', label: 'Try', testid: 'tl-try' }, () => void this.tryOut()));
    form.addEventListener('submit', event => event.preventDefault());
    this.input.addEventListener('keydown', event => {
      if (event.key === 'Enter') {
        event.preventDefault();
        void this.tryOut();
      }
      if (event.key !== 'Escape') event.stopPropagation();
    });
    this.element.append(this.title, form, this.answer, this.usual);
  }

  focus(): void {
    this.input.focus();
  }

  show(document: LayoutDocument): void {
    this.document = document;
    this.title.textContent = `What would a call do to ${document.title || 'it'}?`;
    this.usual.replaceChildren(...document.verdicts.map(verdict => this.row(verdict)));
    this.answer.replaceChildren();
  }

  private async tryOut(call = this.input.value): Promise<void> {
    const asked = ++this.asked;
    this.input.value = call;
    try {
      const { verdict, broadcast } = await this.ask(call);
      if (asked !== this.asked) return;
      const drawn = verdict
        ? h('ul', { class: 'tl-verdicts' }, this.row(verdict))
        : broadcastFigure(broadcast!);
      this.answer.replaceChildren(drawn);
    } catch (error) {
      if (asked === this.asked)
        this.answer.replaceChildren(h('p', { class: 'tl-wrong' }, (error as Error).message));
    }
  }

  private row(verdict: Verdict): HTMLElement {
    const { name, word } = OUTCOMES[verdict.kind];
    const detail =
      verdict.kind === 'view'
        ? `0 B · shape ${list(verdict.shape)} stride ${list(verdict.stride)}`
        : verdict.kind === 'copy'
          ? `${bytes(verdict.bytes)} into new memory`
          : '';
    return h(
      'li',
      { class: `tl-verdict tl-${verdict.kind}`, 'data-call': verdict.call, 'data-kind': verdict.kind },
      h('code', {}, verdict.call),
      h('span', { class: 'tl-outcome' }, icon(name, 12), ` ${word}`),
      h('span', { class: 'tl-muted' }, [detail, verdict.why].filter(Boolean).join(' · ')),
      verdict.kind === 'cannot' && verdict.dims.length && !/\)\.|\]\./.test(verdict.call)
        ? brokenDims(this.document!, verdict.dims)
        : null,
      this.more(verdict),
    );
  }

  /** What a copy takes in which order; for a view that cannot be, a way to see what the copy would be. */
  private more(verdict: Verdict): HTMLElement | null {
    const { call, kind, order } = verdict;
    if (kind === 'cannot' && verdict.dims.length === 2 && call.startsWith('view('))
      return button({ icon: 'copy', label: 'What would reshape copy?', testid: 'tl-would-copy' }, () => {
        void this.tryOut(call.replace('view', 'reshape')).then(() => {
          this.answer.querySelector('details')?.setAttribute('open', '');
          this.answer.scrollIntoView({ block: 'nearest' });
        });
      });
    if (kind !== 'copy' || !order.length) return null;
    const rest = verdict.shape.reduce((a, b) => a * b, 1) - order.length;
    const places = order.map((from, to) =>
      h(
        'span',
        { class: 'tl-move' },
        h('b', {}, String(from)),
        icon('down', 9),
        h('span', { class: 'tl-muted' }, String(to)),
      ),
    );
    return h(
      'details',
      {},
      h('summary', {}, 'what it copies'),
      h('p', { class: 'tl-muted' }, 'elements of the storage, and where each goes in the new memory'),
      h(
        'div',
        { class: 'tl-moves' },
        ...places,
        rest > 0 ? h('span', {}, `and ${rest.toLocaleString('en')} more`) : null,
      ),
    );
  }
}

/** Sizes and strides side by side, with a cross between the two dimensions that cannot be read as one. */
function brokenDims({ shape, stride }: LayoutDocument, dims: readonly number[]): HTMLElement {
  const parts: Element[] = [];
  shape.forEach((size, d) => {
    if (dims.length === 2 && d === dims[1]) parts.push(h('span', { class: 'tl-break' }, icon('close', 12)));
    parts.push(
      h(
        'span',
        { class: `tl-dim${dims.includes(d) ? ' tl-bad-dim' : ''}` },
        h('b', {}, String(size)),
        h('small', {}, `stride ${stride[d]}`),
      ),
    );
  });
  const which =
    dims.length === 2 ? `between dimensions ${dims[0]} and ${dims[1]}` : `at dimension ${dims[0]}`;
  return h('div', { class: 'tl-dims', role: 'img', 'aria-label': `it breaks ${which}` }, ...parts);
}

/** Sides as the result sees them: repeats stand there hollow, and what backward sums is marked. */
export function broadcastFigure(broadcast: Broadcast): HTMLElement {
  const { operands, shape, dim } = broadcast;
  const ndim = Math.max(...operands.map(o => o.shape.length + o.missing));
  const cell = (operand: Operand, d: number) => {
    const own = operand.shape[d - operand.missing];
    const stretched = operand.stretched.includes(d);
    const text =
      own === undefined
        ? stretched
          ? `new, ×${shape[d]}`
          : ''
        : stretched
          ? `1, ×${shape[d]}`
          : String(own);
    const kind = d === dim ? 'tl-bad-dim' : stretched ? 'tl-ghost' : own === undefined ? 'tl-void' : '';
    return h('td', { class: kind }, text);
  };
  const dims = Array.from({ length: ndim }, (_, d) => d);
  const rows = operands.map(operand =>
    h('tr', {}, h('th', { scope: 'row' }, operand.name), ...dims.map(d => cell(operand, d))),
  );
  const result = h(
    'tr',
    {},
    h('th', { scope: 'row' }, 'result'),
    ...dims.map(d => h('td', {}, String(shape[d]))),
  );
  const table = h(
    'table',
    { class: 'tl-grid tl-small tl-shapes', 'aria-label': 'shapes, aligned at the right' },
    h('tr', {}, h('td', { class: 'tl-void' }), ...dims.map(d => h('th', { scope: 'col' }, `dim ${d}`))),
    ...rows,
    dim < 0 ? result : null,
  );
  return h(
    'figure',
    { class: 'tl-broadcast', 'data-testid': 'tl-broadcast', 'data-outer': String(broadcast.outer) },
    h('h4', {}, dim < 0 ? `Broadcast to ${list(shape)}` : 'Broadcast'),
    broadcast.outer || dim >= 0
      ? h('p', { class: 'tl-wrong' }, icon('octagonLine', 12), dim < 0 ? ' implicit table' : ' cannot')
      : null,
    table,
    h('div', { class: 'tl-sides' }, ...(dim < 0 ? operands.map(o => side(o, ndim)) : [])),
    h('p', {}, broadcast.sentence),
  );
}

function side(operand: Operand, ndim: number): HTMLElement {
  const down = operand.stretched.includes(ndim - 2);
  const across = operand.stretched.includes(ndim - 1);
  const rows = operand.text.map((texts, r) =>
    h(
      'tr',
      {},
      ...texts.map((text, c) =>
        h(
          'td',
          { class: operand.ghost[r][c] ? 'tl-ghost' : '', title: operand.ghost[r][c] ? 'repeated' : null },
          text,
        ),
      ),
      across && r === 0 ? h('td', { class: 'tl-sum', rowspan: operand.text.length }, sigma()) : null,
    ),
  );
  const foot = down
    ? h('tr', {}, h('td', { class: 'tl-sum', colspan: operand.text[0]?.length }, sigma()))
    : null;
  const said = operand.stretched.length
    ? `backward: sum over ${operand.stretched.join(', ')}, ${operand.each.toLocaleString('en')} for each`
    : 'backward: as it comes';
  return h(
    'div',
    {},
    h('p', {}, h('code', {}, `${operand.name} ${list(operand.shape)}`)),
    h(
      'table',
      { class: 'tl-grid tl-small', 'aria-label': `${operand.name}, as the result sees it` },
      ...rows,
      foot,
    ),
    h('p', { class: 'tl-muted' }, said),
  );
}

/** The sign of a sum. */
function sigma(): HTMLElement {
  const drawn = svg(
    'svg',
    { viewBox: '0 0 12 14', width: 11, height: 13, role: 'img', 'aria-label': 'summed in backward' },
    svg('path', {
      d: 'M10.5 3V1.5h-9L6.5 7l-5 5.500h9V11',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.5,
    }),
  );
  return drawn as unknown as HTMLElement;
}
