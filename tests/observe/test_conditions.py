"""Eight kinds of conditions stop a run, alone and together, and what can hold of no node is refused with what could."""

from __future__ import annotations

import inspect

import pytest

import tensorlab as tl
from tensorlab.observe.names import Names
from tensorlab.observe.protocol import Refused
from tensorlab.observe.session import StepSession


@pytest.fixture
def watched():
    """Places and modules are recorded, as in a notebook."""
    tl.modes.watch_sites()
    yield
    tl.modes.watch_sites(False)


@pytest.fixture
def deep(watched):
    """A model of three parts, and a session on its loss."""
    tl.manual_seed(0)
    model = tl.nn.Sequential(tl.nn.Linear(3, 5), tl.nn.Sequential(tl.nn.Linear(5, 5), tl.nn.Tanh()), tl.nn.Linear(5, 2))
    loss = (model(tl.randn(4, 3)) ** 2).sum()
    return StepSession(loss, names=Names({"model": model, "loss": loss}))


def stopped(session: StepSession, *predicates: dict, together: bool = False) -> dict:
    session.ask("setBreakpoints", nodes=[], predicates=list(predicates), together=together)
    return session.ask("continue")


def path(session: StepSession) -> str:
    node = session.run.current
    return session.names.path_of(node) if node is not None else ""


def text(kind: str, words: str) -> dict:
    return {"kind": kind, "value": None, "text": words}


def bound(kind: str, value: float) -> dict:
    return {"kind": kind, "value": value, "text": ""}


def test_nan_inf_and_norms_stop_at_the_gradient_that_has_them():
    x = tl.tensor([4.0, 0.0], requires_grad=True)
    for weight, kind in ((0.0, "nan"), (1.0, "inf")):
        session = StepSession((x.sqrt() * tl.tensor([1.0, weight])).sum(), names=Names({"x": x}))
        told = stopped(session, bound(kind, None))
        assert session.run.current.name() == "AccumulateGrad"
        assert told["reason"] == "predicate"
    session = StepSession((x * 100).sum())
    assert "above 50" in stopped(session, bound("norm_above", 50))["sentence"]
    session = StepSession((x * 1e-6).sum())
    assert "below 0.001" in stopped(session, bound("norm_below", 1e-3))["sentence"]


@pytest.mark.parametrize(
    ("shape", "name"), [("[4, *]", "PowBackward0"), ("(5, 5)", "AccumulateGrad"), ("2", "AccumulateGrad")]
)
def test_a_shape_stops_where_such_a_gradient_comes(deep, shape, name):
    told = stopped(deep, text("shape", shape))
    assert deep.run.current.name() == name
    assert "the gradient has shape" in told["sentence"]


@pytest.mark.parametrize(
    ("module", "first"), [("model.1", "model.1.1"), ("model.1.0", "model.1.0"), ("model.*.1", "model.1.1")]
)
def test_a_module_stops_at_the_first_node_in_it(deep, module, first):
    told = stopped(deep, text("module", module))
    assert path(deep) == first
    assert f"it belongs to {module}" in told["sentence"]


def test_a_line_stops_at_the_node_that_it_made(watched):
    x = tl.ones(3, requires_grad=True)
    y = x * 2
    loss = y.exp().sum()
    line = inspect.currentframe().f_lineno - 2
    session = StepSession(loss)
    told = stopped(session, text("line", f"test_conditions.py:{line}"))
    assert session.run.current is y.grad_fn
    assert f"test_conditions.py:{line} made it" in told["sentence"]
    session = StepSession(loss)
    assert stopped(session, text("line", f"tests/observe/test_conditions.py, line {line}"))["node"] == y.grad_fn.seq


def test_a_hit_counts_the_nodes_that_fulfil_the_others_and_going_back_takes_hits_back(deep):
    tanh = text("module", "model.*")
    order = []
    plain = StepSession(deep._from[0], names=deep.names)
    while stopped(plain, tanh)["reason"] == "predicate":
        order.append(plain.run.current)
    told = stopped(deep, tanh, bound("hit", 3))
    assert deep.run.current is order[2]
    assert "this is hit 3 where it belongs to model.*" in told["sentence"]
    deep.ask("restart")
    assert stopped(deep, tanh, bound("hit", 3))["node"] == order[2].seq
    deep.ask("stepBack", count=2)
    deep.ask("next")
    assert deep.ask("continue")["node"] == order[2].seq
    assert deep.ask("continue")["reason"] == "done"


