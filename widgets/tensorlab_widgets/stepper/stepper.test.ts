import { afterEach, expect, test } from 'vitest';

import type { Undo } from '../../shared/dom';
import { SESSION, type NodeDetail, type SessionState } from '../../shared/snapshot';
import { mountStepper } from '../../shared/stepper';
import { perceptron, playedSession, sessionOf, settled, stoppedOf } from '../../shared/testing';
import { statesOf } from '../../shared/states';

const states = statesOf(import.meta.dirname);
const detail = states.find(state => state.name === 'middle.node.json')!.document as NodeDetail;

let undo: Undo = () => undefined;
afterEach(() => undo());

const find = (element: HTMLElement, testid: string) =>
  element.querySelector<HTMLElement>(`[data-testid="${testid}"]`)!;
const press = (element: HTMLElement, key: string, more: KeyboardEventInit = {}) =>
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));

/** A stepper on a run of the perceptron that answers every move. */
async function stepper(state: SessionState = sessionOf(perceptron()), answers = {}) {
  const { upcoming, order, step } = state.stopped;
  const schedule = [...order, ...upcoming];
  let at = step;
  const stand = (reason: 'step' | 'back' | 'goto' | 'done' | 'edited') => {
    const node = schedule[at] ?? -1;
    const changes = {
      node: schedule,
      state: schedule.map((_, k) => (k < at ? 3 : k === at ? 2 : 0)),
      norm: schedule.map(() => null),
      edge: [],
      flow: [],
    };
    return stoppedOf({
      reason: node < 0 ? 'done' : reason,
      step: at,
      total: schedule.length,
      node,
      changes,
      sentence: `at ${at}`,
    });
  };
  const seen = (node: unknown) => ({ ...detail, id: node, name: `node ${String(node)}` });
  type Move = (parameters: Record<string, unknown>) => ReturnType<typeof stand>;
  const moves: Record<string, Move> = {
    next: ({ count }) => ((at = Math.min(schedule.length, at + Number(count))), stand('step')),
    stepBack: ({ count }) => ((at = Math.max(0, at - Number(count))), stand('back')),
    continue: () => ((at = schedule.length), stand('done')),
    finish: () => ((at = schedule.length), stand('done')),
    restart: () => ((at = 0), stand('goto')),
    goTo: ({ step: to }) => ((at = Number(to)), stand('goto')),
    runTo: ({ node }) => ((at = schedule.indexOf(Number(node))), stand('goto')),
    setGradient: () => stand('edited'),
  };
  const told = (move: Move): Move => {
    return parameters => {
      const stopped = move(parameters);
      const wanted = parameters.inspect === true ? stopped.node : parameters.inspect;
      return { ...stopped, detail: wanted ? (seen(wanted) as NodeDetail) : null };
    };
  };
  const session = playedSession({
    initialize: () => state,
    inspect: ({ node }) => seen(node),
    setBreakpoints: parameters => parameters,
    ...Object.fromEntries(Object.entries(moves).map(([name, move]) => [name, told(move)])),
    disconnect: () => ({}),
    ...answers,
  });
  const element = document.createElement('div');
  document.body.replaceChildren(element);
  undo = mountStepper(element, session);
  await settled();
  const root = find(element, 'tl-stepper');
  find(element, 'tl-tree').focus();
  return { element, session, root };
}

for (const { name, document: state } of states) {
  if (state.schema !== SESSION) continue;
  test(`the state ${name} is shown: current node, reason, states and sentence`, async () => {
    const given = state as SessionState;
    const { element, root } = await stepper(given);
    const { stopped } = given;
    expect(root.dataset.step).toBe(String(stopped.step));
    expect(root.dataset.current).toBe(stopped.node < 0 ? '' : String(stopped.node));
    expect(root.dataset.reason).toBe(stopped.reason);
    expect(find(element, 'tl-sentence').textContent).toBe(stopped.sentence);
    const current = [...element.querySelectorAll<HTMLElement>('[data-state="current"]')].map(
      item => item.dataset.nodeId,
    );
    expect(current).toEqual(stopped.node < 0 ? [] : [String(stopped.node)]);
    const done = element.querySelectorAll('[data-node-id][data-state="done"]');
    expect(done).toHaveLength(stopped.step);
  });
}

