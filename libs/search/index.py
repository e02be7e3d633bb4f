"""Full-text search in the names and texts of files: SQLite's FTS5 with Porter stemming, BM25 and snippets.

Files that hold the words of a search as one phrase come first, then files with all words in their name, then files with
all words in their text. A file with only one of several words is left out if another file has them all. Words in double
quotes are a phrase: if files hold it, no others are shown.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA

from libs.search.fuse import Source
from libs.search.passages import Place
from libs.search.words import spread, synonyms, telling, words
from libs.texts import composed, one_line

QUOTED = re.compile(r'"([^"]+)"')
EITHER = re.compile(r"\w\W+or\W+\w", re.IGNORECASE)
TERMS_MOST = 32
EXCERPT_TOKENS, EXCERPT_LETTERS = 28, 300
CUT = "\x01"
"""Where an excerpt was cut from its text; "…" could be a part of the text."""
LEAST_SLIP = 5
"""Minimum letters of a word that may be misspelt."""
LEAST_SHARE = 0.38
"""Minimum share of the best file's score; files below it are left out."""
Order = Callable[[int], tuple[Any, ...]]
TABLES = """
create virtual table files using fts5(name, folders, text, tokenize = "porter unicode61 remove_diacritics 2");
create virtual table vocabulary using fts5vocab(files, 'row');
"""


@dataclass(frozen=True, slots=True)
class ContentMatch:
    """A file, its score from 0 to 1, and the part of its text that matched; empty if only the name did."""

    path: str
    score: float
    excerpt: str
    place: Place | None = None
    """The range of the excerpt in the text."""
    sources: tuple[Source, ...] = ()
    """The rankings that have the file, where meaning counted as well."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search: files, best first, and what the search left out."""

    matches: tuple[ContentMatch, ...] = ()
    missing: tuple[str, ...] = ()
    """Words and quoted phrases that no file has."""
    fewer: tuple[str, ...] = ()
    """Files that have only one of the words, if others have more; the best first."""
    elsewhere: tuple[str, ...] = ()
    """Files outside the selection that have all of the words; the best first."""
    count: int = 0
    """All matches; `matches` has the best of them."""
    ranked: tuple[str, ...] = ()
    """The paths of all matches, best first."""


