"""Schedules give the rates and momenta of PyTorch's, step for step, and their saved states go both ways."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import tensorlab as tl

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


class Halving:
    """A callable object with something to save."""

    def __init__(self) -> None:
        self.base = 0.5

    def __call__(self, step: int) -> float:
        return self.base ** (step // 3)


def chained(s: object, o: object) -> object:
    return s.ChainedScheduler([s.ExponentialLR(o, 0.9), s.ConstantLR(o, 0.1, 4), s.StepLR(o, 3)])


def sequence(s: object, o: object) -> object:
    parts = [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 8), s.ExponentialLR(o, 0.9)]
    return s.SequentialLR(o, parts, [4, 12])


CASES: dict[str, Callable[[object, object], object]] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda t: 0.95**t),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda t: 0.95**t, lambda t: 1 / (1 + t)]),
    "lambda object": lambda s, o: s.LambdaLR(o, Halving()),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda t: 0.9),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multi step": lambda s, o: s.MultiStepLR(o, [2, 2, 5, 9], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.2, 6),
    "constant default": lambda s, o: s.ConstantLR(o),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.8, 7),
    "linear default": lambda s, o: s.LinearLR(o),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.8),
    "polynomial": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, 0.001),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4, 2, 0.01),
    "restarts of equal length": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 4, 3),
    "cyclic halving": lambda s, o: s.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 3, mode="triangular2", base_momentum=0.5),
    "cyclic exponential": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "cyclic own": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, scale_fn=Halving(), scale_mode="iterations"),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=25),
    "one cycle of three": lambda s, o: s.OneCycleLR(o, [0.5, 1.0], epochs=5, steps_per_epoch=5, three_phase=True),
    "one cycle of lines": lambda s, o: s.OneCycleLR(o, 0.5, 25, anneal_strategy="linear", cycle_momentum=False),
    "chained": chained,
    "sequence": sequence,
}
STEPS = 22


def optimizer(library: object, kind: str = "SGD", tensor: bool = False) -> object:
    rates = (
        [library.tensor(0.2, dtype=library.float64), library.tensor(0.1, dtype=library.float64)]
        if tensor
        else [0.2, 0.1]
    )
    groups = [{"params": [library.ones(2)], "lr": rate} for rate in rates]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(library.optim, kind)(groups, **options)


def numbers(o: object) -> list[float]:
    found = []
    for group in o.param_groups:
        found += [float(group["lr"]), group.get("momentum", 0), *group.get("betas", ())]
    return found


def walk(library: object, case: str, kind: str = "SGD", tensor: bool = False) -> tuple[list, list, object]:
    o = optimizer(library, kind, tensor)
    scheduler = CASES[case](library.optim.lr_scheduler, o)
    path, told = [numbers(o)], [[float(rate) for rate in scheduler.get_last_lr()]]
    for _ in range(STEPS):
        o.step()
        scheduler.step()
        path.append(numbers(o))
        told.append([float(rate) for rate in scheduler.get_last_lr()])
    return path, told, scheduler


def plain(state: object) -> object:
    """A state as far as both libraries spell it alike."""
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items() if "scale_fn_ref" not in str(key)}
    if isinstance(state, (list, tuple)):
        return [plain(value) for value in state]
    return pytest.approx(state, rel=1e-9) if isinstance(state, float) else state


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("case", CASES)
def test_a_schedule_gives_the_rates_of_pytorch(case: str, kind: str) -> None:
    ours, theirs = walk(tl, case, kind), walk(torch, case, kind)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-10, atol=1e-12)
    mine, wanted = ours[2].state_dict(), theirs[2].state_dict()
    assert set(mine) == set(wanted)
    assert plain(mine) == mine
    assert mine == plain(wanted)


@pytest.mark.parametrize("case", CASES)
def test_a_rate_that_is_a_tensor_stays_that_tensor(case: str) -> None:
    o = optimizer(tl, tensor=True)
    rates = [group["lr"] for group in o.param_groups]
    CASES[case](tl.optim.lr_scheduler, o)
    assert all(group["lr"] is rate for group, rate in zip(o.param_groups, rates, strict=True))
    ours, theirs = walk(tl, case, tensor=True), walk(torch, case, tensor=True)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_a_saved_schedule_is_gone_on_from(case: str) -> None:
    one = optimizer(tl)
    first = CASES[case](tl.optim.lr_scheduler, one)
    for _ in range(7):
        one.step()
        first.step()
    saved = copy.deepcopy((one.state_dict(), first.state_dict()))
    again = optimizer(tl)
    second = CASES[case](tl.optim.lr_scheduler, again)
    again.load_state_dict(saved[0])
    second.load_state_dict(saved[1])
    for _ in range(7):
        one.step(), again.step()
        first.step(), second.step()
        assert numbers(one) == numbers(again)
    assert saved[1].keys() == first.state_dict().keys()


CLOSED = ["step", "multi step", "constant", "linear", "exponential", "polynomial", "cosine", "restarts"]


@pytest.mark.filterwarnings("ignore:.*epoch parameter", "ignore:.*lr_scheduler.step")
@pytest.mark.parametrize("case", CLOSED)
def test_a_schedule_jumps_to_a_step_as_in_pytorch(case: str) -> None:
    def run(library: object) -> list:
        o = optimizer(library)
        scheduler = CASES[case](library.optim.lr_scheduler, o)
        found = []
        for epoch in (3, 9, 0, 6):
            scheduler.step(epoch)
            found.append(numbers(o))
        return found

    np.testing.assert_allclose(run(tl), run(torch), rtol=1e-12)


@pytest.mark.parametrize("options", [
    {}, {"mode": "max"}, {"patience": 2, "cooldown": 2}, {"threshold": 0.5, "patience": 1},
    {"threshold_mode": "abs", "threshold": 0.2, "patience": 1}, {"factor": 0.5, "min_lr": [0.05, 0.02], "patience": 0},
    {"mode": "max", "threshold_mode": "abs", "patience": 1}, {"mode": "max", "patience": 1, "threshold": 0.3},
])  # fmt: skip
def test_a_plateau_is_seen_where_pytorch_sees_it(options: dict) -> None:
    def run(library: object) -> tuple[list, dict]:
        o = optimizer(library)
        scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(o, **options)
        values = np.random.default_rng(0).standard_normal(30).cumsum()
        path = []
        for value in values:
            o.step()
            scheduler.step(library.tensor(value))
            path.append([*numbers(o), *scheduler.get_last_lr(), scheduler.num_bad_epochs, scheduler.in_cooldown])
        return path, scheduler.state_dict()

    (ours, mine), (theirs, wanted) = run(tl), run(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert mine == plain(wanted)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 5])
def test_the_rate_anneals_to_the_averaging_rate_as_in_pytorch(strategy: str, epochs: int) -> None:
    def run(library: object) -> list:
        o = optimizer(library)
        scheduler = library.optim.swa_utils.SWALR(o, [0.05, 0.01], epochs, strategy)
        path = []
        for _ in range(8):
            o.step()
            scheduler.step()
            path.append(numbers(o))
        return path

    np.testing.assert_allclose(run(tl), run(torch), rtol=1e-10)


ERRORS: dict[str, Callable[[object, object], object]] = {
    "no optimizer": lambda s, o: s.StepLR(3, 1),
    "no initial rate": lambda s, o: s.StepLR(o, 1, last_epoch=3),
    "too few functions": lambda s, o: s.LambdaLR(o, [lambda t: 1.0]),
    "factor above one": lambda s, o: s.ConstantLR(o, 1.5),
    "start factor": lambda s, o: s.LinearLR(o, 0.0),
    "end factor": lambda s, o: s.LinearLR(o, 0.5, 2.0),
    "T_0": lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    "T_mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 1.5),
    "mode": lambda s, o: s.CyclicLR(o, 0.1, 0.2, mode="round"),
    "lengths": lambda s, o: s.CyclicLR(o, [0.1], 0.2),
    "no steps": lambda s, o: s.OneCycleLR(o, 0.1),
    "negative steps": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=-2),
    "pct": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=5, pct_start=2.0),
    "strategy": lambda s, o: s.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="x"),
    "no schedules": lambda s, o: s.SequentialLR(o, [], []),
    "milestones": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]),
    "plateau inside": lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]),
    "plateau factor": lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    "plateau mode": lambda s, o: s.ReduceLROnPlateau(o, mode="x"),
    "plateau lengths": lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_begins_as_that_of_pytorch(case: str) -> None:
    def message(library: object) -> str:
        with pytest.raises(Exception) as caught:
            ERRORS[case](library.optim.lr_scheduler, optimizer(library))
        return f"{caught.type.__name__}: {caught.value}"

    ours, theirs = message(tl), message(torch)
    assert ours.split()[:4] == theirs.split()[:4]


def test_more_steps_than_a_cycle_has_are_an_error() -> None:
    for library in (tl, torch):
        o = optimizer(library)
        scheduler = library.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=3)
        with pytest.raises(ValueError, match="Tried to step 4 times. The specified number of total steps is 3"):
            _ = [(o.step(), scheduler.step()) for _ in range(5)]


def test_the_wrong_order_of_steps_is_warned_of_once_and_the_right_one_never() -> None:
    for library in (tl, torch):
        o = optimizer(library)
        scheduler = library.optim.lr_scheduler.StepLR(o, 2)
        with pytest.warns(UserWarning, match="before `optimizer.step"):
            scheduler.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scheduler.step()
        with pytest.warns(UserWarning, match="use `get_last_lr"):
            scheduler.get_lr()
        o = optimizer(library)
        scheduler = library.optim.lr_scheduler.StepLR(o, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            o.step()
            scheduler.step()


def averaged(library: object, **options: object) -> list[np.ndarray]:
    n, swa = library.nn, library.optim.swa_utils
    model = n.Sequential(n.Linear(2, 3), n.Linear(3, 1)).double()
    model.register_buffer("count", library.zeros(2, dtype=library.float64))
    with library.no_grad():
        for at, p in enumerate(model.parameters()):
            p.copy_(library.arange(p.numel()).reshape(p.shape) * 0.1 + at)
    options = {key: getattr(swa, value)() if isinstance(value, str) else value for key, value in options.items()}
    mean = swa.AveragedModel(model, **options)
    for turn in range(4):
        with library.no_grad():
            for p in model.parameters():
                p.mul_(1.5).add_(turn)
            model.count.add_(turn)
        mean.update_parameters(model)
    assert int(mean.n_averaged) == 4
    out = mean(library.ones(1, 2, dtype=library.float64))
    return [x.detach().numpy() for x in [*mean.parameters(), *mean.buffers(), out]]


@pytest.mark.parametrize("options", [
    {}, {"use_buffers": True}, {"avg_fn": "get_ema_avg_fn"}, {"multi_avg_fn": "get_ema_multi_avg_fn"},
    {"multi_avg_fn": "get_swa_multi_avg_fn", "use_buffers": True}, {"avg_fn": "get_swa_avg_fn"},
])  # fmt: skip
def test_an_averaged_model_holds_the_averages_of_pytorch(options: dict) -> None:
    for a, b in zip(averaged(tl, **options), averaged(torch, **options), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7)


@pytest.mark.parametrize("first", [True, False])
def test_a_chain_may_be_a_part_of_a_sequence(first: bool) -> None:
    s, o = tl.optim.lr_scheduler, optimizer(tl)
    parts = [
        s.ChainedScheduler([s.ExponentialLR(o, 0.5), s.LinearLR(o, 0.5, total_iters=2)]),
        s.ConstantLR(o, 0.1, 9),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler = s.SequentialLR(o, parts if first else parts[::-1], [2])
        path = [o.param_groups[0]["lr"]]
        for _ in range(3):
            o.step()
            scheduler.step()
            path.append(o.param_groups[0]["lr"])
    assert path == pytest.approx([0.1, 0.075, 0.02, 0.02] if first else [0.02, 0.02, 0.1, 0.075])
