"""Checkpointing: a part of a model that keeps its inputs only, and is computed again when backward needs what it would have kept.

``use_reentrant=False`` works with everything autograd does: what the part would save is replaced by placeholders, and the first
one that is asked for computes all of them. ``use_reentrant=True`` runs a backward pass inside the backward pass, as PyTorch's first
version did, and with its limits. Source of the idea: Chen and others, "Training Deep Nets with Sublinear Memory Cost", 2016.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from tensorlab import autograd, creation, modes, random
from tensorlab.autograd.function import Function
from tensorlab.autograd.graph import saved_tensors_hooks
from tensorlab.functional import autocasting
from tensorlab.modes import state
from tensorlab.nn.modules.container import Sequential
from tensorlab.tensor import Tensor

__all__ = [
    "CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed part was not like the first."""


class _Settings:
    early_stop: bool | None = None
    debug: bool | None = None


_settings = _Settings()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether checkpoints made inside stop computing again once they have all that is needed, whatever they say themselves."""
    before, _settings.early_stop = _settings.early_stop, enable
    try:
        yield
    finally:
        _settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether errors of checkpoints used inside list everything that both runs saved, whatever the checkpoints say themselves."""
    before, _settings.debug = _settings.debug, enabled
    try:
        yield
    finally:
        _settings.debug = before


def noop_context_fn() -> Contexts:
    """The default of ``context_fn``: nothing around either run."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, keeping for backward the arguments and nothing that is computed in between.

    The second run draws the same random numbers (``preserve_rng_state``), under the same autocast, and ends as soon as all is there
    that is needed (``early_stop``). ``context_fn()`` gives two contexts, for the first and for the second run. With
    ``determinism_check="default"`` both runs must save tensors of the same shapes, types and devices, else ``CheckpointError``;
    ``"none"`` checks only that enough are saved. ``debug=True`` lists them all in that error.

    >>> import tensorlab as tl
    >>> from tensorlab.utils.checkpoint import checkpoint
    >>> x = tl.ones(2, requires_grad=True)
    >>> checkpoint(lambda x: (x * 3).exp(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([60.2566, 60.2566])
    """
    if use_reentrant is None:
        use_reentrant = _not_said("checkpoint")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got: {determinism_check}")
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {','.join(kwargs)}; with use_reentrant=True a function takes positional arguments only"
            )
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return _reentrant(function, preserve_rng_state, args)
    around, around_again = context_fn()
    if not modes.is_grad_enabled():
        with around:
            return function(*args, **kwargs)
    stop = early_stop if _settings.early_stop is None else _settings.early_stop
    again = _Again(function, args, kwargs, around_again, preserve_rng_state)
    frame = _Frame(again, stop, determinism_check, debug)
    with saved_tensors_hooks(frame.pack, _unpack), around:
        return function(*args, **kwargs)


def _not_said(name: str) -> bool:
    warnings.warn(
        f"{name}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; left out, it is True, as "
        "in PyTorch.",
        stacklevel=3,
    )
    return True


# ------------------------------------------------------------------------------------------------------- as it was before


class _Surroundings:
    """The random numbers and the autocast that there were when this was made, for a second run."""

    def __init__(self, numbers: bool) -> None:
        self.numbers = random.get_rng_state() if numbers else None
        setting = autocasting.thread
        self.autocast = (dict(setting.enabled), dict(setting.dtype), setting.cache_enabled)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Inside, all is as it was; afterwards, as it is now."""
        now = _Surroundings(self.numbers is not None)
        self._set()
        autocasting.thread.nesting += 1
        try:
            yield
        finally:
            autocasting.thread.nesting -= 1
            if autocasting.thread.nesting == 0:
                autocasting.thread.cache.clear()
            now._set()

    def _set(self) -> None:
        if self.numbers is not None:
            random.set_rng_state(self.numbers)
        setting = autocasting.thread
        enabled, dtype, setting.cache_enabled = self.autocast
        setting.enabled, setting.dtype = dict(enabled), dict(dtype)
        autocasting.apply()


# ------------------------------------------------------------------------------------------------- placeholders, not values


class _Inputs(Function):
    """Keeps tensors as a node keeps what it saves: versions are checked, and an outer checkpoint sees them."""

    @staticmethod
    def forward(ctx: Any, marker: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return creation.empty(0)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        raise AssertionError("nothing depends on this node")


class _Again:
    """A call that can be made a second time."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        around: AbstractContextManager[Any],
        preserve: bool,
    ) -> None:
        self.function, self.around = function, around
        self.surroundings = _Surroundings(preserve)
        self.names = list(kwargs)
        values = [*args, *kwargs.values()]
        tensors = [x for x in values if isinstance(x, Tensor)]
        self.others = [None if isinstance(x, Tensor) else (x,) for x in values]
        self.node = _Inputs.apply(creation.empty(0, requires_grad=True), *tensors).grad_fn

    def __call__(self) -> None:
        tensors = iter(self.node.saved_tensors)
        values = [next(tensors) if other is None else other[0] for other in self.others]
        count = len(values) - len(self.names)
        with self.surroundings.restored(), self.around:
            self.function(*values[:count], **dict(zip(self.names, values[count:], strict=True)))


class _Holder:
    """Stands for the ``index``-th value that a checkpointed part would have saved."""

    __slots__ = ("frame", "index", "__weakref__")

    def __init__(self, frame: _Frame, index: int) -> None:
        self.frame, self.index = frame, index


class _Stop(BaseException):
    """Ends the second run of a frame, which has all that it needs. No error: nobody's ``except Exception`` is to catch it."""

    def __init__(self, frame: _Frame) -> None:
        super().__init__("a checkpointed part has all that it needs")
        self.frame = frame


