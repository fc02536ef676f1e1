"""Pruning: parts of parameters held at 0 by a mask.

A pruned parameter is kept as ``<name>_orig`` beside its mask, the buffer ``<name>_mask``; ``<name>`` is their product, computed
before every call of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any

from tensorlab import creation, functional, random
from tensorlab.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod:
    """A way to choose what is pruned. A subclass says ``PRUNING_TYPE`` and defines ``compute_mask``.

    ``PRUNING_TYPE`` is what a method that is applied on top of others is shown: ``"unstructured"`` the elements that are left,
    ``"structured"`` the channels that are left along ``dim``, ``"global"`` everything.
    """

    PRUNING_TYPE: str
    _tensor_name: str
    dim: int

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The new mask from the importance of elements and the mask so far; every method says it."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask()")

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module: Any) -> Any:
        """The parameter times its mask."""
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune a parameter of a module; on top of what is pruned already, if it is."""
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        value = getattr(module, name)
        scores = value if importance_scores is None else importance_scores
        if scores.shape != value.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs "
                f"{value.shape}"
            )
        before = [n for n, hook in module._forward_pre_hooks.items() if _prunes(hook, name)]
        if before:
            old = module._forward_pre_hooks[before[0]]
            together = old if isinstance(old, PruningContainer) else PruningContainer(old)
            mask = _combined(method, scores.detach(), getattr(module, name + "_mask").detach().clone())
            together.add_pruning_method(method)
            del module._forward_pre_hooks[before[0]]
            method = together
        else:
            mask = method.compute_mask(scores.detach(), default_mask=creation.ones_like(value.detach()))
            del module._parameters[name]
            module.register_parameter(name + "_orig", value)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned form of a tensor that belongs to no module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
        mask = creation.ones_like(t.detach()) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the pruned parameter an ordinary one, with its zeros."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.detach()
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _prunes(hook: Any, name: str | None = None) -> bool:
    return isinstance(hook, BasePruningMethod) and (name is None or hook._tensor_name == name)


class PruningContainer(BasePruningMethod):
    """Several methods that were applied to one parameter, one after another."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        for method in args:
            if not self._pruning_methods and isinstance(method, BasePruningMethod):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask that the last method makes of the mask so far."""
        return _combined(self._pruning_methods[-1], t, default_mask)


def _combined(method: BasePruningMethod, t: Any, mask: Any) -> Any:
    """A mask with what a method prunes of the part that it is shown."""
    where: Any
    if method.PRUNING_TYPE == "unstructured":
        where = mask == 1
    elif method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if not 0 <= dim < t.dim():
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        kept = mask.sum([d for d in range(t.dim()) if d != dim]) != 0
        where = (slice(None),) * dim + (kept,)
    elif method.PRUNING_TYPE == "global":
        where = (slice(None),) * t.dim()
    else:
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    new = mask.to(t.dtype).clone()
    new[where] = method.compute_mask(t[where], default_mask=mask[where]).to(new.dtype)
    return new


class Identity(BasePruningMethod):
    """Prunes nothing, and puts a mask of ones in place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far."""
        return default_mask


class _Amount(BasePruningMethod):
    """A method that prunes an amount: a number of elements or channels, or a share of them."""

    amount: Any

    def __init__(self, amount: Any) -> None:
        whole = isinstance(amount, Integral)
        if not whole and not isinstance(amount, Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if amount < 0 or (not whole and float(amount) > 1.0):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def _count(self, size: int) -> int:
        count = int(self.amount) if isinstance(self.amount, Integral) else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


class RandomUnstructured(_Amount):
    """Prunes random elements."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far without as many random elements."""
        return _without_smallest(random.rand_like(t), default_mask, self._count(t.numel()))


class L1Unstructured(_Amount):
    """Prunes the elements that are smallest in size."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far without as many of the smallest elements."""
        return _without_smallest(functional.abs(t), default_mask, self._count(t.numel()))


def _without_smallest(scores: Any, mask: Any, count: int) -> Any:
    new = mask.clone()
    if count:
        new.view(-1)[functional.topk(scores.reshape(-1), count, largest=False).indices] = 0
    return new


class _Channels(_Amount):
    """A method that prunes whole channels along ``dim``."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _scores(self, t: Any) -> Any:
        """How important each channel is."""
        raise NotImplementedError(type(self).__name__)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far without as many of the least important channels."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = self._count(t.shape[self.dim])
        if not count:
            return default_mask
        kept = functional.topk(self._scores(t), t.shape[self.dim] - count).indices
        mask = creation.zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Channels):
    """Prunes random channels."""

    def _scores(self, t: Any) -> Any:
        return random.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Channels):
    """Prunes the channels with the smallest ``n``-norm."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        return functional.norm(t, self.n, [d for d in range(t.dim()) if d != self.dim % t.dim()])


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far times the given one."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


# ------------------------------------------------------------------------------------------------------- as functions


def identity(module: Any, name: str) -> Any:
    """Put a mask of ones in place. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune a number, or a share, of random elements. Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune a number, or a share, of the elements that are smallest in size (or in importance). Returns the module."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune a number, or a share, of random channels along ``dim``. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune a number, or a share, of the channels along ``dim`` with the smallest ``n``-norm. Returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune by a mask that is given. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune the least important elements of several parameters together, given as pairs (module, name)."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    places = list(parameters)
    values = [getattr(module, name).detach() for module, name in places]
    masks: list[Any] = [
        getattr(m, n + "_mask", creation.ones_like(x)) for (m, n), x in zip(places, values, strict=True)
    ]
    important: list[Any] = [scores.get(place, x) for place, x in zip(places, values, strict=True)]
    mask = _combined(method, parameters_to_vector(important).detach(), parameters_to_vector(masks))
    parts = mask.split([x.numel() for x in values])
    for (module, name), x, part in zip(places, values, parts, strict=True):
        custom_from_mask(module, name, part.reshape(x.shape))


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one, with its zeros. Returns the module; ``ValueError`` if it is not pruned."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if _prunes(hook, name):
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether anything inside a module is pruned."""
    return any(_prunes(hook) for inside in module.modules() for hook in inside._forward_pre_hooks.values())
