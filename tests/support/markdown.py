"""Text as a client that renders Markdown shows it: the tests' judge of names in answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

PLAIN = frozenset(("text", "code_inline", "fence", "code_block", "softbreak", "inline"))
BLOCKS = ("paragraph_", "bullet_list_", "ordered_list_", "list_item_")
AUTOLINK = re.compile(r"https?://|www\.|@", re.IGNORECASE)
"""Of GitHub's kind, which links these in plain text."""
parser = MarkdownIt("commonmark").enable(["strikethrough"])


def marked(text: str) -> list[str]:
    """Return the markup of a text besides paragraphs, lists and code; none if all its words are shown as they are."""
    return [*_markup(parser.parse(text))]


def shown(text: str) -> str:
    """Return the words that a person sees."""
    return "".join(_words(parser.parse(text)))


def _markup(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type not in PLAIN and not token.type.startswith(BLOCKS):
            yield f"{token.type} {token.attrs or token.content}"
        if token.type == "text" and AUTOLINK.search(token.content):
            yield f"autolink {token.content}"
        yield from _markup(token.children or ())


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        yield "\n" if token.type == "softbreak" else "" if token.children else token.content
        yield from _words(token.children or ())
