"""Views, writes and subscripts in lock-step with PyTorch: values, layouts, versions, flags, gradients and errors."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity import oracle
from tests.parity.programs import Program

torch = oracle.torch


@pytest.mark.parametrize("block", range(8))
def test_random_programs_of_views_writes_and_arithmetic_do_the_same(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        Program(seed).run(14)


# ------------------------------------------------------------------------------------------------------------ subscripts


class Keys:
    """Random subscripts for a shape, as a pair: for PyTorch and for us."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def whole(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        entries: list[tuple[Any, Any]] = []
        dim = 0
        dots = False
        while dim < len(shape):
            kind = self.random.choice(
                [
                    "int",
                    "slice",
                    "slice",
                    "none",
                    "dots",
                    "list",
                    "index",
                    "matrix",
                    "mask",
                    "mask2",
                    "stop",
                    "bool",
                    "array",
                    "bools",
                    "nested",
                    "int32",
                    "nothing",
                    "zero_dim",
                    "wrong",
                ]  # fmt: skip
            )
            size = shape[dim]
            if kind == "stop":
                break
            if kind == "none":
                entries.append((None, None))
            elif kind == "dots" and not dots:
                entries.append((..., ...))
                dots = True
                dim = max(dim, self.random.randint(dim, len(shape)))
            elif kind == "bool" and self.random.random() < 0.2:
                entries.append((True, True))
            elif kind == "mask2" and dim + 1 < len(shape):
                entries.append(self._mask(shape[dim : dim + 2]))
                dim += 2
            elif kind == "zero_dim" and self.random.random() < 0.2:
                entries.append((torch.tensor(True), tl.tensor(True)))
            elif kind == "wrong" and self.random.random() < 0.1:
                entries.append(self._wrong())
                dim += 1
            elif kind in (
                "int",
                "slice",
                "list",
                "index",
                "matrix",
                "mask",
                "array",
                "bools",
                "nested",
                "int32",
                "nothing",
            ):
                entries.append(getattr(self, f"_{kind}")((size,)))
                dim += 1
        if len(entries) == 1 and self.random.random() < 0.5 and not is_nested(entries[0][0]):
            return entries[0]
        return tuple(t for t, _ in entries), tuple(o for _, o in entries)

    def _int(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        i = (
            self.random.randint(-shape[0] - 1, shape[0])
            if self.random.random() < 0.1
            else self.random.randrange(-shape[0], max(1, shape[0]))
        )
        return self.random.choice([(i, i), (torch.tensor(i), tl.tensor(i)), (np.int64(i), np.int64(i))])

    def _slice(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        ends = [self.random.choice([None, self.random.randint(-shape[0] - 2, shape[0] + 2)]) for _ in range(2)]
        found = slice(*ends, self.random.choice([None, 1, 2, 3]))
        return found, found

    def _list(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = [self.random.randrange(-shape[0], max(1, shape[0])) for _ in range(2)]
        return found, list(found)

    def _array(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = np.array(self._list(shape)[0])
        return found, found

    def _bools(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = [self.random.random() < 0.5 for _ in range(shape[0])]
        return found, list(found)

    def _nested(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = [[self.random.randrange(-shape[0], max(1, shape[0]))] for _ in range(2)]
        return found, [list(row) for row in found]

    def _int32(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = self._list(shape)[0]
        return torch.tensor(found, dtype=torch.int32), tl.tensor(found, dtype=tl.int32)

    def _nothing(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        return [], []

    def _wrong(self) -> tuple[Any, Any]:
        return self.random.choice(
            [
                (1.5, 1.5),
                ("a", "a"),
                (torch.tensor(1.5), tl.tensor(1.5)),
                (slice(None, None, -1), slice(None, None, -1)),
            ]
        )

    def _index(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = [self.random.randrange(-shape[0], max(1, shape[0])) for _ in range(2)]
        return torch.tensor(found), tl.tensor(found)

    def _matrix(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = [[self.random.randrange(-shape[0], max(1, shape[0])) for _ in range(2)] for _ in range(3)]
        return torch.tensor(found), tl.tensor(found)

    def _mask(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        found = np.array([self.random.random() < 0.5 for _ in range(int(np.prod(shape)))], bool).reshape(shape)
        return torch.tensor(found), tl.tensor(found)


def is_nested(entry: Any) -> bool:
    """A list of lists, which PyTorch takes for a tuple where it stands alone; here it is an index tensor."""
    return isinstance(entry, list) and bool(entry) and isinstance(entry[0], list)


def outcome(call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return error


def both(shape: tuple[int, ...], requires_grad: bool = False) -> tuple[Any, Any]:
    theirs = torch.arange(1.0, 1.0 + int(np.prod(shape)), dtype=torch.float64).reshape(shape)
    return theirs.clone().requires_grad_(requires_grad), tl.tensor(theirs.numpy(), requires_grad=requires_grad)


def agree(ours: Any, theirs: Any, said: Any) -> bool:
    """Whether both went well; a failure of one alone, or of another class, is an error of the test."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert isinstance(theirs, Exception), (said, ours)
        assert isinstance(ours, Exception), (said, theirs)
        assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)), (said, ours, theirs)
        return False
    return True


SHAPES = [(4,), (3, 4), (2, 3, 4), (0, 3), (2, 1, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_subscript_reads_the_same_view_or_copy_with_the_same_gradient(shape: tuple[int, ...]) -> None:
    keys = Keys(1)
    for _ in range(400):
        key, our_key = keys.whole(shape)
        theirs, ours = both(shape, requires_grad=True)
        y, x = outcome(lambda: theirs[key]), outcome(lambda: ours[our_key])  # noqa: B023
        if not agree(x, y, key):
            continue
        assert oracle.differences(x, y) == [], key
        assert (x._base is None) == (y._base is None), key
        if y._base is not None and y.numel():
            assert (x.stride(), x.storage_offset()) == (y.stride(), y.storage_offset()), key
        weights = torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).reshape(y.shape)
        y.backward(weights)
        x.backward(oracle.ours(weights))
        assert oracle.differences(ours.grad, theirs.grad) == [], key


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_subscript_is_assigned_to_with_the_same_gradients(shape: tuple[int, ...]) -> None:
    keys = Keys(2)
    for number in range(300):
        key, our_key = keys.whole(shape)
        (leaf, our_leaf), (value, our_value) = both(shape, requires_grad=True), both((), requires_grad=True)
        theirs, ours = leaf * 1, our_leaf * 1
        seen = outcome(lambda: theirs[key])  # noqa: B023
        if not isinstance(seen, Exception) and number % 3 and seen.numel():
            rows = seen.shape[number % 2 :] if seen.dim() else ()
            value, our_value = both(tuple(rows), requires_grad=True)
        elif number % 5 == 0:
            value = our_value = 0.5
        repeats = isinstance(seen, Exception) or seen._base is None and has_repeats(theirs, key)
        done = outcome(lambda: theirs.__setitem__(key, value))  # noqa: B023
        ours_done = outcome(lambda: ours.__setitem__(our_key, our_value))  # noqa: B023
        if not agree(ours_done, done, key) or repeats:
            continue
        assert oracle.differences(ours, theirs) == [], (key, value)
        assert ours._version == theirs._version
        weights = torch.linspace(0.5, 1.5, theirs.numel(), dtype=torch.float64).reshape(shape)
        theirs.backward(weights)
        ours.backward(oracle.ours(weights))
        assert oracle.differences(our_leaf.grad, leaf.grad) == [], key
        if isinstance(value, torch.Tensor):
            assert oracle.differences(our_value.grad, value.grad) == [], key


def has_repeats(x: Any, key: Any) -> bool:
    """Whether a subscript names an element twice: which value stays is then nobody's promise."""
    numbers = torch.arange(x.numel()).reshape(x.shape)[key].flatten()
    return len(set(numbers.tolist())) < numbers.numel()


@pytest.mark.filterwarnings("ignore")
def test_masks_of_uint8_select_as_masks_of_bool_do() -> None:
    theirs, ours = both((4,))
    mask = [1, 0, 1, 0]
    expected = theirs[torch.tensor(mask, dtype=torch.uint8)]
    assert oracle.differences(ours[tl.tensor(mask, dtype=tl.uint8)], expected) == []


# -------------------------------------------------------------------------------------------------------- memory formats


def test_channels_last_is_kept_by_elementwise_operations_and_by_clone() -> None:
    theirs = torch.arange(120.0).reshape(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    ours = oracle.ours(torch.arange(120.0).reshape(2, 3, 4, 5)).contiguous(memory_format=tl.channels_last)
    for call in (
        lambda x: x, lambda x: x + 1, lambda x: x.exp(), lambda x: x.clone(), lambda x: x * x, lambda x: x.permute(0, 2, 3, 1),
        lambda x: x.contiguous(), lambda x: x.double(), lambda x: x[:, :2], lambda x: x.transpose(1, 3) + 1,
    ):  # fmt: skip
        assert oracle.differences(call(ours), call(theirs), strides=True) == []
    assert ours.is_contiguous(memory_format=tl.channels_last)
    assert not ours.is_contiguous()
    with pytest.raises(RuntimeError, match="required rank 4"):
        tl.ones(2, 3).contiguous(memory_format=tl.channels_last)


@pytest.mark.parametrize("shape", [(2, 1, 3), (2, 0, 3), (), (0,), (1, 1), (3, 1)])
def test_strides_of_odd_shapes_are_pytorchs(shape: tuple[int, ...]) -> None:
    for make in ("zeros", "ones", "empty"):
        assert getattr(tl, make)(shape).stride() == getattr(torch, make)(shape).stride()
    ours, theirs = tl.zeros(shape), torch.zeros(shape)
    for call in (
        lambda x: x + 1,
        lambda x: x.clone(),
        lambda x: x.unsqueeze(0),
        lambda x: x.unsqueeze(-1),
        lambda x: x.expand(4, *x.shape),
    ):
        assert oracle.differences(call(ours), call(theirs), strides=True) == []


@pytest.mark.parametrize("seed", range(40))
def test_view_is_possible_exactly_where_pytorch_finds_it_possible(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        shape = tuple(chance.choice([1, 2, 3, 4]) for _ in range(chance.randint(1, 4)))
        theirs, ours = both(shape)
        order = chance.sample(range(len(shape)), len(shape))
        step, first = chance.choice([1, 2]), chance.choice([0, 1])
        y, x = theirs.permute(order)[first::step], ours.permute(order)[first::step]
        wanted, left = [0] if y.numel() == 0 else [], y.numel()
        while left > 1:
            part = chance.choice([n for n in range(1, left + 1) if left % n == 0])
            wanted.append(part)
            left //= part
        a, b = outcome(lambda: x.view(wanted)), outcome(lambda: y.view(wanted))  # noqa: B023
        if agree(a, b, (shape, order, wanted)):
            assert oracle.differences(a, b, strides=True) == [], (shape, order, wanted)
        assert oracle.differences(x.reshape(wanted), y.reshape(wanted)) == []
