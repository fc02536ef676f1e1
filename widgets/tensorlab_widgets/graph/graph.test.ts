import path from 'node:path';

import { afterEach, expect, test } from 'vitest';

import { mountGraph, mountGraphSession } from '../../shared/graphview';
import type { Undo } from '../../shared/dom';
import { GRAPH, type Graph, type NodeDetail } from '../../shared/snapshot';
import { perceptron, playedSession, settled } from '../../shared/testing';
import { statesOf } from '../../shared/states';

const states = statesOf(import.meta.dirname);
const detail = statesOf(path.join(import.meta.dirname, '../stepper')).find(
  state => state.name === 'middle.node.json',
)!.document as NodeDetail;

let undo: Undo = () => undefined;
afterEach(() => undo());

function host(): HTMLElement {
  const element = document.createElement('div');
  document.body.replaceChildren(element);
  return element;
}

const find = (element: HTMLElement, testid: string) =>
  element.querySelector<HTMLElement>(`[data-testid="${testid}"]`)!;
const items = (element: HTMLElement) => [
  ...element.querySelectorAll<HTMLElement>('[data-testid="tl-tree-item"]'),
];
const press = (element: HTMLElement, key: string, more: KeyboardEventInit = {}) =>
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));

for (const { name, document: state } of states) {
  if (state.schema !== GRAPH) continue;
  test(`the state ${name} is drawn: every node has its line, the sentence stands below`, () => {
    const graph = state as Graph;
    const element = host();
    undo = mountGraph(element, graph);
    expect(items(element).filter(item => item.dataset.nodeId)).toHaveLength(graph.nodes.id.length);
    expect(find(element, 'tl-sentence').textContent).toBe(graph.sentence);
    expect(element.querySelector('script, img, b')).toBe(null);
  });
}

test('names that look like markup stay text', () => {
  const element = host();
  const graph = perceptron();
  undo = mountGraph(element, {
    ...graph,
    title: '<b>bold</b>',
    strings: graph.strings.map(word => `<script>${word}</script>`),
  });
  expect(element.querySelector('script, b')).toBe(null);
  expect(element.textContent).toContain('<script>TanhBackward0</script>');
  expect(element.textContent).toContain('<b>bold</b>');
});

test('arrow keys walk, Enter opens, Escape closes', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  const tree = find(element, 'tl-tree');
  tree.focus();
  press(tree, 'End');
  press(tree, 'ArrowUp');
  const active = () => element.querySelector<HTMLElement>(`#${tree.getAttribute('aria-activedescendant')}`)!;
  expect(active().dataset.nodeId).toBe('108');
  press(tree, 'Enter');
  const inspector = find(element, 'tl-inspector');
  expect(inspector.dataset.nodeId).toBe('108');
  expect(inspector.textContent).toContain('LogSoftmaxBackward0');
  expect(active().getAttribute('aria-selected')).toBe('true');
  press(tree, 'Escape');
  expect(inspector.textContent).toContain('operations5');
});

test('the key f folds the module around a node, and opens it again', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  const tree = find(element, 'tl-tree');
  tree.focus();
  press(tree, 'Home');
  press(tree, 'ArrowDown');
  press(tree, 'f');
  expect(items(element).map(item => item.dataset.nodeId)).not.toContain('104');
  expect(find(element, 'tl-sentence').textContent).toBe('Folded hidden.');
  press(tree, 'f');
  expect(items(element).map(item => item.dataset.nodeId)).toContain('104');
});

test('a node that a search leads to is unfolded', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  find(element, 'tl-fold').click();
  expect(items(element).map(item => item.dataset.nodeId)).not.toContain('104');
  const input = find(element, 'tl-find') as HTMLInputElement;
  input.value = 'tanh';
  input.dispatchEvent(new Event('input'));
  press(input, 'Enter');
  expect(items(element).map(item => item.dataset.nodeId)).toContain('104');
  expect(find(element, 'tl-inspector').textContent).toContain('TanhBackward0');
});

test('the key ? lists all keys, and Escape takes the list away', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  const help = find(element, 'tl-help');
  find(element, 'tl-tree').focus();
  press(find(element, 'tl-tree'), '?');
  expect(help.closest('[hidden]')).toBe(null);
  press(help, 'Escape');
  expect(help.closest('[hidden]')).not.toBe(null);
});

test('over a session the graph is asked for once, and a node when it is opened', async () => {
  const session = playedSession({ initialize: () => ({ graph: perceptron() }), inspect: () => detail });
  const element = host();
  undo = mountGraphSession(element, session);
  await settled();
  expect(session.sent.map(request => request.command)).toEqual(['initialize']);
  const tree = find(element, 'tl-tree');
  tree.focus();
  press(tree, 'End');
  press(tree, 'Enter');
  await settled();
  expect(session.asked('inspect')[0].arguments).toEqual({ node: 110 });
  expect(find(element, 'tl-inspector').textContent).toContain(detail.formula || detail.derivative);
});

