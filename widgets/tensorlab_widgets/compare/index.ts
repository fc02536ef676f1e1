import { mountCompare } from '../../shared/compareview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountCompare(el, modelTransport(model));
  },
};
