"""Linear algebra on a GPU: the functions people call give there what they give on the CPU, and say what failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl

rng = np.random.default_rng(0)
SQUARE = rng.standard_normal((2, 3, 3)) + 4 * np.eye(3)
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2)
TALL, RIGHT = rng.standard_normal((2, 4, 3)), rng.standard_normal((2, 3, 2))

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "solve": (tl.linalg.solve, (SQUARE, RIGHT)),
    "solve from the right": (lambda a, b: tl.linalg.solve(a, b.mT, left=False), (SQUARE, RIGHT)),
    "solve of one batch": (lambda a, b: tl.linalg.solve(a, b[0]), (SQUARE, RIGHT)),
    "lstsq": (lambda a, b: tl.linalg.lstsq(a, b, driver="gelsd"), (TALL, rng.standard_normal((2, 4, 2)))),
    "lu": (tl.linalg.lu, (SQUARE,)),
    "lu of a tall matrix": (tl.linalg.lu, (TALL,)),
    "lu_solve": (lambda a, b: tl.linalg.lu_solve(*tl.linalg.lu_factor(a), b), (SQUARE, RIGHT)),
    "ldl_solve": (lambda a, b: tl.linalg.ldl_solve(*tl.linalg.ldl_factor(a), b), (POSITIVE, RIGHT)),
    "cholesky_solve": (lambda a, b: tl.cholesky_solve(b, tl.linalg.cholesky(a)), (POSITIVE, RIGHT)),
    "cholesky upper": (lambda a: tl.linalg.cholesky(a, upper=True), (POSITIVE,)),
    "householder": (lambda a: tl.orgqr(*tl.geqrf(a)), (TALL,)),
    "ormqr": (lambda a, b: tl.ormqr(*tl.geqrf(a), b), (TALL, TALL)),
    "pinv": (tl.linalg.pinv, (TALL,)),
    "pinv of a symmetric matrix": (lambda a: tl.linalg.pinv(a, hermitian=True), (POSITIVE,)),
    "matrix_rank": (tl.linalg.matrix_rank, (TALL,)),
    "cond": (lambda a: tl.linalg.cond(a, 1), (SQUARE,)),
    "norm": (lambda a: tl.linalg.matrix_norm(a, "nuc"), (TALL,)),
    "logdet": (tl.logdet, (POSITIVE,)),
    "matrix_power": (lambda a: tl.linalg.matrix_power(a, -3), (SQUARE,)),
    "vander": (tl.linalg.vander, (rng.standard_normal(4),)),
    "cdist": (tl.cdist, (TALL, TALL)),
    "pdist": (tl.pdist, (TALL[0],)),
    "einsum": (lambda a, b: tl.einsum("bij,bjk->ik", a, b), (SQUARE, RIGHT)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_a_function_gives_on_a_gpu_what_it_gives_on_the_cpu(name: str, device: str, gpu: Any) -> None:
    call, arrays = CALLS[name]
    host, there = call(*map(tl.tensor, arrays)), call(*[tl.tensor(a, device=device) for a in arrays])
    several = isinstance(host, tuple)
    for expected, found in zip(host if several else (host,), there if several else (there,), strict=True):
        assert str(found.device) == device
        assert found.dtype is expected.dtype
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_a_matrix_that_fails_on_a_gpu_is_named_as_on_the_cpu(device: str, gpu: Any) -> None:
    singular = tl.tensor(np.stack([np.eye(3), np.diag([1.0, 0.0, 1.0])]), device=device)
    with pytest.raises(tl.linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 2 is zero"):
        tl.linalg.inv(singular)
    with pytest.raises(tl.linalg.LinAlgError, match=r"\(Batch element 1\): The solver failed"):
        tl.linalg.solve(singular, tl.ones(2, 3, 1, dtype=tl.float64, device=device))
    with pytest.raises(tl.linalg.LinAlgError, match=r"\(Batch element 1\): .*leading minor of order 2"):
        tl.linalg.cholesky(singular)
    found, info = tl.linalg.inv_ex(singular)
    assert info.tolist() == [0, 2]
    assert found[0].tolist() == np.eye(3).tolist()


def test_the_double_refuses_host_arrays_and_says_nothing_of_failures_unless_asked(gpu: Any) -> None:
    import cupy
    import cupyx

    with pytest.raises(np.linalg.LinAlgError, match="only supports cupy.ndarray"):
        cupy.linalg.inv(np.eye(2))
    with pytest.raises(AttributeError):
        cupy.fft.fft(np.ones(2))
    zero = cupy.zeros((2, 2))
    assert np.isnan(cupy.asnumpy(cupy.linalg.inv(zero))).any()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cupy.linalg.inv(zero)
    with pytest.raises(TypeError, match="float16"):
        cupy.linalg.svd(cupy.zeros((2, 2), np.float16))
    with pytest.raises(ValueError, match="must have"):
        cupy.linalg.solve(cupy.zeros((2, 2, 2)), cupy.zeros((2, 1)))
