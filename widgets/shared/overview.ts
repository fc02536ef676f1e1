// What the inspector says while nothing is opened: the graph as a whole, or what a finished run left behind.
import { h } from './dom';
import { bytes, plural, short } from './format';
import { icon } from './icons';
import { keptList } from './keptlist';
import { badgeText, foldLines } from './outline';
import type { Run } from './run';
import type { Item, Scene } from './scene';

type Go = (item: Item) => void;

export function graphOverview(scene: Scene, go: Go): HTMLElement[] {
  const { graph, folds } = scene.outline;
  const { nodes } = graph;
  const kinds = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < nodes.id.length; i++) kinds[nodes.kind[i]]++;
  const saved = graph.storages.bytes.reduce((sum, size) => sum + size, 0);
  const facts: [string, string][] = [
    ['operations', (kinds[0] + kinds[4]).toLocaleString('en')],
    ['parameters', kinds[1].toLocaleString('en')],
    ['other leaves', kinds[2].toLocaleString('en')],
    ['inputs', kinds[3].toLocaleString('en')],
    ['kept for backward', bytes(saved)],
  ];
  const shown = facts.filter(([, value]) => value !== '0' && value !== '0 B');
  const parts = folds.filter(fold => fold.parent < 0).slice(0, 12);
  const rows = parts.map(fold => {
    const { title, subtitle } = foldLines(scene.outline, fold);
    return row(title, subtitle, () => go(-1 - fold.id));
  });
  const kept = keptList(scene, go);
  return [
    h('header', { class: 'tl-node' }, h('strong', {}, graph.title)),
    h(
      'dl',
      { class: 'tl-facts' },
      ...shown.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]),
    ),
    ...(graph.hidden > 0
      ? [
          h(
            'p',
            { class: 'tl-note' },
            `${plural(graph.hidden, 'node')} left out: the graph is larger than the limit.`,
          ),
        ]
      : []),
    ...(rows.length ? [h('section', {}, h('h4', {}, 'Parts'), ...rows)] : []),
    ...(kept ? [kept] : []),
  ];
}

/** Leaves that a gradient has reached, with its norm on a logarithmic scale. */
function arrivals(run: Run, isSource: Uint8Array): { node: number; norm: number }[] {
  const { source } = run.graph.edges;
  const norms = new Map<number, number>();
  for (let e = 0; e < source.length; e++) {
    const node = source[e];
    if (!isSource[node] || run.flow[e] === -1) continue;
    // Gradients that arrive along several edges are added up; their norms give a bound that is near enough for a bar.
    norms.set(node, (norms.get(node) ?? 0) + run.flow[e]);
  }
  return [...norms].map(([node, norm]) => ({ node, norm }));
}

export function runOverview(scene: Scene, run: Run, go: Go): HTMLElement[] {
  const found = arrivals(run, scene.outline.isSource);
  const finite = found.map(each => each.norm).filter(norm => norm > 0);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const length = (norm: number) => {
    if (!(norm > 0)) return 0;
    const span = Math.log10(high) - Math.log10(low);
    return span > 0 ? 12 + (88 * (Math.log10(norm) - Math.log10(low))) / span : 100;
  };
  const rows = found.slice(0, 40).map(({ node, norm }) => {
    const text = badgeText(scene.outline.graph, node);
    const label = scene.outline.graph.strings[scene.outline.graph.nodes.label[node]] ?? text;
    const bar = h('span', { class: 'tl-bar' }, h('span', { style: `width:${length(norm).toFixed(0)}%` }));
    const said = Number.isNaN(norm) ? 'not finite' : short(norm);
    const line = row(label, said, () => go(node));
    line.classList.add('tl-arrival');
    if (Number.isNaN(norm)) {
      line.classList.add('tl-wrong');
      line.lastElementChild!.prepend(icon('close', 11));
      bar.replaceChildren();
    }
    line.insertBefore(bar, line.lastChild);
    return line;
  });
  return [
    h('header', { class: 'tl-node' }, h('strong', {}, run.closed ? 'Closed' : 'Finished')),
    h('section', {}, h('h4', {}, 'Gradients arrived, norm on a log scale'), ...rows),
  ].slice(0, rows.length ? 2 : 1);
}

function row(name: string, words: string, act: () => void): HTMLElement {
  const element = h(
    'button',
    { type: 'button', class: 'tl-link tl-row', title: `${name}  ${words}` },
    h('code', { class: 'tl-cut' }, name),
    h('span', { class: 'tl-muted' }, words),
  );
  element.addEventListener('click', act);
  return element;
}
