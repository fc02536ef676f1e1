"""Layers and losses under `torch.<name>` take the arguments of PyTorch's native functions and give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tests.parity.people import Given

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def norms(lib: Any, given: Given) -> list:
    x, w, b, mean, var = given(3, 4, 5), given(4), given(4), given(4), given.uniform(4, low=0.5)
    return [
        lib.batch_norm(x, w, b, mean, var, True, 0.1, 1e-5, False),
        lib.batch_norm(x, None, None, mean, var, False, 0.1, 1e-5, False),
        lib.instance_norm(x, w, b, None, None, True, 0.1, 1e-5, False),
        mean,
        lib.norm_except_dim(x, 2, 1),
        lib.norm_except_dim(x, 2, -1),
        lib.nuclear_norm(given(3, 4)),
        lib.nuclear_norm(x, (1, 2), True),
    ]


def tables(lib: Any, given: Given) -> list:
    w, at = given(5, 3, requires_grad=True), lib.tensor([[1, 0], [4, 1]])
    out = lib.embedding(w, at, 1)
    out.square().sum().backward()
    table = given(5, 3)
    return [
        out,
        w.grad,
        lib.embedding_renorm_(table, at, 1.0, 2.0),
        table,
        lib.bilinear(given(2, 3), given(2, 4), given(5, 3, 4)),
    ]


def losses(lib: Any, given: Given) -> list:
    x, y, t, sign = given(4, 3), given(4, 3), given.uniform(4, 3), lib.tensor([1.0, -1.0, 1.0, -1.0])
    logp = given(6, 2, 4).log_softmax(2)
    return [
        *[lib.binary_cross_entropy_with_logits(x, t, None, None, r) for r in (0, 1, 2)],
        *[lib.kl_div(x, t, r) for r in (0, 1, 2)],
        lib.kl_div(x, y, log_target=True),
        lib.binary_cross_entropy_with_logits(x, t),
        lib.triplet_margin_loss(x, y, t),
        lib.cosine_embedding_loss(x, y, sign, 0.1, 2),
        lib.hinge_embedding_loss(x[:, 0], sign, 0.5),
        lib.margin_ranking_loss(x[:, 0], y[:, 0], sign, 0.1, 0),
        lib.poisson_nll_loss(x, t, True, True, 1e-8, 1),
        lib.triplet_margin_loss(x, y, t, 0.5, 2.0, 1e-6, True, 0),
        lib.ctc_loss(logp, lib.tensor([[1, 2], [3, 1]]), [6, 5], [2, 1], 0, 2),
    ]


def recurrence(lib: Any, given: Given) -> list:
    x, shown = given(5, 2, 3), []
    for name, gates in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)):
        shapes = [(4 * gates, 3), (4 * gates, 4), (4 * gates,), (4 * gates,)] * 2
        shapes += [(4 * gates, 8), (4 * gates, 4), (4 * gates,), (4 * gates,)] * 2
        params, h = [given(*shape, scale=0.3) for shape in shapes], given(4, 2, 4)
        state = (h, given(4, 2, 4)) if name == "lstm" else h
        run = getattr(lib, name)
        shown += [*run(x, state, params, True, 2, 0.0, False, True, False)]
        shown += [*run(x.transpose(0, 1), state, params, True, 2, 0.0, False, True, True)]
        sizes = lib.tensor([2, 2, 1])
        shown += [*run(given(5, 3), sizes, state, params, True, 2, 0.0, False, True)]
        one = (h[0], h[1]) if name == "lstm" else h[0]
        found = getattr(lib, f"{name}_cell")(x[0], one, *params[:4])
        shown += [*found] if name == "lstm" else [found]
        shown += [getattr(lib, f"{name}_cell")(x[0], one, *params[:2])[0]]
    return shown


@pytest.mark.parametrize("program", [norms, tables, losses, recurrence], ids=lambda p: p.__name__)
def test_native_functions_give_the_same(program: Any) -> None:
    found, expected = (program(lib, Given(lib)) for lib in (tl, torch))
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f.detach().numpy(), e.detach().numpy(), rtol=2e-4, atol=2e-6)


def test_native_dropout_says_which_elements_stay() -> None:
    x = tl.ones(1000, requires_grad=True)
    out, kept = tl.native_dropout(x, 0.5, True)
    out.sum().backward()
    assert kept.dtype is tl.bool
    assert 400 < kept.sum() < 600
    assert (out == kept * 2.0).all()
    assert (x.grad == out.detach()).all()
    out, kept = tl.native_dropout(x, 0.5, False)
    assert (out == x).all()
    assert kept.all()


def test_a_model_said_to_be_parallel_is_called_as_it_stands() -> None:
    for lib in (tl, torch):
        inner = lib.nn.Linear(2, 3)
        model = lib.nn.DataParallel(inner)
        x = lib.ones(4, 2)
        assert (model(x) == inner(x)).all()
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
        assert model.device_ids == []
    assert (tl.nn.parallel.data_parallel(inner := tl.nn.Linear(2, 3), tl.ones(1, 2)) == inner(tl.ones(1, 2))).all()
    with pytest.raises(RuntimeError, match="one device"):
        tl.nn.DataParallel(inner, device_ids=[0, 1])


@pytest.mark.parametrize("kind", ["conv", "turned", "linear", "plain"])
def test_a_batch_norm_is_worked_into_the_layer_before_it(kind: str) -> None:
    shown = []
    for lib in (tl, torch):
        nn, given = lib.nn, Given(lib)
        layer = {
            "conv": lambda nn=nn: nn.Conv2d(3, 4, 3, bias=False),
            "turned": lambda nn=nn: nn.ConvTranspose2d(3, 4, 3),
            "linear": lambda nn=nn: nn.Linear(3, 4),
            "plain": lambda nn=nn: nn.Conv1d(3, 4, 2),
        }[kind]()
        made = {"linear": nn.BatchNorm1d, "plain": nn.BatchNorm1d}.get(kind, nn.BatchNorm2d)
        bn = made(4, affine=kind != "plain")
        given.fill(layer), given.fill(bn)
        bn.running_mean.copy_(given(4))
        bn.running_var.copy_(given.uniform(4, low=0.5, high=2))
        fuse = nn.utils.fusion.fuse_linear_bn_eval if kind == "linear" else nn.utils.fusion.fuse_conv_bn_eval
        options = (True,) if kind == "turned" else ()
        with pytest.raises(AssertionError):
            fuse(layer, bn, *options)
        fused = fuse(layer.eval(), bn.eval(), *options)
        x = given(2, 3, *{"linear": (), "plain": (6,)}.get(kind, (6, 6)))
        np.testing.assert_allclose(fused(x).detach().numpy(), bn(layer(x)).detach().numpy(), rtol=1e-3, atol=1e-5)
        shown.append([fused.weight, fused.bias])
    for f, e in zip(*shown, strict=True):
        np.testing.assert_allclose(f.detach().numpy(), e.detach().numpy(), rtol=1e-4, atol=1e-6)
