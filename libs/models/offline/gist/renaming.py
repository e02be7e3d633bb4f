"""New names in a story: "those are all of the harbour, might they be called Harbour 1, Harbour 2 and so forth"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.story import Story

FIRST_AND_SECOND = re.compile(
    r"(?P<stem>[^\W\d_][^,.;:!?\n\"“”„«»]*?)[ _-]*(?P<first>0*[01])\b[\s,.;&]*(?:(?:and|then|und|dann|y|luego)\s+)?"
    r"(?:(?P=stem)[ _-]*)?(?P<second>0*[12])\b",
    re.IGNORECASE,
)
""" "Harbour 1, Harbour 2", "Harbour 01, 02"."""


def heard(story: Story) -> Iterator[Deed]:
    """Every renaming that the story may want."""
    yield from _series(story)


def _series(story: Story) -> Iterator[Deed]:
    found = FIRST_AND_SECOND.search(story.text)
    if found is None:
        return
    name = _title(found["stem"])
    some = story.some(beside=[found.span()], without=name.split())
    if name and some.words and some.files:
        digits = max(len(found["first"]), len(str(len(some.files))))
        yield restyle(some, base=name, digits=digits)


LED = re.compile(
    r".*\b(?:called|named?|names?|to|as|be|them|it|call|hei(?:ß|ss)en|nennen|in|als|zu|sie|llam\w*|como|nombre|sean|a|en)\s+",
    re.IGNORECASE | re.DOTALL,
)


def _title(said: str) -> str:
    """What is said before a number, less what leads to it."""
    return LED.sub("", said).strip(" '\"-_")
