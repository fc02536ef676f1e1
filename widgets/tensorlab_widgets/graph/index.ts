import { mountGraphSession } from '../../shared/graphview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountGraphSession(el, modelTransport(model));
  },
};
