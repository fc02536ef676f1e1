"""Hooks that are looked at: every one there is, what the recording heard of them, and answers to a view. It keeps nothing alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tensorlab.engine.hooks import removed_from, take_off
from tensorlab.engine.node import AccumulateGrad
from tensorlab.observe import wire
from tensorlab.observe.hook_recorder import MOST_TOLD, HookRecorder
from tensorlab.observe.hooks import (
    Found,
    entries,
    hooks_of,
    is_library,
    left_behind,
    of_node,
    owner_of,
    registered_at,
    taken_off,
)  # fmt: skip
from tensorlab.observe.names import Names, is_module
from tensorlab.observe.protocol import Message, Refused, served, whole
from tensorlab.observe.schema_watching import HOOKS, HookDetail, HookEntry, HooksDocument, ModuleOutput
from tensorlab.observe.why_silent import why_silent
from tensorlab.observe.words import count_text
from tensorlab.optim.optimizer import Optimizer
from tensorlab.tensor import Tensor

#: Outputs whose pictures go with the document, the others are asked for; entries of a document.
MOST_PICTURES, MOST_LISTED = 6, 200
GONE = "what these hooks belonged to is gone: nothing refers to it any more. The list is as it was last seen"


class HookViewer:
    """The hooks of ``target`` (a module, tensor or optimizer; ``None`` for all that ``names()`` knows), and what they do."""

    def __init__(self, target: Any, title: str, names: Callable[[], Mapping[str, Any]], attach: bool = True) -> None:
        if target is not None and not (is_module(target) or isinstance(target, (Tensor, Optimizer))):
            raise TypeError(
                f"hooks are those of a Module, a Tensor or an Optimizer, or of all there are; not of {type(target).__name__}"
            )
        self._target = None if target is None else weakref.ref(target)
        self.title = title
        self._names = names
        self._owners: dict[int, str] = {}
        known = weakref.WeakMethod(self._name)
        self.recorder = HookRecorder(lambda kind, owner: (known() or _plain)(kind, owner))
        self._seen: dict[int, tuple[str, str, Any]] = {}
        self._last: tuple[HookEntry, ...] = ()
        if attach:
            self.recorder.attach()
        self.document()

    # ---------------------------------------------------------------------------------------------- names

    def _name(self, kind: str, owner: Any) -> str:
        """What a hook hangs on, at the moment it is called: without a look at the namespace."""
        node = owner[0] if type(owner) is tuple else owner
        thing = node.variable if type(node) is AccumulateGrad else node
        return self._owners.get(id(thing)) or _plain(kind, owner)

    def _learn(self, target: Any, namespace: Mapping[str, Any]) -> None:
        """The names of modules and leaves, and which of them are listened to."""
        owners: dict[int, str] = {}
        modules: dict[int, str] = {}
        leaves: dict[int, str] = {}
        roots = [(self.title or type(target).__name__, target)] if is_module(target) else []
        if self._target is None:
            roots = [(name, value) for name, value in list(namespace.items()) if is_module(value) and name[:1] != "_"]
        for root, model in roots:
            for path, part in model.named_modules():
                modules.setdefault(id(part), f"{root}.{path}" if path else root)
                for name, p in part._parameters.items():
                    if p is not None:
                        leaves.setdefault(id(p), f"{modules[id(part)]}.{name}")
        for name, value in list(namespace.items()):
            if isinstance(value, (Tensor, Optimizer)) and name[:1] != "_":
                owners.setdefault(id(value), name)
        self._owners = {**owners, **leaves, **modules}
        whole_model = self._target is not None and is_module(target)
        self.recorder.modules = modules if whole_model else None
        self.recorder.leaves = leaves if whole_model else None

    # ---------------------------------------------------------------------------------------------- the document

    def document(self, since: int = -1, pictures: int = MOST_PICTURES) -> HooksDocument:
        """Every hook there is now, and the timeline after line ``since``."""
        namespace = self._names()
        target = None if self._target is None else self._target()
        gone = self._target is not None and target is None
        recorder = self.recorder
        belongs: dict[int, int] = {}
        listed: tuple[HookEntry, ...] = self._last
        if not gone:
            self._learn(target, namespace)
            found = self._found(target, namespace)
            why = {one.number: words for one in found if (words := why_silent(one, recorder, self.title))}
            current, belongs = entries(found, recorder.fired, why, left_behind(found, namespace))
            self._remember(found)
            listed = (*current, *self._departed(found, belongs))
            self._last = listed
        rows = [row for row in list(recorder.rows) if row.row > since]
        owners = {entry.number: entry.owner for entry in listed if entry.count == 1}
        rows = [replace(row, number=belongs.get(row.number, row.number)) for row in rows]
        rows = [replace(row, owner=owners.get(row.number, row.owner)) for row in rows]
        outputs = self._outputs(pictures)
        return HooksDocument(
            schema=HOOKS,
            title=self.title,
            hooks=listed[:MOST_LISTED],
            unlisted=max(0, len(listed) - MOST_LISTED),
            rows=tuple(rows),
            forgotten=max(0, recorder.next - len(recorder.rows)),
            outputs=tuple(outputs),
            attached=recorder.attached,
            trouble=recorder.trouble or (GONE if gone else ""),
            sentence=self._sentence(listed),
        )

    def _found(self, target: Any, namespace: Mapping[str, Any]) -> list[Found]:
        """Every hook there is, those on graphs that were met while recording among them."""
        found = [one for one in hooks_of(target, self.title, namespace) if not _own(one)]
        there = {one.number for one in found}
        names: Names | None = None
        for told in list(self.recorder.told.values()):
            node = told.node() if told.node is not None else None
            if node is not None:
                names = names or Names(namespace)
                more = [
                    one for one in of_node(node, owner_of(node, names)) if one.number not in there and not _own(one)
                ]
                there.update(one.number for one in more)
                found += more
        return found

    def _outputs(self, pictures: int) -> list[ModuleOutput]:
        found = list(self.recorder.outputs.values())
        shown = [one for one in found if one.tiles][:pictures]
        return [one if one in shown or not one.tiles else replace(one, tiles=()) for one in found]

    def _remember(self, found: list[Found]) -> None:
        for one in found:
            if one.number not in self._seen and len(self._seen) < MOST_TOLD:
                self._seen[one.number] = one.kind, one.owner, weakref.ref(one.table)

    def _departed(self, found: list[Found], belongs: Mapping[int, int]) -> list[HookEntry]:
        """Hooks that were there, or were called, and are not any more; those of one kind and name as one."""
        there = {one.number for one in found}
        removed: list[HookEntry] = []
        lost: dict[tuple[str, str, str], list[int]] = {}
        for number, (kind, owner, known) in self._seen.items():
            if number in there:
                continue
            table = known()
            off = removed_from(table) if table is not None else ()
            gone = next((one for one in off if one.number == number), None)
            if gone is not None:
                removed.append(taken_off(gone, kind, owner, self.recorder.fired.get(number, 0)))
            else:
                told = self.recorder.told.get(number)
                lost.setdefault((kind, owner, told.name if told else ""), []).append(number)
        for number, told in self.recorder.told.items():
            if number not in there and number not in self._seen:
                lost.setdefault((told.kind, told.owner, told.name), []).append(number)
        return removed[-24:] + [self._lost(*key, numbers, belongs) for key, numbers in list(lost.items())[-24:]]

    def _lost(self, kind: str, owner: str, name: str, numbers: list[int], belongs: Any) -> HookEntry:
        fired = sum(self.recorder.fired.get(number, 0) for number in numbers)
        belongs.update(dict.fromkeys(numbers, numbers[0]))
        many = f"{count_text(len(numbers), 'registration')}, each on something new: " if len(numbers) > 1 else ""
        told = self.recorder.told.get(numbers[-1])
        made = told.made if told is not None else None
        what = f"{owner} is another tensor now, or is gone" if "." in owner else "what it was on is gone"
        return HookEntry(
            numbers[0], kind, owner, name or "hook", len(numbers), (owner,), None, registered_at(made),
            made.cell if made is not None else -1, False, False, fired, "gone", "", f"{many}{what}, and the hook with it.",
        )  # fmt: skip

    def _sentence(self, listed: tuple[HookEntry, ...]) -> str:
        of = f" of {self.title}" if self.title else ""
        alive = [entry for entry in listed if entry.state in ("fired", "silent")]
        total = sum(entry.count for entry in alive)
        if not total:
            return f"There are no hooks{of}. Register one, and it appears here."
        fired = sum(1 for entry in alive if entry.fired)
        behind = sum(1 for entry in alive if entry.left)
        words = f"{count_text(total, 'hook')}{of}"
        if not self.recorder.next:
            words += "; nothing has run since the recording began" if self.recorder.attached else "; not recorded"
        else:
            silent = len(alive) - fired
            words += f", {count_text(sum(e.fired for e in alive), 'call')} seen"
            words += f"; {'one was' if silent == 1 else f'{silent:,} were'} not called" if silent else ""
        return f"{words}. {'One looks' if behind == 1 else f'{behind:,} look'} left behind." if behind else f"{words}."

    # ---------------------------------------------------------------------------------------------- requests

    def handle(self, request: Any) -> Message:
        """Answer one request of a view."""
        actions: dict[str, Callable[[Mapping[str, Any]], Message]] = {
            "initialize": lambda arguments: {"hooks": wire.to_json(self.document())},
            "refresh": lambda arguments: {"hooks": wire.to_json(self.document(whole(arguments, "since", -1)))},
            "attach": lambda arguments: self._switch(arguments, self.recorder.attach),
            "detach": lambda arguments: self._switch(arguments, self.recorder.detach),
            "forget": lambda arguments: self._switch(arguments, self.recorder.forget),
            "remove": self._remove,
            "detail": lambda arguments: {"detail": wire.to_json(self.detail(whole(arguments, "number")))},
            "output": self._output,
            "disconnect": lambda arguments: {},
        }
        return served(request, actions, "a view of hooks cannot {command!r}")

    def _switch(self, arguments: Mapping[str, Any], act: Callable[[], None]) -> Message:
        act()
        return {"hooks": wire.to_json(self.document(whole(arguments, "since", -1)))}

    def remove(self, number: int) -> int:
        """Take a hook off, or all that one entry stands for. Returns how many were there."""
        target = None if self._target is None else self._target()
        if self._target is not None and target is None:
            raise Refused(GONE)
        found = self._found(target, self._names())
        _, belongs = entries(found, {}, {}, left_behind(found, self._names()))
        ours = [one for one in found if belongs.get(one.number) == number]
        if not isinstance(number, int):
            raise TypeError(f"a hook is taken off by its number in the view, not by {number!r:.60}")
        if not ours:
            raise Refused(f"hook {number} is not there, or not there any more")
        return sum(take_off(one.table, one.number) for one in ours)

    def _remove(self, arguments: Mapping[str, Any]) -> Message:
        self.remove(whole(arguments, "number"))
        return {"hooks": wire.to_json(self.document(whole(arguments, "since", -1)))}

    def detail(self, number: int) -> HookDetail:
        """The last call of a hook that was measured, with what it was given and what went on."""
        entry = next((entry for entry in self._last if entry.number == number), None)
        if entry is None:
            raise Refused("this hook is not there any more")
        latest: Any = None
        for one in self.recorder.looks:
            row, looks = self.recorder.looks[one]
            same = one == number or (entry.count > 1 and (row.kind, row.name) == (entry.kind, entry.name))
            if same and (latest is None or row.row > latest[0].row):
                latest = row, looks
        note = "" if entry.held or entry.library or entry.state in ("removed", "gone") else (
            "Nobody holds its handle: it can be removed here, and not from your code."
        )  # fmt: skip
        return HookDetail(number, latest[0] if latest else None, latest[1] if latest else (), note)

    def _output(self, arguments: Mapping[str, Any]) -> Message:
        name = arguments.get("name")
        for one in self.recorder.outputs.values():
            if one.name == name:
                return {"output": wire.to_json(one)}
        raise Refused(f"no output of {name!r} was seen")


def _own(found: Found) -> bool:
    """Whether a hook is one that instruments themselves put there."""
    return is_library(found.hook) and type(found.hook).__module__.startswith("tensorlab.observe")


def _plain(kind: str, owner: Any) -> str:
    node = owner[0] if type(owner) is tuple else owner
    if type(node) is AccumulateGrad or isinstance(node, Tensor):
        return "a leaf"
    if callable(getattr(type(node), "name", None)) and hasattr(node, "seq"):
        path = ".".join(name for name, _ in node.scope or () if name)
        return f"{node.name()} in {path}" if path else str(node.name())
    return type(node).__name__
