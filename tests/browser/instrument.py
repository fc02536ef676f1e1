"""A stepper or a graph view on a page, used as a person uses it: keys, the mouse, and what can be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Locator, Page, expect

Corner = Literal["middle", "border"]

ROWS = """rows => rows.map(row => ({
  id: row.dataset.nodeId ?? '', state: row.dataset.state ?? '', text: row.textContent, open: row.ariaExpanded,
}))"""


class Instrument:
    """One instrument. `root` is its element, for everything that this class has no word for."""

    def __init__(self, root: Locator) -> None:
        self.root = root.first
        self.page: Page = root.page
        self.canvas = self.get("tl-canvas")
        self.tree = self.get("tl-tree")
        self.inspector = self.get("tl-inspector")
        self.sentence = self.get("tl-sentence")
        self.status = self.get("tl-status")
        self.error = self.get("tl-error")
        self.root.wait_for()
        self.root.scroll_into_view_if_needed()
        expect(self.root).not_to_have_attribute("data-painted", "0")

    def get(self, testid: str) -> Locator:
        """A part of it, by its test id."""
        return self.root.get_by_test_id(testid)

    # Reading

    def data(self, name: str) -> str:
        """One of the facts on the root element: `step`, `current`, `reason`, `painted`."""
        return self.root.get_attribute(f"data-{name}") or ""

    def painted(self) -> int:
        """How often the picture was painted."""
        return int(self.data("painted"))

    def rows(self) -> list[dict[str, str]]:
        """The lines of the text tree: id, state, text and whether a part is open."""
        return self.get("tl-tree-item").evaluate_all(ROWS)

    def states(self) -> dict[str, str]:
        """Node id -> state, for every node that the run has come near."""
        return {row["id"]: row["state"] for row in self.rows() if row["id"] and row["state"] != "idle"}

    def says(self, *texts: str) -> None:
        """Waits until the sentence under the picture holds these texts."""
        for text in texts:
            expect(self.sentence).to_contain_text(text)

    def is_at(self, step: int, node: int | None = None) -> None:
        """Waits until it stands at a step, before a node."""
        expect(self.root).to_have_attribute("data-step", str(step))
        if node is not None:
            expect(self.root).to_have_attribute("data-current", str(node))

    # The keyboard

    def focus(self) -> None:
        """Gives it the keyboard, as Tab does."""
        self.tree.focus()

    def press(self, *keys: str) -> None:
        """Presses keys where the focus is, or in the tree if the focus is elsewhere."""
        if not self.root.evaluate("root => root.contains(document.activeElement)"):
            self.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def find(self, text: str) -> None:
        """Looks for a node with `/` and opens the first that is found."""
        self.press("/")
        self.page.keyboard.type(text)
        self.press("Enter", "Escape")
        expect(self.root.locator('[aria-selected="true"]')).to_have_count(1)

    def walked_to(self) -> str:
        """The line of the tree where the keyboard stands."""
        row = self.tree.get_attribute("aria-activedescendant")
        return self.root.locator(f"#{row}").text_content() or "" if row else ""

    # The mouse

    @contextmanager
    def repainted(self) -> Iterator[None]:
        """Waits at the end of the block until the picture was painted anew."""
        before = self.painted()
        yield
        self.page.wait_for_function(
            "([root, before]) => Number(root.dataset.painted) > before", arg=[self.root.element_handle(), before]
        )

    def at(self) -> tuple[int, int, int, int]:
        """Where the opened node stands in the picture: left, top, width, height."""
        x, y, width, height = map(int, (self.canvas.get_attribute("data-at") or "").split())
        return x, y, width, height

    def on_page(self, x: float, y: float) -> tuple[float, float]:
        """A place of the picture as a place of the page."""
        box = self.canvas.bounding_box()
        assert box is not None
        return box["x"] + x, box["y"] + y

    def place(self, text: str, corner: Corner = "middle") -> tuple[float, float]:
        """Where a node stands on the page; nothing is open afterwards."""
        with self.repainted():
            self.find(text)
        x, y, width, height = self.at()
        self.press("Escape")
        across, down = {"middle": (width / 2, height / 2), "border": (1, 1)}[corner]
        return self.on_page(x + across, y + down)

    def click(self, text: str, corner: Corner = "middle") -> None:
        """Clicks a node in the picture: in its middle, or on the border where breakpoints stand."""
        self.page.mouse.click(*self.place(text, corner))