test('F10 goes on, Shift+F10 goes back, F9 continues to the end', async () => {
  const { element, root } = await stepper();
  press(root, 'F10');
  press(root, 'F10');
  await settled();
  expect(root.dataset.step).toBe('2');
  press(root, 'F10', { shiftKey: true });
  await settled();
  expect(root.dataset.step).toBe('1');
  press(root, 'F9');
  await settled();
  expect(root.dataset.reason).toBe('done');
  expect(find(element, 'tl-next').getAttribute('aria-disabled')).toBe('true');
  expect(find(element, 'tl-status').textContent).toBe('9 of 9 done · finished');
});

test('steps asked for faster than they are answered travel together', async () => {
  const { root, session } = await stepper();
  for (let i = 0; i < 5; i++) press(root, 'F10');
  await settled();
  expect(root.dataset.step).toBe('5');
  expect(session.asked('next').map(request => request.arguments.count)).toEqual([1, 4]);
});

test('keys pressed outside the instrument do nothing', async () => {
  const { root, session } = await stepper();
  press(document.body, 'F10');
  await settled();
  expect(session.asked('next')).toEqual([]);
  expect(root.dataset.step).toBe('0');
});

test('a step brings what is to be seen of the node where it stops, in one message', async () => {
  const { element, session } = await stepper();
  const before = session.sent.length;
  find(element, 'tl-next').click();
  await settled();
  expect(session.sent.slice(before).map(request => request.command)).toEqual(['next']);
  expect(find(element, 'tl-inspector').textContent).toContain('node 108');
});

test('a breakpoint is set and taken back by key and by button', async () => {
  const { element, root, session } = await stepper();
  press(root, 'b');
  await settled();
  expect(session.asked('setBreakpoints')[0].arguments).toEqual({
    nodes: [110],
    predicates: [],
    together: false,
  });
  expect(element.querySelector('[data-node-id="110"]')!.textContent).toContain('breakpoint');
  find(element, 'tl-break').click();
  await settled();
  expect(session.asked('setBreakpoints')[1].arguments).toEqual({
    nodes: [],
    predicates: [],
    together: false,
  });
});

test('a condition is sent with its bound, and a bound that is no number is not', async () => {
  const { element, session } = await stepper();
  find(element, 'tl-break-when').click();
  (find(element, 'tl-break-above') as HTMLInputElement).click();
  await settled();
  expect(session.asked('setBreakpoints')[0].arguments.predicates).toEqual([
    { kind: 'norm_above', value: 1000, text: '' },
  ]);
  const bound = find(element, 'tl-break-above-value') as HTMLInputElement;
  bound.value = 'many';
  bound.dispatchEvent(new Event('change'));
  await settled();
  expect(session.asked('setBreakpoints')[1].arguments.predicates).toEqual([]);
});

test('one value of the waiting gradient is edited: click a cell, type a number, Enter', async () => {
  const { element, session } = await stepper();
  const cell = element.querySelector<HTMLElement>('.tl-cell[data-row="1"][data-column="2"]')!;
  cell.click();
  const input = find(element, 'tl-edit-value') as HTMLInputElement;
  input.value = '-0.5';
  input.form!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled();
  expect(session.asked('setGradient')[0].arguments).toMatchObject({
    node: 110,
    output: 0,
    index: [1, 2],
    value: -0.5,
  });
});

test('what is typed for a value must be a number', async () => {
  const { element, session } = await stepper();
  element.querySelector<HTMLElement>('.tl-cell')!.click();
  const input = find(element, 'tl-edit-value') as HTMLInputElement;
  input.value = 'much';
  input.form!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled();
  expect(session.asked('setGradient')).toEqual([]);
  expect(input.form!.textContent).toContain('write a number');
});

