"""Checkpointing: the same gradients from fewer values kept; both variants, inside each other, with random numbers and autocast."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import nn, optim
from tensorlab.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "placeholders"])


def block(width: int = 6) -> Any:
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(0.4), nn.Linear(width, width), nn.Sigmoid())


def gradients(model: Any, x: Any, run: Callable[[Any], Any]) -> list[Any]:
    for leaf in (x, *model.parameters()):
        leaf.grad = None
    tl.manual_seed(7)
    run(x).square().sum().backward()
    return [leaf.grad.clone() for leaf in (x, *model.parameters())]


def same(a: list[Any], b: list[Any]) -> bool:
    return all(tl.equal(x, y) for x, y in zip(a, b, strict=True))


@BOTH
def test_gradients_are_those_of_the_plain_model_dropout_included(reentrant: bool) -> None:
    model, x = block(), tl.randn(4, 6, requires_grad=True)
    plain = gradients(model, x, lambda x: model(x * 2) + x)
    after = tl.rand(1)
    checked = gradients(model, x, lambda x: checkpoint(model, x * 2, use_reentrant=reentrant) + x)
    assert same(plain, checked)
    assert tl.equal(tl.rand(1), after)  # later draws are not disturbed


@BOTH
def test_without_keeping_random_numbers_the_second_run_draws_others(reentrant: bool) -> None:
    model, x = nn.Dropout(0.5), tl.ones(200, requires_grad=True)
    y = checkpoint(lambda x: model(x).exp(), x, use_reentrant=reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not tl.equal((y == 1), (x.grad == 0))


def kept(run: Callable[[], Any]) -> int:
    """How many bytes of values the graph of a result keeps."""
    seen, todo, total = set(), [run().grad_fn], 0
    storages = set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        for _, array, _, _, storage in node.saved_facts():
            if storage not in storages:
                storages.add(storage)
                total += array.nbytes
        todo += [n for n, _ in node.next_functions]
    return total


@BOTH
def test_less_is_kept(reentrant: bool) -> None:
    x = tl.randn(100, requires_grad=True)

    def deep(x: Any) -> Any:
        for _ in range(20):
            x = (x * x).sin()
        return x

    assert kept(lambda: checkpoint(deep, x, use_reentrant=reentrant)) < kept(lambda: deep(x)) / 10


def test_what_was_computed_again_is_gone_once_it_was_used() -> None:
    alive: list[int] = []
    values: list[Any] = []

    def deep(x: Any) -> Any:
        for _ in range(6):
            x = x.exp()
            values.append(weakref.ref(x.detach().numpy()))
        return x

    x = tl.zeros(3, requires_grad=True)
    y = checkpoint(deep, x * 1, use_reentrant=False)
    values.clear()
    x.register_hook(lambda g: alive.append(sum(v() is not None for v in values)))
    y.sum().backward()
    assert len(values) == 5  # the run ended at the sixth
    assert alive == [0]


def test_parts_may_contain_parts_of_both_kinds() -> None:
    a, b, x = block(), block(), tl.randn(3, 6, requires_grad=True)
    model = nn.Sequential(a, b)
    plain = gradients(model, x, lambda x: b(a(x).sin()) * x)
    calls = []

    for outer in (True, False):
        for inner in (True, False):

            def part(x: Any, inner: bool = inner) -> Any:
                calls.append("outer")
                y = checkpoint(lambda z: (calls.append("inner"), a(z))[1], x, use_reentrant=inner).sin()
                return checkpoint(b, y, use_reentrant=inner) * x

            assert same(plain, gradients(model, x, lambda x: checkpoint(part, x, use_reentrant=outer))), (outer, inner)  # noqa: B023
    assert calls.count("outer") == 8
    assert calls.count("inner") >= 8


def test_the_second_run_ends_as_soon_as_all_is_there() -> None:
    ran = []

    def part(x: Any) -> Any:
        y = x.exp()
        ran.append("after exp")
        return y.sin() + 1, ran.append("end")

    x = tl.ones(2, requires_grad=True)
    for early, with_end in ((True, 1), (False, 2)):
        ran.clear()
        checkpoint(part, x, use_reentrant=False, early_stop=early)[0].sum().backward()
        assert ran.count("after exp") == 2
        assert ran.count("end") == with_end
    ran.clear()
    with set_checkpoint_early_stop(False):
        y = checkpoint(part, x, use_reentrant=False)[0]
    y.sum().backward()
    assert ran.count("end") == 2


def test_an_except_of_the_function_does_not_catch_the_end_of_the_second_run() -> None:
    def part(x: Any) -> Any:
        try:
            return x.exp()
        except Exception:
            return x.sin() * 100

    x = tl.zeros(2, requires_grad=True)
    checkpoint(part, x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_retained_graph_is_gone_through_again_and_grad_of_grad_works() -> None:
    x = tl.tensor([0.5, 1.5], requires_grad=True)
    y = checkpoint(lambda x: (x * x * x).sin(), x, use_reentrant=False).sum()
    expected = (x**3).sin().sum()
    for _ in range(2):
        (found,) = tl.autograd.grad(y, x, retain_graph=True)
        (want,) = tl.autograd.grad(expected, x, retain_graph=True)
        assert tl.allclose(found, want)
    (g,) = tl.autograd.grad(y, x, create_graph=True)
    (h,) = tl.autograd.grad(expected, x, create_graph=True)
    assert tl.allclose(tl.autograd.grad(g.sum(), x)[0], tl.autograd.grad(h.sum(), x)[0], rtol=1e-4)


def test_saved_values_can_be_looked_at_outside_of_a_pass() -> None:
    x = tl.tensor([1.0], requires_grad=True)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    assert tl.allclose(y.grad_fn._saved_result, y)


def test_keywords_several_results_and_other_values_go_through() -> None:
    def part(x: Any, scale: float, *, other: Any, name: str) -> Any:
        return {"a": x * other * scale, "name": name}, (x * other).exp()

    x, other = tl.ones(2, requires_grad=True), tl.full((2,), 2.0, requires_grad=True)
    found, y = checkpoint(part, x, 3.0, other=other, name="n", use_reentrant=False)
    assert found["name"] == "n"
    (found["a"].sum() + y.sum().log()).backward()
    assert x.grad.tolist() == [7, 7]
    assert other.grad.tolist() == [3.5, 3.5]
    z = tl.ones(2, requires_grad=True)
    a, b = checkpoint(lambda x, k: (x * k, x.exp()), z, 4, use_reentrant=True)
    (a.sum() + b.sum()).backward()
    assert z.grad.tolist() == pytest.approx([6.71828, 6.71828])


def test_a_model_whose_input_needs_no_gradient() -> None:
    model, x = block(), tl.randn(2, 6)
    checkpoint(model, x, use_reentrant=False).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(model, x, use_reentrant=True).requires_grad
    with tl.no_grad():
        assert not checkpoint(model, x, use_reentrant=False).requires_grad


@BOTH
def test_the_second_run_has_the_autocast_of_the_first(reentrant: bool) -> None:
    seen = []

    def part(x: Any) -> Any:
        y = x @ x
        seen.append((y.dtype, tl.is_autocast_enabled("cpu")))
        return y.exp()

    x = tl.ones(2, 2, requires_grad=True)
    with tl.autocast("cpu"):
        y = checkpoint(part, x, use_reentrant=reentrant, **({} if reentrant else {"early_stop": False}))
    y.float().sum().backward()
    assert seen == [(tl.bfloat16, True)] * 2
    assert not tl.is_autocast_enabled("cpu")
    assert x.grad.dtype is tl.float32


def test_contexts_go_around_each_run() -> None:
    log = []

    @contextmanager
    def named(name: str) -> Any:
        log.append(name)
        yield
        log.append(f"/{name}")

    x = tl.ones(1, requires_grad=True)
    y = checkpoint(
        lambda x: x.exp(),
        x,
        use_reentrant=False,
        context_fn=lambda: (named("first"), named("second")),
        early_stop=False,
    )
    assert log == ["first", "/first"]
    y.backward()
    assert log == ["first", "/first", "second", "/second"]


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_a_second_run_that_is_not_like_the_first_is_refused_with_what_differs() -> None:
    x = tl.ones(3, requires_grad=True)
    times = []

    def other_shape(x: Any) -> Any:
        times.append(1)
        return (x if len(times) % 2 else x[:2]).exp().sum()

    with pytest.raises(CheckpointError, match=r"(?s)different metadata.*position 0.*\[3\].*\[2\]") as caught:
        checkpoint(other_shape, x, use_reentrant=False).backward()
    assert "Saved in the first run" not in str(caught.value)
    with set_checkpoint_debug_enabled(True), pytest.raises(CheckpointError, match="Saved in the second run"):
        checkpoint(other_shape, x, use_reentrant=False).backward()

    def fewer(x: Any) -> Any:
        times.append(1)
        return x.exp().sin().sum() if len(times) % 2 else x.exp().sum()

    with pytest.raises(CheckpointError, match=r"different number of tensors.*\n.*forward: 2\n.*recomputation: 1"):
        checkpoint(fewer, x, use_reentrant=False).backward()


def test_an_input_that_was_written_to_is_noticed() -> None:
    x = tl.ones(2, requires_grad=True)
    y = x * 2
    z = checkpoint(lambda y: y.exp(), y, use_reentrant=False)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_an_error_of_the_second_run_is_the_users_own() -> None:
    times = []

    def part(x: Any) -> Any:
        times.append(1)
        if len(times) == 2:
            raise KeyError("the cache is gone")
        return x.exp()

    before = tl.get_rng_state()
    with pytest.raises(KeyError, match="cache is gone"):
        checkpoint(part, tl.ones(1, requires_grad=True), use_reentrant=False).backward()
    assert tl.equal(tl.get_rng_state(), before)


def test_options_that_do_not_go_together_are_refused() -> None:
    x = tl.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(lambda x: x, x)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(lambda x, scale: x, x, scale=2, use_reentrant=True)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(lambda x: x, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(lambda x: x, x, use_reentrant=False, determinism_check="maybe")
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad\(\)"):
        tl.autograd.grad(checkpoint(lambda x: x.exp(), x, use_reentrant=True), x)


def test_a_checkpoint_that_is_never_gone_through_leaves_nothing() -> None:
    big = tl.ones(10)
    gone = weakref.ref(big)
    y = checkpoint(lambda x: x.exp() * big_of(gone), tl.ones(10, requires_grad=True) * 1, use_reentrant=False)
    del y, big
    gc.collect()
    assert gone() is None


def big_of(reference: Any) -> Any:
    return reference()


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_a_sequence_in_parts_is_the_sequence(reentrant: bool, segments: int) -> None:
    model, x = block(), tl.randn(2, 6, requires_grad=True)
    plain = gradients(model, x, model)
    assert same(
        plain, gradients(model, x, lambda x: checkpoint_sequential(model, segments, x, use_reentrant=reentrant))
    )
    with pytest.raises(ValueError, match="5 functions cannot be run in 6 segments"):
        checkpoint_sequential(model, 6, x, use_reentrant=reentrant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint_sequential([tl.sin, tl.exp], 2, x, use_reentrant=reentrant)


# -------------------------------------------------------------------------------------------------------- accumulation


def test_gradients_of_parts_of_a_batch_add_up_to_those_of_the_whole() -> None:
    tl.manual_seed(0)
    model, x, y = nn.Linear(5, 1), tl.randn(12, 5), tl.randn(12, 1)
    loss = nn.functional.mse_loss
    loss(model(x), y).backward()
    whole = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    for part in range(3):
        rows = slice(4 * part, 4 * part + 4)
        (checkpoint(lambda r: loss(model(x[r]), y[r]), rows, use_reentrant=False) / 3).backward()
    assert all(tl.allclose(p.grad, g, atol=1e-6) for p, g in zip(model.parameters(), whole, strict=True))


def test_a_model_trains_the_same_with_accumulation_clipping_and_checkpoints() -> None:
    def trained(parts: int, use: Callable[..., Any]) -> list[float]:
        tl.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
        x = tl.randn(12, 4)
        y, losses = x.sum(1, keepdim=True).sin(), []
        for _ in range(20):
            optimizer.zero_grad()
            total = 0.0
            for a, b in zip(x.chunk(parts), y.chunk(parts), strict=True):
                loss = nn.functional.mse_loss(use(model, a), b) / parts
                loss.backward()
                total += loss.item()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(total)
        return losses

    once = trained(1, lambda model, x: model(x))
    assert trained(3, lambda model, x: checkpoint(model, x, use_reentrant=False)) == pytest.approx(once, rel=1e-3)
    assert once[-1] < once[0] / 2


def test_saved_values_can_wait_in_host_memory() -> None:
    x = tl.randn(3, requires_grad=True)
    with tl.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    assert tl.allclose(x.grad, x.exp() * x + x.exp())
