import { describe, expect, test, vi } from 'vitest';

import { Client, Refused, unpackColumns, type Request, type Transport } from './protocol';

function wire() {
  const sent: Request[] = [];
  const listeners = new Set<(message: unknown, buffers?: DataView[]) => void>();
  const transport: Transport = {
    send: request => void sent.push(request),
    onMessage: callback => {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
  };
  const say = (message: unknown, buffers?: DataView[]) =>
    listeners.forEach(listener => listener(message, buffers));
  return { sent, listeners, transport, say };
}

const quiet = { event: () => undefined, broken: () => undefined };
const answer = (seq: number, body: unknown, command = 'next') => ({
  type: 'response',
  seq,
  command,
  success: true,
  message: null,
  body,
});

describe('columns that travel as a buffer', () => {
  const numbers = new Int32Array([7, 8, 9, -1]);

  test('are put back where their paths say', () => {
    const body = {
      graph: { title: 'loss', nodes: { kind: [1] } },
      columns: { 'graph.nodes.id': [0, 3], order: [3, 1] },
    };
    const whole = unpackColumns(body, [new DataView(numbers.buffer)]) as typeof body & {
      graph: { nodes: { id: Int32Array } };
      order: Int32Array;
    };
    expect([...whole.graph.nodes.id]).toEqual([7, 8, 9]);
    expect([...whole.order]).toEqual([-1]);
    expect(whole.graph.nodes.kind).toEqual([1]);
    expect('columns' in whole).toBe(false);
  });

  test('are read from a buffer that does not begin at a multiple of four', () => {
    const bytes = new Uint8Array(numbers.byteLength + 1);
    bytes.set(new Uint8Array(numbers.buffer), 1);
    const whole = unpackColumns({ columns: { id: [1, 2] } }, [new DataView(bytes.buffer, 1)]) as {
      id: Int32Array;
    };
    expect([...whole.id]).toEqual([8, 9]);
  });

  test('leave a message without them as it is', () => {
    const body = { step: 3 };
    expect(unpackColumns(body, [])).toBe(body);
    expect(unpackColumns(null, [])).toBe(null);
  });

  test('are refused when the buffer is missing or too short', () => {
    expect(() => unpackColumns({ columns: { id: [0, 2] } }, [])).toThrow('did not arrive');
    expect(() => unpackColumns({ columns: { id: [3, 2] } }, [new DataView(numbers.buffer)])).toThrow(
      'past the end',
    );
  });
});

describe('a client', () => {
  test('numbers its requests and gives each its own answer', async () => {
    const { sent, transport, say } = wire();
    const client = new Client(transport, quiet);
    const [one, other] = [client.request('inspect', { node: 1 }), client.request('inspect', { node: 2 })];
    expect(sent[1].seq).toBe(sent[0].seq + 1);
    say(answer(sent[1].seq, 'second'));
    say(answer(sent[0].seq, 'first'));
    expect(await Promise.all([one, other])).toEqual(['first', 'second']);
  });

  test('says what Python said when a request is refused', async () => {
    const { sent, transport, say } = wire();
    const client = new Client(transport, quiet);
    const asked = client.request('next');
    say({ ...answer(sent[0].seq, null), success: false, message: 'the run is over' });
    await expect(asked).rejects.toThrow(Refused);
    await expect(asked).rejects.toThrow('the run is over');
  });

  test('takes the answer to another view of the same model as news', () => {
    const { transport, say } = wire();
    const event = vi.fn();
    new Client(transport, { ...quiet, event });
    say(answer(-5, { step: 4 }));
    say(answer(-6, { nodes: [1] }, 'setBreakpoints'));
    say(answer(-7, {}, 'inspect'));
    expect(event.mock.calls).toEqual([
      ['stopped', { step: 4 }],
      ['breakpoints', { nodes: [1] }],
    ]);
  });

  test('reports a broken message, fails the request it answers and hears the next one', async () => {
    const { sent, transport, say } = wire();
    const broken = vi.fn();
    const client = new Client(transport, { ...quiet, broken });
    const asked = client.request('initialize');
    say(answer(sent[0].seq, { columns: { id: [0, 9] } }));
    await expect(asked).rejects.toThrow('did not arrive');
    expect(broken).toHaveBeenCalledOnce();
    const again = client.request('initialize');
    say(answer(sent[1].seq, 'fine'));
    expect(await again).toBe('fine');
  });

  test('sends and hears nothing once it is closed', async () => {
    const { sent, listeners, transport } = wire();
    const client = new Client(transport, quiet);
    client.close();
    await expect(client.request('next')).rejects.toThrow('closed');
    expect(sent).toEqual([]);
    expect(listeners.size).toBe(0);
  });
});
