"""Functions that are more than one row, on a GPU: the same results as in host memory, and nothing large passes through the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.device.elsewhere import same

X = [[3.0, 1.0, 2.0, 1.0], [0.5, -1.0, 4.0, 4.0], [1.0, 1.0, -2.0, 0.0]]
I = [[0, 2, 1, 1], [1, 0, 0, 2], [2, 2, 1, 0]]  # noqa: E741

#: Calls of a matrix of numbers ``x`` and one of indices ``i``.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "quantile": lambda x, i: tl.quantile(x, 0.3, 1),
    "nanquantile": lambda x, i: tl.nanquantile(x, tl.tensor([0.25, 0.5], device=x.device), 0),
    "nanmean": lambda x, i: tl.nanmean(x, 1),
    "dist": lambda x, i: tl.dist(x, x * 2),
    "renorm": lambda x, i: tl.renorm(x, 2, 0, 1.0),
    "cov": lambda x, i: tl.cov(x),
    "corrcoef": lambda x, i: tl.corrcoef(x),
    "histc": lambda x, i: tl.histc(x, 4),
    "histogram": lambda x, i: tl.histogram(x, 4, density=True),
    "histogram with edges": lambda x, i: tl.histogram(x, tl.tensor([-2.0, 0.0, 1.0, 4.0], device=x.device), weight=x.abs()),
    "histogramdd": lambda x, i: tl.histogramdd(x[:, :2], 3),
    "unique": lambda x, i: tl.unique(x, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda x, i: tl.unique_consecutive(x, return_inverse=True, return_counts=True),
    "unique_consecutive rows": lambda x, i: tl.unique_consecutive(x, dim=1),
    "argwhere": lambda x, i: tl.argwhere(x > 1),
    "searchsorted": lambda x, i: tl.searchsorted(tl.sort(x[0]).values, x),
    "searchsorted rows": lambda x, i: tl.searchsorted(tl.sort(x).values, x, right=True),
    "bucketize": lambda x, i: tl.bucketize(x, tl.tensor([0.0, 1.0, 2.0], device=x.device)),
    "isin": lambda x, i: tl.isin(i, i[0]),
    "diff": lambda x, i: tl.diff(x, 2, 0),
    "trapezoid": lambda x, i: tl.trapezoid(x, tl.cumsum(x.abs(), 1)),
    "gradient": lambda x, i: tl.gradient(x, spacing=0.5, edge_order=2),
    "kron": lambda x, i: tl.kron(x, x[:1, :2]),
    "combinations": lambda x, i: tl.combinations(x[0], 2),
    "cartesian_prod": lambda x, i: tl.cartesian_prod(x[0], x[1]),
    "rot90": lambda x, i: tl.rot90(x),
    "tensor_split": lambda x, i: tl.tensor_split(x, 3, 1),
    "hsplit": lambda x, i: tl.hsplit(x, 2),
    "index_put": lambda x, i: tl.index_put(x, (i[0],), x[0], accumulate=True),
    "index_put mask": lambda x, i: tl.index_put(x, (x > 1,), x[0, 0]),
    "index_reduce": lambda x, i: tl.index_reduce(x, 0, i[:, 0], x, "mean"),
    "scatter multiply": lambda x, i: tl.scatter(x, 1, i, x, reduce="multiply"),
    "unravel_index": lambda x, i: tl.unravel_index(i, (2, 2)),
    "take_along_dim": lambda x, i: tl.take_along_dim(x, i, 0),
    "msort": lambda x, i: tl.msort(x),
    "view as int32": lambda x, i: x.view(tl.int32),
    "t_": lambda x, i: x.clone().t_(),
    "masked_scatter_": lambda x, i: x.clone().masked_scatter_(x > 1, x),
    "scatter_reduce_": lambda x, i: x.clone().scatter_reduce_(1, i, x, "amax"),
    "set_": lambda x, i: tl.zeros(2, device=x.device).set_(x.untyped_storage(), 1, (2, 2), (4, 1)),
    "fill_diagonal_": lambda x, i: x.clone().fill_diagonal_(7),
    "nonzero_static": lambda x, i: (x > 1).nonzero_static(size=3),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_the_same_on_a_gpu(name: str, gpu: Any) -> None:
    call = CALLS[name]
    expected = call(tl.tensor(X), tl.tensor(I))
    found = call(tl.tensor(X, device="cuda:1"), tl.tensor(I, device="cuda:1"))
    for ours, theirs in zip(results(found), results(expected), strict=True):
        assert str(ours.device) == "cuda:1"
        same(ours, theirs, rtol=1e-6, memory=False)


def results(value: Any) -> list[Any]:
    return [y for part in value for y in results(part)] if isinstance(value, (tuple, list)) else [value]


def test_copies_of_tensors_on_a_gpu_stay_there_and_share_memory(gpu: Any) -> None:
    import copy
    import pickle

    x = tl.tensor(X, device="cuda:1")
    a, b = copy.deepcopy([x, x.t()])
    a.zero_()
    assert str(b.device) == "cuda:1"
    assert not b.any().item()
    again = pickle.loads(pickle.dumps(x[1:]))
    assert str(again.device) == "cuda:1"
    np.testing.assert_array_equal(again.cpu().numpy(), np.array(X, np.float32)[1:])
