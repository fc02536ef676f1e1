"""Tensors at another size, and at places that a grid names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import floor
from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    affine_grid_generator,
    grid_sampler,
)
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS

__all__ = ["affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

Tensor = Any

#: The row for a mode and a number of dimensions, batch and channels included.
_UPSAMPLE = {
    **{("nearest", n + 2): f"upsample_nearest{n}d" for n in (1, 2, 3)},
    **{("nearest-exact", n + 2): f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)},
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("trilinear", 5): "upsample_trilinear3d",
    ("bicubic", 4): "upsample_bicubic2d",
}
_AREA = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}
_DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """``[N, C, *size]`` at another size, given as such or as a factor, for each dimension or for all.

    ``mode`` is ``"nearest"`` (as old libraries round), ``"nearest-exact"``, ``"linear"`` (3D), ``"bilinear"`` or ``"bicubic"`` (4D),
    ``"trilinear"`` (5D) or ``"area"``. With ``align_corners`` the outermost elements lie on each other, else their outer edges do.
    ``antialias`` widens the window of bilinear and bicubic when the result is smaller. ``recompute_scale_factor`` takes the factor from
    the rounded sizes. Raises ``ValueError`` for arguments that contradict each other.

    >>> import tensorlab as tl
    >>> tl.nn.functional.interpolate(tl.tensor([[[1., 3.]]]), size=4, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    need_tensor("interpolate", "input", 1, input)
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    n = input._a.ndim - 2
    wanted, scales = _sizes(input, n, size, scale_factor, mode, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic") and input._a.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if mode == "area" and input._a.ndim in _AREA:
        return _AREA[input._a.ndim](input, wanted)
    name = _UPSAMPLE.get((mode, input._a.ndim))
    if name is None:
        raise _no_mode(mode, input._a.ndim)
    shape = tuple(input._a.shape)
    if min(*wanted, *shape[2:]) <= 0 or shape[1] == 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input (H, W) {list(shape)} and output {list(wanted)}"
        )
    row = ROWS[f"_{name}_aa" if antialias else name]
    return call(row, (input,), size=tuple(wanted), scales=scales, align_corners=bool(align_corners))


def _no_mode(mode: str, ndim: int) -> Exception:
    if mode in _DIMS and ndim in (3, 4, 5):
        return NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {_DIMS[mode]}D input")
    return NotImplementedError(
        "Input Error: Only 3D, 4D and 5D input Tensors supported "
        f"(got {ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
    )


def _sizes(
    input: Tensor, n: int, size: Any, scale_factor: Any, mode: str, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The size of the result, and the factors where they count themselves."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if recompute and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if size is not None:
        return _each("size", size, n, input), (None,) * n
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = _each("scale_factor", scale_factor, n, input)
    wanted = tuple([floor(float(k * f)) for k, f in zip(input._a.shape[2:], factors, strict=True)])
    counts = not recompute and mode != "area"
    return wanted, tuple([float(f) for f in factors]) if counts else (None,) * n


def _each(name: str, value: Any, n: int, input: Tensor) -> tuple[Any, ...]:
    if not isinstance(value, (tuple, list)):
        return (value,) * n
    if len(value) != n:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(input._a.shape[2:])} and {name} of {list(value)}. Please provide input tensor in (N, C, d1, d2, ..., dK) format and "
            f"{name} in (d1, d2, ..., dK) format."
        )
    return tuple(value)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The old name of :func:`interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", UserWarning, stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of :func:`interpolate` with nearest neighbours."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The old name of :func:`interpolate`, bilinear with ``align_corners=True``."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """``input`` ``[N, C, *size]`` at the places that ``grid`` ``[N, *out, dims]`` names: ``[N, C, *out]``, in two or three dimensions.

    A place is (x, y) or (x, y, z), -1 to 1 across the image. ``mode`` is ``"bilinear"`` (trilinear in three dimensions),
    ``"nearest"`` or ``"bicubic"`` (two dimensions). Outside lie ``"zeros"``, the ``"border"``, or a ``"reflection"``. With
    ``align_corners`` -1 and 1 are the centres of the outermost elements, else their outer edges.
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in paddings:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        align_corners = _unaligned("grid_sample")
    return grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), align_corners)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for :func:`grid_sample` that shows ``input`` under affine maps ``theta``, ``[N, 2, 3]`` or ``[N, 3, 4]``.

    ``size`` is that of the image to make, ``[N, C, H, W]`` or ``[N, C, D, H, W]``; the result is ``[N, *size[2:], dims]``.
    """
    need_tensor("affine_grid", "theta", 1, theta)
    if align_corners is None:
        align_corners = _unaligned("affine_grid")
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {tuple(size)}."
        )
    n = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {tuple(size)}. Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, size, align_corners)


def _unaligned(name: str) -> bool:
    warnings.warn(
        f"{name}(): align_corners was not given and is False, as by default in grid_sample and affine_grid. Say which is meant: True "
        "puts -1 and 1 on the centers of the outermost elements, False on their outer edges.",
        UserWarning,
        stacklevel=3,
    )
    return False
