"""Deleting in a story: "them NORM clips are nowt just motorway so bin em, keep the EMER ones".

Nothing is offered but where it is said that something is to go. Of what is to go, what is to stay is taken off; where
that leaves nothing, or nobody said which files, nothing is offered at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.models.offline.gist import bounds, cues, doubling, litter, versions
from libs.models.offline.gist.bearing import Bearing, Item, Sort, shared, together
from libs.models.offline.gist.bounds import Bounds
from libs.models.offline.gist.deeds import LIST, NODES, Deed, delete
from libs.models.offline.gist.hollow import EMPTY, emptied, hollow, without
from libs.models.offline.gist.stances import Part, Stance, parts, spoken
from libs.models.offline.gist.staying import fellows, left_of, only_kept, ruled_out, spares_unknown
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.looking import CAN_GO
from libs.models.offline.measures import Measured
from libs.models.offline.selection import escaped
from libs.models.ports import Call
from libs.retrieval.regexes import regex
from libs.skills import selected

DELETE, SCAN, UNDOUBLE = "manage-files.delete", "remove-duplicates.scan", "remove-duplicates.remove"
LOOKS = (LIST, "manage-files.get_metadata", "remove-duplicates.scan", "analyze-directory.report")
OTHER_DEEDS = regex(
    r"(?<!\w)(?:re-?nam(?:e|es|ing)|umbenenn\w*|umzubenennen|renombr\w*|zip (?:up|them|it|those|the|all|everything)"
    r"|(?<!the )(?<!all )(?<!my )(?<!these )(?<!those )zip (?!files?|archives?|can|from|is|are|ones?|that|which)\w+"
    r"|zippe?n?|unzip\w*|compress\w*|entpack\w*|archivier\w*|comprim\w*|descomprim\w*"
    r"|(?:a|an|one|in|into|un|una|eine?|einem|einen|nen|ne|als|to|as) (?:\w+ )?zip|\w+\.zip"
    r"|move(?! on)|verschieb\w*|muev\w*|mover)(?!\w)"
    r"|(?<!\w)(?:from|out of|off|aus|von|vom|de|del|a) (?:(?!with|having|have|mit|con|que)[\w']+ ){0,6}?"
    r"(?:names?|namen|dateinamen|nombres?)(?!\w)"
    r"|(?<!\w)(?:remove|take out|delete|drop|lose|strip|cut|quit\w*|borr\w*|saca\w*|losch\w*|entfern\w*) "
    r"(?:the |that |this |la |esa |las |das |dieses |all |those )*"
    r"(?:words?|palabras?|wort|bits?|parts?|numbers?|prefix|date|text)(?!\w)"
    r"|(?<!\w)(?:word|palabra|wort|bit) (?:out|off|away|raus|weg|fuera)(?!\w)"
    r"|(?<!\w)(?:in|im|en) (?:the |their |its |all |el |los |den )*(?:names?|namen|nombres?)(?!\w).{0,40}?"
    r"(?<!\w)(?:(?:it|this|that|das|es) (?:out|off|away|raus|weg)|(?:quit|sac)al[oa]|drop it|lose it)(?!\w)"
    r"|(?<!\w)(?:only|just|nur|solo) (?:keep |con |mit |noch )?(?:the date|la fecha|das datum|dem datum)(?!\w)"
    r"|(?<!\w)(?:underscores?|unterstrich\w*|guiones|bindestrich\w*|leerzeichen|brackets?|klammern?|parentesis)"
    r"(?!\w)"
)
"""With one of these, what is to go may be a part of a name, or is to go after something else."""
LOOSE = regex(
    r"(?<!\w)(?:loose|lying (?:about|around)|(?:rum|herum)(?:liegen\w*|liegt|fliegen\w*)|lose[nrs]?"
    r"|suelt[oa]s)(?!\w)"
)
ELSEWHERE = regex(r"(?<!\w)(?:already (?:in|there)|(?:schon|bereits) (?:in|im|da)|ya estan? en)(?!\w)")
"""What is somewhere else as well is told by what it holds, which no name does."""
TOLD_OF = regex(
    r"\b(?:is|are|lies|lying|sits|ist|sind|liegt|steht|(?:rum|herum)(?:liegt|steht|fliegt|liegen))\s+(?:[^\W\d_]+\s+){0,3}?"
    r"(?:can|could|should|kann|k[oö]nnte|soll|darf)\b",
    re.IGNORECASE,
)
OPEN = regex(
    r"(?<!\w)(?:if (?!you|u |i |we |that'?s|it'?s (?:ok|fine|possible)|possible)|unless|falls|sofern|provided"
    r"|wenn (?!du|sie|ihr|es geht|moglich|ich|wir)|si (?!puedes?|me |hicier|es tan|eres|no te|no le|quieres?|tu |fuera)"
    r"|some of|half of|a few of|einige|manche|ein paar|die halfte|algun[oa]s|unos|unas|la mitad"
    r"|(?:by|per|nach|por|pro) (?:the )?(?:month|year|date|type|size|name|monat|jahr|datum|typ|art|mes|ano|fecha|tipo)"
    r"|danach|hinterher|anschlie(?:ß|ss)end|afterwards?|after that|luego|despues)(?!\w)"
)
"""With one of these in what is said of them, which of them are to go is not plain."""
COUNT = regex(
    r"(?<!\w)(?P<count>two|three|four|five|six|both|pair of|zwei|drei|vier|funf|sechs"
    r"|beiden?|dos|tres|cuatro|cinco|seis|ambos|ambas"
    r"|[2-9])\s+(?:[\w']+\s+)?$"
)
SOME = regex(r"(?<!\w)(?:some|several|einige|manche|mehrere|algun[oa]s|vari[oa]s)\s+$")
SHORT = 6
"""Words of a request that tells no story."""
COUNTS = {
    **dict.fromkeys(("two", "both", "pair of", "zwei", "beide", "beiden", "dos", "ambos", "ambas"), 2),
    **dict.fromkeys(("three", "drei", "tres"), 3),
    **dict.fromkeys(("four", "vier", "cuatro"), 4),
    **dict.fromkeys(("five", "funf", "cinco"), 5),
    **dict.fromkeys(("six", "sechs", "seis"), 6),
}


def heard(story: Story) -> Iterator[Deed]:
    """Every clearing that the story may want."""
    bearing = Bearing(story)
    told = parts(story.text)
    if OTHER_DEEDS.search(bearing.plain) or _asks(story.text):
        return
    if (twins := doubling.heard(bearing, told)) is not None:
        yield twins
        return
    stays = together(bearing.items([part for part in told if part.stance is Stance.STAY]))
    if versions.spoken_of(story.text) and len(stays) != 1:  # else what stays is told by its name
        yield from filter(None, (versions.heard(story),))
        return
    hollows = hollow(bearing, told)
    empty = emptied(bearing, told, hollows)
    named = _named(bearing, without(told, hollows), beside=empty is not None)
    if empty is not None and named is not None:
        yield empty.then(named)
    elif (deed := empty or named) is not None:
        yield deed


def fuller(story: Story, calls: Sequence[Call], files: Sequence[str]) -> Deed | None:
    """The clearing that the story wants, where by the word it is but looked at what could go, or where a sort of what
    nobody keeps was left out of what goes.
    """
    changes = [tool for tool, _ in calls if tool not in LOOKS]
    if changes == [UNDOUBLE]:
        return _narrower(story, calls)
    once = versions.spoken_of(story.text) or cues.first(cues.ONCE, cues.plain(story.text)) is not None
    if any(tool != DELETE for tool in changes) or not (changes or once or spoken(story.text)):
        return None
    if (not changes and cues.first(cues.NEVER, cues.plain(story.text))) or (changes and story.says("here")):
        return None
    deed = next(heard(story), None)
    if deed is None or not changes:
        return deed
    known = [pattern for pattern in litter.LITTER if any(selected(path, include=[pattern]) for path in files)]
    listings = (args for tool, args in deed.calls if tool == LIST)
    going = [str(path) for args in listings for path in args.get("include", ())]
    left = [path for path in going if path not in {*map(escaped, files)} and "/" not in path]
    return deed if any(litter.only_litter([path]) and not selected(path, include=known) for path in left) else None


def _narrower(story: Story, calls: Sequence[Call]) -> Deed | None:
    """ "I have the bill from Ann twice, the double one can go", where all that is there twice was to go."""
    deed = next(heard(story), None)
    told = (*calls, *(deed.calls if deed is not None else ()))
    scans = [args for tool, args in told if tool == SCAN]
    bounded = len(scans) > 1 and "include" in scans[1] and "include" not in scans[0]
    return deed if bounded else None


def _asks(text: str) -> bool:
    """Who asks what could go wants to see it; "what is lying about here can go" asks nothing."""
    asked = (found for found in CAN_GO.finditer(text) if TOLD_OF.search(found.group()) is None)
    return any(not text[: found.start()].rstrip(" ¿¡")[-1:].strip(".!?;:\n") for found in asked)


def _named(bearing: Bearing, told: Sequence[Part], *, beside: bool) -> Deed | None:
    """Those that the words choose. `beside` others, they have to be named where it is said that they go."""
    going = [part for part in told if part.stance is Stance.GO]
    bound = bounds.of(told, bearing.story.text, bearing.story.times, bearing.numbers)
    if any(OPEN.search(bearing.plain, part.start, part.end) for part in going) or _puzzles(bearing, going):
        return None
    if spares_unknown(bearing, told) or ruled_out(bearing, told) or _otherwise_told(bearing):
        return None
    if beside and not [item for item in bearing.items(going) if not item.only(Sort.PLACE)]:
        return None
    chosen = list(_going(bearing, told, going, bound)) if going else []
    chosen = chosen or (fellows(bearing, told) if not going and only_kept(bearing, told) else [])
    rest = left_of(bearing, told, bound.within(chosen)) or _tidied(bearing, told)
    if any(LOOSE.search(bearing.plain, part.start, part.end) for part in going):
        rest = [path for path in rest if "/" not in path] if not ELSEWHERE.search(bearing.plain) else []
    times = bound.left(chosen)
    if not rest or times is None or (not times and _miscounted(bearing, going, rest)):
        return None
    return _aged(times) if len(rest) == len(bearing.held) else delete(Some(tuple(rest), times=times))


def _otherwise_told(bearing: Bearing) -> bool:
    """Is it of empty files or of twins, in words that are only nearly those?"""
    words = bearing.story.words
    slips = {concept for word in words if word.slip for concept in word.concepts}
    hollow = any("empty" in word.concepts for word in words) and EMPTY.search(bearing.plain) is None
    return "duplicate" in slips or "empty" in slips or (hollow and bearing.story.language == "en")


def _puzzles(bearing: Bearing, going: Sequence[Part]) -> bool:
    """ "Delete some PDFs", "delete the blurry photos": in so short a request no word is mere talk."""
    said = bearing.story.words
    atoms = [atom for atom in bearing.atoms if any(part.has(atom) for part in going)]
    some = any(SOME.search(bearing.plain[: atom.start]) for atom in atoms if any(p.has(atom) for p in going if p.cues))
    unknown = (word for word in said if word.unknown and any(part.has(word) for part in going))
    cued = [cue for part in going for cue in part.cues]
    known = [*((one.start, one.end) for one in (*bearing.atoms, *bearing.story.times, *bearing.numbers)), *cued]
    odd = any(not any(start < word.end and word.start < end for start, end in known) for word in unknown)
    return some or (odd and len(said) <= SHORT)


def _miscounted(bearing: Bearing, going: Sequence[Part], chosen: Sequence[str]) -> bool:
    """ "The three bills", where there are four."""
    items = [item for item in bearing.items(going) if not item.only(Sort.PLACE)]
    said = COUNT.search(bearing.plain[: items[0].atoms[0].start]) if len(items) == 1 else None
    told = said["count"] if said else ""
    return bool(told) and len(chosen) != (int(told) if told.isdigit() else COUNTS[told])


def _aged(times: Sequence[Measured]) -> Deed:
    """All files of one age or size."""
    args = {"path": ".", "recursive": True, "node_kind": "file", **Some((), times=tuple(times)).filters}
    return Deed(((LIST, args), (DELETE, {"paths": NODES.format(n=1)})))


def _going(bearing: Bearing, told: Sequence[Part], going: Sequence[Part], bound: Bounds) -> Sequence[str]:
    items = bearing.items(going)
    if any(not item.only(Sort.PLACE) for item in items):
        return _narrowed(bearing, going, _in_context(bearing, items, told))
    every = any(_all(bearing, part) for part in going)
    if items and (every or bound):
        return shared(items)
    if every and (rest := fellows(bearing, told)):
        return rest
    if before := () if every and bound else _spoken_of_before(bearing, told, going):
        return before
    return bearing.held if bound else ()


def _narrowed(bearing: Bearing, going: Sequence[Part], chosen: Sequence[str]) -> Sequence[str]:
    """ "Finch and Maddox have had their day, get rid of their drafts": what the deed names, of those it is said of."""
    of_deed = together(bearing.items([part for part in going if part.cues]))
    around = together(bearing.items([part for part in going if not part.cues]))
    both = [path for path in chosen if path in of_deed and path in around]
    return both or chosen


def _all(bearing: Bearing, part: Part) -> bool:
    said = any("all" in word.concepts for word in bearing.story.words if part.has(word))
    return said or bool(cues.spans(cues.REST, bearing.plain[part.start : part.end]))


def _in_context(bearing: Bearing, items: Sequence[Item], told: Sequence[Part]) -> Sequence[str]:
    """ "The one with the 1 can go": a mark alone is of what was spoken of."""
    chosen = together(items)
    if not all(item.only(Sort.MARK, Sort.PLACE) for item in items):
        return chosen
    others = bearing.items([part for part in told if part.stance is not Stance.GO])
    around = {path for item in others for path in item.files}
    return [path for path in chosen if path in around] or chosen


def _spoken_of_before(bearing: Bearing, told: Sequence[Part], going: Sequence[Part]) -> Sequence[str]:
    """What "them" may be: that of the nearest sentence before which names any."""
    sentences = sorted({part.sentence for part in told if part.sentence <= going[0].sentence}, reverse=True)
    for number in sentences:
        around = [part for part in told if part.sentence == number and part.start < going[0].start]
        around = [part for part in around if part.stance in (Stance.TOLD, Stance.TIDY)]
        items = [item for item in bearing.items(around) if not item.only(Sort.PLACE)]
        if items:
            return shared(items)
    return ()


def _tidied(bearing: Bearing, told: Sequence[Part]) -> list[str]:
    """Of tidying alone, and of junk that nobody names, what no one would keep."""
    if not any(part.stance in (Stance.GO, Stance.TIDY) for part in told):
        return []
    spoken = [part for part in told if part.stance is not Stance.STAY]
    items = [item for item in bearing.items(spoken) if litter.only_litter(item.files)]
    nameless = not items and litter.JUNK.search(bearing.plain) is not None
    held = [path for path in bearing.held if nameless or any(path in item.files for item in items)]
    return left_of(bearing, told, [path for path in held if litter.only_litter([path])])
