"""A GPU for tests on any machine: CuPy's double, installed for one test and gone after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tensorlab import backend
from tests.device import double

PARTS = ("cuda", "pool")


def _forget_backend() -> None:
    for part in PARTS:
        sys.modules.pop(f"tensorlab.backend.{part}", None)
        backend.__dict__.pop(part, None)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[double.Machine]:
    """A machine with two GPUs; the value tells what was copied and changes how many devices there are."""
    kept = {part: sys.modules.get(f"tensorlab.backend.{part}") for part in PARTS}
    _forget_backend()
    for name, module in double.module().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(backend, "several", False)
    double.machine.__init__()  # type: ignore[misc]
    yield double.machine
    _forget_backend()
    for part, known in kept.items():
        if known is not None:
            sys.modules[f"tensorlab.backend.{part}"] = known
            setattr(backend, part, known)
