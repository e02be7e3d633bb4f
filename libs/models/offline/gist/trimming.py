"""A part of names goes and their signs change, at once: "drop the _recipe at the end and put spaces for the lines".

One renaming does both, since the second of two would be of names that nobody has seen yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist import dropping, lettering
from libs.models.offline.gist.aiming import examples, within
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.rewriting import cut
from libs.models.offline.gist.spelling import Files, Run, runs, stem, very
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.selection import escaped
from libs.retrieval.regexes import regex
from libs.skills.shapes import FIELD

TEXT = "{text}"
ONES = regex(
    r"(?<!\w)(?:ones|those|files|die|dateien|los|las)\s+(?:that|which|with|mit|wo|que|con|where|called)(?!\w)",
    re.IGNORECASE,
)
GONE = regex(
    r"(?<!\w)(?:drop|lose|remove|take|cut|strip)\s+(?:that|it|this)(?!\w)|(?<!\w)(?:lass|nimm|mach)\s+(?:das|es)\s+(?:weg|raus)"
    r"|(?<!\w)(?:qu[ií]ta|s[aá]ca|b[oó]rra)(?:se|le)?l[oa]s?(?!\w)",
    re.IGNORECASE,
)


def heard(story: Story) -> Iterator[Deed]:
    """The part that most of them begin or end with, where one is said to go."""
    swaps = [deed.calls for deed in lettering.heard(story) if deed.calls[-1][1].get("replace") == " "]
    if not swaps or dropping.DROPS.search(story.text) is None:
        return
    (_, listed), (_, rule) = swaps[0]
    held = [path for path in story.ground.paths or () if escaped(path) in listed["include"]]
    out = examples(story)
    for run in runs(story, held, very):
        if not within((run.start, run.end), out) and _goes(story, run):
            ones = ONES.search(story.text, 0, run.start) is not None
            yield from _both(run, [path for path in held if path in run.held] if ones else held, str(rule["find"]))


def _goes(story: Story, run: Run) -> bool:
    before, behind = story.text[: run.start].rstrip("_- \"'"), story.text[run.end :]
    return dropping.TAKEN.search(f"{before} ") is not None or GONE.search(behind) is not None


def _both(run: Run, files: Files, sign: str) -> Iterator[Deed]:
    parts = {cut(run, path).replace(sign, " ") for path in files if path in run.held}
    last = all(end == len(stem(path)) for path, (_, end) in run.held.items())
    first = all(start == 0 for start, _ in run.held.values())
    if len(run.held) > 1 and len(parts) == 1 and (first or last) and FIELD.search(part := parts.pop()) is None:
        shape = f"{TEXT}{part}" if last else f"{part}{TEXT}"
        yield restyle(Some(tuple(files)), find=sign, replace=" ", shape=shape, becomes=TEXT)
