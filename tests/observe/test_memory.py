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
from tensorlab.observe import calls, memory
from tensorlab.observe.broadcast import meeting
from tensorlab.observe.protocol import Refused
from tensorlab.observe.reading import reading, touched_lines


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
    assert [part.bits for part in found.parts] == ["0", "10000001", "1" + "0" * 22]
    assert found.value == "+1.5 × 2^2 = 6"
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
        verdict = calls.viewed("view", at, shape, 4, copies=False)
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
        call = verdict.call
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
    assert "about 1 cache line" in found.reading.sentence


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


TYPED = [
    "view(12)", "view(-1)", "view(2, 6)", "reshape(2, -1)", "reshape(5)", "t()", "t().view(12)", "permute(1, 0)", "permute(0, 0)",
    "expand(2, 4, 3)", "expand(5, 3)", "as_strided((2, 2), (1, 1))", "as_strided((20, 2), (1, 1))", "unfold(0, 2, 1)",
    "unfold(0, 9, 1)", "[:, 1]", "[1]", "[..., None]", "[[0, 1]]", "[::2, 1:]", "contiguous()", "T", "flatten()", "ravel()",
    "repeat(2, 2)", "repeat(2)", "flip(0)", "select(0, 9)", "narrow(0, 1, 2)", "diagonal()", "squeeze()", "unsqueeze(1)", "mT",
    "movedim(0, 1)", "swapaxes(0, 1).reshape(-1)", "unflatten(0, (2, 2))", "clone()", "flatten(0, 1)", "flatten(1, 0)", "unsqueeze(9)",
]  # fmt: skip


@pytest.mark.parametrize("call", TYPED)
@pytest.mark.parametrize(
    "make", [lambda: tl.arange(12.0).reshape(3, 4).t(), lambda: tl.arange(24.0).reshape(4, 6)[:, ::2]]
)
def test_what_a_typed_call_is_said_to_do_is_what_it_does(make, call: str) -> None:
    x = make()
    verdict = calls.tried(x, call, "x", {}).verdict
    assert verdict is not None
    source = f"x{call}" if call.startswith("[") else f"x.{call}"
    if verdict.kind == "cannot":
        with pytest.raises((RuntimeError, IndexError)):
            eval(source)
        return
    y = eval(source)
    assert (tuple(y.shape), tuple(y.stride())) == (verdict.shape, verdict.stride)
    assert (y._st is x._st) == (verdict.kind == "view")
    assert verdict.kind == "view" or verdict.bytes == y.numel() * 4
    if verdict.order:
        root = tl.arange(24.0) if x.stride(0) == 6 else tl.arange(12.0)
        assert root[list(verdict.order)].tolist() == y.reshape(-1)[: len(verdict.order)].tolist()


