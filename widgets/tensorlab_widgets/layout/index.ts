import { mountLayout } from '../../shared/layoutview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountLayout(el, modelTransport(model));
  },
};
