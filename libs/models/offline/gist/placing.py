"""Files that go into a folder, in a story: "everything on load 8902 goes in its own folder, name it 8902".

The folder is there, or it is made: one, several of which each takes what is called like it, or one a year. Which files
go is told by `choosing`, where the folder is by `whereto`; archives have a room of their own (`packing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist import called, clearing, inside, packing, versions, whereto
from libs.models.offline.gist.bounds import BARE, Bounds
from libs.models.offline.gist.called import FOLDER
from libs.models.offline.gist.choosing import BY_CHANGE, EVERYWHERE, Choosing, Named
from libs.models.offline.gist.deeds import LIST, Deed, move, on, sort
from libs.models.offline.gist.each import EACH_OF, Each
from libs.models.offline.gist.pairs import pairs
from libs.models.offline.gist.stances import Stance, parts
from libs.models.offline.gist.story import Some, Span, Story
from libs.models.offline.gist.whereto import Place
from libs.models.offline.paths import below
from libs.models.offline.places import PUTS
from libs.models.offline.selection import escaped
from libs.models.ports import Call
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold
from libs.skills import date_in

DEEDS = ("move", "copy", "create", "organize")
PUTTING = PUTS | listed(
    "own extra separate apart want wants need needs get have split tidy shift file"
    " eigenen eigener eigenes rein hinein will brauche haben sollen tu kommt"
    " aparte propia quiero quisiera junta juntar mete metelos metelas hacele haceles pone ponelos armame arma"
)
"""Words by which things are put somewhere, or want to be."""
ASKED = regex(
    r"^\W*(?:which|what|where|who|when|why|how|is|are|was|welche\w*|was|wo|wer|wann|warum|wie|qu[eé]|cu[aá]l\w*|d[oó]nde|cu[aá]nd?\w*|hay)\b",
    re.IGNORECASE,
)
_BY = r"by(?:\s+the)?|per|pro|je|nach(?:\s+dem)?|por(?:\s+el)?|seg[uú]n(?:\s+el)?"
_EACH = r"each|every|an?|one|jede[snm]?|ein(?:en)?|por\s+cada|cada|una?|its|their|his|ihrem|seinem|su"
_YEAR, _MONTH = r"years?|jahr(?:e|es|en)?|a[ñn]os?", r"months?|monat(?:e|s|en)?|mes(?:es)?"
BY_DATE = regex(
    rf"\b(?:(?P<by>{_BY})\s+(?:cada\s+)?|(?:{_EACH})\s+(?:{FOLDER}\s+(?:for|für|para)\s+)?)(?:each\s+|every\s+|jede[sn]\s+)?"
    rf"(?:(?P<year>{_YEAR})|(?P<month>{_MONTH}))\b"
    rf"|\b(?:(?P<years>year|jahr(?:es)?)|(?P<months>month|monats))[- ]?(?:{FOLDER})",
    re.IGNORECASE,
)
COPIES = regex(
    r"\b(?:me|nos)\s+copia\b|\bc[oó]pi(?:e|a)(?:me|nos|l[oa]s?)\b"
    r"|\b(?:(?<!the )(?<!that )copy|copying|kopier\w*|copi(?:e|en|ar|o|al[oa]s?|ame\w*|ar[oae]\w*)|copies\s+of"
    r"|(?:an?|una|eine)\s+(?:copy|copia|kopie))\b(?!\s+(?:of|too|as well|also))"
    r"|\b(?:an?|una|eine)\s+(?:copy|copia|kopie)\s+(?:of|de|von)\s+"
    r"(?:them|it|those|these|each|all|both|ell[oa]s|tod[oa]s|ihnen|allen|denen)\b",
    re.IGNORECASE,
)
NOT_BEFORE = regex(r"\b(?:not|nicht|no)\s+$", re.IGNORECASE)
NOT_AFTER = regex(r"\s+(?:no|nicht|not)\b", re.IGNORECASE)
SORTS = regex(rf"\b(?:{FOLDER})\b|\b(?:sort|arrang|organi[sz]|order|split|ordne|ordena|separ|clasif)", re.IGNORECASE)
INTO_DATES = regex(
    r"\b(?:(?:in|into|to|nach|en|for|für|para)\s+(?:\w+\s+)?|a\s+)"
    r"(?P<date>(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2]))?)\b",
    re.IGNORECASE,
)
MADE_OF_DATES = regex(r"(?:19|20)\d\d(?P<month>-(?:0[1-9]|1[0-2]))?")

CREATE, MOVE, PACK = "manage-files.create", "manage-files.move", "archive-files.pack"
LOOKS = (LIST, "search-files.search", "search-files.find", "manage-files.get_metadata", "analyze-directory.report")
LISTED = (LIST, MOVE)
SHOWN = listed("list find howmany whatis summary parse explain inside")
"""What asks for a look."""


def outright(story: Story) -> Iterator[Deed]:
    """What goes into a folder or an archive that gets its name, or into one for each year: nothing says more. Not where
    files are chosen by what they say, which is heard as of a story without that (`inside`).
    """
    if inside.said(story):
        return
    if packing.spoken(story):
        yield from packing.heard(story)
    elif not (_asks(story) or _only_clears(story)):
        found = _in_pairs(story) or _by_date(story) or _for_each(story) or _into_several(story) or _into_new(story)
        yield from (found,) if found is not None else ()


def heard(story: Story) -> Iterator[Deed]:
    """The same, and what clearly goes into a folder that is there."""
    yield from outright(story)
    if not inside.said(story) and _puts_somewhere(story) and (found := _into_old(story, clearly=True)) is not None:
        yield found


def home(story: Story) -> Iterator[Deed]:
    """What goes into a folder that is there."""
    if _puts_somewhere(story) and (found := _into_old(story, clearly=False)) is not None:
        yield found


def _puts_somewhere(story: Story) -> bool:
    return not (packing.spoken(story) or _asks(story) or _only_clears(story))


def _only_clears(story: Story) -> bool:
    """ "Delete the txt files in Docs", which is where they are, and "delete the folder New folder"."""
    named = {word for _, by in story.places for word in by}
    words = [word for word in story.words if word not in named]
    puts = any(word.folded in PUTTING - {"file"} or not {*word.concepts}.isdisjoint(DEEDS) for word in words)
    return any("remove" in word.concepts for word in words) and not puts


def fuller(story: Story, calls: Sequence[Call], files: Sequence[str]) -> Deed | None:
    """The deed, where what was understood by the word leaves a part of it out: only the folder is made, it is made
    elsewhere, it has but a part of its name, others go along, or all was taken for a look.
    """
    if not story.says(*SHOWN) and (cleared := clearing.fuller(story, calls, files)) is not None:
        return cleared
    deed = next(heard(story), None)
    changes = [(tool, args) for tool, args in calls if tool not in LOOKS]
    if deed is not None and (pairs(story) or Each(story).told()) and _goals(deed.calls) != _goals(calls):
        return deed
    if deed is None or len(changes) > 1 or len(deed.calls) != len(LISTED):
        return None
    goal = str(deed.calls[-1][1].get("target", ""))
    if not changes:
        return None if story.says(*SHOWN) else deed
    tool, args = changes[0]
    if tool == CREATE:
        made = str(args.get("name", ""))
        return deed if _puts(story) and goal == below(str(args.get("path", ".")), made) else None
    if tool == PACK and deed.calls[-1][0] == PACK:
        return deed if _longer(str(deed.calls[-1][1].get("archive", "")), str(args.get("archive", ""))) else None
    if tool != MOVE or deed.calls[-1][0] != MOVE:
        return None
    fewer = _fewer(deed, files) and not _lacks_a_kind(story, deed, files)
    differs = fewer or (EVERYWHERE.search(story.text) is not None and _more(deed, files))
    return deed if differs or _leaves_out(story, str(args.get("target", "")), goal) else None


def _goals(calls: Sequence[Call]) -> set[str]:
    """The folders that anything goes into."""
    return {str(args["target"]) for _, args in calls if "target" in args}


def the_same(story: Story, calls: Sequence[Call]) -> bool:
    """Is the deed what was understood already of files and folders by their names, with something else left over?"""
    deed = next(heard(story), None)
    if deed is None or not calls or calls[-1][0] != deed.calls[-1][0]:
        return False
    if "archive" not in calls[-1][1] and called.archives(story.text):
        return False
    told = next((args[name] for _, args in calls[-1:] for name in ("paths", "source") if name in args), ())
    paths = told if isinstance(told, list | tuple) else ()
    files = {path for one in paths for path in (story.ground.below(str(one)) or (str(one),))}
    return bool(files) and {escaped(path) for path in files} == {*deed.calls[0][1].get("include", ())}


def _leaves_out(story: Story, target: str, goal: str) -> bool:
    """Was a part of the name lost, or in which folder it is to be?"""
    above, _, name = goal.rpartition("/")
    said = target.rpartition("/")[2]
    place = next((place for place in whereto.new(story) if place.name == name), None)
    if place is None or target == goal:
        return False
    if name != said:
        return name.startswith(f"{said} ")
    return whereto.said_above(story, place, whereto.there(story, place.spans)) == above != target.rpartition("/")[0]


def _longer(archive: str, told: str) -> bool:
    """Has the archive's name a word more than was understood?"""
    return archive.rpartition(".")[0].startswith(f"{told.rpartition('/')[2].rpartition('.')[0]} ")


