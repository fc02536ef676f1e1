// The buttons of the stepper, and the keys that do the same.
import { button, enable, type Key } from './controls';
import { isOver, type Run } from './run';

export type StepButtons = Record<
  'restart' | 'back' | 'next' | 'over' | 'out' | 'continue' | 'finish' | 'stop' | 'watch',
  HTMLButtonElement
>;

export interface StepActions {
  ask(command: string, parameters?: Record<string, unknown>): void;
  step(by: 1 | -1): void;
  runToTarget(): void;
  toggleBreak(): void;
  edit(): void;
  editAll(): void;
  compare(): void;
  check(): void;
  watch(): void;
  pause(): void;
}

const OVER = { granularity: 'module' };

export function stepKeys(act: StepActions): Key[] {
  return [
    { name: 'F10', does: 'Next: run one node', run: () => act.step(1) },
    { name: 'Shift+F10', does: 'Back: undo the last node, bit for bit', run: () => act.step(-1) },
    { name: 'F9', does: 'Continue to the next breakpoint, or to the end', run: () => act.ask('continue') },
    {
      name: 'o',
      does: 'Over: run until the module of the next node is left',
      run: () => act.ask('next', OVER),
    },
    { name: 'u', does: 'Out: run until the module around it is left too', run: () => act.ask('stepOut') },
    { name: 'r', does: 'Run to the opened node', run: () => act.runToTarget() },
    { name: 'b', does: 'Break before the opened node, or no more', run: () => act.toggleBreak() },
    { name: 'e', does: 'Edit a value of the waiting gradient', run: () => act.edit() },
    { name: 'E', does: 'Edit the whole of it by an expression', run: () => act.editAll() },
    { name: 'c', does: 'List what the edits have changed', run: () => act.compare() },
    { name: 'g', does: 'Check the backward of the opened node by differences', run: () => act.check() },
    { name: 'w', does: 'Watch an expression', run: () => act.watch() },
    { name: 's', does: 'Stop a move that takes long', run: () => act.pause() },
  ];
}

export function stepButtons(act: StepActions): StepButtons {
  const of = (
    icon: Parameters<typeof button>[0]['icon'],
    label: string,
    run: () => void,
    more: Partial<Parameters<typeof button>[0]> = {},
  ) => button({ icon, label, testid: `tl-${label.toLowerCase()}`, ...more }, run);
  return {
    restart: of('restart', 'Restart', () => act.ask('restart')),
    back: of('back', 'Back', () => act.step(-1), { key: 'Shift+F10' }),
    next: of('next', 'Next', () => act.step(1), { key: 'F10', primary: true }),
    over: of('over', 'Over', () => act.ask('next', OVER), {
      bare: true,
      key: 'o',
      title: 'Over: until this module is left (o)',
    }),
    out: of('out', 'Out', () => act.ask('stepOut'), {
      bare: true,
      key: 'u',
      title: 'Out: until the module around it is left (u)',
    }),
    continue: of('continue', 'Continue', () => act.ask('continue'), { key: 'F9' }),
    finish: of('finish', 'Finish', () => act.ask('finish'), {
      title: 'Run to the end and let the waiting cell go on',
    }),
    stop: of('stop', 'Stop', () => act.pause(), { key: 's' }),
    watch: of('eye', 'Watch', () => act.watch(), { bare: true, key: 'w', testid: 'tl-watch-open' }),
  };
}

/** What can be done where a run stands; `null` before there is one. */
export function enableButtons(buttons: StepButtons, run: Run | null): void {
  const { restart, back, next, over, out, continue: go, finish, watch } = buttons;
  const open = run !== null && !run.closed;
  for (const each of [restart, back]) enable(each, open && run.step > 0);
  for (const each of [next, over, out, go, finish]) enable(each, open && !isOver(run));
  enable(watch, open);
  over.hidden = out.hidden = !run || run.graph.groups.length === 0;
  finish.hidden = !run?.blocking;
}
