"""Looks that a story asks for: the largest, the newest, those of a time or a size, how many, which are called so, and
else a search for what is asked about.

"I have half a tin of treacle. Which of my recipes had treacle in?" wants no list of all recipes: the words that carry
the question choose, and where no name has them, what the files say is searched for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist import asking
from libs.models.offline.gist.asking import Question
from libs.models.offline.gist.deeds import LIST, Deed, search, show
from libs.models.offline.gist.story import Some, Span, Story
from libs.models.offline.ground import having, singulars, words_of
from libs.retrieval.lexicon import FAMILIES
from libs.retrieval.words import Word, fold

HOGS = re.compile(
    r"(?<!\w)(?:hogging|hogs?|eat(?:s|ing)\s+(?:up\s+)?(?:my|all|the)|clogging|frisst|fressen|platzfresser|(?:die|dicke[nr]?)\s+brocken"
    r"|se\s+come|comiendo)(?!\w)",
    re.IGNORECASE,
)
"""What takes the room is what is large."""
HOW_LARGE = re.compile(
    r"(?<!\w)(?:how\s+(?:big|large|heavy|much\s+(?:place|space|room|memory|storage))|wie\s+(?:gro(?:ß|ss)|schwer)|(?:wie\s*viel|wieviel)\s+(?:platz|speicher\w*)"
    r"|cu[aá]nto\s+(?:ocupan?|pesan?|espacio)|qu[eé]\s+tama[ñn]o)(?!\w)",
    re.IGNORECASE,
)
ORDERS = ("newest", "oldest", "largest", "smallest")
LAST = re.compile(
    r"(?<!\w)(?:the|my|d(?:er|ie|as|en)|mein(?:e[nr]?|s)?|el|la)\s+(?:very\s+)?(?:last|letzte[nrs]?|[uú]ltim[oa])\s+(?!week|month|year|night|time|day|few|\d|woche|monat|jahr|semana|mes|vez|año)[^\W\d_]+"
    r"(?=[^.?!]{0,30}(?<!\w)(?:i|we|ich|wir|que|he|hab|habe|made|did|saved|hice|guard\w+|sub\w+)(?!\w))",
    re.IGNORECASE,
)
""" "The last beat that I made" is the newest."""
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
FEW = 5


def heard(story: Story) -> Iterator[Deed]:
    """Every look that the story may ask for, the one that says most first."""
    asked = asking.question(story)
    if asked is None:
        return
    for look in (_extreme, _weighed, _bounded, _counted, _named, _searched):
        yield from look(asked)


def _extreme(asked: Question) -> Iterator[Deed]:
    """The largest, the newest and the like, of those that are spoken of beside that."""
    order, places = _order(asked)
    if order:
        some = _some(asked, asked.around(places))
        yield _listed(some, order=order, most=1 if places and not _several(asked, places[0]) else FEW)


def _order(asked: Question) -> tuple[str, list[int]]:
    said = [(one, word.start) for word in asked.words for one in ORDERS if one in word.concepts and not _timed(asked, word)]
    if last := LAST.search(asked.text):
        return "newest", [last.start()]
    if said:
        return said[0][0], [place for _, place in said]
    return ("largest", [HOGS.search(asked.text).start()]) if HOGS.search(asked.text) else ("", [])  # type: ignore[union-attr]


def _several(asked: Question, place: int) -> bool:
    """Are several asked for: "the biggest ones", "die größten"?"""
    behind = [word for word in asked.words if word.start > place][:2]
    return bool(HOGS.match(asked.text, place)) or any(fold(word.text).endswith("s") and asked.story.language != "de" for word in behind[:1])


def _weighed(asked: Question) -> Iterator[Deed]:
    """How large they are, each and together."""
    if (found := HOW_LARGE.search(asked.text)) is not None:
        some = _some(asked, asked.around([found.start()]))
        if some.words or some.folder != ".":
            yield _listed(some, order="largest")


def _bounded(asked: Question) -> Iterator[Deed]:
    """Those of a size or a time, of the kind or with the words that stand beside it."""
    times = [one for one in asked.story.times if _inside(one.start, asked.sentences)]
    if not times and asked.says("size", "age"):
        times = [*asked.story.times]
    if not times or (asked.topic and asked.written and not asked.says(*KINDS)):
        return
    kinds = [word.start for word in asked.words if asking.of_a_kind(word)]
    some = _some(asked, asked.around([*(one.start for one in times), *kinds]))
    yield _listed(_of_their_year(replace(some, times=tuple(times))))


def _counted(asked: Question) -> Iterator[Deed]:
    """How many there are, by name."""
    parts = asked.parts("howmany")
    some = _some(asked, parts)
    if parts and (some.words or some.folder != "."):
        yield _listed(some)


def _named(asked: Question) -> Iterator[Deed]:
    """Those that have all the words in their names."""
    if asked.written or not asked.topic:
        return
    kinds = [word for word in asked.words if asking.of_a_kind(word)]
    some = asked.story.some(beside=_beside(asked, [*asked.topic, *kinds, *_folder_words(asked)]))
    if {*asked.topic} <= {*some.words}:
        yield _listed(some)


def _searched(asked: Question) -> Iterator[Deed]:
    """What the files say of it, within the folder or among the letters that are asked about."""
    if asked.topic and (asking.of_ours(asked) or _held(asked)):
        yield search(" ".join(word.text for word in asked.topic), _folder(asked), _among(asked))


def _held(asked: Question) -> bool:
    known = words_of(asked.story.ground.paths or ())
    return any(not singulars(word.folded).isdisjoint(known) for word in asked.topic)


def _among(asked: Question) -> Sequence[str]:
    """Patterns of the files that are asked about: several that have the word in their paths."""
    paths = asked.story.ground.paths or ()
    if _folder(asked) != ".":
        return ()
    for word in asked.holder:
        held = singulars(word.folded) & words_of(paths)
        if held and asking.extension_of(word.folded) is None:
            return having(re.sub(r"[^ -~]", "?", min(held, key=len)))
    return ()


def _some(asked: Question, parts: Sequence[Span]) -> Some:
    """What the words of these parts choose; in the folder that was told of before, where they point there."""
    near = [word for word in asked.words if _inside(word.start, parts)]
    some = asked.story.some(beside=_beside(asked, near))
    folder = _folder(asked)
    if some.folder != "." or folder == ".":
        return replace(some, times=())
    inside = [path for path in some.files if path.startswith(f"{folder}/")]
    return Some(tuple(inside or asked.story.ground.below(folder)), folder, some.words)


def _folder(asked: Question) -> str:
    """The one that is named; outside of the question only where that points to it, or names nothing itself."""
    own = [place for place, naming in asked.story.places if _inside(naming[0].start, asked.sentences)]
    told = [place for place, _ in asked.story.places] if asked.points else []
    return next((place for place in (*own, *told) if asked.story.ground.below(place)), ".")


def _folder_words(asked: Question) -> list[Word]:
    return [word for _, naming in asked.story.places for word in naming]


def _beside(asked: Question, chosen: Sequence[Word]) -> list[Span]:
    """All but these words."""
    ends = [0, *(place for word in sorted(chosen, key=lambda word: word.start) for place in (word.start, word.end))]
    ends.append(len(asked.story.text))
    return [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if start < end]


def _of_their_year(some: Some) -> Some:
    """Files whose names tell their year are of that, whenever they were saved."""
    filters = some.filters
    after, before = str(filters.get("modified_after", "")), str(filters.get("modified_before", "9999"))
    dated = [path for path in some.files if YEAR.search(path.rpartition("/")[2])]
    whole = after[4:10] == "-01-01" and {*filters} <= {"modified_after", "modified_before"}
    if not (some.words or some.folder != ".") or not whole or 3 * len(dated) < 2 * len(some.files):
        return some
    kept = [path for path in dated if any(after[:4] <= year < max(before[:4], f"{int(after[:4]) + 1}") for year in YEAR.findall(path))]
    return replace(some, files=tuple(kept), times=()) if kept else some


def _listed(some: Some, **how: object) -> Deed:
    """By name where names or kinds chose them, else by their folder."""
    if some.words:
        return show(some, **how)
    here = {"path": some.folder, "recursive": True, "node_kind": "file"}
    return Deed(((LIST, {**here, **some.filters, **how}),))


def _timed(asked: Question, word: Word) -> bool:
    return any(one.start <= word.start < one.end for one in asked.story.times)


def _inside(place: int, spans: Sequence[Span]) -> bool:
    return any(start <= place < end for start, end in spans)
