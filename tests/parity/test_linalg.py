"""Linear algebra against PyTorch: complex gradients, vectors up to their free sign or phase, errors that name the matrix."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle
from tests.parity.test_ops import LEFT_OUT, NOT_COMPARABLE, compare, gradients_differ, leaves

torch = oracle.torch

OLDER = (
    "cholesky", "cross", "det", "logdet", "lu", "lu_solve", "lu_unpack", "matrix_exp", "ormqr", "pinverse", "qr", "triangular_solve",
    "addmm", "addmv", "addr", "addbmm", "baddbmm", "dot", "vdot", "mv", "mm", "bmm", "inner", "tensordot",
)  # fmt: skip
#: Sample calls of these are many; a part of them will do.
AT_MOST = 16


#: What is not Hermitian in a gradient means nothing where the matrix must be Hermitian; PyTorch leaves some of it there.
HERMITIAN = {"cholesky", "linalg.cholesky", "linalg.cholesky_ex"}


def hermitian(x: Any) -> Any:
    return (x + x.mT.conj()) / 2


def of_linear_algebra() -> list[Any]:
    return [
        op
        for op in oracle.table()
        if (op.name.startswith("linalg.") or op.name in OLDER)
        and (op.name, op.variant_test_name) not in LEFT_OUT
        and op.supports_autograd
        and torch.complex128 in op.supported_dtypes("cpu")
    ]


@pytest.mark.parametrize("op", of_linear_algebra(), ids=lambda op: f"{op.name} {op.variant_test_name}".strip())
@pytest.mark.filterwarnings("ignore")
def test_values_and_gradients_of_complex_matrices_are_those_of_pytorch(op: Any) -> None:
    wrong = {}
    for number, sample in enumerate(oracle.samples(op, torch.complex128, requires_grad=True)):
        if number >= AT_MOST:
            break
        if op.name in HERMITIAN:
            x = oracle.ours(sample.input)
            theirs, ours = (
                op(hermitian(sample.input), **sample.kwargs),
                oracle.function(op.name)(hermitian(x), **sample.kwargs),
            )
            said = oracle.differences(ours, theirs) or gradients_differ(ours, theirs, [x], [sample.input])
        else:
            said = compare(op, sample)
        if said:
            wrong[number] = "; ".join(said)
    assert wrong == {}


# ------------------------------------------------------------------------------------- what a free sign or phase leaves


def svd_left(found: Any) -> Any:
    """Of singular vectors what is unique, whichever of them a full decomposition adds: sizes, and products of partners."""
    U, S, V = found
    k = S.shape[-1]
    return U[..., :k].abs(), S, (U[..., :k] * S.unsqueeze(-2)) @ U[..., :k].mT.conj()


def svd_right(found: Any) -> Any:
    U, S, Vh = found
    k = S.shape[-1]
    return Vh[..., :k, :].abs(), S, U[..., :k] @ Vh[..., :k, :]


def old_svd_right(found: Any) -> Any:
    U, S, V = found
    k = S.shape[-1]
    return V[..., :k].abs(), S, U[..., :k] @ V[..., :k].mT.conj()


def eigh_free(found: Any) -> Any:
    values, vectors = found
    return values, vectors.abs(), (vectors * (values**2).unsqueeze(-2)) @ vectors.mT.conj()


def eig_free(found: Any) -> Any:
    values, vectors = found
    return values, vectors.abs()


FREE: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("linalg.svd", "left"): svd_left, ("linalg.svd", "right"): svd_right, ("svd", "left"): svd_left, ("svd", "right"): old_svd_right,
    ("linalg.eigh", ""): eigh_free, ("linalg.eig", ""): eig_free,
}  # fmt: skip


@pytest.mark.parametrize(("name", "part"), FREE, ids=lambda value: value or "all")
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128, torch.float32], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_vectors_agree_up_to_their_free_sign_with_their_gradients(name: str, part: str, dtype: Any) -> None:
    op, free = oracle.entries(name)[0], FREE[name, part]
    differentiable = dtype != torch.float32
    wrong = {}
    for number, sample in enumerate(oracle.samples(op, dtype, requires_grad=differentiable)):
        if sample.kwargs.get("compute_uv") is False:
            continue
        x = oracle.ours(sample.input)
        made = hermitian if name == "linalg.eigh" else lambda y: y
        theirs, ours = op(made(sample.input), **sample.kwargs), oracle.function(name)(made(x), **sample.kwargs)
        expected, found = free(theirs), free(ours)
        said = oracle.differences(found, expected)
        if not said and differentiable:
            said = gradients_differ(found, expected, list(leaves(x)), list(leaves(sample.input)))
        if said:
            wrong[number] = "; ".join(said)
    assert wrong == {}


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_singular_values_alone_and_zeros_for_vectors_are_what_svd_gives_without_them(dtype: Any) -> None:
    x = torch.randn(2, 4, 3, dtype=dtype)
    found, expected = tl.svd(oracle.ours(x), compute_uv=False), torch.svd(x, compute_uv=False)
    assert oracle.differences(tuple(found), tuple(expected)) == []


@pytest.mark.parametrize("name", ["svd", "linalg_eigh", "linalg_eig"])
def test_a_gradient_that_depends_on_a_free_phase_is_refused(name: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    values = values + values.T.conj() if name == "linalg_eigh" else values
    for lib, x in ((torch, torch.tensor(values, requires_grad=True)), (tl, tl.tensor(values, requires_grad=True))):
        vectors = {"svd": lambda lib, x: lib.linalg.svd(x)[0], "linalg_eigh": lambda lib, x: lib.linalg.eigh(x)[1],
                   "linalg_eig": lambda lib, x: lib.linalg.eig(x)[1]}[name](lib, x)  # fmt: skip
        with pytest.raises(RuntimeError, match=f"{name}_backward"):
            (vectors * (1 + 2j)).sum().abs().backward()


# ----------------------------------------------------------------------------------- what PyTorch's table says differently


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("name", ["linalg.pinv", "linalg.lstsq"])
@pytest.mark.filterwarnings("ignore")
def test_matrices_given_by_factors_and_least_squares_have_pytorchs_gradients(name: str, dtype: Any) -> None:
    variant = "singular" if name == "linalg.pinv" else "grad_oriented"
    (op,) = [op for op in oracle.entries(name) if op.variant_test_name == variant]
    for sample in islice(oracle.samples(op, dtype, requires_grad=True), AT_MOST):
        a, b = oracle.ours(sample.input), oracle.ours(sample.args[0])
        expected = op(sample.input, *sample.args, **sample.kwargs)
        if name == "linalg.pinv":
            found: Any = tl.linalg.pinv(a @ b.mT)
        else:
            found = tl.linalg.lstsq(a, b, **sample.kwargs)[:2]
        assert oracle.differences(found, expected) == []
        if a.numel():
            assert gradients_differ(found, expected, [a, b], [sample.input, sample.args[0]]) == []


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_only_the_triangle_that_is_read_has_a_gradient(upper: bool, dtype: Any) -> None:
    torch.manual_seed(0)
    factor = (torch.randn(2, 3, 3, dtype=dtype) + 3 * torch.eye(3, dtype=dtype)).requires_grad_()
    right = torch.randn(2, 3, 2, dtype=dtype, requires_grad=True)
    triangle = {True: lambda x: x.triu(), False: lambda x: x.tril()}[upper]
    with torch.no_grad():
        factor.diagonal(0, -2, -1).copy_(factor.diagonal(0, -2, -1).abs())
    mine, b = oracle.ours(factor), oracle.ours(right)
    for expected, found in (
        (torch.cholesky_inverse(triangle(factor), upper), tl.cholesky_inverse(mine, upper)),
        (torch.cholesky_solve(right, triangle(factor), upper), tl.cholesky_solve(b, mine, upper)),
    ):
        assert oracle.differences(found, expected, strides=True) == []
        assert gradients_differ(found, expected, [mine], [factor]) == []


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_products_of_reflections_are_pytorchs(dtype: Any) -> None:
    (op,) = oracle.entries("linalg.householder_product")
    for sample in oracle.samples(op, dtype, requires_grad=True):
        assert compare(op, sample) == []


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize(("m", "n"), [(5, 3), (3, 5), (4, 4)])
def test_each_driver_gives_the_results_that_pytorchs_gives(driver: str, m: int, n: int) -> None:
    torch.manual_seed(1)
    a, b = torch.randn(2, m, n, dtype=torch.float64), torch.randn(2, m, 2, dtype=torch.float64)
    found = tl.linalg.lstsq(oracle.ours(a), oracle.ours(b), driver=driver)
    assert oracle.differences(tuple(found), tuple(torch.linalg.lstsq(a, b, driver=driver))) == []
    if driver in ("gelsd", "gelss"):
        a[1, :, 0] = a[1, :, 1]  # of lower rank
        found = tl.linalg.lstsq(oracle.ours(a), oracle.ours(b), driver=driver)
        assert oracle.differences(tuple(found), tuple(torch.linalg.lstsq(a, b, driver=driver))) == []


# --------------------------------------------------------------------------------------------------------------- failures


def eye(lib: Any, n: int = 3) -> Any:
    return lib.eye(n)


def one_singular(lib: Any) -> Any:
    """Two matrices, of which the second has no inverse: its second pivot is 0."""
    x = lib.eye(3).repeat(2, 1, 1)
    x[1, 1, 1] = 0
    return x


def indefinite(lib: Any) -> Any:
    x = lib.eye(3).repeat(2, 1, 1)
    x[1, 2, 2] = -1
    return x


#: (a call of either library, words that both errors must have)
FAILS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "inv": (lambda lib: lib.linalg.inv(one_singular(lib)), r"\(Batch element 1\): The diagonal element 2 is zero"),
    "inv of one": (lambda lib: lib.linalg.inv(one_singular(lib)[1]), "linalg.inv: The diagonal element 2 is zero"),
    "solve": (
        lambda lib: lib.linalg.solve(one_singular(lib), lib.ones(3, 1)),
        r"\(Batch element 1\): The solver failed because the input matrix is singular",
    ),
    "solve_ex": (lambda lib: lib.linalg.solve_ex(one_singular(lib), lib.ones(3, 1), check_errors=True), r"solve_ex: \(Batch element 1\)"),
    "inv_ex": (lambda lib: lib.linalg.inv_ex(one_singular(lib), check_errors=True), r"inv_ex: \(Batch element 1\): The diagonal element 2"),
    "cholesky": (
        lambda lib: lib.linalg.cholesky(indefinite(lib)),
        r"\(Batch element 1\): .*leading minor of order 3 is not positive-definite",
    ),
    "the older cholesky": (lambda lib: lib.cholesky(indefinite(lib)), r"cholesky: \(Batch element 1\): .* order 3"),
    "cholesky_ex": (
        lambda lib: lib.linalg.cholesky_ex(indefinite(lib), check_errors=True),
        r"cholesky_ex: \(Batch element 1\): .* order 3",
    ),
    "cholesky of NaN": (lambda lib: lib.linalg.cholesky(eye(lib) * float("nan")), "order 1 is not positive-definite"),
    "lu_factor": (lambda lib: lib.linalg.lu_factor(one_singular(lib)), r"\(Batch element 1\): U\[2,2\] is zero"),
    "svd of NaN": (lambda lib: lib.linalg.svd(eye(lib) * float("nan")), "failed to converge"),
    "integers": (lambda lib: lib.linalg.inv(eye(lib).to(lib.int64)), "Expected a floating point or complex tensor as input"),
    "svd of integers": (lambda lib: lib.linalg.svd(eye(lib).to(lib.int64)), "Expected a floating point or complex tensor as input"),
    "float16": (lambda lib: lib.linalg.inv(eye(lib).to(lib.float16)), "Low precision dtypes not supported"),
    "det of float16": (lambda lib: lib.linalg.det(eye(lib).to(lib.float16)), "not"),
    "a vector": (lambda lib: lib.linalg.inv(lib.ones(3)), "must have at least 2 dimensions"),
    "no square": (lambda lib: lib.linalg.det(lib.ones(3, 2)), "must be batches of square matrices, but they are 3 by 2 matrices"),
    "eig of no square": (lambda lib: lib.linalg.eig(lib.ones(3, 2)), "must be batches of square matrices"),
    "exp of no square": (lambda lib: lib.linalg.matrix_exp(lib.ones(3, 2)), "must be batches of square matrices"),
    "shapes that do not meet": (
        lambda lib: lib.linalg.solve(eye(lib), lib.ones(2, 3)),
        r"Incompatible shapes of A and B for the equation AX = B \(3x3 and 2x3\)",
    ),
    "types that do not meet": (
        lambda lib: lib.linalg.solve(eye(lib), lib.ones(3, dtype=lib.float64)),
        "Expected A and B to have the same dtype",
    ),
    "a triangle of no square": (
        lambda lib: lib.linalg.solve_triangular(lib.ones(2, 3), lib.ones(2, 2), upper=True),
        "batches of square matrices",
    ),
    "a triangle and a vector": (
        lambda lib: lib.linalg.solve_triangular(eye(lib), lib.ones(3), upper=True),
        "must have at least 2 dimensions",
    ),
    "an unknown mode": (lambda lib: lib.linalg.qr(eye(lib), "x"), "unrecognized mode 'x'"),
    "an unknown triangle": (lambda lib: lib.linalg.eigh(eye(lib), "X"), "Expected UPLO argument to be 'L' or 'U', but got X"),
    "an unknown driver": (lambda lib: lib.linalg.lstsq(eye(lib), eye(lib), driver="x"), "parameter `driver` should be one of"),
    "lstsq of other rows": (lambda lib: lib.linalg.lstsq(eye(lib), lib.ones(2, 2)), "should match other.size"),
    "an unknown norm": (lambda lib: lib.linalg.norm(eye(lib), "x"), "Order x not supported"),
    "a matrix norm of order 3": (lambda lib: lib.linalg.matrix_norm(eye(lib), 3), "Order 3 not supported"),
    "one dimension for a matrix": (lambda lib: lib.linalg.matrix_norm(eye(lib), 2, dim=(0,)), "dim must be a 2-tuple"),
    "a dimension twice": (lambda lib: lib.linalg.matrix_norm(eye(lib), 2, dim=(0, 0)), "dims must be different"),
    "an order for three dimensions": (lambda lib: lib.linalg.norm(lib.ones(2, 2, 2), 2), "the input must be 1D or 2D"),
    "three dimensions": (lambda lib: lib.linalg.norm(lib.ones(2, 2, 2), 2, dim=(0, 1, 2)), "must be of length 1 or 2"),
    "the largest of nothing": (lambda lib: lib.linalg.vector_norm(lib.ones(0), float("inf")), "does not have an identity"),
    "a narrower type": (lambda lib: lib.linalg.vector_norm(lib.ones(3, dtype=lib.float64), dtype=lib.float32), "without narrowing"),
    "a condition of order 3": (lambda lib: lib.linalg.cond(eye(lib), 3), "invalid norm type"),
    "half a power": (lambda lib: lib.linalg.matrix_power(eye(lib), 2.5), "must be int, not float"),
    "a product of one": (lambda lib: lib.linalg.multi_dot([eye(lib)]), "expected at least 2 tensors but got 1"),
    "a batch in a product": (lambda lib: lib.linalg.multi_dot([eye(lib), lib.ones(1, 3, 3), eye(lib)]), "tensor 1 must be 2D but got 3D"),
    "a product that does not meet": (lambda lib: lib.linalg.multi_dot([eye(lib), lib.ones(2, 2)]), "cannot be multiplied"),
    "a product of two types": (lambda lib: lib.linalg.multi_dot([eye(lib), eye(lib).to(lib.float64)]), "same dtype"),
    "tensorinv of no index": (lambda lib: lib.linalg.tensorinv(eye(lib), 0), "strictly positive integer for 'ind'"),
    "tensorinv of no square": (lambda lib: lib.linalg.tensorinv(lib.ones(2, 3, 4)), r"prod\(self.shape\[ind:\]\)"),
    "tensorsolve of no square": (
        lambda lib: lib.linalg.tensorsolve(lib.ones(2, 3), lib.ones(2)),
        "Expected self to satisfy the requirement",
    ),
    "no powers": (lambda lib: lib.linalg.vander(lib.ones(3), N=1), "N must be greater than 1"),
    "vecdot of two types": (
        lambda lib: lib.linalg.vecdot(lib.ones(3), lib.ones(3, dtype=lib.int64)),
        "Expected x and y to have the same dtype",
    ),
    "wide reflections": (
        lambda lib: lib.linalg.householder_product(lib.ones(2, 3), lib.ones(2)),
        "must be greater than or equal to input.shape",
    ),
    "too many reflections": (
        lambda lib: lib.linalg.householder_product(lib.ones(3, 2), lib.ones(3)),
        "must be greater than or equal to tau.shape",
    ),
    "pivots of another type": (
        lambda lib: lib.linalg.lu_solve(eye(lib), lib.ones(3, dtype=lib.int64), eye(lib)),
        "pivots should be a Tensor of scalar type",
    ),
    "lu without pivots": (lambda lib: lib.linalg.lu_factor(eye(lib), pivot=False), "LU without pivoting is not implemented"),
    "unpacking other pivots": (
        lambda lib: lib.lu_unpack(eye(lib), lib.ones(3, dtype=lib.int64)),
        "LU_pivots is expected to be a contiguous tensor",
    ),
    "pca of too many": (lambda lib: lib.pca_lowrank(eye(lib), q=5), "not greater than min"),
    "cross of unequal dimensions": (lambda lib: lib.linalg.cross(lib.ones(3), lib.ones(2, 3)), "same number of dimensions"),
    "nuc of three dimensions": (lambda lib: lib.norm(lib.ones(2, 3, 4), p="nuc"), "dim must be a 2-tuple"),
    "qr without Q": (
        lambda lib: lib.linalg.qr(lib.eye(3, requires_grad=True), "r")[1].sum().backward(),
        "depends on Q, which is not computed",
    ),
    "qr with free columns": (
        lambda lib: lib.linalg.qr(lib.ones(3, 2, requires_grad=True), "complete")[1].sum().backward(),
        "not differentiable when mode='complete'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAILS)
@pytest.mark.filterwarnings("ignore")
def test_a_call_that_fails_says_what_pytorch_says(what: str) -> None:
    call, words = FAILS[what]
    with pytest.raises(Exception, match=words) as theirs:
        call(torch)
    with pytest.raises(Exception, match=words) as ours:
        call(tl)
    if isinstance(theirs.value, torch.linalg.LinAlgError):
        assert isinstance(ours.value, tl.linalg.LinAlgError)
    else:
        assert isinstance(ours.value, type(theirs.value)) or isinstance(theirs.value, type(ours.value))
    assert ours.value.__cause__ is None


def test_results_of_the_forms_that_never_raise_are_right_where_a_matrix_is_and_flagged_where_it_is_not() -> None:
    x = one_singular(tl)
    found, info = tl.linalg.inv_ex(x)
    assert info.tolist() == [0, 2]
    assert found[0].tolist() == tl.eye(3).tolist()
    result, info = tl.linalg.solve_ex(x, tl.ones(3, 1))
    assert (info.tolist(), result[0].tolist()) == ([0, 2], [[1.0]] * 3)
    factor, info = tl.linalg.cholesky_ex(indefinite(tl))
    assert (info.tolist(), factor[0].tolist()) == ([0, 3], tl.eye(3).tolist())
    packed, pivots, info = tl.linalg.lu_factor_ex(x)
    assert (info.tolist(), pivots.tolist()) == ([0, 2], [[1, 2, 3], [1, 2, 3]])
    assert "info=" in repr(tl.linalg.lu_factor_ex(x))


def test_results_have_the_names_of_pytorchs() -> None:
    a, b = torch.eye(3), tl.eye(3)
    for name in (
        "slogdet",
        "eigh",
        "eig",
        "svd",
        "qr",
        "lu",
        "lu_factor",
        "lu_factor_ex",
        "inv_ex",
        "cholesky_ex",
        "ldl_factor",
        "ldl_factor_ex",
    ):
        theirs, ours = getattr(torch.linalg, name)(a), getattr(tl.linalg, name)(b)
        assert all(hasattr(theirs, field) for field in ours._fields), name
        assert [getattr(theirs, field) is value for field, value in zip(ours._fields, theirs, strict=True)]
        assert type(ours).__name__ == type(theirs).__name__.split(".")[-1]
    for name in ("slogdet", "svd", "qr", "geqrf"):
        assert all(hasattr(getattr(torch, name)(a), field) for field in getattr(tl, name)(b)._fields), name
    assert all(hasattr(torch.linalg.lstsq(a, a), field) for field in tl.linalg.lstsq(b, b)._fields)


@pytest.mark.filterwarnings("ignore")
def test_low_rank_factors_give_the_matrix_back() -> None:
    rng = np.random.default_rng(0)
    x = tl.tensor(rng.standard_normal((2, 7, 3)) @ rng.standard_normal((2, 3, 5)))
    for given in (x, x.mT, (x + 1j * x)):
        U, S, V = tl.svd_lowrank(given, q=4)
        np.testing.assert_allclose(((U * S.unsqueeze(-2)) @ V.mT.conj()).numpy(), given.numpy(), atol=1e-10)
        np.testing.assert_allclose(S[..., :3].numpy(), tl.linalg.svdvals(given)[..., :3].numpy(), atol=1e-10)
    U, S, V = tl.pca_lowrank(x, q=3)
    centered = x - x.mean(-2, True)
    np.testing.assert_allclose(S.numpy(), tl.linalg.svdvals(centered)[..., :3].numpy(), atol=1e-10)
    U, S, V = tl.svd_lowrank(x, q=3, M=x * 0.5)
    np.testing.assert_allclose((S * 2).numpy(), tl.linalg.svdvals(x)[..., :3].numpy(), atol=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("largest", [True, False])
def test_the_outermost_eigenvalues_are_found_from_products(largest: bool) -> None:
    rng = np.random.default_rng(0)
    z = rng.standard_normal((2, 12, 12))
    a, b = z @ z.swapaxes(-1, -2), np.eye(12) + 0.1 * z @ z.swapaxes(-1, -2)
    A, B = tl.tensor(a), tl.tensor(b)
    expected, _ = torch.lobpcg(torch.tensor(a), k=2, largest=largest)
    rough = tl.linalg.inv(A + 0.1 * tl.eye(12, dtype=tl.float64))
    for options in ({}, {"n": 3}, {"X": tl.tensor(z[..., :2])}, {"iK": rough}):
        values, vectors = tl.lobpcg(A, k=2, largest=largest, **options)
        assert oracle.differences(values, expected) == []
        np.testing.assert_allclose((A @ vectors).numpy(), (vectors * values.unsqueeze(-2)).numpy(), atol=1e-4)
    values, vectors = tl.lobpcg(A, k=2, B=B, largest=largest)
    np.testing.assert_allclose((A @ vectors).numpy(), (B @ vectors * values.unsqueeze(-2)).numpy(), atol=1e-4)
    leaf = tl.tensor(a[0], requires_grad=True)
    values, vectors = tl.lobpcg(leaf, k=2, largest=largest)
    (values.sum() + (vectors.abs() ** 3).sum()).backward()
    other = torch.tensor(a[0], requires_grad=True)
    values, vectors = torch.linalg.eigh((other + other.mT) / 2)
    keep = slice(10, 12) if largest else slice(0, 2)
    (values[keep].sum() + (vectors[:, keep].abs() ** 3).sum()).backward()
    assert oracle.differences(leaf.grad, other.grad) == []
    for lib in (torch, tl):
        with pytest.raises(ValueError, match="not applicable when the number of A rows"):
            lib.lobpcg(lib.eye(3), k=2)


# ---------------------------------------------------------------------------------------------- gradients beyond the table


def test_the_determinant_of_a_singular_matrix_has_its_gradient() -> None:
    for values in (
        [[1.0, 2.0], [2.0, 4.0]],
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
    ):
        x = tl.tensor(values, dtype=tl.float64, requires_grad=True)
        assert tl.autograd.gradcheck(tl.linalg.det, (x,), eps=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["inv", "det", "pinv", "matrix_exp", "cholesky", "solve", "lu", "qr", "svdvals", "eigvalsh", "slogdet"]
)
def test_second_derivatives_of_complex_matrices_agree_with_differences(name: str) -> None:
    rng = np.random.default_rng(3)
    z = rng.standard_normal((2, 3, 3)) + 1j * rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)

    def call(x: Any) -> Any:
        if name in ("cholesky", "eigvalsh"):
            x = x @ x.mT.conj()
        if name == "solve":
            return tl.linalg.solve(x, x[..., :1] * 2)
        found = getattr(tl.linalg, name)(x)
        return [y for y in found if y.requires_grad] if isinstance(found, tuple) else found

    leaf = tl.tensor(z, requires_grad=True)
    assert tl.autograd.gradcheck(call, (leaf,))
    assert tl.autograd.gradgradcheck(call, (leaf,))


@pytest.mark.parametrize("name", ["svd", "eigh", "eig"])
def test_complex_vectors_have_second_derivatives_where_their_phase_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(4)
    z = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))

    def call(x: Any) -> Any:
        if name == "svd":
            return svd_right(tl.linalg.svd(x))
        return eigh_free(tl.linalg.eigh(x + x.mT.conj())) if name == "eigh" else eig_free(tl.linalg.eig(x))

    leaf = tl.tensor(z, requires_grad=True)
    assert tl.autograd.gradcheck(call, (leaf,), atol=1e-4)
    assert tl.autograd.gradgradcheck(call, (leaf,), atol=1e-3)


def test_nodes_have_pytorchs_names() -> None:
    x = tl.eye(3, requires_grad=True)
    y = torch.eye(3, requires_grad=True)
    for name in ("inv", "det", "cholesky", "matrix_exp", "pinv", "svdvals", "eigvalsh", "eigvals"):
        assert getattr(tl.linalg, name)(x).grad_fn.name() == getattr(torch.linalg, name)(y).grad_fn.name()
    for name in ("slogdet", "qr", "svd", "eigh", "eig", "lu_factor"):
        assert getattr(tl.linalg, name)(x)[0].grad_fn.name() == getattr(torch.linalg, name)(y)[0].grad_fn.name()
    assert tl.linalg.solve(x, x).grad_fn.name() == torch.linalg.solve(y, y).grad_fn.name()


def test_everything_pytorch_has_in_linalg_is_here() -> None:
    assert {
        name for name in dir(torch.linalg) if not name.startswith("_") and callable(getattr(torch.linalg, name))
    } - {"Tensor"} <= set(dir(tl.linalg))


def test_no_name_of_linear_algebra_is_left_out_of_the_comparison() -> None:
    assert {name for name, _ in LEFT_OUT if name.startswith("linalg")} == {
        "linalg.svd", "linalg.eig", "linalg.eigh", "linalg.pinv", "linalg.lstsq", "linalg.householder_product",
    }  # fmt: skip
    assert not [name for name in NOT_COMPARABLE if name.startswith("linalg")]
