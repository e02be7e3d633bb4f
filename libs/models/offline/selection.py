"""The files that a part of a request selects: names, kinds, words of names, size, age, order, place, and exceptions.

Every word is owned by a rule or returned as not understood. Rules only look words up; none compares each path with
each word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from glob import escape
from itertools import product
from posixpath import basename, dirname
from typing import Any

from libs.events.values import Candidate
from libs.models.offline import texts
from libs.models.offline.lexicon import Lexicon, singular
from libs.models.offline.tokens import Token
from libs.models.offline.values import YEAR, bounds_at, when_at
from libs.models.offline.workspace_index import WorkspaceIndex

MOST = 10
"""Files of "the largest files", where no number is given."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question about something that was understood, and could mean several things."""

    question: str
    about: str = ""
    """The words of the request that the reply replaces."""
    offers: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    """Requests that are understood, and may replace this one."""
    skills: tuple[Candidate, ...] = ()
    """The skills of the readings to choose from."""
    of_changes: bool = False
    """Asked only if the request changes something."""


def which(said: str, paths: Sequence[str]) -> Doubt:
    """Return the question which of several paths these words mean."""
    offers = tuple(dict.fromkeys(paths))[: texts.SHOWN_MOST]
    return Doubt(texts.WHICH.format(said=said, names=texts.choices(offers)), said, offers)


