"""Random programs of forward and backward passes, hooks and custom functions, run on PyTorch and here in lock-step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import tensorlab as tl
from tests.parity import oracle
from tests.parity.programs import Pair, Parted, Program

torch = oracle.torch


def functions(lib: Any) -> dict[str, Any]:
    """The same custom functions for one library."""

    class Cube(lib.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    class Both(lib.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.sigmoid()
            ctx.save_for_backward(y)
            return y, x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            (y,) = ctx.saved_tensors
            return g * y * (1 - y) + h * 2

    class Double(lib.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    class Same(lib.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    class First(lib.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            return x[0]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.expand(ctx.shape) * 1

    return {"Cube": Cube, "Both": Both, "Double": Double, "Same": Same, "First": First}


FUNCTIONS = {tl: functions(tl), torch: functions(torch)}


class Passes(Program):
    """A program that also runs backward passes, and compares gradients, hooks and nodes."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.heard: dict[Any, list[Any]] = {tl: [], torch: []}  # what hooks were told
        self.handles: list[tuple[Any, Any]] = []
        self.hooked = False
        self.leaf_hooks: set[int] = set()
        self.apart: set[str] = set()  # views that had no history once
        self.number = 0

    def run(self, steps: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Parted):
                for _ in range(steps):
                    if self.random.random() < 0.45:
                        self.tensor_step()
                    else:
                        self.random.choice(self.actions())()
                        self.compare()

    def tensor_step(self) -> None:
        try:
            self.step()
            if "detach_()" in self.log[-1] and "->" not in self.log[-1]:
                raise Parted  # PyTorch forgets what was saved of the tensor before; here it is still known
        except AssertionError as error:
            if "INTERNAL ASSERT" in str(error):
                raise Parted from None  # PyTorch fell over itself
            if "its base or another view of its base has been modified" in str(error).split("\n")[0]:
                raise Parted from None  # here also a look at the flag of such a view is refused
            raise

    def actions(self) -> list[Callable[[], None]]:
        return [
            self.call_function, self.call_function, self.hook, self.hook, self.node_hook, self.unhook, self.retain, self.forget,
            self.pass_back, self.pass_back, self.pass_back, self.take_grad, self.take_grad,
        ]  # fmt: skip

    # ------------------------------------------------------------------------------------------------ both sides

    def both(self, said: str, act: Callable[[Any, Callable[[Pair], Any]], Any]) -> tuple[Any, Any] | None:
        """Do something in both libraries: ``act(library, pick)``. ``None`` where both refuse."""
        found: list[Any] = []
        for lib in (torch, tl):

            def pick(pair: Pair, lib: Any = lib) -> Any:
                return pair.ours if lib is tl else pair.theirs

            try:
                found.append(act(lib, pick))
            except Exception as error:
                found.append(error)
        theirs, ours = found
        self.log.append(f"{said}{f'  -> {theirs!r:.150}' if isinstance(theirs, Exception) else ''}")
        if isinstance(theirs, Exception) or isinstance(ours, Exception):
            if "INTERNAL ASSERT" in str(theirs) or "moved into the graph interior" in str(theirs):
                raise Parted  # of views of leaves
            if ("more than one element" in str(ours)) != ("more than one element" in str(theirs)):
                raise Parted  # PyTorch writes into memory that several indexes reach unless a stride is 0; here it is refused
            if not isinstance(ours, Exception) and ("a second time" in str(theirs) or "inputs=['" in said):
                raise Parted  # PyTorch kept, or ran, what is not needed for the result
            if self.apart and not (isinstance(theirs, Exception) and isinstance(ours, Exception)):
                raise Parted
            assert isinstance(theirs, Exception), self.report(f"{ours!r} was raised")
            assert isinstance(ours, Exception), self.report(f"nothing was raised instead of {theirs!r}")
            assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)), self.report(
                f"{ours!r} instead of {theirs!r}"
            )
            return None
        return theirs, ours

    def keep(self, results: tuple[Any, Any] | None) -> None:
        """Go on with what a call returned."""
        if results is None:
            return
        theirs, ours = results
        for y, x in zip(*[r if isinstance(r, (tuple, list)) else (r,) for r in (theirs, ours)], strict=True):
            assert (x is None) == (y is None), self.report(f"{x} instead of {y}")
            if y is not None and all(y is not p.theirs for p in self.pairs) and y.numel() < 60:
                self.pairs.append(Pair(x, y, f"t{len(self.pairs)}"))
                self.log[-1] += f"  = t{len(self.pairs) - 1}"

    # ------------------------------------------------------------------------------------------------ what may happen

    def call_function(self) -> None:
        pair, name = self.random.choice(self.pairs), self.random.choice(list(FUNCTIONS[tl]))
        if name == "Double" and pair.theirs.grad is not None:
            return  # PyTorch drops the gradient of what a function wrote into
        self.keep(self.both(f"{name}({pair.name})", lambda lib, pick: FUNCTIONS[lib][name].apply(pick(pair))))
        if name == "Double" and "->" in self.log[-1]:
            raise Parted  # the memory was written to before it was refused

    def _hook(self, lib: Any, number: int, factor: float) -> Callable[[Any], Any]:
        def hook(g: Any) -> Any:
            if g is None:  # PyTorch tells hooks of gradients that do not exist
                return None
            self.heard[lib].append((number, g.tolist()))
            return g * factor if factor != 1 else None

        return hook

    def hook(self) -> None:
        pair, factor = self.random.choice(self.pairs), self.random.choice([1, 1, 0.5])
        if self._view_without_history(pair):
            return
        self.number += 1
        number = self.number
        found = self.both(
            f"hook {number} ({pair.name}, {factor})",
            lambda lib, pick: pick(pair).register_hook(self._hook(lib, number, factor)),
        )
        if found is not None:
            self.hooked = True
            if self._node(pair.theirs) is None:
                self.leaf_hooks.add(number)
            self.handles.append(found)

    def node_hook(self) -> None:
        pair = self.random.choice(self.pairs)
        kind = self.random.choice(["register_prehook", "register_hook"])
        if self._node(pair.theirs) is None:
            return
        self.number += 1
        number = self.number

        def register(lib: Any, pick: Callable[[Pair], Any]) -> Any:
            def hook(*given: Any) -> Any:
                self.heard[lib].append((number, [[g.tolist() for g in gs if g is not None] for gs in given]))
                if kind == "register_prehook":
                    return tuple([None if g is None else g * 0.5 for g in given[0]])
                return None

            return getattr(pick(pair).grad_fn, kind)(hook)

        self.hooked = True
        found = self.both(f"{pair.name}.grad_fn.{kind} {number}", register)
        if found is not None:
            self.handles.append(found)

    def unhook(self) -> None:
        if self.handles:
            theirs, ours = self.handles.pop(self.random.randrange(len(self.handles)))
            self.log.append("remove a hook")
            theirs.remove()
            ours.remove()

    def retain(self) -> None:
        pair = self.random.choice(self.pairs)
        if self._view_without_history(pair) or pair.theirs.output_nr:
            return  # PyTorch loses its way, even crashes, when a second output that retains its gradient is written to
        self.both(f"{pair.name}.retain_grad()", lambda lib, pick: pick(pair).retain_grad())

    def forget(self) -> None:
        pair = self.random.choice(self.pairs)
        self.both(f"{pair.name}.grad = None", lambda lib, pick: setattr(pick(pair), "grad", None))

    def _roots(self) -> list[Pair]:
        have = [p for p in self.pairs if self._look(p.theirs, "requires_grad") is True and p.theirs.numel()]
        have = [p for p in have if not self._view_without_history(p)]
        return self.random.sample(have, min(len(have), self.random.choice([1, 2, 3])))

    @staticmethod
    def _loss(roots: list[Pair], pick: Callable[[Pair], Any]) -> Any:
        return sum((pick(p) * (k + 1)).sum() for k, p in enumerate(roots))

    def pass_back(self) -> None:
        roots = self._roots()
        if not roots:
            return
        keep = self.random.random() < 0.8
        limited = self.random.random() < 0.2
        inputs = self.random.sample(self.leaves, 2) if limited else None
        names = ", ".join(p.name for p in roots)
        self.both(
            f"backward({names}, retain_graph={keep}, inputs={[p.name for p in inputs] if inputs else None})",
            lambda lib, pick: self._loss(roots, pick).backward(
                retain_graph=keep, inputs=[pick(p) for p in inputs] if inputs else None
            ),
        )
        if "->" in self.log[-1]:
            raise Parted  # how far a failed pass got is not compared

    def take_grad(self) -> None:
        roots = self._roots()
        wanted = (
            self.leaves if self.hooked else [p for p in self.pairs if self._look(p.theirs, "requires_grad") is True]
        )
        wanted = [p for p in wanted if not self._view_without_history(p)]
        if not roots or not wanted:
            return
        inputs = self.random.sample(wanted, min(len(wanted), 2))
        create = self.random.random() < 0.4

        def act(lib: Any, pick: Callable[[Pair], Any]) -> Any:
            found = lib.autograd.grad(
                self._loss(roots, pick),
                [pick(p) for p in inputs],
                create_graph=create,
                retain_graph=True,
                allow_unused=True,
            )
            return [
                (lib.zeros(tuple(pick(p).shape), dtype=lib.float64) if g is None else g * 1).contiguous() * 1
                for g, p in zip(found, inputs, strict=True)
            ]

        found = self.both(
            f"grad({', '.join(p.name for p in roots)}; {', '.join(p.name for p in inputs)}, create_graph={create})", act
        )
        if found is None:
            raise Parted
        for y, x in zip(*found, strict=True):
            assert oracle.differences(x, y) == [], self.report(f"gradient {x} instead of {y}")
        if create:
            self.keep(found)

    # ------------------------------------------------------------------------------------------------ comparing

    def compare(self) -> None:
        if any(p.theirs.is_floating_point() and bool((p.theirs.detach().abs() > 1e6).any()) for p in self.pairs):
            raise Parted  # numbers too large to be compared
        try:
            super().compare()
        except AssertionError as error:
            if ": strides" in str(error).split("\n")[0] or self.apart:
                raise Parted from None  # a result lies otherwise in memory: a matter of that operation
            raise
        for pair in self.pairs:
            theirs, ours = self._node(pair.theirs), self._node(pair.ours)
            if theirs is not None and ours is not None:
                a, b = (node.name().split("::")[-1].split("Backward")[0].lower() for node in (ours, theirs))
                assert a == b or {a, b} in SAME_NODE, self.report(
                    f"{pair.name}: made by {ours.name()} instead of {theirs.name()}"
                )
            self._compare_gradient(pair)
        found, expected = (
            sorted([entry for entry in self.heard[lib] if np.any(flat(entry[1]))], key=self._place)
            for lib in (tl, torch)
        )
        assert len(found) == len(expected), self.report(f"hooks heard {found} instead of {expected}")
        for (a, g), (b, h) in zip(found, expected, strict=True):
            if self.apart and (a, flat(g).shape) != (b, flat(h).shape):
                raise Parted
            assert a == b, self.report(f"hooks ran in another order: {found} instead of {expected}")
            same = flat(g).shape == flat(h).shape and np.allclose(flat(g), flat(h), equal_nan=True)
            assert same, self.report(f"hook {a} heard {g} instead of {h}")
        self.heard[tl].clear()
        self.heard[torch].clear()

    def _place(self, entry: Any) -> int:
        """Hooks are compared in the order they ran, but for those of leaves: which of two ready leaves is first is nobody's promise."""
        return entry[0] if entry[0] in self.leaf_hooks else -1

    def _view_without_history(self, pair: Pair) -> bool:
        """A view that may say it requires grad and has no node. In PyTorch its gradient goes nowhere; here it is a leaf."""
        if pair.theirs._is_view() and self._node(pair.theirs) is None:
            self.apart.add(pair.name)
        return pair.name in self.apart

    @staticmethod
    def _node(x: Any) -> Any:
        try:
            return x.grad_fn
        except RuntimeError:  # a view whose history is lost
            return None

    def _compare_gradient(self, pair: Pair) -> None:
        if self._view_without_history(pair):
            return
        g, h = pair.ours._grad, pair.theirs.grad
        if g is None or h is None:
            assert g is None or not g._a.any(), self.report(f"{pair.name}: a gradient that should not be: {g}")
            assert h is None or not h.any(), self.report(f"{pair.name}: no gradient instead of {h}")
        else:
            assert oracle.differences(g, h) == [], self.report(f"{pair.name}: gradient {g} instead of {h}")
            assert g.requires_grad == h.requires_grad, self.report(
                f"{pair.name}: its gradient requires grad here or there only"
            )


#: Nodes that have two names: a mask on the left of ``=`` and a reshape that is a view go other ways inside PyTorch.
SAME_NODE = [{"maskedfill", "indexput"}, {"view", "reshapealias"}, {"view", "unsafeview"}, {"maskedfill", "copyslices"}]


def flat(value: Any) -> np.ndarray:
    """Numbers of nested lists in one row; ``None`` is 0."""
    if isinstance(value, list):
        return np.concatenate([flat(v) for v in value]) if value else np.zeros(0)
    return np.array([0.0 if value is None else value], float)