def _fewer(deed: Deed, files: Sequence[str]) -> bool:
    held = {str(one) for one in deed.calls[0][1].get("include", ())}
    return bool(files) and held < {escaped(path) for path in files}


def _lacks_a_kind(story: Story, deed: Deed, files: Sequence[str]) -> bool:
    """Does it leave out all files of a kind that is told of?"""
    held = {str(one) for one in deed.calls[0][1].get("include", ())}
    kinds = (story.having(word, files) for word in story.words if not {*word.concepts}.isdisjoint(KINDS))
    return any(told and held.isdisjoint(map(escaped, told)) for told in kinds)


def _more(deed: Deed, files: Sequence[str]) -> bool:
    held = {str(one) for one in deed.calls[0][1].get("include", ())}
    return bool(files) and {escaped(path) for path in files} < held


def _asks(story: Story) -> bool:
    return ASKED.match(story.text) is not None and not story.says(*DEEDS)


def _puts(story: Story) -> bool:
    return story.says("move", "copy", "organize") or any(word.folded in PUTTING for word in story.words)


def _into_new(story: Story) -> Deed | None:
    """One folder that is made."""
    kept, older = _stays_of_a_time(story)
    if kept:
        deed = _into_new(replace(story, text=kept)) if older else None
        return deed.bounded(modified_before=older) if deed is not None else None
    places = list(whereto.new(story)) or (whereto.capital(story) if _puts(story) else [])
    for place in places:
        beside = (*(span for each in places for span in each.spans), *_like_it(story, place))
        named = whereto.there(story, beside)
        some = _files(story, place, named, beside)
        some = replace(some, files=versions.without_last(story, some.files)) if some is not None else None
        if some is not None and some.files:
            return _put(story, some, place.folder or below(whereto.above(story, place, named, some.files), place.name))
    return None if places else _into_their_own(story)


