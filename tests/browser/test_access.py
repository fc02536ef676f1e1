"""Every view for everybody: by keys alone, by ear, in both themes, in other eyes; and nothing left behind when it is closed."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.lab import ARTIFACTS
from tests.browser.views import CYCLES, VIEWS, counted, opened, readable, violations

EYES = ("protanopia", "deuteranopia", "tritanopia")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pages lie."""
    return tmp_path_factory.mktemp("views")


@pytest.mark.parametrize("name", VIEWS)
def test_no_view_keeps_anybody_out_and_all_are_seen_with_other_eyes(browser: Browser, folder: Path, name: str) -> None:
    for theme in ("light", "dark"):
        page, root = opened(browser, name, folder, theme)
        assert violations(page, root) == []
        root.focus()
        page.keyboard.press("?")
        expect(root.get_by_test_id("tl-help")).to_be_visible()
        assert violations(page, root) == [], "with the list of keys open"
        page.keyboard.press("Escape")
        session = page.context.new_cdp_session(page)
        for eyes in EYES if theme == "light" else ():
            session.send("Emulation.setEmulatedVisionDeficiency", {"type": eyes})
            root.screenshot(path=ARTIFACTS / "screenshots" / f"eyes-{name}-{eyes}.png", animations="disabled")
        page.close()


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "player"])
def test_two_hundred_times_opened_and_closed_a_view_leaves_nothing(browser: Browser, folder: Path, name: str) -> None:
    page, _ = opened(browser, name, folder)
    page.evaluate(CYCLES, 20)
    before = counted(page)
    page.evaluate(CYCLES, 200)
    after = counted(page)
    page.close()
    left = {what: after[what] - before[what] for what in before}
    assert left["Nodes"] < 200, left  # less than one node a time
    assert left["JSEventListeners"] < 20, left
    assert left["JSHeapUsedSize"] < 4e6, left


def test_which_parameter_has_the_largest_gradient_and_which_has_none_is_found_by_keys(
    browser: Browser, folder: Path
) -> None:
    page, root = opened(browser, "flow", folder)
    root.focus()
    page.keyboard.press("m")
    detail = root.get_by_test_id("tl-flow-detail")
    assert 'heading "2.weight [2, 8]' in readable(detail)
    page.keyboard.press("n")
    said = readable(detail)
    assert 'heading "unused [2]: none"' in said
    assert "gradient none" in said
    assert "the loss does not use it" in readable(root.get_by_test_id("tl-findings"))
    page.close()


def test_the_address_of_an_element_is_read_by_keys(browser: Browser, folder: Path) -> None:
    page, root = opened(browser, "layout", folder)
    root.focus()
    cell = root.get_by_test_id("tl-grid").locator('td[tabindex="0"]')
    for _ in range(12):
        page.keyboard.press("Tab")
        if cell.evaluate("cell => cell === document.activeElement"):
            break
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    said = readable(root.get_by_test_id("tl-where"))
    assert "0 + 2·1 + 1·4 = 6" in said
    assert "element 6, byte 24" in said
    assert "address 0x" in said
    page.close()


def test_a_run_goes_on_to_a_breakpoint_by_keys(browser: Browser, folder: Path) -> None:
    page, root = opened(browser, "player", folder)
    root.get_by_test_id("tl-tree").focus()
    page.keyboard.press("/")
    page.keyboard.type("Tanh")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.keyboard.press("F9")
    expect(root).to_have_attribute("data-reason", "breakpoint")
    said = readable(root)
    assert "TanhBackward0" in readable(root.get_by_test_id("tl-sentence"))
    assert "breakpoint" in said
    page.close()


def test_the_line_that_wrote_is_found_by_keys(browser: Browser, folder: Path) -> None:
    page, root = opened(browser, "lines", folder)
    root.focus()
    for _ in range(40):
        if "MulBackward0" in root.get_by_test_id("tl-sentence").inner_text() and "mul_" in root.inner_text():
            break
        page.keyboard.press("F10")
    assert "mul_" in readable(root)
    page.close()
