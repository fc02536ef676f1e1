"""Wrong calls: where PyTorch refuses, we refuse, with the same class of error and its key words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle
from tests.parity.test_ops import NOT_COMPARABLE

torch = oracle.torch


def refused() -> list[Any]:
    """Entries of PyTorch's table with calls that it refuses."""
    return [
        op
        for op in oracle.table()
        if op.error_inputs_func is not None
        and not op.name.startswith(("_", "masked.", "sparse"))
        and op.name not in NOT_COMPARABLE
        and oracle.function(op.name) is not None
    ]


def allowed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Calls that mean something here: a number on either side of an operation, and ``out`` over an input (nothing is lost)."""
    return "out" in kwargs or any(isinstance(value, (int, float)) for value in args[:2])


@pytest.mark.parametrize("op", refused(), ids=lambda op: op.name)
@pytest.mark.filterwarnings("ignore")
def test_calls_that_pytorch_refuses_are_refused_with_its_class_of_error(op: Any) -> None:
    wrong = {}
    for number, error_input in enumerate(oracle.error_samples(op)):
        sample = error_input.sample_input
        try:
            args, kwargs = (oracle.ours(sample.input), *oracle.ours(sample.args)), oracle.ours(sample.kwargs)
        except (TypeError, ValueError, RuntimeError):
            continue  # what cannot be made here, such as a sparse tensor or one of 65 dimensions
        try:
            op(sample.input, *sample.args, **sample.kwargs)
            continue
        except Exception as error:
            expected = error
        try:
            oracle.function(op.name)(*args, **kwargs)
        except Exception as found:
            same = isinstance(found, type(expected)) or isinstance(expected, type(found))
            if not same and not allowed(args, kwargs):
                wrong[number] = f"{found!r:.90} instead of {expected!r:.90}"
        else:
            if not allowed(args, kwargs):
                wrong[number] = f"nothing instead of {expected!r:.90}"
    assert wrong == {}


def x(lib: Any, *shape: int, **kwargs: Any) -> Any:
    return lib.ones(shape, **kwargs)


def leaf(lib: Any, *shape: int) -> Any:
    return lib.ones(shape, requires_grad=True)


#: (a call of either library, words that both errors must have)
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "view of a transposed tensor": (lambda lib: x(lib, 2, 3).t().view(6), "view size is not compatible with "
        "input tensor's size and stride"),
    "view of another count": (lambda lib: x(lib, 2, 3).view(4), "is invalid for input of size 6"),
    "view with two unknowns": (lambda lib: x(lib, 2, 3).view(-1, -1), "only one dimension can be inferred"),
    "view with an ambiguous unknown": (lambda lib: x(lib, 0, 3).view(0, -1), "ambiguous"),
    "reshape to another count": (lambda lib: x(lib, 2, 3).reshape(5), "is invalid for input of size 6"),
    "shapes that do not broadcast": (lambda lib: x(lib, 2, 3) + x(lib, 2), "The size of tensor a .3. must match "
        "the size of tensor b .2. at non-singleton dimension 1"),
    "matrices that do not meet": (lambda lib: x(lib, 2, 3) @ x(lib, 2, 3), "mat1 and mat2 shapes cannot be multiplied"),
    "matrices of two types": (lambda lib: x(lib, 2, 2) @ x(lib, 2, 2, dtype=lib.float64), "same dtype"),
    "matmul with a number": (lambda lib: lib.matmul(x(lib, 2), 2), "must be Tensor, not int"),
    "a dimension out of range": (lambda lib: x(lib, 2, 3).sum(2), "Dimension out of range"),
    "a dimension twice": (lambda lib: x(lib, 2, 3).sum((0, 0)), "dim 0 appears multiple times in the list of dims"),
    "transpose out of range": (lambda lib: x(lib, 2, 3).transpose(0, 2), "Dimension out of range"),
    "t of three dimensions": (lambda lib: x(lib, 2, 3, 4).t(), "expects a tensor with <= 2 dimensions"),
    "permute with too few": (lambda lib: x(lib, 2, 3).permute(0), "number of dimensions in the tensor input "
        "does not match the length of the desired ordering"),
    "permute with a repeat": (lambda lib: x(lib, 2, 3).permute(0, 0), "multiple|duplicate|repeated"),
    "expand of a larger dimension": (lambda lib: x(lib, 2, 3).expand(2, 4), "must match the existing size .3. "
        "at non-singleton dimension 1"),
    "expand to fewer dimensions": (lambda lib: x(lib, 2, 3).expand(3), "must be greater or equal to the number "
        "of dimensions in the tensor"),
    "an index out of bounds": (lambda lib: x(lib, 2, 3)[2], "index 2 (is out of bounds|out of range)"),
    "a list index out of bounds": (lambda lib: x(lib, 2, 3)[[0, 5]], "index 5 is out of bounds for dimension 0 with size 2"),
    "too many indices": (lambda lib: x(lib, 2)[0, 0], "too many indices for tensor of dimension 1"),
    "an index into a number": (lambda lib: x(lib)[0], "invalid index of a 0-dim tensor"),
    "a step below 1": (lambda lib: x(lib, 4)[::-1], "step must be greater than zero"),
    "a mask of another shape": (lambda lib: x(lib, 4)[lib.tensor([True, False])], "The shape of the mask .2. at "
        "index 0 does not match the shape of the indexed tensor .4. at index 0"),
    "two index tensors that do not broadcast": (lambda lib: x(lib, 4, 4)[[0, 1], [0, 1, 2]], "shape mismatch: indexing tensors could not be broadcast together"),
    "a float index": (lambda lib: x(lib, 4)[lib.tensor([1.0])], "tensors used as indices must be long, int, byte or bool tensors"),
    "select out of range": (lambda lib: x(lib, 2).select(0, 2), "out of range for tensor of size"),
    "an assignment that does not fit": (lambda lib: x(lib, 4).__setitem__(slice(0, 2), x(lib, 3)), "must match the existing size|shape mismatch|expand"),
    "split into sizes that do not add up": (lambda lib: x(lib, 4).split([1, 2]), "expects split_sizes to sum exactly to 4"),
    "split by a negative size": (lambda lib: x(lib, 4).split(-1), "split_size be (positive|non-negative)"),
    "no chunks": (lambda lib: x(lib, 4).chunk(0), "greater than 0, got: 0"),
    "cat of other shapes": (lambda lib: lib.cat([x(lib, 2, 3), x(lib, 2, 4)]), "Sizes of tensors must match except in dimension 0"),
    "cat of numbers": (lambda lib: lib.cat([x(lib), x(lib)]), "zero-dimensional tensor .at position 0. cannot be concatenated"),
    "cat of nothing": (lambda lib: lib.cat([]), "expected a non-empty list of Tensors"),
    "stack of other shapes": (lambda lib: lib.stack([x(lib, 2), x(lib, 3)]), "stack expects each tensor to be equal size"),
    "max of nothing": (lambda lib: x(lib, 0).max(), "Expected reduction dim to be specified for input.numel.. == 0"),
    "max along nothing": (lambda lib: x(lib, 2, 0).max(1), "Expected reduction dim 1 to have non-zero size"),
    "argmax of nothing": (lambda lib: x(lib, 0).argmax(), "Expected reduction dim"),
    "mean of integers": (lambda lib: x(lib, 2, dtype=lib.int64).mean(), "could not infer output dtype"),
    "integers divided by zero": (lambda lib: x(lib, 2, dtype=lib.int64) // 0, "ZeroDivisionError"),
    "a remainder of zero": (lambda lib: x(lib, 2, dtype=lib.int64) % 0, "ZeroDivisionError"),
    "an integer to a negative power": (lambda lib: x(lib, 2, dtype=lib.int64) ** -1, "Integers to negative integer powers are not allowed"),
    "booleans subtracted": (lambda lib: x(lib, 2, dtype=lib.bool) - x(lib, 2, dtype=lib.bool), "Subtraction, the `-` operator, with two bool tensors is not supported"),
    "a boolean negated": (lambda lib: -x(lib, 2, dtype=lib.bool), "Negation, the `-` operator, on a bool tensor is not supported"),
    "integers that require grad": (lambda lib: x(lib, 2, dtype=lib.int64, requires_grad=True), "floating point"),
    "item of two": (lambda lib: x(lib, 2).item(), "elements cannot be converted to Scalar"),
    "truth of two": (lambda lib: bool(x(lib, 2)), "Boolean value of Tensor with more than one value is ambiguous"),
    "truth of none": (lambda lib: bool(x(lib, 0)), "Boolean value of Tensor with no values is ambiguous"),
    "length of a number": (lambda lib: len(x(lib)), "len.. of a 0-d tensor"),
    "a loop over a number": (lambda lib: list(x(lib)), "iteration over a 0-d tensor"),
    "numpy of what requires grad": (lambda lib: leaf(lib, 2).numpy(), "Use tensor.detach...numpy.. instead"),
    "a write into a leaf": (lambda lib: leaf(lib, 2).add_(1), "a leaf Variable that requires grad"),
    "a write into a view of a leaf": (lambda lib: leaf(lib, 2)[0].add_(1), "a view of a leaf Variable that requires grad"),
    "a write into one of several views": (lambda lib: (leaf(lib, 4) * 1).split(2)[0].add_(1), "is the output of a function that returns multiple views"),
    "a write into expanded memory": (lambda lib: x(lib, 1).expand(3).add_(1), "more than one element of the written-to tensor"),
    "a write over a shifted input": (lambda lib: (lambda b: b[1:].add_(b[:-1]))(x(lib, 4)), "some elements of the input tensor and the written-to tensor"),
    "a float added into integers": (lambda lib: x(lib, 2, dtype=lib.int64).add_(1.5), "can't be cast to"),
    "integers divided in place": (lambda lib: x(lib, 2, dtype=lib.int64).div_(2), "can't be cast to"),
    "a larger tensor added in place": (lambda lib: x(lib, 1).add_(x(lib, 3)), "doesn't match the broadcast shape"),
    "out with a gradient": (lambda lib: lib.matmul(leaf(lib, 2, 2), x(lib, 2, 2), out=lib.empty(2, 2)), "don't support automatic differentiation"),
    "out of a lower type": (lambda lib: lib.add(x(lib, 2), 1, out=lib.empty(2, dtype=lib.int64)), "can't be cast to the desired output type"),
    "a ragged list": (lambda lib: lib.tensor([[1, 2], [3]]), "expected sequence of length 2 at dim 1"),
    "text": (lambda lib: lib.tensor("abc"), ""),
    "texts": (lambda lib: lib.tensor(["a"]), "too many dimensions 'str'"),
    "a dictionary": (lambda lib: lib.tensor({"a": 1}), "Could not infer dtype of dict"),
    "None": (lambda lib: lib.tensor([None]), "Could not infer dtype of NoneType"),
    "an array of objects": (lambda lib: lib.tensor(np.array([{}, []], dtype=object)), "can't convert"),
    "from_numpy of a list": (lambda lib: lib.from_numpy([1]), "expected np.ndarray"),
    "from_numpy read backwards": (lambda lib: lib.from_numpy(np.arange(4)[::-1]), "negative"),
    "a number too large": (lambda lib: lib.tensor(300, dtype=lib.uint8), "cannot be converted to type uint8 without overflow"),
    "a number too large for all": (lambda lib: lib.tensor(2**70), "Overflow when unpacking long"),
    "no size": (lambda lib: lib.zeros(), "missing 1 required positional arguments: .size."),
    "a number too large to fill with": (lambda lib: x(lib, 2, dtype=lib.uint8).fill_(300), "without overflow"),
    "a negative size": (lambda lib: lib.zeros(-1), "negative"),
    "a size that is no number": (lambda lib: lib.zeros("a"), ""),
    "a step of zero": (lambda lib: lib.arange(0, 3, 0), "step must be nonzero"),
    "a step that leads away": (lambda lib: lib.arange(0, 3, -1), "inconsistent with step sign"),
    "a negative number of steps": (lambda lib: lib.linspace(0, 1, -1), "number of steps must be non-negative"),
    "a gather with another rank": (lambda lib: lib.gather(x(lib, 2, 2), 0, lib.tensor([0])), "Index tensor must have the same number of dimensions as input tensor"),
    "a gather out of bounds": (lambda lib: lib.gather(x(lib, 2), 0, lib.tensor([5])), "index 5 is out of bounds for dimension 0 with size 2"),
    "a gather by floats": (lambda lib: lib.gather(x(lib, 2), 0, lib.tensor([0.0])), "Expected dtype int"),
    "an index_select of a matrix": (lambda lib: lib.index_select(x(lib, 2), 0, lib.tensor([[0]])), "Index is supposed to be a vector"),
    "a mask that is none": (lambda lib: x(lib, 2).masked_fill(x(lib, 2), 0), "only supports boolean masks"),
    "a condition that is none": (lambda lib: lib.where(x(lib, 2), x(lib, 2), x(lib, 2)), "expected condition to be a boolean tensor"),
    "clamp without ends": (lambda lib: x(lib, 2).clamp(), "At least one of"),
    "an unknown rounding": (lambda lib: lib.div(x(lib, 2), 2, rounding_mode="up"), "expected rounding_mode to "
        "be one of None, 'trunc', or 'floor'"),
    "allclose of two types": (lambda lib: lib.allclose(x(lib, 2), x(lib, 2, dtype=lib.float64)), "did not match"),
    "a list for a tensor": (lambda lib: lib.sum([1, 2]), "sum..: argument 'input' .position 1. must be Tensor, not list"),
    "a list for a tensor to exp": (lambda lib: lib.exp([1, 2]), "exp..: argument 'input' .position 1. must be Tensor, not list"),
    "None for a tensor": (lambda lib: lib.mm(x(lib, 2, 2), None), "must be Tensor, not NoneType"),
    "text added": (lambda lib: x(lib, 2).add("a"), "must be Tensor"),
    "text compared": (lambda lib: x(lib, 2) < "a", ""),
    "as_strided out of bounds": (lambda lib: x(lib, 4).as_strided((3,), (2,)), "out of bounds for storage of size 16"),
    "an unfold too large": (lambda lib: x(lib, 4).unfold(0, 5, 1), "maximum size for tensor at dimension 0 is 4 but size is 5"),
    "a diagonal of one dimension": (lambda lib: x(lib, 4, 4).diagonal(0, 1, 1), "diagonal dimensions cannot be identical"),
    "resize of what requires grad": (lambda lib: leaf(lib, 2).resize_(3), "cannot resize variables that require grad"),
    "a squeeze out of range": (lambda lib: x(lib, 2).squeeze(3), "Dimension out of range"),
    "grad for a number of another shape": (lambda lib: setattr(leaf(lib, 2), "grad", x(lib, 3)), "attempting to assign a gradient of size '.3.' to a tensor of size '.2.'"),
    "an unflatten that does not fit": (lambda lib: x(lib, 6).unflatten(0, (4, 2)), ""),
    "flatten in the wrong order": (lambda lib: x(lib, 2, 3).flatten(1, 0), "start_dim cannot come after end_dim"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_call_says_what_pytorch_says(what: str) -> None:
    call, words = WRONG[what]
    with pytest.raises(Exception, match=words) as theirs:
        call(torch)
    with pytest.raises(Exception, match=words) as ours:
        call(tl)
    assert isinstance(ours.value, type(theirs.value)) or isinstance(theirs.value, type(ours.value)), (
        ours.value,
        theirs.value,
    )
    assert "numpy" not in str(ours.value).lower() or "numpy" in str(theirs.value).lower()


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.filterwarnings("ignore")
def test_an_error_is_one_error_and_hides_no_other(what: str) -> None:
    with pytest.raises(Exception) as ours:
        WRONG[what][0](tl)
    assert ours.value.__cause__ is None
    assert ours.value.__context__ is None or ours.value.__suppress_context__, repr(ours.value.__context__)
    assert not re.search(r"\b_(a|op|st)\b", str(ours.value))
