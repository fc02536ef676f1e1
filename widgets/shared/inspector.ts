// Everything about one node, or one folded part, in words, numbers and small pictures.
import { arrayView, type Editing, type Paging } from './arrays';
import { h } from './dom';
import { bytes, plural, shape as shapeText, short } from './format';
import { icon, type IconName } from './icons';
import { openerFor } from './codelink';
import { ghosts } from './ghost';
import { keepersOf, placeOf, stretchedInto } from './marks';
import { foldLines, linesOf, STORAGE } from './outline';
import type { Item, Scene } from './scene';
import { FLAGS, STATES, type GradientSlot, type NodeDetail, type Saved, type Site } from './snapshot';

export interface Opened {
  readonly scene: Scene;
  readonly item: Item;
  /** What Python says of it, once it has arrived. */
  readonly detail: NodeDetail | null;
  /** Why Python cannot say more, or "". */
  readonly note: string;
  readonly state: number;
  /** Gradients are what the instrument is about; else values are. */
  readonly gradients: boolean;
  readonly actions: readonly HTMLElement[];
  /** The edit of a waiting gradient, where it is offered. */
  editing(slot: GradientSlot): Editing | null;
  /** How to look at other parts of an array of this node, where there is somebody to ask. */
  paging(part: string): Paging | null;
  go(item: Item): void;
  /** Opens a place in the code, where the host can. */
  openSite?: (site: Site) => void;
}

export function inspect(opened: Opened): HTMLElement[] {
  return opened.item < 0 ? inspectFold(opened) : inspectNode(opened);
}

function inspectFold({ scene, item, actions, go }: Opened): HTMLElement[] {
  const fold = scene.outline.folds[-1 - item];
  const { title, subtitle } = foldLines(scene.outline, fold);
  const box = scene.boxOf(item);
  const nodes = box ? scene.nodesIn(box).slice(0, 12) : [];
  const rows = nodes.map(node => {
    const lines = linesOf(scene.outline, node);
    return link(lines.title, lines.subtitle, () => go(node));
  });
  const rest = box ? scene.nodesIn(box).length - nodes.length : 0;
  return [
    h('header', { class: 'tl-node' }, h('strong', {}, title), h('p', { class: 'tl-muted' }, subtitle)),
    section('Holds', ...rows, rest > 0 && h('p', { class: 'tl-muted' }, `and ${plural(rest, 'more node')}`)),
    h('div', { class: 'tl-actions' }, ...actions),
  ].filter(isElement);
}

function inspectNode(opened: Opened): HTMLElement[] {
  const { scene, item, detail, gradients, actions } = opened;
  const note = opened.note || detail?.note;
  const { nodes, strings, sites } = scene.outline.graph;
  const text = (index: number) => (index < 0 ? '' : (strings[index] ?? ''));
  const name = detail?.name || text(nodes.name[item]);
  const label = detail?.label || text(nodes.label[item]);
  const module = detail?.module || (scene.outline.paths[nodes.group[item]] ?? '');
  const site = detail?.site ?? sites[nodes.site[item]] ?? null;
  const head = h(
    'header',
    { class: 'tl-node' },
    h('strong', {}, name),
    label ? h('code', {}, label) : null,
    module && module !== label ? h('span', { class: 'tl-muted' }, module) : null,
    stateChip(opened.state),
    detail?.badge ? h('span', { class: 'tl-chip tl-badge', 'data-testid': 'tl-badge' }, detail.badge) : null,
    site ? madeIn(site, opened.openSite) : null,
  );
  const facts = section('', factsOf(opened));
  const parts = detail ? (gradients ? gradientParts(opened, detail) : valueParts(opened, detail)) : [];
  return [
    head,
    note ? h('p', { class: 'tl-note' }, note) : null,
    !gradients || !detail ? facts : null,
    ghosts(stretchedInto(scene.outline.graph, item)),
    ...parts,
    nodes.kind[item] === STORAGE ? keptBy(opened) : null,
    ...(detail || nodes.kind[item] === STORAGE ? [] : edgesOf(opened)),
    actions.length ? h('div', { class: 'tl-actions' }, ...actions) : null,
  ].filter(isElement);
}

