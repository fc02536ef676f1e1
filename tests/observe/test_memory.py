"""How a tensor lies in memory: what the layout instrument is told must be what the engine does."""

from __future__ import annotations

import gc
import random
import weakref
import xml.etree.ElementTree as ElementTree

import pytest

import tensorlab as tl
from tensorlab.display.memory import LayoutPicture
from tensorlab.layout import Layout
from tensorlab.observe import memory


def document(x: tl.Tensor, /, **names: tl.Tensor):
    return memory.layout_document(x, "x", names)


def test_cells_say_which_element_of_the_storage_they_are() -> None:
    x = tl.arange(12.0).reshape(3, 4).t()
    grid = document(x).grid
    assert grid.element == ((0, 4, 8), (1, 5, 9), (2, 6, 10), (3, 7, 11))
    assert grid.text[2] == ("2", "6", "10")


def test_every_tensor_over_the_storage_is_listed_by_name() -> None:
    x = tl.arange(12.0).reshape(3, 4)
    row, column, other = x[1], x[:, 2], tl.ones(3)
    found = {alias.name: alias for alias in document(x, x=x, row=row, column=column, other=other).aliases}
    assert set(found) == {"x", "row", "column"}
    assert found["row"].first == (4,)
    assert found["row"].last == (7,)
    assert found["column"].first == found["column"].last == (2, 6, 10)


def test_an_element_is_found_by_the_sum_of_index_times_stride_and_in_the_other_tensors() -> None:
    x = tl.arange(12.0).reshape(3, 4)
    y = x.t()
    found = memory.picked(y, (2, 1), "y", {"x": x, "y": y})
    assert (found.element, found.byte, found.text) == (6, 24, "6")
    assert found.sum == "0 + 2·1 + 1·4 = 6"
    assert found.also == ("x[1, 2]",)
    assert found.bits.replace(" ", "") == "0" + "10000001" + "1" + "0" * 22  # 6.0 = 1.1b * 2**2
    with pytest.raises(IndexError):
        memory.picked(y, (4, 0), "y", {})


def _random_layout(draw: random.Random) -> tl.Tensor:
    n = draw.randint(0, 4)
    x = tl.arange(float(4**n * 2)).reshape(2, *[4] * n)
    for _ in range(draw.randint(0, 4)):
        kind = draw.choice(["permute", "slice", "select", "expand", "unsqueeze", "squeeze"])
        d = draw.randrange(x.dim()) if x.dim() else 0
        if kind == "permute" and x.dim() > 1:
            x = x.permute(*draw.sample(range(x.dim()), x.dim()))
        elif kind == "slice" and x.dim():
            x = x.narrow(d, 0, draw.randint(0 if draw.random() < 0.1 else 1, x.shape[d])) if x.shape[d] else x
            x = x.transpose(0, d)[:: draw.randint(1, 2)].transpose(0, d)
        elif kind == "select" and x.dim() > 1 and x.shape[d]:
            x = x.select(d, draw.randrange(x.shape[d]))
        elif kind == "unsqueeze":
            x = x.unsqueeze(d)
        elif kind == "expand" and x.dim() < 4:
            x = x.expand(2, *x.shape)
    return x


def _random_shape(draw: random.Random, count: int) -> tuple[int, ...]:
    shape = []
    while count > 1 and draw.random() < 0.8:
        n = draw.choice([k for k in range(1, count + 1) if count % k == 0])
        shape.append(n)
        count //= n
    return (*shape, count)


def test_the_verdict_on_view_is_what_view_does_for_ten_thousand_random_layouts() -> None:
    draw = random.Random(5)
    seen = {"view": 0, "cannot": 0}
    for _ in range(10_000):
        x = _random_layout(draw)
        shape = _random_shape(draw, x.numel())
        at = memory.layout_of(x)
        verdict = memory._verdict("view", tl.layout.view(at, shape), 4, x.numel(), at, copies=False)
        seen[verdict.kind] += 1
        try:
            found = x.view(shape)
        except RuntimeError:
            assert verdict.kind == "cannot"
        else:
            assert verdict.kind == "view"
            assert verdict.stride == found.stride()
    assert min(seen.values()) > 500


@pytest.mark.parametrize(
    "make",
    [lambda: tl.arange(6.0).reshape(2, 3), lambda: tl.arange(6.0).reshape(2, 3).t(), lambda: tl.ones(3).expand(2, 3),
     lambda: tl.arange(24).reshape(2, 3, 4)[:, 1:, ::2], lambda: tl.ones(2, 1, 3)],
)  # fmt: skip
def test_what_calls_are_said_to_do_is_what_they_do(make) -> None:
    x = make()
    for verdict in document(x).verdicts:
        call = verdict.call.split(" -> ")[0]
        source = f"x{call}" if call.startswith("[") else f"x.{call}"
        if verdict.kind == "cannot":
            with pytest.raises(RuntimeError):
                eval(source, {"x": x})
            continue
        y = eval(source, {"x": x})
        assert tuple(y.shape) == verdict.shape, source
        assert tuple(y.stride()) == verdict.stride, source
        assert (y._st is x._st) == (verdict.kind == "view"), source


def test_a_scratch_view_shows_what_it_would_and_refuses_what_lies_outside() -> None:
    x = tl.arange(12.0)
    tried = memory.scratch(x, (2, 3), (1, 2), 1)
    assert tried.grid.text == (("1", "3", "5"), ("2", "4", "6"))
    assert "element 23" in memory.scratch(x, (20, 3), (1, 2), 0).note
    assert "share memory" in memory.scratch(x, (3, 3), (1, 1), 0).note
    assert memory.scratch(x, (3,), (1, 1), 0).grid is None
    assert memory.scratch(x, (0, 3), (1, 1), 0).grid.text == ()


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (300, 400), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", [tl.float32, tl.bool, tl.int64, tl.bfloat16, tl.complex64])
def test_every_shape_and_type_has_a_picture_and_a_text(shape, dtype) -> None:
    picture = LayoutPicture(document(tl.zeros(*shape, dtype=dtype) if shape else tl.zeros((), dtype=dtype)))
    ElementTree.fromstring(picture.svg())
    assert picture.text()


def test_a_large_tensor_is_looked_at_in_part_and_never_copied() -> None:
    x = tl.zeros(1).expand(100_000, 100_000)
    found = document(x)
    assert len(found.grid.row_numbers) == 8
    assert len(found.grid.column_numbers) == 16
    assert "share memory" in found.sentence


def test_a_document_keeps_nothing_alive() -> None:
    x = tl.zeros(3)
    known = weakref.ref(x)
    found = document(x, x=x)
    del x
    gc.collect()
    assert known() is None
    assert found.title == "x"


def test_names_in_a_picture_are_text() -> None:
    x = tl.zeros(3)
    picture = LayoutPicture(memory.layout_document(x, "<script>", {"<b>": x[1:], "x": x})).svg()
    assert "<script>" not in picture
    ElementTree.fromstring(picture)


def test_spans_of_many_gaps_are_closed() -> None:
    assert memory.spans(Layout((1000, 2), (10, 1), 0)) == [(0, 9991)]
