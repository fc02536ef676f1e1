"""Worker processes inside a notebook kernel: data sets of a cell, interrupts, and kernels that end."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

psutil = pytest.importorskip("psutil")
manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers are forked on Linux")

DATA = """
import time, threading
from tensorlab.data import DataLoader, Dataset
class Mine(Dataset):
    "A data set of this notebook."
    def __init__(self, wait=0.0): self.wait = wait
    def __len__(self): return 40
    def __getitem__(self, i):
        time.sleep(self.wait)
        if self.wait < 0.01 and i == 39: raise KeyError("no such picture")
        return i * 10
"""

Kernel = tuple[Any, Any]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    km, client = manager.start_new_kernel(kernel_name="python3")
    client.execute_interactive(DATA, timeout=60)
    yield km, client
    client.stop_channels()
    km.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def run(kernel: Kernel) -> Callable[[str], str]:
    """Runs a cell; what it printed, or the name of its error and its message."""
    _, client = kernel

    def cell(code: str) -> str:
        said: list[str] = []

        def hear(message: Any) -> None:
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])

        reply = client.execute_interactive(textwrap.dedent(code), timeout=60, output_hook=hear)["content"]
        return "".join(said) if reply["status"] == "ok" else f"{reply['ename']}: {reply['evalue']}"

    return cell


def workers_gone(kernel: Kernel, seconds: float = 6) -> bool:
    """Whether the kernel has no process of its own left, soon."""
    process = psutil.Process(kernel[0].provisioner.pid)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not [c for c in process.children() if c.status() != psutil.STATUS_ZOMBIE]:
            return True
        time.sleep(0.05)
    return False


def test_a_data_set_of_a_cell_is_loaded_by_workers(run: Callable[[str], str], kernel: Kernel) -> None:
    said = run("print([b.tolist() for b, _ in zip(DataLoader(Mine(), 2, num_workers=2), range(3))])")
    assert said.strip() == "[[0, 10], [20, 30], [40, 50]]"
    assert workers_gone(kernel)


def test_an_error_in_a_worker_is_shown_in_the_cell_and_keeps_no_worker(
    run: Callable[[str], str], kernel: Kernel
) -> None:
    said = run("for b in DataLoader(Mine(), 4, num_workers=2): pass")
    assert said.startswith("KeyError")
    assert "no such picture" in said
    assert "in __getitem__" in said
    assert workers_gone(kernel)


@pytest.mark.parametrize(
    "loop",
    [
        "for b in DataLoader(Mine(wait=5.0), 2, num_workers=2): pass",
        "for b in DataLoader(Mine(wait=0.02), 2, num_workers=2): time.sleep(30)",
        "it = iter(DataLoader(Mine(wait=5.0), 2, num_workers=2, persistent_workers=True)); next(it)",
    ],
    ids=["waiting for a worker", "in the loop", "workers that stay"],
)
def test_interrupting_the_kernel_leaves_no_worker(loop: str, kernel: Kernel) -> None:
    km, client = kernel
    number = client.execute(loop)
    process = psutil.Process(km.provisioner.pid)
    until = time.monotonic() + 20
    while len(process.children()) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    km.interrupt_kernel()
    while True:
        reply = client.get_shell_msg(timeout=30)
        if reply["parent_header"].get("msg_id") == number:
            break
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert workers_gone(kernel)


def test_a_kernel_that_is_killed_takes_its_workers_along() -> None:
    km, client = manager.start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive(DATA + "it = iter(DataLoader(Mine(), 1, num_workers=2)); next(it)", timeout=60)
        process = psutil.Process(km.provisioner.pid)
        workers = process.children()
        assert len(workers) == 2
        process.kill()
        gone, alive = psutil.wait_procs(workers, timeout=10)
        assert alive == []
    finally:
        client.stop_channels()
        km.shutdown_kernel(now=True)