def _stays_of_a_time(story: Story) -> tuple[str, str]:
    """ "Only that of June stays, the older ones into a folder Old": the story without what is to stay, and before when
    the others are; nothing where it says no time of what stays.
    """
    stays = [part for part in parts(story.text) if part.stance is Stance.STAY]
    times = [one for one in story.times if any(part.start <= one.start < part.end for part in stays)]
    if not times or not versions.OLD_ONES.search(story.text):
        return "", ""
    text = story.text
    for part in stays:
        if any(part.start <= one.start < part.end for one in times):
            text = f"{text[: part.start]}{' ' * (part.end - part.start)}{text[part.end :]}"
    return text, str(times[0].filters.get("modified_after", ""))


def _like_it(story: Story, place: Place) -> list[Span]:
    """Where another year's folder is spoken of, beside this year's."""
    if not whereto.is_year(place.name):
        return []
    likes = (by for folder, by in story.places if whereto.is_year(folder.rpartition("/")[2]))
    return [(word.start, word.end) for by in likes for word in by]


def _files(story: Story, place: Place, named: Sequence[Named], beside: tuple[Span, ...]) -> Some | None:
    parent = whereto.said_above(story, place, named)
    but = place.folder or (below(parent, place.name) if parent else None)
    choosing = Choosing(story, beside, place.start, tuple(named), but)
    if (some := choosing.files(title=place.name)) is not None:
        return some
    files = choosing.said_of(place.name, story.ground.files) or choosing.said_of(place.name, story.ground.paths or ())
    return Some(tuple(files)) if files else None


