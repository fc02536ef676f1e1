import { describe, expect, test } from 'vitest';

import { layoutOf } from './layout';
import { badgeText, defaultFolds, foldLines, linesOf, outlineOf } from './outline';
import { graphOf, perceptron, recurrent, tangle, type NodeSketch } from './testing';

const encoder = (layers: number) => {
  const groups = [{ name: 'encoder', type: 'Encoder', parent: -1 }];
  const nodes: NodeSketch[] = [{ name: 'input', kind: 'input', label: 'x' }];
  for (let l = 0; l < layers; l++) {
    const group = groups.push({ name: `encoder.${l}`, type: 'EncoderLayer', parent: 0 }) - 1;
    for (const name of ['MmBackward0', 'SoftmaxBackward0', 'MmBackward0', 'AddBackward0'])
      nodes.push({ name, group, inputs: [nodes.length - 1] });
  }
  nodes.push({ name: 'SumBackward0', kind: 'root', shape: '[]', inputs: [nodes.length - 1] });
  return graphOf(nodes, groups);
};

const titles = (outline: ReturnType<typeof outlineOf>) =>
  outline.folds.map(fold => foldLines(outline, fold).title);

describe('an outline', () => {
  test('finds modules, and equal layers as one repeat', () => {
    const outline = outlineOf(encoder(12));
    expect(titles(outline)).toContain('×12 EncoderLayer');
    expect(titles(outline)).toContain('encoder.3');
  });

  test('finds loop steps that no module names', () => {
    const outline = outlineOf(recurrent(40));
    const [repeat] = outline.folds;
    expect(repeat.times).toBe(40);
    expect(foldLines(outline, repeat)).toEqual({ title: '×40 steps', subtitle: '14 nodes each' });
  });

  test('does not take two or three equal nodes of a small graph for a loop', () => {
    const graph = graphOf(
      Array.from({ length: 4 }, (_, i) => ({ name: 'MulBackward0', inputs: i ? [i - 1] : [] })),
    );
    expect(outlineOf(graph).folds).toEqual([]);
  });

  test('makes two parts of a module that is called twice, so that folding never makes a circle', () => {
    const groups = [{ name: 'cell', type: 'Cell', parent: -1 }];
    const graph = graphOf(
      [
        { name: 'x', kind: 'input' },
        { name: 'MmBackward0', group: 0, inputs: [0] },
        { name: 'TanhBackward0', group: 0, inputs: [1] },
        { name: 'MulBackward0', inputs: [2] },
        { name: 'MmBackward0', group: 0, inputs: [3] },
        { name: 'TanhBackward0', group: 0, inputs: [4] },
      ],
      groups,
    );
    const outline = outlineOf(graph);
    expect(outline.folds).toHaveLength(2);
    const { boxes, edges } = layoutOf(outline, new Set([0, 1]));
    expect(boxes.map(box => box.title)).toEqual(['x', 'cell', 'MulBackward0', 'cell']);
    for (const { a, b } of edges) expect(a).toBeLessThan(b);
  });

  test('lets the inputs of loop steps fold with them', () => {
    const outline = outlineOf(recurrent(40));
    const { boxes } = layoutOf(outline, defaultFolds(outline));
    expect(boxes.map(box => box.title)).toEqual(['×40 steps', 'SumBackward0']);
  });

  test('folds nothing at first where the whole can be taken in', () => {
    expect(defaultFolds(outlineOf(perceptron())).size).toBe(0);
    expect(defaultFolds(outlineOf(tangle(240))).size).toBe(0);
  });

  test('folds a large net at first until few boxes are left', () => {
    const outline = outlineOf(encoder(80));
    const { boxes } = layoutOf(outline, defaultFolds(outline));
    expect(boxes.map(box => box.title)).toEqual(['x', '×80 EncoderLayer', 'SumBackward0']);
  });

  test('has every node in exactly one box or badge, whatever is folded', () => {
    const outline = outlineOf(encoder(6));
    const all = outline.folds.map(fold => fold.id);
    for (const folded of [[], all, all.filter(id => id % 2), all.filter(id => id % 3 === 0)]) {
      const { boxOf, boxes } = layoutOf(outline, new Set(folded));
      outline.isBadge.forEach((isBadge, i) => expect(boxOf[i] >= 0).toBe(!isBadge));
      expect(new Set(boxOf).size).toBe(boxes.length);
    }
  });
});

describe('the words on a box', () => {
  test('say what it is, its shape, and where it stands', () => {
    const outline = outlineOf(perceptron());
    expect(linesOf(outline, 4)).toEqual({ title: 'TanhBackward0', subtitle: '[64, 16] · hidden.1' });
    expect(linesOf(outline, 9)).toEqual({ title: 'target', subtitle: '[64] int64 · no grad' });
    expect(linesOf(outline, 10)).toEqual({ title: 'NllLossBackward0', subtitle: '[] · loss' });
  });

  test('are short on a badge', () => {
    const graph = perceptron();
    expect([1, 2, 5, 6].map(node => badgeText(graph, node))).toEqual(['W 16×2', 'b 16', 'W 10×16', 'b 10']);
  });
});
