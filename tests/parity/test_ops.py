"""Operations against PyTorch: values, types, shapes, strides, gradients, on the sample calls of PyTorch's own table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch

#: Results are drawn, or are whatever was in memory.
NOT_COMPARABLE = {
    "bernoulli", "empty", "empty_like", "empty_permuted", "empty_strided", "multinomial", "new_empty", "new_empty_strided", "normal",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "pca_lowrank", "svd_lowrank",
}  # fmt: skip

#: Sample calls that ask for more than is there, or that say something else here; each with its reason.
LEFT_OUT = {
    ("nn.functional.multi_head_attention_forward", ""): "draws what it drops; test_attention compares it without",
    ("nn.functional.scaled_dot_product_attention", ""): "draws what it drops; test_attention compares it without",
    ("as_strided", "partial_views"): "a tensor that came through NumPy no longer knows the storage around it",
    ("svd", ""): "vectors are unique up to a sign; see test_linalg.py",
    ("linalg.svd", ""): "vectors are unique up to a sign; see test_linalg.py",
    ("linalg.eig", ""): "vectors are unique up to a phase; see test_linalg.py",
    ("linalg.eigh", ""): "vectors are unique up to a sign; see test_linalg.py",
    ("linalg.pinv", "singular"): "PyTorch's table gives the factors of the matrix; see test_linalg.py",
    ("linalg.lstsq", "grad_oriented"): "PyTorch's table takes two of the four results; see test_linalg.py",
    (
        "linalg.householder_product",
        "",
    ): "PyTorch's float32 gradients are off by 1e-5 of the largest; see test_linalg.py",
    ("cholesky_inverse", ""): "PyTorch gives a gradient to the triangle that is not read; see test_linalg.py",
    ("cholesky_solve", ""): "PyTorch gives a gradient to the triangle that is not read; see test_linalg.py",
    ("where", ""): "PyTorch's table gives the arguments in the order of the method",
    ("einsum", ""): "PyTorch's table gives the equation last",
    (
        "nn.functional.ctc_loss",
        "",
    ): "PyTorch's gradient counts on a log_softmax before it; compared behind one in test_losses",
    ("nn.functional.rrelu", ""): "draws its slopes",
    ("special.bessel_j0", ""): "beyond 5 PyTorch's values are off by up to 1e-6 in float64",
    ("special.bessel_j1", ""): "beyond 5 PyTorch's values are off by up to 1e-6 in float64",
    ("special.bessel_y0", ""): "beyond 5 PyTorch's values are off by up to 1e-6 in float64",
    ("special.bessel_y1", ""): "beyond 5 PyTorch's values are off by up to 1e-6 in float64",
    ("zero_", ""): "PyTorch's table writes into a leaf through a copy",
}
#: Sums that PyTorch rounds after every term where they are rounded once here, which tells in the types of 16 bits.
ROUNDED_ONCE = {
    "addbmm", "addr", "nn.functional.conv_transpose1d", "nn.functional.conv_transpose2d", "nn.functional.conv_transpose3d",
    "nn.functional.interpolate trilinear",
    "matrix_exp",
}  # fmt: skip
#: Sums in which large terms cancel, so that single precision shows their rounding in small results; double precision agrees to 1e-7.
CANCELS = {
    "matrix_exp", "nn.functional.conv_transpose3d", "nn.functional.layer_norm", "grid_sampler_2d", "grid_sampler_3d", "linalg.lstsq",
    "linalg.multi_dot",
}  # fmt: skip
#: In-place forms that PyTorch lets make their tensor larger; here nothing that is written to changes its shape.
GROWS = {"addbmm"}
#: Which of equal elements comes first is nobody's promise, so only types in which sample values differ are compared.
ORDERED = {"topk", "sort", "argsort", "msort", "median", "kthvalue", "mode"}
#: Gradients that are not compared: PyTorch's are off by 0.003 of 5 in float32, or wrong (the part that was written over gets grad,
#: the rest gets 0), or NaN (the infinity norm of complex numbers), or left out (that of istft's window), or a sum that cancels (cubic
#: weights of grid_sample). Ours are checked against differences. PyTorch's of complex
#: Cholesky factors are not Hermitian; what means something of them is compared in test_linalg.py.
ROUGH = {
    ("logcumsumexp", torch.float32), ("logcumsumexp", torch.complex64), ("as_strided_scatter", torch.float32),
    ("as_strided_scatter", torch.float64), ("as_strided_scatter", torch.complex64), ("renorm", torch.complex64),
    ("istft", torch.complex64), ("nn.functional.grid_sample", torch.float32),
    ("cholesky", torch.complex64), ("linalg.cholesky", torch.complex64), ("linalg.cholesky_ex", torch.complex64),
}  # fmt: skip
#: Sample calls in a type that the result has no type for.
NO_RESULT = {("view_as_complex", torch.float16): "there is no complex32"}
DTYPES = [
    getattr(torch, n) for n in ("float32", "float64", "int64", "uint8", "bool", "float16", "bfloat16", "complex64")
]
DIFFERENTIABLE = (torch.float32, torch.float64, torch.complex64)


def have() -> list[Any]:
    """Entries of PyTorch's table whose function is here too."""
    return [
        op
        for op in oracle.table()
        if not op.name.startswith(("_", "masked.", "sparse", "ops.", "torch.", "jiterator"))
        and op.name not in NOT_COMPARABLE
        and (op.name, op.variant_test_name) not in LEFT_OUT
        and oracle.function(op.name) is not None
    ]