def _into_their_own(story: Story) -> Deed | None:
    """ "The tickets want a folder of their own": called as they are. "Each song in its own folder" is several."""
    own = whereto.APART.search(story.text) if EACH_OF.search(story.text) is None else None
    named = whereto.there(story)
    some = Choosing(story, at=own.start(), named=named).files(whole=False) if own else None
    if some is None or len({word.folded for word in some.words}) != 1:
        return None
    name, at = some.words[0].text, some.words[0].end
    home = whereto.above(story, Place(name, at, ((at, at),)), named, some.files)
    return _put(story, some, below(home, f"{name[:1].upper()}{name[1:]}"))


def _into_old(story: Story, *, clearly: bool) -> Deed | None:
    """A folder that is there, for what is elsewhere; where it is not clear that something goes there, and what is said
    is as true of what it holds, it is only where that is.
    """
    named = whereto.there(story)
    for folder, by in whereto.goal(story, named) if _puts(story) else ():
        if clearly is not whereto.clearly(story, by):
            continue
        beside = tuple((word.start, word.end) for word in by)
        rest = tuple(one for one in named if one[0] != folder)
        some = Choosing(story, beside, by[0].start, rest, folder).files(whole=False) or _called_like(story, folder)
        inside = Choosing(story, beside, by[0].start, ((folder, by),)).files(whole=False, wide=False)
        if some is not None and (clearly or inside is None or len(inside.words) < len(some.words)):
            return _put(story, some, folder)
    return None


def _called_like(story: Story, folder: str) -> Some | None:
    """What has the folder's own name: "everything with his name on it"."""
    outside = [path for path in story.ground.paths or () if not path.startswith(f"{folder}/")]
    files = Choosing(story).said_of(folder.rpartition("/")[2], outside)
    return Some(tuple(files)) if files else None


def _into_several(story: Story) -> Deed | None:
    """Of several folders each takes what is called like it."""
    places = _several(story)
    beside = tuple(span for place in places for span in place.spans)
    named = whereto.there(story, (*beside, *(span for place in whereto.each(story) for span in place.spans)))
    each = [(place, _called_by(story, place, named)) for place in places]
    told = [(place, files) for place, files in each if files]
    if len(told) < 2:
        told = _told_before(story)
    if len(told) < 2:
        return None
    all_of_them = [path for _, files in told for path in files]
    deeds = [
        _put(
            story,
            Some(tuple(path for path in files if all_of_them.count(path) == 1)),
            place.folder or below(whereto.above(story, place, named, all_of_them), place.name),
        )
        for place, files in told
    ]
    return reduce(Deed.then, deeds)


def _for_each(story: Story) -> Deed | None:
    """A folder for each of several."""
    told = Each(story).told()
    every = [path for _, files in told for path in files]
    homes = [(_home(story, name, every), files) for name, files in told]
    return reduce(Deed.then, (_put(story, Some(tuple(files)), home) for home, files in homes)) if homes else None


def _home(story: Story, name: str, files: Sequence[str]) -> str:
    """The folder of this name, or where it is made."""
    tops = {fold(folder): folder for folder in story.ground.folders}
    if name in story.folders or fold(name) in tops:
        return tops.get(fold(name), name)
    title, at = f"{name[:1].upper()}{name[1:]}", len(story.text)
    return below(whereto.above(story, Place(title, at, ((at, at),)), whereto.there(story), files), title)


def _in_pairs(story: Story) -> Deed | None:
    """Each sort to its own folder."""
    told = [(_home(story, folder, files), Some(tuple(files))) for folder, files in pairs(story)]
    return reduce(Deed.then, (_put(story, some, folder) for folder, some in told)) if told else None


