"""Memory as documents: the curve, the blocks that stand at the peak or now, shares of modules and operations, and what grew."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tensorlab import backend, census
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.observe.holders import Held, held
from tensorlab.observe.memory_recorder import BEFORE, GRADIENT, KEPT, OPTIMIZER, Block, MemoryRecorder
from tensorlab.observe.names import Names, dotted
from tensorlab.observe.places import place, words
from tensorlab.observe.schema_watching import (
    MEMORY,
    USES,
    MemoryBlock,
    MemoryCurve,
    MemoryDocument,
    MemoryGrowth,
    MemoryPhase,
    MemoryPool,
    MemoryShare,
    MemorySnapshot,
)  # fmt: skip
from tensorlab.observe.words import bytes_text, count_text

#: Blocks of a document, shares of modules and of operations, groups of a snapshot, points of a curve.
MOST_BLOCKS, MOST_SHARES, MOST_GROUPS, MOST_DRAWN = 150, 40, 400, 600


# ------------------------------------------------------------------------------------------------------------ the curve


def curve_of(recorder: MemoryRecorder, title: str) -> MemoryCurve:
    """Bytes over time, in at most ``MOST_DRAWN`` points; the peak is always one of them."""
    points = list(recorder.points)
    if len(points) > MOST_DRAWN:
        step = math.ceil(len(points) / MOST_DRAWN)
        chunks = [points[at : at + step] for at in range(0, len(points), step)]
        points = [max(chunk, key=lambda point: sum(point[1])) for chunk in chunks] + points[-1:]
    return MemoryCurve(
        ticks=tuple(tick for tick, _ in points),
        stack=tuple(tuple(totals[use] for _, totals in points) for use in range(len(USES))),
        phases=tuple(MemoryPhase(tick, name) for tick, name in recorder.phases[-200:]),
        now=recorder.now,
        peak=recorder.peak,
        peak_tick=recorder.peak_tick,
        last=recorder.tick,
        attached=recorder.attached,
        forecast=False,
        sentence=_curve_words(recorder, title),
    )


def _curve_words(recorder: MemoryRecorder, title: str) -> str:
    of = f" of {title}" if title else ""
    if not recorder.points:
        return "Nothing is recorded. Start the recording, then run a step."
    now, peak = bytes_text(recorder.now), bytes_text(recorder.peak)
    if not recorder.phases:
        return f"{now} are held now; nothing has run since the recording began."
    before = next((name for tick, name in reversed(recorder.phases) if tick < recorder.peak_tick), "")
    where = f" during {before}" if before else ""
    return f"The peak{of} was {peak}{where}; {now} are held now."


# ------------------------------------------------------------------------------------------------------------ blocks


def blocks_at(recorder: MemoryRecorder, tick: int, namespace: Mapping[str, Any]) -> tuple[list[MemoryBlock], int]:
    """The largest blocks that stood at a tick, and the bytes of all of them."""
    recorder.settle()
    known = holdings(namespace, recorder.device)
    names = Names(namespace)
    every = [(known.get(key), b) for key, b in list(recorder.alive.items())] + [(None, b) for b in list(recorder.gone)]
    there = [(one, b) for one, b in every if b.born <= tick and (b.died < 0 or b.died > tick)]
    there.sort(key=lambda pair: -pair[1].size)
    total = sum(b.size for _, b in there)
    return [_recorded(b, one, names, recorder.peak_tick) for one, b in there[:MOST_BLOCKS]], total


def document_of(
    recorder: MemoryRecorder, title: str, namespace: Mapping[str, Any], first: MemorySnapshot | None = None
) -> MemoryDocument:
    """Everything that the memory instrument shows of a recording, and who holds what now."""
    recorder.settle()
    known = holdings(namespace, recorder.device)
    recorder.complete(known)
    names = Names(namespace)
    at_peak = recorder.peak_tick
    alive = dict(recorder.alive)
    blocks = [_recorded(b, known.get(key), names, at_peak) for key, b in alive.items()]
    blocks += [_recorded(b, None, names, at_peak) for b in list(recorder.gone)]
    peak = [b for b in blocks if b.at_peak]
    shown = sorted((b for b in blocks if b.at_peak or b.died < 0), key=lambda b: (-b.at_peak, -b.bytes))
    later = snapshot_of(known, names, recorder.device, "now") if first is not None else None
    curve = curve_of(recorder, title)
    return MemoryDocument(
        schema=MEMORY,
        title=title,
        device=_device(recorder.device),
        curve=curve,
        blocks=tuple(shown[:MOST_BLOCKS]),
        unlisted=len(shown[MOST_BLOCKS:]),
        unlisted_bytes=sum(b.bytes for b in shown[MOST_BLOCKS:]),
        modules=shares(peak, lambda b: b.module or "outside of modules"),
        ops=shares(peak, lambda b: b.op or USES[b.use]),
        growth=grown(first, later) if first is not None and later is not None else (),
        marked=first is not None,
        pools=pools(),
        trouble=recorder.trouble,
        sentence=curve.sentence,
    )


def holdings(namespace: Mapping[str, Any], device: tuple[str, int], search: bool = True) -> dict[int, Held]:
    """The buffers of a device with who holds them, without the library's own constants."""
    kept = census._kept()
    found = held(namespace, search)
    return {key: one for key, one in found.items() if key not in kept and one.device == device and one.size}


