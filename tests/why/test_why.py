"""Answers to "why?" on corpora of small programs, each with the known answer."""

from __future__ import annotations

import copy
import inspect
import pickle
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import modes
from tensorlab.engine.notes import noted
from tests.why import inplace, nonfinite


@pytest.fixture(autouse=True)
def _places() -> Iterator[None]:
    modes.watch_sites(True)
    yield
    modes.watch_sites(False)


def marked(program: Callable[[], Any], mark: str) -> tuple[int, str]:
    """The line of a program that ends with a mark, and its code."""
    lines, first = inspect.getsourcelines(program)
    at = next(i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}"))
    return first + at, lines[at].strip()


def whole(answer: Any) -> str:
    """The text of an answer, whose picture is well formed and says the same."""
    root = ElementTree.fromstring(answer.svg())
    drawn = "".join(root.itertext())
    assert answer.story.title in drawn
    return answer.text()


@pytest.mark.parametrize("program", inplace.PROGRAMS, ids=lambda p: p.__name__)
def test_the_line_that_wrote_and_the_node_that_saved_are_named(program: Callable[[], Any]) -> None:
    loss = program()
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    answer = tl.why_inplace(caught.value)
    said = whole(answer)
    line, code = marked(program, "writes")
    assert f"line {line}: {code}" in said
    line, code = marked(program, "saves")
    assert f"line {line}: {code}" in said
    assert answer.story.chain[0].label.split(" ")[0].endswith("Backward0")
    assert answer.fix


