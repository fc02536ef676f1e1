"""The table of operations: a row says everything, or says by name that there is nothing to say."""

from __future__ import annotations

import pytest

from tensorlab.ops import ROWS
from tensorlab.ops.table import AUTOCAST, BOOL, FLOAT, NO_GRAD, NO_ONNX, OWN, SAME, Row, row

NAMES = sorted(ROWS)


def columns(**changed: object) -> dict[str, object]:
    """What a row says of itself, for one that is well declared."""
    said: dict[str, object] = {
        "forward": lambda xp, a: a,
        "infer": lambda shapes: shapes[0],
        "grad": {"self": lambda g: g},
        "formula": "result = self",
        "derivatives": {"self": "grad"},
        "onnx": "Identity",
        "cost": lambda shapes, result: 0,
        "samples": lambda t: [((t(2),), {})],
    }
    return {name: value for name, value in (said | changed).items() if value is not ...}


def gradients(declared: Row) -> set[str]:
    """The inputs for which a row has a gradient formula."""
    if declared.vjps is not None:
        return {name for name, formula in zip(declared.params, declared.vjps, strict=True) if formula is not None}
    return set(declared.params) if declared.joint is not None else set()


@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_known_by_its_own_name(name: str) -> None:
    assert ROWS[name].name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_row_computes_or_is_a_view(name: str) -> None:
    assert (ROWS[name].forward is None) != (ROWS[name].view is None)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_has_a_formula_and_one_for_every_gradient(name: str) -> None:
    declared = ROWS[name]
    assert declared.formula.strip()
    assert {name for name, said in declared.derivatives.items() if said.strip()} == gradients(declared)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_names_its_onnx_operator_or_says_why_there_is_none(name: str) -> None:
    onnx = ROWS[name].onnx
    assert onnx.reason.strip() if isinstance(onnx, NO_ONNX) else onnx.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_row_says_what_autocast_does_and_which_type_results_have(name: str) -> None:
    assert ROWS[name].autocast in AUTOCAST
    assert ROWS[name].result in (SAME, FLOAT, BOOL, OWN)


@pytest.mark.parametrize("missing", ["infer", "grad", "formula", "onnx", "cost", "samples"])
def test_a_row_that_is_silent_about_a_column_is_refused(missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        row("silent", "self", **columns(**{missing: ...}))
    assert "silent" not in ROWS


def test_a_row_that_neither_computes_nor_views_is_refused() -> None:
    with pytest.raises(TypeError, match="either a forward or a view rule"):
        row("idle", "self", **columns(forward=None))


def test_a_gradient_for_an_input_that_is_not_there_is_refused() -> None:
    with pytest.raises(TypeError, match="gradients for .'other'., which are no inputs"):
        row("stray", "self", **columns(grad={"other": lambda g: g}))


def test_no_two_rows_share_a_name() -> None:
    with pytest.raises(TypeError, match="two rows named add"):
        row("add", "self other", **columns(grad=NO_GRAD("for this test"), derivatives={}))
