"""Hooks that are looked at: found wherever they hang, followed in order, explained where they were not called, and let go of."""

from __future__ import annotations

import gc
import io
import json
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorlab as tl
from tensorlab import nn, taps
from tensorlab.engine import sites
from tensorlab.engine.node import accumulator
from tensorlab.nn.modules import calling
from tensorlab.observe import hook_recorder, wire
from tensorlab.observe.hook_viewer import HookViewer
from tensorlab.observe.schema_watching import HookEntry, HookRow, HooksDocument

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.act = nn.ReLU(inplace=True)
        self.last = nn.Linear(3, 1)
        self.spare = nn.Linear(2, 2)

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return self.last(self.act(self.first(x)))


def nothing(*given: Any) -> None: ...


@pytest.fixture
def net() -> Net:
    tl.manual_seed(0)
    return Net()


@pytest.fixture
def watch() -> Iterator[Any]:
    """Makes viewers, and detaches them at the end."""
    made: list[HookViewer] = []

    def make(target: Any, title: str = "net", **namespace: Any) -> HookViewer:
        made.append(HookViewer(target, title, lambda: namespace))
        return made[-1]

    yield make
    for viewer in made:
        viewer.recorder.detach()


def step(net: Net, **options: Any) -> tl.Tensor:
    loss = net(tl.linspace(-2, 2, 16).reshape(8, 2)).pow(2).sum()
    loss.backward(**options)
    return loss


def entry(document: HooksDocument, kind: str, owner: str) -> HookEntry:
    (found,) = [one for one in document.hooks if one.kind == kind and one.owner == owner]
    return found


def lines(document: HooksDocument) -> list[tuple[str, str]]:
    return [(row.what if row.what != "hook" else row.kind, row.place) for row in document.rows]


def call_of(document: HooksDocument, name: str) -> HookRow:
    return next(row for row in reversed(document.rows) if row.name == name)


# ---------------------------------------------------------------------------------------------------------- finding


def test_every_kind_of_hook_is_found_with_the_line_that_registered_it(net: Net, watch: Any) -> None:
    optimizer = tl.optim.SGD(net.parameters(), lr=0.1)
    net.first.register_forward_pre_hook(nothing)
    net.first.register_forward_hook(nothing)
    net.first.register_full_backward_pre_hook(nothing)
    net.first.register_full_backward_hook(nothing)
    net.register_state_dict_pre_hook(nothing)
    net.register_state_dict_post_hook(nothing)
    net.register_load_state_dict_pre_hook(nothing)
    net.register_load_state_dict_post_hook(nothing)
    net.last.weight.register_hook(nothing)
    net.last.weight.register_post_accumulate_grad_hook(nothing)
    accumulator(net.last.weight).register_prehook(nothing)
    accumulator(net.last.weight).register_hook(nothing)
    optimizer.register_step_pre_hook(nothing)
    optimizer.register_step_post_hook(nothing)
    everywhere = [
        nn.modules.module.register_module_forward_hook(nothing),
        nn.modules.module.register_module_parameter_registration_hook(nothing),
        tl.optim.optimizer.register_optimizer_step_post_hook(nothing),
    ]
    document = watch(net, optimizer=optimizer).document()
    for handle in everywhere:
        handle.remove()
    kinds = [(one.kind, one.owner) for one in document.hooks]
    assert set(kinds) == {
        ("forward pre", "net.first"), ("forward", "net.first"), ("backward pre", "net.first"), ("backward", "net.first"),
        ("state_dict pre", "net"), ("state_dict", "net"), ("load_state_dict pre", "net"), ("load_state_dict", "net"),
        ("tensor", "net.last.weight"), ("post accumulate", "net.last.weight"), ("node pre", "net.last.weight"),
        ("node", "net.last.weight"), ("step pre", "optimizer"), ("step", "optimizer"), ("forward", "every module"),
        ("parameter registration", "every module"), ("step", "every optimizer"),
    }  # fmt: skip
    assert len(kinds) == 17
    for one in document.hooks:
        assert one.registered is not None
        assert one.registered.file.endswith("test_hooks.py")
        assert "register" in one.registered.code
        assert one.defined is not None
        assert one.name == "nothing"


def test_hooks_of_a_graph_are_found_from_its_result_by_the_users_names(watch: Any) -> None:
    w = tl.ones(2, requires_grad=True)
    h = w * 3
    h.register_hook(nothing)
    h.grad_fn.register_hook(nothing)
    w.register_hook(nothing)
    loss = h.sum()
    document = watch(loss, "loss", w=w, h=h, loss=loss).document()
    assert {(one.kind, one.owner) for one in document.hooks} == {("tensor", "h"), ("node", "h"), ("tensor", "w")}


