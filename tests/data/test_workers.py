"""Loading with worker processes: the same batches, errors that explain themselves, and nothing left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import tensorlab as tl
from tensorlab.data import DataLoader, TensorDataset

pytest.importorskip("psutil")

from tests.data import workers
from tests.data.workers import Noise, Odd, OddStream, Rows, Stream, children, no_children_within, shared_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are started otherwise")


@pytest.fixture(scope="module", autouse=True)
def _strangers() -> None:
    """What runs before the first of these tests is none of theirs."""
    workers.meet_strangers()


@pytest.fixture(autouse=True)
def nothing_from_before() -> None:
    """What a test kept in a caught exception is garbage by now."""
    gc.collect()
    assert no_children_within(5)


def test_workers_give_what_one_process_gives_in_the_same_order() -> None:
    data = Rows()
    there, here = list(DataLoader(data, 3, num_workers=2)), list(DataLoader(data, 3))
    assert len(there) == len(here) == 7
    for (a, i, pid), (b, j, _) in zip(there, here, strict=True):
        assert a.tolist() == b.tolist()
        assert i.tolist() == j.tolist()
        assert a.dtype is b.dtype
        assert os.getpid() not in pid.tolist()
    assert len({pid for _, _, pids in there for pid in pids.tolist()}) == 2
    assert no_children_within(5)


def test_a_batch_stays_what_it_is_while_others_come() -> None:
    kept = [batch[0] for batch in DataLoader(Rows(200, (50, 50)), 2, num_workers=2)]
    assert [x[1, 0, 0].item() for x in kept] == list(range(1, 200, 2))
    kept[0].fill_(7.0)  # it is ordinary memory to write to
    assert kept[0].sum().item() == 7 * 2 * 2500


def test_views_of_a_batch_keep_its_memory() -> None:
    parts = [batch[0][:, 0] for batch in DataLoader(Rows(60, (40, 40)), 2, num_workers=1)]
    gc.collect()
    assert [x[0, 0].item() for x in parts] == list(range(0, 60, 2))
    arrays = [batch[0].numpy() for batch in DataLoader(Rows(60, (40, 40)), 2, num_workers=1)]
    assert [x[0, 0, 0] for x in arrays] == list(range(0, 60, 2))


def test_every_kind_of_batch_travels() -> None:
    data = [
        {
            "half": tl.ones(3).bfloat16() * k, "turned": tl.arange(6).view(2, 3).t(), "text": "a" * k, "none": (),
            "complex": tl.tensor([1j]), "empty": tl.zeros(0, 2), "flag": bool(k % 2),
        }
        for k in range(6)
    ]  # fmt: skip
    for a, b in zip(DataLoader(data, 2, num_workers=2), DataLoader(data, 2), strict=True):
        assert a.keys() == b.keys()
        for name in ("half", "turned", "complex", "empty", "flag"):
            assert a[name].dtype is b[name].dtype
            assert a[name].tolist() == b[name].tolist()
        assert a["text"] == b["text"]
    single = list(DataLoader(data, batch_size=None, num_workers=1))
    assert single[3]["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_plain_tensors_are_loaded_by_workers_too() -> None:
    data = TensorDataset(tl.arange(10).float(), tl.arange(10))
    assert [y.tolist() for _, y in DataLoader(data, 4, num_workers=2)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_what_is_random_depends_on_the_seed_and_not_on_who_is_faster() -> None:
    def drawn(slow: int, seed: int = 3) -> list[object]:
        data = Noise(12)
        data.slow = slow
        loader = DataLoader(data, 2, shuffle=True, num_workers=2, generator=tl.Generator().manual_seed(seed))
        return [[part.tolist() for part in batch] for batch in loader]

    first = drawn(0)
    assert first == drawn(1) == drawn(-1)
    assert first != drawn(0, seed=4)
    values = [value for batch in first for value in batch[0]]
    assert len(set(values)) == 12


def test_the_order_of_a_shuffle_is_the_same_with_and_without_workers() -> None:
    def order(count: int) -> list[int]:
        tl.manual_seed(1)
        return [i for _, index, _ in DataLoader(Rows(), 3, shuffle=True, num_workers=count) for i in index.tolist()]

    assert order(0) == order(1) == order(3)


def test_a_stream_is_shared_out_by_those_who_ask_which_worker_they_are() -> None:
    batches = [b.tolist() for b in DataLoader(Stream(11), 2, num_workers=3)]
    assert sorted(sum(batches, [])) == list(range(11))
    assert batches == [b.tolist() for b in DataLoader(Stream(11), 2, num_workers=3)]
    assert [b.tolist() for b in DataLoader(Stream(5), 2, num_workers=2, drop_last=True)] == [[0, 2], [1, 3]]
    assert sorted(DataLoader(Stream(5), None, num_workers=2)) == [0, 1, 2, 3, 4]
    assert list(DataLoader(Stream(0), 2, num_workers=2)) == []


def test_workers_that_stay_go_on_with_the_next_loop() -> None:
    loader = DataLoader(Rows(), 3, num_workers=2, persistent_workers=True, shuffle=True)
    first = {pid for _, _, pids in loader for pid in pids.tolist()}
    for _, index, _ in loader:  # left early: what is on its way is not part of the next loop
        assert index.numel() == 3
        break
    batches = list(loader)
    assert sorted(i for _, index, _ in batches for i in index.tolist()) == list(range(20))
    assert {pid for _, _, pids in batches for pid in pids.tolist()} == first
    del loader, batches
    gc.collect()
    assert no_children_within(5)


def test_workers_that_stay_go_through_a_stream_again() -> None:
    loader = DataLoader(Stream(7), 2, num_workers=2, persistent_workers=True)
    assert sorted(sum([b.tolist() for b in loader], [])) == sorted(sum([b.tolist() for b in loader], []))


def test_batches_may_come_as_they_are_ready() -> None:
    batches = list(DataLoader(Rows(), 3, num_workers=2, in_order=False, prefetch_factor=3))
    assert sorted(i for _, index, _ in batches for i in index.tolist()) == list(range(20))


def test_the_init_function_runs_first_and_sees_the_workers_copy() -> None:
    data = Rows()
    list(DataLoader(data, 5, num_workers=2, worker_init_fn=workers.mark))
    assert data.size == 20
    with pytest.raises(OSError, match="no data for worker 0"):
        list(DataLoader(data, 5, num_workers=2, worker_init_fn=workers.fail))


# --------------------------------------------------------------------------------------------------------- what goes wrong


def test_an_error_arrives_in_its_turn_with_the_traceback_of_the_worker() -> None:
    batches = iter(DataLoader(Odd("missing"), 2, num_workers=2))
    assert [next(batches).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(KeyError) as caught:
        next(batches)
    text = str(caught.value)
    assert "Caught KeyError in DataLoader worker process 0." in text
    assert "workers.py" in text
    assert "no such file: five.png" in text
    assert next(batches).tolist() == [6, 7]  # the loop may go on


def test_a_traceback_that_is_kept_keeps_no_workers() -> None:
    for data in (Odd("missing"), OddStream()):
        with pytest.raises(KeyError) as caught:
            for _ in DataLoader(data, 2, num_workers=2):
                pass
        assert caught.value.__traceback__ is not None
        assert no_children_within(3)


def test_an_error_that_cannot_be_made_again_or_would_end_the_loop_is_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="Caught Needs in DataLoader worker process"):
        list(DataLoader(Odd("own"), 2, num_workers=1))
    with pytest.raises(RuntimeError, match="Caught StopIteration"):
        list(DataLoader(Odd("stop"), 2, num_workers=1))
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(Odd("stop"), 2))


def test_a_batch_that_cannot_be_sent_is_an_error_and_no_hang() -> None:
    with pytest.raises(Exception, match="sending a batch"):
        list(DataLoader(Rows(), 2, num_workers=1, collate_fn=lambda samples: threading.Lock()))


@pytest.mark.parametrize(("how", "said"), [("killed", "killed by signal: SIGKILL.*memory"), ("left", "exit code 3")])
def test_a_dead_worker_is_an_error_within_seconds(how: str, said: str) -> None:
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=said):
        list(DataLoader(Odd(how), 2, num_workers=2))
    assert time.monotonic() - start < 10
    assert no_children_within(3)


def test_a_worker_killed_while_nobody_waits_is_an_error_at_the_next_batch() -> None:
    batches = iter(DataLoader(Rows(40), 1, num_workers=2))
    next(batches)
    for child in children():
        child.kill()
    with pytest.raises(RuntimeError, match="DataLoader worker"):
        list(batches)
    assert list(batches) == []
    assert no_children_within(3)


def test_a_slow_worker_is_an_error_after_the_timeout_and_is_ended() -> None:
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"timed out after 0\.3 seconds"):
        list(DataLoader(Odd("asleep"), 2, num_workers=1, timeout=0.3))
    assert time.monotonic() - start < 10
    assert no_children_within(3)


def test_leaving_early_leaves_no_process_and_no_memory() -> None:
    before = shared_files()
    for _ in DataLoader(Rows(40, (100, 100)), 2, num_workers=2):
        break
    batches = iter(DataLoader(Odd("asleep"), 2, num_workers=2))
    next(batches)
    del batches, _
    gc.collect()
    assert no_children_within(5)
    assert shared_files() == before


def test_an_interrupt_ends_the_workers_even_if_somebody_keeps_the_loop() -> None:
    batches = iter(DataLoader(Odd("asleep"), 6, num_workers=2))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    assert no_children_within(3)
    assert list(batches) == []


def test_a_large_answer_that_is_no_array_and_many_large_requests_do_not_block_each_other() -> None:
    data = [str(k) * 300_000 for k in range(10)]
    orders = [[k] * 20_000 for k in range(10)]
    loader = DataLoader(
        data, batch_sampler=orders, num_workers=1, prefetch_factor=8, collate_fn=lambda texts: texts[:5]
    )
    assert [batch[0][0] for batch in loader] == [str(k) for k in range(10)]


def program(text: str) -> subprocess.CompletedProcess[str]:
    """Run a program that no module holds, as a notebook's is."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=90)


