// The code of a run: where it stands in words, and the lines of the innermost piece with the one that runs lit.
import { h, setText, Undos, type Undo } from './dom';
import { plural } from './format';
import { icon } from './icons';
import type { LinesDocument } from './snapshot';

export class CodePanel {
  readonly element = h('section', { class: 'tl-code-panel', 'aria-label': 'code', 'data-testid': 'tl-code' });
  private readonly calls = h('div', { class: 'tl-calls', 'data-testid': 'tl-calls' });
  private readonly listing = h('div', { class: 'tl-listing', role: 'list' });
  private readonly undos = new Undos();
  private lines: LinesDocument | null = null;
  /** Of each piece: line -> how often it runs in all. */
  private counts: Map<number, number>[] = [];
  private shown = -1;

  constructor(
    private readonly goTo: (step: number) => void,
    private readonly goToLine: (source: number, line: number) => void,
  ) {
    this.element.append(this.calls, this.listing);
    this.undos.on(this.listing, 'click', event => {
      const line = (event.target as Element).closest<HTMLElement>('[data-line]');
      if (line?.dataset.runs) this.goToLine(this.shown, Number(line.dataset.line));
    });
    this.undos.on(this.listing, 'keydown', event => this.walk(event));
  }

  readonly undo: Undo = () => this.undos.undo();

  setLines(lines: LinesDocument): void {
    this.lines = lines;
    this.counts = lines.sources.map(() => new Map<number, number>());
    const { source, line, back } = lines.steps;
    source.forEach((number, step) => {
      if (!back[step]) this.counts[number].set(line[step], (this.counts[number].get(line[step]) ?? 0) + 1);
    });
  }

  show(step: number): void {
    const { steps } = this.lines!;
    const source = steps.source[step] ?? 0;
    this.showCalls(step);
    if (source !== this.shown) this.fill(source);
    const [first, last] = [steps.line[step], steps.last[step]];
    for (const row of this.listing.children as Iterable<HTMLElement> & HTMLCollection) {
      const line = Number((row as HTMLElement).dataset.line);
      const lit = line >= first && line <= last;
      row.classList.toggle('tl-lit', lit);
      row.classList.toggle('tl-raised', lit && steps.raised[step] === 1);
      if (line === first) {
        row.setAttribute('aria-current', 'step');
        (row as HTMLElement).tabIndex = 0;
        this.bringIntoSight(row as HTMLElement);
      } else {
        row.removeAttribute('aria-current');
        (row as HTMLElement).tabIndex = -1;
      }
      const mark = row.querySelector('.tl-turn')!;
      const turn = steps.turn[step];
      setText(mark, line === first && turn > 1 ? `×${turn}` : '');
    }
  }

  /** The lines that called, from the outermost in; each goes there. */
  private showCalls(step: number): void {
    const { sources, steps } = this.lines!;
    const around: number[] = [];
    for (let s = steps.caller[step]; s >= 0; s = steps.caller[s]) around.unshift(s);
    const rows = around.map(call => {
      const source = sources[steps.source[call]];
      const code = source.text[steps.line[call] - source.first] ?? '';
      const where =
        source.name === 'call' ? '' : `${nameOf(source.name, source.function)}, line ${steps.line[call]}`;
      const row = h(
        'button',
        { type: 'button', class: 'tl-link tl-call', title: `${where} ${code.trim()}` },
        icon('down', 10),
        h('span', { class: 'tl-muted' }, where),
        h('code', { class: 'tl-cut' }, code.trim()),
      );
      row.addEventListener('click', () => this.goTo(call));
      return row;
    });
    const source = sources[steps.source[step]];
    const here = h('p', { class: 'tl-here' }, h('strong', {}, nameOf(source.name, source.function)));
    this.calls.replaceChildren(...rows, here);
  }

  private fill(number: number): void {
    this.shown = number;
    const source = this.lines!.sources[number];
    const counts = this.counts[number];
    const margin = marginOf(source.text);
    this.listing.replaceChildren(
      ...source.text.map((code, i) => {
        const line = source.first + i;
        const count = counts.get(line) ?? 0;
        const said = count
          ? `line ${line}, ran ${plural(count, 'time')}`
          : `line ${line}, did not run by itself`;
        return h(
          'div',
          {
            class: count ? 'tl-line' : 'tl-line tl-unrun',
            role: 'listitem',
            'data-line': line,
            'data-runs': count || null,
            tabindex: -1,
            title: said,
          },
          h('span', { class: 'tl-number' }, source.name === 'call' ? '' : String(line)),
          h('span', { class: 'tl-arrow' }, icon('right', 10)),
          h('code', {}, code.slice(margin) || ' '),
          h('span', { class: 'tl-turn' }),
        );
      }),
    );
  }

  private walk(event: KeyboardEvent): void {
    const rows = [...this.listing.querySelectorAll<HTMLElement>('[data-runs]')];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) rows[Math.max(0, Math.min(rows.length - 1, to))]?.focus();
    else if ((event.key === 'Enter' || event.key === ' ') && at >= 0)
      this.goToLine(this.shown, Number(rows[at].dataset.line));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Scrolls the list and nothing around it. */
  private bringIntoSight(row: HTMLElement): void {
    const { listing } = this;
    const [top, height] = [row.offsetTop - listing.offsetTop, row.offsetHeight];
    const room = listing.clientHeight;
    if (top < listing.scrollTop + height || top > listing.scrollTop + room - 2 * height)
      listing.scrollTop = Math.max(0, top - room / 2);
  }
}

export function nameOf(name: string, inside: string): string {
  if (name === 'call') return 'call';
  return inside ? `${inside} in ${name}` : name;
}

/** The spaces before every line: a method stands further in than a function. */
export function marginOf(lines: readonly string[]): number {
  const margins = lines.filter(line => line.trim()).map(line => line.length - line.trimStart().length);
  return margins.length ? Math.min(...margins) : 0;
}
