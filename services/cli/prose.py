"""Markdown as a terminal shows it: its words, line by line, without the marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark")
MARKS = re.compile(r"[`*_\[<\\&#~]")
"""Signs that may begin a mark: behind one, an incomplete line waits for its end."""
FENCE = re.compile(r"\s*(?:```|~~~)")
HEADING = re.compile(r"#{1,6}\s+")


def unmarked(text: str) -> str:
    """Return Markdown as plain text; code blocks stay as they are."""
    return "\n".join(_lines(text.split("\n")))


def so_far(text: str) -> str:
    """Return the part of a growing text, unmarked, that its further words do not change."""
    *whole, last = text.split("\n")
    mark = MARKS.search(last)
    return "\n".join((*_lines(whole), last[: mark.start()] if mark else last))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    code = False
    for line in lines:
        if FENCE.match(line):
            code = not code
        else:
            yield line if code or not MARKS.search(line) else "".join(_words(line))


def _words(line: str) -> Iterator[str]:
    said, address = HEADING.sub("", line, count=1) if line.startswith("#") else line, ""
    yield said[: len(said) - len(said.lstrip())]
    for token in PARSER.parseInline(said.lstrip())[0].children or ():
        yield token.content
        if token.type == "link_open":
            address = str(token.attrGet("href"))
        elif token.type == "link_close" and address not in said.replace(f"({address})", ""):
            yield f" ({address})"
