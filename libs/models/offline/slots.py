"""The types of slots: each reads a part of a clause as a value, and returns the words that it cannot own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from posixpath import dirname, join
from typing import Any

from libs.models.offline import texts
from libs.models.offline.selection import Doubt, Ground, Parsed, Selection, excluded, parse, which
from libs.models.offline.tokens import Token
from libs.skills import SlotType
from libs.skills.categories import split_suffix

FREE: tuple[SlotType, ...] = ("text", "query", "new_name", "title", "series")
"""Types whose words may be any."""
NAME_WORDS_MOST = 6
INSIDE_A_NAME = frozenset(["a", "the", "my", "our", "to", "of", "for", "from", "in", "on", "at", "with", "by"])
"""Words of grammar that a new name may hold after its first word and before the one with the extension."""
PACKED = (".zip", ".tar", ".tar.gz", ".tgz")
NUMBERED = re.compile(r"^(?P<base>[^,]+?)(?P<number>0+1)(?:\.\w+)?$")
SERIES = re.compile(
    r"^(?P<base>[^,]*?)(?P<number>0*1)(?:,? (?:and )?(?P=base)0*\d+)+"
    r"(?:,? (?:and so on|etc\.?|and so forth|and on|…|\.\.\.))?$"
)


@dataclass(frozen=True)
class Value:
    """A slot's value. Readings with equal `meant` are the same."""

    meant: Any
    unowned: tuple[Token, ...] = ()
    doubt: Doubt | None = None


@dataclass(frozen=True)
class Target:
    """A folder that things go to, and whether it is there."""

    path: str
    new: bool = False