@pytest.mark.parametrize("how", ["result", "function"])
@pytest.mark.parametrize("program", nonfinite.PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.filterwarnings("ignore")
def test_the_operation_and_the_line_of_the_first_bad_value_are_named(program: Callable[[], Any], how: str) -> None:
    answer = tl.why_nan(program if how == "function" else program())
    said = whole(answer)
    lines, first = inspect.getsourcelines(program)
    at = next(i for i, line in enumerate(lines) if "  # " in line)
    op = lines[at].split("#")[1].split()[-1]
    assert f"line {first + at}" in said
    assert op in said.splitlines()[0].lower()
    assert answer.found


def test_finite_values_need_no_explanation() -> None:
    w = tl.ones(3, requires_grad=True)
    assert not tl.why_nan((w * 2).sum()).found
    assert not tl.why_nan(lambda: (w * 2).sum()).found
    assert w.grad is None


def test_the_inputs_that_made_the_bad_element_are_shown() -> None:
    a = tl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = tl.tensor([1.0, 0.0])
    said = tl.why_nan(lambda: (a / b).sum()).text()
    assert "2 at [0, 1]" in said
    assert "0 at [0, 1]" in said


# ------------------------------------------------------------------------------------------------- no gradient


def _detached(w: Any, v: Any) -> Any:
    h = w * 2
    d = h.detach()
    return ((d + 1) * v).sum()


def _data(w: Any, v: Any) -> Any:
    return (w.data * v).sum()


def _no_grad(w: Any, v: Any) -> Any:
    with tl.no_grad():
        h = w * 2
    return (h * v).sum()


def _argmax(w: Any, v: Any) -> Any:
    return (w.argmax().float() * v).sum()


def _comparison(w: Any, v: Any) -> Any:
    return ((w > 0).float() * v).sum()


def _integers(w: Any, v: Any) -> Any:
    return (w.long() * v).sum()


def _all_cut(w: Any, v: Any) -> Any:
    return (w * 2).detach().sum()


CUTS = {
    _detached: "detach()",
    _data: "detach()",
    _no_grad: "no_grad()",
    _argmax: "argmax()",
    _comparison: "gt()",
    _integers: "to_copy()",
    _all_cut: "detach()",
}


@pytest.mark.parametrize("program", CUTS, ids=lambda p: p.__name__)
def test_the_call_that_cut_the_path_is_named_with_its_line(program: Callable[..., Any]) -> None:
    w, v = tl.ones(3, requires_grad=True), tl.ones(3, requires_grad=True)
    loss = program(w, v)
    answer = tl.explain_grad(w, loss)
    said = whole(answer)
    assert CUTS[program] in answer.sentence
    assert [link.kind for link in answer.story.chain].count("cut") == 1
    lines, first = inspect.getsourcelines(program)
    assert any(f"line {first + i}" in said for i in range(len(lines)))
    assert answer.story.chain[0].label == "w"
    assert answer.story.chain[-1].label == "loss"


def test_a_tensor_that_does_not_require_grad_is_told_how_to() -> None:
    x = tl.ones(2)
    assert "requires_grad_()" in whole(tl.explain_grad(x))


def test_integers_are_told_to_become_floats() -> None:
    n = tl.tensor([1, 2])
    assert ".float()" in whole(tl.explain_grad(n))


def test_an_intermediate_value_is_told_of_retain_grad() -> None:
    w = tl.ones(2, requires_grad=True)
    h = w * 2
    h.sum().backward()
    assert "h.retain_grad()" in whole(tl.why_none(h))


def test_a_leaf_that_no_pass_has_reached_is_told_so() -> None:
    w = tl.ones(2, requires_grad=True)
    loss = (w * 2).sum()
    assert "loss.backward()" in whole(tl.explain_grad(w, loss))
    assert "No backward pass" in whole(tl.explain_grad(w))


def test_a_leaf_that_the_result_never_used_is_told_so() -> None:
    w, v = tl.ones(2, requires_grad=True), tl.ones(2, requires_grad=True)
    loss = (v * 2).sum()
    assert "does not depend on w" in whole(tl.explain_grad(w, loss))


def test_two_passes_from_one_line_show_as_two_contributions() -> None:
    w = tl.ones(2, requires_grad=True)
    for _ in range(2):
        (w * 2).sum().backward()
    answer = tl.explain_grad(w)
    assert "2 contributions" in answer.sentence
    assert "2 of them from" in answer.sentence
    assert "zero_grad" in answer.fix
    w.grad.zero_()
    (w * 2).sum().backward()
    assert "1 contribution" in tl.explain_grad(w).sentence


def test_a_cut_keeps_no_graph_alive() -> None:
    w = tl.ones(2, requires_grad=True)
    h = w * 2
    node = __import__("weakref").ref(h.grad_fn)
    d = h.detach()
    del h
    assert node() is None
    assert "MulBackward0" in whole(tl.explain_grad(d))


def test_a_gradient_that_was_put_there_by_hand_has_no_contributions() -> None:
    w = tl.ones(2, requires_grad=True)
    for _ in range(20):
        (w * 2).sum().backward()
        w.grad = None
        w.grad = tl.zeros(2)  # often in the memory of the one before
        assert "contribution" not in tl.explain_grad(w).sentence


def test_tensors_that_are_remembered_can_be_copied_and_pickled_and_the_copies_are_not() -> None:
    model = tl.nn.Linear(2, 2)
    for _ in range(2):
        model(tl.ones(1, 2)).sum().backward()
    detached = model(tl.ones(1, 2)).detach()
    for x in (model.weight, detached):
        for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
            assert twin.tolist() == x.tolist()
            assert noted(twin, "cuts") is noted(twin, "ledger") is None
    pickle.loads(pickle.dumps(model))


# ------------------------------------------------------------------------------------------------- shapes

SHAPES: dict[str, tuple[Callable[[], Any], str]] = {
    "sizes that do not broadcast": (lambda: tl.ones(3, 4) + tl.ones(3), "other.unsqueeze(1)"),
    "sizes that never meet": (lambda: tl.ones(2, 3) * tl.ones(4, 5), "do not meet"),
    "a product the wrong way round": (lambda: tl.ones(2, 3) @ tl.ones(2, 3), ".T"),
    "a product with the first transposed": (lambda: tl.ones(2, 3) @ tl.ones(2, 4), ".T @"),
    "batches of products": (lambda: tl.bmm(tl.ones(2, 3, 4), tl.ones(2, 3, 4)), "bmm"),
    "a layer of another width": (lambda: tl.nn.Linear(3, 2)(tl.ones(4, 5)), "3 features"),
    "a view of a transposed matrix": (lambda: tl.ones(2, 3).t().view(6), "reshape()"),
    "a view of a slice": (lambda: tl.ones(4, 6)[:, :3].view(12), "reshape()"),
    "a comparison": (lambda: tl.ones(2) == tl.ones(3), "do not meet"),
    "where": (lambda: tl.where(tl.ones(2) > 0, tl.ones(3), tl.ones(3)), "do not meet"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_dimensions_that_do_not_meet_are_named_with_what_would_help(name: str) -> None:
    call, hint = SHAPES[name]
    with pytest.raises(RuntimeError) as caught:
        call()
    answer = tl.why_shape(caught.value)
    assert hint in whole(answer)


def test_an_error_about_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="about something else"):
        tl.why_inplace(KeyError("x"))
    with pytest.raises(ValueError, match="about something else"):
        tl.why_shape(KeyError("x"))
    with pytest.raises(TypeError, match="must be Tensor"):
        tl.explain_grad(3)


def test_names_with_markup_are_text() -> None:
    from tensorlab.display.story import Answer
    from tensorlab.observe.why import Link, Story

    evil = "<script>alert(1)</script>"
    picture = Answer(Story(evil, evil, (Link("bad", evil, evil),), ((evil, evil),), evil)).svg()
    assert "<script>" not in picture
    ElementTree.fromstring(picture)


def test_nothing_is_noted_where_places_are_not_recorded() -> None:
    modes.watch_sites(False)
    try:
        w = tl.ones(2, requires_grad=True)
        assert noted((w * 2).detach(), "cuts") is None
        (w * 2).sum().backward()
        assert noted(w.grad, "ledger") is None
    finally:
        modes.watch_sites(True)
