"""Hooks and memory that are watched on a GPU: the same words and figures, with the pool beside them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorlab as tl
from tensorlab import census, nn
from tensorlab.display import held as held_picture
from tensorlab.display import hooks as hooks_picture
from tensorlab.observe.hook_viewer import HookViewer
from tensorlab.observe.memory_watch import MemoryWatch


def model() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 36, 2)).to("cuda")


def test_memory_of_a_gpu_is_followed_and_its_pool_stands_beside_it(gpu: Any) -> None:
    names = {"net": model(), "x": tl.randn(4, 1, 8, 8, device="cuda")}
    watch = MemoryWatch(None, "", lambda: names)
    try:
        names["net"](names["x"]).sum().backward()
        document = watch.document()
        assert document.device == "cuda:0"
        assert document.curve.now == census.allocated("cuda", 0)
        assert sum(b.bytes for b in document.blocks if b.at_peak) == document.curve.peak
        assert {b.name for b in document.blocks} >= {"net.0.weight", "net.0.weight.grad", "x"}
        (pool,) = document.pools
        assert (pool.device, pool.used, pool.taken) == ("cuda:0", tl.cuda.memory_allocated(), tl.cuda.memory_reserved())
        assert "pool of cuda:0" in held_picture.text(document)
        assert document.trouble == ""
    finally:
        watch.recorder.detach()


def test_hooks_on_a_gpu_are_measured_as_on_the_host(gpu: Any) -> None:
    net = model()
    net[3].weight.register_hook(lambda g: g * 0.5)
    net[0].register_forward_hook(lambda module, args, out: out.mul_(2))
    viewer = HookViewer(net, "net", dict)
    try:
        net(tl.randn(4, 1, 8, 8, device="cuda")).sum().backward()
        document = viewer.document()
        halved = next(row for row in document.rows if row.kind == "tensor")
        assert halved.after == pytest.approx((halved.before or 0) / 2, rel=1e-5)
        assert next(row for row in document.rows if row.kind == "forward").wrote
        assert next(one for one in document.outputs if one.name == "net.0").form == "images"
        assert viewer.detail(halved.number).looks
        assert document.trouble == ""
        assert "net.0 (Conv2d)" in hooks_picture.text(document)
    finally:
        viewer.recorder.detach()