def _recorded(b: Block, one: Held | None, names: Names, at_peak: int) -> MemoryBlock:
    name = _name(one) or b.shape or USES[b.use]
    use = b.use
    if one is not None and use == BEFORE:
        use = OPTIMIZER if one.states else GRADIENT if one.grads else KEPT if one.graph and not one.names else use
    op, site, path = b.op, b.site, b.path
    if one is not None and one.made is not None and not op:
        op, site, path = one.made
    freed = one.frees if one is not None else _freed(b)
    return MemoryBlock(
        number=b.number,
        bytes=b.size,
        name=name,
        use=use,
        op=op,
        module=_module(one, path, names),
        shape=(one.shape if one is not None else "") or b.shape,
        made=place(site),
        born=b.born,
        died=b.died,
        holders=one.holders if one is not None else tuple(f"{words} (then)" for words in b.saved),
        frees=freed,
        at_peak=b.born <= at_peak and (b.died < 0 or b.died > at_peak),
    )


def _freed(b: Block) -> str:
    if b.died < 0:
        return "held by something that is being made"
    if b.freed:
        return b.freed
    where = words(place(b.freed_site))
    return f"let go of in {where}" if where else "nothing held it any more"


def _name(one: Held | None) -> str:
    return next((said[0] for said in (one.names, one.grads, one.states) if said), "") if one is not None else ""


def _module(one: Held | None, path: Any, names: Names) -> str:
    """The module that a buffer belongs to: by its name as a part of one, or by the call that made it."""
    word = _name(one)
    if one is not None and (one.parameter or one.grads) and "." in word:
        owner = word.removesuffix(".grad").rpartition(".")[0]
        if owner:
            return owner
    if one is not None and one.states:
        return "optimizer state"
    found = path.names() if path is not None else ()
    if not found:
        return ""
    return dotted("" if found[0][0] else names.root_of_type(found[0][1]) or found[0][1], found)


def shares(blocks: Iterable[MemoryBlock], of: Any) -> tuple[MemoryShare, ...]:
    """Bytes by module or by operation, the most first; what does not fit is one share, so that they add up."""
    found: dict[str, list[int]] = {}
    for b in blocks:
        entry = found.setdefault(of(b), [0, 0])
        entry[0] += b.bytes
        entry[1] += 1
    ordered = sorted(found.items(), key=lambda item: -item[1][0])
    listed = [MemoryShare(name, size, count) for name, (size, count) in ordered[:MOST_SHARES]]
    rest = ordered[MOST_SHARES:]
    if rest:
        listed.append(MemoryShare(f"{len(rest):,} others", sum(s for _, (s, _) in rest), sum(c for _, (_, c) in rest)))
    return tuple(listed)


