"""``Optimizer``: groups of parameters with their options, what is remembered of each parameter, and saving it all."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from tensorlab.engine.hooks import RemovableHandle, hook_table, register, told
from tensorlab.tensor import Tensor


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


#: The default of an option that every group must give.
required = _Required()

Group = dict[str, Any]


#: Hooks around the steps of every optimizer.
_before_every_step: dict[int, Any] = hook_table()
_after_every_step: dict[int, Any] = hook_table()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before ``step`` of every optimizer; it may return new ``(args, kwargs)``."""
    return register(_before_every_step, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after ``step`` of every optimizer."""
    return register(_after_every_step, hook)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """``step`` with the hooks around it; once, when one class's ``step`` calls another's."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        hooks = self._step_pre_hooks or self._step_post_hooks or _before_every_step or _after_every_step
        if not hooks or self._stepping:
            return step(self, *args, **kwargs)
        self._stepping = True
        try:
            for hook in [*told("step pre", self, _before_every_step), *told("step pre", self, self._step_pre_hooks)]:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"step pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            result = step(self, *args, **kwargs)
            for hook in [*told("step", self, self._step_post_hooks), *told("step", self, _after_every_step)]:
                hook(self, args, kwargs)
            return result
        finally:
            self._stepping = False

    return hooked


class Optimizer:
    """The base of optimizers. ``params`` is an iterable of tensors, of pairs (name, tensor), or of dictionaries
    (groups).

    ``defaults`` holds the options of groups that do not say their own. A subclass defines ``step``. Raises
    ``TypeError`` for a set, whose order is random, and ``ValueError`` for no parameters, computed ones, and ones in
    two groups.
    """

    #: State that has the shape of its parameter, checked when it is loaded.
    like_parameter: tuple[str, ...] = ()

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__module__}.{type(params).__name__}; put it in a list"
            )
        _refuse_sets(params)
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _prepare(self) -> None:
        """What is not saved: hooks, and whatever a subclass works out from the groups."""
        self._step_pre_hooks = hook_table()
        self._step_post_hooks = hook_table()
        self._state_dict_pre_hooks = hook_table()
        self._state_dict_post_hooks = hook_table()
        self._load_state_dict_pre_hooks = hook_table()
        self._load_state_dict_post_hooks = hook_table()
        self._stepping = False
        self._opt_called = False  # whether step() ran; schedulers ask

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by one step. ``closure`` computes the loss again and returns it."""
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0 with ``set_to_none=False``."""
        for group in self.param_groups:
            for p in group["params"]:
                gradient = p._grad
                if gradient is None:
                    continue
                if set_to_none:
                    p._grad = None
                else:
                    if gradient.grad_fn is not None:
                        gradient = p.grad = gradient.detach()
                    gradient.requires_grad_(False).zero_()

    # ------------------------------------------------------------------------------------------------------- groups

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own, in a dictionary with the key ``params``."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, Tensor):
            params = [params]
        _refuse_sets(params)
        group["params"], names = _named(list(params))
        if names is not None:
            group["param_names"] = names
        if self.param_groups and ("param_names" in self.param_groups[0]) != ("param_names" in group):
            has = "with" if names is not None else "without"
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {has} names to the "
                "optimizer"
            )
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, value)
        self._check_parameters(group)
        self.param_groups.append(group)

    def _check_parameters(self, group: Group) -> None:
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not self.defaults.get("differentiable") and p.grad_fn is not None:
                raise ValueError(f"can't optimize a non-leaf Tensor: it was made by {p.grad_fn.name()}")
        kept = list(OrderedDict.fromkeys(group["params"]))
        if len(kept) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; each is taken once", stacklevel=4
            )
            if "param_names" in group:
                first = {id(p): n for p, n in reversed(list(zip(group["params"], group["param_names"], strict=True)))}
                group["param_names"] = [first[id(p)] for p in kept]
            group["params"] = kept
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    # ------------------------------------------------------------------------------------------------------- saving

    def state_dict(self) -> dict[str, Any]:
        """``{"state": ..., "param_groups": ...}`` with parameters as numbers, in the order of the groups. Tensors are
        not copied.
        """
        for pre_hook in told("state_dict pre", self, self._state_dict_pre_hooks):
            pre_hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(p)] if isinstance(p, Tensor) else p: dict(kept) for p, kept in self.state.items()}
        saved = {"state": state, "param_groups": groups}
        for hook in told("state_dict", self, self._state_dict_post_hooks):
            changed = hook(self, saved)
            saved = saved if changed is None else changed
        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state. Values are copied, in the type of their parameter.

        Raises ``ValueError`` when groups or their sizes differ, and when a remembered tensor has another shape than its
        parameter, naming both.
        """
        state_dict = dict(state_dict)
        for pre_hook in told("load_state_dict pre", self, self._load_state_dict_pre_hooks):
            changed = pre_hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(saved)}, the optimizer has "
                f"{len(self.param_groups)}"
            )
        for at, (mine, theirs) in enumerate(zip(self.param_groups, saved, strict=True)):
            if len(mine["params"]) != len(theirs["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {at} holds {len(theirs['params'])} parameters, the optimizer's {len(mine['params'])}"
                )
        self._load(state_dict["state"], saved)
        for hook in told("load_state_dict", self, self._load_state_dict_post_hooks):
            hook(self)

    def _load(self, kept_by_number: dict[Any, Any], saved: list[Group]) -> None:
        """Take over a saved state whose groups fit; nothing changes before all of it was checked."""
        by_number = dict(
            zip(
                chain.from_iterable(group["params"] for group in saved),
                chain.from_iterable(group["params"] for group in self.param_groups),
                strict=True,
            )
        )
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for number, kept in kept_by_number.items():
            p = by_number.get(number)
            state[number if p is None else p] = kept if p is None else self._loaded(p, kept)
        groups = [
            {**{k: copy.deepcopy(v) for k, v in theirs.items() if k != "params"}, "params": mine["params"]}
            for mine, theirs in zip(self.param_groups, saved, strict=True)
        ]
        for mine, theirs in zip(self.param_groups, groups, strict=True):
            if "param_names" in mine and "param_names" not in theirs:
                theirs["param_names"] = mine["param_names"]
        self.__setstate__({"state": state, "param_groups": groups})

    def _loaded(self, p: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """What is remembered of one parameter, once its shapes are checked, as copies in the parameter's type."""
        for key in self.like_parameter:
            value = kept.get(key)
            if isinstance(value, Tensor) and value.shape != p.shape:
                raise ValueError(
                    f"loaded state dict does not fit: '{key}' of {self._name_of(p)} has shape {list(value.shape)}, "
                    f"the parameter has {list(p.shape)}"
                )
        return {key: _taken_over(p, value, key == "step") for key, value in kept.items()}

    def _name_of(self, p: Tensor) -> str:
        for number, group in enumerate(self.param_groups):
            for at, other in enumerate(group["params"]):
                if other is p:
                    name = group["param_names"][at] if "param_names" in group else f"number {at}"
                    return f"parameter {name} in group {number}"
        return "a parameter"

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_step_pre_hooks" not in self.__dict__:
            self._prepare()

    # -------------------------------------------------------------------------------------------------------- hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before ``step``; it may return new ``(args, kwargs)``."""
        return register(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after ``step``."""
        return register(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict()``."""
        return register(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` with what ``state_dict()`` is to return; it may return another one."""
        return register(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading, with a shallow copy; it may return another one."""
        return register(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return register(self._load_state_dict_post_hooks, hook, prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _taken_over(p: Any, value: Any, counts: bool) -> Any:
    """A copy of a remembered value on its parameter's device, and in its type unless it counts steps."""
    if isinstance(value, Tensor):
        dtype = p.dtype if p.is_floating_point() and not counts else None
        return value.detach().to(device=p.device, dtype=dtype).clone()
    if isinstance(value, dict):
        return {key: _taken_over(p, item, key == "step") for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_taken_over(p, item, False) for item in value])
    return value


def _refuse_sets(params: Any) -> None:
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    if not isinstance(params, Iterable):
        raise TypeError(f"params must be an iterable of Tensors or dicts, not {type(params).__name__}")


def _named(params: list[Any]) -> tuple[list[Any], list[str] | None]:
    """Parameters without their names, and the names where they came as pairs (name, tensor)."""
    pairs = [isinstance(p, tuple) for p in params]
    if not any(pairs):
        return params, None
    if not all(pairs):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [p for _, p in params], [name for name, _ in params]