class ContentIndex:
    """Texts by path, in memory. Not safe for two threads at once; close it after use."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode = off")
        self._db.executescript(TABLES)
        # Use one transaction for the whole lifetime: nothing is written to a disk, so nothing needs a commit.
        self._db.execute("begin")
        self._rows: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self.size = 0
        """Total letters of all texts."""

    def put(self, path: str, text: str) -> None:
        """Add a file, or replace its text."""
        self.remove(path)
        folders, _, name = composed(path).rpartition("/")
        row = (f"{name} {spread(name)}", f"{folders} {spread(folders)}", text)
        cursor = self._db.execute("insert into files (name, folders, text) values (?, ?, ?)", row)
        assert cursor.lastrowid is not None
        self._rows[path], self._sizes[path] = cursor.lastrowid, len(text)
        self.size += len(text)

    def remove(self, path: str) -> None:
        if (row := self._rows.pop(path, None)) is not None:
            self._db.execute("delete from files where rowid = ?", (row,))
            self.size -= self._sizes.pop(path)

    def find(
        self, query: str, top_k: int = 10, *, within: str = ".", keep: Callable[[str], bool] = lambda path: True
    ) -> Found:
        """Find files under `within` that `keep` accepts, best first."""
        paths = {row: path for path, row in self._rows.items() if under(path, within) and keep(path)}
        return _Search(self, query, paths).found(top_k)

    def text(self, path: str) -> str:
        """Return the text of a file; empty if it is not here."""
        found = self._db.execute("select text from files where rowid = ?", (self._rows.get(path),)).fetchone()
        return str(found[0]) if found else ""

    def close(self) -> None:
        self._db.close()

    def rows(self, expression: str) -> set[int]:
        """Return the rows that match an FTS5 expression."""
        return {row for (row,) in self._db.execute("select rowid from files where files match ?", (expression,))}

    def ranks(self, expression: str) -> dict[int, float]:
        """Return the BM25 rank of each row that matches: lower is better."""
        sql = "select rowid, bm25(files, 4.0, 1.0, 1.0) from files where files match ?"
        return dict(self._db.execute(sql, (expression,)))

    def excerpt(self, row: int, expression: str) -> tuple[str, Place | None]:
        """Cut the part of a text that matches best, and say where it is; empty if the text does not match."""
        sql = f"select snippet(files, 2, '', '', '{CUT}', {EXCERPT_TOKENS}), text from files where files match ? and rowid = ?"  # noqa: S608, E501 -- constants
        found = self._db.execute(sql, (f"{{text}} : ({expression})", row)).fetchone()
        if found is None:
            return "", None
        part, text = found
        return one_line(part.replace(CUT, "…"))[:EXCERPT_LETTERS], _place(
            text, part.removeprefix(CUT).removesuffix(CUT)
        )

    def corrected(self, word: str) -> str | None:
        """Return the word of the index that is one slip of the keyboard away."""
        if len(word) < LEAST_SLIP or not word.isalpha():
            return None
        sql = "select term from vocabulary where term glob ?"
        known = [term for (term,) in self._db.execute(sql, (f"{word[0]}*",))]
        near = process.extractOne(word, known, scorer=OSA.distance, score_cutoff=1)
        return near[0] if near else None


@dataclass(slots=True)
class _Search:
    """One search: its words, and the rows that hold each."""

    index: ContentIndex
    query: str
    paths: Mapping[int, str]
    """The rows in scope."""
    expressions: dict[str, str] = field(init=False)
    """The FTS5 expression of each word."""
    held: dict[str, set[int]] = field(init=False)
    named: dict[str, set[int]] = field(init=False)

    def __post_init__(self) -> None:
        wanted = list(dict.fromkeys(telling(self.query)))[:TERMS_MOST]
        self.expressions = {word: self._expression(word) for word in wanted}
        self.held = {word: self._rows(text) for word, text in self.expressions.items()}
        self.named = {word: self._rows(f"{{name}} : ({text})") for word, text in self.expressions.items()}

    def found(self, top_k: int) -> Found:
        quoted = {text: self._phrase(text) for text in QUOTED.findall(self.query) if len(words(text)) > 1}
        quoted_rows = set().union(*(rows for _, rows in quoted.values()))
        shares = self._shares()
        better = quoted_rows or self._better()
        least = 0.0 if self._either else LEAST_SHARE * max(shares.values(), default=0.0)
        shown = [row for row in shares if (row in better if better else shares[row] >= least)]
        order = self._order(shares, [rows for _, rows in quoted.values()])
        ranked = sorted(shown, key=order)
        first = ranked[:top_k]
        fewer = shares.keys() - better if better and not quoted_rows else set()
        phrases = [text for text, rows in quoted.values() if rows] or [self._phrase(self.query)[0]]
        return Found(
            tuple(ContentMatch(self.paths[row], shares[row], *self._excerpt(row, phrases)) for row in first),
            self._missing(quoted),
            tuple(self.paths[row] for row in sorted(fewer, key=order)),
            count=len(shown),
            ranked=tuple(self.paths[row] for row in ranked),
        )

    @property
    def _either(self) -> bool:
        return EITHER.search(QUOTED.sub(" x ", self.query)) is not None

    def _expression(self, word: str) -> str:
        """Match the word in all forms; if no file has it, its synonyms, else the word that is one slip away."""
        exact, others = f'"{word}"', " OR ".join(f'"{other}"' for other in synonyms(word))
        if self.index.rows(exact):
            return exact
        if others and self.index.rows(others):
            return others
        near = self.index.corrected(word)
        return f'"{near}"' if near else exact

    def _rows(self, expression: str) -> set[int]:
        return self.index.rows(expression) & self.paths.keys()

    def _phrase(self, text: str) -> tuple[str, set[int]]:
        """Return the expression of adjacent words, and the rows that match it. Fillers at the ends do not count."""
        said = words(text)
        known = [at for at, word in enumerate(said) if self.held.get(word)]
        inner = said[known[0] : known[-1] + 1] if known else []
        if len(inner) < 2:
            return "", set()
        expression = f'"{" ".join(inner)}"'
        return expression, self._rows(expression)

    def _shares(self) -> dict[int, float]:
        """Compute for each row the share of the words that it has; rare words weigh more."""
        weights = {word: _rarity(len(rows), len(self.paths)) for word, rows in self.held.items() if rows}
        shares: dict[int, float] = {}
        for word, rows in self.held.items():
            for row in rows:
                shares[row] = shares.get(row, 0.0) + weights[word] / sum(weights.values())
        return {row: round(share, 4) for row, share in shares.items()}

    def _better(self) -> set[int]:
        """Return the rows with more than one word, if some row has all of several."""
        present = [rows for rows in self.held.values() if rows]
        if self._either or len(present) < 2 or not set.intersection(*present):
            return set()
        return {row for row in set().union(*present) if sum(row in rows for rows in present) > 1}

    def _order(self, shares: Mapping[int, float], quoted: Sequence[Collection[int]]) -> Order:
        said = words(self.query)
        pairs = [self._rows(f'"{one} {two}"') for one, two in pairwise(said) if {one, two} <= self.held.keys()]
        whole = quoted or [self._phrase(self.query)[1]]
        rank = self.index.ranks(" OR ".join(self.expressions.values())) if self.expressions else {}
        present = [word for word, rows in self.held.items() if rows]

        def order(row: int) -> tuple[Any, ...]:
            return (
                -sum(row in rows for rows in whole),
                not all(row in self.named[word] for word in present),
                not all(row in self.held[word] for word in present),
                -sum(row in rows for rows in pairs),
                -shares[row],
                rank[row],
                self.paths[row],
            )

        return order

    def _excerpt(self, row: int, phrases: Iterable[str]) -> tuple[str, Place | None]:
        tried = (*(text for text in phrases if text), " OR ".join(self.expressions.values()))
        found = (self.index.excerpt(row, expression) for expression in tried)
        return next((one for one in found if one[0]), ("", None))

    def _missing(self, quoted: Mapping[str, tuple[str, set[int]]]) -> tuple[str, ...]:
        absent = [word for word, rows in self.held.items() if not rows]
        apart = [text for text, (_, rows) in quoted.items() if not rows and {*absent}.isdisjoint(words(text))]
        return (*absent, *apart)


def under(path: str, folder: str) -> bool:
    """Check that a path is the folder or lies in it, at any depth."""
    path, folder = composed(path), composed(folder)
    return folder in (".", path) or path.startswith(f"{folder}/")


def _place(text: str, part: str) -> Place | None:
    """Return the range of a part of a text, without white space around it."""
    part = part.strip()
    if not part or (start := text.find(part)) < 0:
        return None
    first = 1 + text.count("\n", 0, start)
    return Place(start, start + len(part), first, first + part.count("\n"))


def _rarity(holders: int, files: int) -> float:
    """Weigh a word by its inverse document frequency."""
    return math.log(1 + (files - holders + 0.5) / (holders + 0.5))
