"""Older versions of a thing, of which the last one stays: "get rid of the older versions of the proposal", "I only need
the latest Hausarbeit, the others can go".

Which is the last one, its name has to tell: by the highest number, or by the word for what is final. Where two could be
it, or none says so, nothing goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline.gist import cues
from libs.models.offline.gist.deeds import Deed, delete
from libs.models.offline.gist.spelling import stem
from libs.models.offline.gist.stances import spoken
from libs.models.offline.gist.story import Some, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

_VERSIONS = (
    r"(?:versions?|drafts?|revisions?|takes?|mix(?:es)?|version(?:en)?|fassung(?:en)?|entw[üu]rfe?|st[äa]nde?"
    r"|versi[oó]n(?:es)?|borrador(?:es)?|ones)"
)
OLDER = regex(
    rf"(?<!\w)(?:older|old|previous|earlier|former|outdated|alten?|[äa]lteren?|fr[üu]heren?|vorherigen?|vorigen?|veralteten?)\s+{_VERSIONS}(?!\w)"
    rf"|(?<!\w){_VERSIONS}\s+(?:viej[oa]s?|anteriore?s?|antigu[oa]s?|previ[oa]s?)(?!\w)",
    re.IGNORECASE,
)
_LAST = (
    r"(?:(?:very\s+)?(?:last|latest|newest|final|most\s+recent)|letzten?|neu(?:e)?sten?|aktuell(?:st)?en?|finalen?"
    r"|[uú]ltim[oa]|definitiv[oa]|m[aá]s\s+reciente)"
)
LAST = regex(
    rf"(?<!\w)(?:keep|need|want|save|behalt\w*|brauch\w*|will|guard\w*|d[eé]ja\w*|qu[eé]d\w*|necesito|quiero|conserv\w*)\s+(?:\w+\s+){{0,3}}?{_LAST}(?!\w)"
    rf"|(?<!\w){_LAST}\s+(?:\w+\s+){{0,4}}?(?:behalten|brauche?|bleibt|stays?)(?!\w)",
    re.IGNORECASE,
)
OLD_ONES = regex(
    r"(?<!\w)(?:older|old|earlier|previous|other|rest|others|[äa]lteren?|alten?|fr[üu]heren?|anderen?"
    r"|viej[oa]s|anteriores|dem[aá]s|otr[oa]s)(?!\w)",
    re.IGNORECASE,
)
ONLY = regex(
    rf"(?<!\w)(?:(?:keep|leave|save|behalt\w*|lass\w*|d[eé]ja\w*|guard\w*|conserv\w*)\s+(?:\w+\s+)?(?:only|just|nur|s[oó]lo)"
    rf"|(?:only|just|nur)\s+(?:keep|leave))\s+(?:\w+\s+){{0,2}}?{_LAST}(?!\w)",
    re.IGNORECASE,
)
""" "Keep only the latest": so the others may go."""
NUMBER = regex(r"(?:^|[\W_])(?:v|ver|version|rev|draft|take|mix|entwurf|fassung|borrador)?[ ._-]?(\d{1,3})(?![^\W_])")
FINAL = regex(
    r"(?:^|[\W_])(?:nuev[oa]|neue?[rs]?|new|final|finale?[rs]?|endg[üu]ltig\w*|definitiv[oa]?|fertig|abgabe|last|ultim[oa])(?![^\W_])"
)
FEWEST = 2


def spoken_of(text: str) -> bool:
    """Are older versions to go, or all but the last one?"""
    others = cues.first(cues.OTHERS, cues.plain(text)) is not None or OLDER.search(text) is not None
    return OLDER.search(text) is not None or ONLY.search(text) is not None or (others and LAST.search(text) is not None)


def heard(story: Story) -> Deed | None:
    """All but the last one of those that are spoken of."""
    if not (spoken_of(story.text) and (spoken(story.text) or ONLY.search(story.text))):
        return None
    some = story.some(beside=[found.span() for form in (OLDER, LAST) for found in form.finditer(story.text)])
    last = _last(some.files)
    older = tuple(path for path in some.files if path != last)
    return delete(Some(older)) if some.words and last is not None and older else None


def without_last(story: Story, files: Sequence[str]) -> tuple[str, ...]:
    """Of files that go somewhere those that do, where the newest is to stay: "keep the newest, the older ones go in a
    folder Old".
    """
    kept = spoken_of(story.text) and LAST.search(story.text) is not None
    last = _last(files) if kept else None
    return tuple(path for path in files if path != last)


def _last(files: Sequence[str]) -> str | None:
    """The one that its name tells to be the last."""
    ranked = sorted(((_rank(path), path) for path in files), reverse=True)
    if len(ranked) < FEWEST or ranked[0][0] == ranked[1][0] or ranked[0][0] == (0, 0):
        return None
    return ranked[0][1]


def _rank(path: str) -> tuple[int, int]:
    """The number of its version, a final one without number above all; and how often it is called final."""
    name = fold(stem(path))
    finals = len(FINAL.findall(name))
    number = next((int(found[1]) for found in NUMBER.finditer(name)), None)
    return (MOST if number is None and finals else number or 0), finals


MOST = 1000
"""No version has this number."""
