"""Random calls over the whole public surface: whatever is given, a call returns or says what is wrong, and nothing is left half done."""

from __future__ import annotations

import faulthandler
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.tensor import calls

COUNT = 2000
SECONDS = 20  # what one call may take before it counts as hanging, on a machine that others use too
#: What a wrong call may raise. ``BufferError`` is the DLPack protocol's word for memory that is not shared.
ORDINARY = (
    RuntimeError, TypeError, ValueError, IndexError, MemoryError, OverflowError, AttributeError, BufferError,
)  # fmt: skip
MEMORY = 6 << 30

#: What NumPy or the interpreter would say of its own inner workings.
INNER = re.compile(
    r"zip\(\) argument|array is too big|inhomogeneous|output array is read-only|ufunc '|broadcast input array"
)


def snapshot(x: Any) -> tuple[Any, ...]:
    """All that can be seen of a tensor."""
    return x._a.tobytes(), x.shape, x.stride(), x.dtype, x._version, x.requires_grad


def checked(call: calls.Call) -> str | None:
    """What is wrong with how a call ends; ``None`` where nothing is."""
    first = calls.make(tl, call.args[0]) if call.args else None
    args = [first, *(calls.make(tl, x, first) for x in call.args[1:])] if call.args else []
    kwargs = {name: calls.make(tl, value, first) for name, value in call.kwargs.items()}
    given = list(calls.tensors_in(tl, (args, kwargs)))
    before = [snapshot(x) for x in given]
    try:
        found = getattr(calls.reach(tl, call.where), call.name)(*args, **kwargs)
    except ORDINARY as error:
        if [snapshot(x) for x in given] != before:
            return f"a tensor was written to before {error!r}"
        if not str(error).strip() or INNER.search(str(error)):
            return f"{error!r} says nothing to a user"
        return None
    except Exception as error:
        return f"raised {error!r}"
    for x in calls.tensors_in(tl, found):
        if not isinstance(x._a, np.ndarray) or x.dtype.np != x._a.dtype:
            return f"returned a tensor of {type(x._a).__name__}"
    written = call.name.endswith("_") or "out" in kwargs or kwargs.get("inplace") or call.name.startswith("__i")
    if not written and call.name != "__setitem__" and [snapshot(x) for x in given] != before:
        return "changed an argument" if not call.name.startswith(KEEPS_TRACK) else None
    return None


#: Functions that write to an argument as PyTorch's do: running statistics, or positional ``inplace``.
KEEPS_TRACK = tuple(
    "batch_norm instance_norm native_batch_norm dropout alpha_dropout feature_alpha_dropout feature_dropout dropout1d dropout2d dropout3d "
    "relu relu6 elu selu celu leaky_relu rrelu hardtanh hardswish hardsigmoid silu mish threshold embedding requires_grad backward "
    "retain_grad register_hook register_post_accumulate_grad_hook share_memory_ set_ map2_ data".split()
)


