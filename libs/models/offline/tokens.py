"""A request as tokens: names that exist, quoted texts, words, and marks; one pass, and lookups alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import category

from libs.models.offline.lexicon import Lexicon
from libs.models.offline.workspace_index import WORDS_MOST, WorkspaceIndex, folded
from libs.texts import composed

QUOTED = re.compile(
    r"“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|\"([^\"]+)\"|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|(?<!\w)‘([^’]+)’(?!\w)"
)
WORD = re.compile(r"\S+")
OPENING, CLOSING = "([{", ",;:!?)]}…"
ARROWS = ("->", "=>", "-->", "→", "➜")
STOP = re.compile(r"(?<=\w)\.+$|(?<=[)\"'])\.+$")
FILE_LIKE = re.compile(r"^[^\s/]*[^\s/.]\.[A-Za-z][A-Za-z0-9]{0,9}$|^\.[A-Za-z]\w*$|.*[*?]|.+/.*")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a request. `low` is for comparing, `raw` is as written, without quotes."""

    raw: str
    low: str
    start: int
    end: int
    kind: Literal["word", "name", "quote", "mark"] = "word"
    paths: tuple[str, ...] = ()
    """The paths that it names. A plain word keeps its other meanings; a token of kind `name` has none."""

    @property
    def looks_like_a_file(self) -> bool:
        return self.kind in ("word", "quote") and FILE_LIKE.match(self.raw) is not None


def tokens(text: str, index: WorkspaceIndex, lexicon: Lexicon) -> list[Token]:
    """Return the tokens of a text, in order."""
    return list(_Reader(text, index, lexicon).read())


def clean(text: str) -> str:
    """One spelling of blanks and apostrophes."""
    return " ".join(composed(text).replace("’", "'").split())


class _Reader:
    def __init__(self, text: str, index: WorkspaceIndex, lexicon: Lexicon) -> None:
        self._text, self._index, self._lexicon = text, index, lexicon
        self._spans = [match.span() for match in WORD.finditer(text)]
        self._quotes = {match.start(): match for match in QUOTED.finditer(text)}

    def read(self) -> Iterator[Token]:
        n, at = 0, 0
        while n < len(self._spans):
            start, end = self._spans[n]
            start = max(start, at)
            if start >= end:
                n += 1
                continue
            if self._text[start] in OPENING:
                yield Token(self._text[start], self._text[start], start, start + 1, "mark")
                at = start + 1
                continue
            if quote := self._quotes.get(start):
                yield self._quote(quote)
                at = quote.end()
            elif named := self._name(n, start):
                yield named
                at = named.end
            else:
                yield from self._word(start, end)
                at = end

    def _quote(self, quote: re.Match[str]) -> Token:
        said = next(group for group in quote.groups() if group is not None)
        paths = self._index.named(said)
        return Token(said, folded(said), quote.start(), quote.end(), "name" if paths else "quote", paths)

    def _name(self, n: int, start: int) -> Token | None:
        """Return the longest name that begins here. A name of common words needs its own capitals."""
        for last in range(min(n + WORDS_MOST, len(self._spans)) - 1, n - 1, -1):
            for end in self._ends(start, self._spans[last][1]):
                said = self._text[start:end]
                paths = self._index.named(said)
                if paths and self._is_surely(said, paths, single=last == n):
                    return Token(said, folded(said), start, end, "name", paths)
        return None

    def _ends(self, start: int, end: int) -> Iterator[int]:
        yield end
        while end - 1 > start and self._text[end - 1] in CLOSING + ".\"'":
            end -= 1
            yield end

    def _is_surely(self, said: str, paths: Sequence[str], *, single: bool) -> bool:
        if single:
            return not said.strip("/").isalpha() or said.endswith("/")
        plain = all(word in self._lexicon.words for word in folded(said).split())
        return not plain or any(path.endswith(said) for path in paths)

    def _word(self, start: int, end: int) -> Iterator[Token]:
        marks: list[Token] = []
        while end - 1 > start and self._text[end - 1] in CLOSING:
            end -= 1
            marks.append(Token(self._text[end], self._text[end], end, end + 1, "mark"))
        if stop := STOP.search(self._text[start:end]):
            end = start + stop.start()
            marks.append(Token(".", ".", end, end + 1, "mark"))
        said = self._text[start:end]
        if said.endswith("'s") and (paths := self._index.named(said[:-2])):
            yield Token(said[:-2], folded(said[:-2]), start, end - 2, "name", paths)
            yield Token("'s", "'s", end - 2, end)
        elif said in ARROWS:
            yield Token("to", "to", start, end)
        elif len(said) == 1 and said in CLOSING:
            yield Token(said, said, start, end, "mark")
        elif not all(category(one) in ("So", "Sk", "Cf", "Mn") for one in said):  # An emoji says nothing.
            plain = folded(said).removesuffix("'").removesuffix("'s")  # "Last year's photos"
            spelt = self._lexicon.contractions.get(folded(said), plain).split()
            paths = self._index.named(said) if len(spelt) == 1 else ()
            yield from (Token(said if len(spelt) == 1 else word, word, start, end, "word", paths) for word in spelt)
        yield from reversed(marks)