def label(op: Any) -> str:
    return f"{op.name} {op.variant_test_name}".strip()


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tl.Tensor, torch.Tensor)):
        if value.requires_grad:
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))


def weights(outs: list[Any]) -> list[Any]:
    return [torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape).to(y.dtype) for y in outs]


def gradients_differ(
    found: Any, expected: Any, ours_in: list[Any], theirs_in: list[Any], *, cancels: bool = False
) -> list[str]:
    ours_out, theirs_out = list(leaves(found)), list(leaves(expected))
    if len(ours_out) != len(theirs_out):
        return [f"{len(ours_out)} results require grad instead of {len(theirs_out)}"]
    if not ours_out:
        return []
    seeds = weights(theirs_out)
    theirs = torch.autograd.grad(theirs_out, theirs_in, seeds, allow_unused=True)
    ours = tl.autograd.grad(ours_out, ours_in, [oracle.ours(seed) for seed in seeds], allow_unused=True)
    said = []
    for g, h in zip(ours, theirs, strict=True):
        if g is None or h is None:
            missing = oracle.to_numpy(h) if g is None and h is not None else g.numpy() if g is not None else None
            said += ["a gradient is missing"] if missing is not None and missing.any() else []
        else:
            said += [f"gradient: {line}" for line in oracle.differences(g, h, cancels=cancels)]
    return said


def samples(op: Any, dtype: Any, requires_grad: bool = False) -> Iterator[Any]:
    """Sample calls; those of ``scatter`` that add or multiply have no gradient in PyTorch."""
    for sample in oracle.samples(op, dtype, requires_grad):
        if not (requires_grad and op.name == "scatter" and "reduce" in sample.kwargs):
            yield sample


def _values_of_low_precision(said: list[str], expected: Any) -> bool:
    low = isinstance(expected, torch.Tensor) and expected.dtype in (torch.float16, torch.bfloat16)
    return low and all(line.startswith("values") for line in said)


