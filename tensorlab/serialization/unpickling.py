"""Pickles read without running anything that they name.

A pickle is a program for a small stack machine. This machine knows the instructions that build numbers, texts and containers; where a
pickle names a class or a function, it is given one of the few stand-ins of a table, and everything else is refused by name. Python's
own machine is not used: it hands out memory as the file says, and lets a file set attributes of whatever it was given.
"""

from __future__ import annotations

import pickle
import pickletools
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np


class Named:
    """What a pickle may name and call. ``build(made, state)`` gives a state to what the call made."""

    __slots__ = ("name", "call", "build")

    def __init__(self, name: str, call: Callable[..., Any], build: Callable[[Any, Any], None] | None = None) -> None:
        self.name, self.call, self.build = name, call, build


class Constant:
    """What a pickle may name and is a value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def refused(what: str, hint: str = "") -> pickle.UnpicklingError:
    """The error for something that a file asks for and does not get."""
    return pickle.UnpicklingError(
        f"refused to load {what}: only tensors, numbers, texts and plain containers are read from a file, and no code that it names "
        f"is ever run.{hint}"
    )


class Machine:
    """Runs one pickle. ``names`` are what it may name; ``persistent(pid)`` gives what lies outside of the pickle."""

    def __init__(self, names: Mapping[str, Any], persistent: Callable[[Any], Any] | None = None) -> None:
        self.names = names
        self.persistent = persistent
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.builders: dict[
            int, tuple[Any, Callable[[Any, Any], None]]
        ] = {}  # id -> what a state may be given to, and how

    def load(self, file: Any) -> Any:
        """The value that the pickle at the file's position makes. Raises ``pickle.UnpicklingError``, or ``RuntimeError`` if it is
        damaged.
        """
        at = 0
        try:
            for opcode, argument, position in pickletools.genops(file):
                at = position or 0
                if opcode.name == "STOP":
                    return self.stack.pop()
                step = _STEPS.get(opcode.name)
                if step is None:
                    raise refused(f"something made by the pickle instruction {opcode.name}")
                step(self, argument)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnicodeError, OverflowError) as error:
            raise RuntimeError(
                f"the pickle is damaged or cut off, near byte {at}: {type(error).__name__}: {error}"
            ) from None
        raise RuntimeError("the pickle is cut off")

    # --------------------------------------------------------------------------------------------------------- stack

    def since_mark(self) -> list[Any]:
        mark = self.marks.pop()
        found = self.stack[mark:]
        del self.stack[mark:]
        return found

    def top(self, kind: Any) -> Any:
        """The container that is being filled."""
        found = self.stack[-1]
        if not isinstance(found, kind):
            raise TypeError(f"a {type(found).__name__} is filled as if it were another container")
        return found

    # --------------------------------------------------------------------------------------------------------- names

    def find(self, module: str, name: str) -> None:
        full = f"{_MODULES.get(module, module)}.{name}"
        known = self.names.get(full)
        if known is None:
            raise refused(full, hint_for(full))
        self.stack.append(known.value if type(known) is Constant else known)

    def call(self, function: Any, args: Any) -> None:
        if type(function) is not Named:
            raise refused(f"the result of calling {function!r:.60}")
        if type(args) is not tuple:
            raise TypeError("arguments must be a tuple")
        made = function.call(*args)
        if function.build is not None:
            self.builders[id(made)] = made, function.build
        self.stack.append(made)

    def build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        kept, build = self.builders.get(id(made), (None, None))
        if kept is not made or build is None:
            raise refused(f"attributes of an object of type {type(made).__name__}")
        build(made, state)


def hint_for(name: str) -> str:
    """What to do about a name that is refused."""
    if ".nn.modules" in name or ".optim." in name or name.startswith("__main__"):
        return (
            " The file holds an object of that class; save its state_dict() instead, and load that into an object made "
            "by your own code."
        )
    return ""


# --------------------------------------------------------------------------------------------------------- instructions


def _push(machine: Machine, argument: Any) -> None:
    machine.stack.append(argument)


def _pushes(value: Callable[[], Any]) -> Callable[[Machine, Any], None]:
    return lambda machine, _: machine.stack.append(value())


def _mark(machine: Machine, _: Any) -> None:
    machine.marks.append(len(machine.stack))


def _pop(machine: Machine, _: Any) -> None:
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.stack.pop()


def _pop_mark(machine: Machine, _: Any) -> None:
    machine.since_mark()


def _put(machine: Machine, index: Any) -> None:
    machine.memo[len(machine.memo) if index is None else index] = machine.stack[-1]


def _get(machine: Machine, index: Any) -> None:
    machine.stack.append(machine.memo[index])


def _tuple(size: int) -> Callable[[Machine, Any], None]:
    def step(machine: Machine, _: Any) -> None:
        if len(machine.stack) < size:
            raise IndexError("pop from empty stack")
        found = tuple(machine.stack[-size:])
        machine.stack[-size:] = [found]

    return step


def _append(machine: Machine, _: Any) -> None:
    item = machine.stack.pop()
    machine.top(list).append(item)


def _appends(machine: Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.top(list).extend(items)


def _set_item(machine: Machine, _: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.top(dict)[_key(key)] = value


def _set_items(machine: Machine, _: Any) -> None:
    items = machine.since_mark()
    target = machine.top(dict)
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[_key(key)] = value


def _dict(machine: Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.stack.append({_key(key): value for key, value in zip(items[::2], items[1::2], strict=True)})


def _add_items(machine: Machine, _: Any) -> None:
    items = machine.since_mark()
    machine.top(set).update(_key(item) for item in items)


def _key(key: Any) -> Any:
    """A key, if it is cheap to hash: a tuple of tuples of tuples can take forever."""
    if type(key) is tuple and any(type(part) is tuple for part in key):
        raise refused("a dictionary key of nested tuples")
    return key


def _global(machine: Machine, argument: str) -> None:
    module, _, name = argument.partition(" ")
    machine.find(module, name)


def _stack_global(machine: Machine, _: Any) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise TypeError("a name must be a text")
    machine.find(module, name)


def _reduce(machine: Machine, _: Any) -> None:
    args, function = machine.stack.pop(), machine.stack.pop()
    machine.call(function, args)


def _persistent(machine: Machine, argument: Any) -> None:
    pid = machine.stack.pop() if argument is None else argument
    if machine.persistent is None:
        raise refused("a reference to something outside of the file")
    machine.stack.append(machine.persistent(pid))


_STEPS: dict[str, Callable[[Machine, Any], None]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    **dict.fromkeys(
        (
            "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
            "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
            "BINUNICODE8",
        ),
        _push,
    ),
    "NONE": _pushes(lambda: None), "NEWTRUE": _pushes(lambda: True), "NEWFALSE": _pushes(lambda: False),
    "EMPTY_LIST": _pushes(list), "EMPTY_DICT": _pushes(dict), "EMPTY_SET": _pushes(set), "EMPTY_TUPLE": _pushes(tuple),
    "MARK": _mark, "POP": _pop, "POP_MARK": _pop_mark,
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _put), **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    "TUPLE1": _tuple(1), "TUPLE2": _tuple(2), "TUPLE3": _tuple(3),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.since_mark())),
    "LIST": lambda machine, _: machine.stack.append(machine.since_mark()),
    "FROZENSET": lambda machine, _: machine.stack.append(frozenset(map(_key, machine.since_mark()))),
    "DICT": _dict, "APPEND": _append, "APPENDS": _appends, "SETITEM": _set_item, "SETITEMS": _set_items, "ADDITEMS": _add_items,
    "GLOBAL": _global, "STACK_GLOBAL": _stack_global, "REDUCE": _reduce, "NEWOBJ": _reduce,
    "BUILD": lambda machine, _: machine.build(), "PERSID": _persistent, "BINPERSID": _persistent,
}  # fmt: skip

# ---------------------------------------------------------------------------------------------- names that are always known

#: Modules under the names of today.
_MODULES = {"__builtin__": "builtins", "numpy.core.multiarray": "numpy._core.multiarray", "copy_reg": "copyreg"}

_FACTORIES: dict[str, Any] = {"list": list, "dict": dict, "int": int, "float": float, "str": str}


class _Factory:
    """A class that a file may name as what a ``defaultdict`` makes."""

    __slots__ = ("kind",)

    def __init__(self, kind: Any) -> None:
        self.kind = kind


def _ordered(*items: Any) -> OrderedDict[Any, Any]:
    return OrderedDict((_key(key), value) for key, value in (items[0] if items else ()))


def _with_metadata(made: Any, state: Any) -> None:
    """A state dictionary's ``_metadata``, the one attribute that an ``OrderedDict`` may have."""
    if not isinstance(state, dict) or set(state) - {"_metadata"}:
        raise refused("attributes of an OrderedDict")
    if "_metadata" in state:
        made._metadata = state["_metadata"]


