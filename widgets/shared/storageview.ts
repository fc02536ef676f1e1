// The storage under a tensor: elements in cache lines, everything that lies there, and the order in which it is read.
import { button } from './controls';
import { h, svg, setText } from './dom';
import { bytes } from './format';
import type { Alias, LayoutDocument, Reading, Scratch, StorageStrip } from './snapshot';

const LINE = 64;
const count = (number: number) => number.toLocaleString('en');
const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;

type Reach = Pick<Alias, 'first' | 'last'>;
const reaches = ({ first, last }: Reach, e: number) => first.some((a, i) => a <= e && e <= last[i]);

export class StorageView {
  readonly element: HTMLElement;
  private readonly about = h('span', { class: 'tl-muted', 'data-testid': 'tl-storage-about' });
  private readonly pages = h('span', { class: 'tl-pages' });
  private readonly strip = h('div', {
    class: 'tl-storage',
    role: 'list',
    'aria-label': 'elements of the storage',
    'data-testid': 'tl-strip',
  });
  private readonly bars = h('div', { class: 'tl-bars', 'data-testid': 'tl-aliases' });
  private readonly reading = h('div', { class: 'tl-reading', 'data-testid': 'tl-reading' });
  private document: LayoutDocument | null = null;
  private shown: StorageStrip | null = null;
  private picked = -1;
  private marked = -1; // the alias whose elements are marked
  private scratch: Scratch | null = null;
  private asked = 0;

  constructor(
    private readonly ask: (first: number) => Promise<StorageStrip>,
    private readonly failed: (error: Error) => void,
  ) {
    const turn = (by: number) => () => void this.turn(by);
    this.pages.append(
      button({ icon: 'back', label: 'Earlier elements', bare: true, testid: 'tl-earlier' }, turn(-1)),
      button({ icon: 'next', label: 'Later elements', bare: true, testid: 'tl-later' }, turn(1)),
    );
    this.element = h(
      'section',
      {},
      h('p', { class: 'tl-storage-head' }, h('strong', {}, 'storage '), this.about, this.pages),
      this.strip,
      h('h4', {}, 'Who lies in it'),
      this.bars,
      h('h4', {}, 'Reading it in order'),
      this.reading,
    );
  }

  show(document: LayoutDocument): void {
    this.document = document;
    this.marked = -1;
    this.scratch = null;
    this.draw(document.strip);
    this.drawBars();
    this.drawReading(document.reading);
  }

  /** Marks an element, and turns to where it lies. */
  async pick(element: number): Promise<void> {
    this.picked = element;
    const { first, text } = this.shown!;
    if (element < first || element >= first + text.length) await this.turnTo(element - (element % LINE));
    this.mark();
  }

  tryOut(scratch: Scratch | null): void {
    this.scratch = scratch;
    this.mark();
    this.drawBars();
  }

  private turn(by: number): Promise<void> {
    const { first, total, text } = this.shown!;
    return this.turnTo(Math.max(0, Math.min(first + by * text.length, total - 1)));
  }

  private async turnTo(first: number): Promise<void> {
    const asked = ++this.asked;
    try {
      const strip = await this.ask(first);
      if (asked === this.asked) this.draw(strip);
    } catch (error) {
      this.failed(error as Error);
    }
  }

  private draw(strip: StorageStrip): void {
    this.shown = strip;
    const { itemsize, device, version } = this.document!;
    const part =
      strip.text.length < strip.total
        ? ` · elements ${count(strip.first)} to ${count(strip.first + strip.text.length - 1)}`
        : '';
    setText(
      this.about,
      `${count(strip.total)} elements · ${bytes(strip.bytes)} · ${device} · version ${version}${part}`,
    );
    this.pages.hidden = !part;
    const lines = new Map<number, HTMLElement[]>();
    strip.text.forEach((text, i) => {
      const element = strip.first + i;
      const line = Math.floor((element * itemsize + strip.skew) / LINE);
      const slots = lines.get(line) ?? [];
      lines.set(line, slots);
      slots.push(
        h(
          'div',
          { class: 'tl-slot', role: 'listitem', 'data-element': element },
          h('span', {}, text),
          h('small', {}, String(element * itemsize)),
        ),
      );
    });
    this.strip.replaceChildren(
      ...[...lines].map(([line, slots]) =>
        h(
          'div',
          { class: 'tl-cache-line', role: 'presentation', 'data-line': line },
          h('div', { class: 'tl-slots', role: 'presentation' }, ...slots),
          h('div', { class: 'tl-bracket', 'aria-hidden': 'true' }, `cache line ${count(line)}`),
        ),
      ),
    );
    if (!strip.text.length)
      this.strip.append(h('p', { class: 'tl-muted', role: 'listitem' }, 'The storage is empty.'));
    this.mark();
  }

