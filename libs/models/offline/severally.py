"""Several goals in one request, each in words of its own: "bin the duplicates", "chuck the installers" and "put the
invoices in a folder".

A request is understood as a whole or not at all, so one goal that nobody understands would cost the others. A clause
with a deed of its own is a goal; what points back, or only goes on, belongs to the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Mood, Reading
from libs.models.offline.gist.acts import COPY, UNDOUBLE, acts_of
from libs.models.offline.gist.cues import plain
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.doubling import TWICE
from libs.models.offline.gist.stances import WHITHER, between
from libs.models.offline.goals import elliptic, refers_back
from libs.models.offline.ground import Ground
from libs.models.offline.pronouns import PRONOUNS, THERE, a_place
from libs.models.ports import PlannerOutcome, Unclear
from libs.retrieval.lexicon import Language
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold, words

JOINT = regex(
    r"(?:[\s,;:.!–-]"
    r"|(?<!\w)(?:and|und|y|e|then|dann|danach|luego|despu[eé]s|also|plus|sowie|but|aber|pero)(?!\w))+$",
    re.IGNORECASE,
)
LISTED = regex(r",(?=\s)|(?<!\w)(?:and|und|y|e)(?!\w)")
SEND: Mapping[Language, str] = {"en": "move", "de": "verschiebe", "es": "mueve"}
TO = regex(r"(?<!\w)(?:to|in|nach|al?|en) (?:\w+ )?\w+\W*$")
LEADS_UP = frozenset(("clean", "organize", "change", "greeting", "capability", "here", "file", "all", "folder"))
"""What says nothing else only leads up to the others: "tidy up: bin the duplicates and …"."""
BESIDE = (Mood.SPARE, Mood.NEVER)
DEEDS = ACTIONS - {"foreign"}
FEWEST, MOST = 2, 6


def goals_of(reading: Reading) -> tuple[str, ...]:
    """Each goal, with what the request spares beside; nothing where there are not several."""
    if any(clause.mood is Mood.ONLY for clause in reading.clauses) or reading.torn or reading.whether:
        return ()
    cuts = _cuts(_own(reading.clauses))
    beside = [_words(reading, clause) for clause in reading.clauses if clause.mood in BESIDE and clause.items]
    said: list[str] = []
    for verb, span in cuts:
        said += _sent(verb, _text(reading, span), reading.language, listed_on=bool(said) and _sends(said[-1]))
    told = [", ".join((goal, *beside)) for goal in said]
    return tuple(told) if FEWEST <= len(told) <= MOST else ()


def _sent(verb: str, text: str, language: Language, *, listed_on: bool) -> list[str]:
    """ "Delete the exe, the offers into a folder Offers": what is told where to go among what goes is moved."""
    if not any("remove" in word.concepts for word in words(f"{verb} {text}")):
        return [f"{verb} {text}".strip()]
    told: list[str] = []
    pieces = [text[slice(*span)].strip() for span in between(LISTED, text, 0, len(text))]
    if len({_of_copies(piece) for piece in pieces}) > 1:
        lead = verb or text.split()[0]
        return [piece if not (n or verb) else f"{lead} {piece}" for n, piece in enumerate(pieces)]
    for piece in pieces:
        sends = (told or verb) and (_sends(piece) or (listed_on and TO.search(fold(piece)) is not None))
        if sends or not told:
            told.append(f"{SEND[language] if sends else verb} {piece}".strip())
        else:
            told[-1] = f"{told[-1]}, {piece}"
        listed_on = listed_on or bool(sends)
    return told


def _of_copies(said: str) -> bool:
    """ "What's in here twice, and the installer": what is found by its content is no list with what has a name."""
    return any("duplicate" in word.concepts for word in words(said)) or TWICE.search(plain(said)) is not None


def _sends(said: str) -> bool:
    return WHITHER.search(fold(said)) is not None


def apart(deeds: Sequence[Deed], ground: Ground) -> bool:
    """Is none of them about files of another? What is copied, and then cleared of what is there twice, would be."""
    acts = [acts_of(deed.calls, ground) for deed in deeds]
    files = [path for told in acts for path in {path for act in told for path in act.files}]
    tools = [act.tool for told in acts for act in told]
    copied = COPY in tools and UNDOUBLE in tools[tools.index(COPY) :]
    return all(acts) and len(files) == len({*files}) and not copied


def more(several: Unclear, whole: PlannerOutcome, ground: Ground) -> bool:
    """Does it do all that is offered for the whole, and more?"""
    offered = _touched(whole, ground) if isinstance(whole, Unclear) else frozenset()
    return offered < _touched(several, ground)


def the_same(several: Unclear, whole: PlannerOutcome) -> bool:
    """Is just that offered for the whole, and is more left out than it says?"""
    offered = [(offer.label, offer.calls) for offer in whole.offers] if isinstance(whole, Unclear) else []
    return bool(several.about) and offered == [(offer.label, offer.calls) for offer in several.offers]


def _touched(asked: Unclear, ground: Ground) -> frozenset[str]:
    """The files that are offered to be changed; of what nobody can tell the files of, the tool."""
    calls = [call for offer in asked.offers for call in offer.calls]
    return frozenset(one for act in acts_of(calls, ground) for one in act.files or (act.tool,))


def _cuts(clauses: Sequence[Clause]) -> list[tuple[str, tuple[int, int | None]]]:
    """The verb that a goal goes without, and where it begins and ends."""
    told: list[tuple[str, tuple[int, int | None]]] = []
    verb, before = "", None
    for at, clause in enumerate(clauses, 1):
        end = _start(clauses[at]) if at < len(clauses) else None
        if clause.mood is Mood.DO and not (_leads_up(clause) and not told):
            start = _start(before) if before is not None and refers_back(clause) else _start(clause)
            if told and before is None and (_leans(clause) or _bare(clause)):
                told[-1] = told[-1][0], (told[-1][1][0], end)
            elif _acts(clause) or told:
                told.append(("" if _acts(clause) else verb, (start, end)))
            verb = _verb(clause) or verb
        before = clause if clause.mood is Mood.TOLD else None
    return told


def _own(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses in the order of the text, each without what it shares with those before it: the verb of a list."""
    told: list[Clause] = []
    seen: set[int] = set()
    for clause in clauses:
        told.append(clause.without(item for item in clause.items if item.start in seen))
        seen |= {item.start for item in clause.items}
    return sorted((clause for clause in told if clause.items), key=_start)


