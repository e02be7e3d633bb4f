"""What a reply changes about an offer: its files, their new name, where they go, whether the originals stay.

Who is shown a change and says "not the one in Fotos", "and the tmp files too" or "call it invoices 2024.zip" tells no
new story. So the deed stays as it was offered, and each part of the reply takes files out of it, adds some, puts others
in their place, or says another name or end. What comes of it is offered anew; what of the reply is not in it is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from libs.models.offline import corrections
from libs.models.offline.gist import cues, ends, examples, inside, placing, renaming, restating, sides
from libs.models.offline.gist.acts import DEED, RENAME, RENAMES, Act, Side, acts_of, calls_of
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.sides import Told
from libs.models.offline.gist.story import Span, Story
from libs.models.ports import Call
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex


@dataclass(frozen=True, slots=True)
class Amended:
    """The calls as they are wanted now, and the words of the reply that are not in them."""

    calls: tuple[Call, ...]
    left: tuple[str, ...] = ()
    same: bool = False
    """Was all that the reply says in the offer already?"""
    unknown: Side | None = None
    """What was to be done with files that nobody knows, where that is all."""


def amended(calls: Sequence[Call], reply: Story, *, plainly: Side = Side.INSTEAD) -> Amended | None:
    """What was offered as the reply wants it; None where the reply changes nothing of it that can be told, or is a wish
    of its own. `plainly`: what is done with the files that it names and says no more of.
    """
    reply = replace(reply, text=OF_YEAR.sub(r"\g<1>", reply.text))
    before = acts_of(calls, reply.ground)
    if (telling := _saying(calls, reply)) is not None:
        return Amended(telling.calls)
    if not before:
        return None
    if ends.several(reply):
        return _apart(before, reply)
    acts, beside = restating.told(before, reply)
    if not beside and _of_names(before) and (shown := next(examples.surely(reply), None)) is not None:
        return _anew(shown, before, reply)
    if not beside and _of_names(before) and (BECOMES.search(reply.text) or any(renaming.heard(reply))):
        return None
    takes_out = _takes_out(before, reply, plainly)
    if _another_deed(before, reply, beside, but={"remove"} if takes_out else set()):
        return None
    offered = _offered(before) or reply.ground.paths or ()  # what is empty is known by no name
    told = sides.of(reply, beside, offered=offered, plainly=plainly, takes_out=takes_out)
    if takes_out and any(one.lost and one.side is Side.OUT for one in told):
        return None
    left = [one.text for one in told if one.lost]
    for one in told:
        changed = None if one.lost else _put(acts, one, before)
        left += [one.text] if changed is None and not one.lost else []
        acts = changed if changed is not None else acts
    if not (told or beside) or not any(act.files or act.bounds or act.look for act in acts):
        return None
    same = acts == before
    new = tuple(calls) if same else calls_of(acts, reply.ground)
    sides_lost = [one.side for one in told if one.lost and one.side is not Side.INSTEAD]
    if same and left:
        return Amended(new, tuple(left), unknown=sides_lost[0]) if sides_lost else None
    return Amended(new, tuple(dict.fromkeys(left)), same=same)


def _saying(calls: Sequence[Call], reply: Story) -> Deed | None:
    """ "Only those where it says PAID": what the files are to say."""
    says = inside.said(reply) if calls else ()
    if not says:
        return None
    listed_out = [act.with_files(act.files) for act in acts_of(calls, reply.ground)]
    each = calls_of([act for act in listed_out if act is not None], reply.ground)
    return inside.only(Deed(tuple(calls)), says) or inside.only(Deed(each), says)


def _anew(shown: Deed, before: Sequence[Act], reply: Story) -> Amended | None:
    """ "So Huber Maße": the rule that is shown. It is for the files that were offered, where it was theirs before."""
    acts = acts_of(shown.calls, reply.ground)
    rules = [act.plain for act in before]
    same = bool(acts) and all(act.plain in rules for act in acts)
    calls = calls_of(before, reply.ground) if same else shown.calls
    return Amended(calls, same=same) if calls else None


def _apart(before: Sequence[Act], reply: Story) -> Amended | None:
    """ "The photos go in Photos, the quote in Quotes": each to its own."""
    acts = ends.apart(before, reply)
    told = acts_of(deed.calls, reply.ground) if (deed := next(placing.outright(reply), None)) is not None else []
    acts = acts or (told if len(told) > 1 and {act.tool for act in told} == {act.tool for act in before} else None)
    if acts is None:
        return None
    plainly = [sorted((act.tool, repr(act.plain), sorted(act.files)) for act in some) for some in (acts, before)]
    return Amended(calls_of(acts, reply.ground), same=plainly[0] == plainly[1])


OF_YEAR = regex(r"\b(\d{2,4})er\b")
""" "Die 2024er"."""
BECOMES = regex(
    r"\b(?:(?:should|shall|must|to)\s+be(?:come)?|becomes?|turns?\s+into|wird|werden|soll(?:te)?n?|heißen|heissen"
    r"|sean?|quede\w*|que\s+ponga\w*|instead\s+of|statt|en\s+vez\s+de)\b|->|→",
    re.IGNORECASE,
)
""" "inv 1 should be inv 001": another rule, and no choice of files."""


def _takes_out(acts: Sequence[Act], reply: Story, plainly: Side) -> bool:
    """ "But remove the png", of what is not to be deleted anyway: from the offer."""
    deletes = any(DEED.get(act.tool) == "remove" for act in acts)
    says = reply.says("remove") and plainly is not Side.ALSO and not reply.says("then")
    return says and not deletes and AND_LED.match(reply.text) is None


def _another_deed(acts: Sequence[Act], reply: Story, beside: Sequence[Span], *, but: set[str]) -> bool:
    """ "And then delete the four bills", of what was to be zipped: a wish of its own."""
    if placing.ASKED.match(corrections.bare(reply.text)):
        return True
    own = {DEED.get(act.tool, "move") for act in acts} | but
    plain = cues.plain(reply.text)
    for word in reply.words:
        within = any(start < word.end and word.start < end for start, end in beside)
        first = not reply.text[: word.start].strip() or SENTENCE.search(reply.text[: word.start]) is not None
        if LOOKS & {*word.concepts} and first and not word.slip:
            return True
        if not word.slip and DEEDS & {*word.concepts} - own and not within and not DENIED.search(plain[: word.start]):
            return True
    return False


DEEDS = listed("remove pack unpack rename move copy")
AND_LED = regex(r"^\W*(?:(?:yes|yeah|ok|okay|ja|s[ií]|vale)\b\W*)?(?:and|und|y|n)\b", re.IGNORECASE)
LOOKS = listed("list find report howmany whatis summary explain parse")
SENTENCE = regex(r"(?:[.!?,;:\n]|^\W*(?:no|nein|nee|yes|ja|si|sí))\s+$", re.IGNORECASE)
DENIED = regex(r"(?<!\w)(?:not|n['’]?t|nicht|no|never|nie)\s+(?:\w+\s+)?$")


def _of_names(acts: Sequence[Act]) -> bool:
    return all(act.tool in (RENAME, RENAMES) for act in acts)


def _offered(acts: Sequence[Act]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for act in acts for path in act.files))


def _put(acts: Sequence[Act], told: Told, before: Sequence[Act]) -> list[Act] | None:
    """The deed with one part of the reply in it; None where nobody can tell what that would be."""
    if told.hollow is not None:
        return _hollow(acts, told, before)
    match told.side:
        case Side.OUT:
            return [left for act in acts if (left := act.without(told.files)) is not None]
        case Side.ONLY:
            kept = [left for act in acts if (left := act.only(told.files, told.filters)) is not None]
            return kept or _instead(acts or before[:1], told)
        case Side.ALSO:
            return _added(acts or before[:1], told.files)
        case Side.INSTEAD:
            return _instead(acts or before[:1], told)


def _hollow(acts: Sequence[Act], told: Told, before: Sequence[Act]) -> list[Act] | None:
    """ "Empty folders, not empty files": what is empty is known by no name."""
    assert told.hollow is not None
    same = [act for act in acts if act.empties(told.hollow)]
    if told.side is Side.OUT:
        return [act for act in acts if act not in same]
    if told.side is Side.ONLY:
        acts = []
    if same:
        return [act for act in acts if act in same or not (told.side is Side.INSTEAD and act.bounds.get("empty"))]
    deletes = [act for act in before if act.tool == "manage-files.delete"]
    if not deletes:
        return None
    rest = [act for act in acts if not (told.side is Side.INSTEAD and act.bounds.get("empty"))]
    return [*rest, deletes[0].of_empty(told.hollow)]


def _added(acts: Sequence[Act], files: Sequence[str]) -> list[Act] | None:
    """With these as well, where all of it is one deed."""
    new = tuple(path for path in files if path not in _offered(acts))
    if not new:
        return list(acts)
    if len({(act.tool, str(act.plain)) for act in acts}) > 1:
        return None
    at = next((n for n, act in enumerate(acts) if not act.bounds), None)
    if at is not None and (more := acts[at].with_files((*acts[at].files, *new))) is not None:
        return [*acts[:at], more, *acts[at + 1 :]]
    bounds = {name: bound for name, bound in acts[0].bounds.items() if name != "empty"}  # these need not be empty
    apart = replace(acts[0], bounds=bounds).with_files(new) if acts[0].many else None
    return [*acts, apart] if apart is not None else None


def _instead(acts: Sequence[Act], told: Told) -> list[Act] | None:
    """These and no others."""
    kept = [left for act in acts if (left := act.only(told.files, told.filters)) is not None]
    new = tuple(path for path in told.files if path not in _offered(acts))
    if not new:
        return kept or None
    if len({(act.tool, str(act.plain)) for act in acts}) > 1:
        return None
    first = replace(acts[0], bounds=told.filters, look={}, whole=())
    one = first.whole_of(told.folder) if told.folder is not None else first.with_files(told.files)
    return [one] if one is not None else None
