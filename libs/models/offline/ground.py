"""What is known of the workspace: its names, and the files that words of a request could mean.

A place outside of it is refused, never bent into one inside.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any

from libs.errors import Rejected
from libs.guards.paths import at_home
from libs.models.offline.paths import LOCK, SEVERAL, below
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, one_slip


class Outside(Rejected):
    """The place is outside of the folder that we work in."""

    code = "OUTSIDE_WORKSPACE"


class NoSuchPlace(Rejected):
    """Nothing at the top of the workspace has this name."""

    code = "NO_SUCH_PLACE"


@dataclass(frozen=True)
class Ground:
    """What is known of the workspace: where it lies, and the names at its top (None where nobody said)."""

    root: str | None = None
    names: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    """All files, at any depth, where there are few enough of them to say (None where nobody said)."""
    folders: frozenset[str] = frozenset()
    """Those of the names that are said to be folders."""

    @classmethod
    def of(cls, root: str | None, facts: Mapping[str, Any]) -> Ground:
        """From a task. `facts["names"]` lists the top-level names; folders may end with `/`."""
        listed = facts.get("names")
        if not isinstance(listed, list | tuple):
            return cls(root)
        deep = facts.get("paths")
        paths = tuple(map(str, deep)) if isinstance(deep, list | tuple) else None
        told = [str(name) for name in listed]
        folders = frozenset(name.rstrip("/") for name in told if name.endswith("/"))
        return cls(root, tuple(name.rstrip("/") for name in told), paths, folders)

    @cached_property
    def answers(self) -> dict[int, tuple[Any, Any]]:
        """What was found out about a clause here (`places.places`), by its identity and beside it."""
        return {}

    @property
    def files(self) -> tuple[str, ...]:
        """Those at the top."""
        return tuple(name for name in self.names or () if name not in self.folders)

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """What a request may name outright: all at the top, deeper files whose name is there once, and whatever could
        be taken for several words.
        """
        last: dict[str, list[str]] = {}
        for path in self.paths or ():
            if "/" in path:
                last.setdefault(path.rpartition("/")[2], []).append(path)
        deep = [found[0] for name, found in last.items() if len(found) == 1 and name not in (self.names or ())]
        several = [path for path in self._lineages.values() if SEVERAL.search(path)]
        own = [name for name in (PurePosixPath(self.root or "").name,) if SEVERAL.search(name)]
        return tuple(dict.fromkeys((*(self.names or ()), *deep, *several, *own)))

    def moved(self, files: Iterable[str], folder: str) -> Ground:
        """The same once these files lie in that folder."""
        gone = {path: below(folder, path.rpartition("/")[2]) for path in files}
        paths = tuple(gone.get(path, path) for path in self.paths or ())
        top = {
            one for one in (folder.partition("/")[0], *(new for new in gone.values() if "/" not in new)) if one != "."
        }
        names = tuple(dict.fromkeys((*(name for name in self.names or () if name not in gone), *sorted(top))))
        folders = self.folders | {name for name in top if name not in gone.values()}
        return replace(self, names=names, paths=paths, folders=folders)

    def facts(self) -> dict[str, Any]:
        """What `of` reads."""
        names = [f"{name}/" if name in self.folders else name for name in self.names or ()]
        return {"names": names, "paths": list(self.paths or ())}

    def called(self, word: str, within: str = ".") -> tuple[str, ...]:
        """Files of a folder with this word, or the one that it is the plural of, in their names: for "Rechnungen",
        `Rechnung Mai.pdf`.
        """
        return _with_word(self.within(within), word)

    def everywhere(self, word: str) -> tuple[str, ...]:
        """Files of any folder with this word in their names; none where nobody said what is there."""
        return _with_word(self.paths or (), word)

    def asked_among(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """Of "which letters mention …" the word, and the patterns of the files that have it in their paths."""
        found = AMONG.search(text)
        if found is None or self.paths is None:
            return None
        held = singulars(fold(found["noun"])) & words_of(self.paths)
        return (found["noun"], having(re.sub(r"[^ -~]", "?", min(held, key=len)))) if held else None

    def folders_with(self, words: Sequence[str]) -> tuple[str, ...]:
        """Folders at any depth, with files in them, that have all these words in their own names."""
        return tuple(path for path in with_words(tuple(self._lineages.values()), words) if self.below(path))

    def inner(self, name: str) -> tuple[str, ...]:
        """The folders of just this name within others."""
        return tuple(
            path for said, path in self._lineages.items() if said.endswith(f"/{fold(name)}") and self.below(path)
        )

    def anywhere(self, word: str) -> tuple[str, ...]:
        """The same, and of those at the top where that is all that is known."""
        return self.everywhere(word) if self.paths is not None else self.called(word)

    def within(self, folder: str) -> tuple[str, ...]:
        """The files right in a folder, as far as they are known."""
        if folder == ".":
            return self.files
        return tuple(path for path in self.paths or () if path.rpartition("/")[0] == folder)

    def below(self, folder: str) -> tuple[str, ...]:
        """The files in a folder, at any depth."""
        return tuple(path for path in self.paths or () if folder == "." or path.startswith(f"{folder}/"))

    def deep(self, name: str) -> tuple[str, ...]:
        """Files of this name in any folder."""
        return self._by_name.get(fold(name), ())

    def close(self, name: str) -> tuple[str, ...]:
        """Names that look like this one, the nearest first."""
        among = [*(self.names or ()), *(path for path in self.paths or () if "/" in path)]
        near = {fold(path.rpartition("/")[2]): path for path in reversed(among)}
        return tuple(near[found] for found in difflib.get_close_matches(fold(name), near, n=3, cutoff=0.6))

    def slip_of(self, name: str) -> bool:
        """Is it one slip away from a folder that is there, and so perhaps no new one? A number is no slip."""
        said = fold(name.strip("/"))
        return any(one_slip(fold(real), said) and _same_digits(fold(real), said) for real in self.folders)

    def has(self, name: str) -> str | None:
        """The name as it is really written, or None."""
        return self._names.get(fold(name))

    def path(self, said: str, *, new: bool = False) -> str:
        """The path relative to the root that was meant. `new`: it need not exist yet. Raises `Outside` or
        `NoSuchPlace`.
        """
        inside = self._inside(said)
        parts = [part for part in inside.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise Outside(said)
        if not parts:
            return "."
        if self.names is None:
            return "/".join(parts)
        real = self.has(parts[0])
        if real is None and len(parts) == 1 and self.is_root(parts[0]):
            return "."
        if real is None and not new:
            return self._deeper("/".join(parts))
        path = "/".join((real or parts[0], *parts[1:]))
        return path if new or len(parts) == 1 else self._below(path)

    def inside(self, folder: str, said: str) -> str:
        """The path of a name in a folder. Raises `Outside`, or `NoSuchPlace` for one of a folder that is elsewhere."""
        path = f"{folder}/{said}"
        if self.paths is not None and self.has(said) in self.folders and fold(path) not in self._lineages:
            raise NoSuchPlace(path)
        return self.path(path)

    def _deeper(self, said: str) -> str:
        """What is there once, in some folder, by a name of several words or with its folder's name; any other might be
        a slip. Raises `NoSuchPlace`.
        """
        end, plain = f"/{fold(said)}", SEVERAL.search(said) or "/" in said or len(self.inner(said)) == 1
        found = [path for name, path in self._lineages.items() if name.endswith(end)] if plain else []
        if len(found) != 1:
            raise NoSuchPlace(said.partition("/")[0])
        return found[0]

    def _below(self, path: str) -> str:
        """A path with folders in it, as it is really written. Raises `NoSuchPlace` where all files are known and none
        is there.
        """
        if self.paths is None:
            return path
        found = self._lineages.get(fold(path))
        if found is None and path.partition("/")[0] in self.folders and "." in path.rpartition("/")[2]:
            raise NoSuchPlace(path)
        return found or path

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return _folded(self.names or ())

    @cached_property
    def _lineages(self) -> Mapping[str, str]:
        return _folded(above for real in self.paths or () for above in _lineage(real))

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for path in self.paths or ():
            found.setdefault(fold(path.rpartition("/")[2]), []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def is_root(self, name: str) -> bool:
        return self.root is not None and fold(PurePosixPath(self.root).name) == fold(name)

    def _inside(self, said: str) -> str:
        if re.match(r"^[A-Za-z]:\\", said):
            raise Outside(said)
        if not (said.startswith("/") or at_home(said)):
            return said
        asked, root = PurePosixPath(said), PurePosixPath(self.root or "/nowhere")
        if said.startswith("/"):
            if not asked.is_relative_to(root):
                raise Outside(said)
            return str(asked.relative_to(root))
        # `~` is somebody's home: only what the root's own end confirms is inside.
        parts = asked.parts[1:]
        depth = next((n for n in range(len(parts), 0, -1) if root.parts[-n:] == parts[:n]), None)
        if depth is None:
            raise Outside(said)
        return "/".join(parts[depth:]) or "."


def _folded(names: Iterable[str]) -> dict[str, str]:
    """Names as they are really written by how they are folded; of several that fold alike the first."""
    told: dict[str, str] = {}
    for name in names:
        told.setdefault(fold(name), name)
    return told


def _lineage(path: str) -> Iterator[str]:
    parts = path.split("/")
    yield from ("/".join(parts[:n]) for n in range(1, len(parts) + 1))


@lru_cache(maxsize=4096)
def _tokens(name: str) -> frozenset[str]:
    """The words and years of a file's name, without its extension; two that stand together may be said as one."""
    stem = name.rpartition(".")[0] or name
    apart = fold(HUMP.sub(" ", stem))
    joined = (f"{one[1]}{one[2]}" for one in TOGETHER.finditer(apart))
    return frozenset((*re.findall(r"[^\W\d_]+|(?<!\d)(?:19|20)\d\d(?!\d)", f"{fold(stem)} {apart}"), *joined))


