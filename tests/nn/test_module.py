"""What a module knows of what is assigned to it, and what it says when something is wrong."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref

import pytest

import tensorlab as tl
from tensorlab import nn


class Net(nn.Module):
    """Two layers, of which the second is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 4)
        self.again = self.second
        self.register_buffer("mean", tl.zeros(4))

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return self.again(self.second(self.first(x))) - self.mean


class Kept(nn.Module):
    """Remembers its last output."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.last = None

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        self.last = self.layer(x)
        return self.last


def test_parameters_and_modules_are_found_by_their_attribute_names() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "second"]
    assert [n for n, _ in net.named_children()] == ["first", "second"]
    assert [n for n, _ in net.named_buffers()] == ["mean"]
    assert [n for n, _ in net.named_parameters(recurse=False)] == []
    assert [n for n, _ in net.named_parameters(prefix="net", remove_duplicate=False)][-1] == "net.again.bias"


def test_a_module_used_twice_is_counted_once_and_saved_twice() -> None:
    net = Net()
    assert len(list(net.parameters())) == 4
    assert [n for n in net.state_dict() if n.startswith(("second", "again"))] == [
        "second.weight",
        "second.bias",
        "again.weight",
        "again.bias",
    ]


def test_a_parameter_assigned_over_an_attribute_takes_its_name() -> None:
    module = nn.Module()
    module.w = 3
    module.w = nn.Parameter(tl.ones(2))
    assert dict(module.named_parameters()) == {"w": module.w}
    with pytest.raises(TypeError, match="as parameter 'w'"):
        module.w = nn.Linear(1, 1)
    del module.w
    assert not hasattr(module, "w")
    assert list(module.parameters()) == []


def test_a_plain_tensor_does_not_fit_where_a_parameter_was() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(TypeError, match=r"cannot assign 'tensorlab.*Tensor' as parameter 'weight'.*None expected"):
        layer.weight = tl.ones(2, 2)
    layer.bias = None
    assert layer.bias is None
    assert layer(tl.ones(1, 2)).shape == (1, 2)


def test_something_else_does_not_fit_where_a_module_or_a_buffer_was() -> None:
    net = Net()
    with pytest.raises(TypeError, match="as child module 'first'"):
        net.first = 3
    with pytest.raises(TypeError, match="as buffer 'mean'"):
        net.mean = 3
    net.first = None
    assert [n for n, _ in net.named_children()] == ["second"]


@pytest.mark.parametrize("value", [nn.Linear(1, 1), nn.Parameter(tl.ones(1)), nn.Buffer(tl.ones(1))])
def test_nothing_can_be_assigned_before_the_base_is_set_up(value: object) -> None:
    class Hasty(nn.Module):
        def __init__(self) -> None:
            self.part = value

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Hasty()


def test_a_module_whose_base_was_not_set_up_says_so_when_it_is_called() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.size = 3

    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\) first in Forgetful.__init__"):
        Forgetful()(tl.ones(1))


def test_an_attribute_that_is_not_there_is_named_with_its_class() -> None:
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'third'") as caught:
        Net().third  # noqa: B018
    assert caught.value.name == "third"
    assert "first" in dir(caught.value.obj)


def test_a_property_that_fails_names_what_is_really_missing() -> None:
    class WithProperty(nn.Module):
        @property
        def size(self) -> int:
            return self.wieght.numel()

    with pytest.raises(AttributeError, match="'WithProperty' object has no attribute 'wieght'"):
        WithProperty().size  # noqa: B018
    assert not hasattr(WithProperty(), "size")


def test_layers_in_a_plain_list_are_told_once_with_the_attribute_and_the_remedy() -> None:
    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [nn.Linear(1, 1) for _ in range(3)]

    with pytest.warns(UserWarning, match=r"Hidden\.layers is a plain list.*nn\.ModuleList") as told:
        net = Hidden()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(net.parameters()) == []


def test_layers_that_are_appended_to_a_plain_list_later_are_told_when_parameters_are_asked_for() -> None:
    class Growing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = {}
            self.heads["a"] = nn.Linear(1, 1)

    net = Growing()
    with pytest.warns(UserWarning, match=r"Growing\.heads is a plain dict.*nn\.ModuleDict") as told:
        tl.optim.SGD([*net.parameters(), tl.ones(1)], lr=0.1)
    assert told[0].filename == __file__


def test_parameters_in_a_plain_list_are_told_too() -> None:
    class Scales(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scales = (nn.Parameter(tl.ones(1)),)

    with pytest.warns(UserWarning, match=r"Scales\.scales is a plain tuple.*nn\.ParameterList"):
        Scales()


def test_a_list_of_registered_modules_is_nobodys_business() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1)
            self.order = [self.b, self.a]
            self.sizes = [1, 2, 3]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(Both().parameters())) == 4


def test_a_copy_shares_nothing_and_keeps_what_is_shared_inside() -> None:
    net = Net()
    net.first.weight.grad = tl.ones(4, 3)
    twin = copy.deepcopy(net)
    assert twin.second is twin.again
    assert type(twin.first.weight) is nn.Parameter
    assert twin.first.weight.grad is None
    assert net.first.weight.grad is not None
    with tl.no_grad():
        twin.first.weight.zero_()
    assert bool(net.first.weight.any())


def test_a_module_survives_pickling() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    net[0].bias.requires_grad_(False)
    back = pickle.loads(pickle.dumps(net))
    x = tl.ones(1, 2)
    assert tl.equal(back(x), net(x))
    assert type(back[0].weight) is nn.Parameter
    assert not back[0].bias.requires_grad


@pytest.mark.parametrize("take", [copy.deepcopy, pickle.dumps])
def test_a_model_that_kept_its_last_output_says_which_attribute_cannot_be_copied(take: object) -> None:
    model = nn.Sequential(Kept())
    model(tl.ones(1, 2))
    with pytest.raises(RuntimeError, match=r"Kept cannot be copied or pickled: its attribute 'last'.*\.detach\(\)"):
        take(model)
    model[0].last = None
    take(model)


def test_a_model_that_is_let_go_of_is_gone() -> None:
    net = Net()
    net(tl.ones(2, 3)).sum().backward()
    seen = [weakref.ref(net), weakref.ref(net.first), weakref.ref(net.first.weight)]
    gc.disable()
    try:
        del net
        assert [ref() for ref in seen] == [None] * 3
    finally:
        gc.enable()


def test_to_changes_the_types_of_floats_in_place_and_leaves_the_rest() -> None:
    net = Net()
    net.register_buffer("count", tl.tensor(3))
    weight = net.first.weight
    net.first.weight.grad = tl.ones(4, 3)
    assert net.double() is net
    assert net.first.weight is weight
    assert weight.dtype == weight.grad.dtype == net.mean.dtype == tl.float64
    assert net.count.dtype == tl.int64
    assert net(tl.ones(1, 3, dtype=tl.float64)).dtype == tl.float64
    assert net.to(tl.float32).to("cpu").half().first.weight.dtype == tl.float16
    assert net.bfloat16().mean.dtype == tl.bfloat16
    assert net.to(tl.ones(1)).float().mean.dtype == tl.float32
    assert net.type(tl.float64).count.dtype == tl.float64
    with pytest.raises(TypeError, match="only accepts floating point or complex"):
        net.to(tl.int32)


def test_training_and_evaluation_reach_every_module() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    assert net.eval() is net
    assert {m.training for m in net.modules()} == {False}
    assert tl.equal(net(tl.ones(100)), tl.ones(100))
    net.train()
    assert {m.training for m in net.modules()} == {True}
    assert not tl.equal(net(tl.ones(100)), tl.ones(100))


def test_gradients_are_forgotten_or_set_to_zero() -> None:
    net = Net()
    net(tl.ones(2, 3)).sum().backward()
    kept = net.first.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad is kept
    assert not bool(kept.any())
    net.zero_grad()
    assert net.first.weight.grad is None
    assert not net.requires_grad_(False)(tl.ones(2, 3)).requires_grad


def test_apply_visits_children_before_their_parent() -> None:
    seen: list[str] = []
    nn.Sequential(nn.Linear(1, 1), nn.ReLU()).apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "ReLU", "Sequential"]


def test_a_path_leads_to_a_module_a_parameter_a_buffer() -> None:
    net = nn.Sequential(Net())
    assert net.get_submodule("0.first") is net[0].first
    assert net.get_submodule("") is net
    assert net.get_parameter("0.first.bias") is net[0].first.bias
    assert net.get_buffer("0.mean") is net[0].mean
    with pytest.raises(AttributeError, match="Net has no attribute `third`"):
        net.get_submodule("0.third.weight")
    with pytest.raises(AttributeError, match=r"`mean` is not nn\.Parameter"):
        net.get_parameter("0.mean")
    net.set_submodule("0.first", nn.Linear(3, 4, bias=False))
    assert net[0].first.bias is None


def test_a_parameter_prints_what_it_contains() -> None:
    assert repr(nn.Parameter(tl.tensor([1.0, 2.0]))) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    assert repr(nn.Parameter(tl.tensor([1]), requires_grad=False)) == "Parameter containing:\ntensor([1])"


def test_a_parameter_is_a_leaf_in_the_memory_of_its_data() -> None:
    data = tl.ones(2) * 3
    parameter = nn.Parameter(data)
    assert parameter.is_leaf
    assert parameter.requires_grad
    assert parameter.data_ptr() == data.data_ptr()
    with pytest.raises(TypeError, match="must be a Tensor, not list"):
        nn.Parameter([1.0])
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(tl.tensor([1]))


def test_a_computed_tensor_cannot_be_a_parameter() -> None:
    made = nn.Parameter(tl.ones(2))
    made._edge = (made.requires_grad_() * 2)._edge
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'w'"):
        nn.Module().register_parameter("w", made)


def test_a_buffer_is_state_that_is_not_trained() -> None:
    module = nn.Module()
    module.a = nn.Buffer(tl.ones(1))
    module.b = nn.Buffer(tl.ones(1), persistent=False)
    assert [n for n, _ in module.named_buffers()] == ["a", "b"]
    assert list(module.state_dict()) == ["a"]
    module.a = None
    assert list(module.state_dict()) == []
    assert list(module.parameters()) == []


def test_a_class_may_have_module_parameters_of_its_own_kind() -> None:
    class Scale(nn.Parameter):
        pass

    module = nn.Module()
    module.scale = Scale(tl.ones(1))
    assert type(module.scale) is Scale
    assert list(module.parameters()) == [module.scale]
    assert type(copy.deepcopy(module).scale) is Scale


def test_a_copy_with_hooks_can_take_its_own_off() -> None:
    net = nn.Sequential(nn.Linear(1, 1))
    told = []
    net.handle = net.register_forward_hook(lambda *_: told.append(1))
    twin = copy.deepcopy(net)
    twin.handle.remove()
    twin(tl.ones(1, 1))
    assert told == []
    net(tl.ones(1, 1))
    assert told == [1]


def test_hooks_out_of_a_file_are_not_pushed_aside_by_new_ones() -> None:
    net = nn.Sequential(nn.Tanh())
    number = net.register_forward_hook(print).id
    back = pickle.loads(pickle.dumps(net))
    for _ in range(3):
        back.register_forward_hook(repr)
    assert list(back._forward_hooks.values()) == [print, repr, repr, repr]
    assert number in back._forward_hooks
