// The page in few words: elements whose text is always text, and undo for everything that subscribes.

export type Undo = () => void;

/** Collects undos; calling `undo` runs them once, the latest first. */
export class Undos {
  private readonly all: Undo[] = [];

  add(...undos: Undo[]): void {
    this.all.push(...undos);
  }

  /** Listens until undone. */
  on<K extends keyof HTMLElementEventMap>(
    target: EventTarget,
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ): void {
    target.addEventListener(type, listener as EventListener, options);
    this.all.push(() => target.removeEventListener(type, listener as EventListener, options));
  }

  readonly undo = (): void => {
    for (const undo of this.all.splice(0).reverse()) undo();
  };
}

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

/** An element. `attributes` of value null, undefined or false are left out; strings among the children become text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  for (const child of children)
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag: string, attributes: Attributes = {}, ...children: Element[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Changes text only where it differs, so that a screen reader hears news and nothing else. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Runs `work` at the next frame, once however often it is asked for. */
export function onFrame(work: () => void): { ask: () => void; undo: Undo } {
  let handle = 0;
  return {
    ask: () => {
      handle ||= requestAnimationFrame(() => {
        handle = 0;
        work();
      });
    },
    undo: () => cancelAnimationFrame(handle),
  };
}