TOGETHER = regex(r"(?<![^\W\d_])([^\W\d_]{3,})[ _-](?=([^\W\d_]{3,})(?![^\W\d_]))")
HUMP = regex(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
"""Where `GasBill` is two words."""


def _with_word(paths: Sequence[str], word: str) -> tuple[str, ...]:
    wanted = singulars(fold(word))
    names = ((path, path.rpartition("/")[2]) for path in paths)
    return tuple(path for path, name in names if wanted & _tokens(name) and not name.startswith(LOCK))


def having(text: str) -> tuple[str, ...]:
    """The patterns of files that have this text in their names, or in their folders' names."""
    return f"*{text}*", f"*{text}*/*"


def with_words(paths: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Those that have all these words in their names."""
    for word in words:
        paths = _with_word(paths, word)
    return tuple(paths)


def has_word(path: str, word: str) -> bool:
    """Does the file's name have this very word?"""
    return word in _tokens(path.rpartition("/")[2])


AMONG = regex(
    r"(?<!\w)(?:which|what|welche[nrms]?|qu[eé]|cu[aá]l(?:es)?)\s+"
    r"(?:(?:one\s+)?of\s+(?:my|the|our|these|those)\s+|de\s+(?:mis|los|las|estos|estas)\s+|(?:meiner|der|unserer)\s+)?(?P<noun>[^\W\d_]{4,})",
    re.IGNORECASE,
)
PLURALS = (("ies", "y"), ("es", ""), ("s", ""), ("en", ""), ("n", ""), ("er", ""), ("e", ""))


@lru_cache(maxsize=4096)
def singulars(word: str) -> frozenset[str]:
    """The word, and what it may be the plural of."""
    cut = [word.removesuffix(end) + put for end, put in PLURALS if word.endswith(end)]
    return frozenset(one for one in (word, *cut) if len(one) >= 3)


def _same_digits(left: str, right: str) -> bool:
    return re.findall(r"\d", left) == re.findall(r"\d", right)


@lru_cache(maxsize=64)
def words_of(names: tuple[str, ...]) -> frozenset[str]:
    """The words of all these names."""
    return frozenset(part for name in names for part in re.findall(r"[^\W\d_]{3,}", fold(name)))
