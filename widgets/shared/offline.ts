// A view in a page without a kernel: what was asked before the page was made is answered again, everything else is declined.
import type { Exported, Exporter } from './export';
import type { Model } from './model';
import type { Request } from './protocol';

/** Command, arguments, and either why it was refused or the body of the answer. */
export type KeptAnswer = readonly [string, Record<string, unknown>, string | null, unknown];

export interface Kept {
  readonly answers: readonly KeptAnswer[];
  /** The name of files that the page gives, without its ending. */
  readonly stem: string;
}

const NOBODY = 'This is a saved page: it shows what was kept, and there is no kernel to ask for more.';

/** The page as it was written, and the picture that it holds for readers without scripts. Read before anything is changed in it. */
export function pageExporter(element: HTMLElement, stem: string): Exporter {
  const still = element.querySelector('noscript')?.textContent ?? '';
  const whole = `<!doctype html>\n<html lang="en">${document.documentElement.getHTML()}</html>\n`;
  return {
    svg: () => Promise.resolve({ name: `${stem}.svg`, text: still }),
    html: () => Promise.resolve({ name: `${stem}.html`, text: whole }),
  };
}

const keyOf = (command: string, given: Record<string, unknown>) =>
  `${command} ${JSON.stringify(Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1)))}`;

/** A widget's model that answers as the one did from which the page was made. */
export function keptModel({ answers }: Kept, exporter: Exporter): Model {
  const known = new Map(answers.map(([command, given, ...answer]) => [keyOf(command, given), answer]));
  const listeners = new Set<(message: unknown) => void>();
  const answer = async ({ seq, command, arguments: given }: Request) => {
    const reply = { type: 'response', seq, command, success: true, message: null as string | null };
    const tell = (message: unknown) => listeners.forEach(listener => listener(message));
    if (command === 'export') {
      const body: Exported = await (given.kind === 'html' ? exporter.html!() : exporter.svg(given));
      return tell({ ...reply, body });
    }
    const [refused, body] = known.get(keyOf(command, given)) ?? [NOBODY, null];
    tell({ ...reply, success: refused === null, message: refused, body });
  };
  return {
    send: request => queueMicrotask(() => void answer(request as Request)),
    on: (event, callback) => {
      if (event === 'msg:custom') listeners.add(callback);
    },
    off: (_, callback) => listeners.delete(callback),
  };
}
