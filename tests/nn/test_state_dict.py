"""Saving a module's tensors by name, and loading them."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab import nn


@pytest.fixture
def net() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def test_saved_tensors_are_detached_and_lie_in_the_modules_memory(net: nn.Module) -> None:
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert not state["0.weight"].requires_grad
    assert state["0.weight"].data_ptr() == net[0].weight.data_ptr()
    assert net.state_dict(keep_vars=True)["0.weight"] is net[0].weight
    assert list(net[0].state_dict(prefix="layer.")) == ["layer.weight", "layer.bias"]


def test_loading_copies_into_the_same_parameters_and_counts_as_a_write(net: nn.Module) -> None:
    other = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    weight, where, version = net[0].weight, net[0].weight.data_ptr(), net[0].weight._version
    assert str(net.load_state_dict(other.state_dict())) == "<All keys matched successfully>"
    assert net[0].weight is weight
    assert weight.data_ptr() == where
    assert weight._version == version + 1
    assert tl.equal(weight, other[0].weight)


def test_a_backward_after_loading_notices_that_the_weights_changed(net: nn.Module) -> None:
    loss = net(tl.ones(4, 2)).sum()
    net.load_state_dict(net.state_dict())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_everything_that_does_not_fit_is_reported_at_once(net: nn.Module) -> None:
    state = net.state_dict()
    del state["0.bias"]
    state["extra"] = tl.ones(1)
    state["2.weight"] = tl.ones(2, 2)
    before = net[0].weight.clone()
    state["0.weight"] = tl.ones(3, 2)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    said = str(caught.value)
    assert said.startswith("Error(s) in loading state_dict for Sequential:")
    assert 'Missing key(s) in state_dict: "0.bias"' in said
    assert 'Unexpected key(s) in state_dict: "extra"' in said
    assert "size mismatch for 2.weight" in said
    assert not tl.equal(net[0].weight, before)


def test_without_strict_the_rest_is_loaded_and_the_difference_returned(net: nn.Module) -> None:
    found = net.load_state_dict({"0.bias": tl.ones(3), "nobody": tl.ones(1)}, strict=False)
    assert found.missing_keys == ["0.weight", "2.weight", "2.bias"]
    assert found.unexpected_keys == ["nobody"]
    assert net[0].bias.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="size mismatch"):
        net.load_state_dict({"0.bias": tl.ones(4)}, strict=False)


def test_what_is_no_tensor_is_reported_by_name(net: nn.Module) -> None:
    state = {**net.state_dict(), "0.bias": [1, 2, 3]}
    with pytest.raises(RuntimeError, match=r'named "0.bias".*<class \'list\'>'):
        net.load_state_dict(state)
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        net.load_state_dict([1])


def test_assign_puts_the_given_tensors_in_place(net: nn.Module) -> None:
    state = {name: tl.zeros(x.shape, dtype=tl.float64) for name, x in net.state_dict().items()}
    net[0].bias.requires_grad_(False)
    net.load_state_dict(state, assign=True)
    assert net[0].weight.dtype == tl.float64
    assert net[0].weight.data_ptr() == state["0.weight"].data_ptr()
    assert type(net[0].weight) is nn.Parameter
    assert net[0].weight.requires_grad
    assert not net[0].bias.requires_grad


def test_values_of_another_type_are_converted(net: nn.Module) -> None:
    net.load_state_dict({name: x.double() for name, x in net.state_dict().items()})
    assert net[0].weight.dtype == tl.float32


def test_a_module_may_have_extra_state() -> None:
    class Counting(nn.Module):
        count = 0

        def get_extra_state(self) -> int:
            return self.count

        def set_extra_state(self, state: int) -> None:
            self.count = state

    one, other = nn.Sequential(Counting()), nn.Sequential(Counting())
    one[0].count = 7
    state = one.state_dict()
    assert state == {"0._extra_state": 7}
    other.load_state_dict(state)
    assert other[0].count == 7
    with pytest.raises(RuntimeError, match=r'Missing key.*"0._extra_state"'):
        other.load_state_dict({})


def test_hooks_of_saving_and_loading_see_and_change_what_passes(net: nn.Module) -> None:
    told = []
    net[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: told.append(("saving", prefix)))
    net[0].register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({prefix + "more": tl.ones(1)}))
    net[0].register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: state.pop(prefix + "more"))
    net.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.clear())
    state = net.state_dict()
    assert "0.more" in state
    net.load_state_dict({**state, "nobody": tl.ones(1)})
    assert told == [("saving", "0.")]
