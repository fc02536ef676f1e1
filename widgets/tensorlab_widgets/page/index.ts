import type { Model } from '../../shared/model';
import { keptModel, pageExporter, type Kept } from '../../shared/offline';
import './style.css';

interface Instrument {
  render(context: { model: Model; el: HTMLElement }): unknown;
}

/** Opens an instrument in an element of a page, with the answers that the page holds. */
export function openKept(instrument: Instrument, element: HTMLElement, kept: Kept): void {
  const exporter = pageExporter(element, kept.stem);
  element.replaceChildren();
  instrument.render({ model: keptModel(kept, exporter), el: element });
}

// The page that holds the answers calls it by name.
(globalThis as { openKept?: typeof openKept }).openKept = openKept;
