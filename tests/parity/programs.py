"""Random programs of views, writes and arithmetic, run on PyTorch and here in lock-step."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch
Call = Callable[[Any, Any], Any]  # (library, tensor) -> result


class Pair:
    """One tensor in both libraries, and how the program made it."""

    def __init__(self, ours: Any, theirs: Any, name: str) -> None:
        self.ours, self.theirs, self.name = ours, theirs, name


class Parted(Exception):
    """The two libraries differ on purpose from here on."""


class Program:
    """Makes one random step after another in both libraries and compares everything that can be seen."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log: list[str] = []
        self.leaves: list[Pair] = []
        self.pairs: list[Pair] = []
        for shape in ((2, 3), (4,), (2, 1, 3)):
            self._leaf(shape, self.random.random() < 0.6)

    def _leaf(self, shape: tuple[int, ...], requires_grad: bool) -> None:
        count = torch.Size(shape).numel()
        theirs = (torch.arange(count, dtype=torch.float64) * 0.25 + 0.5).reshape(shape)
        ours = tl.tensor(theirs.numpy())
        theirs, ours = theirs.clone().requires_grad_(requires_grad), ours.requires_grad_(requires_grad)
        pair = Pair(ours, theirs, f"leaf{list(shape)}{'g' if requires_grad else ''}")
        self.leaves.append(pair)
        self.pairs.append(pair)

    def run(self, steps: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Parted):
                for _ in range(steps):
                    self.step()
                self.backward()

    def step(self) -> None:
        """One random call on one random tensor. Both libraries must agree on whether it is allowed."""
        pair = self.random.choice(self.pairs)
        name, call = self.random.choice(self.choices())(pair)
        off = self.random.random() < 0.15
        said = f"{pair.name}.{name}{' in no_grad' if off else ''}"
        theirs = self._try(torch, call, pair.theirs, off)
        ours = self._try(tl, call, pair.ours, off)
        if isinstance(theirs, Exception) or isinstance(ours, Exception):
            self.log.append(f"{said}  -> {theirs!r:.100}")
            assert isinstance(ours, Exception), self.report(f"nothing was raised instead of {theirs!r}")
            if "more than one element" in str(ours) and not isinstance(theirs, Exception):
                raise Parted  # PyTorch writes into memory that several indexes reach unless a stride is 0; here it is refused
            assert isinstance(theirs, Exception), self.report(f"{ours!r} was raised")
            same = isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
            assert same or "modified inplace" in str(theirs), self.report(  # of two complaints, either may come first
                f"{ours!r} instead of {theirs!r}"
            )
        else:
            self.log.append(said)
            results = zip(ours, theirs, strict=True) if isinstance(theirs, (tuple, list)) else [(ours, theirs)]
            for x, y in results:
                if y is not pair.theirs and y.numel() < 60:
                    self.pairs.append(Pair(x, y, f"t{len(self.pairs)}"))
                    self.log[-1] += f"  = t{len(self.pairs) - 1}"
        self.compare()

    def _try(self, lib: Any, call: Call, x: Any, off: bool) -> Any:
        try:
            if off:
                with lib.no_grad():
                    return call(lib, x)
            return call(lib, x)
        except Exception as error:
            return error

    def report(self, what: str) -> str:
        return "\n".join([what, *self.log])

    def compare(self) -> None:
        for pair in self.pairs:
            x, y = pair.ours, pair.theirs
            assert oracle.differences(x, y) == [], self.report(f"{pair.name}: {oracle.differences(x, y)}")
            strides = [[s for s, n in zip(z.stride(), z.shape, strict=True) if n != 1] for z in (x, y)]
            assert strides[0] == strides[1], self.report(f"{pair.name}: strides {strides[0]} instead of {strides[1]}")
            for what in ("storage_offset", "is_contiguous", "_version", "requires_grad", "is_leaf"):
                a, b = self._look(x, what), self._look(y, what)
                assert a == b, self.report(f"{pair.name}: {what} is {a} instead of {b}")
            assert (x._base is None) == (y._base is None), self.report(f"{pair.name}: is a view here or there only")

    @staticmethod
    def _look(x: Any, what: str) -> Any:
        """A property, or the class of the error that asking for it raises (of views whose history is lost)."""
        try:
            found = getattr(x, what)
            return found() if callable(found) else found
        except RuntimeError as error:
            return type(error)

    def backward(self) -> None:
        """Gradients of everything computed, for all leaves."""
        roots = [p for p in self.pairs if self._look(p.theirs, "requires_grad") is True and p.theirs.numel()]
        if not roots:
            return
        outcomes = []
        for side in ("theirs", "ours"):
            try:
                sum((getattr(p, side) * (k + 1)).sum() for k, p in enumerate(roots)).backward()
                outcomes.append(None)
            except RuntimeError as error:
                outcomes.append(error)
        theirs, ours = outcomes
        self.log.append("backward()")
        if "moved into the graph interior" in str(theirs):
            raise Parted  # a leaf that is a view of a leaf: its gradient arrives here
        if "invalid gradient" in str(theirs) and ours is None:
            raise Parted  # a leaf was turned in no_grad: its views find the way to it here
        assert (ours is None) == (theirs is None), self.report(f"backward: {ours!r} instead of {theirs!r}")
        if theirs is not None:
            return
        for pair in self.leaves:
            g, h = pair.ours.grad, pair.theirs.grad
            if g is None or h is None:
                assert g is None or not g._a.any(), self.report(f"{pair.name}: a gradient that should not be")
                assert h is None or not h.any(), self.report(f"{pair.name}: no gradient instead of {h}")
            else:
                assert oracle.differences(g, h) == [], self.report(f"{pair.name}: gradient {g} instead of {h}")

    # ------------------------------------------------------------------------------------------------ what a step may be

    def choices(self) -> list[Callable[[Pair], tuple[str, Call]]]:
        return [
            self.a_view, self.a_view, self.a_write, self.a_write, self.a_write, self.arithmetic, self.a_switch, self.a_view_in_place,
        ]  # fmt: skip

    def a_view(self, pair: Pair) -> tuple[str, Call]:
        r, n = self.random, pair.theirs.dim()
        d, e = (r.randrange(-n, n) if n else 0 for _ in range(2))
        size = pair.theirs.shape[d] if n else 1
        i, j = r.randrange(size + 1), r.randrange(size + 1)
        step = r.choice([1, 1, 2])
        order = r.sample(range(n), n)
        options: list[tuple[str, Call]] = [
            (f"transpose({d}, {e})", lambda lib, x: x.transpose(d, e)),
            (f"permute({order})", lambda lib, x: x.permute(order)),
            (f"select({d}, {i})", lambda lib, x: x.select(d, i)),
            (f"narrow({d}, {min(i, j)}, {abs(i - j)})", lambda lib, x: x.narrow(d, min(i, j), abs(i - j))),
            (f"[{i}:{j}:{step}]", lambda lib, x: x[i:j:step]),
            ("view(-1)", lambda lib, x: x.view(-1)),
            ("reshape(-1)", lambda lib, x: x.reshape(-1)),
            ("flatten()", lambda lib, x: x.flatten()),
            (f"unsqueeze({d})", lambda lib, x: x.unsqueeze(d)),
            ("squeeze()", lambda lib, x: x.squeeze()),
            (f"squeeze({d})", lambda lib, x: x.squeeze(d)),
            ("t()", lambda lib, x: x.t()),
            ("diagonal()", lambda lib, x: x.diagonal()),
            (f"expand(2, {list(pair.theirs.shape)})", lambda lib, x: x.expand(2, *x.shape)),
            (f"unfold({d}, 2, 1)", lambda lib, x: x.unfold(d, 2, 1)),
            (f"split(1, {d})", lambda lib, x: x.split(1, d)),
            (f"unbind({d})", lambda lib, x: x.unbind(d)),
            ("as_strided((2, 2), (1, 1), 0)", lambda lib, x: x.as_strided((2, 2), (1, 1), 0)),
            ("detach()", lambda lib, x: x.detach()),
            ("[None, ..., 0]", lambda lib, x: x[None, ..., 0]),
            ("view_as(itself)", lambda lib, x: x.view_as(x)),
        ]
        return r.choice(options)

    def a_write(self, pair: Pair) -> tuple[str, Call]:
        r = self.random
        other = r.choice([p for p in self.pairs if self._apart(p, pair)] or self.pairs)
        picked: Call = lambda lib, x: other.ours if lib is tl else other.theirs  # noqa: E731
        options: list[tuple[str, Call]] = [
            ("mul_(1.5)", lambda lib, x: x.mul_(1.5)),
            ("add_(1)", lambda lib, x: x.add_(1)),
            (f"add_({other.name})", lambda lib, x: x.add_(picked(lib, x))),
            (f"mul_({other.name})", lambda lib, x: x.mul_(picked(lib, x))),
            (f"copy_({other.name})", lambda lib, x: x.copy_(picked(lib, x))),
            ("zero_()", lambda lib, x: x.zero_()),
            ("fill_(0.5)", lambda lib, x: x.fill_(0.5)),
            ("sigmoid_()", lambda lib, x: x.sigmoid_()),
            ("clamp_(0.2, 0.9)", lambda lib, x: x.clamp_(0.2, 0.9)),
            ("[0] = 2", lambda lib, x: self._set(x, 0, 2.0)),
            (f"[..., 0] = {other.name}", lambda lib, x: self._set(x, (..., 0), picked(lib, x))),
            ("[x > 0.6] = 0.1", lambda lib, x: self._set(x, x > 0.6, 0.1)),
            ("masked_fill_(x > 1, 0.3)", lambda lib, x: x.masked_fill_(x > 1, 0.3)),
        ]
        if pair.theirs.dim() and pair.theirs.shape[0]:
            options.append(("[[0, -1]] = 0.7", lambda lib, x: self._set(x, [0, -1], 0.7)))
        return r.choice(options)

    @staticmethod
    def _apart(a: Pair, b: Pair) -> bool:
        """Whether two tensors share no storage. (PyTorch cannot differentiate ``x.mul_(x)``; here it works.)"""
        return a.theirs.untyped_storage().data_ptr() != b.theirs.untyped_storage().data_ptr()

    @staticmethod
    def _set(x: Any, key: Any, value: Any) -> Any:
        x[key] = value
        return x

    def a_view_in_place(self, pair: Pair) -> tuple[str, Call]:
        r, n = self.random, pair.theirs.dim()
        d, e = (r.randrange(-n, n) if n else 0 for _ in range(2))
        options: list[tuple[str, Call]] = [
            ("t_()", lambda lib, x: x.t_()),
            (f"transpose_({d}, {e})", lambda lib, x: x.transpose_(d, e)),
            (f"unsqueeze_({d})", lambda lib, x: x.unsqueeze_(d)),
            ("squeeze_()", lambda lib, x: x.squeeze_()),
            (f"squeeze_({d})", lambda lib, x: x.squeeze_(d)),
            (f"swapaxes_({d}, {e})", lambda lib, x: x.swapaxes_(d, e)),
        ]
        return r.choice(options)

    def arithmetic(self, pair: Pair) -> tuple[str, Call]:
        other = self.random.choice(self.pairs)
        options: list[tuple[str, Call]] = [
            ("mul itself", lambda lib, x: x * x),
            ("sigmoid()", lambda lib, x: x.sigmoid()),
            ("sum(0)", lambda lib, x: x.sum(0)),
            ("clone()", lambda lib, x: x.clone()),
            ("contiguous()", lambda lib, x: x.contiguous()),
            (f"add {other.name}", lambda lib, x: x + (other.ours if lib is tl else other.theirs)),
            (f"mul {other.name}", lambda lib, x: x * (other.ours if lib is tl else other.theirs)),
            ("times 2", lambda lib, x: x * 2),
        ]
        return self.random.choice(options)

    def a_switch(self, pair: Pair) -> tuple[str, Call]:
        options: list[tuple[str, Call]] = [
            ("requires_grad_()", lambda lib, x: x.requires_grad_()),
            ("requires_grad_(False)", lambda lib, x: x.requires_grad_(False)),
            ("detach_()", lambda lib, x: x.detach_()),
        ]
        return self.random.choice(options)
