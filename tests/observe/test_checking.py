"""A node's backward beside finite differences of its forward: right ones agree, wrong ones are named, and what cannot be told is told."""

from __future__ import annotations

import json

import pytest

import tensorlab as tl
from tensorlab.engine.node import AccumulateGrad
from tensorlab.observe import wire
from tensorlab.observe.checking import check
from tensorlab.observe.schema_asking import Check
from tensorlab.observe.session import StepSession
from tensorlab.observe.snapshot import reachable
from tensorlab.ops import ROWS
from tests.ops.driver import Samples, public


def checks(loss) -> dict[str, Check]:
    session = StepSession(loss)
    return {node.name(): session.check(node.seq) for node in session.walk.nodes}


class Cube(tl.autograd.Function):
    """Right, unless ``wrong``."""

    @staticmethod
    def forward(ctx, x, factor, wrong):
        ctx.save_for_backward(x)
        ctx.factor, ctx.wrong = factor, wrong
        return factor * x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (2 if ctx.wrong else 3) * ctx.factor * x**2, None, None


class Exp(tl.autograd.Function):
    """Written without a context, and its input is not saved."""

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


def test_every_operation_in_the_table_agrees_with_its_forward_or_says_why_it_was_not_checked():
    agreed, refused = 0, []
    for row in list(ROWS.values()):
        for arguments, options in row.samples(Samples("float32"))[:1]:
            try:
                result = public(row)(*arguments, **options)
            except Exception:  # not every sample is meant for float32
                continue
            result = result[0] if isinstance(result, tuple | list) else result
            if not isinstance(result, tl.Tensor) or not result.requires_grad:
                continue
            nodes = [node for node in reachable([result.grad_fn]) if type(node) is not AccumulateGrad]
            found = check(
                result.grad_fn,
                lambda node, nodes=nodes: [n for n in nodes if any(e is not None and e[0] is node for e in n.edges)],
                row.name,
            )
            assert found.agrees or not found.done, found.sentence
            agreed += found.done
            if not found.done:
                refused.append(found.sentence)
    assert agreed > 250
    assert len(refused) < 30
    assert all("was not checked: " in sentence for sentence in refused)


def test_a_function_with_a_wrong_backward_is_named_with_its_largest_error():
    x = tl.tensor([0.01, 3.0, -0.01], requires_grad=True)
    right = checks(Cube.apply(x, 2.0, False).sum())["CubeBackward"]
    assert right.agrees
    assert "Its forward ran again for this" in right.sentence
    wrong = checks(Cube.apply(x, 2.0, True).sum())["CubeBackward"]
    assert wrong.done
    assert not wrong.agrees
    (row,) = wrong.inputs
    assert row.relative == pytest.approx(1 / 3, rel=1e-3)
    assert row.index == "[1]"
    assert row.backward / row.difference == pytest.approx(2 / 3, rel=1e-3)
    assert "disagrees with its forward for grad of input 0" in wrong.sentence


def test_a_function_whose_input_nobody_kept_is_checked_at_drawn_values_and_says_so():
    x = tl.ones(3, requires_grad=True)
    found = checks(Exp.apply(x * 2 + 1).sum())["ExpBackward"]
    assert found.agrees
    assert "the formula was checked, not this point" in found.sentence


def test_an_argument_that_cannot_be_known_is_named():
    class Scaled(tl.autograd.Function):
        @staticmethod
        def forward(ctx, x, how):
            return x * how["by"]

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    x = tl.ones(3, requires_grad=True)
    found = checks(Scaled.apply(x, {"by": 2}).sum())["ScaledBackward"]
    assert not found.done
    assert "argument 1 of its forward is a value that was not kept" in found.sentence


def test_a_forward_that_draws_is_not_compared():
    class Noise(tl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + tl.randn(3)

        @staticmethod
        def backward(ctx, grad):
            return grad

    found = checks(Noise.apply(tl.ones(3, requires_grad=True)).sum())["NoiseBackward"]
    assert "another result each time" in found.sentence


def test_values_that_nobody_saved_are_worked_out_again():
    x = tl.tensor([0.3, -0.8], requires_grad=True)
    found = checks((x * x).tanh().sum())
    assert found["TanhBackward0"].agrees
    assert "drawn" not in found["TanhBackward0"].sentence
    assert "drawn" not in found["SumBackward0"].sentence


def test_a_kink_is_no_mistake():
    x = tl.tensor([0.0, 1.0, -1.0], requires_grad=True)
    assert checks(x.relu().sum())["ReluBackward0"].agrees
    assert checks(x.abs().sum())["AbsBackward0"].agrees


def test_leaves_freed_nodes_complex_numbers_and_nan_say_why_not():
    x = tl.ones(2, requires_grad=True)
    assert "adds what arrives" in checks((x * 2).sum())["AccumulateGrad"].sentence
    z = tl.ones(2, dtype=tl.complex64, requires_grad=True)
    assert "complex numbers" in checks(z.exp().abs().sum())["ExpBackward0"].sentence
    bad = tl.tensor([1.0, float("nan")], requires_grad=True)
    assert "NaN" in checks(bad.exp().sum())["ExpBackward0"].sentence
    y = x.exp()
    y.sum().backward()
    freed = check(y.grad_fn, lambda node: (), "y")
    assert "freed by a backward" in freed.sentence


def test_a_check_changes_nothing_and_travels_as_a_document(net):
    session = StepSession(net["loss"])
    session.ask("next")
    before = session.state()
    found = session.ask("check", node=net["h"].grad_fn.seq)
    json.dumps(found, allow_nan=False)
    assert wire.from_json(Check, found).agrees
    assert session.state() == before
    assert net["w"].grad is None


def test_a_function_keeps_no_argument_alive_for_this():
    import gc
    import weakref

    x = tl.ones(3, requires_grad=True)
    y = x * 2
    known = weakref.ref(y)
    out = Exp.apply(y)
    del y
    gc.collect()
    assert known() is None
    assert out.grad_fn.argument(0) is out.grad_fn.LOST