def exactly(op: Any, sample: Any) -> Any:
    """What PyTorch gives in float32, rounded once: it rounds between the steps of some operations, where we do not."""

    def wide(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.float() if value.dtype in (torch.float16, torch.bfloat16) else value
        if value in (torch.float16, torch.bfloat16):
            return torch.float32
        if type(value) in (tuple, list):
            return type(value)(wide(item) for item in value)
        return {key: wide(item) for key, item in value.items()} if isinstance(value, dict) else value

    return op(wide(sample.input), *wide(sample.args), **wide(sample.kwargs)).to(
        op(sample.input, *sample.args, **sample.kwargs).dtype
    )


def compare(op: Any, sample: Any, *, strides: bool = False) -> list[str]:
    """How one sample call differs from PyTorch's."""
    expected = op(sample.input, *sample.args, **sample.kwargs)
    args, kwargs = (oracle.ours(sample.input), *oracle.ours(sample.args)), oracle.ours(sample.kwargs)
    found = oracle.function(op.name)(*args, **kwargs)
    cancels = op.name in CANCELS
    said = oracle.differences(found, expected, strides=strides, cancels=cancels)
    if said and _values_of_low_precision(said, expected):
        said = oracle.differences(found, exactly(op, sample))
    if not said and not strides:
        theirs_in = list(leaves((sample.input, sample.args, sample.kwargs)))
        said = gradients_differ(found, expected, list(leaves((args, kwargs))), theirs_in, cancels=cancels)
    return said


@pytest.mark.parametrize("op", have(), ids=label)
@pytest.mark.filterwarnings("ignore")
def test_values_types_shapes_and_gradients_are_those_of_pytorch(op: Any) -> None:
    wrong: dict[str, str] = {}
    for dtype in DTYPES:
        if dtype not in op.supported_dtypes("cpu") or (op.name, dtype) in NO_RESULT:
            continue
        if {op.name, label(op)} & ROUNDED_ONCE and dtype in (torch.float16, torch.bfloat16):
            continue
        differentiable = dtype in DIFFERENTIABLE and dtype in op.supported_backward_dtypes("cpu")
        differentiable = differentiable and (op.name, dtype) not in ROUGH
        if op.name in ORDERED and dtype not in (torch.float32, torch.float64):
            continue
        for number, sample in enumerate(samples(op, dtype, requires_grad=differentiable)):
            if said := compare(op, sample):
                wrong[f"{dtype} sample {number}"] = "; ".join(said)
    assert wrong == {}


@pytest.mark.filterwarnings("ignore")
def test_strides_of_results_are_nearly_always_those_of_pytorch() -> None:
    """Of dimensions with one index the strides say nothing, and PyTorch's come from how it works: there more may differ."""
    calls = 0
    differ: list[str] = []
    matter: list[str] = []
    for op in have():
        if torch.float32 in op.supported_dtypes("cpu") and op.name != "nonzero":  # whose empty results differ
            for sample in samples(op, torch.float32):
                calls += 1
                if any(line.startswith("strides") for line in compare(op, sample, strides=True)):
                    differ.append(op.name)
                    matter += [op.name] if moves(op, sample) else []
    assert calls > 5000
    assert len(matter) / calls < 0.005, sorted(set(matter))
    assert len(differ) / calls < 0.035, sorted(set(differ))


def moves(op: Any, sample: Any) -> bool:
    """Whether a result has strides unlike PyTorch's in dimensions along which there is somewhere to go."""

    def steps(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [steps(item) for item in value]
        if not isinstance(value, (tl.Tensor, torch.Tensor)) or 0 in value.shape:
            return None
        return [step for size, step in zip(value.shape, value.stride(), strict=True) if size > 1]

    found = oracle.function(op.name)(oracle.ours(sample.input), *oracle.ours(sample.args), **oracle.ours(sample.kwargs))
    return bool(steps(found) != steps(op(sample.input, *sample.args, **sample.kwargs)))


# -------------------------------------------------------------------------------------------------------- in-place forms


def in_place() -> list[Any]:
    return [op for op in have() if hasattr(tl.Tensor, getattr(op.inplace_variant, "__name__", "no method"))]


@pytest.mark.parametrize("op", in_place(), ids=label)
@pytest.mark.filterwarnings("ignore")
def test_in_place_forms_write_what_pytorch_writes_and_refuse_what_it_refuses(op: Any) -> None:
    name = op.inplace_variant.__name__
    for dtype in (torch.float32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.bfloat16):
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for sample in samples(op, dtype):
            theirs = sample.input.clone()
            ours = oracle.ours(theirs.clone())
            args, kwargs = oracle.ours(sample.args), oracle.ours(sample.kwargs)
            try:
                op.inplace_variant(theirs, *sample.args, **sample.kwargs)
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    getattr(ours, name)(*args, **kwargs)
                continue
            if op.name in GROWS and theirs.shape != sample.input.shape:
                with pytest.raises(RuntimeError, match="cannot make its tensor larger"):
                    getattr(ours, name)(*args, **kwargs)
                continue
            assert getattr(ours, name)(*args, **kwargs) is ours
            if op.name not in ROUNDED_ONCE or dtype is not torch.bfloat16:
                assert oracle.differences(ours, theirs, strides=True) == [], (dtype, sample)
            assert ours._version == theirs._version


# ----------------------------------------------------------------------------------------------- types that meet each other

BINARY = [
    "add", "sub", "rsub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "maximum", "minimum", "eq", "ne", "lt", "le", "gt",
    "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
]  # fmt: skip
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
NUMBERS = [True, 2, -2, 2.5, 300, 1 + 2j, 0, -1, 2**40]


def operands(dtype: Any) -> list[Any]:
    """The same values with a dimension and without."""
    return [torch.tensor(v).to(dtype) for v in ([3, 1, 2], 3)]


def outcome(function: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return error


def differently(name: str, a: Any, b: Any) -> str | None:
    """How a binary operation differs from PyTorch's, apart from what is different on purpose."""
    expected, found = outcome(getattr(torch, name), a, b), outcome(getattr(tl, name), oracle.ours(a), oracle.ours(b))
    if isinstance(expected, Exception) or isinstance(found, Exception):
        if isinstance(found, type(expected)) or on_purpose(name, a, b, expected):
            return None
        return f"{found!r:.80} instead of {expected!r:.80}"
    if on_purpose(name, a, b, expected):
        return None
    return "; ".join(oracle.differences(found, expected)) or None


def on_purpose(name: str, a: Any, b: Any, expected: Any) -> bool:
    number = not isinstance(b, torch.Tensor)
    if number and name in ("lt", "le", "gt", "ge", "eq", "ne") and a.dtype in INTEGERS:
        limits = torch.iinfo(a.dtype)
        if isinstance(b, int) and not limits.min <= b <= limits.max:
            return True  # compared as numbers, never wrapped
    if number and name == "pow" and "without overflow" in str(expected) and a.is_floating_point():
        return True  # infinity, as for all other operations
    if isinstance(expected, TypeError) and number:
        return True  # a number may stand where PyTorch insists on a tensor
    if isinstance(expected, RuntimeError) and any(word in str(expected) for word in ("ComplexHalf", "complex tensors")):
        return True  # no complex32 here; complex numbers compare as NumPy's do
    if name in ("lt", "le", "gt", "ge") and isinstance(expected, NotImplementedError):
        return True
    return number and b is True and (name in ("sub", "rsub") or (name == "pow" and a.dtype == torch.bool))


@pytest.mark.parametrize("name", BINARY)
def test_two_types_meet_as_in_pytorch_with_and_without_dimensions(name: str) -> None:
    wrong = {}
    for first in oracle.DTYPES:
        for second in oracle.DTYPES:
            for a in operands(first):
                for b in operands(second):
                    if said := differently(name, a, b):
                        wrong[f"{first}{list(a.shape)} {second}{list(b.shape)}"] = said
    assert wrong == {}


@pytest.mark.parametrize("name", BINARY)
def test_a_python_number_meets_every_type_as_in_pytorch(name: str) -> None:
    wrong = {}
    for dtype in oracle.DTYPES:
        for a in operands(dtype):
            for number in NUMBERS:
                if said := differently(name, a, number):
                    wrong[f"{dtype}{list(a.shape)} {number}"] = said
    assert wrong == {}


def test_promote_types_can_cast_and_result_type_are_pytorchs() -> None:
    for a, ours_a in oracle.DTYPES.items():
        for b, ours_b in oracle.DTYPES.items():
            if torch.promote_types(a, b) in oracle.DTYPES:
                assert tl.promote_types(ours_a, ours_b) is oracle.DTYPES[torch.promote_types(a, b)], (a, b)
            assert tl.can_cast(ours_a, ours_b) == torch.can_cast(a, b), (a, b)
            for x in operands(a):
                for y in operands(b):
                    theirs = torch.result_type(x, y)
                    assert tl.result_type(oracle.ours(x), oracle.ours(y)).name == oracle.NAMES[theirs], (a, b)


# ------------------------------------------------------------------------------------------------------------- einsum

EQUATIONS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]), ("i,i->", [(3,), (3,)]), ("i,j->ij", [(3,), (2,)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]), ("...i->...", [(2, 3, 4)]), ("bn,anm,bm->ba", [(2, 5), (3, 5, 4), (2, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("ijk,jil->kl", [(3, 4, 5), (4, 3, 2)]), ("i...,...j->ij...", [(2, 3), (3, 4)]),
    ("ab,cd->acbd", [(2, 3), (4, 5)]), ("i,i->i", [(3,), (3,)]), ("ij,j->i", [(2, 1), (3,)]), ("iij->j", [(2, 2, 3)]),
    ("ij,kl", [(1, 2), (0, 3)]),
    ("a b, b c -> a c", [(2, 3), (3, 2)]), ("zy,yx", [(2, 3), (3, 4)]), ("i->", [(0,)]), ("...,...->...", [(2, 3), (3,)]),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[e for e, _ in EQUATIONS])
def test_einsum_sums_the_same_products_with_the_same_gradients(equation: str, shapes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(0)
    theirs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    ours = [oracle.ours(x) for x in theirs]
    y, x = torch.einsum(equation, *theirs), tl.einsum(equation, *ours)
    assert oracle.differences(x, y) == []
    assert gradients_differ(x, y, ours, theirs) == []


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk", [(2, 3)]),
        ("ij", [(2, 3, 4)]),
        ("ij,jk", [(2, 3), (4, 5)]),
        ("ii", [(2, 3)]),
        ("i->j", [(2,)]),
        ("i1", [(2, 2)]),
        ("ij->ii", [(2, 2)]),
    ],
)
def test_einsum_refuses_what_pytorch_refuses(equation: str, shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(RuntimeError):
        torch.einsum(equation, *[torch.zeros(shape) for shape in shapes])
    with pytest.raises(RuntimeError, match=r"einsum\(\)"):
        tl.einsum(equation, *[tl.zeros(shape) for shape in shapes])


def test_einsum_takes_numbered_dimensions() -> None:
    x, y = torch.randn(2, 3), torch.randn(3, 4)
    expected = torch.einsum(x, [0, 1], y, [1, 2], [2, 0])
    assert oracle.differences(tl.einsum(oracle.ours(x), [0, 1], oracle.ours(y), [1, 2], [2, 0]), expected) == []


def test_unique_has_neither_disorder_nor_repeats_where_pytorch_has_both() -> None:
    nan = float("nan")
    rows = tl.tensor([[2.0, nan], [1.0, 0.0], [2.0, nan], [1.0, 0.0]])
    values, inverse, counts = tl.unique(rows, dim=0, return_inverse=True, return_counts=True)
    assert repr(values.tolist()) == "[[1.0, 0.0], [2.0, nan]]"
    assert (inverse.tolist(), counts.tolist()) == ([1, 0, 1, 0], [2, 2])
    plain = torch.tensor([[3, 1, 3], [2, 1, 2]])
    for dim in (None, 0, 1):
        theirs = torch.unique(plain, return_inverse=True, return_counts=True, dim=dim)
        assert (
            oracle.differences(tl.unique(oracle.ours(plain), return_inverse=True, return_counts=True, dim=dim), theirs)
            == []
        )
