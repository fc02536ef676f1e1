"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import tensorlab

#: Packages that only what is named after them needs.
OPTIONAL = {"cupy", "numba", "onnx", "torch"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def names_of_modules(package: ModuleType) -> list[str]:
    """A package and all that is in it, by import name."""
    inside = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [package.__name__, *(module.name for module in inside if not module.name.endswith("__main__"))]


@pytest.mark.parametrize("name", names_of_modules(tensorlab))
def test_the_examples_of_a_module_print_what_they_say(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {missing.name}")
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for examples in doctest.DocTestFinder(exclude_empty=True).find(module, name, extraglobs={"tl": tensorlab}):
        runner.run(examples, out=said.append, clear_globs=False)
    assert runner.failures == 0, "".join(said)
