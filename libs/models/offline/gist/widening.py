"""A kind of files that is to go, in a folder besides: "all the exe files, fuel folder an all", "auch im Ordner fuel".

The folder says where else they lie. It never goes itself, and neither does what else is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.deeds import Deed, delete
from libs.models.offline.gist.stances import spoken
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.selection import patterns_of
from libs.retrieval.regexes import regex
from libs.skills import selected

BESIDES = regex(
    r"(?<!\w)(?:including|includes?|incl|inclusive|also|as\s+well|too|and?\s+all|plus|auch|samt|mitsamt|inklusive|inkl"
    r"|sowie|tambi[eé]n|inclu(?:id[ao]s?|yendo|so)|con\s+todo)(?!\w)",
    re.IGNORECASE,
)

OTHERWISE = (
    *("move", "copy", "pack", "rename"),
    *("empty", "duplicate", "size", "age", "newest", "oldest", "largest", "smallest", "name", "content", "not"),
)
"""Deeds of another kind, and what else chooses files: then the kind is not all that is told of them."""


def heard(story: Story) -> Iterator[Deed]:
    """The files of the kind at the top and in the folder that is told behind it."""
    if BESIDES.search(story.text) is None or not spoken(story.text) or story.says(*OTHERWISE) or story.times:
        return
    for folder, by in story.places:
        held = (*story.ground.files, *story.ground.below(folder))
        before = [word for word in story.words if word.end <= by[0].start]
        wanted = [pattern for word in before for pattern in patterns_of(word, story.categories)]
        files = tuple(path for path in held if wanted and selected(path, include=wanted))
        if any(path.startswith(f"{folder}/") for path in files):
            yield delete(Some(files))
