"""Imports go down only: no room of the house needs a room above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOF = 10

#: The rooms of each floor, from the ground up. A package stands for all that is in it.
FLOORS = (
    "errors dtypes device layout modes taps size settings backends version",
    "backend",
    "ops ir",
    "engine",
    "explain dispatch fastpath viewing inplace",
    "tensor binding creation passes functional random drawn ranges factories subscripts methods written relaid memory traits spellings "
    "copying conversion return_types printing typed testing autograd linalg fft special signal windows defaults interchange pinned census",
    "serialization nn optim data utils amp func array_api distributions",
    "profiler jit onnx compiler distributed quantization",
    "observe",
    "display",
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}
ON_THE_ROOF = {"tensorlab", "tensorlab.show", "tensorlab.why", "tensorlab.extend", "tensorlab.cuda", "tensorlab.cpu"}


def floor_of(module: str) -> int:
    """The floor of a module, by its import name. Fails for a room that stands on none."""
    if ".".join(module.split(".")[:2]) in ON_THE_ROOF or module.split(".")[0] == "tensorlab_widgets":
        return ROOF
    room = module.split(".")[1]
    assert room in FLOOR_OF, f"{module} stands on no floor: enter {room!r} in FLOORS"
    return FLOOR_OF[room]


def modules() -> dict[str, Path]:
    """Every module of the distribution by its import name."""
    found = {}
    for top in (REPOSITORY / "tensorlab", REPOSITORY / "widgets" / "tensorlab_widgets"):
        for path in sorted(top.rglob("*.py")):
            parts = path.relative_to(top.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def only_for_types(node: ast.AST) -> bool:
    """Whether this is ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each of our modules that is imported, and in which line. What is imported for types alone does not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            inside = [name for name in names if name in MODULES]
            yield from ((name, node.lineno) for name in inside)
            if len(inside) < len(names) and node.module in MODULES:
                yield node.module, node.lineno
        elif not only_for_types(node):
            yield from imports_in(node)


def upward(module: str, source: str) -> list[str]:
    """The imports of a module that go up, in words."""
    return [
        f"{module}:{line} (floor {floor_of(module)}) imports {name} (floor {floor_of(name)})"
        for name, line in imports_in(ast.parse(source))
        if floor_of(name) > floor_of(module)
    ]


def test_every_module_has_a_floor() -> None:
    assert all(floor_of(module) in range(ROOF + 1) for module in MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_no_import_goes_up(module: str) -> None:
    assert upward(module, MODULES[module].read_text(encoding="utf-8")) == []


def test_imports_form_no_circle_and_a_late_one_hides_none() -> None:
    needs = {
        module: {name for name, _ in imports_in(ast.parse(path.read_text(encoding="utf-8")))}
        for module, path in MODULES.items()
    }
    needs["tensorlab.backend"].remove("tensorlab.backend.cuda")  # CuPy's half, loaded when a GPU is first asked for
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_the_walk_sees_an_import_that_goes_up_wherever_it_stands() -> None:
    assert upward("tensorlab.layout", "from tensorlab.tensor import Tensor") == [
        "tensorlab.layout:1 (floor 0) imports tensorlab.tensor (floor 5)"
    ]
    assert upward("tensorlab.ops.views", "def late():\n    from tensorlab import dispatch") == [
        "tensorlab.ops.views:2 (floor 2) imports tensorlab.dispatch (floor 4)"
    ]
    assert upward("tensorlab.nn", "class Late:\n    import tensorlab.observe.session") == [
        "tensorlab.nn:2 (floor 6) imports tensorlab.observe.session (floor 8)"
    ]
    assert upward("tensorlab.tensor", "from tensorlab import ops, creation, dtypes") == []
    assert upward("tensorlab.ops", "if TYPE_CHECKING:\n    from tensorlab.tensor import Tensor") == []