@dataclass(frozen=True, slots=True)
class Selection:
    """Files or folders, chosen by name or by what they are like."""

    names: tuple[str, ...] = ()
    """Paths that are named. The rest of the fields choose among what is in `folders`."""
    stems: tuple[tuple[str, ...], ...] = ()
    """Words that names have; any of these."""
    endings: tuple[str, ...] | None = None
    """Extensions with their dot; None is any."""
    patterns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    deep: bool = False
    shallow: bool = False
    """Nothing in subfolders, whatever the tool does by default."""
    kind: str | None = None
    limits: tuple[tuple[str, Any], ...] = ()
    """Roles of a listing and their values: larger_than, modified_before, empty, containing …"""
    order: str | None = None
    most: int | None = None
    sort: str | None = None
    """The order of a list that is shown."""
    refers: str | None = None
    """`one`, `many` or `rest` of what came before."""
    count: int | None = None
    """The number of them that the request names."""
    one: bool = False
    """Exactly one is meant."""
    everything: bool = False
    other: bool = False
    each: bool = False
    """Each for itself."""
    bare: bool = False
    """An order alone, such as "the oldest one": it needs to be known among which."""
    placed: bool = False
    said: str = field(default="", compare=False)
    """The words of what it refers to."""

    @property
    def include(self) -> tuple[str, ...]:
        """Patterns of a listing."""
        if self.names:
            return tuple(escape(path) if "/" in path else escape(basename(path)) for path in self.names)
        if not self.stems and self.endings is None:
            return self.patterns
        stems = self.stems or ((),)
        globs = [f"*{'*'.join(words)}*" if words else "*" for words in stems]
        ends = self.endings or ("",)
        return (*self.patterns, *(f"{glob}{end}" for glob in globs for end in ends))

    @property
    def tops(self) -> tuple[str, ...]:
        """The folders that are looked into."""
        if self.names and not self.folders:
            return tuple(dict.fromkeys(dirname(path) or "." for path in self.names))
        return self.folders or (".",)

    @property
    def by_name_only(self) -> bool:
        """Return whether names alone decide what is selected."""
        return not self.limits and self.order is None and self.refers is None

    @property
    def narrowed(self) -> bool:
        """Return whether it says what is meant, and not only what is not."""
        return replace(self, exclude=()).bounded

    @property
    def bounded(self) -> bool:
        """Return whether it is less than everything in the whole folder."""
        return self.endings is not None or any(getattr(self, field) for field in CHOOSING)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The selections in a part of a request, and its words that were not understood."""

    selections: tuple[Selection, ...] = ()
    unowned: tuple[Token, ...] = ()
    doubt: Doubt | None = None


@dataclass(frozen=True)
class Ground:
    """The folder, vocabulary and time that selections are read against."""

    index: WorkspaceIndex
    lexicon: Lexicon
    now: datetime


WHOLE = ("everything", "deep", "here")
PLACES = frozenset(["in", "inside", "within", "from", "under", "of", "at", "by"])
LINKS = frozenset(["from", "by", "for", "of"])
"""Between a noun and a word that names have: "the invoice from Amazon"."""
CHOOSING = ("names", "stems", "patterns", "limits", "order", "refers", "folders", "exclude")
"""Fields of a selection that choose, beside its endings."""
NUMBER = re.compile(r"(.*?)(\d+)(\D*)$")
FOLDER_WORDS = frozenset(["folder", "directory", "subfolder"])
BEFORE_A_FOLDER = FOLDER_WORDS | frozenset(["the", "my", "our", "folders", "called", "named"])
ALL = frozenset(["all", "every", "each", "any", "both", "these", "those"])
NEEDS_A_NOUN = frozenset(["take", "takes", "use", "is", "are", "did", "were", "was", "that", "i", "changed"])


def parse(span: Sequence[Token], ground: Ground) -> Parsed:
    """Read a noun phrase, with its lists and exceptions."""
    wanted, spared = _parted(list(span), ground)
    items: list[_Read] = []
    parts = [*_items(wanted, ground)]
    folders = bool(parts) and singular(parts[-1][1][-1].low) in FOLDER_WORDS and len(parts) > 1
    for joint, part in parts:
        if folders and any(path in ground.index.folders for path in part[-1].paths):
            part.append(replace(part[-1], raw="folder", low="folder", kind="word", paths=(), start=part[-1].end))
        item = _Item(part, ground).read()
        item.unowned += [part[0]] if items and part[0].low in ("only", "just") else []
        if not items or not _continues(items[-1], item, joint):
            items.append(item)
    if not items:
        return Parsed(unowned=tuple(span))
    parsed = _together(items, ground)
    if spared is None:
        return parsed
    while len(spared) > 1 and spared[-1].low in ("alone", "untouched", "out", "apart", "aside"):
        spared = spared[:-1]
    if len(spared) > 1 and spared[0].low in LINKS and not any(one in ground.index.folders for one in spared[1].paths):
        spared = spared[1:]  # "Not from Amazon".
    away = parse(spared, ground)
    patterns, misread = excluded(away.selections)
    limits = beyond(away.selections) or ()
    unowned = (*parsed.unowned, *away.unowned, *(spared if (misread and not limits) or not away.selections else ()))
    chosen = tuple(
        replace(each, exclude=(*each.exclude, *patterns), limits=(*each.limits, *limits)) for each in parsed.selections
    )
    if any(dict(each.limits).keys() & dict(limits).keys() for each in parsed.selections):
        unowned = (*unowned, *spared)
    return Parsed(chosen, unowned, parsed.doubt or away.doubt)


INVERSE = {"larger_than": "smaller_than", "modified_before": "modified_after", "containing": "lacking"}
INVERSE |= {there: here for here, there in INVERSE.items()}


def beyond(selections: Sequence[Selection]) -> tuple[tuple[str, Any], ...] | None:
    """Return the limit that leaves out a selection by one limit alone, such as "the ones under 1 MB"."""
    if len(selections) != 1 or len(limits := selections[0].limits) != 1 or limits[0][0] not in INVERSE:
        return None
    role, value = limits[0]
    plain = replace(selections[0], limits=(), refers=None)
    off = {"larger_than": 1, "smaller_than": -1}.get(role, 0)  # Each of the two is without its bound.
    return None if plain.bounded else ((INVERSE[role], value + off if off else value),)


def excluded(selections: Sequence[Selection]) -> tuple[tuple[str, ...], bool]:
    """Patterns for leaving selections out; True where patterns cannot say it."""
    found: list[str] = []
    for each in selections:
        if not each.by_name_only or each.refers or each.exclude or each.other or each.deep or each.shallow:
            return (), True
        if each.include and not (each.folders and not each.names):
            found += each.include
        elif each.include:
            found += [f"{folder}/{pattern}" for folder in each.folders for pattern in each.include]
        elif each.folders and each.kind is None:
            found += map(escape, each.folders)
        elif each.folders:
            found += [f"{escape(folder)}/*" for folder in each.folders]
        else:
            return (), True
    return tuple(found), False


def _parted(span: list[Token], ground: Ground) -> tuple[list[Token], list[Token] | None]:
    """Split at "except". "But" alone splits off what is everything."""
    words, lexicon = [token.low for token in span], ground.lexicon
    for at in range(1, len(span)):
        if span[at].kind == "name":
            continue
        start = at + 1 if words[at] == "," and at + 1 < len(span) else at
        found = lexicon["except"].at(words, start)
        if (
            found is None
            and words[start] in ("not", "but")
            and not (words[start] == "but" and words[start + 1 : start + 2] in (["keep"], ["leave"]))
        ):
            found = (1, True)
        if lexicon["shallow"].at(words, start) or (found and when_at(words, start, lexicon, ground.now)):
            continue
        if found is not None and start + found[0] < len(span):
            return span[:at], span[start + found[0] :]
    return span, None


def _items(span: Sequence[Token], ground: Ground) -> Iterator[tuple[str, list[Token]]]:
    """Yield the parts of a list. "Files and folders" and "in all subfolders and here" are no lists."""
    words = [token.low for token in span]
    part: list[Token] = []
    at, before = 0, ""
    while at < len(span):
        whole = max((ground.lexicon[name].at(words, at) or (0, True) for name in WHOLE), default=(0, True))
        if whole[0] > 1:
            part += span[at : at + whole[0]]
            at += whole[0]
            continue
        joint = ground.lexicon["and"].at(words, at) if span[at].kind in ("word", "mark") else None
        if joint is not None and (
            any(ground.lexicon[name].at(words, at + joint[0]) for name in ("deep", "here", "shallow"))
            or ground.lexicon.sorted.at(words, at + joint[0])
        ):
            at += joint[0]
            continue
        if joint is not None and "between" in words[max(0, at - 3) : at]:
            joint = None
        if joint is not None and not _joins_folders(span, at, at + joint[0], ground):
            if part:
                yield before, part
            part, before = [], words[at]
            at += joint[0]
            continue
        part.append(span[at])
        at += 1
    if part:
        yield before, part


def _continues(last: _Read, item: _Read, joint: str) -> bool:
    """Merge an item that only adds limits to the last: "larger than 1 MB and older than a year"."""
    each = item.selection
    nounless = not (each.names or each.stems or each.patterns or each.kind or each.refers or each.order)
    if not nounless or each.endings is not None or not each.limits or item.unowned:
        return False
    if joint == "or" or dict(each.limits).keys() & dict(last.selection.limits).keys():
        item.selection = replace(last.selection, limits=each.limits, folders=each.folders or last.selection.folders)
        return False
    last.selection = replace(
        last.selection,
        limits=(*last.selection.limits, *each.limits),
        folders=last.selection.folders or each.folders,
        deep=last.selection.deep or each.deep,
    )
    return True


def _joins_folders(span: Sequence[Token], at: int, after: int, ground: Ground) -> bool:
    """Return whether it is the "and" of "in data/raw and data/staging"."""
    if not at > 1 or after >= len(span):
        return False
    folders = all(any(path in ground.index.folders for path in span[n].paths) for n in (at - 1, after))
    return folders and any(token.low in PLACES for token in span[max(0, at - 3) : at - 1])


def _together(items: Sequence[_Read], ground: Ground) -> Parsed:
    """Join the items of a list. A trailing limit or place applies to all if the list has one article."""
    unowned = tuple(token for item in items for token in item.unowned)
    doubt = next((item.doubt for item in items if item.doubt), None)
    chosen = [item.selection for item in items]
    last = items[-1]
    if len(items) > 1 and (last.selection.placed or last.trailing):
        earlier = [
            item
            for item in items[:-1]
            if (not item.selection.names or last.selection.deep) and not item.selection.refers
        ]
        loose = [item for item in earlier if not item.selection.placed and not item.trailing]
        if loose and (last.determined or last.bordered) and not last.selection.deep:
            doubt = doubt or Doubt(texts.DISTRIBUTES.format(said=last.tail))
        chosen = [_like(last, item) if item in loose else item.selection for item in items]
    doubt = doubt or _shared(items, chosen, ground.index)
    return Parsed(tuple(_merged(chosen)), unowned, doubt)


def _shared(items: Sequence[_Read], chosen: Sequence[Selection], index: WorkspaceIndex) -> Doubt | None:
    """Ask about a word of one item that may belong to another: "the Amazon and Vodafone invoices".

    It may not if that item has an article of its own, if no file has both, or if all have.
    """
    for n, each in enumerate(chosen):
        if (n and items[n].determined) or not each.by_name_only or not each.stems:
            continue
        others = [one for m, one in enumerate(chosen) if m != n and not (m > n and items[m].determined)]
        own = index.matching(each.include, folders=each.tops, deep=each.deep)
        for word, narrower in _narrowings(each, others):
            both = index.matching(narrower.include, folders=narrower.tops, deep=narrower.deep)
            if not index.knows_all or (both and both != own):
                return Doubt(texts.SHARED.format(said=word), of_changes=True)
    return None


def _narrowings(each: Selection, others: Sequence[Selection]) -> Iterator[tuple[str, Selection]]:
    """Yield a selection with each word or kind of the others besides its own."""
    for other in others:
        for word in dict.fromkeys(word for stem in other.stems for word in stem):
            if not any(word in stem for stem in each.stems):
                yield word, replace(each, stems=_also(each.stems, (word,)))
        if other.stems and other.endings is not None and each.endings is None:
            yield ", ".join(other.endings[: texts.SHOWN_MOST]), replace(each, endings=other.endings)


def _like(read: _Read, item: _Read) -> Selection:
    last = read.selection
    limits = dict(last.limits) | dict(item.selection.limits)
    liked = replace(
        item.selection,
        stems=_also(item.selection.stems, read.tail_words) if read.tail_words else item.selection.stems,
        folders=item.selection.folders or last.folders,
        deep=item.selection.deep or last.deep,
        limits=tuple(limits.items()),
        placed=True,
    )
    return _deepened(liked)


def _deepened(each: Selection) -> Selection:
    """At any depth a name is every file that is called so."""
    if not each.names or not each.deep:
        return each
    kind = "directory" if each.kind == "directory" else "file"
    return replace(each, names=(), patterns=tuple(escape(basename(name)) for name in each.names), kind=kind)


def _merged(chosen: Sequence[Selection]) -> Iterator[Selection]:
    """Merge selections that differ by name alone."""
    groups: dict[Any, list[Selection]] = {}
    for each in chosen:
        mergeable = (each.names or each.include) and each.count is None
        of = (each.limits, each.order, each.most, each.exclude, each.other)
        key: Any = (each.tops, each.deep, None if each.names else each.kind, bool(each.names), *of)
        groups.setdefault(key if mergeable and not each.refers else id(each), []).append(each)
    for group in groups.values():
        yield group[0] if len(group) == 1 else _union(group)


def _union(group: Sequence[Selection]) -> Selection:
    first = group[0]
    if first.names:
        return replace(first, names=tuple(dict.fromkeys(name for each in group for name in each.names)), one=False)
    patterns = tuple(dict.fromkeys(pattern for each in group for pattern in each.include))
    return replace(first, stems=(), endings=None, patterns=patterns, one=False, count=None)


def _also(held: tuple[tuple[str, ...], ...], said: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the words of names that hold one of `held` and `said`, in either order."""
    return tuple(dict.fromkeys(both for one in held for both in ((*one, *said), (*said, *one)))) or (said,)


