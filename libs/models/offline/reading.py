"""Reading a request: names are set apart from words, and the words are cut into clauses that each ask, forbid or
spare something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest

from libs.models.offline import contents, courtesy
from libs.models.offline.archives import into_archive, is_archive, without_straight
from libs.models.offline.clauses import ACTIONS, AND, BUT, KINDS, OR, Clause, Item, Measure, Mood, Name, Named, Reading
from libs.models.offline.conditions import put_aside
from libs.models.offline.coordination import apart
from libs.models.offline.copying import copying, with_backups
from libs.models.offline.depth import without_depth
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.idioms import plainly
from libs.models.offline.measures import Measured, measured
from libs.models.offline.moods import all_but, corrected, mooded, negated, selects
from libs.models.offline.naming import beside, known_as, masked, names, told_by_name
from libs.models.offline.nesting import nested
from libs.models.offline.repairs import repaired
from libs.models.offline.styling import each_text, of_names, with_years, without_example
from libs.models.offline.telling import CONDITIONS, said_in
from libs.models.offline.veils import veiled
from libs.models.offline.verbs import reunited, swapping, verbal
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, language_of, words

SPLITTING_NOT = frozenset(("not", "don_t", "dont", "do_not", "never", "without", "ohne", "sin", "neither"))


ENTRY = "\x1e"
"""Stands before each entry of a list in the request's text."""
BULLETS = regex(r"(?:^|(?<=\n))[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+")
NUMBERED = regex(r"(?:^|(?<=\s))\(?\d{1,2}\)\s+")
ARROW = regex(r"\s(?:->|=>|→|-->)(?=\s)")
""" "PDFs -> Docs"."""


def read(text: str, known: Sequence[str] = (), *, now: datetime | None = None) -> Reading:
    """Read a request. `known` are names that exist in the workspace; said exactly so, they are names here too.
    Without a `now`, sizes and times stay words.
    """
    return _read(text, tuple(known), now)


@lru_cache(maxsize=64)
def _read(text: str, known: tuple[str, ...], now: datetime | None) -> Reading:
    """One request is read by the planner, by each reply's meanings and by the critic."""
    whole = ARROW.sub(
        lambda found: f" {'to':<{len(found.group()) - 1}}" if len(found.group()) > 2 else found.group(), text
    )
    inside = contents.bounding(whole, known) if now else ()
    text = contents.without(whole, inside)
    hidden, veils = veiled(without_example(without_straight(without_depth(text))), known)
    listed_apart, torn = repaired(enumerated(plainly(hidden, known)), known, veils)
    listed_apart, named = beside(listed_apart, names(listed_apart, known, veils))
    plain = masked(listed_apart, named)
    language = language_of(plain)
    plain, told = courtesy.parted(plain, known, language)
    measures = [_measure(text, one) for one in (measured(plain, now) if now else ())]
    measures += [_measure(whole, Measured(one.start, one.end, one.filters)) for one in inside]
    plain = masked(plain, measures)
    read_words = told_by_name([said_in(language, _unslipped(word, known)) for word in words(plain)], known)
    said = [known_as(word, known, after=after) for word, after in zip_longest(read_words, read_words[1:])]
    items = nested(sorted((*said, *named, *measures), key=lambda item: item.start), _folders(known))
    items = with_backups(reunited(items, plain))
    certain, whether = put_aside(list(_parts(items, plain)), text, words_of(known))
    said_for = [part for part in certain if not _reason(part)]
    said_for[:1] = [replace(part, joined="") if part.joined == "but" else part for part in said_for[:1]]  # of nothing
    parts = corrected(negated(all_but([_told(copying(verbal(part)), told, known) for part in said_for])))
    parts = [part for part in parts if part.items]
    gathered = _without_archives_kept(_returned(list(_gathered(parts))))
    clauses = tuple(
        of_names(with_years(each)) for clause in gathered for one in apart(clause) for each in each_text(swapping(one))
    )
    said_plainly = veils.off(listed_apart)
    return Reading(whole, language, clauses, asked=plain, torn=torn, whether=whether, plain=said_plainly)


