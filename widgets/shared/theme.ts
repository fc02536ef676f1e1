// The look's tokens as a canvas needs them, read again whenever the theme changes.
import type { Undo } from './dom';

export interface Tokens {
  /** The style sheet was there when they were read; a host may bring it later than the view. */
  readonly known: boolean;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  /** Lines that stand alone, such as an edge: a little stronger. */
  readonly edge: string;
  readonly surface: string;
  readonly raised: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly waiting: string;
  readonly waitingSoft: string;
  readonly done: string;
  readonly doneSoft: string;
  readonly warn: string;
  readonly warnSoft: string;
  readonly font: string;
  readonly code: string;
}

export function readTokens(element: Element): Tokens {
  const style = getComputedStyle(element);
  const read = (name: string, fallback: string) => style.getPropertyValue(name).trim() || fallback;
  return {
    known: style.getPropertyValue('--tl-accent') !== '',
    ink: read('--tl-ink', '#1b1f24'),
    muted: read('--tl-muted', '#5b6570'),
    line: read('--tl-line', '#d5dae0'),
    edge: read('--tl-edge', '#a4adb8'),
    surface: read('--tl-surface', '#ffffff'),
    raised: read('--tl-raised', '#f6f8fa'),
    accent: read('--tl-accent', '#0072b2'),
    accentSoft: read('--tl-accent-soft', '#e6f2fa'),
    waiting: read('--tl-waiting', '#9a6100'),
    waitingSoft: read('--tl-waiting-soft', '#fdf0d8'),
    done: read('--tl-done', '#007a59'),
    doneSoft: read('--tl-done-soft', '#dff3ec'),
    warn: read('--tl-warn', '#b84600'),
    warnSoft: read('--tl-warn-soft', '#fdece1'),
    font: read('--tl-font', 'sans-serif'),
    code: read('--tl-code-font', 'monospace'),
  };
}

/** Calls `changed` when the host's theme or the system's colour scheme may have changed. */
export function watchTheme(changed: () => void): Undo {
  const observer = new MutationObserver(changed);
  const attributes = ['class', 'data-jp-theme-light', 'data-jp-theme-name', 'data-theme', 'style'];
  for (const element of [document.documentElement, document.body])
    observer.observe(element, { attributes: true, attributeFilter: attributes });
  const schemes = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'].map(query =>
    matchMedia(query),
  );
  for (const scheme of schemes) scheme.addEventListener('change', changed);
  return () => {
    observer.disconnect();
    for (const scheme of schemes) scheme.removeEventListener('change', changed);
  };
}
