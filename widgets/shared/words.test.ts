import { describe, expect, test } from 'vitest';

import { statistics } from './arrays';
import { indexOf, parseIndex, strengths } from './heatmap';
import { matches } from './controls';
import { haystacks, search } from './find';
import { bytes, parseNumber, short } from './format';
import { outlineOf } from './outline';
import { widthOf } from './paint';
import { spreadOf, stepAt } from './scrubber';
import { perceptron } from './testing';

test('numbers are short, with a real minus', () => {
  expect([0.084, -1.2e-5, 1, 0, 0.42, 12300, 2.5e8, 123.4].map(short)).toEqual([
    '8.4e-2',
    '−1.2e-5',
    '1.0',
    '0',
    '0.42',
    '12,300',
    '2.5e8',
    '123',
  ]);
  expect([NaN, -Infinity, null].map(short)).toEqual(['NaN', '−Inf', 'none']);
});

test('bytes are counted in units of 1024', () => {
  expect([0, 512, 4096, 1536 * 1024].map(bytes)).toEqual(['0 B', '512 B', '4.0 KiB', '1.5 MiB']);
});

test('a typed number is a number, nan, inf, or refused', () => {
  expect(['0.5', ' -1e3 ', '+.5', 'NaN', '-inf', 'Infinity', '−2'].map(parseNumber)).toEqual([
    0.5,
    -1000,
    0.5,
    'nan',
    '-inf',
    'inf',
    -2,
  ]);
  expect(['', 'abc', '1,5', '0x10', '1e999', '1 2'].map(parseNumber)).toEqual(Array(6).fill(null));
});

test('a cell of the heat map is an element of the array, whatever its dimensions', () => {
  expect(indexOf([], 0, 0)).toEqual([]);
  expect(indexOf([0], 0, 3)).toEqual([3]);
  expect(indexOf([0, 16], 2, 3)).toEqual([2, 19]);
  expect(indexOf([1, 0, 8, 0], 2, 3)).toEqual([1, 0, 10, 3]);
});

test('an element is typed as a person would write its index, and what is none is refused in words', () => {
  expect(parseIndex('3, 40', [64, 128])).toEqual([3, 40]);
  expect(parseIndex(' [3 40] ', [64, 128])).toEqual([3, 40]);
  expect(parseIndex('-1, −2', [64, 128])).toEqual([63, 126]);
  expect(parseIndex('5', [6])).toEqual([5]);
  expect(parseIndex('64, 0', [64, 128])).toBe('64 is not in 0 to 63');
  expect(parseIndex('3', [64, 128])).toBe('write 2 whole numbers, such as 0, 0');
  expect(parseIndex('x', [6])).toBe('write a whole number');
});

test('the strongest cell of a heat map is the one farthest from zero', () => {
  expect(strengths([[0, -4, null]])).toEqual([[0, 1, 0]]);
  expect(strengths([[0, 0]])).toEqual([[0, 0]]);
});

test('statistics name what is not finite', () => {
  const preview = { elements: 6, norm: 2, mean: null, std: null, nan: 1, inf: 2, sampled: true };
  expect(statistics(preview as never)).toBe('norm NaN · NaN 1 · Inf 2 · from a sample');
  const rest = { ...preview, mean: 1, std: 0.5, low: 0, high: 2, nan: 0, sampled: false };
  expect(statistics(rest as never)).toBe('norm Inf · NaN 0 · Inf 2 · of the finite: mean 1.0, std 0.50');
  const alike = { ...rest, inf: 0, high: 0 };
  expect(statistics(alike as never)).toBe('norm 2.0 · every value is 0 · NaN 0');
  expect(statistics({ elements: 0 } as never)).toBe('no elements');
});

test('edges grow with the logarithm of the norm, within bounds', () => {
  expect(widthOf(1e-3)).toBeGreaterThan(widthOf(1e-5));
  expect(widthOf(10) - widthOf(1)).toBeCloseTo(widthOf(1) - widthOf(0.1));
  expect([widthOf(0), widthOf(NaN), widthOf(1e-300), widthOf(1e300)]).toEqual([1.5, 1.5, 1.5, 6.5]);
});

describe('find', () => {
  const texts = haystacks(outlineOf(perceptron()));

  test('looks at names, labels, shapes, modules and code, without regard to case', () => {
    expect(search(texts, 'TANH')).toEqual([4]);
    expect(search(texts, 'out.weight')).toEqual([5]);
    expect(search(texts, '[64, 10]')).toEqual([7, 8]);
    expect(search(texts, 'hidden[0](x)')).toEqual([3]);
  });

  test('wants every word, and finds nothing for no words', () => {
    expect(search(texts, 'addmm out')).toEqual([7]);
    expect(search(texts, '  ')).toEqual([]);
  });
});

describe('the scrubber', () => {
  test('has one tick a node while they can be told apart', () => {
    expect(spreadOf(23, 600).single).toBe(true);
    expect(spreadOf(10_000, 600).single).toBe(false);
  });

  test('leads from a pixel to a step, and never out of the run', () => {
    const { pitch } = spreadOf(20, 500);
    expect(stepAt(10 + 3.5 * pitch, 20, 500)).toBe(3);
    expect(stepAt(-50, 20, 500)).toBe(0);
    expect(stepAt(5000, 20, 500)).toBe(20);
  });
});

describe('keys', () => {
  const key = (name: string, more: KeyboardEventInit = {}) =>
    new KeyboardEvent('keydown', { key: name, ...more });

  test('are told apart by Shift, and leave those of the host alone', () => {
    expect(matches(key('F10'), 'F10')).toBe(true);
    expect(matches(key('F10', { shiftKey: true }), 'F10')).toBe(false);
    expect(matches(key('F10', { shiftKey: true }), 'Shift+F10')).toBe(true);
    expect(matches(key('F10', { ctrlKey: true }), 'F10')).toBe(false);
    expect(matches(key('?', { shiftKey: true }), '?')).toBe(true);
  });
});
