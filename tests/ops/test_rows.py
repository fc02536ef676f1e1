"""Every row of the op table, checked with the sample calls that the row itself declares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import dtypes
from tensorlab.ops import ROWS
from tensorlab.ops.table import BOOL, FLOAT, SAME
from tests.ops import driver
from tests.ops.references import REFERENCES

ALL = driver.names()
DIFFERENTIABLE = driver.names(differentiable=True)


def ids(value: Any) -> str:
    return str(value)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    )


@pytest.mark.parametrize(("name", "number"), [case for case in ALL if case[0] in REFERENCES], ids=ids)
def test_a_row_gives_what_numpy_gives(name: str, number: int) -> None:
    reference = REFERENCES[name]
    sample = driver.sample(name, number)
    args = driver.replaced(sample.args, iter([_Array(x) for x in sample.inputs]))
    expected = reference(*_arrays(args), **sample.kwargs)
    found = sample.run()
    for y, e in zip(found, expected if isinstance(expected, (tuple, list)) else (expected,), strict=True):
        np.testing.assert_allclose(y.detach().numpy(), e, rtol=1e-12, atol=1e-12)


class _Array:
    def __init__(self, x: Any) -> None:
        self.value = x.detach().numpy()


def _arrays(value: Any) -> Any:
    if isinstance(value, _Array):
        return value.value
    return type(value)(_arrays(item) for item in value) if type(value) in (tuple, list) else value


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=ids)
def test_gradients_of_every_order_agree_with_differences(name: str, number: int) -> None:
    driver.check_gradient(driver.sample(name, number))


@pytest.mark.parametrize("name", [n for n, row in sorted(ROWS.items()) if row.on_arrays])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gradient_worked_out_on_arrays_is_the_one_worked_out_on_tensors(name: str, dtype: Any) -> None:
    for plain, graph in zip(driver.samples(ROWS[name], dtype), driver.samples(ROWS[name], dtype), strict=True):
        ours = driver.gradients(plain, plain.inputs)
        theirs = driver.gradients(graph, graph.inputs, create_graph=True)
        assert all(same_bits(a, b) for a, b in zip(ours, theirs, strict=True)), plain


@pytest.mark.parametrize(("name", "number"), ALL, ids=ids)
def test_inputs_with_gaps_in_memory_give_the_same_results_and_gradients(name: str, number: int) -> None:
    if name in ("as_strided", "view", "view_as_complex"):
        pytest.skip("what it gives depends on how its input lies in memory")
    sample = driver.sample(name, number)
    spread = [driver.scattered(x) for x in sample.inputs]
    for y, z in zip(sample.run(), sample.run(*spread), strict=True):
        np.testing.assert_allclose(z.detach().numpy(), y.detach().numpy(), rtol=1e-14, atol=1e-14)
    for g, h in zip(driver.gradients(sample, sample.inputs), driver.gradients(sample, spread), strict=True):
        if g is not None:
            np.testing.assert_allclose(h, g, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("name", "number"), ALL, ids=ids)
def test_shapes_are_known_without_computing_and_the_cost_is_a_number(name: str, number: int) -> None:
    sample = driver.sample(name, number)
    with driver.recorded() as calls:
        sample.run()
    assert name in {call.row.name for call in calls} or sample.row.view, f"{sample} does not run its row"
    for row, inputs, attrs, outs in calls:
        given = [None if x is None else tuple(x.shape) for x in inputs]
        told = row.infer(given, **attrs)
        told = [told] if isinstance(told, tuple) else told
        assert [tuple(y.shape) for y in outs] == [tuple(shape) for shape in told], row
        cost = row.cost(given, tuple(outs[0].shape) if outs else (), **attrs)
        assert isinstance(cost, int)
        assert cost >= 0


@pytest.mark.parametrize(("name", "number"), ALL, ids=ids)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
def test_the_type_of_a_result_follows_the_row(name: str, number: int, dtype: Any) -> None:
    sample = driver.sample(name, number, dtype, requires_grad=False)
    try:
        found = sample.run()
    except RuntimeError as error:
        assert np.dtype(dtype).kind == "i" or "float16" in str(error), error
        return
    common = _common(sample) if sample.row.promotes else dtypes.bool_
    if sample.row.result == BOOL:
        assert [y.dtype for y in found] == [tl.bool]
    elif sample.row.result == FLOAT:
        assert [y.dtype for y in found] == [common if common.is_floating_point else tl.get_default_dtype()]
    elif sample.row.result == SAME:
        assert [y.dtype for y in found] == [common]


def _common(sample: driver.Sample) -> dtypes.dtype:
    """The type in which a promoting row computes: of its tensors and of the numbers beside them."""
    numbers = [
        v for v in (*sample.args, *sample.kwargs.values()) if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]
    first, *others = sample.inputs
    numbers = [] if sample.row.variadic or sample.row.results != ("result",) else numbers
    found = first.dtype
    for x in others:
        found = dtypes.meet(found, first.dim(), x.dtype, x.dim())
    for number in numbers:
        found = dtypes.meet_scalar(found, number)
    return found


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=ids)
def test_a_node_keeps_exactly_what_the_wanted_gradients_need(name: str, number: int) -> None:
    sample = driver.sample(name, number)
    count = sum(x.requires_grad for x in sample.inputs)
    for wanted in range(count):
        inputs, seen = [], 0
        for x in driver.sample(name, number).inputs:
            keep = x.requires_grad and seen == wanted
            seen += x.requires_grad
            inputs.append(x.detach().requires_grad_(keep) if x.requires_grad else x)
        with driver.recorded() as calls:
            sample.run(*inputs)
        for row, _, _, outs in calls:
            nodes = {y.grad_fn for y in outs if y.grad_fn is not None and y.grad_fn.row is row}
            for node in nodes:
                needs = row.needs if row.vjps else row.needs * len(node.edges)
                wanted_names = {
                    n for edge, names in zip(node.edges, needs, strict=True) if edge is not None for n in names
                }
                kept = {fact[0] for fact in node.saved_facts()}
                assert kept <= wanted_names, row
                assert wanted_names & {*row.params, *row.results} <= kept | _absent(node), row


def _absent(node: Any) -> set[str]:
    """Inputs that were left out of the call (``None``), of which there is nothing to keep."""
    row = node.row
    return {n for n, value in zip(row.params, node.saved or (), strict=False) if value is None}


@pytest.mark.parametrize(("name", "number"), DIFFERENTIABLE, ids=ids)
def test_float32_gradients_are_the_float64_ones_rounded(name: str, number: int) -> None:
    if name == "to_copy":
        pytest.skip("its type is an argument")
    wide, narrow = driver.sample(name, number), driver.sample(name, number, np.float32)
    for g, h in zip(driver.gradients(wide, wide.inputs), driver.gradients(narrow, narrow.inputs), strict=True):
        if g is not None:
            assert h.dtype == (np.complex64 if g.dtype.kind == "c" else np.float32)
            np.testing.assert_allclose(h, g, rtol=2e-4, atol=2e-5)