def run(first: int, count: int) -> None:
    """Make calls in this process, which ends with a traceback where one hangs; say what is wrong with each."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError):
        pass  # no such limit here: what is too large still is
    faulthandler.enable()
    warnings.simplefilter("ignore")
    places = calls.surface(tl)
    for number in range(first, first + count):
        call = calls.draw(places, tl, number)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        sys.stdout.write(
            f"{number} {call}\n" if (wrong := checked(call)) is None else f"WRONG {number} {wrong}: {call}\n"
        )
        sys.stdout.flush()
        faulthandler.cancel_dump_traceback_later()
    print("done")


def test_random_calls_return_or_explain_themselves_and_leave_nothing_half_written() -> None:
    command = f"from tests.tensor import test_fuzz; test_fuzz.run(0, {COUNT})"
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=root, timeout=240)
    lines = ended.stdout.splitlines()
    assert lines[-1:] == ["done"], f"after {lines[-1:]}: {ended.stderr[-2000:]}"
    assert [line for line in lines if line.startswith("WRONG")] == []


def test_the_same_number_draws_the_same_call() -> None:
    places = calls.surface(tl)
    assert [str(calls.draw(places, tl, n)) for n in range(50)] == [str(calls.draw(places, tl, n)) for n in range(50)]
    assert len(places) > 1000


# --------------------------------------------------------------------------------------------------- what calls found


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tl.zeros(2**62),
        lambda: tl.eye(2**40),
        lambda: tl.linspace(0, 1, 2**62),
        lambda: tl.randint(5, (2**62, 2**62)),
        lambda: tl.randperm(2**62),
        lambda: tl.ones(3).expand(2**62, 3),
        lambda: tl.ones(3).repeat(2**62),
        lambda: tl.ones(3).resize_(2**62),
        lambda: tl.nn.functional.pad(tl.ones(3), (2**62, 0)),
        lambda: tl.combinations(tl.arange(1000), 50),
        lambda: tl.bincount(tl.tensor([2**62])),
        lambda: tl.diag_embed(tl.ones(3), 2**62),
        lambda: tl.hann_window(2**62),
        lambda: tl.fft.fftfreq(2**62),
    ],
)
def test_sizes_that_no_memory_holds_are_refused_at_once(ask: Any) -> None:
    with pytest.raises(tl.OutOfMemoryError, match="not enough memory") as refused:
        ask()
    assert isinstance(refused.value, MemoryError)
    assert isinstance(refused.value, RuntimeError)


def test_a_tensor_that_cannot_be_resized_keeps_its_values() -> None:
    x = tl.ones(3)
    with pytest.raises(MemoryError):
        x.resize_(2**62)
    assert x.shape == (3,)
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert x._version == 0


def test_out_is_written_whole_or_not_at_all() -> None:
    x = tl.tensor([[3.0, 1.0], [2.0, 4.0]])
    values, wrong = tl.zeros(2, 2), tl.zeros(2, 2, dtype=tl.bool)
    with pytest.raises(RuntimeError, match="can't be cast"):
        tl.sort(x, out=(values, wrong))
    with pytest.raises(TypeError, match="must be a tuple of 2 Tensors, not Tensor"):
        tl.sort(x, out=values)
    with pytest.raises(TypeError, match="must be Tensor, not tuple"):
        tl.exp(x, out=(values, values))
    assert values.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert values._version == 0


def test_out_that_overlaps_the_input_gets_the_right_values() -> None:
    x = tl.arange(4.0)
    tl.exp(x[:-1], out=x[1:])
    assert tl.allclose(x, tl.tensor([0.0, 0.0, 1.0, 2.0]).exp() * tl.tensor([0.0, 1.0, 1.0, 1.0]))


def test_comparisons_in_place_cut_the_history_and_give_zero_gradients() -> None:
    for name in ("le_", "floor_divide_", "logical_and_"):
        a = tl.tensor([1.0, 2.0], requires_grad=True)
        x = a * 1
        getattr(x, name)(tl.tensor([1.0, 3.0]))
        x.sum().backward()
        assert a.grad.tolist() == [0.0, 0.0]


def test_degrees_of_polynomials_that_would_take_for_ever_are_refused() -> None:
    with pytest.raises(RuntimeError, match="degrees of polynomials go up to"):
        tl.special.hermite_polynomial_h(tl.ones(2), 2**40)


def test_wrong_types_name_the_function_and_what_was_given() -> None:
    with pytest.raises(TypeError, match=r"mvlgamma\(\).*p: complex"):
        tl.mvlgamma(tl.ones(2), 1j)


def test_none_beside_an_empty_tensor_is_refused_like_beside_a_full_one() -> None:
    for x in (tl.ones(0), tl.ones(2)):
        for call in (tl.mul, tl.Tensor.mul_, tl.atan2):
            with pytest.raises(TypeError, match="must be Tensor or a number, not NoneType"):
                call(x, None)


def test_draws_name_the_argument_that_is_no_number() -> None:
    for name, draw in (("p", lambda: tl.bernoulli(tl.ones(2), "half")), ("mean", lambda: tl.normal("x", size=2))):
        with pytest.raises(TypeError, match=f"argument '{name}'.*must be Number, not str"):
            draw()
    with pytest.raises(TypeError, match="must be a real number, not complex"):
        tl.ones(2).exponential_(1j)


def test_numbers_of_parts_that_would_take_for_ever_are_refused() -> None:
    for cut in (tl.chunk, tl.tensor_split):
        with pytest.raises(RuntimeError, match="are the most"):
            cut(tl.ones(0), 2**40)