@dataclass
class _Read:
    """One item of a list, as far as it was read."""

    selection: Selection = field(default_factory=Selection)
    unowned: list[Token] = field(default_factory=list)
    doubt: Doubt | None = None
    determined: bool = False
    trailing: bool = False
    """True if a limit follows its noun."""
    tail: str = ""
    tail_words: tuple[str, ...] = ()
    """Words of names that follow its noun: "with “x” in the name"."""
    bordered: bool = False
    """True if names begin or end with something."""


RULES = (
    *("pronoun", "everything", "depth", "place", "size", "age", "named", "mention", "empty", "sorted", "superlative"),
    *("kind", "name", "noun", "other", "count", "determiner", "relative", "word"),
)


class _Item:
    """Reads one item, left to right: each rule owns the words that it takes, or takes none."""

    def __init__(self, span: Sequence[Token], ground: Ground) -> None:
        self._span, self._ground = span, ground
        self._lexicon, self._index = ground.lexicon, ground.index
        self._words = [token.low for token in span]
        self._at = 0
        self._headed = False
        self._plural = self._every = False
        self._noun_said = self._linked = False
        self._out = _Read()

    @property
    def _word_here(self) -> str:
        return self._words[self._at]

    def read(self) -> _Read:
        if self._words[0] in ("only", "just"):
            self._at = 1
        rules: list[Callable[[], int]] = [getattr(self, f"_{rule}") for rule in RULES]
        while self._at < len(self._span):
            if self._span[self._at].kind == "mark" and self._word_here not in (",",):
                taken = 1
            else:
                taken = next((taken for rule in rules if (taken := rule())), 0)
            if not taken:
                self._out.unowned.append(self._span[self._at])
                taken = 1
            self._at += taken
        return self._finished()

    def _finished(self) -> _Read:
        self._put(said=self._out.selection.said or self._raw(0, len(self._span)))
        chosen = self._out.selection
        if not self._headed and not chosen.everything and not replace(chosen, folders=()).bounded:
            self._out.unowned = self._out.unowned or list(self._span)
        if chosen.names and chosen.deep:
            if all(name in self._index.folders for name in chosen.names):
                self._put(kind="directory")
                chosen = self._out.selection
            self._out.selection, self._out.doubt = _deepened(chosen), None
            chosen = self._out.selection
        if chosen.order and not self._noun_said and not chosen.folders:
            self._put(bare=True)
        if (
            chosen.kind in ("file", "directory")
            and self._out.determined
            and not (self._plural or self._every)
            and not chosen.bounded
            and not chosen.count
        ):
            self._put(refers="thing", said=self._raw(0, len(self._span)))
            return self._out
        if chosen.stems and (housed := self._housed(chosen)):
            self._put(folders=housed[:1], stems=tuple(filter(None, (housed[1:],))), placed=True)
            chosen = self._out.selection
        if chosen.names and (chosen.stems or chosen.endings is not None or chosen.limits):
            if self._may_hold(chosen):
                self._put(folders=chosen.names, kind="file", placed=True)
            else:
                self._out.unowned += [token for token in self._span if token.paths]
            self._put(names=())
            chosen = self._out.selection
        if chosen.order and chosen.most is None:
            self._put(most=chosen.count or (MOST if self._plural or self._every else 1))
        elif (
            chosen.count is None
            and self._headed
            and not (self._plural or self._every)
            and not chosen.everything
            and not chosen.names
        ):
            self._put(one=chosen.order is None)
        return self._out

    def _housed(self, chosen: Selection) -> tuple[str, ...]:
        """Return a folder and the words of names in it, for words that no name has: "the bank statements" in bank."""
        stem, index = chosen.stems[0], self._index
        if (
            len(stem) < 2 - (chosen.endings is not None)
            or chosen.folders
            or not index.knows_all
            or index.matching(chosen.include, folders=(), deep=True)
        ):
            return ()
        for word in stem:
            rest = tuple(one for one in stem if one != word)
            homes = [*index.folder(word), *index.folder(f"{word}s")]
            kept = replace(chosen, stems=(rest,) if rest else ())
            if len(homes) == 1 and index.matching(kept.include, folders=homes, deep=True):
                return (homes[0], *rest)
        return ()

    def _may_hold(self, chosen: Selection) -> bool:
        """Return whether names are folders that mean their files: "podcasts older than a year", "Christmas photos"."""
        folders = all(name in self._index.folders for name in chosen.names)
        return folders and not FOLDER_WORDS & set(map(singular, self._words))

    def _put(self, **found: Any) -> None:
        self._out.selection = replace(self._out.selection, **found)

    def _limit(self, **found: Any) -> None:
        self._put(limits=(*self._out.selection.limits, *found.items()))
        self._follow(())

    def _raw(self, at: int, end: int) -> str:
        return " ".join(token.raw for token in self._span[at:end])

    def _phrase(self, name: str, at: int | None = None) -> int:
        found = self._lexicon[name].at(self._words, self._at if at is None else at)
        return found[0] if found else 0

    def _determiner(self) -> int:
        taken = self._phrase("determiners")
        self._linked = self._linked or (self._headed and self._word_here == "of")
        self._out.determined = self._out.determined or bool(taken)
        said = set(self._words[self._at : self._at + taken])
        if said & ALL:
            self._every = True
        if said & {"each", "every"}:
            self._put(each=True)
        return taken

    def _relative(self) -> int:
        """Take "that are" if something follows."""
        taken = self._phrase("relative")
        if taken == 1 and not self._headed:
            return 0
        return taken if taken and self._at + taken < len(self._span) else 0

    def _pronoun(self) -> int:
        found = self._lexicon.pronouns.at(self._words, self._at)
        if found is None and (size := self._phrase("rest")):
            found = size, "rest"
        if found is None or self._headed or self._out.selection.refers:
            return 0
        after = self._at + found[0]
        alone = after == len(self._span) or self._lexicon["deep"].at(self._words, after) is not None
        if not alone and self._word_here not in ("these", "those", "this", "that"):
            return 0
        if self._lexicon["here"].at(self._words, self._at) or (
            not alone and when_at(self._words, self._at, self._lexicon, self._ground.now)
        ):
            return 0  # "This year's photos".
        self._put(refers=found[1], said=self._raw(self._at, after))
        self._headed = True
        return found[0]

    def _everything(self) -> int:
        taken = self._phrase("everything")
        if taken and self._words[self._at : self._at + taken][-1] == "is" and self._at + taken == len(self._span):
            return 0
        if not taken and self._word_here == "all" and self._at + 1 == len(self._span):
            taken = 1
        named = self._at + taken < len(self._span) and self._folders(self._span[self._at + taken])
        if taken and not self._headed and not named:
            self._headed = self._plural = True
            self._put(everything=True, kind="any")
            return taken
        return 0

    def _depth(self) -> int:
        if taken := self._phrase("shallow"):
            self._put(shallow=True)
        elif taken := self._phrase("deep"):
            self._put(deep=True, placed=True)
        return taken

    def _place(self) -> int:
        taken = self._phrase("here")
        if taken and not (self._at + taken < len(self._span) and self._folders(self._span[self._at + taken])):
            return taken
        at = self._at + 1 + (self._words[self._at : self._at + 2] == ["out", "of"])
        if self._words[at - 1] not in PLACES:
            return 0
        while at < len(self._words) and self._words[at] in BEFORE_A_FOLDER:
            at += 1
        if at >= len(self._span) or not (folders := self._folders(self._span[at])):
            return 0
        end = at + 1
        if end < len(self._words) and self._words[end] in FOLDER_WORDS:
            end += 1
        if len(folders) > 1:
            self._out.doubt = which(self._span[at].raw, folders)
        self._put(folders=(*self._out.selection.folders, folders[0]), placed=True)
        self._out.tail = self._out.tail or " ".join(token.raw for token in self._span[self._at :])
        while (
            end + 1 < len(self._span)
            and self._words[end] in ("and", ",", "or")
            and len(more := self._folders(self._span[end + 1])) == 1
        ):
            self._put(folders=(*self._out.selection.folders, more[0]))
            end += 2
        return end - self._at

    def _folders(self, token: Token) -> tuple[str, ...]:
        if token.raw in (".", "./"):
            return (".",)
        return tuple(path for path in token.paths if path in self._index.folders)

    def _size(self) -> int:
        if (found := bounds_at(self._words, self._at)) is None:
            return 0
        self._limit(**found[1])
        end = self._at + found[0]
        return found[0] + (end < len(self._words) and self._words[end] in ("big", "large", "each"))

    def _age(self) -> int:
        """ "Older than a year", "changed last week". A month or a year that names have, too, could mean either."""
        found = when_at(self._words, self._at, self._lexicon, self._ground.now)
        if found is None:
            return 0
        taken, limits, changed = found
        said = self._span[self._at : self._at + taken]
        year = next((token.low for token in said if YEAR.match(token.low)), "")
        month = next((token for token in said if token.low in self._lexicon.months), None)
        names = [f"{year}-{self._lexicon.months[month.low]:02}", f"{month.raw} {year}"] if month else [year]
        held = next((name for name in names if year and all(map(self._index.having, name.split()))), "")
        if held and not changed and said[0].low in ("from", "of", "in", "for", "during", *names[-1].lower().split()):
            offers = f'with "{held}" in the name', f"changed in {names[-1]}"
            question = texts.YEAR.format(name=held, when=names[-1])
            self._out.doubt = Doubt(question, " ".join(token.raw for token in said), offers)
        self._limit(**limits)
        return taken

    def _named(self) -> int:
        """ "With “x” in the name", "starting with x", "called x"."""
        for before, endings in self._lexicon.named.items():
            at = self._at + len(before)
            if tuple(self._words[self._at : at]) == before and at < len(self._span):
                for size, after in product((1, 2, 3), endings):
                    if tuple(self._words[at + size : at + size + len(after)]) == after:
                        return len(before) + size + len(after) if self._stem(at, size) else 0
        for name, pattern in (("starting", "{}*"), ("ending", "*{}")):
            taken = self._phrase(name)
            if taken and self._at + taken < len(self._span):
                said = self._span[self._at + taken]
                ending = f".{said.raw}" if name == "ending" and said.low in self._index.extensions else said.raw
                return taken + 1 if self._bordered(pattern, escape(ending)) else 0
        taken = self._phrase("called")
        if taken and self._headed and self._at + taken < len(self._span):
            token = self._span[self._at + taken]
            if token.paths:
                self._choose_names(token, token.paths)
                return taken + 1
            return taken + 1 if self._stem(self._at + taken, 1) else 0
        return 0

    def _bordered(self, pattern: str, said: str) -> bool:
        """Narrow what was chosen so far to names that begin or end so."""
        chosen = self._out.selection
        if chosen.patterns:
            return False
        words = [f"*{'*'.join(stem)}*" for stem in chosen.stems] or ["*"]
        ends = chosen.endings or ((".*", "") if pattern.startswith("*") and "." not in said else ("",))
        form = f"{said}{{}}" if pattern.endswith("*") else f"{{}}{said}"
        found = (f"{form.format(word)}{end}" for word in words for end in ends)
        self._follow(())
        self._out.bordered = True
        self._choose(patterns=(*found,), stems=(), endings=None)
        return True

    def _follow(self, words: tuple[str, ...]) -> None:
        """Note a condition that follows the noun, and so may hold for a whole list."""
        self._out.trailing = self._out.trailing or self._headed
        self._out.tail = self._out.tail or self._raw(self._at, len(self._span))
        self._out.tail_words = (*self._out.tail_words, *words) if self._headed else ()

    def _stem(self, at: int, size: int) -> bool:
        said = [word for token in self._span[at : at + size] for word in token.low.split()]
        if self._index.knows_all and not self._index.matching(
            [f"*{'*'.join(map(escape, said))}*"], folders=(), deep=True
        ):
            return False
        self._follow(tuple(said))
        self._choose(stems=_also(self._out.selection.stems, tuple(said)))
        return True

    def _mention(self) -> int:
        taken = self._phrase("mentioning")
        rest = self._span[self._at + taken :]
        if not taken or not rest or not (self._headed or self._at == 0):
            return 0
        self._limit(containing=rest[0].raw)
        return taken + 1

    def _empty(self) -> int:
        if taken := self._phrase("every_empty"):
            self._put(limits=(*self._out.selection.limits, ("empty", True)))
        return taken

    def _superlative(self) -> int:
        number = self._lexicon.number(self._word_here)
        found = self._lexicon.order.at(self._words, self._at + (number is not None))
        if found is None or self._out.selection.order:
            return 0
        if not self._headed and self._word_here in NEEDS_A_NOUN:
            return 0
        end = self._at + (number is not None) + found[0]
        counts = number is None and end < len(self._words) and not YEAR.match(self._words[end])
        after = self._lexicon.number(self._words[end]) if counts else None
        self._put(order=found[1], most=number or after)
        last = end + (after is not None)
        if last < len(self._words) and self._words[last] in ("one", "ones"):
            self._plural, last = self._words[last] == "ones", last + 1
        self._headed = self._headed or self._at == 0
        return last - self._at

    def _kind(self) -> int:
        endings, taken = self._endings()
        if not taken:
            return 0
        self._plural = self._words[self._at + taken - 1].endswith("s") or self._word_here[0] in ".*"
        if not self._narrow(endings):
            return 0
        token = self._span[self._at]
        if len(self._span) == 1 and token.raw in self._index.folders and token.raw in token.paths:
            offers = token.raw, f"files ending in {endings[0]}"
            question = texts.WHICH.format(said=token.raw, names=texts.choices(offers))
            self._out.doubt = Doubt(question, token.raw, offers, of_changes=True)
        self._headed = True
        return taken

    def _endings(self) -> tuple[tuple[str, ...], int]:
        found = self._lexicon.kinds.at(self._words, self._at)
        word = self._word_here
        if found is not None and not self._spelt():
            category = found[1][0]
            ends = found[1] if category.startswith(".") else tuple(f".{one}" for one in self._index.category(category))
            return ends, found[0]
        bare = word.removeprefix("*").removeprefix(".")
        if self._folders(self._span[self._at]) and self._words[self._at + 1 : self._at + 2] in (
            ["folder"],
            ["directory"],
        ):
            return (), 0
        for extension in (bare, singular(bare), bare.removesuffix("s")):
            if word == bare and self._lexicon["words_too"].all([extension]):
                continue
            if (
                self._index.is_extension(extension)
                and self._span[self._at].kind == "word"
                and not (self._span[self._at].paths and word == bare)
            ):
                return tuple(f".{one}" for one in self._lexicon.aliases.get(extension, (extension,))), 1
        return (), 0

    def _spelt(self) -> bool:
        """Return whether it is a folder's name, with its capital: "except Archive" is about no kind of file."""
        token = self._span[self._at]
        named = token.raw in token.paths and token.raw in self._index.folders
        return named and (token.kind == "name" or (token.raw[:1].isupper() and not self._out.determined))

    def _narrow(self, endings: Sequence[str]) -> bool:
        """Two kinds side by side are both meant: "jpg photos"."""
        held = self._out.selection.endings
        kept = tuple(endings) if held is None else tuple(end for end in endings if end in held)
        if not kept or self._out.selection.patterns:
            return False
        self._choose(endings=kept)
        return True

    def _choose(self, **found: Any) -> None:
        self._noun_said = True
        self._put(kind=self._out.selection.kind if self._out.selection.kind == "directory" else "file", **found)
        self._headed = True

    def _range(self) -> int:
        """ "IMG_1.jpg through IMG_9.jpg": the files with these numbers, of the same name and folder."""
        ends = self._span[self._at : self._at + 3 : 2]
        if len(ends) < 2 or self._words[self._at + 1] not in ("through", "thru", "till", "until"):
            return 0
        found = [NUMBER.match(token.paths[0]) if len(token.paths) == 1 else None for token in ends]
        first, last = found
        if first is None or last is None or first.group(1, 3) != last.group(1, 3):
            return 0
        inside = range(int(first[2]), int(last[2]) + 1)
        all_of = [(path, NUMBER.match(path)) for path in self._index.files]
        names = [path for path, at in all_of if at and at.group(1, 3) == first.group(1, 3) and int(at[2]) in inside]
        self._put(names=(*self._out.selection.names, *names))
        self._headed = self._plural = True
        return 3

    def _name(self) -> int:
        token = self._span[self._at]
        if taken := self._range():
            return taken
        if token.kind == "name":
            self._choose_names(token, token.paths)
            return 1
        if token.looks_like_a_file and any(sign in token.raw for sign in "*?"):
            return self._glob(token)
        if not self._index.knows_top and token.looks_like_a_file:
            self._choose_names(token, [token.raw])  # Not shown to us, and named outright.
            return 1
        if not token.paths:
            return 0
        beside = [*self._words[max(0, self._at - 1) : self._at], *self._words[self._at + 1 : self._at + 2]]
        folders = tuple(path for path in token.paths if path in self._index.folders)
        if folders and FOLDER_WORDS & set(map(singular, beside)):
            self._choose_names(token, folders)
            return 1
        return 0

    def _glob(self, token: Token) -> int:
        folder, _, pattern = token.raw.rpartition("/")
        if folder and folder not in self._index.folders:
            return 0
        if folder:
            self._put(folders=(folder,), placed=True)
        self._choose(patterns=(*self._out.selection.patterns, pattern))
        self._plural = True
        return 1

    def _choose_names(self, token: Token, paths: Sequence[str]) -> None:
        if len(paths) > 1:
            exact = [path for path in paths if token.raw.strip("/") in (path, basename(path))]
            shallow = [path for path in exact if "/" not in path]
            paths = shallow if len(shallow) == 1 else exact or paths
        if len(paths) > 1:
            # A look shows all of them.
            self._out.doubt = replace(which(token.raw, paths), of_changes=True)
        self._put(names=(*self._out.selection.names, *paths))
        self._headed = True

    def _noun(self) -> int:
        kind = self._lexicon.nouns.get(singular(self._word_here))
        if kind is None:
            return 0
        self._plural = self._word_here.endswith("s")
        named = self._out.selection.names
        bounded = self._out.selection.bounded or self._word_here in ("one", "ones")
        placed = self._words[self._at + 1 : self._at + 2] and self._words[self._at + 1] in (*PLACES, "are")
        if kind == "any" and not (bounded or self._out.determined or placed):
            return 0
        self._noun_said = self._noun_said or self._word_here not in ("one", "ones")
        if not named:
            self._put(kind=kind if self._out.selection.kind in (None, "any", kind) else self._out.selection.kind)
        self._headed = True
        return 1

    def _other(self) -> int:
        if self._word_here in ("other", "remaining") and self._at + 1 < len(self._span):
            self._put(other=True)
            self._plural = True
            return 1
        return 0

    def _sorted(self) -> int:
        """ "Sorted by size", where something is shown."""
        found = self._lexicon.sorted.at(self._words, self._at)
        if found is None or not self._headed:
            return 0
        self._put(sort=found[1])
        return found[0]

    def _count(self) -> int:
        number = self._lexicon.number(self._word_here)
        if number is None or (self._headed and not self._out.selection.refers) or YEAR.match(self._word_here):
            return 0
        self._put(count=number)
        self._plural = number > 1
        return 1

    def _word(self) -> int:
        """Take a word that names here have: "the invoices". A whole name means that file if it has no other meaning."""
        token = self._span[self._at]
        if token.low in LINKS and self._headed and self._at + 1 < len(self._span):
            self._linked = self._span[self._at + 1].kind != "mark" and bool(
                self._index.having(self._words[self._at + 1])
            )
            return int(self._linked)
        if token.kind == "mark" or token.low in self._lexicon.grammar or self._is_ordinal(token):
            return 0
        words = token.low.split() if token.kind == "quote" else [token.low]
        holders = [self._index.having(word) for word in words]
        if not all(holders):
            return self._soft(token)
        if token.kind == "word" and self._lexicon["vague"].all(words):
            return 0
        alone = not self._headed and self._at + 1 == len(self._span)
        if len(token.paths) == 1 and set(token.paths) == set(holders[0]) and alone:
            self._choose_names(token, token.paths)
            return 1
        if token.paths and set(token.paths) != set(holders[0]):
            if (
                len(token.paths) == 1
                and token.paths[0] in self._index.folders
                and (token.low != singular(token.low) or self._out.determined)
            ):
                return self._by_word(token, words)
            self._out.doubt = replace(which(token.raw, [*token.paths, *holders[0]]), of_changes=True)
        return self._by_word(token, words)

    def _is_ordinal(self, token: Token) -> bool:
        """Return whether it counts along an order: "the second largest"."""
        return self._lexicon.decides(token.low) and bool(self._lexicon.order.at(self._words, self._at + 1))

    def _by_word(self, token: Token, words: Sequence[str]) -> int:
        said = tuple(singular(word) for word in words)
        home = tuple(path for path in token.paths if path in self._index.folders)
        if len(home) == 1 and all(path.startswith(f"{home[0]}/") for path in self._index.having(words[0])):
            self._put(folders=home, placed=True)  # "The orders" lie in Orders.
        if self._linked:
            self._follow(said)
        self._choose(stems=_also(self._out.selection.stems, said))
        self._plural = token.low != singular(token.low)
        return 1

    def _soft(self, token: Token) -> int:
        if token.paths and not self._headed:
            self._choose_names(token, token.paths)
            return 1
        return 0
