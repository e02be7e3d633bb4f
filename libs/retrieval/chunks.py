"""Cutting a text into pieces to embed: at a fixed size, at sentences, or at paragraphs (S4-45)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from libs.retrieval.regexes import regex

Strategy = Literal["fixed", "sentence", "paragraph"]
SENTENCE = regex(r"(?<=[.!?。])\s+|\n{2,}")
PARAGRAPH = regex(r"\n\s*\n")


def chunks(text: str, *, strategy: Strategy = "fixed", size: int = 512) -> tuple[str, ...]:
    """Pieces of at most `size` characters, none empty, in order. Whole sentences or paragraphs are put together while
    they fit.
    """
    pieces = _pieces(text, strategy)
    return tuple(piece.strip() for piece in _packed(pieces, size) if piece.strip())


def _pieces(text: str, strategy: Strategy) -> list[str]:
    match strategy:
        case "fixed":
            return re.findall(r"\S+\s*|\s+", text)
        case "sentence":
            return [piece + " " for piece in SENTENCE.split(text)]
        case "paragraph":
            return [piece + "\n\n" for piece in PARAGRAPH.split(text)]


def _packed(pieces: list[str], size: int) -> Iterator[str]:
    held = ""
    for piece in pieces:
        if held and len(held) + len(piece.rstrip()) > size:
            yield held
            held = ""
        held += piece
        # A piece that is too long by itself is cut where it must be.
        while len(held.rstrip()) > size:
            yield held[:size]
            held = held[size:]
    yield held