@dataclass(frozen=True)
class Several:
    """Names that a tool takes one at a time."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """A name with running numbers."""

    base: str
    digits: int


class Slots:
    """Reads spans of one request; the same span is read once."""

    def __init__(self, ground: Ground) -> None:
        self._ground, self._index, self._lexicon = ground, ground.index, ground.lexicon
        self._leading = tuple(self._lexicon["leading"].words)
        self._known: dict[tuple[SlotType, int, int, int], Value | None] = {}

    def read(self, type: SlotType, span: Sequence[Token]) -> Value | None:
        """Return the value; None if the span cannot have this type."""
        key = (type, span[0].start, span[-1].end, len(span))
        if key not in self._known:
            reader: Callable[[Sequence[Token]], Value | None] = getattr(self, f"_{type}")
            self._known[key] = reader(span)
        return self._known[key]

    def _selection(self, span: Sequence[Token]) -> Value | None:
        parsed = parse(span, self._ground)
        return Value(parsed.selections, parsed.unowned, parsed.doubt)

    def _contents(self, span: Sequence[Token]) -> Value | None:
        """Return a selection; for a folder, its contents."""
        found = self._selection(span)
        if found is None:
            return None
        opened = tuple(self._opened(each) for each in found.meant)
        if not opened and (folder := self._folder(span)) is not None:
            return Value((replace(folder.meant, kind="file"),), (), folder.doubt)
        return Value(opened, found.unowned, found.doubt)

    def _within(self, span: Sequence[Token]) -> Value | None:
        """Read what follows the noun: a place, a size, an exception."""
        head = Token("files", "files", span[0].start, span[0].start)
        found = parse([head, *span], self._ground)
        return Value(found.selections, found.unowned, found.doubt)

    def _opened(self, each: Selection) -> Selection:
        if not each.names or not all(name in self._index.folders for name in each.names):
            return each
        return replace(each, names=(), folders=each.names, kind="file")

    def _several(self, span: Sequence[Token]) -> Value | None:
        """Return a selection of more than one named file."""
        found = self._selection(span)
        one = found is not None and len(found.meant) == 1 and (len(found.meant[0].names) == 1 or found.meant[0].one)
        return None if one else found

    def _patterns(self, span: Sequence[Token]) -> Value | None:
        """Return patterns of what stays."""
        parsed = parse(span, self._ground)
        patterns, misread = excluded(parsed.selections)
        return Value(patterns, tuple(span) if misread or not patterns else parsed.unowned, parsed.doubt)

    def _file(self, span: Sequence[Token]) -> Value | None:
        """One file that is no archive."""
        found = self._item(span)
        if found is None or not isinstance(found.meant, Selection) or not found.meant.names:
            return None if found and isinstance(found.meant, Selection) and found.meant.refers == "folder" else found
        name = found.meant.names[0]
        return None if name in self._index.folders or name.lower().endswith(self._archived) else found

    @property
    def _archived(self) -> tuple[str, ...]:
        return tuple(f".{one}" for one in self._index.category("Archives"))

    def _archives(self, span: Sequence[Token]) -> Value | None:
        """One archive or several, by name."""
        one = self._archive(span)
        if one is not None and (one.doubt is None or not any(token.low.endswith("s") for token in span)):
            return one
        parsed = parse(span, self._ground)
        names: list[str] = []
        for each in parsed.selections:
            if not each.by_name_only or not each.bounded or each.kind == "directory":
                return None
            names += each.names or self._index.matching(
                each.include, folders=each.tops, deep=each.deep, exclude=each.exclude
            )
        if not names or not all(name.lower().endswith(self._archived) for name in names):
            return None
        return Value(Several(tuple(names)), parsed.unowned, parsed.doubt)

    def _beside(self, span: Sequence[Token]) -> Value | None:
        found = self._item(span)
        if found is None or not isinstance(found.meant, Selection) or not found.meant.names:
            return None
        return Value(Target(dirname(found.meant.names[0]) or "."), found.unowned, found.doubt)

    def _item(self, span: Sequence[Token]) -> Value | None:
        """One file or folder that is there."""
        named = self._index.named(written(_trimmed(span, ("the", "my"), ())))
        if len(named) == 1:
            return Value(Selection(names=named))
        parsed = parse(span, self._ground)
        if len(parsed.selections) != 1 or parsed.unowned or parsed.selections[0].exclude:
            return Value((), tuple(span)) if _is_file_like(span) or parsed.unowned or parsed.selections else None
        return self._one(parsed, span)

    def _one(self, parsed: Parsed, span: Sequence[Token]) -> Value | None:
        chosen = parsed.selections[0]
        if not chosen.names and not chosen.refers and not chosen.one:
            return None
        if chosen.refers not in (None, "rest") or len(chosen.names) == 1:
            return Value(chosen, (), parsed.doubt)
        if chosen.names and parsed.doubt:
            return Value(replace(chosen, names=chosen.names[:1]), (), replace(parsed.doubt, of_changes=False))
        if chosen.names or not chosen.by_name_only or not chosen.include or chosen.exclude:
            return None
        found = self._index.matching(chosen.include, folders=chosen.tops, deep=True)
        kind = not (chosen.stems or chosen.patterns or self._lexicon["determiners"].at([span[0].low], 0))
        if not found or (kind and len(found) > 1):
            return None  # "In flac" is no file.
        doubt = which(written(span), found) if len(found) > 1 else None
        return Value(Selection(names=(found[0],)), (), parsed.doubt or doubt)

    def _folder(self, span: Sequence[Token]) -> Value | None:
        said = [token.low for token in span]
        if self._lexicon["here"].all(said) or self._lexicon["this_folder"].all(said):
            return Value(Selection(folders=(".",)))
        body = _trimmed(span, ("the", "my", "folder", "directory", "in", "subfolder"), ("folder", "directory"))
        paths = tuple(path for path in body[0].paths if path in self._index.folders) if len(body) == 1 else ()
        if not paths:
            return None
        doubt = which(body[0].raw, paths) if len(paths) > 1 else None
        return Value(Selection(folders=(paths[0],)), (), doubt)

    def _archive(self, span: Sequence[Token]) -> Value | None:
        """One archive, or all of a kind."""
        found = self._item(span)
        if found is None or not isinstance(found.meant, Selection) or not found.meant.names:
            return (
                found
                if found is not None and isinstance(found.meant, Selection) and found.meant.refers == "one"
                else None
            )
        return found if found.meant.names[0].lower().endswith(self._archived) else None

    def _target(self, span: Sequence[Token]) -> Value | None:
        """Return an existing folder, or the name of a new one without a word of grammar."""
        if span[-1].kind == "mark":
            return None
        said = tuple(token.low for token in span)
        if self._lexicon["top_level"].all(said):
            return Value(Target("."))
        if self._lexicon["there"].all(said):
            return Value(Selection(refers="one", said=written(span)))
        marked = any(token.low in ("folder", "directory", "subfolder", "called", "named") for token in span)
        owned = any(token.low in ("my", "our") for token in span[:2])
        body = _trimmed(
            span, self._leading, ("folder", "directory", "subfolder", "instead", "there") if len(span) > 1 else ()
        )
        called = any(token.low in ("called", "named") for token in span)
        if said[0] in ("a", "an", "one") and not marked and self._index.is_extension(said[-1]):
            return Value((), tuple(span))  # "Combine them into one pdf."
        for start in range(len(span)):
            folders = self._index.folder(written(span[start:]))
            if folders and all(token.low in self._leading for token in span[:start]):
                return self._place(span[start:], marked=called, owned=owned)
        return self._place(body, marked=called, owned=owned and not marked)

    def _place(self, body: Sequence[Token], *, marked: bool, owned: bool) -> Value:
        raw = " ".join(token.raw for token in body).strip("/")
        if body[0].raw in (".", "./"):
            return Value(Target("."))
        folders = self._index.folder(raw)
        if len(folders) == 1:
            return Value(Target(folders[0]))
        if folders:
            top = [path for path in folders if "/" not in path]
            doubt = None if len(top) == 1 else which(raw, folders)
            return Value(Target((top or folders)[0]), (), doubt)
        if (len(body) == 1 and body[0].kind == "name" and not marked) or body[-1].low in ("file", "document"):
            return Value((), tuple(body))
        outside = self._lexicon["outside"].all(raw.casefold().split())
        if tail := self._tail(body):
            return Value((), tail)
        if not _is_name(body, self._lexicon.grammar, slash=True) or raw.lower().endswith(self._archived):
            return Value((), tuple(body))
        if ((outside and not marked) or owned) and body[0].kind != "quote":
            return Value(Target(raw, new=True), (), Doubt(texts.TARGET.format(said=raw), written(body), (raw,)))
        return Value(Target(self._under(raw), new=True), (), None if marked else _really(body))

    def _under(self, raw: str) -> str:
        """Return a new folder's path, with its parent spelt as it exists."""
        above, _, name = raw.rpartition("/")
        found = self._index.folder(above) if above else ()
        return join(found[0], name) if len(found) == 1 else raw

    def _new_name(self, span: Sequence[Token]) -> Value | None:
        words = tuple(token.low for token in span)
        lead = next(
            (size for size in (4, 3, 2, 1) if self._lexicon["naming"].all(words[:size]) and len(words) > size), 0
        )
        body = span[lead:]
        if tail := self._tail(body):
            return Value((), tail)
        if not _is_name(body, self._lexicon.grammar, slash=False):
            return Value((), tuple(span))
        return Value(written(body))

    def _tail(self, body: Sequence[Token]) -> tuple[Token, ...]:
        """Return the words after a name that are no part of it: what follows its extension, and "everywhere"."""
        words = [token.low for token in body]
        for at in range(1, len(body)):
            _, suffix = split_suffix(body[at - 1].raw)
            place = any(self._lexicon[name].all(words[at:]) for name in ("deep", "shallow", "here"))
            if place or (body[at - 1].kind != "quote" and self._index.is_extension(suffix)):
                return tuple(body[at:])
        return ()

    def _title(self, span: Sequence[Token]) -> Value | None:
        """Return a new name without a word that introduces it: one word, or several with capitals."""
        found = self._new_name(span)
        return Value(found.meant, found.unowned, _really(span)) if found is not None and found.meant else found

    def _new_names(self, span: Sequence[Token]) -> Value | None:
        """Return a list of new names."""
        parts: list[list[Token]] = [[]]
        for token in span:
            if token.low in ("and", ",") and token.kind != "quote":
                parts.append([])
            else:
                parts[-1].append(token)
        found = [self._new_name(part) for part in parts if part]
        names = tuple(str(each.meant) for each in found if each is not None and not each.unowned)
        return Value(Several(names)) if len(names) == len(found) > 1 else None

    def _archive_name(self, span: Sequence[Token]) -> Value | None:
        """Return a new name with the extension of an archive."""
        found = self._new_name(span)
        return found if found is not None and str(found.meant).lower().endswith(PACKED) else None

    def _series(self, span: Sequence[Token]) -> Value | None:
        """`Trip 1, Trip 2 and so on`: the name before the numbers, and how many digits they have."""
        said = written(span).replace(" ,", ",")
        found = SERIES.match(said) or NUMBERED.match(said)
        if found is None or found["base"][-1:].isalnum() or not found["base"]:
            return None
        return Value(Series(found["base"].rstrip(" "), len(found["number"])))

    def _text(self, span: Sequence[Token]) -> Value | None:
        """Return a literal text: in quotes, or one word; a sign may be spelt out."""
        if len(span) == 1 and span[0].kind == "quote":
            return Value(span[0].raw)
        body = _trimmed(span, tuple(self._lexicon["before_text"].words), ())
        if len(body) == 1 and body[0].kind == "quote":
            return Value(body[0].raw)
        said = [token.low for token in body]
        spelt, symbols = " ".join(said), self._lexicon.symbols
        sign = next((symbols[one] for end in ("", "s", "es") if (one := spelt.removesuffix(end)) in symbols), None)
        if sign is not None:
            return Value(sign)
        if len(body) != 1 or any(word in self._lexicon.grammar or word in self._lexicon.nouns for word in said):
            return Value((), tuple(span))
        return Value(" ".join(token.raw for token in body))

    def _query(self, span: Sequence[Token]) -> Value | None:
        body = _trimmed(span, ("the", "word", "words", "phrase", "text", "a", "an", "any", "some", "my"), ("?",))
        if strange := tuple(
            token
            for token in body
            if token.kind == "mark" or token.low in ("but", "not", "except", "without", "and", "then")
        ):
            return Value((), strange)
        quoted = [f'"{token.raw}"' if token.kind == "quote" and " " in token.raw else token.raw for token in body]
        return Value(" ".join(quoted))

    def _count(self, span: Sequence[Token]) -> Value | None:
        number = self._lexicon.number(span[0].low) if len(span) == 1 else None
        return Value(number) if number else None


