import { expect, test, vi } from 'vitest';

import { HeatMap } from './heatmap';
import type { ArrayPreview, ArrayWindow } from './snapshot';
import { settled } from './testing';

/** The part of an array of whole numbers, counted in the order of memory, as Python would send it. */
function part(shape: readonly number[], wanted: readonly number[]): ArrayWindow {
  const most = shape.map((_, dim) => [8, 16][dim - shape.length + 2] ?? 1);
  const start = wanted.map((at, dim) => Math.max(0, Math.min(shape[dim] - most[dim], at)));
  const [rows, columns] = [1, 1, ...shape.map((size, dim) => Math.min(size, most[dim]))].slice(-2);
  const flat = (index: readonly number[]) => index.reduce((at, i, dim) => at * shape[dim] + i, 0);
  const grid = Array.from({ length: shape.length > 1 ? rows : 1 }, (_, r) =>
    Array.from({ length: columns }, (_, c) => {
      const index = [...start];
      index[index.length - 1] += c;
      if (index.length > 1) index[index.length - 2] += r;
      return flat(index);
    }),
  );
  return { start, grid, marks: grid.map(row => row.map(() => '')), grid_caption: `from ${start.join(', ')}` };
}

function shown(shape: readonly number[]) {
  const first = part(
    shape,
    shape.map(() => 0),
  );
  const preview = { ...first, shape, low: 0, high: 1 } as unknown as ArrayPreview;
  const load = vi.fn((start: readonly number[]) => Promise.resolve(part(shape, start)));
  const moved = vi.fn();
  const say = vi.fn();
  const set = vi.fn(() => Promise.resolve());
  const map = new HeatMap(
    preview,
    { name: 'grad', setAll: vi.fn(), set },
    { part: 'incoming.0', load, moved },
    say,
  );
  document.body.replaceChildren(map.element);
  const cell = () => document.activeElement as HTMLElement;
  const press = async (key: string, times = 1) => {
    for (let k = 0; k < times; k++)
      cell().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await settled();
  };
  const begin = () => map.element.querySelector<HTMLElement>('.tl-cell')!.focus();
  return { map, load, moved, say, set, cell, press, begin };
}

test('the keys walk on where the grid ends, also faster than answers come', async () => {
  const { cell, press, begin, moved } = shown([64, 128]);
  begin();
  await press('ArrowDown', 12);
  expect(cell().dataset.said).toBe('[12, 0] 1536');
  await press('ArrowRight', 20);
  expect(cell().dataset.said).toBe('[12, 20] 1556');
  await press('End');
  expect(cell().dataset.said).toBe('[12, 127] 1663');
  await press('PageDown', 99);
  expect(cell().dataset.said).toBe('[63, 127] 8191');
  expect(moved).toHaveBeenLastCalledWith([56, 112]);
  await press('Home');
  await press('PageUp', 99);
  expect(cell().dataset.said).toBe('[0, 0] 0');
  await press('ArrowUp');
  expect(cell().dataset.said).toBe('[0, 0] 0');
});

test('a typed index brings its element into the grid and gives it the keyboard', async () => {
  const { map, cell, set } = shown([3, 40, 50]);
  const input = map.element.querySelector<HTMLInputElement>('[data-testid="tl-element"]')!;
  input.value = '2, 33, 7';
  input.form!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled();
  expect(cell().dataset.said).toBe(`[2, 33, 7] ${(2 * 40 + 33) * 50 + 7}`);
  expect(map.element.textContent).toContain('[2, ·, ·]');
  cell().click();
  const value = map.element.querySelector<HTMLInputElement>('[data-testid="tl-edit-value"]')!;
  value.value = '5';
  value.form!.dispatchEvent(new Event('submit', { cancelable: true }));
  expect(set).toHaveBeenCalledWith([2, 33, 7], 5);
  input.value = '3, 0, 0';
  input.form!.dispatchEvent(new Event('submit', { cancelable: true }));
  expect(map.element.textContent).toContain('3 is not in 0 to 2');
});

test('brackets turn to the slice before and after, round the end', async () => {
  const { map, press, begin, cell } = shown([2, 3, 4, 5]);
  begin();
  await press('ArrowRight');
  await press(']', 4);
  expect(map.element.textContent).toContain('[1, 1, ·, ·]');
  expect(cell().dataset.said).toBe('[1, 1, 0, 1] 81');
  await press('[', 5);
  expect(map.element.textContent).toContain('[1, 2, ·, ·]');
});

test('a small array has nothing to page through, and a row of numbers scrolls sideways only', async () => {
  const small = shown([4, 5]);
  expect(small.map.element.querySelector('.tl-pager, .tl-scroll')).toBeNull();
  const line = shown([100]);
  expect(line.map.element.querySelectorAll('.tl-scroll')).toHaveLength(1);
  line.begin();
  await line.press('ArrowDown');
  await line.press('ArrowRight', 30);
  expect(line.cell().dataset.said).toBe('[30] 30');
});

test('an answer that does not come leaves the grid as it was and is said', async () => {
  const { load, press, begin, say, cell } = shown([64, 128]);
  load.mockRejectedValueOnce(new Error('the array is gone'));
  begin();
  await press('PageDown');
  expect(say).toHaveBeenLastCalledWith('This part could not be shown: the array is gone');
  await press('PageDown');
  expect(cell().dataset.said).toBe('[8, 0] 1024');
});
