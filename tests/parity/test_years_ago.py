"""Calls of PyTorch's early years give what PyTorch still gives for them, and say how they are written today."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch

OLDER = [
    "{t}.add(x, 2, y)", "x.add(2, y)", "x.add_(-0.5, y)", "x.data.add_(-0.5, y)", "{t}.sub(x, 2, y)", "x.sub(2, y)",
    "x.sub_(2, y)", "{t}.add(x, 2, 3)", "{t}.add(x, {t}.tensor(2.0), y)", "{t}.sub(x, 2, y, out={t}.empty(3))",
    "{t}.addcmul(x, 2, y, y)", "x.addcmul(2, y, y)", "x.addcmul_(0.1, y, y)", "{t}.addcdiv(x, 2, y, y)",
    "x.addcdiv_(-0.1, y, y)", "{t}.addmm(2, m, 3, m, m)", "{t}.addmm(2, m, m, m)", "m.addmm(2, 3, m, m)",
    "m.addmm(2, m, m)", "m.addmm_(2, 3, m.clone(), m.clone())", "{t}.addmv(2, x, 3, m, y)", "{t}.addmv(2, x, m, y)",
    "x.addmv(2, 3, m, y)", "x.addmv_(2, m, y)", "{t}.addr(2, m, 3, x, y)", "{t}.addr(2, m, x, y)", "m.addr(2, x, y)",
    "m.addr_(2, 3, x, y)", "{t}.baddbmm(2, b, 3, b, b)", "b.baddbmm(2, b, b)",
    "b.baddbmm_(2, 3, b.clone(), b.clone())", "{t}.addbmm(2, m, 3, b, b)", "{t}.addbmm(2, m, b, b)",
    "m.addbmm(2, 3, b, b)", "m.addbmm_(2, b, b)",
]  # fmt: skip
REFUSED = [
    "{t}.add(2, x, y)",
    "{t}.add(x, y, y)",
    "x.add(2, y, 3)",
    "{t}.addcmul(x, 2, y, y, value=3)",
    "{t}.addmm(m, m, m, m, m)",
]


def made(library: Any, call: str) -> Any:
    numbers = {"x": [1.0, 2.0, 3.0], "y": [4.0, 5.0, 7.0], "m": [[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [0.5, 0.0, 2.0]]}
    given = {name: library.tensor(values) for name, values in numbers.items()}
    given["b"] = library.stack([given["m"], given["m"] + 1])
    return eval(call.format(t="t"), {"t": library, **given})


@pytest.mark.parametrize("call", OLDER)
def test_a_factor_may_stand_before_its_tensor_as_it_once_did(call: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = made(torch, call)
    with pytest.warns(UserWarning, match="is the order of years ago; today's is"):
        found = made(tl, call)
    assert oracle.differences(found, expected, strides=True) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", REFUSED)
def test_other_orders_stay_errors(call: str) -> None:
    for library in (torch, tl):
        with pytest.raises(TypeError):
            made(library, call)


VARIABLES = [
    "V(x)", "V(x, requires_grad=True)", "V(x, True)", "V(x, volatile=True)", "V()", "V(data=x)", "V(w)", "V(w * 2)",
    "V(w * 2, requires_grad=True)", "V(None)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:volatile was removed")
@pytest.mark.parametrize("call", VARIABLES)
def test_variable_makes_the_tensor_that_pytorch_makes(call: str) -> None:
    found, expected = (
        eval(call, {"V": t.autograd.Variable, "x": t.ones(3), "w": t.ones(2, requires_grad=True)}) for t in (tl, torch)
    )
    assert oracle.differences(found, expected) == []
    assert (found.requires_grad, found.is_leaf) == (expected.requires_grad, expected.is_leaf)


@pytest.mark.parametrize("t", [tl, torch], ids=["tensorlab", "torch"])
def test_variable_shares_memory_and_every_tensor_is_one(t: Any) -> None:
    x = t.ones(3)
    V = t.autograd.Variable
    assert V(x).data_ptr() == x.data_ptr()
    assert isinstance(x, V)
    assert isinstance(t.nn.Parameter(x), V)
    assert not isinstance(3, V)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        V([1.0])
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point"):
        V(t.tensor([1]), requires_grad=True)


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
@pytest.mark.parametrize("name", ["torch.DoubleTensor", "torch.HalfTensor", "torch.FloatTensor", "DoubleTensor"])
def test_the_default_tensor_type_is_set_by_name_or_class(name: str) -> None:
    before = tl.get_default_dtype()
    try:
        for kind in (name, getattr(tl, name.rpartition(".")[2])) if "." in name else (getattr(tl, name),):
            tl.set_default_tensor_type(kind)
            assert tl.get_default_device() == tl.device("cpu")
            assert tl.tensor(1.0).type().rpartition(".")[2] == name.rpartition(".")[2]
    finally:
        tl.set_default_dtype(before)
        tl.set_default_device(None)


@pytest.mark.parametrize("kind", ["torch.LongTensor", "nothing", "float32", None])
def test_the_default_tensor_type_is_a_floating_point_one(kind: Any) -> None:
    with pytest.raises(TypeError, match="only floating-point types"):
        tl.set_default_tensor_type(kind)
