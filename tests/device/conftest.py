"""A GPU for tests on any machine: CuPy's double, installed for one test and gone after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tensorlab import backend
from tests.device import double

BACKEND = "tensorlab.backend.cuda"


def _forget_backend() -> None:
    sys.modules.pop(BACKEND, None)
    backend.__dict__.pop("cuda", None)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[double.Machine]:
    """A machine with two GPUs; the value tells what was copied and changes how many devices there are."""
    kept = sys.modules.get(BACKEND)
    _forget_backend()
    for name, module in double.module().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(backend, "several", False)
    double.machine.__init__()  # type: ignore[misc]
    yield double.machine
    _forget_backend()
    if kept is not None:
        sys.modules[BACKEND] = backend.cuda = kept  # type: ignore[attr-defined]
