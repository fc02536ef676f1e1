import { mountFlow } from '../../shared/flowview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountFlow(el, modelTransport(model));
  },
};