const isElement = (part: HTMLElement | null | false): part is HTMLElement => part instanceof HTMLElement;

function section(title: string, ...children: (Node | string | null | false)[]): HTMLElement | null {
  const kept = children.filter(child => child !== null && child !== false && child !== '');
  if (!kept.length) return null;
  return h('section', {}, title ? h('h4', {}, title) : null, ...kept);
}

function stateChip(state: number): HTMLElement | null {
  const looks: Record<string, IconName | null> = {
    waiting: null,
    current: 'next',
    done: 'tick',
    freed: null,
  };
  const word = STATES[state];
  if (!(word in looks)) return null;
  const sign = looks[word];
  return h('span', { class: `tl-chip tl-state-${word}` }, sign && icon(sign, 11), word);
}

function madeIn(site: Site, open?: (site: Site) => void): HTMLElement {
  const where = placeOf(site);
  const code = h('code', { class: 'tl-code' }, site.code);
  const title = `${site.file}, line ${site.line}, in ${site.function}`;
  const go = h('button', { type: 'button', class: 'tl-link', title, 'data-testid': 'tl-open-code' }, code);
  const show = open ?? openerFor(() => go);
  if (!show) return h('p', { class: 'tl-made tl-muted', title }, `made in ${where}: `, code);
  go.addEventListener('click', () => show(site));
  return h('p', { class: 'tl-made tl-muted', title }, `made in ${where}: `, go);
}

function factsOf({ scene, item, detail }: Opened): HTMLElement {
  const { nodes, strings } = scene.outline.graph;
  const flags = nodes.flags[item];
  const rows: [string, string][] = [];
  const shape = detail ? shapeText(detail.shape) : strings[nodes.shape[item]];
  if (shape) rows.push(['shape', shape]);
  const dtype = detail?.dtype || strings[nodes.dtype[item]];
  if (dtype) rows.push(['dtype', dtype]);
  if (detail?.stride.length) rows.push(['stride', `(${detail.stride.join(', ')})`]);
  if (!detail && nodes.saved_bytes[item]) rows.push(['saved', bytes(nodes.saved_bytes[item])]);
  const said: [number, string][] = [
    [FLAGS.no_grad, 'no grad'],
    [FLAGS.view, 'a view'],
    [FLAGS.in_place, 'in place'],
    [FLAGS.hooks, 'has hooks'],
    [FLAGS.retains_grad, 'keeps its gradient'],
    [FLAGS.nan, 'holds NaN or Inf'],
  ];
  const words = said.filter(([flag]) => flags & flag).map(([, word]) => word);
  if (words.length) rows.push(['is', words.join(', ')]);
  return h(
    'dl',
    { class: 'tl-facts' },
    ...rows.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]),
  );
}

function formulas(detail: NodeDetail, gradients: boolean): HTMLElement | null {
  const lines = gradients ? [detail.derivative || detail.formula] : [detail.formula, detail.derivative];
  const kept = lines.filter(Boolean);
  if (!kept.length) return null;
  return h(
    'pre',
    { class: 'tl-formula' },
    ...kept.map((line, i) => h('div', { class: i ? 'tl-muted' : '' }, line)),
    gradients && detail.derivative_shapes ? shapesOf(detail.derivative_shapes) : null,
  );
}

/** `grad [8, 5] · result [8, 5]`, broken between names only. */
function shapesOf(text: string): HTMLElement {
  const parts = text.split(' · ').flatMap((part, i) => [i ? ' · ' : '', h('span', {}, part)]);
  return h('div', { class: 'tl-muted tl-shapes' }, ...parts);
}

function gradientParts(opened: Opened, detail: NodeDetail): (HTMLElement | null)[] {
  return [
    section('What this node does', formulas(detail, true)),
    ...detail.gradients.map(slot => gradientPart(opened, slot)),
    ledgerPart(opened, detail),
    savedPart(opened, detail),
    goesTo(opened, detail, 'Will go to'),
    valuePart(opened, detail),
    hooksPart(detail),
  ];
}