def test_the_end_of_the_program_is_the_end_of_its_workers() -> None:
    done = program(
        """
        import psutil
        from tests.data.workers import Rows
        from tensorlab.data import DataLoader
        batches = iter(DataLoader(Rows(1000), 1, num_workers=2))
        next(batches)
        print(*[child.pid for child in psutil.Process().children()])
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not any(os.path.exists(f"/proc/{pid}") for pid in done.stdout.split())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_workers_notice_that_their_program_was_killed() -> None:
    done = program(
        """
        import os, psutil, signal
        from tests.data.workers import Rows
        from tensorlab.data import DataLoader
        batches = iter(DataLoader(Rows(1000), 1, num_workers=2))
        next(batches)
        print(*[child.pid for child in psutil.Process().children()], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    pids = done.stdout.split()
    assert len(pids) == 2
    until = time.monotonic() + 10
    while time.monotonic() < until and any(os.path.exists(f"/proc/{pid}") for pid in pids):
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


NOTEBOOK = """
    import sys
    {hide}
    from tensorlab.data import DataLoader, Dataset
    class Mine(Dataset):
        def __len__(self): return 4
        def __getitem__(self, i): return i * 10
    try:
        print([b.tolist() for b in DataLoader(Mine(), 2, num_workers=1{options})])
    except RuntimeError as error:
        print("refused:", error)
"""


def test_a_data_set_defined_in_a_notebook_cell_is_loaded_by_forked_workers() -> None:
    done = program(NOTEBOOK.format(hide="", options=""))
    assert "[[0, 10], [20, 30]]" in done.stdout, done.stderr


def test_a_data_set_defined_in_a_notebook_cell_is_sent_to_spawned_workers_or_explained() -> None:
    spawn = ", multiprocessing_context='spawn'"
    done = program(NOTEBOOK.format(hide="sys.modules['cloudpickle'] = None", options=spawn))
    assert "refused:" in done.stdout, done.stderr
    assert "Mine was defined in this notebook" in done.stdout
    assert "num_workers=0" in done.stdout
    pytest.importorskip("cloudpickle")
    done = program(NOTEBOOK.format(hide="", options=spawn))
    assert "[[0, 10], [20, 30]]" in done.stdout, done.stderr


def test_a_module_of_ones_own_is_loaded_by_spawned_workers() -> None:
    batches = list(DataLoader(Rows(8), 2, num_workers=2, multiprocessing_context="spawn"))
    assert [index.tolist() for _, index, _ in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert np.unique(batches[3][0].numpy()).tolist() == [6, 7]
    assert no_children_within(5)
