import { describe, expect, test } from 'vitest';

import {
  applyBreakpoints,
  applyStopped,
  closeRun,
  CURRENT,
  DONE,
  IDLE,
  startRun,
  statusOf,
  WAITING,
} from './run';
import { perceptron, sessionOf, stoppedOf } from './testing';

const start = () => startRun(sessionOf(perceptron()));
const ID = 100;

describe('a run', () => {
  test('begins where the session stands, with the whole order of what is to come', () => {
    const run = start();
    expect(run.current).toBe(10);
    expect(run.state[10]).toBe(CURRENT);
    expect([...run.schedule].slice(0, 3)).toEqual([10, 8, 7]);
    expect(statusOf(run)).toBe('0 of 9 done · before the first node');
  });

  test('changes only what a step names, and leaves the run before it as it was', () => {
    const before = start();
    const after = applyStopped(
      before,
      stoppedOf({
        step: 1,
        node: ID + 8,
        changes: {
          node: [ID + 10, ID + 8],
          state: [DONE, CURRENT],
          norm: [null, 0.5],
          edge: [8],
          flow: [0.5],
        },
      }),
    );
    expect(after.state[10]).toBe(DONE);
    expect(after.norm[8]).toBe(0.5);
    expect(after.flow[8]).toBe(0.5);
    expect(after.state[4]).toBe(IDLE);
    expect(before.state[10]).toBe(CURRENT);
    expect(after.schedule).toBe(before.schedule);
  });

  test('forgets what had moved along an edge when its node is undone', () => {
    const forward = {
      node: [ID + 10, ID + 8],
      state: [DONE, CURRENT],
      norm: [null, 0.5],
      edge: [8],
      flow: [0.5],
    };
    const back = { node: [ID + 10, ID + 8], state: [CURRENT, IDLE], norm: [1, null], edge: [], flow: [] };
    let run = applyStopped(start(), stoppedOf({ step: 1, node: ID + 8, changes: forward }));
    run = applyStopped(run, stoppedOf({ reason: 'back', step: 0, node: ID + 10, changes: back }));
    expect(run.flow[8]).toBe(-1);
    expect(run.norm[8]).toBe(-1);
  });

  test('knows a gradient that is not finite from one that is not there', () => {
    const changes = {
      node: [ID + 8, ID + 7],
      state: [WAITING, IDLE],
      norm: [null, null],
      edge: [],
      flow: [],
    };
    const run = applyStopped(start(), stoppedOf({ changes }));
    expect(run.norm[8]).toBeNaN();
    expect(run.norm[7]).toBe(-1);
  });

  test('passes over ids that the picture does not hold', () => {
    const changes = { node: [9999], state: [DONE], norm: [1], edge: [9999], flow: [1] };
    const run = applyStopped(start(), stoppedOf({ node: 9999, changes, edited: [9999, ID + 3] }));
    expect(run.current).toBe(-1);
    expect([...run.edited]).toEqual([3]);
  });

  test('takes breakpoints as they are now, not as changes', () => {
    let run = applyBreakpoints(start(), { nodes: [ID + 3, ID + 4], predicates: [], together: false });
    run = applyBreakpoints(run, {
      nodes: [ID + 4],
      predicates: [{ kind: 'nan', value: null, text: '' }],
      together: true,
    });
    expect(run.together).toBe(true);
    expect([...run.breaks]).toEqual([4]);
    expect(run.predicates).toHaveLength(1);
  });

  test('says that it is over, and that it is closed', () => {
    const done = applyStopped(start(), stoppedOf({ reason: 'done', step: 9, node: -1 }));
    expect(statusOf(done)).toBe('9 of 9 done · finished');
    expect(statusOf(closeRun(done, 'Closed.'))).toBe('closed');
  });
});
