"""Pictures as files: names that every system takes, endings that say what is written, and nothing left half."""

from __future__ import annotations

import pytest

import tensorlab as tl
from tensorlab.display.bundle import GraphPicture
from tensorlab.display.player import view_page
from tensorlab.display.saving import LONGEST_NAME, file_stem
from tensorlab.observe.snapshot import snapshot


@pytest.mark.parametrize(
    ("words", "stem"),
    [
        (("graph", "loss"), "graph-loss"),
        (("graph", 'a/b\\c:d*?"<>|e'), "graph-a-b-c-d-e"),
        (("потери", "损失"), "потери-损失"),
        (("..", "../../etc"), "etc"),
        (("con",), "con-"),
        (("\n\x00", " "), "picture"),
    ],
)
def test_a_file_name_is_made_of_letters_and_digits_of_any_script(words, stem):
    assert file_stem(*words) == stem


def test_a_long_name_is_cut():
    assert len(file_stem("x" * 500)) == LONGEST_NAME


def picture() -> GraphPicture:
    x = tl.ones(2, requires_grad=True)
    return GraphPicture(snapshot((x * 2).sum(), title="<script>alert(1)</script>"))


def test_the_ending_says_how_a_picture_is_saved(tmp_path):
    shown = picture()
    assert shown.save(tmp_path / "a.svg").read_text("utf-8") == shown.svg()
    assert shown.save(str(tmp_path / "a.TXT")).read_text("utf-8").startswith(shown.text())
    page = shown.save(tmp_path / "<b>.html").read_text("utf-8")
    assert shown.svg() in page
    assert "<b>" not in page
    assert "<script" not in page
    for name, word in (("a.png", "browser"), ("a", "no ending"), ("a.pdf", r"\.svg, \.html, \.txt")):
        with pytest.raises(ValueError, match=word):
            shown.save(tmp_path / name)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".TXT", ".html", ".svg"]


def test_what_a_page_holds_cannot_end_its_script():
    answers = [["initialize", {}, None, {"title": "</script><b>"}]]
    text = view_page(answers, 'var x="</script>";export{x as default};', "", "", "<svg/>", "</title><b>", "a")
    assert "<b>" not in text
    assert "globalThis.instrument = x;" in text
    with pytest.raises(ValueError, match="build the bundles"):
        view_page(answers, "var x;", "", "", "", "", "a")
