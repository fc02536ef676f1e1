"""What a notebook shows by itself, and that nothing of IPython is touched where there is none."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref

import pytest

import tensorlab as tl
from tensorlab import modes
from tensorlab.display import formatters
from tensorlab.display.bundle import GRAPH_TYPE, GraphPicture
from tensorlab.observe import wire
from tensorlab.observe.schema import Graph
from tensorlab.observe.snapshot import snapshot


@pytest.fixture
def shell():
    ipython = pytest.importorskip("IPython.core.interactiveshell")
    shell = ipython.InteractiveShell.instance()
    formatters.register()
    yield shell
    formatters.unregister()
    shell.reset(new_session=False)
    ipython.InteractiveShell.clear_instance()


def shown(shell, code: str) -> dict:
    """The bundle of the value on the last line of a cell."""
    result = shell.run_cell(code, store_history=True)
    result.raise_error()
    return shell.display_formatter.format(result.result)[0]


LOSS = """
import tensorlab as tl
x = tl.ones(4, 2)
weight = tl.ones(2, 3, requires_grad=True)
hidden = (x @ weight).tanh()
loss = hidden.sum()
loss
"""


def test_a_loss_on_the_last_line_shows_its_graph_in_the_users_names(shell):
    data = shown(shell, LOSS)
    assert set(data) == {GRAPH_TYPE, "image/svg+xml", "text/plain"}
    graph = wire.from_json(Graph, json.loads(json.dumps(data[GRAPH_TYPE], allow_nan=False)))
    assert graph.title == "loss"
    assert {"x", "weight", "hidden", "loss"} <= set(graph.strings)
    assert data["text/plain"].startswith("tensor(11.5")
    assert "grad_fn=<SumBackward0>" in data["text/plain"]
    assert "hidden" in data["image/svg+xml"]
    assert [site.code for site in graph.sites][-1] == "loss = hidden.sum()"
    assert graph.sites[0].cell == 1


def test_tensors_without_history_print_as_always(shell):
    assert set(shown(shell, "import tensorlab as tl\ntl.ones(2)")) == {"text/plain"}
    assert shown(shell, "tl.ones(2, requires_grad=True)") == {"text/plain": "tensor([1., 1.], requires_grad=True)"}


def test_a_module_shows_its_parts(shell):
    data = shown(shell, "import tensorlab as tl\nnet = tl.nn.Sequential(tl.nn.Linear(3, 4), tl.nn.Tanh())\nnet")
    assert data[GRAPH_TYPE]["title"] == "net"
    assert "net is a Sequential of 2 parts with 16 parameters (64 B)." in data[GRAPH_TYPE]["sentence"]
    assert data["text/plain"].startswith("Sequential(")
    assert "W 4×3" in data["image/svg+xml"]


def test_what_is_shown_keeps_no_graph_alive(shell):
    loss = (tl.ones(2, requires_grad=True).exp()).sum()
    data = formatters.show_tensor(loss)
    seen = weakref.ref(loss.grad_fn)
    del loss
    gc.collect()
    assert seen() is None
    assert GRAPH_TYPE in data


@pytest.mark.parametrize(
    ("make", "most"),
    [
        ("y = x\nfor _ in range(200): y = y * 1.0\ny.sum()", 60_000),
        ("y = x\nfor step in range(200): y = (y * float(step + 1)).tanh() if step % 3 else y.exp()\ny.sum()", 60_000),
        ("y = x\nfor _ in range(20000): y = y * 1.0\ny.sum()", 60_000),
    ],
)
def test_one_display_of_a_large_graph_stays_small(shell, make, most):
    data = shown(shell, f"import tensorlab as tl\nx = tl.ones(4, 2, requires_grad=True)\n{make}")
    size = len(json.dumps(data[GRAPH_TYPE])) + len(data["image/svg+xml"].encode()) + len(data["text/plain"].encode())
    assert size <= most


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "-float('inf')"])
def test_nan_and_infinity_are_shown(shell, value):
    data = shown(shell, f"import tensorlab as tl\n(tl.tensor({value}, requires_grad=True) * 1)")
    json.dumps(data[GRAPH_TYPE], allow_nan=False)
    assert "result is" in data[GRAPH_TYPE]["sentence"]


@pytest.mark.parametrize("shape", ["0", "0, 3", "2, 0, 2"])
def test_empty_tensors_are_shown(shell, shape):
    assert GRAPH_TYPE in shown(shell, f"import tensorlab as tl\ntl.ones({shape}, requires_grad=True) * 2")


def test_a_billion_expanded_elements_are_shown_at_once(shell):
    data = shown(shell, "import tensorlab as tl\ntl.ones(1, requires_grad=True).expand(10**9)")
    assert data["text/plain"] == "tensor([1., 1., 1.,  ..., 1., 1., 1.], grad_fn=<ExpandBackward0>)"


def test_names_that_look_like_markup_are_text(shell):
    shell.user_ns["<script>"] = tl.ones(2, requires_grad=True)
    data = shown(shell, "globals()['<script>'] * 2")
    assert "<script>" not in data["image/svg+xml"]
    assert "<script>" in data[GRAPH_TYPE]["strings"]


def test_registering_twice_changes_nothing_and_can_be_undone(shell):
    assert formatters.register()
    assert modes.sites_are_watched()
    formatters.unregister()
    assert not modes.sites_are_watched()
    assert set(shown(shell, LOSS)) == {"text/plain"}
    formatters.register()


def test_outside_of_ipython_nothing_is_imported_or_recorded():
    code = (
        "import sys; import tensorlab as tl; from tensorlab.display import formatters;"
        "assert formatters.register() is False;"
        "assert 'IPython' not in sys.modules; assert not tl.modes.sites_are_watched();"
        "print(repr(tl.ones(2)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "tensor([1., 1.])\n"


def test_a_picture_can_be_kept_and_shown_by_hand():
    x = tl.ones(2, requires_grad=True)
    picture = GraphPicture(snapshot((x * 2).sum()))
    assert picture.svg().startswith("<svg")
    assert "MulBackward0" in repr(picture)
    assert set(picture._repr_mimebundle_()) == {GRAPH_TYPE, "image/svg+xml", "text/plain"}


def test_an_error_shows_its_picture_under_the_traceback_and_other_cells_show_none(shell, monkeypatch, capsys):
    published = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, *args, **kwargs: published.append(data))
    shell.run_cell("import tensorlab as tl; a = tl.ones(3, 4)", store_history=True)
    shell.run_cell("1 / 0", store_history=True)
    assert published == []
    shell.run_cell("a + tl.ones(3)", store_history=True)
    assert "do not meet" in published[0]["text/plain"]
    assert published[0]["image/svg+xml"].startswith("<svg")
    shell.run_cell("w = a.clone().requires_grad_()\ny = w * w\nw.data.add_(1)", store_history=True)
    shell.run_cell("y.sum().backward()", store_history=True)
    assert "add_()" in published[1]["text/plain"]
    assert "line 3" in published[1]["text/plain"]
    capsys.readouterr()


def test_an_error_says_the_cell_and_not_the_file_that_it_was_compiled_as(shell):
    shell.run_cell(
        "import tensorlab as tl\nw = tl.ones(2, requires_grad=True)\ny = (w**2).sum()\ny.backward()", store_history=True
    )
    found = shell.run_cell("y.backward()", store_history=True)
    assert f'cell {shell.execution_count - 2}, line 4: "y.backward()"' in str(found.error_in_exec)
    assert "ipykernel" not in str(found.error_in_exec)