def _device(device: tuple[str, int]) -> str:
    return device[0] if device[0] == "cpu" else f"{device[0]}:{device[1]}"


def pools() -> tuple[MemoryPool, ...]:
    """The pools of the GPUs that are in use; none where there is no GPU. Starts nothing."""
    if "cupy" not in sys.modules:
        return ()
    try:
        gpu = backend.gpu()
    except RuntimeError:
        return ()
    found = [(index, *gpu.memory(index)) for index in range(gpu.count())]
    return tuple(MemoryPool(f"cuda:{index}", used, taken) for index, used, taken in found if taken)


# ------------------------------------------------------------------------------------------------------------ a graph


def graph_document(x: Any, title: str, namespace: Mapping[str, Any]) -> MemoryDocument:
    """What the graph of ``x`` keeps for its backward, each buffer once, and what a pass will free node by node."""
    known = holdings(namespace, _where(x))
    names = Names(namespace)
    order = _backward_order(x)
    users: dict[int, list[tuple[int, str]]] = {}  # of each buffer the nodes that keep it, by their place in the order
    for at, node in enumerate(order):
        for label, array, *_ in node.saved_facts():
            users.setdefault(census.buffer_of(array)[0], []).append((at, f"{node.name()} as {label}"))
    blocks = []
    falls: dict[int, list[int]] = {}
    for number, (key, found) in enumerate(users.items()):
        one = known.get(key)
        if one is None:
            continue
        stays = bool(one.names or one.grads or one.states or one.others)
        last = max(at for at, _ in found)
        if not stays:
            falls.setdefault(last, []).append(one.size)
        blocks.append(_saved(number, one, found, order[last], stays, names))
    blocks.sort(key=lambda b: -b.bytes)
    only = sum(b.bytes for b in blocks if b.use == KEPT)
    curve = _forecast(order, falls, blocks, only, title)
    return MemoryDocument(
        schema=MEMORY,
        title=title,
        device=_device(_where(x)),
        curve=curve,
        blocks=tuple(blocks[:MOST_BLOCKS]),
        unlisted=len(blocks[MOST_BLOCKS:]),
        unlisted_bytes=sum(b.bytes for b in blocks[MOST_BLOCKS:]),
        modules=shares(blocks, lambda b: b.module or "outside of modules"),
        ops=shares(blocks, lambda b: b.op or "there before"),
        growth=(),
        marked=False,
        pools=pools(),
        trouble="",
        sentence=curve.sentence,
    )


def _where(x: Any) -> tuple[str, int]:
    return census.buffer_of(x._a)[2] if x._a.size or backend.of(x._a) is not None else ("cpu", 0)


def _backward_order(x: Any) -> list[Node]:
    """The nodes of a graph as a pass would run them, without the leaves."""
    start = x.grad_fn
    seen, waiting = ({start}, [start]) if start is not None else (set(), [])
    while waiting:
        for edge in waiting.pop().edges:
            if edge is not None and edge[0] not in seen and type(edge[0]) is not AccumulateGrad:
                seen.add(edge[0])
                waiting.append(edge[0])
    return sorted(seen, key=lambda node: -node.seq)


def _saved(
    number: int, one: Held, users: Sequence[tuple[int, str]], last: Node, stays: bool, names: Names
) -> MemoryBlock:
    op, site, path = one.made or ("", None, None)
    freed = one.frees if stays else f"{last.name()} frees it in backward, unless retain_graph=True"
    return MemoryBlock(
        number, one.size, _name(one) or one.shape, BEFORE if stays else KEPT, op, _module(one, path, names), one.shape, place(site),
        0, -1 if stays else max(at for at, _ in users) + 1, one.holders, freed, True,
    )  # fmt: skip


