"""autocast: which type an operation computes in, when casts are kept, and that nothing is left on."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import dispatch, modes, nn
from tensorlab.amp import custom_bwd, custom_fwd
from tensorlab.nn import functional as F


@pytest.fixture(autouse=True)
def off_before_and_after() -> Any:
    assert not tl.is_autocast_enabled("cpu")
    yield
    assert not tl.is_autocast_enabled("cpu")
    assert modes.state.autocast is None


def test_products_are_narrow_losses_wide_and_gradients_like_their_parameters() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
    x, y = tl.randn(5, 4), tl.randn(5, 2)
    with tl.autocast("cpu"):
        out = model(x)
        assert out.dtype is tl.bfloat16
        loss = F.mse_loss(out, y)
        assert loss.dtype is tl.float32
    loss.backward()
    assert all(p.dtype is tl.float32 and p.grad.dtype is tl.float32 for p in model.parameters())
    assert model(x).dtype is tl.float32


def test_float64_integers_and_writes_in_place_are_left_alone() -> None:
    a = tl.ones(2, 2)
    with tl.autocast("cpu", dtype=tl.float16):
        assert (a @ a).dtype is tl.float16
        assert (a.double() @ a.double()).dtype is tl.float64
        assert (a.long() @ a.long()).dtype is tl.int64
        assert a.addmm_(a.clone(), a.clone()).dtype is tl.float32
        assert (a + (a @ a)).dtype is tl.float32
        assert tl.cat([a, a @ a]).dtype is tl.float32


def test_inside_each_other_the_innermost_counts() -> None:
    a = tl.ones(2, 2)
    with tl.autocast("cpu"):
        with tl.autocast("cpu", enabled=False):
            assert (a @ a).dtype is tl.float32
            with tl.autocast("cpu", dtype=tl.float16):
                assert (a @ a).dtype is tl.float16
                assert tl.get_autocast_dtype("cpu") is tl.float16
            assert not tl.is_autocast_enabled("cpu")
        assert (a @ a).dtype is tl.bfloat16
    assert (a @ a).dtype is tl.float32


def test_it_decorates_functions_methods_and_generators() -> None:
    a = tl.ones(2, 2)

    @tl.autocast("cpu")
    def product() -> Any:
        return a @ a

    @tl.autocast("cpu", dtype=tl.float16)
    def products() -> Any:
        yield a @ a
        yield a @ a

    class Net(nn.Module):
        @tl.autocast("cpu")
        def forward(self, x: Any) -> Any:
            return x @ x

    assert product().dtype is tl.bfloat16
    assert product().dtype is tl.bfloat16
    assert Net()(a).dtype is tl.bfloat16
    for found in products():
        assert found.dtype is tl.float16
        assert (a @ a).dtype is tl.float32


def test_an_error_inside_turns_it_off() -> None:
    with pytest.raises(RuntimeError), tl.autocast("cpu"):
        tl.ones(2, 3) @ tl.ones(2, 3)
    assert not tl.is_autocast_enabled("cpu")


def test_off_it_costs_nothing_at_the_door() -> None:
    with tl.autocast("cpu"):
        assert dispatch.unusual
    assert not dispatch.unusual


def test_another_thread_is_not_affected() -> None:
    found = []
    a = tl.ones(2, 2)

    def other() -> None:
        found.append((tl.is_autocast_enabled("cpu"), (a @ a).dtype))

    with tl.autocast("cpu"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == [(False, tl.float32)]


def casts(loss: Any) -> int:
    """How many casts of leaves a graph has."""
    seen, todo = set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
    return sum("ToCopy" in n.name() and "AccumulateGrad" in n.next_functions[0][0].name() for n in seen)


def test_a_weight_is_cast_once_and_anew_after_it_was_written_to() -> None:
    w = tl.ones(2, 2, requires_grad=True)
    with tl.autocast("cpu"):
        loss = ((w @ w) @ w).sum()
        assert casts(loss) == 1
        with tl.no_grad():
            w.mul_(3)
        assert (w @ w)[0, 0].item() == 18
    with tl.autocast("cpu", cache_enabled=False):
        assert casts(((w @ w) @ w).sum()) == 3
    loss.backward()
    assert w.grad is not None


def test_a_cast_made_without_a_graph_is_not_used_in_one() -> None:
    w, x = tl.ones(2, 2, requires_grad=True), tl.ones(2, 2)
    with tl.autocast("cpu"):
        with tl.no_grad():
            x @ w
        (x @ w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[2, 2], [2, 2]]


def test_two_passes_inside_one_autocast_both_give_gradients() -> None:
    w = tl.ones(2, 2, requires_grad=True)
    with tl.autocast("cpu"):
        for _ in range(2):
            (w @ w).sum().backward()
    assert w.grad[0, 0].item() == 8


def test_what_it_does_not_know_is_refused_or_warned_of() -> None:
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        tl.autocast(3)
    with pytest.raises(RuntimeError, match="'cpu' and 'cuda', not 'tpu'"):
        tl.autocast("tpu")
    with pytest.raises(TypeError, match="dtype must be"):
        tl.autocast("cpu", dtype="bfloat16")
    with pytest.warns(UserWarning, match="target dtype tensorlab.float64 is not supported"):
        off = tl.autocast("cpu", dtype=tl.float64)
    with off:
        assert not tl.is_autocast_enabled("cpu")


def test_without_a_gpu_autocast_for_one_is_off_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        off = tl.autocast("cuda")
    with off:
        assert not tl.is_autocast_enabled()


def test_the_switches_one_by_one() -> None:
    a = tl.ones(2, 2)
    tl.set_autocast_enabled("cpu", True)
    try:
        assert tl.is_autocast_cpu_enabled()
        assert (a @ a).dtype is tl.bfloat16
        tl.set_autocast_dtype("cpu", tl.float16)
        assert (a @ a).dtype is tl.float16
        assert tl.get_autocast_cpu_dtype() is tl.float16
    finally:
        tl.set_autocast_dtype("cpu", tl.bfloat16)
        tl.set_autocast_enabled("cpu", False)
    assert tl.is_autocast_cache_enabled()
    tl.set_autocast_cache_enabled(False)
    assert not tl.is_autocast_cache_enabled()
    tl.set_autocast_cache_enabled(True)
    assert tl.autocast_increment_nesting() == 1
    assert tl.autocast_decrement_nesting() == 0
    tl.clear_autocast_cache()
    assert tl.get_autocast_gpu_dtype() is tl.float16
    assert tl.amp.is_autocast_available("cpu")
    assert tl.amp.is_autocast_available("cuda")


def test_every_spelling_is_the_same_thing() -> None:
    a = tl.ones(2, 2)
    for make in (tl.cpu.amp.autocast, lambda: tl.amp.autocast("cpu"), lambda: tl.autocast("cpu")):
        with make():
            assert (a @ a).dtype is tl.bfloat16
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(tl.cuda.amp.autocast(), tl.autocast)
        assert isinstance(tl.cuda.amp.GradScaler(), tl.amp.GradScaler)
    from tensorlab.cuda.amp import custom_bwd as bwd
    from tensorlab.cuda.amp import custom_fwd as fwd

    assert callable(fwd(bwd(lambda ctx: None)))


class Narrow(tl.autograd.Function):
    """A function that is told its type."""

    seen: list[Any] = []

    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=tl.float32)
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        Narrow.seen.append((x.dtype, tl.is_autocast_enabled("cpu"), (x @ w).dtype))
        return x @ w

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        Narrow.seen.append((g.dtype, tl.is_autocast_enabled("cpu")))
        return g @ w.t(), x.t() @ g


class Plain(tl.autograd.Function):
    """A function that goes with what is set."""

    seen: list[Any] = []

    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx: Any, x: Any) -> Any:
        Plain.seen.append(tl.is_autocast_enabled("cpu"))
        return x * 2

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, g: Any) -> Any:
        Plain.seen.append(tl.is_autocast_enabled("cpu"))
        return g * 2


def test_a_custom_function_gets_its_type_and_its_backward_the_setting_of_its_forward() -> None:
    x, w = tl.ones(2, 2, requires_grad=True), tl.ones(2, 2, requires_grad=True)
    with tl.autocast("cpu"):
        y = Narrow.apply(x @ w, w)
        z = Plain.apply(x)
    assert y.dtype is tl.float32
    (y.sum() + z.sum()).backward()
    assert Narrow.seen == [(tl.float32, False, tl.float32), (tl.float32, False)]
    assert Plain.seen == [True, True]
    assert x.grad.dtype is tl.float32
    Plain.apply(x).sum().backward()
    assert Plain.seen == [True, True, False, False]
