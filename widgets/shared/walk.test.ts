import { describe, expect, test } from 'vitest';

import { layoutOf } from './layout';
import { outlineOf } from './outline';
import { Scene } from './scene';
import { perceptron, recurrent } from './testing';
import { describe as words, rowsOf } from './tree';
import { walk } from './walk';

const sceneOf = (graph = perceptron(), folded: number[] = []) => {
  const outline = outlineOf(graph);
  return new Scene(outline, layoutOf(outline, new Set(folded)));
};

describe('the arrow keys', () => {
  test('walk up and down along the edges', () => {
    const scene = sceneOf();
    expect(walk(scene, 10, 'up')).toBe(8);
    expect(walk(scene, 8, 'up')).toBe(7);
    expect(walk(scene, 7, 'down')).toBe(8);
    expect(walk(scene, 3, 'up')).toBe(0);
    expect(walk(scene, 0, 'up')).toBe(null);
    expect(walk(scene, 10, 'down')).toBe(null);
  });

  test('come to parameters sideways, and from a parameter back to its consumer', () => {
    const scene = sceneOf();
    expect(walk(scene, 7, 'right')).toBe(5);
    expect(walk(scene, 5, 'right')).toBe(6);
    expect(walk(scene, 6, 'up')).toBe(7);
    expect(walk(scene, 5, 'left')).toBe(7);
  });

  test('reach every node by going right from the first', () => {
    const scene = sceneOf();
    const seen = new Set<number>();
    for (let at = walk(scene, 0, 'first'); at !== null; at = walk(scene, at, 'right')) seen.add(at);
    expect(seen.size).toBe(11);
  });

  test('jump to the first and the last', () => {
    expect(walk(sceneOf(), 4, 'first')).toBe(0);
    expect(walk(sceneOf(), 4, 'last')).toBe(10);
  });

  test('walk over a folded part as over one node', () => {
    const scene = sceneOf(perceptron(), [0]);
    expect(walk(scene, 7, 'up')).toBe(-1);
    expect(walk(scene, -1, 'up')).toBe(0);
  });
});

describe('the tree', () => {
  test('lists open parts above what is in them, and parameters under their consumer', () => {
    const rows = rowsOf(sceneOf());
    expect(rows.map(row => row.item)).toEqual([0, -1, 3, 1, 2, 4, 7, 5, 6, 8, 9, 10]);
    expect(rows.map(row => row.level)).toEqual([1, 1, 2, 3, 3, 2, 1, 2, 2, 1, 1, 1]);
    expect(rows[1].expanded).toBe(true);
  });

  test('lists a folded part as one line that can be opened', () => {
    const rows = rowsOf(sceneOf(perceptron(), [0]));
    expect(rows.map(row => row.item)).toEqual([0, -1, 7, 5, 6, 8, 9, 10]);
    expect(rows[1].expanded).toBe(false);
  });

  test('has one line for every node of a graph that is all open', () => {
    const graph = recurrent(20);
    const rows = rowsOf(sceneOf(graph));
    expect(rows.filter(row => row.item >= 0)).toHaveLength(graph.nodes.id.length);
  });

  test('says of a node what the picture shows of it', () => {
    const scene = sceneOf();
    const look = { state: 1, hollow: false, edited: true, broken: true, nan: false, done: 0, total: 1 };
    expect(words(scene, 4, null, look)).toBe(
      'TanhBackward0, [64, 16] · hidden.1, waiting, edited, breakpoint, made in cell 4, line 2',
    );
  });
});
