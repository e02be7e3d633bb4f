"""Looks that a story asks for: the largest, the newest, those of a time or a size, how many, which are called so, and
else a search for what is asked about.

"I have half a tin of treacle. Which of my recipes had treacle in?" wants no list of all recipes: the words that carry
the question choose, and where no name has them, what the files say is searched for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from libs.models.offline.clauses import ACTIONS
from libs.models.offline.gist import asking, periods
from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.asking import Question
from libs.models.offline.gist.deeds import LIST, Deed, search, show, twins
from libs.models.offline.gist.story import Some, Span, Story
from libs.models.offline.ground import having, singulars, words_of
from libs.models.offline.looking import SPACE, WHAT
from libs.models.offline.measures import Measured
from libs.models.offline.phrasebook import BOUNDS
from libs.models.ports import Call
from libs.retrieval.likeness import alike, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold

HOGS = regex(
    r"(?<!\w)(?:hogging|hogs?|eat(?:s|ing)\s+(?:up\s+)?(?:my|all|the)|clogging|frisst|fressen|platzfresser|(?:die|dicke[nr]?)\s+brocken"
    r"|se\s+come|comiendo)(?!\w)",
    re.IGNORECASE,
)
"""What takes the room is what is large."""
HOW_LARGE = regex(
    r"(?<!\w)(?:how\s+(?:big|large|heavy|much\s+(?:place|space|room|memory|storage))|wie\s+(?:gro(?:ß|ss)|schwer)|(?:wie\s*viel|wieviel)\s+(?:platz|speicher\w*)"
    r"|cu[aá]nto\s+(?:ocupan?|pesan?|espacio)|qu[eé]\s+tama[ñn]o)(?!\w)",
    re.IGNORECASE,
)
ORDERS = ("newest", "oldest", "largest", "smallest")
LAST = regex(
    r"(?<!\w)(?:the|my|d(?:er|ie|as|en)|mein(?:e[nr]?|s)?|el|la)\s+(?:very\s+)?(?:last|letzte[nrs]?|[uú]ltim[oa])\s+(?!week|month|year|night|time|day|few|\d|woche|monat|jahr|semana|mes|vez|año)[^\W\d_]+"
    r"(?=[^.?!]{0,30}(?<!\w)(?:i|we|ich|wir|que|he|hab|habe|made|did|saved|hice|guard\w+|sub\w+)(?!\w))",
    re.IGNORECASE,
)
""" "The last beat that I made" is the newest."""
CHANGED_LAST = regex(
    r"(?<!\w)(?:zuletzt|als\s+letztes|most\s+recently|(?:did|have|was|were)\s+(?:\w+\s+){0,2}last\s+(?:change|save|work|edit|touch|open|us)\w*"
    r"|last\s+(?:worked|saved|edited|changed|touched)|por\s+[uú]ltima\s+vez|lo\s+[uú]ltimo\s+que)(?!\w)",
    re.IGNORECASE,
)
FEW = 5
TWICE = regex(
    r"(?<!\w)(?:twice|(?:two|three|2|3)\s+times|double|zwei\s?mal|drei\s?mal|doppelt|dos\s+veces|por\s+duplicado|repetid[oa]s?)(?!\w)",
    re.IGNORECASE,
)
"""What is there so often are files of one content."""
FACT = regex(
    r"(?<!\w)(?:how\s+much\s+(?:do(?:es)?|did|is|was|has|have)\s+(?:\w+\s+){1,3}(?:owe|pay|paid|cost)"
    r"|wie\s?viel\s+(?:schulde\w*|zahl\w*|bekomm\w*|kostet\w*)|wie\s?viel\s+(?:\w+\s+){1,4}gekostet|cu[aá]nto\s+(?:me\s+|le\s+|te\s+|nos\s+)?(?:deb\w+|cobr\w+|pag\w+|cuesta\w*|cost\w+|val[ei]\w*))(?!\w)",
    re.IGNORECASE,
)
"""An amount is what a text says, whatever is called like it."""


PERSONAL = regex(
    r"(?<!\w)(?:my|our|mein\w*|unser\w*|mis?|nuestr[oa]s?)(?!\w)"
    r"|(?<!\w)(?:[dmsfh]r|mrs|ms|sra|herrn?|frau|don|doña)\.?\s+(?-i:[A-ZÄÖÜÁÉÍÓÚÑ])"
    r"|(?<!\w)(?:dr|frau|herrn?|mrs?|sra?)\.?\s+\w{3,}"
    r"|(?<!\w)(?:(?:muss|soll|sollte|darf|kann)\s+ich|wie\s+hie(?:ß|ss)|what\s+was\s+the|when\s+(?:do|must|should)\s+i|by\s+when|bis\s+wann"
    r"|(?:tengo|tenemos)\s+que|debo|c[oó]mo\s+se\s+llamaba|how\s+much\s+(?:was|were)|wie\s?viel\s+(?:war|waren)"
    r"|cu[aá]nto\s+(?:era|eran|fue|fueron)|(?:what\s+time|when)\s+(?:is|are|was|were|does|do|did)\s+(?:the|this|that|we|i|they|he|she)"
    r"|(?:wann|um\s+wie\s?viel\s+uhr)\s+(?:ist|sind|war|waren|kommt|kommen|hat|haben|muss|beginnt|f[äa]ngt)\s+(?:der|die|das|wir|ich|sie|er)"
    r"|(?:cu[aá]ndo|a\s+qu[eé]\s+hora)\s+(?:es|son|era|llega\w*|viene\w*|empieza\w*|tengo|tenemos)\s+(?:el|la|los|las|que)"
    r"|(?:who|wer|qui[eé]n)\s+(?:has|have|hasn|hat|ha|han|no|owes|still|schuldet|debe))(?!\w)"
    r"|(?<!\w)(?:appointments?|termine?|citas?|phone\s+numbers?|\w*nummer|tel[eé]fono|address|adresse|direcci[oó]n|licen[cs]e"
    r"|\w*ausweis|carnet|insurance|\w*versicherung|seguro|rent|miete|alquiler|deposit|kaution|fianza|contract|\w*vertrag|contrato"
    r"|warranty|garantie|garant[ií]a|expires?|run\s+out|l[aä]uft|abl[aä]uft|vence|caduca|due|f[aä]llig|cost|gekostet|cost[oó]"
    r"|dentist|zahnarzt|dentista|plumber|klempner|fontanero|landlord|vermieter\w*|casero)(?!\w)",
    re.IGNORECASE,
)
"""What people keep papers about: nobody asks this of the world."""
WANTS = regex(
    r"^\W*(?:(?:hi|hello|hey|hallo|hola|buenas)\W+)?(?:i\s+(?:just\s+|really\s+|only\s+)?(?:need|want|would\s+like)|i['’]d\s+like"
    r"|ich\s+(?:brauche?|bräuchte|will|möchte|hätte\s+gerne?)|(?:yo\s+)?(?:necesito|quiero|quisiera|me\s+hacen?\s+falta))\s+"
    r"(?:the|my|our|that|those|den|die|das|mein\w*|unser\w*|el|la|los|las|mis?|es[aeo]s?)\s",
    re.IGNORECASE,
)
""" "I need the letter to my landlord": whoever says no more wants to have it before them."""
LOOKS = ("manage-files.list", "search-files.find", "search-files.search", "analyze-directory.report")


def nearer(story: Story, seen: Sequence[Call]) -> Deed | None:
    """The look that the story asks for, where these calls leave out what it is about."""
    if any(tool not in LOOKS for tool, _ in seen):
        return None
    asked, deed = asking.question(story), next(heard(story), None)
    if asked is None or deed is None:
        return None
    (_, args), before = deed.calls[0], dict(pair for _, args in seen for pair in args.items())
    if before.get("node_kind") == "directory":
        return None
    (had, has), left = (_said(before), _said(args)), [word for word in asked.own if not _bears(_said(before), word)]
    more = any(_bears(has, word) for word in left)
    folder = asked.folder
    place = folder != "." and not any(folder in text for text in had)
    all_told = any(tool.endswith(".report") for tool, _ in seen) and not asked.story.times
    bounds = set() if all_told else {*args} & {"order", *BOUNDS} - {*before}
    return deed if more or place or bounds else None


def _said(args: Mapping[str, Any]) -> list[str]:
    values = (value if isinstance(value, list | tuple) else [value] for value in args.values())
    return [str(one) for held in values for one in held]


def _bears(said: Sequence[str], word: Word) -> bool:
    known = dict.fromkeys(term for text in said for term in terms(text))
    return all(alike(term, known) for term in terms(word.text))


def heard(story: Story) -> Iterator[Deed]:
    """Every look that the story may ask for, the one that says most first."""
    asked = asking.question(story)
    if asked is None or _reads_one(asked):
        return
    folders = asked.says("folder") and asked.folder == "."  # they are asked about, not files
    if TWICE.search(asked.text) and asking.of_ours(asked) and not asked.written:
        yield twins(asked.folder)
        return
    fact = FACT.search(asked.text) is not None and not asked.story.times
    looks = (_extreme, _weighed, _bounded, _counted, _named, _searched)
    for look in (_named,) if folders else (_told,) if fact else looks:
        yield from look(asked)


def wanted(story: Story) -> Deed | None:
    """The files that somebody says they need, and nothing of what for."""
    deeds = any(not ACTIONS.isdisjoint(word.concepts) for word in story.words)
    some = chosen(story) if WANTS.match(story.text) and not deeds else None
    some = _of_their_time(some) if some is not None else None
    return show(some) if some is not None and not some.times else None


def _extreme(asked: Question) -> Iterator[Deed]:
    """The largest, the newest and the like, of those that are spoken of beside that."""
    order, places = _order(asked)
    if order and not (asked.story.times and (order == "largest")):
        last = LAST.search(asked.text)
        some = _some(asked, [last.span()] if last else (*asked.around(places), *_of_whom(asked)))
        yield _listed(asked, some, order=order, most=1 if places and not _several(asked, places[0]) else FEW)


def _of_whom(asked: Question) -> tuple[Span, ...]:
    """ "Of the three drafts, which is the newest": the part that says of which."""
    return tuple(found.span() for found in OF_WHOM.finditer(asked.text))


OF_WHOM = regex(r"(?:^|(?<=[.!?\n]\s))\s*(?:of|from|among|von|unter|aus|de|entre)\s[^,.;:!?\n]+,", re.IGNORECASE)


def _order(asked: Question) -> tuple[str, list[int]]:
    said = [
        (one, word.start) for word in asked.words for one in ORDERS if one in word.concepts and not _timed(asked, word)
    ]
    if last := LAST.search(asked.text) or CHANGED_LAST.search(asked.text):
        return "newest", [last.start()]
    if said:
        return said[0][0], [place for _, place in said]
    hogs = HOGS.search(asked.text)
    return ("largest", [hogs.start()]) if hogs is not None else ("", [])


def _several(asked: Question, place: int) -> bool:
    """Are several asked for: "the biggest ones", "the newest photos"?"""
    behind = next((word for word in asked.words if word.start > place), None)
    plural = behind is not None and (asking.of_a_kind(behind) or {*behind.concepts} & {"file"} or behind.folded in ONES)
    return HOGS.match(asked.text, place) is not None or bool(plural and behind and behind.folded[-1:] in ("s", "n"))


ONES = frozenset(("ones", "dinger"))


def _weighed(asked: Question) -> Iterator[Deed]:
    """How large they are, each and together."""
    if (found := HOW_LARGE.search(asked.text)) is not None:
        some = _some(asked, asked.around([found.start()]))
        named = some.folder != "." or any(not asking.of_a_kind(word) for word in some.words)
        if named:
            yield _listed(asked, some, order="largest")
        elif some.words and SPACE.search(fold(asked.text)) is not None:
            yield Deed((("analyze-directory.report", {"path": "."}),))


def _bounded(asked: Question) -> Iterator[Deed]:
    """Those of a size or a time, of the kind or with the words that stand beside it."""
    times = [one for one in asked.story.times if _inside(one.start, asked.sentences)]
    if not times and asked.says("size", "age"):
        times = [*asked.story.times]
    if not times or (asked.own and not (_of_files(asked, times) or _of_wordless(asked))):
        return
    kinds = [word.start for word in asked.words if asking.of_a_kind(word)]
    some = _some(asked, asked.around([*(one.start for one in times), *kinds]))
    yield _listed(asked, _of_their_time(replace(some, times=tuple(times))))


def _of_wordless(asked: Question) -> bool:
    """ "What photos do I have of this carnival, in February": no photo is called so, and none has a text to say it."""
    kinds = [word for word in asked.words if not {*word.concepts}.isdisjoint(WORDLESS)]
    paths = asked.story.ground.paths or ()
    known = words_of(tuple(path for word in kinds for path in asked.story.having(word, paths)))
    return bool(kinds) and all(singulars(word.folded).isdisjoint(known) for word in asked.own)


WORDLESS = ("images", "audio", "video")


def _of_files(asked: Question, times: Sequence[Measured]) -> bool:
    """Is it files that are of this size or time, rather than what is written in them?"""
    parts = asked.around(one.start for one in times)
    near = [word for word in asked.words if _inside(word.start, parts)]
    folders = [word for _, naming in asked.story.places for word in naming]
    return any(asking.of_a_kind(word) or word in (*asked.holder, *folders) or "file" in word.concepts for word in near)


def _counted(asked: Question) -> Iterator[Deed]:
    """How many there are, by name."""
    parts = () if HOW_LARGE.search(asked.text) else asked.parts("howmany")
    some = _some(asked, parts)
    if parts and (some.words or some.folder != "."):
        yield _listed(asked, some)


def _named(asked: Question) -> Iterator[Deed]:
    """Those that have all the words in their names."""
    if asked.written or not asked.topic:
        return
    kinds = [word for word in asked.words if asking.of_a_kind(word)]
    some = asked.choosing([*asked.topic, *kinds])
    if {*asked.topic} <= {*some.words}:
        of_then = _of_their_time(replace(some, times=asked.story.times)) if some.words else some
        yield _listed(asked, replace(of_then, times=some.times))


def _reads_one(asked: Question) -> bool:
    """ "What's on the car insurance": what the one file says that is called so is read, not listed."""
    what = WHAT.match(asked.text.strip()) is not None and not IN_HERE.search(asked.text)
    some = asked.choosing(asked.topic) if what and asked.topic else Some(())
    return len(some.files) == 1 and {*asked.topic} <= {*some.words}


IN_HERE = regex(r"(?<!\w)(?:got|have|hab(?:e|en)?|tengo|tenemos|hay|there|here|hier|da|aqu[ií])(?!\w)", re.IGNORECASE)


def _searched(asked: Question) -> Iterator[Deed]:
    """What the files say of it, within the folder or among the letters that are asked about."""
    told = asked.says(*asking.TELLING) and not asked.written
    ours = asking.of_ours(asked) or _held(asked) or PERSONAL.search(asked.text) is not None
    if asked.topic and not told and ours:
        yield search(" ".join(word.text for word in asked.topic), asked.folder, _among(asked))


def _told(asked: Question) -> Iterator[Deed]:
    """What the files say of those who are named."""
    asks = [found.span() for found in FACT.finditer(asked.text)]
    told = [word for word in asked.words if asking.carries(word) and (word.text[0].isupper() or word in asked.topic)]
    named = [word for word in told if not any(end == word.end for _, end in asks)]
    if named:
        yield search(" ".join(word.text for word in named), asked.folder)


def _held(asked: Question) -> bool:
    known = words_of(asked.story.ground.paths or ())
    return any(not singulars(word.folded).isdisjoint(known) for word in asked.topic)


def _among(asked: Question) -> Sequence[str]:
    """Patterns of the files that are asked about: several that have the word in their paths."""
    paths = asked.story.ground.paths or ()
    if asked.folder != ".":
        return ()
    for word in asked.holder:
        held = singulars(word.folded) & words_of(paths)
        if held and extension_of(word.folded) is None:
            return having(re.sub(r"[^ -~]", "?", min(held, key=len)))
    return ()


def _some(asked: Question, parts: Sequence[Span]) -> Some:
    """What the words of these parts choose, in the folder that is spoken of."""
    return asked.choosing([word for word in asked.words if _inside(word.start, parts) and not _timed(asked, word)])


def _of_their_time(some: Some) -> Some:
    """Files whose names tell their year or month are of that, whenever they were saved."""
    told = [one for one in some.times if periods.told_by_names(one, some.files)]
    if not told:
        return some
    kept = tuple(path for path in some.files if all(periods.in_period(path, one) for one in told))
    kept = kept or tuple(path for path in some.files if all(periods.in_its_month(path, one) for one in told))
    return replace(some, files=kept, times=tuple(one for one in some.times if one not in told)) if kept else some


def _listed(asked: Question, some: Some, **how: object) -> Deed:
    """By name where names or kinds chose them, else by their folder."""
    if some.words or len(some.files) < len(asked.story.ground.below(some.folder)):
        return show(some, **how)
    here = {"path": some.folder, "recursive": True, "node_kind": "file"}
    return Deed(((LIST, {**here, **some.filters, **how}),))


def _timed(asked: Question, word: Word) -> bool:
    return any(one.start <= word.start < one.end for one in asked.story.times)


def _inside(place: int, spans: Sequence[Span]) -> bool:
    return any(start <= place < end for start, end in spans)
