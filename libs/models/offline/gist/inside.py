"""What files say, where that is to choose them: "those that I wrote PAID inside should go to Paid".

What is to be done is heard as of a story that does not tell it: the words around choose by names, as far as they do.
Of what comes of that, the text is one more bound; where no other word chooses, it is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from libs.models.offline import contents
from libs.models.offline.gist import called, edging, packing, whereto
from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.choosing import Named
from libs.models.offline.gist.deeds import LIST, NODES, Deed, show
from libs.models.offline.gist.stances import spoken
from libs.models.offline.gist.story import Some, Span, Story
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.marks import Says, marks
from libs.models.ports import Call
from libs.retrieval.regexes import regex

WHO = regex(r"\W*(?:who|wer|qui[eé]n(?:es)?)(?!\w)", re.IGNORECASE)
Bound = Mapping[str, int | str | bool]


def said(story: Story) -> tuple[Says, ...]:
    """The words that are to be in files, which no name bears out, or that papers are marked with."""
    if edging.spoken(story):
        return ()
    return contents.choosing(story.text, story.ground.paths or (), marked=True)


def without(story: Story, says: Sequence[Says]) -> Story:
    """The story as if it did not tell that."""
    return replace(story, text=contents.without(story.text, says)) if says else story


def only(deed: Deed, says: Sequence[Says]) -> Deed | None:
    """The deed, for those of its files that say it. None where it is done to files that no list hands on."""
    bound = _bound(says)
    listed = {n for n, (tool, _) in enumerate(deed.calls, 1) if tool == LIST}
    changes = [call for call in deed.calls if call[0] != LIST]
    if bound is None or not changes or not all(_fed(args, listed) for _, args in changes):
        return None
    return Deed(tuple((tool, {**args, **bound}) if tool == LIST else (tool, args) for tool, args in deed.calls))


def alone(story: Story, says: Sequence[Says]) -> Iterator[Deed]:
    """What is to be done to all that say it, in the folder that is spoken of or anywhere, where no other word of the
    story, which does not tell it, chooses any.
    """
    packs, titles = packing.spoken(story), called.archives(story.text)
    bound, place = _bound(says), None if packs else next(whereto.new(story), None)
    beside = (*(place.spans if place is not None else ()), *(one.span for one in titles))
    named = whereto.there(story, beside)
    goal = next(whereto.goal(story, named), None) if place is None else None
    if bound is None or _chooses(story, (*beside, *_spans(goal), *(span for one in named for span in _spans(one)))):
        return
    target = _below(story, place, named) if place is not None else goal[0] if goal is not None else ""
    held = [folder for folder, _ in named if folder not in ("", target)]
    args = {"path": held[0] if len(held) == 1 else ".", "recursive": True, "node_kind": "file", **bound}
    nodes = NODES.format(n=1)
    if packs:
        yield _of(args, "archive-files.pack", paths=nodes, archive=f"{titles[0].name if titles else says[0].text}.zip")
    elif target:
        yield _of({**args, "exclude": [target]}, "manage-files.move", source=nodes, target=target)
    elif spoken(story.text):
        yield _of(args, "manage-files.delete", paths=nodes)


def looked(story: Story) -> Deed | None:
    """A look at those that say it, or lack it, of the files that the rest of the story chooses. Who only asks where
    something is mentioned wants to see it, and not a list.
    """
    says = said(story)
    if not says:
        return _unmarked(story)
    bound = _bound(says)
    if bound is None or not ("lacking" in bound or marked(story)) or contents.wants_a_change(story.text, says):
        return None
    plain = without(story, says)
    some = chosen(plain)
    if some is None and WHO.match(story.text):
        return None  # what lacks the word says nothing of who
    return show(some or Some(plain.ground.paths or ()), **bound)


def _unmarked(story: Story) -> Deed | None:
    """ "Which contract isn't signed yet?", where names say which are."""
    lacks = tuple(one for one in marks(story.text) if one.lacks)
    if not lacks or contents.wants_a_change(story.text, lacks):
        return None
    some = chosen(without(story, lacks))
    files = (
        tuple(path for path in some.files if not any(contents.in_names(one, [path]) for one in lacks)) if some else ()
    )
    return show(Some(files)) if some is not None and 0 < len(files) < len(some.files) else None


def marked(story: Story) -> bool:
    """Are papers chosen by what they are marked with?"""
    return bool(said(story)) and bool(marks(story.text))


def bounded(deed: Deed) -> bool:
    return any({"containing", "lacking"} & {*args} for _, args in deed.calls)


def in_a_folder(deed: Deed) -> bool:
    """Is it of what lies in one folder? Then that may have more to say of where things go."""
    return str(deed.calls[0][1].get("path", ".")) != "."


def _of(listed: Mapping[str, Any], tool: str, **args: Any) -> Deed:
    listing: Call = (LIST, listed)
    return Deed((listing, (tool, args)))


def _bound(says: Sequence[Says]) -> Bound | None:
    """One text that they have, and one that they lack: more is no bound of a list."""
    told = {pair for one in says for pair in one.filters.items()}
    return dict(told) if told and len(told) == len({name for name, _ in told}) else None


def _fed(args: Mapping[str, Any], listed: set[int]) -> bool:
    """Does it get what it is done to from one of the lists?"""
    return any(args.get(name) in [NODES.format(n=n) for n in listed] for name in ("paths", "source"))


def _chooses(story: Story, beside: Sequence[Span]) -> bool:
    """May a word be meant that is in names, be it read as another?"""
    known = words_of(story.ground.paths or ())
    free = [word for word in story.words if not any(start <= word.start < end for start, end in beside)]
    return any(not word.filler and not singulars(word.folded).isdisjoint(known) for word in free)


def _spans(named: Named | None) -> list[Span]:
    return [(word.start, word.end) for word in named[1]] if named is not None else []


def _below(story: Story, place: whereto.Place, named: Sequence[Named]) -> str:
    above = whereto.said_above(story, place, named)
    return place.folder or (f"{above}/{place.name}" if above else place.name)
