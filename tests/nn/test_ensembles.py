"""Several modules as one: their parameters and buffers stacked."""

from __future__ import annotations

import pytest

import tensorlab as tl


def test_stacked_modules_run_as_one_under_vmap() -> None:
    models = [tl.nn.Sequential(tl.nn.Linear(3, 2), tl.nn.BatchNorm1d(2)).eval() for _ in range(3)]
    models[0][0].bias.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"'0.bias' of all models to have the same requires_grad"):
        tl.func.stack_module_state(models)
    models[0][0].bias.requires_grad_(True)
    parameters, buffers = tl.func.stack_module_state(models)
    assert parameters["0.weight"].shape == (3, 2, 3)
    assert parameters["0.weight"].is_leaf
    assert parameters["0.weight"].requires_grad
    assert buffers["1.running_mean"].shape == (3, 2)
    x = tl.randn(4, 3)
    found = tl.vmap(lambda p, b: tl.func.functional_call(models[0], (p, b), x))(parameters, buffers)
    assert tl.allclose(found, tl.stack([model(x) for model in models]), atol=1e-6)
    for wrong in ([], [models[0], tl.nn.Linear(1, 1).eval()], [models[0], tl.nn.Sequential()]):
        with pytest.raises(RuntimeError, match="stack_module_state"):
            tl.func.stack_module_state(wrong)
