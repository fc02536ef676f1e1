"""Files and GPUs: what was saved there goes there again, or where ``map_location`` says."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorlab as tl

pytestmark = pytest.mark.usefixtures("gpu")
BOTH = pytest.mark.parametrize("name", ["x.tl", "x.pth"])


def state() -> dict[str, tl.Tensor]:
    base = tl.arange(6).float().view(2, 3).to("cuda:1")
    return {"base": base, "row": base[1], "here": tl.ones(2), "b": tl.ones(2).bfloat16().to("cuda:0")}


@BOTH
def test_tensors_go_where_they_were(name: str, tmp_path: Path) -> None:
    tl.save(state(), tmp_path / name)
    found = tl.load(tmp_path / name)
    assert {key: str(x.device) for key, x in found.items()} == {
        "base": "cuda:1",
        "row": "cuda:1",
        "here": "cpu",
        "b": "cuda:0",
    }
    found["base"][1, 1] = 9.0
    assert found["row"].tolist() == [3, 9, 5]


@BOTH
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("cpu", ["cpu"] * 4),
        (tl.device("cuda:0"), ["cuda:0"] * 4),
        ({"cuda:1": "cpu"}, ["cpu", "cpu", "cpu", "cuda:0"]),
        (lambda storage, location: storage, ["cpu"] * 4),
        (
            lambda storage, location: storage.cuda(1) if location == "cpu" else None,
            ["cuda:1", "cuda:1", "cuda:1", "cuda:0"],
        ),
        (lambda storage, location: "cuda:0", ["cuda:0"] * 4),
    ],
    ids=["name", "device", "dictionary", "function", "some", "text"],
)
def test_map_location_says_where_they_go(name: str, where: object, expected: list[str], tmp_path: Path) -> None:
    tl.save(state(), tmp_path / name)
    found = tl.load(tmp_path / name, map_location=where)
    assert [str(x.device) for x in found.values()] == expected
    assert found["row"].tolist() == [3, 4, 5]
    assert found["b"].dtype is tl.bfloat16


def test_a_safetensors_file_is_read_to_a_gpu(tmp_path: Path) -> None:
    tl.save({"x": tl.ones(2).to("cuda")}, tmp_path / "x.safetensors")
    assert str(tl.load(tmp_path / "x.safetensors")["x"].device) == "cpu"
    assert str(tl.load(tmp_path / "x.safetensors", map_location="cuda:1")["x"].device) == "cuda:1"


@BOTH
def test_without_a_gpu_the_error_says_map_location(name: str, tmp_path: Path, gpu: object) -> None:
    tl.save(state(), tmp_path / name)
    gpu.devices = 0  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize.*map_location='cpu'"):
        tl.load(tmp_path / name)
    assert tl.load(tmp_path / name, map_location="cpu")["row"].tolist() == [3, 4, 5]
