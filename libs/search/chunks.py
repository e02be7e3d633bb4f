"""Chunks: a text cut into passages that can be embedded and cited, each with its range in the text.

Pieces (words, sentences or paragraphs) are joined in their order while they fit. A piece that is too long is cut into
smaller ones. Every character but white space is in exactly one chunk, and the time is linear in the text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from libs.search.extract import BREAK, END, MARKUP, ends
from libs.search.ports import NOTHING, Embedder

WORD_LETTERS = 16
"""Letters that a word may have on average in a chunk whose size is in words."""
BREAK_DEPTH = 1.0
"""A break in meaning: the likeness of neighbours is below their mean by this many standard deviations."""
ATOM = re.compile(r"\S+")
LINE = re.compile(r".*(?:\n|\Z)")
Span = tuple[int, int]


class Strategy(StrEnum):
    """Where chunks may end (S4-12)."""

    FIXED = "fixed"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    SEMANTIC = "semantic"
    """Sentences, and a new chunk where the meaning changes."""


class Unit(StrEnum):
    LETTERS = "letters"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Size:
    """The most that a chunk may have. Words are separated by white space; they bound the letters, too."""

    most: int = 512
    unit: Unit = Unit.LETTERS

    @property
    def letters(self) -> int:
        return self.most if self.unit is Unit.LETTERS else self.most * WORD_LETTERS

    def holds(self, letters: int, words: int) -> bool:
        return letters <= self.letters and (self.unit is Unit.LETTERS or words <= self.most)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is the source from `start` to `end` (offsets), on its lines `first` to `last`, from 1."""

    text: str
    start: int
    end: int
    first: int
    last: int


DEFAULT = Size()


async def chunked(text: str, strategy: Strategy, embedder: Embedder, size: Size = DEFAULT) -> list[Chunk]:
    """Cut a text in a thread; only SEMANTIC uses the embedder. Raises `Unavailable` as the embedder does."""
    if strategy is not Strategy.SEMANTIC:
        return await asyncio.to_thread(cut, text, strategy, size)
    spans = await asyncio.to_thread(lambda: [*_fitting(text, _sentences(text), [_words], size)])
    apart = await _changes(text, spans, embedder)
    return await asyncio.to_thread(lambda: [*_numbered(text, _joined(text, spans, size, apart.__contains__))])


def cut(text: str, strategy: Strategy, size: Size = DEFAULT) -> list[Chunk]:
    """Cut a text as chunked() does, without an embedder: SEMANTIC is cut by sentences."""
    match strategy:
        case Strategy.FIXED:
            spans = _fitting(text, _words(text, 0, len(text)), [], size)
        case Strategy.PARAGRAPH:
            spans = _fitting(text, _paragraphs(text, 0, len(text)), [_sentences_in, _words], size)
        case _:
            spans = _fitting(text, _sentences(text), [_words], size)
    return [*_numbered(text, _joined(text, spans, size, lambda _: False))]


async def _changes(text: str, spans: Sequence[Span], embedder: Embedder) -> set[int]:
    """Return the starts of the spans that are less like the one before than most are."""
    likeness: list[tuple[int, float]] = []
    before = NOTHING
    for at in range(0, len(spans), embedder.batch):
        batch = spans[at : at + embedder.batch]
        rows = await embedder.embed_documents([text[start:end] for start, end in batch])
        for (start, _), row in zip(batch, rows, strict=True):
            # A line without words, such as a rule, begins nothing.
            if row.any():
                likeness.append((start, float(before @ row)))
                before = row
    cosines = [cosine for _, cosine in likeness[1:]]
    if len(cosines) < 3:
        return set()
    least = float(np.mean(cosines) - BREAK_DEPTH * np.std(cosines))
    return {start for start, cosine in likeness[1:] if cosine < least}


def _joined(
    text: str, spans: Iterator[Span] | Sequence[Span], size: Size, apart: Callable[[int], bool]
) -> Iterator[Span]:
    """Join neighbours while they fit and the later one does not begin apart."""
    held: Span | None = None
    count = 0
    for start, end in spans:
        words = _count(text, start, end, size)
        if held is not None and size.holds(end - held[0], count + words) and not apart(start):
            held, count = (held[0], end), count + words
            continue
        if held is not None:
            yield held
        held, count = (start, end), words
    if held is not None:
        yield held


Cutter = Callable[[str, int, int], Iterator[Span]]


def _fitting(text: str, spans: Iterator[Span], smaller: Sequence[Cutter], size: Size) -> Iterator[Span]:
    """Cut each span that is too long into smaller ones, at last into letters."""
    for start, end in spans:
        if size.holds(end - start, _count(text, start, end, size)):
            yield start, end
        elif smaller:
            parts = _fitting(text, smaller[0](text, start, end), smaller[1:], size)
            yield from _joined(text, parts, size, lambda _: False)
        else:
            yield from pairwise((*range(start, end, size.letters), end))


def _count(text: str, start: int, end: int, size: Size) -> int:
    return sum(1 for _ in ATOM.finditer(text, start, end)) if size.unit is Unit.WORDS else 0


def _words(text: str, start: int, end: int) -> Iterator[Span]:
    return (found.span() for found in ATOM.finditer(text, start, end))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    """Return what blank lines separate."""
    edges = [start, *(at for found in BREAK.finditer(text, start, end) for at in found.span()), end]
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        yield from _trimmed(text, first, last)


def _sentences(text: str) -> Iterator[Span]:
    for start, end in _paragraphs(text, 0, len(text)):
        yield from _sentences_in(text, start, end)


def _sentences_in(text: str, start: int, end: int) -> Iterator[Span]:
    for first, last in _blocks(text, start, end):
        at = first
        for found in END.finditer(text, first, last):
            if ends(text, found.start(), found.end()):
                yield from _trimmed(text, at, found.end())
                at = found.end()
        yield from _trimmed(text, at, last)


def _blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut a paragraph before each list item and heading, and after each heading."""
    at, after = start, False
    for line in LINE.finditer(text, start, end):
        mark = MARKUP.match(text, line.start(), line.end())
        if (mark or after) and line.start() > at:
            yield at, line.start()
            at = line.start()
        after = mark is not None and mark[0].lstrip().startswith("#")
    yield at, end


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span without white space around it; nothing if it is only that."""
    part = text[start:end]
    if inner := part.strip():
        begin = start + len(part) - len(part.lstrip())
        yield begin, begin + len(inner)


def _numbered(text: str, spans: Iterator[Span]) -> Iterator[Chunk]:
    line, at = 1, 0
    for start, end in spans:
        first = line + text.count("\n", at, start)
        line = first + text.count("\n", start, end)
        at = end
        yield Chunk(text[start:end], start, end, first, line)
