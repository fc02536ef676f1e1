"""Spectral norm by a hook: ``weight`` is ``weight_orig`` over its largest singular value, computed before every call."""

from __future__ import annotations

from typing import Any

from tensorlab import functional, modes
from tensorlab.nn.parameter import Parameter, is_lazy
from tensorlab.nn.utils.norms import as_matrix, output_dim, power_method, random_direction


class SpectralNorm:
    """The hook that divides a weight by an estimate of its largest singular value."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight as it is now, after turning the singular vectors further if asked to."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            power_method(matrix, u, v, self.n_power_iterations, self.eps, v_first=True)
            u, v = u.clone(), v.clone()  # a second call moves the vectors on, and a backward pass wants these
        return weight / functional.dot(u, functional.mv(matrix, v))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Keep a parameter as ``<name>_orig``, and compute it before every call of the module."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                "before applying spectral normalization"
            )
        height, width = as_matrix(weight.detach(), dim).shape
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", random_direction(weight, height, eps))
        module.register_buffer(name + "_v", random_direction(weight, width, eps))
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(_VersionHook(fn))
        return fn

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again, as it is now."""
        with modes.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class _VersionHook:
    """Notes in a saved state which form of spectral norm it is."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        local_metadata.setdefault("spectral_norm", {})[self.fn.name + ".version"] = self.fn._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by an estimate of its largest singular value before every call; training makes the estimate better.

    ``dim`` counts the outputs: 1 for transposed convolutions, else 0. Returns the module.
    ``parametrizations.spectral_norm`` does the same without a hook. Source: Miyato and others, 2018.
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo ``spectral_norm``. Returns the module; raises ``ValueError`` if there is none."""
    for number, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for number, other in list(module._state_dict_hooks.items()):
        if isinstance(other, _VersionHook) and other.fn.name == name:
            del module._state_dict_hooks[number]
    return module
