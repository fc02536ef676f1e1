// What a graph keeps for backward, each storage once: a list that can be sorted by size, by name and by who keeps it.
import { h } from './dom';
import { bytes, plural } from './format';
import { icon } from './icons';
import type { Item, Scene } from './scene';
import { HOLDERS } from './kept';
import type { Graph } from './snapshot';

const MOST = 60;

interface Kept {
  readonly storage: number;
  readonly bytes: number;
  readonly what: string;
  readonly by: string;
  /** The first node that keeps it. */
  readonly node: number;
  readonly times: number;
}

type Order = 'bytes' | 'what' | 'by';
const TITLES: Record<Order, string> = { bytes: 'bytes', what: 'what', by: 'kept by' };

export function keptOf(graph: Graph): Kept[] {
  const { nodes, strings, storages, keeps } = graph;
  const keepers = new Map<number, number[]>();
  for (let k = 0; k < keeps.node.length; k++) {
    const list = keepers.get(keeps.storage[k]);
    if (list) list.push(keeps.node[k]);
    else keepers.set(keeps.storage[k], [keeps.node[k]]);
  }
  const wordOf = (node: number) => strings[nodes.op[node] < 0 ? nodes.name[node] : nodes.op[node]] ?? '';
  return Array.from(storages.bytes, (size, storage) => {
    const by = keepers.get(storage) ?? [];
    const words = [...new Set(by.map(wordOf))];
    const label = strings[storages.label[storage]] ?? '';
    const text = strings[storages.text[storage]] ?? '';
    return {
      storage,
      bytes: size,
      what: `${label} ${text.slice(text.indexOf('[')) || ''}`.trim(),
      by: words.length > 2 ? `${words.slice(0, 2).join(', ')} +${words.length - 2}` : words.join(', '),
      node: by[0] ?? -1,
      times: by.length,
    };
  });
}

function sorted(rows: readonly Kept[], order: Order, falling: boolean): Kept[] {
  const compare = (a: Kept, b: Kept) =>
    order === 'bytes' ? a.bytes - b.bytes : a[order] < b[order] ? -1 : a[order] > b[order] ? 1 : 0;
  return [...rows].sort((a, b) => (falling ? -compare(a, b) : compare(a, b)) || a.storage - b.storage);
}

/** The bytes that the graph holds alone and those that would stay anyway, in words. */
export function heldWords({ storages }: Graph): string {
  const parts = [0, 0, 0];
  for (let s = 0; s < storages.bytes.length; s++) parts[storages.holder[s]] += storages.bytes[s];
  const [alone, leaves, names] = parts;
  const also = [
    leaves && `${bytes(leaves)} are parameters`,
    names && `${bytes(names)} have a name in your code`,
  ];
  const rest = also.filter(Boolean).join(', ');
  return rest ? `${bytes(alone)} go when the graph goes; ${rest}.` : 'All of it goes when the graph goes.';
}

/** The list, or null where nothing is kept. `go` opens the first node that keeps a storage. */
export function keptList({ outline }: Scene, go: (item: Item) => void): HTMLElement | null {
  const { graph } = outline;
  const rows = keptOf(graph);
  if (!rows.length) return null;
  const total = rows.reduce((sum, row) => sum + row.bytes, 0);
  const body = h('tbody', {});
  const more = h('p', { class: 'tl-muted' });
  let [order, falling]: [Order, boolean] = ['bytes', true];
  const heads = (Object.keys(TITLES) as Order[]).map(name => {
    const sort = h(
      'button',
      { type: 'button', class: 'tl-link', 'data-testid': `tl-sort-${name}` },
      TITLES[name],
    );
    const head = h('th', { scope: 'col' }, sort);
    sort.addEventListener('click', () => {
      falling = order === name ? !falling : name === 'bytes';
      order = name;
      fill();
    });
    return [name, head, sort] as const;
  });
  const fill = () => {
    for (const [name, head, sort] of heads) {
      head.setAttribute('aria-sort', name === order ? (falling ? 'descending' : 'ascending') : 'none');
      sort.replaceChildren(TITLES[name], ...(name === order ? [icon(falling ? 'down' : 'up', 9)] : []));
    }
    const shown = sorted(rows, order, falling).slice(0, MOST);
    body.replaceChildren(...shown.map(row => line(row, graph, total, go)));
    const rest = rows.length - shown.length;
    more.hidden = rest === 0;
    more.textContent = `and ${plural(rest, 'more')}`.replace(/s$/, '');
  };
  fill();
  const table = h(
    'table',
    { class: 'tl-keptlist', 'data-testid': 'tl-kept' },
    h('thead', {}, h('tr', {}, ...heads.map(([, head]) => head))),
    body,
  );
  return h(
    'section',
    {},
    h('h4', {}, `Kept for backward: ${bytes(total)}`),
    h('p', { class: 'tl-muted' }, `${plural(rows.length, 'storage')}. ${heldWords(graph)}`),
    table,
    more,
  );
}

function line(row: Kept, graph: Graph, total: number, go: (item: Item) => void): HTMLElement {
  const open = h(
    'button',
    { type: 'button', class: 'tl-link' },
    h('code', { class: 'tl-cut' }, row.what || 'storage'),
  );
  open.addEventListener('click', () => go(row.node));
  open.title = `${row.what}: kept ${plural(row.times, 'time')}, also held by ${HOLDERS[graph.storages.holder[row.storage]]}`;
  const part = total ? (100 * row.bytes) / total : 0;
  const bar = h('span', { class: 'tl-bar' }, h('span', { style: `width:${part.toFixed(1)}%` }));
  return h(
    'tr',
    {},
    h('td', {}, h('code', {}, bytes(row.bytes)), bar),
    h('td', {}, open),
    h('td', { class: 'tl-muted' }, row.by),
  );
}