  private mark(): void {
    const { aliases, itemsize, title } = this.document!;
    const marked = aliases[this.marked];
    for (const slot of this.strip.querySelectorAll<HTMLElement>('.tl-slot')) {
      const element = Number(slot.dataset.element);
      const own = reaches(aliases[0], element);
      const held = !!marked && reaches(marked, element);
      const tried = !!this.scratch?.grid && this.scratch.grid.element.some(row => row.includes(element));
      slot.classList.toggle('tl-picked', element === this.picked);
      slot.classList.toggle('tl-unreached', !own);
      slot.classList.toggle('tl-held', held);
      slot.classList.toggle('tl-tried', tried);
      const said = [
        `element ${element}, byte ${element * itemsize}`,
        own ? '' : `not part of ${title || 'it'}`,
        held ? `part of ${marked.name}` : '',
        tried ? 'in the scratch view' : '',
        element === this.picked ? 'picked' : '',
      ];
      slot.title = said.filter(Boolean).join(', ');
      slot.setAttribute('aria-label', `${slot.firstChild!.textContent}: ${slot.title}`);
    }
  }

  private drawBars(): void {
    const { aliases, strip } = this.document!;
    const rows = aliases.map((alias, i) => this.bar(alias, i, strip.total));
    const { scratch } = this;
    if (scratch?.grid) {
      const { shape, stride } = parse(scratch.call);
      rows.push(
        this.bar(
          { ...scratch, name: 'scratch', note: 'tried out', shape, stride, offset: 0 },
          -1,
          strip.total,
        ),
      );
    }
    this.bars.replaceChildren(...rows);
  }

  private bar(alias: Alias, i: number, total: number): HTMLElement {
    const drawn = svg('svg', {
      viewBox: `0 0 ${Math.max(total, 1)} 1`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    });
    alias.first.forEach((a, k) =>
      drawn.append(svg('rect', { x: a, y: 0, width: alias.last[k] - a + 1, height: 1, class: 'tl-span' })),
    );
    const reach = alias.first.length
      ? `elements ${alias.first[0]} to ${alias.last[alias.last.length - 1]}`
      : 'no elements';
    const name = h(
      'button',
      {
        type: 'button',
        class: 'tl-link tl-cut',
        'aria-pressed': i < 0 ? null : String(i === this.marked),
        'aria-label': `${alias.name} ${alias.note}, ${reach}: mark its elements`,
        title: `${alias.name} ${alias.note}: mark its elements in the storage`,
        'data-alias': alias.name,
      },
      h('code', {}, alias.name),
      alias.note ? h('span', { class: 'tl-muted' }, ` ${alias.note}`) : null,
    );
    if (i >= 0)
      name.addEventListener('click', () => {
        this.marked = this.marked === i ? -1 : i;
        this.mark();
        for (const [k, other] of [...this.bars.querySelectorAll('[data-alias]')].entries())
          if (other.hasAttribute('aria-pressed'))
            other.setAttribute('aria-pressed', String(k === this.marked));
      });
    return h(
      'div',
      { class: `tl-alias${i < 0 ? ' tl-scratch-bar' : ''}`, title: reach },
      name,
      h('div', { class: 'tl-reach' }, drawn),
      h('span', { class: 'tl-muted tl-cut' }, `${list(alias.shape)} stride ${list(alias.stride)}`),
    );
  }

  /** The first reads to the right, the cache line of each downwards. */
  private drawReading(reading: Reading): void {
    const low = Math.min(...reading.line);
    const deep = Math.min(Math.max(...reading.line) - low + 1, 10);
    const scale = (deep - 1) / Math.max(1, Math.max(...reading.line) - low);
    const boxes = reading.line.map((line, i) => {
      const same = i > 0 && reading.line[i - 1] === line;
      return svg('rect', {
        x: i * 9 + 0.5,
        y: Math.round((line - low) * scale) * 9 + 0.5,
        width: 7,
        height: 7,
        rx: 1.5,
        class: same ? 'tl-read' : 'tl-read tl-fetch',
      });
    });
    const width = Math.max(1, reading.line.length) * 9;
    const drawn =
      reading.line.length > 1
        ? svg(
            'svg',
            {
              class: 'tl-trace',
              viewBox: `0 0 ${width} ${deep * 9}`,
              style: `max-width: ${width}px`,
              role: 'img',
              'aria-label': `cache lines of the first ${reading.line.length} reads`,
            },
            ...boxes,
          )
        : null;
    this.reading.replaceChildren(h('p', {}, reading.sentence));
    if (drawn)
      this.reading.append(
        drawn,
        h(
          'p',
          { class: 'tl-muted' },
          `first ${reading.line.length} reads, to the right; a row is a cache line, and a filled mark a read that changes the line`,
        ),
      );
  }
}

/** Shape and stride out of `as_strided((2, 3), (1, 2), 0)`. */
function parse(call: string): { shape: number[]; stride: number[] } {
  const [shape, stride] = [...call.matchAll(/\(([\d, ]*)\)/g)].map(found =>
    (found[1].match(/\d+/g) ?? []).map(Number),
  );
  return { shape: shape ?? [], stride: stride ?? [] };
}
