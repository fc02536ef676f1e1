"""Work on large arrays in pieces: every row once, errors arrive, forked processes go on."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.backend import blocks


@pytest.mark.parametrize(("rows", "width"), [(0, 5), (1, 1), (7, 3), (1000, 1000), (3, 1_000_000), (400_001, 1)])
def test_every_row_is_worked_on_once(rows: int, width: int) -> None:
    seen = np.zeros(rows, np.int64)

    def work(low: int, end: int) -> None:
        seen[low:end] += 1

    blocks.in_pieces(work, rows, width)
    assert (seen == 1).all()


def test_an_error_in_any_piece_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "processors", lambda: 2)

    def work(low: int, end: int) -> None:
        if low > 500:
            raise ValueError("a piece of the second half")

    with pytest.raises(ValueError, match="second half"):
        blocks.in_pieces(work, 1000, 1000)


def test_two_processors_work_on_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "processors", lambda: 2)
    names = set()
    blocks.in_pieces(lambda low, end: names.add(threading.current_thread().name), 1000, 1000)
    assert len(names) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_its_own_second_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "processors", lambda: 2)
    x = tl.ones(1000, 1000)
    tl.softmax(x, 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if abs(float(tl.softmax(x, 1)[0, 0]) - 0.001) < 1e-6 else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
    assert done == child
    assert status == 0
