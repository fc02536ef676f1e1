"""A recorded pass is whole, changes nothing, and becomes a page that needs nothing else."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.display.player import page, written
from tensorlab.observe.protocol import Refused
from tensorlab.observe.recording import RECORDING, recorded, recorded_session
from tensorlab.observe.session import StepSession


def loss_of() -> tuple[tl.Tensor, tl.Tensor]:
    w = tl.tensor([1.0, 2.0], requires_grad=True)
    return w, (w * 2).tanh().sum()


def test_every_step_and_every_node_is_there_and_gradients_are_as_they_were() -> None:
    w, loss = loss_of()
    loss.backward(retain_graph=True)
    before = w.grad.numpy().copy()
    recording = recorded(loss)
    assert recording["schema"] == RECORDING
    assert len(recording["steps"]) == recording["total"] == 4
    assert [step["step"] for step in recording["steps"]] == [1, 2, 3, 4]
    assert set(recording["details"]) == {str(n) for n in recording["state"]["graph"]["nodes"]["id"]}
    np.testing.assert_array_equal(w.grad.numpy(), before)
    loss.backward()
    np.testing.assert_array_equal(w.grad.numpy(), before * 2)


def test_a_recording_is_plain_data() -> None:
    recording = recorded(loss_of()[1])
    assert json.loads(json.dumps(recording, allow_nan=False)) == json.loads(json.dumps(recording))


def test_a_pass_with_a_failing_hook_is_recorded_up_to_the_failure() -> None:
    w, loss = loss_of()

    def fail(g: tl.Tensor) -> None:
        raise ValueError("no")

    w.register_hook(fail)
    recording = recorded(loss)
    assert recording["steps"][-1]["reason"] == "exception"


def test_the_page_reaches_for_nothing_and_text_of_a_user_cannot_leave_its_place() -> None:
    recording = recorded(loss_of()[1], title="</script><script>alert(1)</script>")
    html = page(recording, "const x = '</script>';", ".a{}", "<svg/>", "<b>t</b>")
    assert html.count("</script>") == 3
    assert "<b>t</b>" not in html
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!data:)", html)
    assert "default-src 'none'" in html


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.html"
    written(target, "first")
    monkeypatch.setattr("os.replace", lambda *args: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        written(target, "second")
    assert target.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_a_session_is_recorded_from_where_it_stands_and_left_there():
    x = tl.ones(3, requires_grad=True)
    session = StepSession((x.tanh() * 2).sum())
    told: list[object] = []
    session.subscribe(told.append)
    session.next(2)
    told.clear()
    recording = recorded_session(session)
    assert len(recording["steps"]) == session.run.total
    assert session.run.count == 2
    assert told == []
    session.set_gradient(session.run.current.seq, 0, (0,), 5.0)
    with pytest.raises(Refused, match="step back before the edit"):
        recorded_session(session)
    session.close()
    with pytest.raises(Refused, match="closed"):
        recorded_session(session)
