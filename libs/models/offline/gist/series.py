"""Many files that get one name and a number each: "Memphis damage 1, Memphis damage 2 like that"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.aiming import LEADS, chosen
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.spelling import AFTER, BEFORE, Files, alike, onwards, standing, stem
from libs.models.offline.gist.story import Some, Span, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

_JOINT = r"[\s,.;&]*(?:(?:and|then|und|dann|y|luego|to|bis|hasta|a|through)\s+)*"
FIRST_AND_SECOND = regex(
    rf"(?P<stem>[^\W\d_][^,.;:!?\n\"“”„«»]*?)[ _-]*(?P<first>(?<!\d)0*[01])\b{_JOINT}"
    r"(?:(?:the\s+)?(?P=stem)[ _-]*)?(?P<second>0*(?:[2-9]|\d\d))\b"
    rf"(?:{_JOINT}(?:(?P=stem)[ _-]*)?\d+\b)*",
    re.IGNORECASE,
)
""" "Harbour 1, Harbour 2", "Harbour 01, 02", "Harbour 1 to 4"."""
AND_A_NUMBER = regex(
    r"\s*,?\s*(?:(?:and|then|und|dann|y|luego|with|mit|con|plus|followed\s+by|gefolgt\s+von|más|seguido\s+de"
    r"|as\s+well\s+as)\s+)+(?:(?:then|dann|luego)\s+)?"
    r"(?:an?|eine[rn]?|der|die|un|el|ihre|the|in\s+order)?\s*(?:running\s+|consecutive\s+|laufende[rn]?\s+"
    r"|fortlaufende[rn]?\s+)?"
    r"(?:number(?:ed|s)?|numbers\s+behind|nummer\w*|zahl|número|numero|numerad[oa]s?|durchnumm?erier\w*"
    r"|nummerier\w*|hochgezählt)\b"
    r"|\s*,?\s*(?:durch)?nummeriert|\s+numbered\b|\s+numerad[oa]s?\b",
    re.IGNORECASE,
)
LED = regex(
    r".*\b(?:called|named?|names?|call|to|as|be|them|'?em|it|that|those|these|are|is|pics|photos|pictures"
    r"|jpgs|files|hei(?:ß|ss)en|nennen|nenne?|benenne?|umbenennen|in|als|zu|sie|die|das|den|namen|dateien"
    r"|bilder|fotos"
    r"|llam\w*|como|nombres?|sean|a|en|por|las|los|pon\w*)\s+",
    re.IGNORECASE | re.DOTALL,
)
NUMBERS = regex(r"(?:the\s+|die\s+|los\s+)?(?:numbers?|numm?ern?|zahlen|n[uú]meros?)\b", re.IGNORECASE)
""" "Put numbers before them, 01 02 03": that is no name."""
MACHINE = regex(
    r"(?:img|dscn?|dscf|pxl|vid|mvi|scan|scn|whatsapp|screenshot|signal|foto|photo|image|bild|p|dji|gopr"
    r"|captura)?[\W\d_]*(?:wa)?[\W\d_]*",
    re.IGNORECASE,
)
"""A name that a camera, a scanner or a telephone has given."""


def heard(story: Story) -> Iterator[Deed]:
    for span, base, first in _told(story):
        some = chosen(story, beside=[span], without=base)
        if some is not None and base:
            files = tuple(_unnamed(some.files))
            digits = max(len(first), len(str(len(files))))
            yield restyle(Some(files, times=some.times), base=base, digits=digits)


def _told(story: Story) -> Iterator[tuple[Span, str, str]]:
    """Where a series stands, its name, and its first number."""
    for found in FIRST_AND_SECOND.finditer(story.text):
        base = _unplaced(story, _title(found["stem"]))
        if NUMBERS.match(base):
            continue
        start = found.end("stem") - len(base)
        there = standing(f"{base} {found['first']}", story.ground.paths or (), alike)
        if base and (there is None or not there.whole):
            yield (start, found.end()), base, found["first"]
    for found in AND_A_NUMBER.finditer(story.text):
        start, end = _before(story.text, found.start())
        last = story.text[start:end].split()[-1:]
        if last and standing(last[0], story.ground.paths or (), alike) is None:
            yield (start, found.end()), story.text[start:end], "1"


def _before(text: str, end: int) -> Span:
    """The name before "and a number": as far back as something leads to it."""
    head = re.sub(r"\s+(?:hei(?:ß|ss)en|genannt\s+werden|nennen|llamen|werden|sein)$", "", text[:end])
    sentence = max((head.rfind(sign) for sign in ",.;:!?\n"), default=-1) + 1
    base = _title(head[sentence:])
    start = len(head) - len(head[sentence:]) + head[sentence:].rfind(base) if base else end
    return onwards(text[: len(head)], start, stops=frozenset()) if base else (end, end)


SHALL = regex(
    r".*(?<!\w)(?:sollen?|sollten|müssen|should|shall|must|deben|que\s+se\s+llamen)(?:\s+|$)(?:(?:be|now|jetzt|dann)\s+)*",
    re.IGNORECASE | re.DOTALL,
)


def _title(said: str) -> str:
    """What is said before a number, less what leads to it."""
    said = SHALL.sub("", said, count=1)
    told = LED.sub("", said, count=1).strip(" '\"-_").split()
    while told and fold(told[0]) in LEADING:
        told = told[1:]
    return " ".join(told)


LEADING = (AFTER | BEFORE) - {"the"} | {"it's", "as", "also", "so", "like", "pics", "photos"}


def _unplaced(story: Story, base: str) -> str:
    """ "Number the jpgs in Damage trailer damage 1, 2": without the folder that comes before it."""
    heads = (f"{folder.rpartition('/')[2]} " for folder, _ in story.places)
    head = next((head for head in heads if base.casefold().startswith(head.casefold())), "")
    led = head and story.language != "de" and LEADS.search(story.text[: story.text.find(base)])
    return base[len(head) :] if led else base


def _unnamed(files: Files) -> Files:
    """Those that nobody has named yet, where some of them have names and others have not."""
    return tuple(path for path in files if MACHINE.fullmatch(stem(path))) or tuple(files)