def _start(clause: Clause) -> int:
    return min(item.start for item in clause.items)


def _leads_up(clause: Clause) -> bool:
    return not clause.names and all(word.filler or _only(word) for word in clause.words)


def _only(word: Word) -> bool:
    return bool(word.concepts) and LEADS_UP.issuperset(word.concepts)


def _acts(clause: Clause) -> bool:
    """Does it say a deed? "Los instaladores" and "the old phone contract" have one in their name."""
    first = next((word for word in clause.words if not word.filler), None)
    foreign = first is not None and "foreign" in first.concepts and not clause.says(*KINDS)
    return any(map(_deed, clause.words)) or foreign


def _deed(word: Word) -> bool:
    return not DEEDS.isdisjoint(word.concepts)


def _leans(clause: Clause) -> bool:
    """Is it about what was said before, or does it go where that is?"""
    there = (word for word in clause.words if word.folded in PRONOUNS and a_place(clause.items, word))
    return refers_back(clause) or elliptic(clause) or any(word.folded in THERE for word in clause.words) or any(there)


def _bare(clause: Clause) -> bool:
    """A deed, and nothing that it is done to."""
    return not clause.names and not clause.filters and all(word.filler or _deed(word) for word in clause.words)


def _verb(clause: Clause) -> str:
    """The deed that a list goes on with, where it leads its clause: "borra" of "borra los duplicados, los
    instaladores".
    """
    first = next((word for word in clause.words if not word.filler), None)
    return first.text if first is not None and _deed(first) else ""


def _words(reading: Reading, clause: Clause) -> str:
    return reading.text[_start(clause) : max(item.end for item in clause.items)]


def _text(reading: Reading, span: tuple[int, int | None]) -> str:
    return JOINT.sub("", reading.text[slice(*span)])
