// The hooks instrument: every hook there is, what was called in which order, and what modules gave.
import { arrayView } from './arrays';
import { button, relabel, type Key } from './controls';
import { h, setText, type Undo } from './dom';
import { exporterOf } from './export';
import { plural, shape, short } from './format';
import { Frame } from './frame';
import { icon } from './icons';
import { Client, type Transport } from './protocol';
import type { Site } from './snapshot';
import type { HookDetail, HookEntry, HookRow, HooksDocument, ModuleOutput } from './watching';
import { bars, tile } from './tiles';

const QUICK = 250;
const SLOW = 1500;
const KEPT = 600;
const DRAWN = 80;
const STATES = { fired: 'called', silent: 'not called', removed: 'removed', gone: 'gone' } as const;

/** Draws hooks over a session; returns the undo, which leaves nothing behind. */
export function mountHooks(element: HTMLElement, transport: Transport): Undo {
  const client = new Client(transport, {
    event: () => undefined,
    broken: error => view.frame.fail(error.message),
  });
  const view: HooksView = new HooksView(element, client);
  client
    .request<{ hooks: HooksDocument }>('initialize')
    .then(({ hooks }) => view.begin(hooks))
    .catch((error: Error) => view.frame.giveUp(`These hooks could not be shown: ${error.message}`));
  return () => {
    view.stop();
    client.close();
    view.frame.undo();
  };
}

class HooksView {
  readonly frame: Frame;
  private state: HooksDocument | null = null;
  private chosen = -1;
  private timer = 0;
  private pause = QUICK;
  private stopped = false;
  private visible = true;
  private asked = 0;
  private readonly record: HTMLButtonElement;
  private readonly list = h('div', {
    class: 'tl-hooks',
    role: 'listbox',
    'aria-label': 'hooks',
    tabindex: 0,
  });
  private readonly order = h('ol', {
    class: 'tl-order',
    'data-testid': 'tl-order',
    'aria-label': 'in order',
  });
  private readonly orderTitle = h('h4', {});
  private readonly outputs = h('div', { class: 'tl-outputs', 'data-testid': 'tl-outputs' });
  private readonly outputsTitle = h('h4', {}, 'What modules gave last');
  private readonly detail = h('div', { 'data-testid': 'tl-hook-detail', 'aria-live': 'polite' });

  constructor(
    element: HTMLElement,
    private readonly client: Client,
  ) {
    const keys: Key[] = [
      { name: 'ArrowDown', does: 'the next hook', run: () => this.walk(1) },
      { name: 'ArrowUp', does: 'the hook before', run: () => this.walk(-1) },
      { name: 'r', does: 'stop or start the recording', run: () => this.toggle() },
      { name: 'n', does: 'begin anew with an empty timeline', run: () => void this.ask('forget') },
      { name: 'Delete', does: 'remove the hook, asked twice', run: () => this.removing() },
    ];
    this.frame = new Frame(element, {
      testid: 'tl-hooks',
      what: 'hooks',
      keys,
      exporter: exporterOf(client),
    });
    this.record = button({ icon: 'pause', label: 'Stop', key: 'r', testid: 'tl-record' }, () =>
      this.toggle(),
    );
    this.frame.controls.prepend(
      this.record,
      button(
        { icon: 'restart', label: 'Begin anew', key: 'n', testid: 'tl-forget' },
        () => void this.ask('forget'),
      ),
    );
    const seen = new IntersectionObserver(entries => {
      this.visible = entries[entries.length - 1].isIntersecting;
      if (this.visible) this.soon(0);
    });
    seen.observe(this.frame.root);
    this.frame.undos.add(() => seen.disconnect());
    this.frame.undos.on(this.list, 'click', event => {
      const line = (event.target as Element).closest<HTMLElement>('[data-number]');
      if (line) this.choose(Number(line.dataset.number));
    });
    this.frame.undos.on(this.order, 'click', event => {
      const line = (event.target as Element).closest<HTMLElement>('[data-number]');
      if (line) this.choose(Number(line.dataset.number), Number(line.dataset.row));
    });
    this.frame.undos.on(this.outputs, 'click', event => {
      const card = (event.target as Element).closest<HTMLElement>('[data-output]');
      if (card) void this.openOutput(card.dataset.output!);
    });
  }

