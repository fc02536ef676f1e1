"""Modules that hold other modules or parameters: in a row, in a list, in a dictionary."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tensorlab.nn.modules.module import Module
from tensorlab.nn.modules.text import bracketed, indented
from tensorlab.nn.parameter import Parameter
from tensorlab.tensor import Tensor

__all__ = ["Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]


class _Row(Module):
    """What ``Sequential`` and ``ModuleList`` share: children named 0, 1, 2 and so on."""

    def _name_at(self, index: Any) -> str:
        at = operator.index(index)
        size = len(self._modules)
        if not -size <= at < size:
            raise IndexError(f"index {at} is out of range: {type(self).__name__} has {size} modules")
        return list(self._modules)[at % size]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        self._modules.update({str(at): module for at, module in enumerate(modules)})

    def append(self, module: Module) -> Any:
        """Add a module at the end. Returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Any) -> Any:
        """Add modules at the end. Returns the container."""
        if not isinstance(modules, Iterable):
            kind = type(modules).__name__
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but got {kind}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Put a module before an index. Returns the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, not {type(module).__name__}")
        modules = list(self._modules.values())
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index} in {type(self).__name__} of {len(modules)} modules")
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index: int | slice) -> Any:
        """Take a module out and return it."""
        found = self[index]  # type: ignore[index]
        del self[index]
        return found

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)


class Sequential(_Row):
    """Modules one after another: the output of each is the input of the next. Takes modules, or one ordered dictionary
    of them.

    >>> import tensorlab as tl
    >>> tl.nn.Sequential(tl.nn.Linear(2, 3), tl.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for at, module in enumerate(args):
                self.add_module(str(at), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other).__name__} is given."
            )
        return Sequential(*self, *other)

    def __mul__(self, times: Any) -> Sequential:
        """A sequence of the same modules several times over; they share their parameters."""
        return Sequential(*[module for _ in range(_count(times)) for module in self])

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Sequential:
        modules = list(self)
        for _ in range(_count(times) - 1):
            self.extend(modules)
        return self


def _count(times: Any) -> int:
    if not isinstance(times, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(times).__name__}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for {Sequential}")
    return times


class ModuleList(_Row):
    """A list of modules that are registered. It has no ``forward``; iterate over it, or index it.

    >>> import tensorlab as tl
    >>> tl.nn.ModuleList([tl.nn.Linear(2, 2) for _ in range(3)])
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name_at(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return type(self)([*self, *other])

    def __repr__(self) -> str:
        """Equal neighbours share one line."""
        runs: list[list[Any]] = []
        for at, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = at
            else:
                runs.append([at, at, text])
        children = [
            f"({first}): {indented(text)}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {indented(text)}"
            for first, last, text in runs
        ]
        return bracketed(self._get_name(), [], children)


class ModuleDict(Module):
    """A dictionary of modules that are registered, in the order they were put in."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """The names with their modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put in the modules of a mapping, or of an iterable of pairs (name, module)."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        pairs = modules.items() if isinstance(modules, (Mapping, ModuleDict)) else modules
        for at, pair in enumerate(pairs):
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{at} should be a pair (name, module), got {pair!r:.60}"
                )
            self.add_module(pair[0], pair[1])


def _registered(value: Any) -> Any:
    """A tensor as something a module registers; anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(name: str, value: Any) -> str:
    if isinstance(value, Tensor):
        size = "x".join([str(n) for n in value.shape])
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return f"({name}): {kind} containing: [{value.dtype} of size {size}]"
    return f"({name}): Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters that are registered. Tensors put in become parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, index: Any) -> str:
        at = operator.index(index)
        if not -self._size <= at < self._size:
            raise IndexError(f"index {at} is out of range: ParameterList has {self._size} values")
        return str(at % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([getattr(self, str(at)) for at in range(self._size)[index]])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _registered(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[at] for at in range(self._size)])

    def append(self, value: Any) -> Any:
        """Add a value at the end. Returns the list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Any:
        """Add values at the end. Returns the list."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            kind = type(values).__name__
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {kind}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Any:
        return self.extend(values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")

    def __repr__(self) -> str:
        return bracketed(self._get_name(), [], [_described(str(at), value) for at, value in enumerate(self)])


class ParameterDict(Module):
    """A dictionary of parameters that are registered. Tensors put in become parameters."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key)}')."
            )
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key)}')."
            )
        if hasattr(type(self), key):
            raise KeyError(f"'{key}' is the name of a method of ParameterDict and cannot be a key")
        self._keys[key] = None
        setattr(self, key, _registered(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or ``default``."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Take a value out and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last value out and return it with its key."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a key; ``default`` is put in where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Another dictionary, with one value under each of the keys."""
        return ParameterDict([(key, default) for key in keys])

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: Any) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> ParameterDict:
        return ParameterDict(other) | self

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def clear(self) -> None:
        """Take all values out."""
        for key in list(self._keys):
            del self[key]

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def values(self) -> list[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def items(self) -> list[tuple[str, Any]]:
        """The names with their values."""
        return [(key, self[key]) for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Put in the values of a mapping, or of an iterable of pairs (name, value).

        A plain mapping is taken in the order of its names, as PyTorch does, so that the optimizer states of both fit together; an
        ``OrderedDict``, a ``ParameterDict`` and pairs keep their own order.
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParameterDict.update should be called with an iterable of key/value pairs, but got "
                + type(parameters).__name__
            )
        pairs = parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(parameters.items(), key=lambda pair: pair[0])
        for at, pair in enumerate(pairs):
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(
                    f"ParameterDict update sequence element #{at} should be a pair (name, value), got {pair!r:.60}"
                )
            self[pair[0]] = pair[1]

    def __repr__(self) -> str:
        return bracketed(self._get_name(), [], [_described(key, value) for key, value in self.items()])