def _without_archives_kept(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """ "Unpack a.zip. And leave the zip where it is": it stays anyway."""
    if not any(clause.mood is Mood.DO and clause.says("unpack") for clause in clauses):
        return clauses
    return [clause for clause in clauses if not (clause.says("archives") and _only_keeps(clause))]


def _only_keeps(clause: Clause) -> bool:
    said = {concept for word in clause.words for concept in word.concepts or ("", *(() if word.filler else ("=",)))}
    return clause.says("keep", "untouched") and said <= KEPT_AS_IT_IS and not clause.names


KEPT_AS_IT_IS = frozenset(("keep", "untouched", "archives", "file", "here", ""))


def _folders(known: Sequence[str]) -> frozenset[str]:
    """What is at the top and may be a folder, and those above the files that are known."""
    names = (name.rstrip("/") for name in known)
    return frozenset(
        fold(name.rpartition("/")[0] if "/" in name else name) for name in names if "/" in name or "." not in name
    )


def enumerated(text: str) -> str:
    """With its bullets and numbers as marks: what they lead is a wish for each."""
    for pattern in (BULLETS, NUMBERED):
        if len(pattern.findall(text)) > 1:
            return pattern.sub(lambda found: f"{ENTRY:<{len(found.group())}}", text)
    return text


def _told(part: Clause, spans: Sequence[tuple[int, int]], known: Sequence[str]) -> Clause:
    """A part that tells something keeps only the files that it speaks of; any other gets the mood of its words."""
    if not any(start <= part.items[0].start and part.items[-1].end <= end for start, end in spans):
        return _sparing(mooded(part), known)
    tokens = words_of(tuple(known))
    items = [_so_called(one, before) for one, before in zip(part.items, (None, *part.items), strict=False)]
    things = [item for item in items if not isinstance(item, Word) or courtesy.thing(item, tokens)]
    around = {f"{folder}/" for folder in (item.text.rstrip("/") for item in things if isinstance(item, Named))}
    around &= {item.text[: item.text.rfind("/") + 1] for item in things if isinstance(item, Named)}
    things = [item for item in things if f"{item.text.rstrip('/')}/" not in around]
    often = all(isinstance(item, Word) and item.folded in OFTEN for item in things)
    return replace(part, items=() if often else tuple(things), mood=Mood.TOLD)


def _so_called(item: Item, before: Item | None) -> Item:
    """ "The file scan0009 is from the gardener": a name, though none of its name may be there."""
    noun = isinstance(before, Word) and "file" in before.concepts
    if not (noun and isinstance(item, Word) and item.unknown) or (item.text.isalpha() and item.text.islower()):
        return item
    return Named(Name.QUOTE, item.text, item.start, item.end)


OFTEN = listed("twice zweimal doppelt dos_veces")
""" "They sent it back twice" speaks of no files by itself."""


def _sparing(part: Clause, known: Sequence[str]) -> Clause:
    """ "Don't delete the invoices": some that are there are spared, and no deed is forbidden for the rest."""
    if part.mood is not Mood.NEVER:
        return part
    tokens = words_of(tuple(known))
    some = any(word.unknown and not singulars(word.folded).isdisjoint(tokens) for word in part.words)
    return replace(part, mood=Mood.SPARE) if some else part


def _unslipped(word: Word, known: Sequence[str]) -> Word:
    """A word of a name that is there is no slip, whatever it looks like, and in the name's capitals no deed."""
    if _in_capitals(word, known):
        return replace(word, concepts=(), filler=False)
    if not word.slip or singulars(word.folded).isdisjoint(words_of(tuple(known))):
        return word
    return replace(word, concepts=(), filler=False, slip=False)


def _in_capitals(word: Word, known: Sequence[str]) -> bool:
    """ "LS", where files are called LS_Jan and ls_Feb is none of them."""
    if not (len(word.text) > 1 and word.text.isupper() and {*word.concepts} & ACTIONS) or extension_of(word.folded):
        return False
    alone = re.compile(rf"(?<![^\W\d_]){re.escape(word.text)}(?![^\W\d_])")
    return any(alone.search(name) and not name.isupper() for name in known)


def _measure(text: str, one: Measured) -> Measure:
    return Measure(text[one.start : one.end], "<measure>", one.start, one.end, filler=True, filters=one.filters)


def _parts(items: Sequence[Item], text: str) -> Iterator[Clause]:
    """Cut at punctuation, at `and`, `or`, `then`, and before `except` and `without`."""
    held: list[Item] = []
    joined, end = "", 0
    for item in items:
        stop = _stop(text[end : item.start]) if held else ""
        said = item.folded if isinstance(item, Word) else ""
        link = _link(said)
        modal = bool(held) and isinstance(held[-1], Word) and held[-1].folded in MODALS
        depends = any(isinstance(one, Word) and one.folded in CONDITIONS for one in held)
        cuts = stop or link or (_cuts(item) and not ((modal or depends) and said in SPLITTING_NOT))
        if cuts and held:
            yield _part(held, joined)
            held = []
        if cuts:
            joined = link or stop or "and"
        if not link:
            held.append(item)
        end = item.end
    if held:
        yield _part(held, joined)


MODALS = listed("must should may can shall will could might")
""" "Those must never be deleted": the subject of what is forbidden stands before."""


def _part(items: Sequence[Item], joined: str) -> Clause:
    start = frozenset((items[0].start,))
    return Clause(tuple(items), joined=joined, links=start, ors=start if joined == "or" else frozenset())


def _reason(part: Clause) -> bool:
    """ "Because I'm still using it" asks for nothing."""
    return isinstance(part.items[0], Word) and "because" in part.items[0].concepts


def _link(said: str) -> str:
    joints = (("and", AND), ("or", OR), ("but", BUT))
    return next((link for link, spoken in joints if said in spoken), "")


def _stop(between: str) -> str:
    if ENTRY in between:
        return ENTRY
    if re.search(r"[.;:!?\n]|\s[-–—]+\s", between):
        return "."
    return "," if re.search(r"[,()]", between) else "and" if "&" in between or "+" in between else ""


def _cuts(item: Item) -> bool:
    if not isinstance(item, Word):
        return False
    return (
        "because" in item.concepts
        or "except" in item.concepts
        or "then" in item.concepts
        or item.folded in SPLITTING_NOT
    )


def _gathered(parts: Sequence[Clause]) -> Iterator[Clause]:
    """Put parts that ask nothing by themselves to the one before: "from Photos, and Music". The first goes to the
    next.
    """
    held: Clause | None = None
    for part in parts:
        together = held and part.joined != ENTRY and _together(held, part)
        if held and together:
            held = together
            continue
        if held:
            yield held
            if part.mood is held.mood is Mood.DO and part.joined != ENTRY and _goes_elsewhere(held, part):
                part = replace(part, items=(*(item for item in held.items if _moves(item)), *part.items))
        held = part
    if held is not None:
        yield held


def _together(held: Clause, part: Clause) -> Clause | None:
    """Both as one clause, where one of them asks nothing by itself."""
    if part.mood is Mood.SPARE and _the_others(held):
        return replace(held.joins(part), mood=Mood.SPARE)
    if held.mood is Mood.TOLD and (_goes_on_telling(part) or _as_what(part)):
        return held.joins(replace(part, mood=Mood.TOLD))
    if part.mood is Mood.DO and not _stands(part) and held.mood is Mood.SPARE:
        return None if part.joined == "." and _idle(part) else held.joins(part)
    if part.mood is not held.mood:
        return None
    if part.joined == "," and _relative(part):
        return replace(held.joins(part), links=held.links)
    if _idle(held) and (part.joined == "." or (part.joined == "," and _imperative(part))):
        return None
    if _stands(part):
        if _copies_too(held, part):
            return held.joins(part)
        if _copies_first(held, part):
            return replace(held.joins(part), joined=held.joined)
        apart = _stands(held) or (sends(held) and (selects(part) or _begins_anew(part)))
        return None if apart else replace(held.joins(part), joined=held.joined)
    renames = held.says("rename") and not sends(held) and bool(held.names and part.names)
    if sends(part) and not renames and (sends(held) or held.says(*OBJECT_ALONE)):
        return None
    if part.joined != ".":
        return held.joins(part)
    if _the_others(part):
        return None
    return None if _stands(held) or sends(held) else replace(held.joins(part), joined=held.joined)


def _copies_too(held: Clause, part: Clause) -> bool:
    """ "Delete the temporary files and the duplicates": those as well."""
    listed_on = part.joined in ("and", ",") and not _acts(part) and not part.says("keep", "only")
    return listed_on and held.says("remove", "clean") and not held.says("duplicate") and part.says("duplicate")


def _copies_first(held: Clause, part: Clause) -> bool:
    """ "The duplicates and the setup file can go": both."""
    bare = held.says("duplicate") and not _acts(held) and not held.says("keep", "only")
    return bare and part.joined in ("and", ",") and part.says("remove", "clean") and not _imperative(part)


def _idle(part: Clause) -> bool:
    """Talk: nothing in it could choose a file, ask for a deed, or limit one."""
    if part.names or part.filters or part.mood is not Mood.DO or sends(part):
        return False
    limited = any(word.folded in CONDITIONS for word in part.words)
    chosen = any(extension_of(word.folded) for word in part.words)
    talks = (sum(word.unknown for word in part.words) > 0 and len(part.words) > 1) or part.says("junk")
    return talks and not limited and not chosen and part.concepts <= IDLE


IDLE = listed("here same greeting because first then age junk")


def _begins_anew(part: Clause) -> bool:
    first = part.items[0]
    return isinstance(first, Word) and "then" in first.concepts


def _imperative(part: Clause) -> bool:
    """Does it begin with its deed?"""
    first = next((word for word in part.words if not word.filler), None)
    return first is not None and bool({*first.concepts} & ACTIONS - {"foreign", "greeting", "whatis"})


def _the_others(part: Clause) -> bool:
    """ "Everything else", "the rest": what nothing is done with."""
    others = any(word.folded in OTHERS for word in part.words)
    return others and not part.names and all(word.filler or {*word.concepts} <= {"all", "file"} for word in part.words)


OTHERS = listed("else rest others resto demas andere anderen ubrige ubrigen")


OBJECT_ALONE = listed("remove rename list find report")
"""Deeds that lead nowhere: what goes somewhere after them is a wish of its own."""


def _goes_on_telling(part: Clause) -> bool:
    """ "…, setup.exe and games.exe": more of what was told of."""
    if part.joined == ".":
        return False
    leads = any(_leads_somewhere(part.items, n) for n in range(len(part.items)))
    return part.mood is Mood.TOLD or (part.mood is Mood.DO and not _stands(part) and _only_names(part) and not leads)


def _as_what(part: Clause) -> bool:
    """ "He sent his pictures, as a zip": how, and nothing that is to be done."""
    first = part.items[0]
    leads = part.joined == "," and isinstance(first, Word) and first.folded in ("as", "als", "como")
    return leads and not part.names and not part.acts


def _only_names(part: Clause) -> bool:
    return bool(part.names) and all(word.filler for word in part.words)


def _relative(part: Clause) -> bool:
    """ "…, was doppelt ist": the end of what came before."""
    first = part.items[0]
    return isinstance(first, Word) and first.folded in ("was", "that", "which", "que", "die") and not part.acts


def _moves(item: Item) -> bool:
    return isinstance(item, Word) and bool({"move", "copy", "rename"} & {*item.concepts})


def _goes_elsewhere(held: Clause, part: Clause) -> bool:
    """ "Move zips to Packed and exes to Setups": the same done to others, with another end."""
    return held.says("move", "copy", "rename") and not _stands(part) and sends(held) and sends(part)


def sends(part: Clause) -> bool:
    """Does it say what goes where? "Zips to Packed" asks for something without a verb."""
    ends = [n for n in range(1, len(part.items)) if _end(part.items, n)]
    things = part.items[: ends[0]] if ends else ()
    to_archive = part.mood is Mood.DO and into_archive(part) and bool(part.items)
    return to_archive or any(isinstance(item, Named) or item.unknown or _chooses(item) for item in things)


def _chooses(item: Word) -> bool:
    return bool({"file", "folder", "all", *KINDS} & {*item.concepts}) or extension_of(item.folded) is not None


def _end(items: Sequence[Item], at: int) -> bool:
    """Does where something goes begin here? "In" leads there with a folder: "in den Ordner X"."""
    item = items[at]
    if not isinstance(item, Word) or at + 1 == len(items):
        return False
    after = items[at + 1 : at + 3]
    folder = any(isinstance(other, Word) and "folder" in other.concepts for other in after)
    return item.folded in ("to", "into", "nach", "a", "al", "onto") or (item.folded in ("in", "en", "im") and folder)


def _returned(clauses: list[Clause]) -> list[Clause]:
    """Where something goes belongs to what is moved: in "move all but a.png into Photos" the end is the beginning's."""
    for at in range(1, len(clauses)):
        wish = next((n for n in range(at - 1, -1, -1) if clauses[n].mood is not Mood.SPARE), 0)
        main, spare = clauses[wish], clauses[at]
        leads = main.mood is Mood.DO and main.says("move", "copy", "pack", "organize")
        if spare.mood is not Mood.SPARE or not leads:
            continue
        cut = next((n for n in range(1, len(spare.items)) if _leads_somewhere(spare.items, n)), None)
        if (
            cut is not None
            and not _acts(_part(spare.items[cut:], ""))
            and not any(_end(main.items, n) for n in range(1, len(main.items)))
        ):
            clauses[wish] = main.joins(replace(spare, items=spare.items[cut:]))
            clauses[at] = replace(spare, items=spare.items[:cut])
    return clauses


TOWARDS = listed("to into onto nach in en a al im ins")


def _leads_somewhere(items: Sequence[Item], at: int) -> bool:
    """But not after a "not": "not to Docs" says where nothing goes."""
    item, before = items[at], items[at - 1] if at else None
    denied = isinstance(before, Word) and bool({"not", "except"} & {*before.concepts})
    if not isinstance(item, Word) or at + 1 == len(items):
        return False
    called = "name" in item.concepts and item.folded.startswith(("called", "named", "namens", "llamad"))
    after = items[at + 1]
    packed = item.folded in ("as", "als", "como") and isinstance(after, Named) and is_archive(after.text)
    return called or packed or (item.folded in TOWARDS and not denied)


def _stands(part: Clause) -> bool:
    return _acts(part) or part.says("duplicate") or part.mood is not Mood.DO or _asks_size(part)


def _acts(part: Clause) -> bool:
    """The "new" of "into a new folder" is no deed."""
    deeds = [n for n, item in enumerate(part.items) if isinstance(item, Word) and ACTIONS & {*item.concepts}]
    return any(not _of_a_place(part.items, n) for n in deeds)


def _of_a_place(items: Sequence[Item], at: int) -> bool:
    """ "To a new folder", "a una carpeta nueva"."""
    near = [item for item in items[max(at - 3, 0) : at + 2] if isinstance(item, Word)]
    led = any(word.folded in LEADING_TO for word in near)
    return any(word.folded in NEW for word in near) and led and any("folder" in word.concepts for word in near)


LEADING_TO = listed("to into in nach a en al")
NEW = listed("new neuen neues nueva nuevo")


def _asks_size(part: Clause) -> bool:
    """ "How big is a.mp4": a wish, though its word is no verb."""
    how = any("size" in word.concepts and word.folded.startswith(HOW) for word in part.words)
    return how and bool(part.names)


HOW = ("how_", "wie_", "cuanto_", "was_wieg")