def _told_before(story: Story) -> list[tuple[Place, list[str]]]:
    """ "The images in Images and the videos in Videos": each takes what is told right before it."""
    places = whereto.each(story)
    beside = tuple(span for place in places for span in place.spans)
    choosing = Choosing(story, beside, named=whereto.there(story, beside))
    ends = [0, *(place.spans[0][1] for place in places)]
    told = [(place, choosing.said_in(end, place.start)) for end, place in zip(ends, places, strict=False)]
    every = [path for _, files in told for path in files]
    return told if all(files for _, files in told) and len({*every}) == len(every) else []


def _several(story: Story) -> list[Place]:
    listed_ = [Place(one.name, one.start, (one.span,)) for one in called.together(story.text)]
    return listed_ if len(listed_) > 1 else list(whereto.new(story))


def _called_by(story: Story, place: Place, named: Sequence[Named]) -> list[str]:
    choosing = Choosing(story)
    homes = [story.ground.within(folder) for folder, _ in named]
    scopes = (*homes, story.ground.files, story.ground.paths or ())
    return next((files for held in scopes if (files := choosing.said_of(place.name, held))), [])


def _by_date(story: Story) -> Deed | None:
    """A folder for each year or month."""
    unit, at = _unit(story)
    if unit is None:
        return None
    dates = tuple(found.span() for found in MADE_OF_DATES.finditer(story.text))
    named = whereto.there(story, dates)
    beside = (*dates, *((one.start, one.end) for one in story.times))
    titled = [place for place in whereto.new(story) if not whereto.is_year(place.name)]
    beside = (*beside, *(span for place in titled for span in place.spans))
    choosing = Choosing(story, beside, at, named)
    some = choosing.files(wide=False) or (choosing.files() if titled else _all_here(story))
    some = _of_that_time(story, some) if some is not None else None
    if some is None:
        return None
    by_name = all(_tells(path, unit) for path in some.files)
    homes = {path.rpartition("/")[0] or "." for path in some.files}
    target = homes.pop() if len(homes) == 1 else "."
    if titled:
        place = titled[0]
        target = place.folder or below(whereto.above(story, place, named, some.files), place.name)
    return sort(some, f"name_{unit}" if by_name and BY_CHANGE.search(story.text) is None else unit, target)


def _of_that_time(story: Story, some: Some) -> Some | None:
    """ "Everything from before 2024, a folder for each year": by the year in the names, where most have one."""
    bound = Bounds(
        (), tuple(one for one in story.times if not BARE.fullmatch(story.text[one.start : one.end])), story.text
    )
    files, left = tuple(bound.within(some.files)), bound.left(some.files)
    return replace(some, files=files, times=left) if files and left is not None else None


def _unit(story: Story) -> tuple[str | None, int]:
    """`year` or `month`, and where it is said."""
    for found in BY_DATE.finditer(story.text):
        if NOT_BEFORE.search(story.text[: found.start()]) or NOT_AFTER.match(story.text[found.end() :]):
            continue
        sentence = _sentence(story.text, found.start())
        if found["by"] or found["years"] or found["months"] or SORTS.search(sentence):
            return "month" if found["month"] or found["months"] else "year", found.start()
    places = [place for place in _several(story) if whereto.is_year(place.name)]
    into = {found["date"]: found.start() for found in INTO_DATES.finditer(story.text)}
    if places and not all(place.folder for place in places) and len({*into, *(place.name for place in places)}) > 1:
        return "month" if "-" in places[0].name else "year", places[0].start
    return None, 0


def _all_here(story: Story) -> Some | None:
    """Where no folder is spoken of, all that is here."""
    return Some(story.ground.files) if story.says("all") and story.ground.files else None


def _tells(path: str, unit: str) -> bool:
    told = date_in(path.rpartition("/")[2])
    return told is not None and (unit == "year" or told[1] is not None)


def _sentence(text: str, at: int) -> str:
    start = max(text.rfind(end, 0, at) for end in ".!?\n")
    ends = [end for end in (text.find(one, at) for one in ".!?\n") if end >= 0]
    return text[start + 1 : min(ends, default=len(text))]


def _put(story: Story, some: Some, folder: str) -> Deed:
    if COPIES.search(story.text):
        return on(some, "manage-files.copy", "source", target=folder)
    return move(some, folder)