function valueParts(opened: Opened, detail: NodeDetail): (HTMLElement | null)[] {
  return [
    section('What this node does', formulas(detail, false)),
    valuePart(opened, detail),
    ...detail.gradients.map(slot => gradientPart(opened, slot)),
    savedPart(opened, detail),
    goesTo(opened, detail, 'Its gradient goes to'),
    hooksPart(detail),
  ];
}

function valuePart({ paging }: Opened, { value }: NodeDetail): HTMLElement | null {
  return value ? section('Its value', arrayView(value, null, paging('value'))) : null;
}

function gradientPart(opened: Opened, slot: GradientSlot): HTMLElement | null {
  const { preview, name, role, edited } = slot;
  const title = h(
    'h4',
    { class: 'tl-slot-title' },
    h('code', {}, name),
    preview ? h('span', { class: 'tl-chip' }, `${shapeText(preview.shape)} ${preview.dtype}`) : null,
    role === 'incoming' ? null : h('span', { class: 'tl-muted' }, role),
    edited ? h('span', { class: 'tl-chip tl-edited' }, icon('pencil', 11), 'edited') : null,
  );
  const body = preview
    ? arrayView(preview, opened.editing(slot), opened.paging(`${role}.${slot.output}`))
    : h('p', { class: 'tl-muted' }, role === 'incoming' ? 'No gradient has come here yet.' : 'None.');
  const editing = preview ? opened.editing(slot) : null;
  return h(
    'section',
    { 'data-testid': `tl-gradient-${role}` },
    title,
    body,
    editing && expressionForm(editing),
  );
}

/** `grad = [grad * 0]`: another value for the whole of a gradient that waits. */
function expressionForm(editing: Editing): HTMLElement {
  const input = h('input', {
    class: 'tl-input',
    placeholder: 'grad * 0',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': `${editing.name} by an expression`,
    'data-testid': 'tl-edit-expression',
  });
  const hint = h('span', { class: 'tl-wrong', 'aria-live': 'polite' });
  const name = h('label', {}, h('code', {}, `${editing.name} = `), input);
  const form = h('form', { class: 'tl-editor tl-by-expression' }, name, hint);
  form.addEventListener('submit', event => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) editing.setAll(text).catch((error: Error) => (hint.textContent = error.message));
  });
  form.addEventListener('keydown', event => {
    if (!/^F\d/.test(event.key)) event.stopPropagation();
    if (event.key === 'Escape')
      (form.closest('.tl') as HTMLElement | null)?.querySelector<HTMLElement>('[role="tree"]')?.focus();
  });
  return form;
}

/** What adds up to the gradient of a leaf. */
function ledgerPart({ scene, go }: Opened, { contributions }: NodeDetail): HTMLElement | null {
  const { id } = scene.outline.graph.nodes;
  const rows = contributions.map(({ node, source, place, time, norm, state }) => {
    const words = [place, time, norm === null ? '' : `norm ${short(norm)}`, state]
      .filter(Boolean)
      .join(' · ');
    const at = node < 0 ? -1 : id.indexOf(node);
    const name = at < 0 ? h('code', {}, source) : link(source, '', () => go(at));
    return h(
      'li',
      { class: `tl-contribution${node < 0 ? '' : ' tl-of-pass'}` },
      name,
      h('span', { class: 'tl-muted' }, words),
    );
  });
  return rows.length
    ? section('Adds up to .grad', h('ul', { class: 'tl-ledger', 'data-testid': 'tl-ledger' }, ...rows))
    : null;
}

function savedPart({ paging }: Opened, { saved, freed_by }: NodeDetail): HTMLElement | null {
  if (freed_by) {
    const code = h('code', {}, freed_by.code);
    return section('Saved for this node', h('p', {}, `Freed by ${placeOf(freed_by)}: `, code));
  }
  if (!saved.length) return null;
  const shared = new Map<number, string[]>();
  for (const each of saved) shared.set(each.storage, [...(shared.get(each.storage) ?? []), each.name]);
  const rows = saved.map((each, at) => savedRow(each, shared.get(each.storage) ?? [], paging(`saved.${at}`)));
  return section('Saved for this node', h('div', { class: 'tl-saved' }, ...rows));
}

