"""How a tensor lies on a GPU is looked at in part: what crosses to the host does not grow with the tensor."""

from __future__ import annotations

from typing import Any

import tensorlab as tl
from tensorlab.display.memory import LayoutPicture
from tensorlab.observe import calls, memory


def test_a_large_tensor_on_a_gpu_is_looked_at_and_never_copied(gpu: Any) -> None:
    x = tl.zeros(1000, 1000, device="cuda:1").t()
    document = memory.layout_document(x, "x", {"x": x, "row": x[3]}, [("row", (1000,), x[3]._a)])
    assert document.device == "cuda:1"
    assert "touch about 62,500 cache lines" in document.reading.sentence
    assert memory.picked(x, (3, 4), "x", {"row": x[3]}).also == ("row[4]",)
    assert memory.scratch(x, (2, 2), (1, 1), 0).grid.text == (("0", "0"), ("0", "0"))
    assert calls.tried(x, "reshape(-1)", "x", {}).verdict.bytes == 4_000_000
    assert memory.strip_of(x, 640).first == 640
    assert LayoutPicture(document).svg()
    assert sum(gpu.copied("out")) < 4096
