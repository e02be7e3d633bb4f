"""Labels that Mermaid writes as HTML in a foreign object, set as text of SVG.

Few programs draw HTML inside SVG, and it may carry scripts. Mermaid can write text itself, but then takes six times as
long. A label's words are kept, broken into the lines that Mermaid reserved its box for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from unicodedata import east_asian_width

Measure = Callable[[str, float, bool], float]
"""Returns the width of a text of this size, bold or not."""
BLOCKS = frozenset(("br", "p", "div", "li", "tr"))
BOLD = frozenset(("b", "strong", "th"))
MUTE = frozenset(("script", "style", "iframe", "object"))
COLOUR = re.compile(r"(?:^|;)\s{0,9}color\s{0,9}:\s{0,9}(#[0-9a-fA-F]{3,8}|[a-z]{3,20}|rgb\([\d, ]{5,20}\))")
LETTERING = re.compile(r"font-size\s{0,9}:\s{0,9}(\d{1,3}(?:\.\d{1,4})?)px")
SIZE, LINE_HEIGHT, BASELINE = 16.0, 1.5, 0.35
"""Pixels, and shares of them: the size and line height of Mermaid's HTML, whatever the drawing's texts have."""
LETTERS_MOST = 5_000


def is_wide(letter: str) -> bool:
    """Return whether a letter is as wide as high, such as a Chinese one (UAX 11)."""
    return east_asian_width(letter) in "WF"


class Label:
    """One foreign object, from its start to its end."""

    def __init__(self, box: Mapping[str, str], measure: Measure) -> None:
        self._x, self._y, self._width, self._height = (
            _number(box.get(name, "")) for name in ("x", "y", "width", "height")
        )
        self.size, self._measure = SIZE, measure
        self._open: list[str] = []
        self._words: list[str] = []
        self._letters = 0
        self._colour = ""
        self._bold = self._backed = False

    def began(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.append(name)
        self._bold = self._bold or name in BOLD or "font-weight: bold" in attributes.get("style", "")
        self._backed = self._backed or "edgeLabel" in attributes.get("class", "").split()
        if found := COLOUR.search(attributes.get("style", "")[:2000]):
            self._colour = found[1]
        if found := LETTERING.search(attributes.get("style", "")[:2000]):
            self.size = max(1.0, float(found[1]))
        if name in BLOCKS:
            self._words.append("\n")

    def ended(self) -> bool:
        """Close an element. Return whether it was the foreign object itself."""
        if not self._open:
            return True
        if self._open.pop() in BLOCKS:
            self._words.append("\n")
        return False

    def said(self, words: str) -> None:
        if not MUTE.intersection(self._open) and self._letters < LETTERS_MOST:
            self._words.append(words)
            self._letters += len(words)

    @property
    def text(self) -> str:
        return " ".join("".join(self._words)[:LETTERS_MOST].split())

    def drawn(self) -> str:
        """Return the label as SVG, centred in its box."""
        lines, middle = self._lines(), self._x + self._width / 2
        # A layout may reserve too little for letters that its font lacks: they become smaller.
        widest = max((self._measure(line, self.size, self._bold) for line in lines), default=0.0)
        if 0 < self._width + 1 < widest:
            self.size *= max(0.1, self._width / widest)
        top = self._y + self._height / 2 - (len(lines) - 1) / 2 * LINE_HEIGHT * self.size + BASELINE * self.size
        colour = f"fill:{self._colour};" if self._colour else ""
        weight = "font-weight:bold;" if self._bold else ""
        set_lines = "".join(
            f'<tspan x="{middle:g}" y="{top + n * LINE_HEIGHT * self.size:g}">{escape(line)}</tspan>'
            for n, line in enumerate(lines)
        )
        # Not a rectangle: Mermaid's styles would colour it.
        box = f"M{self._x:g},{self._y:g}h{self._width:g}v{self._height:g}h{-self._width:g}z"
        back = f'<path d="{box}" style="fill:#fff;fill-opacity:0.9;stroke:none"/>' if self._backed else ""
        style = f"{colour}{weight}font-size:{self.size:g}px;text-anchor:middle;stroke:none"
        return f'{back}<text style="{style}">{set_lines}</text>' if lines else ""

    def _lines(self) -> list[str]:
        lines: list[str] = []
        for part in "".join(self._words)[:LETTERS_MOST].split("\n"):
            line = ""
            for word in part.split():
                longer = f"{line} {word}" if line else word
                if line and self._measure(longer, self.size, self._bold) > self._width + 1:
                    lines.append(line)
                    longer = word
                line = longer
            if line:
                lines.append(line)
        return lines


def _number(text: str) -> float:
    try:
        return max(-1e6, min(1e6, float(text[:20] or 0)))
    except ValueError:
        return 0.0
