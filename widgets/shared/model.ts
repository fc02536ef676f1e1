// A widget's model as the transport of a session.
import type { Transport } from './protocol';

type Received = (message: unknown, buffers?: DataView[]) => void;

/** The part of anywidget's model that a session needs. */
export interface Model {
  send(content: unknown): void;
  on(event: 'msg:custom', callback: Received): void;
  off(event: 'msg:custom', callback: Received): void;
}

const views = new WeakMap<Model, number>();

export function modelTransport(model: Model): Transport {
  return {
    send: request => model.send(request),
    onMessage: callback => {
      model.on('msg:custom', callback);
      views.set(model, (views.get(model) ?? 0) + 1);
      return () => {
        model.off('msg:custom', callback);
        views.set(model, (views.get(model) ?? 1) - 1);
      };
    },
    isLast: () => (views.get(model) ?? 1) <= 1,
  };
}