def _forecast(
    order: Sequence[Node], falls: Mapping[int, Sequence[int]], blocks: Sequence[MemoryBlock], only: int, title: str
) -> MemoryCurve:
    stays = sum(b.bytes for b in blocks) - only
    left, kept = only, [only]
    for at in range(len(order)):
        left -= sum(falls.get(at, ()))
        kept.append(left)
    ticks = list(range(len(kept)))
    if len(ticks) > MOST_DRAWN:
        step = math.ceil(len(ticks) / MOST_DRAWN)
        ticks = [*ticks[::step], ticks[-1]]
    empty = (0,) * len(ticks)
    stack = [empty] * len(USES)
    stack[BEFORE], stack[KEPT] = (stays,) * len(ticks), tuple(kept[tick] for tick in ticks)
    of = title or "this result"
    if not order:
        said = f"{of} has no graph, so nothing is kept for a backward."
    else:
        said = (
            f"Backward from {of}, {count_text(len(order), 'node')}, will free {bytes_text(only)} that only its graph keeps; "
            f"{bytes_text(stays)} it uses are others' too."
        )
    return MemoryCurve(
        tuple(ticks), tuple(stack), (), only + stays, only + stays, 0, len(kept) - 1, False, True, said,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ what grew


def snapshot_of(known: Mapping[int, Held], names: Names, device: tuple[str, int], name: str) -> MemorySnapshot:
    """What is held, grouped by what made it and who holds it."""
    groups: dict[Any, list[Any]] = {}
    for one in known.values():
        made = place(one.made[1]) if one.made is not None else None
        holder = _pattern(one)
        key = (one.made[0] if one.made is not None else "", words(made), holder)
        entry = groups.setdefault(key, [made, 0, 0])
        entry[1] += 1
        entry[2] += one.size
    ordered = sorted(groups.items(), key=lambda item: -item[1][2])[:MOST_GROUPS]
    return MemorySnapshot(
        name=name,
        device=_device(device),
        bytes=sum(one.size for one in known.values()),
        groups=tuple(
            MemoryGrowth(op, made, holder, count, count, size, size) for (op, _, holder), (made, count, size) in ordered
        ),
    )


def _pattern(one: Held) -> str:
    """Who holds a buffer, so that entries of one list are one holder: ``history[...]``."""
    holder = next(iter((*one.names, *one.grads, *one.states, *one.others)), "")
    if holder:
        head, bracket, rest = holder.partition("[")
        if not bracket or one.parameter or one.states:
            return holder
        return f"{head}[...]{rest.partition(']')[2]}"
    return "only a graph" if one.graph else "nobody"


def grown(before: MemorySnapshot, after: MemorySnapshot) -> tuple[MemoryGrowth, ...]:
    """The groups that take more memory in ``after``, the most first."""
    for snapshot in (before, after):
        if not isinstance(snapshot, MemorySnapshot):
            raise TypeError(
                f"what grew is told between two snapshots of a memory view (view.snapshot()), not of {type(snapshot).__name__}"
            )
    if before.device != after.device:
        raise ValueError(f"the snapshots are of two devices, {before.device} and {after.device}")

    def key(group: MemoryGrowth) -> tuple[str, str, str]:
        return group.name, words(group.made), group.holder

    old = {key(group): group for group in before.groups}
    found = []
    for group in after.groups:
        was = old.get(key(group))
        count, size = (was.count_after, was.bytes_after) if was is not None else (0, 0)
        if group.bytes_after > size:
            found.append(
                MemoryGrowth(group.name, group.made, group.holder, count, group.count_after, size, group.bytes_after)
            )
    return tuple(sorted(found, key=lambda g: g.bytes_before - g.bytes_after))


def growth_words(group: MemoryGrowth) -> str:
    """One group that grew, in a sentence."""
    more, size = group.count_after - group.count_before, group.bytes_after - group.bytes_before
    what = f"{more:+,} buffers" if abs(more) != 1 else f"{more:+} buffer"
    where = words(group.made)
    made = f", made by {group.name}{f' in {where}' if where else ''}" if group.name else ""
    holder = f"held by {group.holder}" if group.holder != "nobody" else "which nobody holds"
    return f"{bytes_text(size)} more ({what}) {holder}{made}"
