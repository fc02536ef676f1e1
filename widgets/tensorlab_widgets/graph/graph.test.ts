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
  expect(inspector.textContent).toContain('kept for backward');
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

test('undoing a view leaves nothing in the page and nothing listening', async () => {
  const session = playedSession({ initialize: () => ({ graph: perceptron() }) });
  const element = host();
  mountGraphSession(element, session)();
  await settled();
  expect(element.childElementCount).toBe(0);
  expect(session.listeners.size).toBe(0);
  expect(session.sent).toHaveLength(1);
});
