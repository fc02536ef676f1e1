import { expect, test } from 'vitest';

import { layoutOf } from './layout';
import { outlineOf } from './outline';
import type { Pen } from './paint';
import { framesIn, namesOf, occupiedBy } from './parts';
import { Scene } from './scene';
import { perceptron } from './testing';

/** A pen whose letters are all equally wide. */
const pen = {
  legible: (size: number) => size,
  font: () => '11.5px sans-serif',
  width: (text: string) => 7 * text.length,
  fit: (text: string, width: number) => text.slice(0, Math.floor(width / 7)),
} as unknown as Pen;

function shown() {
  const outline = outlineOf(perceptron());
  const scene = new Scene(outline, layoutOf(outline, new Set()));
  const frames = framesIn(scene, { x: 0, y: 0, w: 5000, h: 5000 });
  return { scene, frames, names: namesOf(pen, scene, frames, 1) };
}

test('the name of a part stands in its first line, where no edge goes through', () => {
  const { scene, frames, names } = shown();
  expect(names.map(name => name.text)).toEqual(['hidden']); // its type would stand on the line that enters it
  const [rect] = frames;
  for (const { x, y, w, crossed } of names) {
    expect(crossed).toBe(false);
    expect(y).toBeGreaterThan(rect.y);
    expect(y).toBeLessThan(rect.y + 24);
    scene.edgesIn(rect, (_, points) => {
      for (let i = 2; i < points.length; i += 2) {
        if (points[i + 1] < y - 10 || points[i - 1] > y || points[i] !== points[i - 2]) continue;
        expect(points[i] < x - 14 || points[i] > x + w).toBe(true);
      }
    });
  }
});

test('numbers keep off names and off the four borders of a frame', () => {
  const { frames, names } = shown();
  const taken = occupiedBy(frames, names);
  const [rect] = frames;
  const covers = (x: number, y: number) =>
    taken.some(each => x >= each.x && x <= each.x + each.w && y >= each.y && y <= each.y + each.h);
  expect(covers(names[0].x + 5, names[0].y - 4)).toBe(true);
  for (const [x, y] of [
    [rect.x, rect.y + 60],
    [rect.x + rect.w, rect.y + 60],
    [rect.x + 60, rect.y + rect.h],
    [rect.x + rect.w - 20, rect.y],
  ])
    expect(covers(x, y)).toBe(true);
  expect(covers(rect.x + rect.w / 2, rect.y + rect.h / 2)).toBe(false);
});