class _Frame:
    """One call of ``checkpoint``: what its first run would have saved, and what its second run gives for a backward pass."""

    def __init__(self, again: _Again, early_stop: bool, check: str, debug: bool) -> None:
        self.again, self.early_stop, self.check, self.debug = again, early_stop, check, debug
        self.holders: list[weakref.ref[_Holder]] = []
        self.facts: list[Any] = []  # shape, type and device of each value
        self.passes: Any = weakref.WeakKeyDictionary()  # backward pass -> {holder: value}, while both are there

    def pack(self, x: Tensor) -> _Holder:
        """The placeholder of a value."""
        holder = _Holder(self, len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.facts.append(_facts(x))
        return holder

    def value(self, holder: _Holder) -> Tensor:
        """What a placeholder stands for; computes all of them the first time that a backward pass asks."""
        run = state.run
        known = None if run is None else self.passes.get(run)
        if known is None:
            known = self.compute()
            if run is not None:
                self.passes[run] = known
        return known[holder]

    def compute(self) -> Any:
        """Run the part again, and keep what it saves for those placeholders that are still there."""
        found: Any = weakref.WeakKeyDictionary()
        saved: list[Any] = []

        def pack(x: Tensor) -> Tensor:
            index = len(saved)
            saved.append(_facts(x))
            holder = self.holders[index]() if index < len(self.holders) else None
            if holder is not None:
                found[holder] = x
            if self.early_stop and index + 1 == len(self.holders):
                raise _Stop(self)
            return x

        try:
            with saved_tensors_hooks(pack, lambda x: x), modes.enable_grad():
                self.again()
        except _Stop as stop:
            if stop.frame is not self:
                raise
        self._compare(saved)
        return found

    def _compare(self, saved: list[Any]) -> None:
        """Raise ``CheckpointError`` unless the second run was like the first."""
        if len(saved) != len(self.facts):
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.facts)}\n"
                f"Number of tensors saved during recomputation: {len(saved)}." + self._listing(saved)
            )
        if self.check == "none":
            return
        wrong = [
            f"tensor at position {i}:\nsaved metadata: {_words(first)}\nrecomputed metadata: {_words(second)}"
            for i, (first, second) in enumerate(zip(self.facts, saved, strict=True))
            if first != second
        ]
        if wrong:
            raise CheckpointError(
                "checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                + "\n".join(wrong)
                + "\nThe function must do the same both times: it may not depend on what changed in between."
                + self._listing(saved)
            )

    def _listing(self, saved: list[Any]) -> str:
        """Everything that both runs saved, if that is asked for."""
        if not (self.debug if _settings.debug is None else _settings.debug):
            return ""
        first, second = ("\n".join(f"  {i}: {_words(f)}" for i, f in enumerate(facts)) for facts in (self.facts, saved))
        return f"\nSaved in the first run:\n{first}\nSaved in the second run:\n{second}"


def _unpack(holder: _Holder) -> Tensor:
    return holder.frame.value(holder)


def _facts(x: Tensor) -> tuple[Any, ...]:
    return tuple(x.shape), x.dtype, str(x.device)


def _words(facts: tuple[Any, ...]) -> str:
    return f"{{'shape': {list(facts[0])}, 'dtype': {facts[1]}, 'device': {facts[2]}}}"


# --------------------------------------------------------------------------------------------- a pass inside the pass


def _reentrant(function: Callable[..., Any], preserve: bool, args: tuple[Any, ...]) -> Any:
    if modes.is_grad_enabled() and not any(isinstance(x, Tensor) and x.requires_grad for x in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)
    return _Reentrant.apply(function, _Surroundings(preserve), *args)


class _Reentrant(Function):
    """Runs a function without a graph, and in backward with one, which it goes through at once."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], surroundings: _Surroundings, *args: Any) -> Any:
        ctx.function, ctx.surroundings = function, surroundings
        ctx.others = [None if isinstance(x, Tensor) else (x,) for x in args]
        ctx.save_for_backward(*[x for x in args if isinstance(x, Tensor)])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if state.run is not None and state.run._needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(): the "
                "pass inside would fill .grad of all leaves. Use use_reentrant=False."
            )
        kept = iter(ctx.saved_tensors)
        values = [_leaf(next(kept)) if other is None else other[0] for other in ctx.others]
        with ctx.surroundings.restored(), modes.enable_grad():
            outputs = ctx.function(*values)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        wanted = [
            (x, g)
            for x, g in zip(outputs, gradients, strict=True)
            if isinstance(x, Tensor) and x.requires_grad and g is not None
        ]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([x for x, _ in wanted], [g for _, g in wanted])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in values])


def _leaf(x: Tensor) -> Tensor:
    return x.detach().requires_grad_(x.requires_grad)


# ---------------------------------------------------------------------------------------------------------- sequences


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A sequence of modules or functions in ``segments`` checkpointed parts; the last part is run as it is.

    Raises ``ValueError`` for fewer than one part, or more than there are functions.
    """
    if use_reentrant is None:
        use_reentrant = _not_said("checkpoint_sequential")
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    steps = list(functions.children()) if isinstance(functions, Sequential) else list(functions)
    if not 1 <= segments <= max(len(steps), 1):
        raise ValueError(f"{len(steps)} functions cannot be run in {segments} segments")
    size = len(steps) // segments
    for part in range(segments - 1):
        run = _chain(steps[part * size : (part + 1) * size])
        input = checkpoint(run, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chain(steps[(segments - 1) * size :])(input)


def _chain(steps: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return run
