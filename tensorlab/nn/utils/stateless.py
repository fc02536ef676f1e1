"""Calling a module with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tensorlab.functional import stack
from tensorlab.tensor import Tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with tensors in place of its parameters and buffers, by dotted name; afterwards it has its own again.

    ``parameter_and_buffer_dicts`` is a dictionary, or several without names in common. ``args`` is a tuple or a single
    argument. With ``tie_weights`` a tensor that is given under one name is used under all names of what it replaces.
    With ``strict`` the names must be all that there are, or a ``RuntimeError`` lists them; else unknown names are
    ignored. Buffers that the call writes to are those given: their new values are found in the dictionary.

    >>> import tensorlab as tl
    >>> layer = tl.nn.Linear(2, 1, bias=False)
    >>> tl.func.functional_call(layer, {"weight": tl.ones(1, 2)}, tl.tensor([3.0, 4.0]))
    tensor([7.])
    """
    given = _merged(parameter_and_buffer_dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, each stacked along a new first dimension, by name.

    For an ensemble that ``vmap`` runs through ``functional_call``. The stacked parameters are leaves of their own, which require
    grad where the modules' do. Raises ``RuntimeError`` for no modules, modules of several classes, and modules of which some are
    in training and some are not.

    >>> import tensorlab as tl
    >>> parameters, buffers = tl.func.stack_module_state([tl.nn.Linear(2, 1) for _ in range(3)])
    >>> parameters["weight"].shape
    tensorlab.Size([3, 1, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state(): Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state(): Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        kinds = ", ".join(type(model).__name__ for model in models)
        raise RuntimeError(f"stack_module_state(): Expected all models to be of the same class, got {kinds}.")
    parameters = {name: _stacked(models, "get_parameter", name) for name, _ in models[0].named_parameters()}
    buffers = {name: _stacked(models, "get_buffer", name) for name, _ in models[0].named_buffers()}
    return parameters, buffers


def _stacked(models: Sequence[Any], get: str, name: str) -> Tensor:
    """One parameter or buffer of every module as one leaf."""
    given = [getattr(model, get)(name) for model in models]
    if len({x.requires_grad for x in given}) > 1:
        raise RuntimeError(f"stack_module_state(): Expected {name!r} of all models to have the same requires_grad.")
    return stack([x.detach() for x in given]).requires_grad_(given[0].requires_grad)


def _merged(dicts: Any) -> Any:
    if isinstance(dicts, Mapping):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts).__name__}"
        )
    if not all(isinstance(item, Mapping) for item in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for item in dicts for name in item]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{sorted(twice)} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: x for item in dicts for name, x in item.items()}


@contextmanager
def replaced(module: Any, given: Any, *, tie_weights: bool = False, strict: bool = False) -> Iterator[None]:
    """Other tensors in place of a module's parameters and buffers, inside a ``with``."""
    if strict:
        _check_names(module, given)
    wanted = _with_other_names(module, given) if tie_weights else dict(given)
    places = [(name, *place) for name in wanted if (place := _place(module, name)) is not None]
    before = []
    try:
        for name, table, key in places:
            before.append(table[key])
            table[key] = wanted[name]
        yield
    finally:
        for (name, table, key), own in reversed(list(zip(places, before, strict=False))):
            used = table[key]
            if name in given and used is not given[name]:  # the call put another tensor there
                given[name] = used
            table[key] = own


def _place(module: Any, name: str) -> tuple[dict[str, Any], str] | None:
    """The table that holds a tensor, and its name in there; nothing if there is none of the name."""
    path, _, key = name.rpartition(".")
    try:
        holder = module.get_submodule(path)
    except AttributeError:
        return None
    for table in (holder._parameters, holder._buffers):
        if key in table:
            return table, key
    return (holder.__dict__, key) if isinstance(holder.__dict__.get(key), Tensor) else None


def _names(module: Any) -> dict[str, Any]:
    """All parameters and buffers under all their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Any, given: Any) -> None:
    own = _names(module)
    said = []
    for what, names in (("Unexpected", set(given) - set(own)), ("Missing", set(own) - set(given))):
        if names:
            said.append(f"{what} key(s): {', '.join(map(repr, sorted(names)))}.")
    if said:
        lines = "\n\t".join(said)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{lines}")


def _with_other_names(module: Any, given: Any) -> dict[str, Any]:
    """What was given, under the other names of the same parameters too."""
    together: dict[int, list[str]] = {}
    for name, x in _names(module).items():
        together.setdefault(id(x), []).append(name)
    wanted = dict(given)
    for names in together.values():
        told = [name for name in names if name in given]
        if len({id(given[name]) for name in told}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if told:
            wanted.update(dict.fromkeys(names, given[told[0]]))
    return wanted
