import { mountMemory } from '../../shared/memoryview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountMemory(el, modelTransport(model));
  },
};
