// Between a picture and the code that made it: a host such as our JupyterLab extension listens, and asks back for the nodes of a line.
import { KINDS, type Graph, type Site } from './snapshot';
import type { Undo } from './dom';

/** A view says which place a person wants to see; `detail` is a `Site`. It bubbles, so that the host knows where it comes from. */
export const OPEN_SITE = 'tensorlab:open-site';
/** The host asks a view for the nodes of a place; the view writes into `detail.found` how many there are. */
export const SHOW_LINE = 'tensorlab:show-line';
/** Stands on the root element of a page whose host listens. */
export const HOSTED = 'data-tensorlab-code';

const OPERATION = KINDS.indexOf('operation');
const ROOT = KINDS.indexOf('root');

export interface Line {
  /** The execution count of a cell, or -1. */
  readonly cell: number;
  readonly file: string;
  /** 0 for a whole cell or file. */
  readonly line: number;
  found: number;
}

/** A function that asks the host around an element to show a place, or undefined where no host listens. */
export function openerFor(element: () => Element): ((site: Site) => void) | undefined {
  if (typeof document === 'undefined' || !document.documentElement.hasAttribute(HOSTED)) return undefined;
  return site =>
    void element().dispatchEvent(
      new CustomEvent<Site>(OPEN_SITE, { detail: site, bubbles: true, composed: true }),
    );
}

/** Positions of the nodes that a line made; of a whole cell or file where `line` is 0. */
export function nodesOfLine({ nodes, sites }: Graph, { cell, file, line }: Line): number[] {
  const wanted = new Set<number>();
  sites.forEach((site, s) => {
    const here = cell >= 0 ? site.cell === cell : site.cell < 0 && site.file === file;
    if (here && (line === 0 || site.line === line)) wanted.add(s);
  });
  const found: number[] = [];
  // What is given was made elsewhere: its place is where it was first used.
  for (let i = 0; i < nodes.id.length; i++)
    if (wanted.has(nodes.site[i]) && (nodes.kind[i] === OPERATION || nodes.kind[i] === ROOT)) found.push(i);
  return found;
}

/** Answers a host that asks for the nodes of a line. */
export function answerLines(root: Element, show: (line: Line) => number): Undo {
  const listener = (event: Event) => {
    const line = (event as CustomEvent<Line>).detail;
    line.found = show(line);
  };
  root.addEventListener(SHOW_LINE, listener);
  return () => root.removeEventListener(SHOW_LINE, listener);
}