test('a node that is gone is shown from the document, with the reason', async () => {
  const session = playedSession({
    initialize: () => ({ graph: perceptron() }),
    inspect: () => {
      throw new Error('this node is gone');
    },
  });
  const element = host();
  undo = mountGraphSession(element, session);
  await settled();
  const tree = find(element, 'tl-tree');
  tree.focus();
  press(tree, 'End');
  press(tree, 'Enter');
  await settled();
  expect(find(element, 'tl-inspector').textContent).toContain('this node is gone');
  expect(find(element, 'tl-inspector').textContent).toContain('NllLossBackward0');
});

test('a document that cannot be read spoils only the view, which says what broke', async () => {
  const session = playedSession({ initialize: () => ({ graph: { title: 'x' } }) });
  const element = host();
  undo = mountGraphSession(element, session);
  await settled();
  expect(find(element, 'tl-error').textContent).toContain('could not be shown');
});

test('the layers say the call, the node of backward, or both', () => {
  const element = host();
  undo = mountGraph(element, states.find(({ name }) => name === 'classifier.json')!.document as Graph);
  const text = () => items(element).map(item => item.textContent);
  const tree = find(element, 'tl-tree');
  tree.focus();
  expect(text()).toContainEqual(expect.stringMatching(/^tanh, \[6, 8\] · TanhBackward0/));
  press(tree, 'l');
  expect(text()).toContainEqual(expect.stringMatching(/^tanh, \[6, 8\] · model\.1/));
  press(tree, 'l');
  expect(text()).toContainEqual(expect.stringMatching(/^TanhBackward0, \[6, 8\]/));
  expect(find(element, 'tl-layer-backward').getAttribute('aria-pressed')).toBe('true');
});

test('storages are drawn once each, listed by size, and the list can be turned', () => {
  const element = host();
  const graph = states.find(({ name }) => name === 'classifier.json')!.document as Graph;
  undo = mountGraph(element, graph);
  const nodes = () => items(element).filter(item => item.dataset.nodeId).length;
  const before = nodes();
  const sizes = () =>
    [...find(element, 'tl-kept').querySelectorAll('tbody td:first-child')].map(cell => cell.textContent);
  const largest = sizes()[0];
  find(element, 'tl-sort-bytes').click();
  expect(sizes().at(-1)).toBe(largest);
  find(element, 'tl-tree').focus();
  press(find(element, 'tl-tree'), 's');
  expect(nodes()).toBe(before + graph.storages.bytes.length);
  press(find(element, 'tl-tree'), 's');
  expect(nodes()).toBe(before);
});

test('what leads to a node lights up, and Escape ends it', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  const tree = find(element, 'tl-tree');
  tree.focus();
  press(tree, 'Home');
  press(tree, 'ArrowDown');
  press(tree, 'd');
  expect(find(element, 'tl-sentence').textContent).toMatch(/^\d nodes come from here/);
  press(tree, 'u');
  expect(find(element, 'tl-sentence').textContent).toMatch(/lead here/);
});

test('numbers that nobody took are measured once', async () => {
  const graph = perceptron();
  const session = playedSession({
    initialize: () => ({ graph }),
    inspect: () => detail,
    measure: () => ({
      schema: 'tensorlab.measures/1',
      node: graph.nodes.id,
      forward: graph.nodes.id.map(() => null),
      backward: graph.nodes.id.map(() => 12.5),
      norm: graph.nodes.id.map(() => 0.25),
      bad: graph.nodes.id.map(() => 0),
      sentence: 'One backward pass of 5 nodes took 1 ms.',
    }),
    refresh: () => ({ graph: null }),
  });
  const element = host();
  undo = mountGraphSession(element, session);
  await settled();
  const list = find(element, 'tl-overlay') as HTMLSelectElement;
  for (const name of ['backward', 'norm']) {
    list.value = name;
    list.dispatchEvent(new Event('change'));
    await settled();
  }
  expect(session.asked('measure')).toHaveLength(1);
  expect(items(element).map(item => item.textContent)).toContainEqual(expect.stringContaining('‖g‖ 0.25'));
  expect(find(element, 'tl-sentence').textContent).toContain('Each box shows its gradient norm');
});

test('the nodes of a line are found when the host asks', () => {
  const element = host();
  undo = mountGraph(element, perceptron());
  const line = { cell: 4, file: '', line: 2, found: 0 };
  find(element, 'tl-graph').dispatchEvent(new CustomEvent('tensorlab:show-line', { detail: line }));
  expect(line.found).toBe(1);
  expect(find(element, 'tl-inspector').textContent).toContain('TanhBackward0');
});

test('undoing a view leaves nothing in the page and nothing listening', async () => {
  const session = playedSession({ initialize: () => ({ graph: perceptron() }) });
  const element = host();
  mountGraphSession(element, session)();
  await settled();
  expect(element.childElementCount).toBe(0);
  expect(session.listeners.size).toBe(0);
  expect(session.sent).toHaveLength(1);
});
