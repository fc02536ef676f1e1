import { describe, expect, test } from 'vitest';

import { heightOf, layoutOf, type Layout } from './layout';
import { defaultFolds, outlineOf } from './outline';
import type { Graph } from './snapshot';
import { graphOf, perceptron, recurrent, tangle } from './testing';

const open = (graph: Graph) => layoutOf(outlineOf(graph), new Set());
const box = (layout: Layout, title: string) => layout.boxes.find(each => each.title === title)!;
const chain = (n: number) =>
  graphOf(
    Array.from({ length: n }, (_, i) => ({
      name: `Op${i % 7}Backward0`,
      shape: `[${i}]`,
      inputs: i ? [i - 1] : [],
    })),
  );

describe('a layout', () => {
  test('is the same each time, to the last number', () => {
    for (const graph of [perceptron(), recurrent(5), tangle(300)]) {
      const [one, other] = [open(graph), open(graph)];
      expect(one.boxes).toEqual(other.boxes);
      expect(one.edges.map(one.pointsOf)).toEqual(other.edges.map(other.pointsOf));
    }
  });

  test('does not depend on where a run stands', () => {
    const graph = perceptron();
    const later = { ...graph, nodes: { ...graph.nodes, state: graph.nodes.state.map(() => 3) } };
    expect(open(later).boxes).toEqual(open(graph).boxes);
  });

  test('puts every producer above its consumers, inputs at the top and the result at the bottom', () => {
    const layout = open(tangle(400));
    for (const { a, b } of layout.edges) expect(layout.boxes[a].y).toBeLessThan(layout.boxes[b].y);
    const small = open(perceptron());
    const last = small.boxes.reduce((low, each) => (each.y > low.y ? each : low));
    expect(last.title).toBe('NllLossBackward0');
    expect(box(small, 'input').layer).toBe(0);
  });

  test('puts what is merely given right above what needs it', () => {
    const layout = open(perceptron());
    expect(box(layout, 'target').layer).toBe(box(layout, 'NllLossBackward0').layer - 1);
  });

  test('lets no two boxes touch', () => {
    for (const graph of [perceptron(), recurrent(8), tangle(500)]) {
      const layout = open(graph);
      for (const layer of layout.layers)
        for (let i = 1; i < layer.length; i++) {
          const [left, right] = [layout.boxes[layer[i - 1]], layout.boxes[layer[i]]];
          expect(right.x).toBeGreaterThanOrEqual(left.x + left.w + 20);
        }
      for (let l = 1; l < layout.layers.length; l++)
        expect(layout.rows.top[l]).toBeGreaterThan(layout.rows.bottom[l - 1]);
    }
  });

  test('uses whole numbers and begins at the margin', () => {
    const layout = open(tangle(200));
    for (const { x, y, w } of layout.boxes)
      for (const number of [x, y, w]) expect(Number.isInteger(number)).toBe(true);
    expect(Math.min(...layout.boxes.map(each => each.x))).toBe(24);
    expect(Math.min(...layout.boxes.map(each => each.y))).toBe(24);
  });

  test('draws a chain as one straight line', () => {
    const layout = open(chain(30));
    const middles = new Set(layout.boxes.map(each => each.x + each.w / 2));
    expect(middles.size).toBe(1);
  });

  test('marks an edge longer than eight layers as two stubs', () => {
    const nodes = Array.from({ length: 14 }, (_, i) => ({
      name: 'AddBackward0',
      shape: `[${i}]`,
      inputs: i ? [i - 1] : [],
    }));
    nodes[9].inputs = [8, 1];
    nodes[13].inputs = [12, 2];
    const layout = open(graphOf(nodes));
    const spans = new Map(layout.edges.map(({ a, b, stub }) => [b - a, stub]));
    expect(spans.get(8)).toBe(false);
    expect(spans.get(11)).toBe(true);
  });

  test('gives a module a dotted enclosure with all its boxes in it', () => {
    const layout = open(perceptron());
    expect(layout.enclosures).toHaveLength(1);
    const [rect] = layout.enclosures;
    expect(rect.clean).toBe(true);
    for (const inner of layout.boxes.filter(each => each.home >= 0 && each.title !== 'AddmmBackward0')) {
      expect(inner.x).toBeGreaterThan(rect.x);
      expect(inner.y + heightOf(inner)).toBeLessThan(rect.y + rect.h);
    }
  });

  test('hangs parameters on their consumer, three at most and then a count', () => {
    const layout = open(perceptron());
    expect(box(layout, 'AddmmBackward0').badges.map(badge => badge.text)).toEqual(['W 16×2', 'b 16']);
    const many = graphOf([
      ...Array.from({ length: 9 }, (_, i) => ({
        name: 'AccumulateGrad',
        kind: 'parameter' as const,
        label: `p${i}`,
        shape: '[2]',
      })),
      { name: 'StackBackward0', inputs: [0, 1, 2, 3, 4, 5, 6, 7, 8] },
    ]);
    const [only] = open(many).boxes;
    expect(only.badges.map(badge => badge.text)).toEqual(['p0 2', 'p1 2', '+7']);
    expect(only.parameters).toHaveLength(9);
  });

  test('takes a chain of 20,000 nodes without recursion, and quickly', () => {
    const graph = chain(20_000);
    const start = performance.now();
    const layout = open(graph);
    expect(layout.boxes).toHaveLength(20_000);
    expect(performance.now() - start).toBeLessThan(4000);
  });

  test('takes a graph without nodes', () => {
    const layout = open(graphOf([]));
    expect(layout.boxes).toEqual([]);
    expect(layout.width).toBeGreaterThan(0);
  });

  test('survives an edge that goes the wrong way', () => {
    const graph = graphOf([
      { name: 'A', inputs: [] },
      { name: 'B', inputs: [0] },
    ]);
    const broken = { ...graph, edges: { source: [0, 1], target: [1, 0], slot: [0, 0], broadcast: [-1, -1] } };
    expect(open(broken).boxes).toHaveLength(2);
  });

  test('folds a recurrent net of 600 steps to a picture that fits a screen', () => {
    const outline = outlineOf(recurrent(600));
    const layout = layoutOf(outline, defaultFolds(outline));
    expect(layout.boxes.map(each => each.title)).toContain('×600 steps');
    expect(layout.height).toBeLessThan(600);
  });
});
