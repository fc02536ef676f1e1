import { mountHooks } from '../../shared/hooksview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountHooks(el, modelTransport(model));
  },
};