def test_without_a_target_everything_that_has_a_name_is_looked_at(net: Net, watch: Any) -> None:
    x = tl.ones(1, requires_grad=True)
    x.register_hook(nothing)
    net.act.register_forward_hook(nothing)
    document = watch(None, "", model=net, x=x).document()
    assert [one.owner for one in document.hooks] == ["model.act", "x"]


def test_a_thousand_parameters_with_a_hook_each_are_one_entry(watch: Any) -> None:
    many = nn.ParameterList([nn.Parameter(tl.ones(1)) for _ in range(1000)])
    for p in many:
        p.register_hook(lambda g: None)
    document = watch(many, "many").document()
    (one,) = document.hooks
    assert (one.count, one.owner) == (1000, "many.0 and 999 more")
    sum(p.sum() for p in list(many)[:600]).backward()
    assert "400 of 1,000 were not called" in entry_of(many, watch)


def entry_of(many: Any, watch: Any) -> str:
    viewer = watch(many, "many")
    sum(p.sum() for p in list(many)[:600]).backward()
    return viewer.document().hooks[0].why


# ---------------------------------------------------------------------------------------------------------- left behind


@pytest.fixture
def cell() -> Iterator[type]:
    yield sites.Turn
    sites.Turn.cell = -1


def test_a_hook_of_a_cell_that_ran_again_is_called_left_behind(net: Net, watch: Any, cell: Any) -> None:
    for cell.cell in (3, 7):
        net.act.register_forward_hook(lambda *given: None)
    old, new = watch(net).document().hooks
    assert "registered in cell [3] and again in cell [7], so it is called twice" in old.left
    assert "handle.remove()" in old.left
    assert new.left == ""
    assert (old.cell, new.cell) == (3, 7)


def test_the_same_function_twice_in_one_run_is_called_out_too(net: Net, watch: Any) -> None:
    net.act.register_forward_hook(nothing)
    net.act.register_forward_hook(nothing)
    assert "registered twice on net.act" in watch(net).document().hooks[0].left
    assert watch(net).document().sentence.endswith("One looks left behind.")


def test_a_function_that_was_defined_anew_is_told_apart_from_the_one_that_hangs_there(net: Net, watch: Any) -> None:
    space: dict[str, Any] = {}
    source = "def look(*given):\n    return None"
    exec(source, space)
    net.act.register_forward_hook(space["look"])
    exec(source, space)
    (one,) = watch(net, **{"look": space["look"]}).document().hooks
    assert "look has been defined anew since" in one.left


def test_hooks_of_the_library_are_marked_as_its_own_and_never_left_behind(watch: Any) -> None:
    layer = nn.utils.spectral_norm(nn.Linear(2, 2))
    document = watch(layer, "layer").document()
    assert document.hooks
    assert all(one.library and not one.left for one in document.hooks)


def test_a_hook_whose_handle_nobody_kept_can_be_removed_from_the_view(net: Net, watch: Any) -> None:
    net.act.register_forward_hook(nothing)
    viewer = watch(net)
    (one,) = viewer.document().hooks
    assert not one.held
    assert "Nobody holds its handle" in viewer.detail(one.number).note
    answer = viewer.handle({"seq": 1, "command": "remove", "arguments": {"number": one.number}})
    assert answer["success"]
    assert not net.act._forward_hooks
    (gone,) = viewer.document().hooks
    assert (gone.state, gone.why) == ("removed", "It was removed in this view.")
    refused = viewer.handle({"seq": 2, "command": "remove", "arguments": {"number": one.number}})
    assert "not there any more" in refused["message"]


# ---------------------------------------------------------------------------------------------------------- in order


def test_the_timeline_tells_what_came_before_and_after_the_accumulation(net: Net, watch: Any) -> None:
    w = net.last.weight
    w.register_hook(lambda g: g * 0.5)
    w.register_post_accumulate_grad_hook(nothing)
    accumulator(w).register_hook(nothing)
    net.last.register_full_backward_hook(nothing)
    net.last.register_full_backward_pre_hook(nothing)
    viewer = watch(net)
    step(net)
    document = viewer.document()
    assert lines(document) == [
        ("pass", ""),
        ("backward pre", "before any .grad of net.last is added to"),
        ("tensor", "before net.last.weight.grad is added to"),
        ("accumulated", "its gradient is added to .grad"),
        ("post accumulate", "after net.last.weight.grad is added to"),
        ("node", "after net.last.weight.grad is added to"),
        ("backward", "after every .grad of net.last is added to"),
    ]
    begun = document.rows[0]
    assert begun.site is not None
    assert "backward" in begun.site.code
    halved = next(row for row in document.rows if row.kind == "tensor")
    assert halved.after == pytest.approx((halved.before or 0) / 2)
    assert halved.change == "replaced, norm × 0.5"
    assert float(w.grad.norm()) == pytest.approx(halved.after)


