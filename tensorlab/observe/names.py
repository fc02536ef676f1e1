"""What people call their tensors, looked up in their namespace at the moment of a snapshot and at no cost before.

A namespace is a mapping from names to values: the cells of a notebook, or the variables of a calling function.
Nothing is kept but strings and numbers, so names keep nothing alive.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tensorlab import backend
from tensorlab.engine.node import AccumulateGrad, Bound, Node
from tensorlab.tensor import Tensor

#: Where our own code lies: callers are looked for outside of it.
OURS = str(Path(__file__).parents[1])
#: What IPython keeps in the user's namespace for itself, besides names that begin with an underscore.
NOTEBOOK_NAMES = frozenset({"In", "Out", "exit", "quit", "get_ipython"})
#: Elements of a list, tuple or dictionary that are looked at.
MOST_ELEMENTS = 64


def notebook_namespace() -> dict[str, Any] | None:
    """The variables of the notebook or IPython session that runs, or ``None``. Never imports IPython."""
    shell = notebook_shell()
    return shell.user_ns if shell is not None else None


def notebook_shell() -> Any:
    """The running IPython shell, or ``None`` outside of one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def caller_namespace(*ignored: str) -> dict[str, Any]:
    """The variables that the calling code sees: a notebook's, then globals and locals of the nearest frame that is
    not ours.

    ``ignored`` are further folders whose frames are passed over.
    """
    skipped = (OURS, *ignored)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(skipped):
        frame = frame.f_back
    namespace = dict(notebook_namespace() or {})
    if frame is not None:
        namespace |= frame.f_globals
        namespace |= _locals(frame)
    return namespace


def _locals(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame. Before Python 3.13 a function's frame keeps the copy that it gives, and with it
    every value; the copy is emptied so that looking leaves nothing alive."""
    given = frame.f_locals
    found = dict(given)
    if type(given) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        given.clear()
    return found


class Names:
    """The names of tensors, by the tensor itself, by the node that made it, or by the memory it lies in."""

    def __init__(self, namespace: Mapping[str, Any] | None = None) -> None:
        self._tensors: dict[int, str] = {}
        self._values: dict[tuple[int, int], str] = {}
        self._roots: dict[str, str] = {}
        self._modules: dict[int, str] = {}
        self._owners: dict[int, str] = {}  # of a parameter: the module that it belongs to, "model.0"
        self._calls: dict[int, str] = {}  # of a call of a module: the module that was called
        self._arrays: dict[tuple[int, tuple[int, ...], tuple[int, ...]], str] = {}
        self._memory: dict[int, str] = {}
        modules: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for name, value in list((namespace or {}).items()):
            if not isinstance(name, str) or name.startswith("_") or name in NOTEBOOK_NAMES:
                continue
            if is_module(value):
                modules[name] = value
            else:
                plain[name] = value
        types = [type(module).__name__ for module in modules.values()]
        self._roots = {kind: name for kind, name in zip(types, modules, strict=True) if types.count(kind) == 1}
        # A parameter is called as its module calls it; anything else by the shortest way to it.
        for name, module in sorted(modules.items(), key=lambda item: (len(item[0]), item[0])):
            self._modules.setdefault(id(module), name)
            for path, parameter in module.named_parameters():
                self._tensors.setdefault(id(parameter), f"{name}.{path}")
                self._owners.setdefault(id(parameter), f"{name}.{path}".rpartition(".")[0])
        for name, value in plain.items():
            if isinstance(value, Tensor):
                self._add(name, value)
        for name, value in plain.items():
            for part, element in _elements(value):
                self._add(name + part, element)

    def of_tensor(self, tensor: Any) -> str:
        """The name of this very tensor, or an empty string."""
        return self._tensors.get(id(tensor), "")

    def of_value(self, node: Node, output: int) -> str:
        """The name of what ``node`` made as its output number ``output``, or an empty string."""
        return self._values.get((node.seq, output), "")

    def of_array(self, array: Any) -> str:
        """The name of a tensor that lies in exactly the memory of ``array``, or an empty string."""
        return self._arrays.get(_memory(array), "") if self._arrays else ""

    def holds(self, memory: int) -> str:
        """The name of a tensor in the memory that begins there, or an empty string."""
        return self._memory.get(memory, "")

    def of_module(self, module: Any) -> str:
        """The name of this very module, or an empty string."""
        return self._modules.get(id(module), "")

    def root_of_type(self, kind: str) -> str:
        """The user's name for the only module of this type, or an empty string."""
        return self._roots.get(kind, "")

    def learn(self, nodes: Iterable[Node]) -> None:
        """Find out which module each call was a call of, from the parameters that its nodes use."""
        for node in nodes:
            call, path = _call(node)
            if call in self._calls:
                continue
            for edge in node.edges if path else ():
                owner = self._owners.get(id(edge[0].variable)) if edge and type(edge[0]) is AccumulateGrad else None
                root = _without(owner, ".".join(filter(None, path))) if owner else ""
                if root:
                    self._calls[call] = root
                    break

    def root_of(self, node: Node) -> str:
        """The user's name for the module whose call made a node: from what was learned, or the only one of its type."""
        call, path = _call(node)
        known = self._calls.get(call, "")
        if known or not path or path[0]:
            return known
        scope = node.scope
        return self._roots.get(scope[0][1], "") if scope else ""

    def path_of(self, node: Node) -> str:
        """The modules that made a node in dots, begun with the user's name for the outermost: ``model.0``."""
        return dotted(self.root_of(node), node.scope or ())

    def _add(self, name: str, tensor: Any) -> None:
        self._tensors.setdefault(id(tensor), name)
        try:
            node = tensor.grad_fn
        except RuntimeError:  # a view that lost its place in the graph has no node to name
            node = None
        if node is not None:
            self._values.setdefault((node.seq, Bound.edge(tensor)[1]), name)
        self._arrays.setdefault(_memory(tensor._a), name)
        self._memory.setdefault(backend.of(tensor._a).owner(tensor._a)[0], name)


def dotted(root: str, scope: Sequence[tuple[str, str]]) -> str:
    """A path of modules below a root."""
    return ".".join(filter(None, [root, *(name for name, _ in scope)]))


def _call(node: Node) -> tuple[int, list[str]]:
    """What tells the outermost call that made a node from all others, and the names of modules from there inwards."""
    path = node.made[1] if node.made else None
    if path is None:
        return 0, []
    names = [name for name, _ in path.names()]
    while path.outer is not None:
        path = path.outer
    return id(path), names


def _without(owner: str, path: str) -> str:
    """``model`` from ``model.hidden.0`` and ``hidden.0``; empty where the one does not end with the other."""
    if not path:
        return owner
    return owner[: -len(path) - 1] if owner.endswith(f".{path}") else ""


def _memory(array: Any) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return backend.of(array).address(array), tuple(array.shape), tuple(array.strides)


def is_module(value: Any) -> bool:
    """Whether a value is a module, or looks like one: it names its parameters and has a ``forward``."""
    return callable(getattr(type(value), "named_parameters", None)) and callable(getattr(type(value), "forward", None))


def _elements(value: Any) -> Iterator[tuple[str, Any]]:
    """Tensors one level down in a container, with the index that leads to them."""
    if type(value) in (list, tuple):
        for at, element in enumerate(value[:MOST_ELEMENTS]):
            if isinstance(element, Tensor):
                yield f"[{at}]", element
    elif type(value) is dict:
        for key, element in list(value.items())[:MOST_ELEMENTS]:
            if isinstance(element, Tensor) and isinstance(key, str | int):
                yield f"[{key!r}]", element
