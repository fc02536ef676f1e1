// The parts of the memory instrument: areas over time, a block in words, bars.
import { h, svg } from './dom';
import { bytes, plural } from './format';
import type { Site } from './snapshot';
import { USES, type MemoryBlock, type MemoryCurve, type MemoryGrowth, type MemoryShare } from './watching';

export const WIDE = 1000;
export const HIGH = 220;

export const place = (tick: number, curve: MemoryCurve) =>
  (WIDE * Math.min(tick, curve.last)) / Math.max(1, curve.last);

export function total(curve: MemoryCurve, tick: number): number {
  let at = curve.ticks.findIndex(one => one > tick);
  at = at < 0 ? curve.ticks.length - 1 : Math.max(0, at - 1);
  return curve.stack.reduce((sum, row) => sum + (row[at] ?? 0), 0);
}

/** One area a use, on top of one another; a line along the top where there is something under it. */
export function areas(curve: MemoryCurve): SVGElement[] {
  const out: SVGElement[] = [];
  const up = (size: number) => HIGH - ((HIGH - 8) * size) / Math.max(1, curve.peak);
  const xs = curve.ticks.map(tick => place(tick, curve));
  let below = curve.ticks.map(() => 0);
  curve.stack.forEach((row, use) => {
    if (!row.some(Boolean)) return;
    const above = below.map((size, at) => size + row[at]);
    const base = below;
    let top = '';
    let line = '';
    let bottom = '';
    for (let at = 0; at < xs.length; at++) {
      const from = xs[at].toFixed(1);
      const to = (at + 1 < xs.length ? xs[at + 1] : WIDE).toFixed(1);
      const y = up(above[at]).toFixed(1);
      top += `${at ? 'L' : 'M'}${from} ${y}L${to} ${y}`;
      bottom = `L${to} ${up(base[at]).toFixed(1)}L${from} ${up(base[at]).toFixed(1)}${bottom}`;
      if (row[at]) line += `${at && row[at - 1] ? 'L' : 'M'}${from} ${y}L${to} ${y}`;
    }
    out.push(svg('path', { class: `tl-area tl-area-${use}`, d: `${top}${bottom}z` }));
    out.push(
      svg('path', { class: `tl-edge tl-edge-${use}`, d: line, 'vector-effect': 'non-scaling-stroke' }),
    );
    below = above;
  });
  return out;
}

export function phaseWords(curve: MemoryCurve): HTMLElement[] {
  if (curve.forecast)
    return [
      h(
        'span',
        { class: 'tl-muted' },
        `before backward, and after each of its ${plural(curve.last, 'node')}`,
      ),
    ];
  const out: HTMLElement[] = [];
  let last = -100;
  for (const { tick, name } of curve.phases) {
    const x = (100 * Math.min(tick, curve.last)) / Math.max(1, curve.last);
    if (x - last < 11 || x > 92) continue;
    out.push(h('span', { class: 'tl-muted tl-phase', style: `left:${x.toFixed(2)}%` }, name));
    last = x;
  }
  return out;
}

function siteWords(site: Site | null): string {
  if (!site) return '';
  return site.cell >= 0 ? `cell [${site.cell}], line ${site.line}` : `${site.file}, line ${site.line}`;
}

export function blockDetail(block: MemoryBlock): HTMLElement[] {
  const out = [
    h('div', { class: 'tl-node' }, h('strong', {}, block.name), h('code', {}, block.shape)),
    h('p', { class: 'tl-muted' }, `${bytes(block.bytes)} · ${USES[block.use]}`),
  ];
  if (block.op) {
    const made = [block.op, block.module && `in ${block.module}`].filter(Boolean).join(' ');
    out.push(h('p', {}, `made by ${made}${block.made ? `, ${siteWords(block.made)}` : ''}`));
    if (block.made?.code) out.push(h('p', {}, h('code', { class: 'tl-code' }, block.made.code)));
  }
  out.push(h('h4', {}, block.died >= 0 ? 'Held by, then' : 'Held by'));
  if (!block.holders.length) out.push(h('p', { class: 'tl-muted' }, 'what was computed meanwhile'));
  out.push(...block.holders.map(holder => h('p', {}, holder)));
  out.push(
    h('h4', {}, block.died >= 0 ? 'What freed it' : 'What frees it'),
    h('p', { 'data-testid': 'tl-frees' }, block.frees),
  );
  return out;
}

export function shareLine(share: MemoryShare, most: number): HTMLElement {
  return h(
    'div',
    { class: 'tl-share-row', 'data-name': share.name },
    h(
      'span',
      { class: 'tl-share-track' },
      h('i', { style: `width:${Math.max(1, (100 * share.bytes) / Math.max(1, most)).toFixed(0)}%` }),
    ),
    h('span', { class: 'tl-share-bytes' }, bytes(share.bytes)),
    h('code', { class: 'tl-cut', title: `${share.name}: ${plural(share.count, 'block')}` }, share.name),
  );
}

export function growthLine(group: MemoryGrowth): HTMLElement {
  const more = group.count_after - group.count_before;
  const made = group.name ? `made by ${group.name}${group.made ? ` in ${siteWords(group.made)}` : ''}` : '';
  return h(
    'div',
    { class: 'tl-grown', 'data-holder': group.holder },
    h('strong', {}, `+${bytes(group.bytes_after - group.bytes_before)}`),
    h('span', {}, ` ${more > 0 ? '+' : ''}${plural(more, 'buffer')}, held by ${group.holder}`),
    h('p', { class: 'tl-muted' }, made),
  );
}
