"""Calling a module: hooks and their order, and the name that its nodes carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorlab as tl
from tensorlab import modes, nn


@pytest.fixture
def watched() -> object:
    """Places are recorded, as inside a notebook."""
    modes.watch_sites(True)
    yield
    modes.watch_sites(False)


def test_a_pre_hook_changes_the_arguments_and_need_not_make_a_tuple() -> None:
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
    assert layer(tl.zeros(1)).item() == 1
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 10,))
    assert layer(tl.zeros(1)).item() == 10


def test_a_pre_hook_with_keywords_gets_and_gives_both() -> None:
    class Scaled(nn.Module):
        def forward(self, x: tl.Tensor, *, factor: float = 1.0) -> tl.Tensor:
            return x * factor

    module = Scaled()
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"factor": kwargs["factor"] * 2}), with_kwargs=True)
    assert module(tl.ones(1), factor=3.0).item() == 6
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        module(tl.ones(1), factor=3.0)


def test_a_forward_hook_changes_the_output_and_its_handle_takes_it_off() -> None:
    layer = nn.Identity()
    with layer.register_forward_hook(lambda module, args, output: output + 1) as handle:
        assert layer(tl.zeros(1)).item() == 1
    assert layer(tl.zeros(1)).item() == 0
    handle.remove()


def test_a_hook_that_always_runs_runs_also_when_forward_fails() -> None:
    class Broken(nn.Module):
        def forward(self) -> None:
            raise ValueError("broken")

    seen = []
    module = Broken()
    module.register_forward_hook(lambda m, args, output: seen.append("sometimes"))
    module.register_forward_hook(lambda m, args, output: seen.append(("always", output)), always_call=True)
    with pytest.raises(ValueError, match="broken"):
        module()
    assert seen == [("always", None)]
    module.register_forward_hook(lambda m, args, output: 1 / 0, always_call=True)
    with pytest.warns(UserWarning, match="silenced"), pytest.raises(ValueError, match="broken"):
        module()


def test_hooks_of_all_modules_come_before_a_modules_own_and_go_away() -> None:
    seen = []
    layer = nn.Identity()
    layer.register_forward_hook(lambda m, args, output: seen.append("own"))
    handle = nn.modules.module.register_module_forward_hook(lambda m, args, output: seen.append("all"))
    layer(1)
    handle.remove()
    layer(1)
    assert seen == ["all", "own", "own"]


def test_a_full_backward_hook_sees_and_replaces_the_gradient_of_the_input() -> None:
    layer = nn.Linear(2, 2, bias=False)
    with tl.no_grad():
        layer.weight.copy_(tl.tensor([[1.0, 2.0], [3.0, 4.0]]))
    seen = []

    def hook(module: nn.Module, grad_input: tuple, grad_output: tuple) -> tuple:
        seen.append((module, grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 100,)

    layer.register_full_backward_hook(hook)
    x = tl.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [(layer, [[4.0, 6.0]], [[1.0, 1.0]])]
    assert x.grad.tolist() == [[400.0, 600.0]]
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_full_backward_hook_is_given_none_where_no_input_carries_a_gradient() -> None:
    layer = nn.Linear(1, 1)
    seen = []
    layer.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append(grad_input))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(tl.ones(1, 1)).sum().backward()
    assert seen == [(None,)]


def test_a_backward_hook_with_the_wrong_number_of_gradients_is_refused() -> None:
    layer = nn.Linear(1, 1)
    layer.register_full_backward_hook(lambda m, grad_input, grad_output: (grad_input[0], None))
    out = layer(tl.ones(1, 1, requires_grad=True)).sum()
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        out.backward()


def _gradients(hooked: bool, write: Callable[[nn.Module, tl.Tensor], tl.Tensor]) -> tuple[list[list], int]:
    """Gradients of the input and the parameters of a small network, and how often its backward hooks were called."""
    tl.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True), nn.Linear(3, 3))
    seen: list[object] = []
    for part in net if hooked else ():
        part.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append(grad_input))
    x = tl.ones(4, 2, requires_grad=True)
    write(net, x).pow(2).sum().backward()
    return [x.grad.tolist(), *(p.grad.tolist() for p in net.parameters())], len(seen)


def _into_a_part(net: nn.Module, x: tl.Tensor) -> tl.Tensor:
    out = net(x)
    out[0] = 0.0
    row = out[1]
    row.mul_(2.0)
    return out


@pytest.mark.parametrize(
    "write",
    [
        lambda net, x: net(x),
        lambda net, x: net(x).add_(1.0),
        lambda net, x: net[2](net[1](hidden := net[0](x))) + hidden,
        _into_a_part,
    ],
)
def test_backward_hooks_forbid_no_write_into_inputs_and_outputs_and_change_no_gradient(write: Any) -> None:
    without, _ = _gradients(False, write)
    with_hooks, calls = _gradients(True, write)
    assert with_hooks == without
    assert calls == 3


def test_where_backward_hooks_do_forbid_a_write_the_error_names_the_module_the_hook_and_its_line() -> None:
    layer = nn.ReLU(inplace=True)

    def look(m: object, grad_input: object, grad_output: object) -> None: ...

    layer.register_full_backward_hook(look)
    x = tl.ones(2, 2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match=r"ReLU has the backward hook .*look, registered at .*test_calling.py, line"):
        layer(x.t())


def test_an_identity_node_marks_where_a_backward_hook_looks() -> None:
    layer = nn.Tanh()
    layer.register_full_backward_hook(lambda m, grad_input, grad_output: None)
    out = layer(tl.ones(1, requires_grad=True))
    assert out.grad_fn.name() == "BackwardHookFunctionBackward"
    assert out.grad_fn.next_functions[0][0].name() == "TanhBackward0"


class Block(nn.Module):
    """Calls a module of a list, and one directly."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.act = nn.Tanh()

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return self.act(self.layers[1](x))


