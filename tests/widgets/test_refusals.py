"""What a view cannot show is refused in words that say what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import show


@pytest.mark.parametrize("wrong", [None, 3, 2.5], ids=repr)
@pytest.mark.parametrize(
    ("view", "takes"),
    [
        (show.graph, "a graph shows how a Tensor was made"),
        (show.stepper, "backward needs Tensors"),
        (show.layout, "a layout is shown of a Tensor"),
        (show.flow, "gradients are followed of a Module, or of Tensors"),
        (show.lines, r"show.lines\(\) calls a function"),
    ],
)
def test_what_a_view_cannot_show_is_refused_by_name(view: Callable[..., Any], takes: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{takes}.*{type(wrong).__name__}"):
        view(wrong)


@pytest.mark.parametrize("item", ["weight", 3, ("weight", 3), ("weight", None)], ids=repr)
def test_gradients_are_followed_of_tensors_only(item: Any) -> None:
    with pytest.raises(TypeError, match="Tensor"):
        show.flow([("bias", tl.ones(2, requires_grad=True)), item])


def loss() -> tl.Tensor:
    return (tl.ones(3, requires_grad=True) * 2).sum()


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (
            lambda: show.graph(loss(), limit="many"),
            TypeError,
            "limit is how many nodes to take, a whole number, not str",
        ),
        (lambda: show.layout(tl.ones(2, 3), (-1, 3)), TypeError, r"whole numbers from 0 on, not \(-1, 3\)"),
        (lambda: show.memory(1, 2), TypeError, "between two snapshots.*not of int"),
        (lambda: show.stepper(loss(), when=-1, block=True), ValueError, "would never stop"),
        (
            lambda: show.stepper(loss(), when={"norm_abov": 3}, block=True),
            TypeError,
            "no condition 'norm_abov'.*norm_above",
        ),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_what_can(call: Callable[[], Any], kind: Any, says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


def test_one_tensor_is_followed_as_one_parameter() -> None:
    view = show.flow(tl.ones(3, requires_grad=True))
    assert repr(view) == "FlowView(1 parameters, 0 steps)"
    view.close()


def test_memory_runs_nothing_of_strange_objects() -> None:
    asked = []

    class Stranger:
        @property
        def __class__(self) -> type:
            asked.append(1)
            raise RuntimeError("outside of its context")

    kept = [Stranger()]
    view = show.memory()
    assert view.document is not None
    view.close()
    assert len(kept) == 1
    assert not asked


@pytest.mark.parametrize("wrong", [None, "x", 3.5, True, tl.ones(2)], ids=repr)
@pytest.mark.parametrize("question", ["run_to", "break_at", "edit"])
def test_what_is_no_node_is_refused_with_what_is(question: str, wrong: Any) -> None:
    stepper = show.stepper(loss())
    with pytest.raises(TypeError, match=r"a node is given as h\.grad_fn, as a tensor of the graph, or by its number"):
        getattr(stepper, question)(wrong, *((0,) if question == "edit" else ()))
    assert stepper.session.run.count == 0
    stepper.close()


def test_a_node_can_be_given_as_the_tensor_it_made() -> None:
    x = tl.ones(3, requires_grad=True)
    h = x * 2
    stepper = show.stepper(h.sum())
    stepper.run_to(h)
    assert stepper.session.run.current is h.grad_fn
    stepper.close()


def test_a_ledger_is_kept_of_leaves_only() -> None:
    y = loss()
    stepper = show.stepper(y)
    for wrong in (y, y.grad_fn, 3):
        with pytest.raises(TypeError, match="a ledger is kept of a leaf"):
            stepper.ledger(wrong)
    stepper.close()


def test_a_closed_stepper_says_so_also_of_what_edits_changed() -> None:
    y = loss()
    stepper = show.stepper(y)
    stepper.next()
    stepper.edit(stepper.session.run.current, "grad * 2")
    stepper.close()
    with pytest.raises(Exception, match="this session is closed"):
        stepper.changed()


@pytest.mark.parametrize("condition", [{"module": "encoder"}, {"line": "train.py:3"}], ids=repr)
def test_a_condition_that_no_node_meets_says_what_there_is(condition: Any) -> None:
    stepper = show.stepper(loss())
    with pytest.raises(Exception, match="no node of this pass was made") as caught:
        stepper.break_at(**condition)
    assert "there are no" not in str(caught.value)
    with pytest.raises(TypeError, match=r"shape=3: a shape is written as \(64, None\)"):
        stepper.break_at(shape=3)
    stepper.close()


def test_a_folder_that_is_not_there_is_named_when_a_view_is_saved(tmp_path: Any) -> None:
    view = show.graph(loss())
    with pytest.raises(FileNotFoundError, match="picture.svg was not saved: there is no folder '.*nowhere'"):
        view.save(tmp_path / "nowhere" / "picture.svg")
    view.close()


@pytest.mark.parametrize("wrong", ["much", None, tl.ones(3)], ids=["text", "None", "three"])
def test_a_loss_that_is_no_number_is_refused(wrong: Any) -> None:
    view = show.flow(tl.ones(3, requires_grad=True))
    with pytest.raises(TypeError, match="the loss of a step is one number, not"):
        view.log(wrong)
    view.close()


def test_a_hook_is_taken_off_by_its_number() -> None:
    layer = tl.nn.Linear(2, 2)
    view = show.hooks(layer)
    with pytest.raises(TypeError, match="by its number in the view, not by 'first'"):
        view.remove("first")
    with pytest.raises(Exception, match="hook 99 is not there"):
        view.remove(99)
    view.close()
