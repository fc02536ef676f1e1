"""The TypeScript types say what the Python documents say."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tensorlab.observe import typescript


@pytest.mark.parametrize("module", typescript.FILES, ids=typescript.FILES.values())
def test_the_committed_types_are_what_the_schema_generates(module):
    file = typescript.target(module)
    if not file.parents[2].joinpath("pyproject.toml").exists():
        pytest.skip("not a checkout of the repository")
    assert file.read_text(encoding="utf-8") == typescript.generate(module), (
        "run: python -m tensorlab.observe.typescript"
    )


def test_every_document_and_every_field_is_written():
    text = "".join(map(typescript.generate, typescript.FILES))
    for document in (item for module in typescript.FILES for item in vars(module).values()):
        if dataclasses.is_dataclass(document):
            body = text.split(f"export interface {document.__name__} {{")[1].split("\n}")[0]
            for field in dataclasses.fields(document):
                assert f"  readonly {field.name}: " in body


def test_a_field_that_could_hold_a_live_object_is_refused():
    with pytest.raises(TypeError, match="documents hold numbers"):
        typescript.type_text(Any)