@pytest.mark.usefixtures("watched")
def test_nodes_know_the_modules_that_made_them_by_the_names_of_their_attributes() -> None:
    model = nn.Sequential(Block(), nn.ReLU())
    relu = model(tl.ones(1, 2)).grad_fn
    tanh = relu.next_functions[0][0]
    linear = tanh.next_functions[0][0]
    assert relu.scope == (("", "Sequential"), ("1", "ReLU"))
    assert tanh.scope == (("", "Sequential"), ("0", "Block"), ("act", "Tanh"))
    assert linear.scope == (("", "Sequential"), ("0", "Block"), ("layers", "ModuleList"), ("1", "Linear"))
    assert linear.site[0].co_filename == __file__


@pytest.mark.usefixtures("watched")
def test_a_module_that_was_renamed_or_replaced_is_called_by_its_new_name() -> None:
    block = Block()
    block(tl.ones(1, 2))
    block.nonlinearity, block.act = block.act, nn.Sigmoid()
    block.forward = lambda x: block.act(block.nonlinearity(x))
    out = block(tl.ones(1, 2, requires_grad=True)).grad_fn
    assert out.scope == (("", "Block"), ("act", "Sigmoid"))
    assert out.next_functions[0][0].scope == (("", "Block"), ("nonlinearity", "Tanh"))


@pytest.mark.usefixtures("watched")
def test_a_module_that_its_caller_does_not_hold_is_called_by_its_type() -> None:
    class Borrowing(nn.Module):
        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return borrowed(x)

    borrowed = nn.Tanh()
    assert Borrowing()(tl.ones(1, requires_grad=True)).grad_fn.scope == (("", "Borrowing"), ("Tanh", "Tanh"))


@pytest.mark.usefixtures("watched")
def test_the_name_of_a_module_ends_with_its_call_also_after_an_error() -> None:
    with pytest.raises(RuntimeError):
        nn.Sequential(nn.Linear(2, 2))(tl.ones(1, 3))
    assert (tl.ones(1, requires_grad=True) * 2).grad_fn.scope is None
    assert nn.Tanh()(tl.ones(1, requires_grad=True)).grad_fn.scope == (("", "Tanh"),)


def test_nothing_is_noted_while_nobody_watches() -> None:
    assert nn.Tanh()(tl.ones(1, requires_grad=True)).grad_fn.scope is None
