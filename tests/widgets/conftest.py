"""One kernel for all tests of the widgets; each test makes its own variables in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# A clone that was not installed keeps the widgets one folder down.
if find_spec("tensorlab_widgets") is None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "widgets"))

NETWORK = """
import tensorlab as tl
tl.manual_seed(0)
x = tl.randn(4, 3)
w = tl.randn(3, 2, requires_grad=True)
h = (x @ w).tanh()
loss = (h * h).sum()
"""


@pytest.fixture(scope="session")
def kernel() -> Iterator:
    pytest.importorskip("ipykernel")
    pytest.importorskip("anywidget")
    from tests.widgets.kernel import Front

    front = Front()
    yield front
    front.close()


@pytest.fixture
def front(kernel):
    """The kernel with a small network in it and nothing heard yet."""
    kernel.heard.clear()
    kernel.run(NETWORK)
    kernel.heard.clear()
    return kernel