function savedRow(saved: Saved, sharing: readonly string[], paging: Paging | null): HTMLElement {
  const fresh = saved.version === saved.version_now;
  const version = h(
    'span',
    {
      class: fresh ? 'tl-muted tl-version' : 'tl-wrong tl-version',
      title: fresh
        ? 'unchanged since it was saved'
        : 'changed in place since it was saved: backward will refuse it',
    },
    fresh ? `version ${saved.version}` : `version ${saved.version}, now ${saved.version_now}`,
    icon(fresh ? 'tick' : 'close', 11),
  );
  const others = sharing.filter(name => name !== saved.name);
  const line = [
    h('code', { class: 'tl-cut', title: saved.name }, saved.name),
    h('code', { title: saved.dtype }, shapeText(saved.shape)),
    h('code', {}, bytes(saved.bytes)),
    version,
  ];
  const note = others.length
    ? h('p', { class: 'tl-muted' }, `shares memory with ${others.join(', ')}`)
    : null;
  if (!saved.preview) return h('div', { class: 'tl-saved-row' }, ...line, note);
  const { preview } = saved;
  const content = h('div', { class: 'tl-saved-value' }, note);
  const details = h('details', {}, h('summary', { class: 'tl-saved-row' }, ...line), content);
  // Most are never opened, and a picture of each would be made at every step.
  details.addEventListener('toggle', () => content.append(arrayView(preview, null, paging)), { once: true });
  return details;
}

function goesTo({ scene, go }: Opened, { neighbours }: NodeDetail, title: string): HTMLElement | null {
  const { id } = scene.outline.graph.nodes;
  const rows = neighbours.map(({ id: wanted, name, label, shape, state }) => {
    const words = [label || shape, state === 'idle' ? '' : state].filter(Boolean).join(' · ');
    const place = id.indexOf(wanted);
    return place < 0 ? h('p', {}, `${name} ${words}`) : link(name, words, () => go(place));
  });
  return section(title, ...rows);
}

/** What stands around a node, from the graph alone: shown while there is nobody to ask. */
function edgesOf({ scene, item, go }: Opened): (HTMLElement | null)[] {
  const { source, target } = scene.outline.graph.edges;
  const ends = (mine: readonly number[], others: readonly number[]) => {
    const found: number[] = [];
    for (let e = 0; e < mine.length && found.length < 12; e++) if (mine[e] === item) found.push(others[e]);
    return found.map(node => {
      const lines = linesOf(scene.outline, node);
      return link(lines.title, lines.subtitle, () => go(node));
    });
  };
  const [inputs, outputs] = [ends(target, source), ends(source, target)];
  return [section('Comes from', ...inputs), section('Goes to', ...outputs)];
}

/** The nodes that keep a storage. */
function keptBy({ scene, item, go }: Opened): HTMLElement | null {
  const keepers = keepersOf(scene.outline.graph, item);
  const rows = keepers.slice(0, 12).map(node => {
    const lines = linesOf(scene.outline, node);
    return link(lines.title, lines.subtitle, () => go(node));
  });
  const rest = keepers.length - rows.length;
  return section(
    'Kept by',
    ...rows,
    rest > 0 && h('p', { class: 'tl-muted' }, `and ${plural(rest, 'more node')}`),
  );
}

function hooksPart({ hooks }: NodeDetail): HTMLElement | null {
  return section('Hooks', ...hooks.map(hook => h('p', {}, h('code', {}, hook))));
}

function link(name: string, words: string, act: () => void): HTMLElement {
  const element = h(
    'button',
    { type: 'button', class: 'tl-link tl-row', title: `${name}  ${words}` },
    h('code', { class: 'tl-cut' }, name),
    h('span', { class: 'tl-muted tl-cut' }, words),
  );
  element.addEventListener('click', act);
  return element;
}
