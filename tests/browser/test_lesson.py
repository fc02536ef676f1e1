"""Lesson 1 as a person goes through it: every cell run in a page, then the stepper driven with keys and the mouse.

With REFRESH_IMAGES=1 in the environment the two pictures of the README are made anew.
"""

from __future__ import annotations

import os
import re

from playwright.sync_api import expect

from tests.browser.instrument import Instrument
from tests.browser.lab import Notebook
from tests.browser.server import REPOSITORY

LESSON = REPOSITORY / "notebooks" / "01_step_through_backward.ipynb"
IMAGES = REPOSITORY / "docs" / "images"
WIDTHS = (1100, 760, 480)
ACCURACY = re.compile(r"([\d.]+)% of \d+ unseen digits are right")
FILLED = "[name for name, p in model.named_parameters() if p.grad is not None]"
MOVED = "((model[0].bias.grad - untouched).abs() > 1e-6).nonzero().flatten().tolist()"


def test_the_lesson_runs_and_its_stepper_does_what_the_text_says(notebook: Notebook) -> None:
    notebook.open(LESSON, name=LESSON.name)
    notebook.run_all()
    view = Instrument(notebook.page.locator(".jp-Notebook .jp-Cell").get_by_test_id("tl-stepper"))
    said = ACCURACY.findall(notebook.page.locator(".jp-Notebook").text_content() or "")
    assert float(said[-1]) >= 95
    expect(view.status).to_contain_text("finished")
    # Next four times, then Back: the .grad that was filled is gone again.
    notebook.tell("model.zero_grad()")
    view.get("tl-restart").click()
    view.is_at(0)
    for step, words in enumerate(
        ["LogSoftmaxBackward0", "AddmmBackward0 (scores)", "AccumulateGrad", "AccumulateGrad"]
    ):
        view.press("F10")
        view.is_at(step + 1)
        view.says(words)
    assert len(notebook.ask(FILLED)) == 1
    view.get("tl-back").click()
    view.is_at(3)
    assert notebook.ask(FILLED) == []
    # To the breakpoint at the rectifier that the lesson set; one number of 128 is changed there, and the rest follows.
    view.press("F9")
    view.says("at a breakpoint", "ReluBackward0 (hidden)")
    assert notebook.ask("stepper.session.run.current is hidden.grad_fn")
    unit = notebook.ask("int(hidden[0, :16].argmax())")  # one that is on, among those that the heat map shows
    assert isinstance(unit, int)
    view.press("e")
    view.get("tl-edit-value").press("Escape")
    view.press(*["ArrowRight"] * unit, "Enter")
    view.get("tl-edit-value").fill("1")
    view.press("Enter")
    view.says("gradient edited")
    view.press("F9")
    expect(view.status).to_contain_text("finished")
    assert notebook.ask(MOVED) == [unit]
    fit_to_be_seen(notebook, view)


def fit_to_be_seen(notebook: Notebook, view: Instrument) -> None:
    """At the breakpoint, in both themes and at every width: nothing is cut off, and pictures are kept."""
    view.get("tl-restart").click()
    view.is_at(0)
    view.press("F9")
    view.is_at(5)
    expect(view.inspector).to_have_attribute("data-step", "5")
    view.page.evaluate("() => document.activeElement.blur()")
    notebook.command("application:toggle-left-area")
    for theme in ("dark", "light"):
        notebook.theme(theme)
        for width in WIDTHS:
            widen(view, width)
            nothing_is_clipped(view)
            path = notebook.screenshot(f"lesson-{theme}-{width}", view.root)
            if width == WIDTHS[0] and os.environ.get("REFRESH_IMAGES"):
                IMAGES.mkdir(parents=True, exist_ok=True)
                (IMAGES / f"stepper-{theme}.png").write_bytes(path.read_bytes())


def widen(view: Instrument, width: int) -> None:
    """Changes the size of the page until the instrument is so wide, with all of it in sight."""
    for _ in range(50):
        box, size = view.root.bounding_box(), view.page.viewport_size
        assert box is not None
        assert size is not None
        wanted = {"width": size["width"] + width - round(box["width"]), "height": max(1000, round(box["height"]) + 320)}
        if wanted == size:
            break
        view.page.set_viewport_size(wanted)
        view.page.wait_for_timeout(100)
    expect(view.root).to_have_css("width", f"{width}px")
    view.root.scroll_into_view_if_needed()
    view.root.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def nothing_is_clipped(view: Instrument) -> None:
    """No button and no text stands outside of the instrument, and nothing scrolls sideways."""
    outside = view.root.evaluate(
        """root => {
          const { left, right } = root.getBoundingClientRect();
          return [...root.querySelectorAll('button, .tl-sentence, .tl-inspector *, .tl-controls, .tl-finder')]
            .filter(each => each.offsetParent !== null)
            .filter(each => { const box = each.getBoundingClientRect(); return box.left < left || box.right > right + 0.5; })
            .map(each => each.className + ' ' + each.textContent.slice(0, 40));
        }"""
    )
    assert outside == []
    assert view.root.evaluate("root => root.scrollWidth <= root.clientWidth")
