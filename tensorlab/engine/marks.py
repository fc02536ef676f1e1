"""Which module runs: a tree of calls, of which each is made once and found again whenever the same call comes.

A module that runs stands in this thread's ``state.mark``, and a node remembers what the mark says. So a training loop pays for a
look into a dictionary a call; names are worked out when a call is new, and read anew off the modules when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from tensorlab.engine.sites import Site
from tensorlab.modes import state

#: Places that one call is known from; the latest are kept.
PLACES = 4


def _nothing() -> None:
    return None


class Path:
    """A module inside those that called it, outermost last. It knows modules weakly."""

    __slots__ = ("name", "kind", "outer", "module")

    def __init__(self, name: str, kind: str, outer: Path | None, module: Callable[[], Any] = _nothing) -> None:
        self.name, self.kind, self.outer, self.module = name, kind, outer, module

    def names(self) -> tuple[tuple[str, str], ...]:
        """(name, type name) of the modules, outermost first."""
        found = []
        inner: Path | None = self
        while inner is not None:
            found.append((inner.called(), inner.kind))
            inner = inner.outer
        return tuple(reversed(found))

    def called(self) -> str:
        """What the module around it calls this one: now, if both still exist."""
        module, around = self.module(), self.outer.module() if self.outer is not None else None
        if module is not None and around is not None and around._modules.get(self.name) is not module:
            for name, child in around._modules.items():
                if child is module:
                    return name
        return self.name


class Mark:
    """A call of a module. ``made`` is what a node made in it remembers, if that is known already; ``inside`` are the calls in it.

    In code of ours the place is where the user's code called it. Where that can differ from call to call, ``code`` and ``at`` are
    the instruction that called, and ``other`` is the same call from elsewhere. ``bare`` is the same without a place, for a module
    with hooks, whose lines are the user's.
    """

    __slots__ = ("path", "made", "inside", "code", "at", "other", "bare")

    def __init__(
        self,
        path: Path | None,
        site: Site | None = None,
        code: CodeType | None = None,
        at: int = -1,
        other: Mark | None = None,
    ) -> None:
        self.path = path
        self.made = None if site is None else (site, path)
        self.inside: dict[int, Mark] = {}
        self.code, self.at, self.other = code, at, other
        self.bare: Mark | None = None
        for _ in range(PLACES - 2):
            other = other.other if other is not None else None
        if other is not None:
            other.other = None

    def without_place(self) -> Mark:
        """The same call where what runs may be anybody's code."""
        if self.bare is None:
            self.bare = Mark(self.path)
        return self.bare


#: Where no module runs.
OUTSIDE = Mark(None)


def forget() -> None:
    """Forget all calls: what was known of the code of a module is so no more."""
    OUTSIDE.inside.clear()


@contextmanager
def scope(name: str, kind: str) -> Iterator[None]:
    """A module that runs inside, for nodes made meanwhile."""
    outer = state.mark
    state.mark = Mark(Path(name, kind, None if outer is None else outer.path))
    try:
        yield
    finally:
        state.mark = outer