def test_forward_hooks_of_intermediate_values_and_steps_stand_in_the_same_timeline(net: Net, watch: Any) -> None:
    optimizer = tl.optim.SGD(net.parameters(), lr=0.1)
    net.act.register_forward_pre_hook(nothing)
    net.act.register_forward_hook(lambda m, args, out: out + 1)
    optimizer.register_step_post_hook(nothing)
    viewer = watch(net, optimizer=optimizer)
    out = net(tl.ones(4, 2))
    out.register_hook(nothing)
    out.sum().backward()
    optimizer.step()
    document = viewer.document()
    assert [place for _, place in lines(document)] == [
        "before net.act runs", "after net.act ran", "", f"before {out.grad_fn.name()} runs", "after the parameters moved",
    ]  # fmt: skip
    changed = document.rows[1]
    assert changed.change.startswith("replaced")
    looks = {look.label: look.preview for look in viewer.detail(changed.number).looks}
    assert set(looks) == {"output before", "output after", "input"}
    assert looks["output after"].mean == pytest.approx(looks["output before"].mean + 1)


def test_what_a_hook_printed_is_kept_with_its_call_and_still_reaches_the_cell(
    net: Net, watch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def loud(module: Any, args: Any, out: Any) -> None:
        print("x" * 10_000_000)

    def quiet(module: Any, args: Any, out: Any) -> None:
        print("<b>hello</b>")

    net.act.register_forward_hook(loud)
    net.act.register_forward_hook(quiet)
    viewer = watch(net)
    net(tl.ones(4, 2))
    print("of the cell")
    assert len(capsys.readouterr().out) == 10_000_001 + 13 + 12
    document = viewer.document()
    assert call_of(document, "loud").printed_characters == 10_000_001
    assert len(call_of(document, "loud").printed) == 2_000
    assert call_of(document, "quiet").printed == "<b>hello</b>\n"
    assert len(json.dumps(wire.to_json(document))) < 60_000


def test_a_hook_that_raises_is_noted_and_raises_as_ever(net: Net, watch: Any) -> None:
    def bad(g: Any) -> None:
        raise ValueError("<script>mine</script>")

    net.first.weight.register_hook(bad)
    viewer = watch(net)
    with pytest.raises(ValueError, match="mine"):
        step(net)
    assert call_of(viewer.document(), "bad").error == "ValueError: <script>mine</script>"
    assert viewer.document().trouble == ""


@pytest.mark.parametrize("write", [lambda g: g.mul_(0), lambda g: g.numpy().fill(0)], ids=["in place", "by NumPy"])
def test_a_hook_that_writes_into_what_it_was_given_is_noticed(net: Net, watch: Any, write: Any) -> None:
    def writes(g: tl.Tensor) -> None:
        write(g)

    net.last.weight.register_hook(writes)
    viewer = watch(net)
    step(net)
    row = call_of(viewer.document(), "writes")
    assert row.wrote
    assert row.change.startswith("written into")
    assert row.after == 0.0


def test_a_gradient_that_a_hook_takes_away_is_called_taken_away(net: Net, watch: Any) -> None:
    def takes(p: Any) -> None:
        p.grad = None

    net.last.weight.register_post_accumulate_grad_hook(takes)
    viewer = watch(net)
    step(net)
    assert call_of(viewer.document(), "takes").change == "taken away"


def test_a_pass_that_a_hook_runs_does_not_cut_the_outer_one_in_two(net: Net, watch: Any) -> None:
    def inner(g: Any) -> None:
        y = tl.ones(1, requires_grad=True)
        with tl.enable_grad():
            (y * 2).sum().backward()

    net.last.weight.register_hook(inner)
    net.first.weight.register_hook(nothing)
    viewer = watch(net)
    step(net)
    rows = viewer.document().rows
    assert [row.what for row in rows].count("pass") == 2
    assert call_of(viewer.document(), "nothing").turn == call_of(viewer.document(), "inner").turn == 0


# ---------------------------------------------------------------------------------------------------------- silence


def why(viewer: HookViewer, kind: str, owner: str) -> str:
    return entry(viewer.document(), kind, owner).why


def test_it_is_said_why_a_hook_on_a_module_was_not_called(net: Net, watch: Any) -> None:
    for part in (net.spare, net.first, net.last):
        part.register_full_backward_hook(nothing)
        part.register_forward_hook(nothing)
    viewer = watch(net)
    assert "net has not been called" in why(viewer, "forward", "net.spare")
    out = net(tl.ones(4, 2))
    assert "net.spare was not called: forward() of net does not use it" in why(viewer, "backward", "net.spare")
    assert why(viewer, "forward", "net.first") == ""
    assert "backward() has not run since net.last was called" in why(viewer, "backward", "net.last")
    tl.ones(1, requires_grad=True).sum().backward()
    assert "did not reach the output of net.last" in why(viewer, "backward", "net.last")
    out.sum().backward()
    assert why(viewer, "backward", "net.last") == ""
    with tl.no_grad():
        net(tl.ones(4, 2))
    tl.ones(1, requires_grad=True).sum().backward()
    assert "net.last ran under no_grad" in why(viewer, "backward", "net.last")


def test_a_frozen_module_and_a_first_layer_without_gradients_for_its_inputs_are_explained(net: Net, watch: Any) -> None:
    def look(*given: Any) -> None: ...

    net.first.requires_grad_(False)
    net.first.register_full_backward_hook(nothing)
    net.first.weight.requires_grad_(True).register_hook(nothing)
    net.first.weight.requires_grad_(False)
    net.last.register_full_backward_hook(look)
    viewer = watch(net)
    step(net)
    assert "neither its inputs nor its parameters require grad" in why(viewer, "backward", "net.first")
    assert "net.first.weight.requires_grad is False" in why(viewer, "tensor", "net.first.weight")
    assert call_of(viewer.document(), "look").change == "nothing given: no input of the module needs a gradient"


def test_it_is_said_why_a_hook_on_a_tensor_was_not_called(net: Net, watch: Any) -> None:
    net.spare.weight.register_hook(nothing)
    net.last.weight.register_post_accumulate_grad_hook(nothing)
    viewer = watch(net)
    assert "backward() has not run" in why(viewer, "tensor", "net.spare.weight")
    loss = net(tl.ones(4, 2)).sum()
    tl.autograd.grad(loss, net.last.weight, retain_graph=True)
    assert "autograd.grad(), which adds to no .grad" in why(viewer, "post accumulate", "net.last.weight")
    loss.backward()
    assert "explain_grad(net.spare.weight, loss)" in why(viewer, "tensor", "net.spare.weight")
    late = net.last.bias.register_hook(nothing)
    assert "registered after the last backward pass" in why(viewer, "tensor", "net.last.bias")
    late.remove()
    gone = next(one for one in viewer.document().hooks if one.state == "removed")
    assert "It was removed in " in gone.why


def test_a_tensor_that_was_replaced_takes_its_hook_with_it(net: Net, watch: Any) -> None:
    net.last.weight.register_hook(nothing)
    viewer = watch(net)
    net.last.weight = nn.Parameter(tl.zeros(1, 3))
    (one,) = viewer.document().hooks
    assert (one.state, one.owner) == ("gone", "net.last.weight")
    assert "net.last.weight is another tensor now" in one.why


def test_requests_for_states_and_steps_are_explained_too(net: Net, watch: Any) -> None:
    optimizer = tl.optim.SGD(net.parameters(), lr=0.1)
    net.register_state_dict_pre_hook(nothing)
    optimizer.register_step_pre_hook(nothing)
    viewer = watch(net, optimizer=optimizer)
    assert why(viewer, "state_dict pre", "net") == "state_dict() has not been called since the recording began."
    assert why(viewer, "step pre", "optimizer") == "optimizer.step() has not run since the recording began."
    net.state_dict()
    optimizer.step()
    assert {one.fired for one in viewer.document().hooks} == {1}


# ---------------------------------------------------------------------------------------------------------- outputs


def test_outputs_are_pictures_sequences_or_numbers_by_their_shape(watch: Any) -> None:
    parts = nn.ModuleDict({"conv": nn.Conv2d(1, 3, 3), "rnn": nn.Linear(4, 30), "out": nn.Linear(4, 2)})
    viewer = watch(parts, "parts")
    parts["conv"](tl.ones(2, 1, 40, 30))
    parts["rnn"](tl.ones(2, 70, 4))
    parts["out"](tl.full((2, 4), float("nan")))
    found = {one.name: one for one in viewer.document().outputs}
    conv, rnn, out = found["parts.conv"], found["parts.rnn"], found["parts.out"]
    assert (conv.form, len(conv.tiles)) == ("images", 3)
    assert all(-1 <= v <= 99 for tile in conv.tiles for row in tile.cells for v in row)
    assert (len(conv.tiles[0].cells), len(conv.tiles[0].cells[0])) == (13, 14)
    assert "all channels, one row in 3" in conv.caption
    assert (rnn.form, len(rnn.tiles[0].cells), len(rnn.tiles[0].cells[0])) == ("sequence", 48, 15)
    assert (out.form, out.bad, out.mean) == ("statistics", 4, None)


def test_a_model_that_changes_while_it_is_watched_is_followed(net: Net, watch: Any) -> None:
    viewer = watch(net)
    step(net)
    net.act = nn.Sequential(nn.Tanh(), nn.Linear(3, 3))
    net.act[1].register_forward_hook(nothing)
    viewer.document()
    step(net)
    document = viewer.document()
    assert entry(document, "forward", "net.act.1").fired == 1
    assert "net.act.1" in {one.name for one in document.outputs}


# ---------------------------------------------------------------------------------------------------------- letting go


def test_nothing_is_left_after_detaching_and_nothing_is_kept_alive(watch: Any) -> None:
    net = Net()
    net.act.register_forward_hook(nothing)
    viewer = watch(net)
    loss = step(net)
    known = [weakref.ref(net), weakref.ref(net.first.weight), weakref.ref(loss.grad_fn)]
    viewer.recorder.detach()
    assert not taps.hooks
    assert not taps.steps
    assert not calling.everywhere
    before = viewer.document()
    del net, loss
    gc.collect()
    assert [one() for one in known] == [None, None, None]
    after = viewer.document()
    assert after.hooks == before.hooks
    assert "is gone" in after.trouble


def test_a_recorder_that_is_dropped_without_a_word_takes_its_taps_with_it(net: Net) -> None:
    viewer = HookViewer(net, "net", dict)
    assert taps.hooks
    del viewer
    gc.collect()
    assert not taps.hooks
    assert not taps.steps
    assert not calling.everywhere


def test_two_views_of_one_model_do_not_see_each_other(net: Net, watch: Any) -> None:
    net.act.register_forward_hook(nothing)
    one, two = watch(net), watch(net)
    step(net)
    assert [len(v.document().hooks) for v in (one, two)] == [1, 1]
    assert [v.document().hooks[0].fired for v in (one, two)] == [1, 1]
    one.recorder.detach()
    step(net)
    assert [v.document().hooks[0].fired for v in (one, two)] == [1, 2]


def test_gradients_and_randomness_are_the_same_whether_hooks_are_watched_or_not(net: Net, watch: Any) -> None:
    net.last.weight.register_hook(lambda g: g * 0.1)
    net.act.register_full_backward_hook(nothing)
    step(net)
    plain = [p.grad.numpy().copy() if p.grad is not None else None for p in net.parameters()]
    net.zero_grad()
    watch(net)
    step(net)
    for p, expected in zip(net.parameters(), plain, strict=True):
        assert (p.grad is None) == (expected is None)
        assert expected is None or np.array_equal(p.grad.numpy(), expected)


def test_the_timeline_is_bounded_and_says_what_it_forgot(net: Net, watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    net.act.register_forward_hook(nothing)
    viewer = watch(net)
    for _ in range(hook_recorder.KEPT + 50):
        net.act(tl.ones(1))
    document = viewer.document()
    assert (len(document.rows), document.forgotten) == (hook_recorder.KEPT, 50)
    assert viewer.document(since=document.rows[-2].row).rows == document.rows[-1:]


def test_hooks_are_those_of_modules_tensors_and_optimizers() -> None:
    with pytest.raises(TypeError, match="not of str"):
        HookViewer("net", "", dict)


def test_requests_that_cannot_be_done_say_why(net: Net, watch: Any) -> None:
    viewer = watch(net)
    assert "cannot 'dance'" in viewer.handle({"seq": 1, "command": "dance"})["message"]
    assert (
        "no output of 'nobody'"
        in viewer.handle({"seq": 1, "command": "output", "arguments": {"name": "nobody"}})["message"]
    )
    for command in ("detach", "attach", "forget", "refresh"):
        assert viewer.handle({"seq": 1, "command": command, "arguments": {"since": -1}})["success"]


def test_a_copy_of_what_is_printed_goes_on_to_whoever_captures_around_it() -> None:
    from tensorlab.observe.output import captured_output, copied_output

    before = sys.stdout
    sys.stdout = stream = io.StringIO()
    try:
        with captured_output() as outer:
            with copied_output(3) as inner:
                print("hello")
        print("after")
    finally:
        sys.stdout = before
    assert (outer.text, inner.text, inner.total, stream.getvalue()) == ("hello\n", "hel", 6, "after\n")
