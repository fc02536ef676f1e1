"""The examples learn what they say, and their loss curves lie on PyTorch's: the same files, with another name in the imports."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.people import Given

pytest.importorskip("sklearn", reason="scikit-learn, which holds the digits, is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARIES: dict[str, Any] = {"tensorlab": tl}
with suppress(ImportError):
    LIBRARIES["torch"] = importlib.import_module("torch")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str, str], ModuleType]]:
    """Imports an example as written for one library, where both draw the same random numbers."""
    ours = {path.stem for path in EXAMPLES.glob("*.py")}

    def forget() -> None:
        for name in ours & sys.modules.keys():
            del sys.modules[name]

    def loaded(library: str, name: str) -> ModuleType:
        forget()
        folder = tmp_path / library
        folder.mkdir(exist_ok=True)
        for path in EXAMPLES.glob("*.py"):
            text = path.read_text(encoding="utf-8")
            if library == "torch":
                text = text.replace("import tensorlab as torch", "import torch").replace("from tensorlab", "from torch")
            (folder / path.name).write_text(text, encoding="utf-8")
        draws_alike(monkeypatch, LIBRARIES[library])
        monkeypatch.syspath_prepend(str(folder))
        return importlib.import_module(name)

    yield loaded
    forget()


def draws_alike(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    """Random numbers come from NumPy, the same for both libraries."""
    given = Given(library)
    for name, draw in {
        "randn": lambda *shape: given(*shape),
        "rand": lambda *shape: given.uniform(*shape),
        "randint": lambda low, high, shape: library.tensor(given.random.integers(low, high, shape)),
        "randperm": lambda n: library.tensor(given.random.permutation(n)),
        "manual_seed": lambda seed: None,
    }.items():
        monkeypatch.setattr(library, name, draw)


def mlp(m: ModuleType, given: Given) -> Any:
    images, labels, unseen, wanted = m.data()
    model = given.fill(m.network(width=32, dropout=0.0), 1.4)
    losses = m.train(model, images[:512], labels[:512], epochs=4, say=str)
    return losses, m.accuracy(model, unseen, wanted)


def cnn(m: ModuleType, given: Given) -> Any:
    images, labels, unseen, wanted = m.data()
    model = given.fill(m.Network(width=6), 1.4)
    losses, average = m.train(model, images[:384], labels[:384], epochs=3, lr=0.05, say=str)
    return losses, m.accuracy(average, unseen, wanted)


def characters(m: ModuleType, given: Given) -> Any:
    whole = m.text()[:30_000]
    letters = m.Letters(whole)
    stream = letters.encode(whole)
    assert letters.decode(stream[:50].tolist()) == whole[:50]
    model = given.fill(m.Writer(len(letters.known), context=16, width=24, depth=2, heads=2))
    losses, along = m.train(model, stream[:27_000], stream[27_000:], steps=40, batch=8, lr=5e-3, say=str)
    assert along == sorted(along, reverse=True)
    return losses, along


def adding(m: ModuleType, given: Given) -> Any:
    return m.train(given.fill(m.Adder(width=12)), steps=25, length=8, batch=16, lr=1e-2, say=str)


def autoencoder(m: ModuleType, given: Given) -> Any:
    images, _, unseen, _ = m.data()
    model = given.fill(m.Autoencoder(code=4, width=24), 1.4)
    losses = m.train(model, images[:512], epochs=4, say=str)
    m.draw(model(unseen[:2]))
    return losses, m.straight(images, unseen, 4)


def diffusion(m: ModuleType, given: Given) -> Any:
    images, labels, _, _ = m.data()
    model = given.fill(m.Denoiser(width=24))
    losses = m.train(model, images[:512], labels[:512], epochs=5, say=str)
    return losses, m.sample(model, labels[:2]).abs().mean().item()


def resnet(m: ModuleType, given: Given) -> Any:
    model = given.fill(m.resnet18(), 1.4).eval()
    x = given(2, 3, 64, 64)
    scores = model(x)
    scores.square().mean().backward()
    named = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    return scores.detach().flatten().tolist(), list(named.items()), model.conv1.weight.grad.flatten().tolist()


PROGRAMS = {
    "digits_mlp": mlp,
    "digits_cnn": cnn,
    "characters": characters,
    "adding": adding,
    "autoencoder": autoencoder,
    "diffusion": diffusion,
    "resnet": resnet,
}


@pytest.mark.skipif("torch" not in LIBRARIES, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_goes_with_tensorlab_as_with_pytorch(name: str, example: Callable[[str, str], ModuleType]) -> None:
    found, expected = (flat(PROGRAMS[name](example(key, name), Given(lib, 1))) for key, lib in LIBRARIES.items())
    numbers = [(f, e) for f, e in zip(found, expected, strict=True) if isinstance(e, float)]
    assert len(numbers) > 10
    np.testing.assert_allclose(*zip(*numbers, strict=True), rtol=5e-3, atol=1e-4)
    assert [f for f in found if not isinstance(f, float)] == [e for e in expected if not isinstance(e, float)]


def flat(value: Any) -> list:
    return [each for part in value for each in flat(part)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "resnet"])
def test_the_loss_of_an_example_falls(name: str, example: Callable[[str, str], ModuleType]) -> None:
    shown = PROGRAMS[name](example("tensorlab", name), Given(tl, 1))
    losses = shown if isinstance(shown[0], float) else shown[0]
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:3])


def test_every_example_is_run_here() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"digits"}
    assert scripts == set(PROGRAMS)
