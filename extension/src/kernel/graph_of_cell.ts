import type { Kernel, KernelMessage } from '@jupyterlab/services';

import { GRAPH_MIME } from '../document';
import finder from './result_of_cell.py';

type Bundle = KernelMessage.IExecuteResultMsg['content']['data'];

/** Something that a person can mend, said in a sentence. */
export class Unable extends Error {}

/** One run of a code cell. */
export interface Run {
  readonly kernel: Kernel.IKernelConnection;
  readonly count: number;
  readonly source: string;
}

/** A string as a Python literal: JSON without characters beyond ASCII is one. */
function literal(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    unit => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

/** A Python expression for what a run ended with. It binds no name in the user's namespace. */
function expression({ count, source }: Run): string {
  const call = `names["result_of_cell"](${count}, ${literal(source)}, get_ipython())`;
  return `(lambda names: (exec(${literal(finder)}, names), ${call})[1])({})`;
}

/** The first line of a plain-text display, cut short. */
function brief(bundle: Bundle): string {
  const text = bundle['text/plain'];
  const whole = Array.isArray(text) ? text.join('') : String(text ?? 'something else');
  const line = whole.split('\n', 1)[0];
  return line.length > 80 ? line.slice(0, 79) + '…' : line;
}

/**
 * Asks the kernel for the display of what a run ended with, and returns the bundle if it holds a graph.
 * Nothing is stored in the history and the execution count stays. Throws `Unable` where there is no graph.
 */
export async function graphOfCell(run: Run): Promise<Bundle> {
  const future = run.kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    stop_on_error: false,
    user_expressions: { result: expression(run) },
  });
  const { content } = await future.done;
  if (content.status !== 'ok') {
    throw new Unable('The kernel was interrupted or restarted before it could answer.');
  }
  const answer = content.user_expressions.result as unknown as
    { status: 'ok'; data: Bundle } | { status: 'error'; ename: string; evalue: string };
  if (answer.status !== 'ok') {
    throw new Unable(answer.ename === 'LookupError' ? answer.evalue : `${answer.ename}: ${answer.evalue}`);
  }
  if (!(GRAPH_MIME in answer.data)) {
    throw new Unable(
      `Cell [${run.count}] has no computation graph to show; it ended with ${brief(answer.data)}. ` +
        'A tensor has one when something that it was made from requires grad.',
    );
  }
  return answer.data;
}