test('run to here runs to the opened node, and goes back to one that has run', async () => {
  const { element, root, session } = await stepper();
  const tree = find(element, 'tl-tree');
  element.querySelector<HTMLElement>('[data-node-id="104"]')!.click();
  await settled();
  find(element, 'tl-run-to').click();
  await settled();
  expect(session.asked('runTo')[0].arguments).toMatchObject({ node: 104 });
  expect(root.dataset.current).toBe('104');
  tree.focus();
  element.querySelector<HTMLElement>('[data-node-id="108"]')!.click();
  await settled();
  press(root, 'r');
  await settled();
  expect(session.asked('goTo')[0].arguments).toMatchObject({ step: 1 });
});

test('the scrubber goes to a step by the arrow keys', async () => {
  const { element, root, session } = await stepper();
  const scrubber = find(element, 'tl-scrubber');
  press(scrubber, 'End');
  await settled();
  expect(session.asked('goTo')[0].arguments).toMatchObject({ step: 9 });
  expect(root.dataset.reason).toBe('done');
  expect(scrubber.getAttribute('aria-valuetext')).toBe('step 9 of 9');
});

test('a refused request is told, and the run stays where it was', async () => {
  const refuse = () => {
    throw new Error('the graph was freed');
  };
  const { element, root } = await stepper(sessionOf(perceptron()), { next: refuse });
  press(root, 'F10');
  await settled();
  expect(find(element, 'tl-error').textContent).toContain('the graph was freed');
  expect(root.dataset.step).toBe('0');
});

test('what happens in another view is shown here too', async () => {
  const { root, session } = await stepper();
  session.event('stopped', stoppedOf({ step: 3, node: 104 }));
  expect(root.dataset.step).toBe('3');
  expect(root.dataset.current).toBe('104');
});

test('what hooks print is shown as text', async () => {
  const { element, session } = await stepper();
  session.event('output', { text: '<b>norm</b> 3\n' });
  expect(find(element, 'tl-output').textContent).toBe('<b>norm</b> 3\n');
});

test('a closed session keeps its picture and takes no more requests', async () => {
  const { element, root, session } = await stepper();
  session.event('closed', { message: 'its cell was run again' });
  const before = session.sent.length;
  press(root, 'F10');
  press(root, 'b');
  await settled();
  expect(session.sent).toHaveLength(before);
  expect(root.dataset.reason).toBe('closed');
  expect(find(element, 'tl-sentence').textContent).toBe('Closed: its cell was run again.');
  expect(element.querySelectorAll('[data-testid="tl-tree-item"]').length).toBeGreaterThan(5);
});

test('a broken message spoils nothing that stands', async () => {
  const { element, root, session } = await stepper();
  session.event('stopped', { step: 1 });
  expect(find(element, 'tl-error').textContent).toContain('could not be shown');
  expect(root.dataset.step).toBe('0');
  press(root, 'F10');
  await settled();
  expect(root.dataset.step).toBe('1');
  expect(find(element, 'tl-error')).toBe(null);
});

test('a view that goes away lets a waiting cell go on, and says nothing else', async () => {
  const { element, session } = await stepper({ ...sessionOf(perceptron()), blocking: true });
  expect(find(element, 'tl-status').textContent).toContain('a cell waits');
  expect(find(element, 'tl-finish').hidden).toBe(false);
  const before = session.sent.length;
  undo();
  await settled();
  expect(session.sent.slice(before).map(request => request.command)).toEqual(['disconnect']);
  expect(session.listeners.size).toBe(0);
});

test('a session that is over when it is opened shows its graph and says why', async () => {
  const why = 'the values that this graph had saved were freed';
  const { element, root } = await stepper({ ...sessionOf(perceptron()), closed: why });
  expect(find(element, 'tl-sentence').textContent).toBe(`Closed: ${why}.`);
  expect(root.dataset.reason).toBe('closed');
  expect(find(element, 'tl-next').getAttribute('aria-disabled')).toBe('true');
});
