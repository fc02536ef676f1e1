import { modelTransport, type Model } from '../../shared/model';
import { mountStepper } from '../../shared/stepper';
import './style.css';

export default {
  render({ model, el }: { model: Model; el: HTMLElement }) {
    return mountStepper(el, modelTransport(model));
  },
};