def test_a_hit_alone_counts_nodes(deep):
    assert stopped(deep, bound("hit", 4))["step"] == 3


def test_conditions_hold_one_by_one_or_together(deep):
    two = text("module", "model.0"), text("shape", "[4, 2]")
    assert stopped(deep, *two)["step"] == 1
    assert path(deep) == ""
    deep.ask("restart")
    assert stopped(deep, *two, together=True)["reason"] == "done"
    deep.ask("restart")
    told = stopped(deep, text("module", "model.0"), text("shape", "[4, 5]"), together=True)
    assert path(deep) == "model.0"
    assert "it belongs to model.0 and the gradient has shape [4, 5]" in told["sentence"]


@pytest.mark.parametrize(
    ("predicate", "why"),
    [
        (text("shape", "4 by 2"), r"such as \[64, \*\]; not '4 by 2'"),
        (text("shape", ""), "needs a 'text': a shape such as"),
        (
            text("module", "modle.2"),
            "no node of this pass was made in a module 'modle.2'; there are model.0; model.1.0",
        ),
        (text("line", "train.py"), "written as train.py:12"),
        (text("line", "train.py:999"), "was made at 'train.py:999'; there are .*test_conditions.py, line"),
        (bound("hit", 0), "which hit to stop at, 1 or more; not 0"),
        (bound("hit", 2.5), "which hit to stop at"),
        (bound("norm_above", float("nan")), "the norm to compare with"),
    ],
)
def test_a_condition_that_can_hold_of_no_node_is_refused_and_changes_nothing(deep, predicate, why):
    deep.ask("setBreakpoints", nodes=[], predicates=[bound("nan", None)])
    with pytest.raises(Refused, match=why):
        deep.ask("setBreakpoints", nodes=[], predicates=[predicate])
    assert [p.kind for p in deep.breakpoints().predicates] == ["nan"]


def test_where_no_places_are_recorded_modules_and_lines_say_so(session):
    for kind, words in (("module", "model"), ("line", "a.py:1")):
        with pytest.raises(Refused, match="are noted in notebooks"):
            session.ask("setBreakpoints", nodes=[], predicates=[text(kind, words)])


# ---- into, over, out -------------------------------------------------------------------------------------------------


def test_a_step_goes_into_over_and_out_of_modules(deep):
    deep.ask("next", count=2)
    assert path(deep) == "model.2"
    deep.ask("next", granularity="module")
    assert path(deep) == "model.1.1"
    deep.ask("stepOut")
    assert path(deep) == "model.0"
    before = deep.run.count
    assert deep.ask("stepIn")["step"] == before + 1
    assert deep.ask("next", granularity="module")["reason"] == "done"


def test_out_of_no_module_is_refused_and_over_no_module_is_one_node(deep):
    with pytest.raises(Refused, match="nothing to step out of"):
        deep.ask("stepOut")
    assert deep.ask("next", granularity="module")["step"] == 1
    with pytest.raises(Refused, match="one of node, module"):
        deep.ask("next", granularity="line")


def test_a_breakpoint_inside_a_module_stops_a_step_over_it(deep):
    deep.ask("next", count=2)
    inside = deep.run.planned()[1]
    deep.ask("setBreakpoints", nodes=[inside.seq])
    told = deep.ask("next", granularity="module")
    assert (told["reason"], told["node"]) == ("breakpoint", inside.seq)


def test_modules_of_one_kind_are_stepped_over_one_by_one(watched):
    first, second = tl.nn.Tanh(), tl.nn.Tanh()
    x = tl.ones(2, requires_grad=True)
    session = StepSession(second(first(x)).sum())
    session.ask("next")
    later = session.run.current
    session.ask("next", granularity="module")
    assert session.run.current is later.next_functions[0][0]


def test_goto_takes_a_node_or_a_step_forward_or_back(session, net):
    tanh = net["h"].grad_fn.seq
    assert session.ask("goto", node=tanh)["node"] == tanh
    session.ask("finish")
    assert session.ask("goto", node=tanh)["node"] == tanh
    assert session.ask("goto", step=0)["step"] == 0