def _default_dict(factory: Any = None, *items: Any) -> Any:
    if factory is not None and type(factory) is not _Factory:
        raise refused("a defaultdict with a factory of its own")
    return defaultdict(None if factory is None else factory.kind)


def _counter(items: Any = ()) -> Any:
    if type(items) is not dict:
        raise TypeError("a Counter is made of a dictionary")
    return Counter(items)


def _encode(text: Any, how: Any = "latin1") -> bytes:
    """How bytes are written in old pickles."""
    if type(text) is not str or str(how).replace("-", "").lower() not in ("latin1", "utf8", "ascii"):
        raise refused(f"a text in the encoding {how!r:.30}")
    return text.encode(how)


def _bytes(value: Any = b"", how: Any = None) -> Any:
    if type(value) is str:
        value = _encode(value, how)
    if type(value) is list:
        value = bytes(value)
    if type(value) is not bytes:
        raise TypeError("bytes are made of a text or of bytes")
    return value


def _numbers(kind: Any) -> Callable[..., Any]:
    def make(*args: Any) -> Any:
        if any(type(a) not in (int, float, type(None)) for a in args):
            raise TypeError(f"{kind.__name__} is made of numbers")
        return kind(*args)

    return make


def _collected(kind: Any) -> Callable[..., Any]:
    def make(items: Any = ()) -> Any:
        if type(items) not in (list, tuple):
            raise TypeError(f"{kind.__name__} is made of a list")
        return kind(_key(item) for item in items)

    return make


