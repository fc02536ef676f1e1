"""What an instrument cannot show is refused at once, and leaves nothing behind that complains later."""

from __future__ import annotations

import gc

import pytest

import tensorlab as tl


@pytest.mark.parametrize("wrong", [None, 3, tl.ones(1), tl.ones(2, requires_grad=True) * 2])
def test_a_refused_loss_leaves_no_half_made_stepper(wrong, monkeypatch) -> None:
    late = []
    monkeypatch.setattr("sys.unraisablehook", late.append)
    with pytest.raises((TypeError, RuntimeError)):
        tl.show.stepper(wrong)
    gc.collect()
    assert not late