@pytest.mark.parametrize(
    ("call", "said"),
    [("", "type a call"), ("__class__", "no call about"), ("view(x)", "numbers"), ("view(open('f'))", "numbers"), ("sum()", "no call"),
     ("contiguous().view(12)", "copies"), ("t(", "is no call"), ("+ nothing", "neither"), ("T()", "no brackets"), ("t", "needs brackets"),
     ("view" + "(1" * 300, "type a call"), ("other.t()", "no call"), ("[lambda: 1]", "numbers")],
)  # fmt: skip
def test_what_is_no_such_call_is_refused_and_never_run(call: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        calls.tried(tl.arange(12.0).reshape(3, 4).t(), call, "x", {})


def test_a_call_on_a_tensor_of_endless_elements_is_judged_at_once() -> None:
    x = tl.zeros(1).expand(100_000, 100_000)
    verdict = calls.tried(x, "reshape(-1)", "x", {}).verdict
    assert verdict.kind == "view" or verdict.bytes == 4 * 10**10
    assert calls.tried(x, "contiguous()", "x", {}).verdict.bytes == 4 * 10**10
    with pytest.raises(Refused, match="so large"):
        calls.tried(x, "[[0, 1]]", "x", {})


def test_what_blocks_a_view_is_named_as_a_pair_of_dimensions() -> None:
    x = tl.arange(24.0).reshape(2, 3, 4).transpose(0, 1)
    verdict = calls.tried(x, "view(6, 4)", "x", {}).verdict
    assert (verdict.kind, verdict.dims) == ("cannot", (0, 1))
    assert calls.tried(x, "expand(3, 5, 4)", "x", {}).verdict.dims == (1,)


def test_a_column_and_a_row_are_said_to_make_a_table_and_what_is_summed() -> None:
    a, b = tl.arange(4.0).reshape(4, 1), tl.arange(4.0)
    a.requires_grad_()
    found = calls.tried(a, "- b", "a", {"b": b}).broadcast
    assert (found.shape, found.outer) == ((4, 4), True)
    assert "If pairs were meant" in found.sentence
    assert [o.stretched for o in found.operands] == [(1,), (0,)]
    assert found.operands[0].ghost[2] == (False, True, True, True)
    assert found.operands[1].text[3] == ("0", "1", "2", "3")
    (a - b).sum().backward()
    assert a.grad.tolist() == [[found.operands[0].each]] * 4


def test_shapes_that_do_not_meet_are_told_where() -> None:
    found = calls.tried(tl.zeros(4, 3), "* (5, 1, 4)", "a", {}).broadcast
    assert (found.dim, found.shape) == (2, ())
    assert "sizes 3 and 4" in found.sentence
    with pytest.raises(RuntimeError):
        tl.zeros(4, 3) * tl.zeros(5, 1, 4)


def test_ghosts_are_what_broadcasting_does_for_random_shapes() -> None:
    draw = random.Random(3)
    for _ in range(300):
        whole = [draw.randint(1, 5) for _ in range(draw.randint(0, 4))]
        shapes = [
            tuple(n if draw.random() < 0.6 else 1 for n in whole[draw.randint(0, len(whole)) :]) for _ in range(2)
        ]
        arrays = [tl.arange(float(max(1, tl.zeros(shape).numel()))).reshape(shape) for shape in shapes]
        found = meeting([("a", shapes[0], arrays[0]._a), ("b", shapes[1], arrays[1]._a)])
        both = tl.broadcast_tensors(*arrays)
        assert found.shape == tuple(both[0].shape)
        for operand, side in zip(found.operands, both, strict=True):
            corner = side[(0,) * max(side.dim() - 2, 0)]
            table = corner.reshape((1, 1, *corner.shape)[-2:])[:6, :8]
            assert [[float(t) for t in row] for row in operand.text] == table.tolist()
            assert operand.each == side.numel() // max(1, tl.zeros(operand.shape).numel())


@pytest.mark.parametrize("skew", [0, 16])
def test_cache_lines_are_counted_as_reading_touches_them(skew: int) -> None:
    draw = random.Random(1)
    for _ in range(200):
        x = _random_layout(draw)
        at = memory.layout_of(x)
        found = reading(at, 4, skew)
        elements = (
            tl.arange(float(max(x._st.root.nbytes // 4, 1))).as_strided(at.shape, at.strides, at.offset)
        ).reshape(-1)
        lines = [(int(e) * 4 + skew) // 64 for e in elements.tolist()]
        assert found.reads == len(lines)
        assert found.touched == len(set(lines))
        assert found.fetched == sum(a != b for a, b in zip([None, *lines], lines, strict=False))


def test_lines_of_large_tensors_are_reckoned_within_a_few_percent() -> None:
    for x in (tl.zeros(1000, 1000), tl.zeros(1000, 1000).t(), tl.zeros(1000, 4000)[:, ::40]):
        assert touched_lines(memory.layout_of(x), 4) == pytest.approx(
            memory.reading(memory.layout_of(x), 4, 0).least, rel=40
        )
    assert touched_lines(memory.layout_of(tl.zeros(1000, 1000)), 4) == 62500
    assert touched_lines(memory.layout_of(tl.zeros(1000, 3200)[:, ::32]), 4) == 100_000


def test_every_type_has_its_bits_explained() -> None:
    for dtype, value, said in [
        (tl.float16, -3.0, "−1.5 × 2^1 = −3"), (tl.bfloat16, 0.5, "+1 × 2^-1 = 0.5"), (tl.float64, 6.0, "+1.5 × 2^2 = 6"),
        (tl.float32, float("inf"), "+infinity"), (tl.float32, float("nan"), "NaN"), (tl.float32, -0.0, "−0"),
        (tl.int8, -3.0, "−128 + 125 = −3"), (tl.uint8, 7.0, "7"), (tl.bool, 1.0, "0 is False, 1 is True"),
    ]:  # fmt: skip
        assert memory.picked(tl.tensor([value]).to(dtype), (0,), "x", {}).value == said
    assert "2^-126 = 1" in memory.picked(tl.tensor([1e-42]), (0,), "x", {}).value
    assert [p.part for p in memory.picked(tl.zeros(1, dtype=tl.complex64), (0,), "x", {}).parts][3] == "imaginary sign"


def test_a_view_of_another_type_is_found_in_the_same_bytes() -> None:
    x = tl.arange(8.0)
    z = tl.view_as_complex(x.reshape(4, 2))
    found = {alias.name: alias for alias in document(z, z=z, x=x[2:]).aliases}
    assert (found["x"].first, found["x"].last) == ((1,), (3,))
    assert "float32" in found["x"].note
    assert memory.picked(z, (2,), "z", {"x": x}).also == ("x[4]",)


def test_shapes_that_meet_have_a_picture() -> None:
    a, b = tl.zeros(4, 1), tl.zeros(4)
    for side in [("<b>", (4,), b._a), ("shape 2", (3, 4), None)]:
        picture = LayoutPicture(memory.layout_document(a, "a", {}, [side]))
        ElementTree.fromstring(picture.svg())
        assert "sum" in picture.text() or "do not meet" in picture.text()
