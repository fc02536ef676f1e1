// A widget's model as the transport of a session.
import type { Transport } from './protocol';

type Received = (message: unknown, buffers?: DataView[]) => void;

/** What a view is told when the kernel that it spoke to is no more. */
const GONE = { type: 'event', event: 'closed', body: { message: 'the kernel was restarted' } };

/** The part of anywidget's model that a session needs. */
export interface Model {
  send(content: unknown): void;
  on(event: 'msg:custom' | 'comm_live_update', callback: Received): void;
  off(event: 'msg:custom' | 'comm_live_update', callback: Received): void;
}

const views = new WeakMap<Model, number>();

export function modelTransport(model: Model): Transport {
  return {
    send: request => {
      try {
        model.send(request);
      } catch {
        throw new Error('there is no kernel to ask');
      }
    },
    onMessage: callback => {
      // Jupyter's widgets say this once, when the line to the kernel is cut for good.
      const gone = () => callback(GONE);
      model.on('msg:custom', callback);
      model.on('comm_live_update', gone);
      views.set(model, (views.get(model) ?? 0) + 1);
      return () => {
        model.off('msg:custom', callback);
        model.off('comm_live_update', gone);
        views.set(model, (views.get(model) ?? 1) - 1);
      };
    },
    isLast: () => (views.get(model) ?? 1) <= 1,
  };
}
