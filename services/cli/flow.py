"""Word wrapping of text that arrives in pieces.

rich wraps complete texts only, and repainting would rewrite lines that have scrolled away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.cells import cell_len

PIECES = re.compile(r"\n|[^\S\n]+|\S+")
MARK = re.compile(r"[-•*–]|\d+[.)]")
"""List markers: further lines of an entry are indented to its first word."""
NARROWEST = 20
"""Columns; a narrower terminal wraps by itself."""


@dataclass(slots=True)
class Flow:
    """A wrapper that takes growing text and returns it with line breaks. `width` 0 disables wrapping, as for a file."""

    width: int = 0
    _taken: int = 0
    _column: int = 0
    _indent: int = 0
    _space: str = ""
    _marked: bool = False

    def so_far(self, text: str) -> str:
        """Return the new part of a growing text that can be written now; keep an incomplete word back."""
        end = max(text.rfind(" "), text.rfind("\n")) + 1
        return self._written(text, end)

    def whole(self, text: str) -> str:
        """Return the rest of the text."""
        return self._written(text, len(text))

    def _written(self, text: str, end: int) -> str:
        begin, self._taken = self._taken, max(self._taken, end)
        return "".join(map(self._piece, PIECES.findall(text[begin:end])))

    def _piece(self, piece: str) -> str:
        if piece == "\n":
            self._column, self._indent, self._space, self._marked = 0, 0, "", False
            return piece
        if piece.isspace():
            self._space += piece
            return ""
        return self._word(piece)

    def _word(self, word: str) -> str:
        room = cell_len(self._space) + cell_len(word)
        begins = self._column == 0
        if not begins and self.width >= NARROWEST and self._column + room > self.width:
            self._space, gone = "", f"\n{' ' * self._indent}"
            self._column = self._indent
        else:
            gone = self._space
            self._column += cell_len(self._space)
            self._space = ""
        if begins:
            self._indent = self._column
            self._marked = MARK.fullmatch(word) is not None
        elif self._marked:
            self._indent, self._marked = self._column, False
        self._column += cell_len(word)
        return gone + word


def flowed(text: str, width: int) -> str:
    """Wrap a complete text at word boundaries."""
    return Flow(width).whole(text)
