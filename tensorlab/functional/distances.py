"""Distances between points."""

from __future__ import annotations

from typing import Any

from tensorlab import backend, dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.indexing import index_select
from tensorlab.functional.pointwise import sub
from tensorlab.functional.reductions import vector_norm
from tensorlab.functional.shapes import broadcast_tensors
from tensorlab.ops import ROWS
from tensorlab.ops.distances import MODES

Tensor = Any


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The ``p``-norm distance of every point of ``x1`` ``[..., P, M]`` from every point of ``x2`` ``[..., R, M]``: ``[..., P, R]``.

    ``compute_mode`` says whether Euclidean distances may come from a matrix product, which is faster for many points and less exact
    for close ones. The gradient where two points coincide is 0. Raises ``RuntimeError`` for integers, a negative ``p``, or points of
    different dimension.

    >>> import tensorlab as tl
    >>> tl.cdist(tl.tensor([[0., 0.], [3., 4.]]), tl.tensor([[0., 0.]]))
    tensor([[0.],
            [5.]])
    """
    need_tensor("cdist", "x2", 2, x2)
    _need_points("cdist", p, ("X1", x1), ("X2", x2))
    if compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode, which is one of {', '.join(MODES)}")
    return call(ROWS["cdist"], (x1, x2), p=float(p), compute_mode=compute_mode)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The ``p``-norm distances of all pairs of rows of ``[N, M]``, in the order (0, 1), (0, 2), ... : ``[N (N - 1) / 2]``.

    >>> import tensorlab as tl
    >>> tl.pdist(tl.tensor([[0., 0.], [3., 4.], [3., 0.]]))
    tensor([5., 3., 4.])
    """
    if input._a.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._a.ndim}D")
    _need_points("pdist", p, ("input", input))
    xp = backend.namespace(input._a)
    with backend.of(input._a).on(input._a):
        first, second = xp.triu(xp.ones((len(input._a),) * 2, bool), 1).nonzero()
    pairs = [index_select(input, 0, dispatch.wrap(at)) for at in (first, second)]
    return vector_norm(sub(*pairs), p, dim=1)


def _need_points(op: str, p: float, *points: tuple[str, Tensor]) -> None:
    for name, x in points:
        if x._a.dtype.kind in "biuc" or x._a.dtype.itemsize < 4:
            raise RuntimeError(f"{op} only supports floating-point dtypes, {name} got: {x.dtype.name}")
    if p < 0:
        raise RuntimeError(f"{op} only supports non-negative p values, got {p}")


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension; the inputs broadcast."""
    need_tensor("pairwise_distance", "x1", 1, x1)
    need_tensor("pairwise_distance", "x2", 2, x2)
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``x1 · x2`` divided by both lengths along ``dim``, each length at least ``eps``; the inputs broadcast.

    Raises ``RuntimeError`` for integers.
    """
    need_tensor("cosine_similarity", "x1", 1, x1)
    need_tensor("cosine_similarity", "x2", 2, x2)
    common = dispatch.common_dtype([x1, x2])
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.name}")
    x1, x2 = broadcast_tensors(x1.to(common), x2.to(common))
    lengths = [vector_norm(x, 2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)
