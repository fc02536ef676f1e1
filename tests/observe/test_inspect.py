"""What a session shows of one node: its formula, its arrays in any part, where its gradients go; and what edits do."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.observe.protocol import Refused
from tensorlab.observe.session import StepSession


def test_a_node_tells_its_formula_shapes_values_and_where_it_goes(session, net):
    session.ask("runTo", node=net["h"].grad_fn.seq)
    seen = session.ask("inspect", node=net["h"].grad_fn.seq)
    assert (seen["name"], seen["label"], seen["state"]) == ("TanhBackward0", "h", "current")
    assert seen["formula"] == "result = tanh(self)"
    assert seen["derivative"] == "grad_self = grad · (1 − result²)"
    assert seen["derivative_shapes"] == "grad [4, 2] · result [4, 2]"
    assert [(saved["name"], saved["shape"], saved["bytes"]) for saved in seen["saved"]] == [("result", [4, 2], 32)]
    assert seen["value"]["grid"] == [pytest.approx(row, rel=1e-6) for row in net["h"].tolist()]
    assert [(slot["role"], slot["name"]) for slot in seen["gradients"]] == [("incoming", "grad")]
    assert [(to["name"], to["state"]) for to in seen["neighbours"]] == [("MmBackward0", "idle")]
    session.ask("next")
    seen = session.ask("inspect", node=net["h"].grad_fn.seq)
    assert [(slot["role"], slot["name"]) for slot in seen["gradients"]] == [
        ("incoming", "grad"),
        ("outgoing", "grad_self"),
    ]
    json.dumps(seen, allow_nan=False)


def test_any_part_of_a_gradient_a_value_or_a_saved_array_can_be_looked_at():
    w = tl.arange(20.0 * 40).reshape(20, 40).requires_grad_()
    loss = (w * w).sum()
    session = StepSession(loss)
    session.ask("next")
    product = session.run.current
    whole = session.ask("inspect", node=product.seq)
    assert whole["gradients"][0]["preview"]["start"] == [0, 0]
    part = session.ask("values", node=product.seq, part="saved.0", start=[12, 24])
    assert part["grid"] == [list(map(float, row)) for row in w.tolist()[12:20] for row in [row[24:40]]]
    assert part["grid_caption"] == "rows 12 to 19 of 20 and columns 24 to 39 of 40"
    at_the_end = session.ask("values", node=product.seq, part="saved.0", start=[999, -5])
    assert at_the_end["start"] == [12, 0]
    again = session.ask("inspect", node=product.seq, windows={"incoming.0": [3, 7], "saved.0": [1]})
    assert again["gradients"][0]["preview"]["start"] == [3, 7]
    assert again["saved"][0]["preview"]["start"] == [0, 0]  # an index of another number of dimensions is passed over
    for part, start, why in (("incoming.3", [0, 0], "no array 'incoming.3'"), ("saved.0", [1], "2 whole numbers")):
        with pytest.raises(Refused, match=why):
            session.ask("values", node=product.seq, part=part, start=start)


def test_a_move_answers_with_the_node_that_is_next_when_asked_in_the_same_breath(session):
    heard = []
    session.subscribe(heard.append)
    answer = session.ask("next", inspect=True)
    assert answer["detail"] == session.ask("inspect", node=session.run.current.seq)
    assert heard[-1]["body"]["detail"] is None
    assert session.ask("next")["detail"] is None
    assert session.ask("continue", inspect=True)["detail"] is None  # nothing is next at the end


def test_a_whole_gradient_is_replaced_by_a_tensor_by_lists_or_by_a_number(session, net):
    expected = net["x"].detach().numpy().T @ (np.full((4, 2), 3.0) * (1 - net["h"].detach().numpy() ** 2))
    node = net["h"].grad_fn.seq
    session.ask("runTo", node=node)
    for gradient in (tl.full((4, 2), 3.0), [[3.0, 3.0]] * 4, 3):
        assert session.replace_gradient(node, 0, gradient).reason == "edited"
    for wrong in (tl.ones(2, 4), tl.ones(4, 2, dtype=tl.float64), [[1.0], [2.0, 3.0]], "three"):
        with pytest.raises(Refused):
            session.replace_gradient(node, 0, wrong)
    session.ask("finish")
    np.testing.assert_allclose(net["w"].grad.numpy(), expected, rtol=1e-5)
    with pytest.raises(Refused, match="no gradient waits"):
        session.replace_gradient(node, 0, 3)


def test_a_leaf_tells_its_value_and_what_it_has_gathered(session, net):
    session.ask("finish")
    leaf = next(node for node in session.walk.nodes if getattr(node, "variable", None) is net["w"])
    seen = session.ask("inspect", node=leaf.seq)
    assert (seen["name"], seen["label"], seen["derivative"]) == ("AccumulateGrad", "w", "variable.grad += grad")
    assert [slot["role"] for slot in seen["gradients"]] == ["incoming", "accumulated"]


def test_a_value_written_after_it_was_saved_is_named(net):
    session = StepSession(net["loss"])
    with tl.no_grad():
        net["h"].mul_(2)
    seen = session.ask("inspect", node=net["h"].grad_fn.seq)
    assert "written in place after it was saved" in seen["note"]
    assert (seen["saved"][0]["version"], seen["saved"][0]["version_now"]) == (0, 1)


def test_an_edit_of_a_billion_expanded_elements_is_refused_and_a_look_at_it_is_quick():
    x = tl.ones(1, requires_grad=True)
    session = StepSession(x.expand(10**9).sum())
    session.ask("next")
    waiting = session.run.current.seq
    with pytest.raises(Refused, match="1,000,000,000 elements"):
        session.ask("setGradient", node=waiting, output=0, index=[5], value=1)
    assert session.ask("inspect", node=waiting)["gradients"][0]["preview"]["elements"] == 10**9