  begin(document: HooksDocument): void {
    this.state = document;
    this.frame.main.replaceChildren(this.list, this.orderTitle, this.order, this.outputsTitle, this.outputs);
    this.frame.aside.replaceChildren(this.detail);
    const first = document.hooks.find(entry => entry.left) ?? document.hooks[0];
    this.draw();
    if (first) this.choose(first.number);
    else this.drawDetail(null);
    this.soon(QUICK);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // ---- asking --------------------------------------------------------------------------------------------------------

  private soon(wait: number): void {
    clearTimeout(this.timer);
    if (!this.stopped && this.state) this.timer = window.setTimeout(() => void this.look(), wait);
  }

  private async look(): Promise<void> {
    if (this.stopped || !this.visible || document.hidden) return this.soon(SLOW);
    const before = performance.now();
    const news = await this.ask('refresh');
    const took = performance.now() - before;
    this.pause = news ? QUICK : Math.min(SLOW, this.pause * 1.5);
    this.soon(Math.max(this.pause, 10 * took));
  }

  /** Asks, takes in what is new, and tells whether there was anything. */
  private async ask(command: string, more: Record<string, unknown> = {}): Promise<boolean> {
    const old = this.state;
    if (!old) return false;
    const since = command === 'forget' ? -1 : (old.rows.at(-1)?.row ?? -1);
    try {
      const { hooks } = await this.client.request<{ hooks: HooksDocument }>(command, { since, ...more });
      if (this.stopped || !this.state) return false;
      const last = command === 'forget' ? -1 : (this.state.rows.at(-1)?.row ?? -1);
      const fresh = hooks.rows.filter(row => row.row > last);
      const rows = command === 'forget' ? hooks.rows : [...this.state.rows, ...fresh].slice(-KEPT);
      const changed =
        fresh.length > 0 ||
        command !== 'refresh' ||
        JSON.stringify([hooks.hooks, hooks.outputs.length, hooks.trouble, hooks.attached]) !==
          JSON.stringify([old.hooks, old.outputs.length, old.trouble, old.attached]);
      this.state = { ...hooks, rows };
      this.frame.fail(hooks.trouble);
      if (changed) {
        this.draw();
        if (fresh.some(row => row.number === this.chosen) || command !== 'refresh') void this.loadDetail();
        else this.redrawFacts();
      }
      return changed;
    } catch (error) {
      if (!this.stopped) this.frame.fail((error as Error).message);
      return false;
    }
  }

  private toggle(): void {
    void this.ask(this.state?.attached ? 'detach' : 'attach');
  }

  // ---- the list ------------------------------------------------------------------------------------------------------

  private draw(): void {
    const state = this.state!;
    const { frame } = this;
    const calls = state.hooks.reduce((sum, entry) => sum + entry.fired, 0);
    frame.setTitle(
      state.title || 'everything',
      `${state.attached ? 'recording' : 'not recording'} · ${plural(calls, 'call')}`,
    );
    frame.say(state.sentence);
    relabel(this.record, state.attached ? 'Stop' : 'Record', state.attached ? 'pause' : 'record');
    frame.root.dataset.attached = String(state.attached);
    frame.root.dataset.rows = String(state.rows.length);
    const lines = state.hooks.map(entry => this.line(entry));
    if (!lines.length)
      lines.push(h('p', { class: 'tl-muted' }, 'There are no hooks. Register one, and it appears here.'));
    if (state.unlisted)
      lines.push(h('p', { class: 'tl-muted' }, `${plural(state.unlisted, 'more entry')} not listed`));
    this.list.replaceChildren(...lines);
    this.drawOrder(state);
    this.drawOutputs(state.outputs);
    frame.drawn();
  }

  private line(entry: HookEntry): HTMLElement {
    const chosen = entry.number === this.chosen;
    const said = entry.left || entry.why;
    const where = place(entry.registered);
    if (chosen) this.list.setAttribute('aria-activedescendant', this.idOf(entry.number));
    return h(
      'div',
      {
        class: `tl-hook tl-hook-${entry.state}${entry.left ? ' tl-hook-left' : ''}${chosen ? ' tl-opened' : ''}`,
        role: 'option',
        id: this.idOf(entry.number),
        'aria-selected': String(chosen),
        'data-number': entry.number,
        'data-state': entry.state,
        'data-name': entry.name,
      },
      h('span', { class: 'tl-hook-mark' }, mark(entry)),
      h(
        'div',
        { class: 'tl-hook-words' },
        h(
          'div',
          { class: 'tl-hook-head' },
          h('code', { class: 'tl-cut' }, h('b', {}, entry.name), ` on ${entry.owner}`),
          h(
            'span',
            { class: 'tl-muted tl-hook-calls' },
            entry.fired || entry.state === 'fired' ? plural(entry.fired, 'call') : STATES[entry.state],
          ),
        ),
        h(
          'div',
          { class: 'tl-muted tl-hook-kind' },
          [`${entry.kind} hook`, where].filter(Boolean).join(' · '),
        ),
        said
          ? h('div', { class: entry.left ? 'tl-hook-said tl-wrong' : 'tl-hook-said tl-muted' }, said)
          : null,
      ),
    );
  }

  private idOf(number: number): string {
    return `${(this.frame.root.id ||= `tl-hooks-${Math.random().toString(36).slice(2, 8)}`)}-${number}`;
  }

  private walk(by: number): void {
    const all = this.state?.hooks ?? [];
    if (!all.length) return;
    const at = all.findIndex(entry => entry.number === this.chosen);
    this.choose(all[Math.max(0, Math.min(all.length - 1, at + by))].number);
    this.list.focus({ preventScroll: true });
  }

  private choose(number: number, row = -1): void {
    if (number < 0) return;
    this.chosen = number;
    for (const line of this.list.querySelectorAll<HTMLElement>('[data-number]')) {
      const chosen = Number(line.dataset.number) === number;
      line.classList.toggle('tl-opened', chosen);
      line.setAttribute('aria-selected', String(chosen));
      if (chosen) {
        this.list.setAttribute('aria-activedescendant', line.id);
        const box = line.getBoundingClientRect();
        const list = this.list.getBoundingClientRect();
        if (box.top < list.top) this.list.scrollTop -= list.top - box.top;
        if (box.bottom > list.bottom) this.list.scrollTop += box.bottom - list.bottom;
      }
    }
    void this.loadDetail(row);
  }

  // ---- in order ------------------------------------------------------------------------------------------------------

  private drawOrder(state: HooksDocument): void {
    const shown = state.rows.slice(-DRAWN);
    const all = state.rows.length + state.forgotten;
    setText(
      this.orderTitle,
      shown.length < all
        ? `In order, the latest ${shown.length} of ${all.toLocaleString('en')} lines`
        : 'In order',
    );
    const low = this.order.scrollTop + this.order.clientHeight >= this.order.scrollHeight - 4;
    this.order.replaceChildren(
      ...(shown.length
        ? shown.map(rowLine)
        : [h('li', { class: 'tl-muted' }, 'Nothing was called yet. Run the model.')]),
    );
    if (low) this.order.scrollTop = this.order.scrollHeight;
  }

  // ---- outputs -------------------------------------------------------------------------------------------------------

  private drawOutputs(all: readonly ModuleOutput[]): void {
    this.outputsTitle.hidden = !all.length;
    const cards = all
      .slice(0, 60)
      .map(one =>
        h(
          'button',
          { type: 'button', class: 'tl-output', 'data-output': one.name, 'data-form': one.form },
          h(
            'span',
            { class: 'tl-cut' },
            h('code', {}, one.name),
            h('span', { class: 'tl-muted' }, ` ${one.type} ${shape(one.shape)}`),
          ),
          picture(one, 4),
          h('span', { class: 'tl-muted tl-cut' }, figures(one)),
        ),
      );
    if (all.length > 60)
      cards.push(h('span', { class: 'tl-muted' }, `${all.length - 60} more`) as unknown as HTMLButtonElement);
    this.outputs.replaceChildren(...cards);
  }

  private async openOutput(name: string): Promise<void> {
    const asked = ++this.asked;
    try {
      const { output } = await this.client.request<{ output: ModuleOutput }>('output', { name });
      if (asked !== this.asked || this.stopped) return;
      this.chosen = -1;
      for (const line of this.list.querySelectorAll('.tl-opened')) line.classList.remove('tl-opened');
      const parts = [
        h('div', { class: 'tl-node' }, h('strong', {}, output.name), h('code', {}, output.type)),
        h(
          'p',
          { class: 'tl-muted' },
          `${shape(output.shape)} ${output.dtype} · ${plural(output.calls, 'call')} · ${output.caption}`,
        ),
        picture(output, 12, true),
        h('p', {}, figures(output)),
        output.tiles.length ? bars(output.bars, `histogram of ${output.name}`) : null,
        h('p', { class: 'tl-muted' }, 'As forward() gave it, before forward hooks.'),
      ];
      this.detail.replaceChildren(...parts.filter(part => part !== null));
      this.frame.drawn();
    } catch (error) {
      this.frame.fail((error as Error).message);
    }
  }

  // ---- one hook ------------------------------------------------------------------------------------------------------

  private entry(): HookEntry | undefined {
    return this.state?.hooks.find(({ number }) => number === this.chosen);
  }

  private redrawFacts(): void {
    const facts = this.detail.querySelector('.tl-hook-facts');
    const entry = this.entry();
    if (facts && entry) facts.replaceWith(this.facts(entry));
  }

  private async loadDetail(row = -1): Promise<void> {
    const asked = ++this.asked;
    const number = this.chosen;
    if (number < 0) return;
    const found = await this.client
      .request<{ detail: HookDetail }>('detail', { number })
      .then(({ detail }) => detail)
      .catch(() => null); // the list says what became of it
    if (asked === this.asked && !this.stopped) this.drawDetail(found, row);
  }

  private drawDetail(found: HookDetail | null, row = -1): void {
    const entry = this.entry();
    if (!entry) {
      this.detail.replaceChildren(
        h('p', { class: 'tl-muted' }, 'Choose a hook to see what it was given and what it made of it.'),
      );
      this.frame.drawn();
      return;
    }
    const line = this.state!.rows.find(one => one.row === row) ?? found?.row ?? null;
    const parts: (HTMLElement | null)[] = [this.facts(entry)];
    if (found?.note) parts.push(h('p', { class: 'tl-note' }, found.note));
    if (line) {
      parts.push(
        h('h4', {}, row >= 0 ? 'This call' : 'The last call that was measured'),
        h('p', {}, [line.place, line.change, `${short(line.milliseconds)} ms`].filter(Boolean).join(' · ')),
      );
      if (line.error) parts.push(h('p', { class: 'tl-wrong' }, line.error));
      if (line.wrote)
        parts.push(
          h('p', { class: 'tl-note' }, 'It wrote into what it was given. Return a new tensor instead.'),
        );
      if (line.printed_characters) {
        const more = line.printed_characters - line.printed.length;
        parts.push(h('h4', {}, 'It printed'), h('pre', { class: 'tl-printed' }, line.printed));
        if (more > 0)
          parts.push(
            h('p', { class: 'tl-muted' }, `${more.toLocaleString('en')} more characters are not kept here`),
          );
      }
      for (const look of found?.row?.row === line.row ? found.looks : [])
        parts.push(
          h('h4', {}, look.label, h('code', { class: 'tl-muted' }, ` ${shape(look.preview.shape)}`)),
          arrayView(look.preview, null),
        );
    }
    if (entry.state === 'fired' || entry.state === 'silent') parts.push(this.removeButton(entry));
    this.detail.replaceChildren(...parts.filter(part => part !== null));
    this.frame.drawn();
  }

  private facts(entry: HookEntry): HTMLElement {
    const many =
      entry.count > 1 ? `${entry.owners.slice(0, 6).join(', ')}${entry.count > 6 ? ' ...' : ''}` : '';
    return h(
      'div',
      { class: 'tl-hook-facts' },
      h('div', { class: 'tl-node' }, h('strong', {}, entry.name), h('code', {}, entry.owner)),
      h(
        'p',
        { class: 'tl-muted' },
        `${entry.kind} hook · ${STATES[entry.state]} · ${plural(entry.fired, 'call')}${entry.library ? ' · of tensorlab itself' : ''}`,
      ),
      many ? h('p', { class: 'tl-muted' }, many) : null,
      entry.registered
        ? h('p', {}, `registered in ${place(entry.registered)}`, code(entry.registered))
        : null,
      entry.defined ? h('p', {}, `written in ${place(entry.defined)}`) : null,
      entry.left ? h('p', { class: 'tl-note', 'data-testid': 'tl-left' }, entry.left) : null,
      entry.why ? h('p', { class: 'tl-note', 'data-testid': 'tl-why' }, entry.why) : null,
    );
  }

  private removeButton(entry: HookEntry): HTMLElement {
    const many = entry.count > 1 ? ` all ${entry.count.toLocaleString('en')}` : '';
    const one = button({ icon: 'close', label: `Remove${many}`, key: 'Delete', testid: 'tl-remove' }, () =>
      this.removing(),
    );
    return h('p', { class: 'tl-removing' }, one);
  }

  /** The first time asks; the second, while it is asked, does it. */
  private removing(): void {
    const entry = this.entry();
    const place = this.detail.querySelector<HTMLElement>('.tl-removing');
    if (!entry || !place) return;
    if (place.dataset.sure) return void this.ask('remove', { number: entry.number });
    place.dataset.sure = 'true';
    setText(place.querySelector('.tl-label')!, 'Really remove? It cannot be put back from here');
  }
}

// ---- in words ----------------------------------------------------------------------------------------------------------

function place(site: Site | null): string {
  if (!site) return '';
  return site.cell >= 0 ? `cell [${site.cell}], line ${site.line}` : `${site.file}, line ${site.line}`;
}

function code(site: Site): HTMLElement | null {
  return site.code ? h('code', { class: 'tl-code tl-hook-code' }, site.code) : null;
}

function mark(entry: HookEntry): SVGElement | HTMLElement {
  if (entry.left) return h('b', { class: 'tl-bang', 'aria-label': 'left behind' }, '!');
  if (entry.state === 'fired') return icon('tick');
  if (entry.state === 'silent') return h('span', { class: 'tl-hollow', 'aria-label': 'not called' });
  return icon('close', 12);
}

function rowLine(row: HookRow): HTMLElement {
  if (row.what === 'pass')
    return h(
      'li',
      { class: 'tl-row tl-row-pass' },
      icon('next', 11),
      h(
        'span',
        {},
        [`${row.owner}${row.site ? `, from ${place(row.site)}` : ''}`, row.place].filter(Boolean).join(' · '),
      ),
    );
  if (row.what === 'accumulated')
    return h(
      'li',
      { class: 'tl-row tl-row-added' },
      h('span', { class: 'tl-square' }),
      h('code', {}, row.owner),
      h('span', { class: 'tl-muted' }, row.place),
    );
  const said = [];
  if (row.before !== null && row.after !== null && row.change !== 'unchanged')
    said.push(`norm ${short(row.before)} to ${short(row.after)}, ${row.change.split(',')[0]}`);
  else if (row.change) said.push(row.change);
  if (row.printed_characters) said.push(`printed “${row.printed.replace(/\s+/g, ' ').trim().slice(0, 40)}”`);
  return h(
    'li',
    {
      class: `tl-row tl-row-hook${row.error ? ' tl-row-bad' : ''}`,
      'data-number': row.number,
      'data-row': row.row,
    },
    h('span', { class: 'tl-dot' }),
    h('code', {}, row.name),
    h('span', { class: 'tl-muted' }, row.place || `on ${row.owner}`),
    h(
      'span',
      { class: row.error ? 'tl-wrong tl-row-said' : 'tl-row-said' },
      row.error ? `raised ${row.error}` : said.join('; '),
    ),
  );
}

function picture(one: ModuleOutput, most: number, large = false): HTMLElement {
  if (!one.tiles.length)
    return one.bars.length
      ? bars(one.bars, `histogram of ${one.name}`)
      : h(
          'span',
          { class: 'tl-muted' },
          one.form === 'statistics' ? 'every value is the same' : 'open to see it',
        );
  return h(
    'div',
    { class: `tl-tiles tl-tiles-${one.form}${large ? ' tl-tiles-large' : ''}` },
    ...one.tiles.slice(0, most).map(part => tile(part, `output of ${one.name}`)),
  );
}

function figures(one: ModuleOutput): string {
  const bad = one.bad ? `${one.bad.toLocaleString('en')} NaN or infinite` : '';
  if (one.mean === null) return bad || 'no elements';
  const zeros = one.zeros ? `${Math.round(one.zeros * 100)}% zeros` : '';
  return [
    `mean ${short(one.mean)}`,
    `std ${short(one.std)}`,
    `${short(one.low)} to ${short(one.high)}`,
    zeros,
    bad,
  ]
    .filter(Boolean)
    .join(' · ');
}
