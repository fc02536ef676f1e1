import { afterEach, expect, test } from 'vitest';

import type { Undo } from '../../shared/dom';
import type { NodeDetail, Stopped } from '../../shared/snapshot';
import type { Changed, Check } from '../../shared/asking';
import { mountStepper } from '../../shared/stepper';
import { perceptron, playedSession, sessionOf, settled, stoppedOf } from '../../shared/testing';
import { statesOf } from '../../shared/states';

const detail = statesOf(import.meta.dirname).find(state => state.name === 'middle.node.json')!
  .document as NodeDetail;

let undo: Undo = () => undefined;
afterEach(() => undo());

const find = (element: HTMLElement, testid: string) =>
  element.querySelector<HTMLElement>(`[data-testid="${testid}"]`)!;
const field = (element: HTMLElement, testid: string) => find(element, testid) as HTMLInputElement;
const press = (element: HTMLElement, key: string) =>
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const submit = (input: HTMLInputElement, text: string) => {
  input.value = text;
  input.form!.dispatchEvent(new Event('submit', { cancelable: true }));
};

async function stepper(answers: Record<string, (given: Record<string, unknown>) => unknown> = {}, more = {}) {
  const session = playedSession({
    initialize: () => sessionOf(perceptron()),
    inspect: ({ node }) => ({ ...detail, id: node, ...more }),
    setBreakpoints: given => given,
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

const watched = (expression: string, text = '1', more = {}) => ({
  expression,
  text,
  wrong: false,
  changed: false,
  ...more,
});

test('a watched expression is typed, told after every step, and taken away again', async () => {
  const { element, root, session } = await stepper({
    setWatches: ({ expressions }) => ({ watches: (expressions as string[]).map(each => watched(each)) }),
    next: () =>
      stoppedOf({ step: 1, node: 108, watches: [watched('grad.norm()', '0.5', { changed: true })] }),
  });
  expect(find(element, 'tl-watches').hidden).toBe(true);
  press(root, 'w');
  submit(field(element, 'tl-watch-input'), 'grad.norm()');
  await settled();
  expect(session.asked('setWatches')[0].arguments).toEqual({ expressions: ['grad.norm()'] });
  expect(find(element, 'tl-watch').textContent).toContain('grad.norm()');
  press(root, 'F10');
  await settled();
  expect(find(element, 'tl-watch').textContent).toContain('0.5');
  expect(find(element, 'tl-watch').dataset.changed).toBe('true');
  find(element, 'tl-watch-remove').click();
  await settled();
  expect(session.asked('setWatches')[1].arguments).toEqual({ expressions: [] });
});

test('an expression that Python refuses says why beside it and stays to be mended', async () => {
  const { element, root } = await stepper({
    setWatches: () => {
      throw new Error('mul_() writes in place');
    },
  });
  press(root, 'w');
  submit(field(element, 'tl-watch-input'), 'grad.mul_(0)');
  await settled();
  expect(find(element, 'tl-watch-says').textContent).toContain('writes in place');
  expect(field(element, 'tl-watch-input').value).toBe('grad.mul_(0)');
  expect(find(element, 'tl-error')).toBe(null);
});

test('over and out are sent as such, and have keys', async () => {
  const moved = () => stoppedOf({ step: 2, node: 107 });
  const { element, root, session } = await stepper({ next: moved, stepOut: moved });
  find(element, 'tl-over').click();
  await settled();
  press(root, 'o');
  await settled();
  press(root, 'u');
  await settled();
  expect(session.asked('next').map(each => each.arguments.granularity)).toEqual(['module', 'module']);
  expect(session.asked('stepOut')).toHaveLength(1);
});

test('the whole gradient is edited by an expression', async () => {
  const { element, root, session } = await stepper({
    setExpression: () => stoppedOf({ reason: 'edited', node: 110, edited: [110] }),
  });
  press(root, 'E');
  expect((document.activeElement as HTMLElement).dataset.testid).toBe('tl-edit-expression');
  submit(field(element, 'tl-edit-expression'), 'grad * 0');
  await settled();
  expect(session.asked('setExpression')[0].arguments).toMatchObject({
    node: 110,
    output: 0,
    expression: 'grad * 0',
  });
});

const found: Changed = {
  gradients: [
    {
      node: 101,
      name: 'AccumulateGrad',
      label: '<i>w</i>',
      shape: '[2]',
      before: 2,
      after: 0,
      difference: 2,
      relative: 1,
    },
  ],
  same: 3,
  sentence: 'The edit changed 1 of 4 gradients.',
};

test('what an edit changed is listed when the pass is over, and by key', async () => {
  const over: Stopped = stoppedOf({
    reason: 'done',
    step: 9,
    node: -1,
    edited: [110],
    sentence: 'Finished.',
  });
  const { element, root, session } = await stepper({ continue: () => over, compare: () => found });
  press(root, 'F9');
  await settled();
  expect(session.asked('compare')).toHaveLength(1);
  expect(find(element, 'tl-sheet').textContent).toContain('<i>w</i>');
  expect(find(element, 'tl-sentence').textContent).toBe(found.sentence);
  find(element, 'tl-sheet-close').click();
  expect(find(element, 'tl-sheet').hidden).toBe(true);
  press(root, 'c');
  await settled();
  expect(find(element, 'tl-sheet').hidden).toBe(false);
});

test('where there are hooks, which would run again, one asks for the changes', async () => {
  const graph = perceptron();
  (graph.nodes.flags as number[])[3] = 2;
  const over = stoppedOf({ reason: 'done', step: 9, node: -1, edited: [110], sentence: 'Finished.' });
  const { element, root, session } = await stepper({
    initialize: () => sessionOf(graph),
    continue: () => over,
    compare: () => found,
  });
  press(root, 'F9');
  await settled();
  expect(session.asked('compare')).toHaveLength(0);
  expect(find(element, 'tl-sentence').textContent).toContain('Press c');
});

test('the verdict on a backward is a sentence and a table', async () => {
  const input = {
    name: 'grad_self',
    shape: '[2]',
    checked: 2,
    elements: 2,
    error: 0.1,
    relative: 0.3,
    index: '[1]',
    backward: 2,
    difference: 3,
    agrees: false,
  };
  const check: Check = {
    node: 110,
    name: 'Cube',
    done: true,
    agrees: false,
    inputs: [input],
    sentence: 'The backward of Cube disagrees.',
  };
  const { element, root, session } = await stepper({ check: () => check });
  press(root, 'g');
  await settled();
  expect(session.asked('check')[0].arguments).toEqual({ node: 110 });
  expect(find(element, 'tl-sheet').textContent).toContain('disagrees');
  expect(find(element, 'tl-sheet').querySelectorAll('tbody tr')).toHaveLength(1);
});

test('a leaf shows its badge and what adds up to its gradient', async () => {
  const row = {
    node: -1,
    source: 'pass 3',
    place: 'cell 7, line 2',
    time: '14:05:12',
    norm: null,
    state: 'added',
  };
  const { element } = await stepper({}, { contributions: [row], badge: '2 contributions: cell 7 twice' });
  expect(find(element, 'tl-badge').textContent).toBe('2 contributions: cell 7 twice');
  expect(find(element, 'tl-ledger').textContent).toContain('cell 7, line 2 · 14:05:12 · added');
});

test('conditions take words, count hits, and hold together', async () => {
  const { element, session } = await stepper();
  find(element, 'tl-break-when').click();
  field(element, 'tl-break-module').click();
  await settled();
  const input = field(element, 'tl-break-module-value');
  expect(document.activeElement).toBe(input);
  expect(input.classList.contains('tl-wrong')).toBe(true);
  input.value = 'hidden.0';
  input.dispatchEvent(new Event('change'));
  await settled();
  expect(session.asked('setBreakpoints').at(-1)!.arguments.predicates).toEqual([
    { kind: 'module', value: null, text: 'hidden.0' },
  ]);
  field(element, 'tl-break-hit-value').value = '0';
  field(element, 'tl-break-hit').click();
  await settled();
  expect(session.asked('setBreakpoints').at(-1)!.arguments.predicates).toHaveLength(1);
  const select = find(element, 'tl-break-together') as HTMLSelectElement;
  select.value = 'all';
  select.dispatchEvent(new Event('change'));
  await settled();
  expect(session.asked('setBreakpoints').at(-1)!.arguments.together).toBe(true);
  const offered = [...element.querySelectorAll('datalist option')].map(
    option => (option as HTMLOptionElement).value,
  );
  expect(offered).toContain('hidden.0');
});

test('the scrubber tells breakpoints, edits and gradients that are not finite', async () => {
  const changes = { node: [108], state: [2], norm: [null], edge: [], flow: [] };
  const { element, root } = await stepper({
    next: () => stoppedOf({ step: 1, node: 108, changes, edited: [108] }),
  });
  press(root, 'b');
  await settled();
  press(root, 'F10');
  await settled();
  const scrubber = find(element, 'tl-scrubber');
  expect(scrubber.getAttribute('aria-valuetext')).toBe(
    'step 1 of 9, 1 breakpoint, 1 node edited, 1 node with NaN or Inf',
  );
});

test('a move that takes long can be stopped', async () => {
  let release: (stopped: Stopped) => void = () => undefined;
  const { element, root, session } = await stepper({ pause: () => ({}) });
  const send = session.send.bind(session);
  session.send = request => {
    if (request.command !== 'continue') return send(request);
    release = stopped =>
      session.say({
        type: 'response',
        seq: request.seq,
        command: 'continue',
        success: true,
        message: null,
        body: stopped,
      });
  };
  press(root, 'F9');
  expect(find(element, 'tl-stop').hidden).toBe(true);
  await new Promise(resolve => setTimeout(resolve, 450));
  expect(find(element, 'tl-stop').hidden).toBe(false);
  find(element, 'tl-stop').click();
  await settled();
  expect(session.asked('pause')).toHaveLength(1);
  release(stoppedOf({ reason: 'paused', step: 2, node: 107 }));
  await settled();
  expect(find(element, 'tl-stop').hidden).toBe(true);
});
