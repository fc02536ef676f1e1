import type { Exporter } from '../../widgets/shared/export';
import { keptModel, type KeptAnswer } from '../../widgets/shared/offline';
import flow from '../../widgets/tensorlab_widgets/flow/index';
import hooks from '../../widgets/tensorlab_widgets/hooks/index';
import layout from '../../widgets/tensorlab_widgets/layout/index';
import memory from '../../widgets/tensorlab_widgets/memory/index';
import type { Model } from '../../widgets/shared/model';

interface View {
  render(context: { model: Model; el: HTMLElement }): () => void;
}

/** The views that a notebook file keeps answers of, by their words. The others keep a document of their own kind. */
const VIEWS: Readonly<Record<string, View>> = { flow, hooks, layout, memory };

interface Kept {
  readonly view: string;
  readonly answers: readonly KeptAnswer[];
  readonly stem: string;
}

/** Whether an output holds answers for a view that is known here. */
export function isKept(value: unknown): boolean {
  const kept = value as Partial<Kept> | null | undefined;
  return typeof kept?.view === 'string' && kept.view in VIEWS && Array.isArray(kept.answers);
}

/** Opens the view with what was kept; returns the undo. */
export function openKept(node: HTMLElement, value: unknown, picture: string): () => void {
  const { view, answers, stem } = value as Kept;
  const exporter: Exporter = { svg: () => Promise.resolve({ name: `${stem}.svg`, text: picture }) };
  const model = keptModel({ answers, stem }, exporter);
  return VIEWS[view].render({ model, el: node });
}
