// One parameter over steps: a row of colours, and marks for what is none, zero or not finite.
import { LEVELS } from './training';

/** Viridis, low to high. */
export const SCALE = [
  '#440154', '#482475', '#414487', '#355f8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26', '#fde725',
]; // prettier-ignore

/** What a level without a norm is called. */
export const WORDS = new Map<number, string>([
  [LEVELS.none, 'none'],
  [LEVELS.zero, 'zero'],
  [LEVELS.not_finite, 'NaN/Inf'],
]);

interface Ink {
  readonly muted: string;
  readonly warn: string;
  readonly edge: string;
}

/** Draws `count` levels, told by their number, with powers of ten from `low` to `high` as colours. */
export function drawHeat(
  canvas: HTMLCanvasElement,
  count: number,
  level: (step: number) => number,
  [low, high]: readonly [number, number],
  ink: Ink,
): void {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (!width) return;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d')!;
  context.clearRect(0, 0, width, height);
  const wide = Math.min(width / Math.max(count, 1), 14 * ratio);
  const block = Math.max(wide - ratio, 1);
  for (let j = 0; j < count; j++) {
    const here = level(j);
    const x = j * wide;
    if (!WORDS.has(here)) {
      const at = (here / 1000 - low) / (high - low);
      context.fillStyle = SCALE[Math.min(SCALE.length - 1, Math.max(0, Math.round(at * (SCALE.length - 1))))];
      context.fillRect(x, 2 * ratio, block, height - 4 * ratio);
    } else if (here === LEVELS.zero) {
      context.fillStyle = ink.muted;
      context.fillRect(x + wide / 2 - ratio, height / 2 - ratio, 2 * ratio, 2 * ratio);
    } else if (here === LEVELS.none) {
      context.strokeStyle = ink.muted;
      context.lineWidth = ratio;
      context.setLineDash([ratio, 2 * ratio]);
      context.strokeRect(x + ratio / 2, 3.5 * ratio, block, height - 7 * ratio);
      context.setLineDash([]);
    } else {
      context.strokeStyle = ink.warn;
      context.lineWidth = 1.5 * ratio;
      context.beginPath();
      context.moveTo(x, 3 * ratio);
      context.lineTo(x + block, height - 3 * ratio);
      context.moveTo(x + block, 3 * ratio);
      context.lineTo(x, height - 3 * ratio);
      context.stroke();
    }
  }
}
