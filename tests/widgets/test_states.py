"""The states that TypeScript draws are the ones that Python writes."""

from __future__ import annotations

import json
import math

import pytest

from tensorlab.observe import wire
from tensorlab.observe.schema import Graph, NodeDetail, SessionState
from tests.widgets.states import WIDGETS, path, written_by_a_fresh_process

KINDS = {"tensorlab.graph/1": Graph, "tensorlab.node/1": NodeDetail, "tensorlab.session/1": SessionState}
FILES = sorted(WIDGETS.glob("*/states/*.json"))


def differences(one, other, where: str = "") -> list[str]:
    """Where two documents differ; floats may differ in their last written digit, which machines round differently."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for at, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, f"{where}[{at}]")
        ]
    if isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6):
        return []
    return [] if one == other else [f"{where}: {one!r} is not {other!r}"]


def test_the_committed_states_are_what_python_writes():
    written = written_by_a_fresh_process()
    assert {path(name) for name in written} == set(FILES), "run: python -m tests.widgets.states"
    for name, document in written.items():
        found = differences(json.loads(path(name).read_text(encoding="utf-8")), document)
        assert not found, f"{name} is out of date; run: python -m tests.widgets.states"


@pytest.mark.parametrize("file", FILES, ids=[f"{file.parts[-3]}/{file.stem}" for file in FILES])
def test_every_state_is_a_whole_document(file):
    body = json.loads(file.read_text(encoding="utf-8"))
    kind = KINDS[body["schema"]]
    assert wire.to_json(wire.from_json(kind, body)) == body
