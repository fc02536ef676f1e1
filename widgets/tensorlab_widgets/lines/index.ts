import { mountLines } from '../../shared/linesview';
import { modelTransport, type Model } from '../../shared/model';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountLines(el, modelTransport(model));
  },
};