def _is_file_like(span: Sequence[Token]) -> bool:
    return any(token.looks_like_a_file for token in span)


def written(span: Sequence[Token]) -> str:
    """Return the words as they were written."""
    return " ".join(token.raw for token in span)


def _really(body: Sequence[Token]) -> Doubt | None:
    """Ask about a new name of several words without quotes or capitals: any of them may not belong to it."""
    said = written(body)
    words = said.split()
    if len(body) == 1 or all(word[:1].isupper() or not word[:1].isalpha() for word in words):
        return None
    return Doubt(texts.MEANT.format(said=said), said, (said,))


def _trimmed(span: Sequence[Token], leading: Sequence[str], trailing: Sequence[str]) -> Sequence[Token]:
    """Without words around it; a name keeps all of its own."""
    start, end = 0, len(span)
    while start < end - 1 and span[start].kind == "word" and span[start].raw in leading:
        start += 1
    while end - 1 > start and span[end - 1].low in trailing:
        end -= 1
    return span[start:end]


def _is_name(body: Sequence[Token], grammar: frozenset[str], *, slash: bool) -> bool:
    """May this be a new name? Words of grammar need quotes."""
    if len(body) == 1 and body[0].kind in ("quote", "name"):
        return slash or "/" not in body[0].raw
    words = body[1:] if body[0].raw[:1].isupper() and body[-1].looks_like_a_file and not slash else ()
    small = [token for token in words if token.low in INSIDE_A_NAME]  # "Letter to Mom.docx"
    title = all(token.raw[:1].isupper() or not token.raw[:1].isalpha() or token in small for token in body)
    plain = all(token.kind in ("word", "name") and (title or token.low not in grammar) for token in body)
    text = " ".join(token.raw for token in body)
    return (
        plain
        and len(body) <= NAME_WORDS_MOST
        and (slash or "/" not in text)
        and not any(sign in text for sign in '*?<>|\\:"')
    )
