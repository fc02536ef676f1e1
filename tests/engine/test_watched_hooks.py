"""What is known of hooks: where each was registered and taken off, and what those who watch are told when it is called."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn, taps
from tensorlab.engine import sites
from tensorlab.engine.hooks import registration, removed_from


def look(*given: Any) -> None: ...


def test_a_table_knows_the_line_where_each_hook_was_registered() -> None:
    layer = nn.Linear(1, 1)
    handle = layer.register_forward_hook(look)
    made = registration(layer._forward_hooks, handle.id)
    assert made is not None
    place = sites.resolve(made.site)
    assert place.file == __file__
    assert "register_forward_hook(look)" in place.code
    assert made.handle() is handle


def test_a_hook_that_was_removed_is_remembered_with_its_line_and_not_kept_alive() -> None:
    class Hook:
        def __call__(self, *given: Any) -> None: ...

    layer, hook = nn.Linear(1, 1), Hook()
    known = weakref.ref(hook)
    layer.register_forward_hook(hook).remove()
    (gone,) = removed_from(layer._forward_hooks)
    assert gone.name == "Hook"
    assert ".remove()" in sites.resolve(gone.site).code
    del hook
    gc.collect()
    assert known() is None
    for _ in range(20):
        layer.register_forward_hook(look).remove()
    assert len(removed_from(layer._forward_hooks)) == 4


def test_a_copy_of_a_module_knows_where_its_hooks_came_from_and_a_file_does_not() -> None:
    layer = nn.Linear(1, 1)
    handle = layer.register_forward_hook(look)
    copied = copy.deepcopy(layer)
    assert registration(copied._forward_hooks, handle.id) is not None
    read = pickle.loads(pickle.dumps(layer))
    assert list(read._forward_hooks.values()) == [look]
    assert registration(read._forward_hooks, handle.id) is None
    read.register_forward_hook(look)
    assert len(read._forward_hooks) == 2


def test_who_watches_is_told_of_every_kind_of_hook_before_and_after_it_is_called() -> None:
    log: list[str] = []

    def tap(kind: str, owner: Any, number: int, hook: Any, given: Any) -> Any:
        log.append(kind)
        return lambda found, error: log.append(f"{kind} came back with {type(error or found).__name__}")

    model = nn.Sequential(nn.Linear(1, 1))
    optimizer = tl.optim.SGD(model.parameters(), lr=0.1)
    model.register_forward_pre_hook(look)
    model.register_forward_hook(look)
    model.register_full_backward_pre_hook(look)
    model.register_full_backward_hook(look)
    model.register_state_dict_pre_hook(look)
    optimizer.register_step_pre_hook(look)
    optimizer.register_step_post_hook(look)
    model[0].weight.register_hook(look)
    model[0].weight.register_post_accumulate_grad_hook(look)
    undo = taps.watch_hooks(tap)
    out = model(tl.ones(1, 1, requires_grad=True))
    out.register_hook(lambda g: g * 2)
    out.sum().backward()
    optimizer.step()
    model.state_dict()
    undo()
    model(tl.ones(1, 1))
    named = [line for line in log if "came back" not in line and line != "node"]
    assert named == [
        "forward pre", "forward", "tensor", "backward pre", "tensor", "post accumulate", "backward", "step pre", "step",
        "state_dict pre",
    ]  # fmt: skip
    assert log.count("tensor came back with Tensor") == 1


def test_what_a_watched_hook_raises_reaches_the_caller_as_ever() -> None:
    seen: list[BaseException] = []

    def bad(g: tl.Tensor) -> None:
        raise KeyError("mine")

    x = tl.ones(1, requires_grad=True)
    x.register_hook(bad)
    undo = taps.watch_hooks(lambda *told: lambda found, error: seen.append(error))
    with pytest.raises(KeyError, match="mine"):
        (x * 2).sum().backward()
    undo()
    assert isinstance(seen[0], KeyError)
