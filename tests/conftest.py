"""What every test shares: folders say what a test needs, and what is missing is said at the top of the report."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
NEEDS = {"browser": "browser", "notebooks": "notebook", "parity": "parity", "gpu": "gpu"}
#: Folders whose tests share a JupyterLab, a browser or every core: one process runs them, whatever the others do.
TOGETHER = {"browser", "notebooks"}

# Two cores that other work shares give no steady times: no example fails for being slow.
settings.register_profile("tensorlab", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("tensorlab")

HAS_TORCH = find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH else ["parity/*"]


def pytest_report_header() -> list[str]:
    """Names what is left out."""
    return [] if HAS_TORCH else ["tests/parity is left out: PyTorch is not installed"]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist asks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test by the folder that it stands in, so that `-m "not browser"` and `-n auto --dist loadgroup` work."""
    for item in items:
        if item.path.is_relative_to(TESTS):
            folder = item.path.relative_to(TESTS).parts[0]
            if folder in NEEDS:
                item.add_marker(NEEDS[folder])
            if folder in TOGETHER:
                item.add_marker(pytest.mark.xdist_group("browser"))


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Entries of PyTorch's tables by their names: what they print holds addresses, which differ from process to process."""
    name = getattr(val, "name", None)
    if not isinstance(name, str) or not hasattr(val, "variant_test_name"):
        return None
    return f"{name} {val.variant_test_name}".strip()
