"""``%%lines`` in a notebook, and the still face of a record: picture, text and document."""

from __future__ import annotations

import json
import os
import signal
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import pytest

import tensorlab as tl
from tensorlab.display import formatters
from tensorlab.display.lines import LINES_TYPE, MOST_KEPT, LinesPicture, bundle, svg, text
from tensorlab.observe import wire
from tensorlab.observe.lines_document import record
from tensorlab.observe.schema import LinesDocument


@pytest.fixture
def shell(monkeypatch):
    ipython = pytest.importorskip("IPython.core.interactiveshell")
    shell = ipython.InteractiveShell.instance()
    formatters.register()
    shell.shown = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, metadata=None, **_: shell.shown.append(data))
    yield shell
    formatters.unregister()
    shell.reset(new_session=False)
    ipython.InteractiveShell.clear_instance()


def run(shell, code: str):
    """A cell as a notebook runs it: what came of it, and the record that it showed, if any."""
    shell.shown.clear()
    result = shell.run_cell(code, store_history=True)
    return result, next((data for data in shell.shown if LINES_TYPE in data), None)


def test_a_cell_with_the_word_runs_as_always_and_shows_its_lines(shell, capsys):
    run(shell, "import tensorlab as tl\ndef double(x):\n    y = x * 2\n    return y")
    result, shown = run(shell, "%%lines\nx = tl.ones(3)\nfor i in range(2):\n    x = double(x)\n    print(i)\nx.sum()")
    assert result.result.item() == 12
    assert shell.user_ns["x"].tolist() == [4, 4, 4]
    assert "0\n1\n" in capsys.readouterr().out
    document = wire.from_json(LinesDocument, shown[LINES_TYPE])
    assert document.title == "cell 2"
    assert document.sources[0].text[0] == "%%lines"
    assert (document.sources[1].name, document.sources[1].function) == ("cell 1", "double")
    assert "    4 ×2    x = double(x)" in shown["text/plain"]
    assert "y [3] mean 2" in shown["text/plain"]
    _, nothing = run(shell, "x * 2")
    assert nothing is None
    assert sys.gettrace() is None or "coverage" in repr(sys.gettrace())


def test_an_error_is_shown_as_always_and_the_record_up_to_it(shell, capsys):
    result, shown = run(shell, "%%lines\nimport tensorlab as tl\ny = tl.ones(3)\ny.view(7)\nz = 1")
    assert isinstance(result.error_in_exec, RuntimeError)
    assert "----> 4" in capsys.readouterr().out.replace("\x1b[32m", "").replace("\x1b[39m", "")
    assert "It ended in line 4 with RuntimeError" in shown["text/plain"]
    result, shown = run(shell, "%%lines\n1 +")
    assert result.error_before_exec is not None
    assert shown is None


def test_an_interrupted_cell_keeps_its_record(shell, capsys):
    shell.user_ns |= {"os": os, "signal": signal}
    code = "%%lines\nk = 0\nwhile True:\n    k += 1\n    if k == 4: os.kill(os.getpid(), signal.SIGINT)"
    result, shown = run(shell, code)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "k = 4" in shown["text/plain"]


def test_a_script_made_of_a_notebook_can_call_the_word(shell, capsys):
    shell.shown.clear()
    shell.run_cell_magic("lines", "", "a = 1\nb = a + 1")
    assert shell.user_ns["b"] == 2
    assert "b = 2" in shell.shown[-1]["text/plain"]
    assert "lines" in shell.magics_manager.magics["cell"]
    formatters.unregister()
    assert "lines" not in shell.magics_manager.magics["cell"]
    formatters.register()


def test_await_on_top_of_a_cell_is_followed_too(shell, capsys):
    code = "%%lines\nimport asyncio\nawait asyncio.sleep(0)\nw = 3"
    with ThreadPoolExecutor(1) as aside:  # in this thread a loop of other tests may run
        result, shown = aside.submit(run, shell, code).result()
    result.raise_error()
    assert "w = 3" in shown["text/plain"]


def grown(times: int):
    def grow(x):
        for _ in range(times):
            x = x + 1
        return x

    return record(grow, (tl.zeros(3),), {})


def test_the_picture_is_a_picture_in_both_colours_with_text_as_text():
    def run():
        name = "</text><script>alert(1)</script>"
        print(name)
        return tl.tensor([-1.0, float("inf"), 2.0]) * 2

    picture = svg(record(run, (), {}).document)
    ElementTree.fromstring(picture)
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture
    assert "prefers-color-scheme:dark" in picture
    assert "var(--warn)" in picture  # what is not finite
    assert "var(--waiting)" in picture  # what is below zero


def test_a_long_record_is_cut_in_picture_and_text_and_says_so():
    document = grown(200).document
    assert "steps more are not drawn" in svg(document)
    assert "steps more are not drawn" in text(document)
    assert len(svg(document)) < 40_000


def test_what_a_notebook_file_keeps_is_bounded():
    data = bundle(grown(3000).document)
    assert len(data[LINES_TYPE]["steps"]["line"]) == MOST_KEPT
    assert len(json.dumps(data)) < 120_000


def test_in_a_console_it_is_text_and_a_file():
    shown = LinesPicture(grown(1))
    assert repr(shown).startswith("grow ran 4 lines and made 1 value.")
    assert shown.result.tolist() == [1, 1, 1]
    assert shown.error is None
