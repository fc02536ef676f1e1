"""Modules and parameters in a row, in a list, in a dictionary."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import tensorlab as tl
from tensorlab import nn


def test_a_sequential_passes_on_what_each_module_gives() -> None:
    net = nn.Sequential(OrderedDict([("twice", nn.Linear(1, 1)), ("act", nn.ReLU())]))
    with tl.no_grad():
        net.twice.weight.fill_(2)
        net.twice.bias.fill_(-1)
    assert net(tl.tensor([[3.0], [0.0]])).tolist() == [[5.0], [0.0]]
    assert [n for n, _ in net.named_children()] == ["twice", "act"]


def test_a_sequential_is_indexed_sliced_and_changed_like_a_list() -> None:
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1), nn.Tanh())
    assert net[-1] is net[3]
    assert [type(m) for m in net[1:3]] == [nn.ReLU, nn.Linear]
    assert isinstance(net[1:3], nn.Sequential)
    net[1] = nn.Sigmoid()
    del net[0]
    assert [n for n, _ in net.named_children()] == ["0", "1", "2"]
    assert isinstance(net[0], nn.Sigmoid)
    net.append(nn.ReLU()).insert(0, nn.Identity())
    assert isinstance(net.pop(0), nn.Identity)
    assert len(net + net) == 2 * len(net)
    with pytest.raises(IndexError, match="index 9 is out of range"):
        net[9]
    with pytest.raises(TypeError, match="is not a Module subclass"):
        nn.Sequential(nn.ReLU(), tl.tanh)


def test_a_module_list_registers_what_it_holds_and_is_not_called() -> None:
    layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
    assert len(list(layers.parameters())) == 6
    layers += [nn.ReLU()]
    layers.insert(1, nn.Tanh())
    del layers[-2:]
    assert [type(m).__name__ for m in layers] == ["Linear", "Tanh", "Linear"]
    assert [n for n, _ in layers.named_children()] == ["0", "1", "2"]
    assert isinstance(layers[:2], nn.ModuleList)
    with pytest.raises(NotImplementedError, match="ModuleList"):
        layers(tl.ones(1))
    with pytest.raises(TypeError, match="iterable"):
        layers.extend(3)


def test_a_module_dict_keeps_modules_by_name_in_order() -> None:
    heads = nn.ModuleDict({"b": nn.Linear(1, 1), "a": nn.ReLU()})
    heads["c"] = nn.Tanh()
    heads.update([("a", nn.Sigmoid())])
    assert list(heads) == ["b", "a", "c"]
    assert "a" in heads
    assert isinstance(heads.pop("a"), nn.Sigmoid)
    assert [n for n, _ in heads.named_parameters()] == ["b.weight", "b.bias"]
    with pytest.raises(ValueError, match="element #0 should be a pair"):
        heads.update([3])
    heads.clear()
    assert len(heads) == 0


def test_parameters_in_a_list_are_trained_and_tensors_become_parameters() -> None:
    values = nn.ParameterList([tl.ones(2), nn.Parameter(tl.ones(3))])
    values.append(tl.ones(1))
    values += [tl.zeros(4)]
    assert [n for n, _ in values.named_parameters()] == ["0", "1", "2", "3"]
    assert all(isinstance(p, nn.Parameter) for p in values)
    values[0] = tl.zeros(5)
    assert values[0].shape == (5,)
    assert len(values[1:3]) == 2
    assert "(0): Parameter containing: [tensorlab.float32 of size 5]" in repr(values)
    with pytest.raises(IndexError):
        values[4]


def test_parameters_in_a_dictionary_are_trained() -> None:
    values = nn.ParameterDict({"left": tl.ones(2)})
    values["right"] = tl.ones(3)
    values.update({"more": nn.Parameter(tl.ones(1))})
    assert [n for n, _ in values.named_parameters()] == ["left", "right", "more"]
    assert values.get("nobody") is None
    assert list(values.keys()) == ["left", "right", "more"]
    del values["left"]
    assert values.pop("right").shape == (3,)
    assert [key for key, _ in values.items()] == ["more"]
    with pytest.raises(KeyError):
        values["left"]
    with pytest.raises(KeyError, match="name of a method"):
        values["keys"] = tl.ones(1)
    with pytest.raises(TypeError, match="not a string"):
        values[3] = tl.ones(1)
