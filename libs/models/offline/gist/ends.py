"""Several ends in one reply: "the photos go in Photos, the two invoices in Invoices and the quote in Quotes"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.models.offline.gist import called, sides, whereto
from libs.models.offline.gist.acts import COPY, MOVE, Act
from libs.models.offline.gist.stances import between
from libs.models.offline.gist.story import Span, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

CUT = regex(r"[,.;:!?\n]+(?=\s|$)|\b(?:and|und|y)\b", re.IGNORECASE)


def several(reply: Story) -> bool:
    """ "Photos to Photos, quotes to Quotes": not all to one place."""
    clear = {folder for folder, by in reply.places if whereto.clearly(reply, by)}
    made = whereto.each(reply)
    return len([*_pairs(reply)]) > 1 or len(clear) + len(made) > 1 or len(called.together(reply.text)) > 1


def apart(acts: Sequence[Act], reply: Story) -> list[Act] | None:
    """What is moved, each part to the folder that is said behind it; None where one of them is not known."""
    tools = {act.tool for act in acts}
    told = list(_pairs(reply))
    if len(tools) != 1 or not tools <= {MOVE, COPY} or len(told) < 2:
        return None
    offered = tuple(path for act in acts for path in act.files)
    each = [(folder, _files(reply, span, offered)) for folder, span in told]
    every = [path for _, files in each for path in files]
    if not all(files for _, files in each) or len({*every}) < len(every):
        return None
    return [Act(acts[0].tool, {"target": folder}, files) for folder, files in each]


def _pairs(reply: Story) -> Iterator[tuple[str, Span]]:
    """Each folder that something goes to, and where it is said what."""
    tops = {fold(folder): folder for folder in reply.ground.folders}
    for start, end in between(CUT, reply.text, 0, len(reply.text)):
        said = [word for word in reply.words if start <= word.start < end]
        goal = next((word for word in reversed(said) if _is_goal(reply.text, word, tops)), None)
        if goal is not None and goal is not said[0]:
            yield tops[goal.folded], (start, goal.start)


def _is_goal(text: str, word: Word, tops: dict[str, str]) -> bool:
    return word.folded in tops and whereto.INTO.search(text[: word.start]) is not None


def _files(reply: Story, span: Span, offered: Sequence[str]) -> tuple[str, ...]:
    """Among those that were offered; else those at the top."""
    found = (sides.found(reply, span, held) for held in (offered, reply.ground.files))
    return next((files for files in found if files), ())
