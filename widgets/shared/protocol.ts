// The session protocol: requests to Python, answers and events from it. One decoder for the columns that travel as a buffer.
import type { Undo } from './dom';

export interface Request {
  readonly seq: number;
  readonly command: string;
  readonly arguments: Record<string, unknown>;
}

interface Response {
  readonly type: 'response';
  readonly seq: number;
  readonly command: string;
  readonly success: boolean;
  readonly message: string | null;
  readonly body: unknown;
}

interface Event {
  readonly type: 'event';
  readonly event: string;
  readonly body: unknown;
}

type Buffer = DataView | ArrayBuffer | Uint8Array;

/** What carries the messages: a widget's model, a comm, or a player in the page. */
export interface Transport {
  send(request: Request): void;
  onMessage(callback: (message: unknown, buffers?: readonly Buffer[]) => void): Undo;
  /** Whether no other view uses it. */
  isLast?(): boolean;
}

/** Puts the slices of the first buffer back in their places: `{"columns": {"graph.nodes.id": [offset, length]}}`. */
export function unpackColumns(body: unknown, buffers: readonly Buffer[] = []): unknown {
  if (!isRecord(body) || !isRecord(body.columns)) return body;
  const { columns, ...whole } = body;
  if (!buffers.length) throw new Error('the numbers of this message did not arrive');
  const numbers = int32(buffers[0]);
  for (const [path, slice] of Object.entries(columns)) {
    const [offset, length] = slice as [number, number];
    if (!(offset >= 0 && length >= 0 && offset + length <= numbers.length))
      throw new Error(`column ${path} reaches past the end of its buffer`);
    const folders = path.split('.');
    const name = folders.pop()!;
    let place: Record<string, unknown> = whole;
    for (const folder of folders) place = (place[folder] ??= {}) as Record<string, unknown>;
    place[name] = numbers.subarray(offset, offset + length);
  }
  return whole;
}

function int32(buffer: Buffer): Int32Array {
  const view = ArrayBuffer.isView(buffer) ? buffer : new Uint8Array(buffer);
  const length = Math.floor(view.byteLength / 4);
  const aligned = view.byteOffset % 4 === 0;
  const bytes = aligned ? view.buffer : view.buffer.slice(view.byteOffset, view.byteOffset + length * 4);
  const numbers = new Int32Array(bytes as ArrayBuffer, aligned ? view.byteOffset : 0, length);
  if (new Uint8Array(new Uint16Array([1]).buffer)[0] === 1) return numbers;
  const data = new DataView(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  return numbers.map((_, i) => data.getInt32(i * 4, true));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** A request that Python refused; the session is as it was. */
export class Refused extends Error {}

export interface Listener {
  /** An event, or the answer to a request of another view on the same session. */
  event(name: string, body: unknown): void;
  /** A message that could not be read. */
  broken(error: Error): void;
}

/** Commands whose answer says where the run stands now. */
const MOVES = new Set([
  'next',
  'stepIn',
  'stepOut',
  'stepBack',
  'continue',
  'goto',
  'runTo',
  'goTo',
  'restart',
  'setGradient',
  'setExpression',
  'finish',
]);
/** Commands whose answer the other views on the model are told as an event. */
const TOLD: Record<string, string> = { setBreakpoints: 'breakpoints', setWatches: 'watches' };

/** Numbers the requests of one view and finds their answers. */
export class Client {
  private seq: number;
  private readonly waiting = new Map<
    number,
    { resolve: (body: unknown) => void; reject: (error: Error) => void }
  >();
  private readonly undo: Undo;
  private closed = false;

  constructor(
    private readonly transport: Transport,
    private readonly listener: Listener,
  ) {
    // Two views on one model hear each other's answers, so their numbers must differ.
    this.seq = Math.floor(Math.random() * 2 ** 20) * 2 ** 20;
    this.undo = transport.onMessage((message, buffers) => this.receive(message, buffers));
  }

  request<Body>(command: string, parameters: Record<string, unknown> = {}): Promise<Body> {
    if (this.closed) return Promise.reject(new Refused('this view is closed'));
    const seq = ++this.seq;
    return new Promise<Body>((resolve, reject) => {
      this.waiting.set(seq, { resolve: resolve as (body: unknown) => void, reject });
      try {
        this.transport.send({ seq, command, arguments: parameters });
      } catch (error) {
        this.waiting.delete(seq);
        reject(error as Error);
      }
    });
  }

  /** Hears nothing and sends nothing any more. */
  close(): void {
    this.closed = true;
    this.undo();
    this.waiting.clear();
  }

  private receive(message: unknown, buffers?: readonly Buffer[]): void {
    if (this.closed || !isRecord(message)) return;
    const { type } = message as unknown as Response | Event;
    try {
      const body = unpackColumns(message.body, buffers);
      if (type === 'event') this.listener.event(String(message.event), body);
      else if (type === 'response') this.answer(message as unknown as Response, body);
    } catch (error) {
      this.waiting.get(message.seq as number)?.reject(error as Error);
      this.waiting.delete(message.seq as number);
      this.listener.broken(error as Error);
    }
  }

  private answer({ seq, command, success, message }: Response, body: unknown): void {
    const asked = this.waiting.get(seq);
    this.waiting.delete(seq);
    if (asked && success) asked.resolve(body);
    else if (asked) asked.reject(new Refused(message ?? `${command} was refused`));
    else if (success && MOVES.has(command)) this.listener.event('stopped', body);
    else if (success && TOLD[command]) this.listener.event(TOLD[command], body);
  }
}