class _Kind:
    """A NumPy type that is being read."""

    __slots__ = ("dtype",)

    def __init__(self, code: Any, *flags: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[<>=|]?[biufcSU]\d{1,9}", code):
            raise refused(f"NumPy arrays of type {code!r:.40}")
        self.dtype = np.dtype(code)

    def build(self, state: Any) -> None:
        if type(state) is not tuple or len(state) < 5 or any(part is not None for part in state[2:5]):
            raise refused("NumPy arrays of a structured type")
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])


def _empty_array(*args: Any) -> np.ndarray:
    return np.ndarray((0,), np.int8)


def _fill_array(array: Any, state: Any) -> None:
    version, shape, kind, fortran, raw = state
    if type(kind) is not _Kind or type(shape) is not tuple or any(type(n) is not int or n < 0 for n in shape):
        raise TypeError("the state of an array is no shape with a type")
    if type(raw) is str:
        raw = raw.encode("latin-1")
    if type(raw) is not bytes or len(raw) != prod(shape) * kind.dtype.itemsize:
        raise ValueError(f"an array of shape {list(shape)} and type {kind.dtype} does not have that many bytes")
    array.__setstate__((1, shape, kind.dtype, bool(fortran), raw))


def _scalar(kind: Any, raw: Any) -> Any:
    if type(raw) is str:
        raw = raw.encode("latin-1")
    if type(kind) is not _Kind or type(raw) is not bytes:
        raise TypeError("a NumPy number is made of a type and bytes")
    return np.frombuffer(raw, kind.dtype, 1)[0]


def _named(name: str, call: Callable[..., Any], build: Callable[[Any, Any], None] | None = None) -> dict[str, Named]:
    return {name: Named(name, call, build)}


#: Containers, bytes and NumPy arrays.
PLAIN: dict[str, Any] = {
    **_named("collections.OrderedDict", _ordered, _with_metadata),
    **_named("collections.defaultdict", _default_dict),
    **_named("collections.Counter", _counter),
    **_named("builtins.set", _collected(set)),
    **_named("builtins.frozenset", _collected(frozenset)),
    **_named("builtins.bytearray", lambda *args: bytearray(_bytes(*args))),
    **_named("builtins.bytes", _bytes),
    **_named("builtins.complex", _numbers(complex)),
    **_named("builtins.slice", _numbers(slice)),
    **_named("builtins.range", _numbers(range)),
    **_named("_codecs.encode", _encode),
    **_named("numpy._core.multiarray._reconstruct", _empty_array, _fill_array),
    **_named("numpy._core.multiarray.scalar", _scalar),
    **_named("numpy.dtype", _Kind, _Kind.build),
    "numpy.ndarray": Constant(np.ndarray),
    **{f"builtins.{name}": Constant(_Factory(kind)) for name, kind in _FACTORIES.items()},
}
