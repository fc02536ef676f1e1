import { pageExporter } from '../../shared/offline';
import { recordedTransport, type Recording } from '../../shared/recording';
import { mountStepper } from '../../shared/stepper';
import './style.css';

/** Plays a recording in an element of a page. */
export function play(element: HTMLElement, recording: Recording): void {
  const exporter = pageExporter(element, 'backward');
  element.replaceChildren();
  mountStepper(element, recordedTransport(recording), { exporter });
}

// The page that holds the recording calls it by name.
(globalThis as { play?: typeof play }).play = play;
