"""The names in the folder. A request's words are looked up here before they are read as grammar."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cached_property
from posixpath import basename, dirname
from typing import Any

from rapidfuzz import fuzz, process

from libs.models.offline.lexicon import singular
from libs.skills import Categories
from libs.skills.categories import split_suffix
from libs.texts import composed

WORDS_MOST = 12
"""Words of the longest name that is found in a text."""
PIECES = re.compile(r"[^\W\d_]+|\d+")
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
NEAR = 60


def folded(text: str) -> str:
    """One spelling for comparing: composed, without case, single blanks."""
    return " ".join(composed(text).casefold().split())


class WorkspaceIndex:
    """Names and paths of one folder, as the executor showed them."""

    def __init__(self, facts: Mapping[str, Any], categories: Categories) -> None:
        names = [str(name) for name in facts.get("names", ())]
        paths = [str(path) for path in facts.get("paths", ())]
        self.knows_top = "names" in facts
        self.knows_all = self.knows_top and "paths" in facts
        self.count = int(facts.get("files", len(paths)))
        self.categories = categories
        self.folders = frozenset(_folders(names, paths))
        self._alone = tuple(map(str, facts.get("alone", ())))
        """System and temporary files below the top: only their names select them."""
        self.files = tuple(dict.fromkeys([*(name for name in names if not name.endswith("/")), *paths]))
        self.extensions = frozenset(
            [*(str(one).lstrip(".").lower() for one in facts.get("extensions", ())), *map(_extension, self.files)]
        )

    @cached_property
    def _holders(self) -> frozenset[str]:
        return frozenset(map(dirname, (*self.files, *self.folders)))

    def holds(self, folder: str) -> bool:
        """Return whether something is known to be in a folder."""
        return folder in self._holders

    @cached_property
    def _named(self) -> Mapping[str, tuple[str, ...]]:
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for path in (*self.folders, *self.files, *self._alone):
            for key in _keys(path, is_folder=path in self.folders):
                found[key][path] = None
        return {key: tuple(paths) for key, paths in found.items()}

    @cached_property
    def _words(self) -> Mapping[str, tuple[str, ...]]:
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for path in self.files:
            for word in pieces(split_suffix(basename(path))[0]):
                found[singular(word)][path] = None
        return {word: tuple(paths) for word, paths in found.items()}

    def named(self, text: str) -> tuple[str, ...]:
        """Return the paths that a text names exactly: in full, by their last part, or by that without its extension."""
        return self._named.get(folded(text).rstrip("/").removeprefix("./"), ())

    def folder(self, text: str) -> tuple[str, ...]:
        """Return the folders that a text names."""
        return tuple(path for path in self.named(text) if path in self.folders)

    def having(self, word: str) -> tuple[str, ...]:
        """Files with this word in their names."""
        said = singular(folded(word))
        if "-" in said.strip("-"):  # "The W-2s": one word to a person, two pieces of a name.
            return tuple(path for path in self.files if said in _last(path))
        return self._words.get(said, ())

    def like(self, text: str, most: int = 3) -> list[str]:
        """Names that come near a text, the nearest first."""
        known = [*self.folders, *self.files]
        found = process.extract(folded(text), known, scorer=fuzz.WRatio, processor=_last, score_cutoff=NEAR, limit=most)
        return [path for path, _, _ in found]

    def is_extension(self, suffix: str) -> bool:
        """Return whether files here or of a known category end so."""
        bare = suffix.removeprefix(".").lower()
        known = (self.extensions, *self.categories.extensions.values())
        return bool(bare) and any(bare in held for held in known)

    def category(self, name: str) -> tuple[str, ...]:
        """Extensions of a category, those that are here before all others."""
        return tuple(sorted(self.categories.extensions[name]))

    def matching(
        self,
        patterns: Sequence[str],
        *,
        folders: Sequence[str],
        deep: bool,
        exclude: Sequence[str] = (),
        directories: bool = False,
    ) -> list[str]:
        """Return the known files, or folders, that patterns select, in one pass, as `libs.skills.selected` selects."""
        wanted, spared = _union(patterns), _union(exclude)
        tops = ["" if folder == "." else folder for folder in folders] or [""]
        return [
            path
            for path in (sorted(self.folders) if directories else self.files)
            if _inside(path, tops, deep=deep)
            and (wanted is None or _hits(wanted, path))
            and not (spared is not None and any(_hits(spared, above) for above in _lineage(path)))
        ]


def pieces(name: str) -> list[str]:
    """Split a name into words and numbers: `IMG_2041 copy` has img, 2041, copy."""
    return PIECES.findall(folded(HUMP.sub(" ", name)))


def _folders(names: Iterable[str], paths: Iterable[str]) -> Iterable[str]:
    yield from (name.rstrip("/") for name in names if name.endswith("/"))
    for path in dict.fromkeys(map(dirname, paths)):
        while path:
            yield path
            path = dirname(path)


def _keys(path: str, *, is_folder: bool) -> set[str]:
    name = basename(path)
    stem = name if is_folder else split_suffix(name)[0]
    plain = {text.replace("_", " ").replace("-", " ") for text in (stem, name)}
    return {folded(text) for text in (path, name, stem, *plain) if text.strip()}


def _extension(path: str) -> str:
    return split_suffix(basename(path))[1].lstrip(".").lower()


def _last(path: str) -> str:
    return folded(basename(path))


def _union(patterns: Sequence[str]) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None] | None:
    """Patterns for last names, and those with a `/` for whole paths."""
    if not patterns:
        return None
    whole = [pattern for pattern in patterns if "/" in pattern]
    return _compiled([pattern for pattern in patterns if "/" not in pattern]), _compiled(whole)


def _compiled(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(translate(folded(pattern)) for pattern in patterns)) if patterns else None


def _hits(union: tuple[re.Pattern[str] | None, re.Pattern[str] | None], path: str) -> bool:
    name, whole = union
    return bool((name and name.match(_last(path))) or (whole and whole.match(folded(path))))


def _inside(path: str, tops: Sequence[str], *, deep: bool) -> bool:
    above = dirname(path)
    return any(above == top or (deep and (not top or above.startswith(f"{top}/"))) for top in tops)


def _lineage(path: str) -> list[str]:
    found = [path]
    while "/" in path:
        path = dirname(path)
        found.append(path)
    return found
