// How the arrow keys walk a graph: up and down along its edges, left and right through its rows.
import type { Box } from './layout';
import type { Item, Scene } from './scene';

export type Way = 'up' | 'down' | 'left' | 'right' | 'first' | 'last';

/** Where a step leads, or null when there is nothing that way. */
export function walk(scene: Scene, from: Item, way: Way): Item | null {
  const { layout } = scene;
  if (!layout.boxes.length) return null;
  if (way === 'first') return scene.itemOf(layout.boxes[0]);
  if (way === 'last') return scene.itemOf(layout.boxes[layout.boxes.length - 1]);
  const box = scene.boxOf(from);
  if (!box) return scene.itemOf(layout.boxes[layout.boxes.length - 1]);
  if (way === 'left' || way === 'right') return sideways(scene, box, from, way === 'left' ? -1 : 1);
  const isBadge = from >= 0 && box.node !== from;
  if (isBadge && way === 'up') return scene.itemOf(box);
  return along(scene, box, way);
}

/** The neighbour along an edge that stands nearest; one that computes comes before one that is merely given. */
function along(scene: Scene, box: Box, way: 'up' | 'down'): Item | null {
  const { boxes, edges } = scene.layout;
  const middle = (other: Box) => other.x + other.w / 2;
  let best: Box | null = null;
  let bestCost = Infinity;
  for (const edge of edges) {
    const near = way === 'up' ? edge.b : edge.a;
    if (near !== box.index) continue;
    const other = boxes[way === 'up' ? edge.a : edge.b];
    const given = way === 'up' && other.node >= 0 && scene.outline.isSource[other.node] ? 1e7 : 0;
    const cost = Math.abs(middle(other) - middle(box)) + given + (edge.stub ? 1e8 : 0);
    if (cost < bestCost) [best, bestCost] = [other, cost];
  }
  return best && scene.itemOf(best);
}

function sideways(scene: Scene, box: Box, from: Item, by: -1 | 1): Item | null {
  const { layers, boxes } = scene.layout;
  const itemsOf = (layer: number) =>
    (layers[layer] ?? []).flatMap(b => {
      const badges = boxes[b].badges.filter(badge => badge.node >= 0).map(badge => badge.node);
      return [scene.itemOf(boxes[b]), ...badges];
    });
  const row = itemsOf(box.layer);
  const at = row.indexOf(from) < 0 ? row.indexOf(scene.itemOf(box)) : row.indexOf(from);
  const next = row[at + by];
  if (next !== undefined) return next;
  for (let layer = box.layer + by; layer >= 0 && layer < layers.length; layer += by) {
    const other = itemsOf(layer);
    if (other.length) return other[by > 0 ? 0 : other.length - 1];
  }
  return null;
}
