"""Each sort to its own folder, in a story: "photos to Photos, the two invoices go in Invoices and the quote in Quotes".

Where things go is a folder that is there, a name in quotes, or what they are called themselves. What goes is what is
told since the pair before, lying loose where any of it does; all pairs have to be borne out, or none is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from libs.models.offline.gist.called import FOLDER, QUOTED
from libs.models.offline.gist.choosing import Choosing
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

TO = regex(
    r"\b(?:in(?:to)?|to|nach|zu[mr]?|ins|al?|en)\s+(?:(?:the|my|an?|den|die|das|dem|eine[nm]?|la|el|una?|mi)\s+)*"
    rf"(?:(?:new|neuen|nueva)\s+)?(?:{FOLDER}\s+)?(?=[\"“„«']?\w)",
    re.IGNORECASE,
)
UNNAMED = regex(
    rf"\b(?:in(?:to)?|en)\s+(?:(?:one|einen?|una)\s+{FOLDER}|(?:another|the\s+other|a\s+second|(?:einen?\s+)?(?:anderen?|zweiten?)|(?:la\s+)?otra)"
    rf"(?:\s+(?:one|{FOLDER}))?)(?=\s*(?:[,.;!?]|$|(?:and|und|y)\b))",
    re.IGNORECASE,
)
""" "All of Dublin in one folder, all of Galway in another"."""
WORDS_MOST = 3


@dataclass(frozen=True, slots=True)
class Target:
    """Where something goes, and where that is told."""

    folder: str
    lead: int
    end: int


def pairs(story: Story) -> list[tuple[str, list[str]]]:
    """Folders with what goes into each; nothing where there are fewer than two, or one of them has nothing."""
    told: list[tuple[str, list[str]]] = []
    at, nouns = 0, list[Word]()
    for target in _targets(story):
        files, by = _before(story, at, target.lead, nouns)
        told.append((target.folder, [path for path in files if not path.startswith(f"{target.folder}/")]))
        at, nouns = target.end, [word for word in by if not word.text.isdigit()] or nouns
    every = [path for _, files in told for path in files]
    apart = len({*every}) == len(every) and len({folder for folder, _ in told}) == len(told)
    return told if len(told) > 1 and apart and all(files for _, files in told) else []


def _before(story: Story, start: int, end: int, nouns: Sequence[Word]) -> tuple[list[str], list[Word]]:
    """What is told there; of "the ones from 2025" what was told before says which."""
    files, by = Choosing(story).between(start, end)
    if nouns and by and all(word.text.isdigit() for word in by):
        held: Sequence[str] = story.ground.paths or ()
        for word in (*nouns, *by):
            held = story.having(word, held)
        files = list(held)
    return files, by


def _targets(story: Story) -> Iterator[Target]:
    end = 0
    if len(UNNAMED.findall(story.text)) > 1:
        yield from filter(None, (_after_them(story, found) for found in UNNAMED.finditer(story.text)))
        return
    for found in TO.finditer(story.text):
        if found.start() >= end and (target := _there(story, found) or _quoted(story, found) or _same(story, found)):
            yield target
            end = target.end


def _after_them(story: Story, found: re.Match[str]) -> Target | None:
    """Called after what goes there: the last word before it that files have."""
    told = (word for word in reversed(story.words) if word.end <= found.start() and not word.filler)
    word = next((word for word in told if story.having(word, story.ground.paths or ())), None)
    return Target(f"{word.text[:1].upper()}{word.text[1:]}", found.start(), found.end()) if word is not None else None


def _there(story: Story, found: re.Match[str]) -> Target | None:
    """A folder that is there."""
    rest = story.text[found.end() :].casefold()
    names = ((folder, folder.rpartition("/")[2].casefold()) for folder in story.folders)
    said = [(len(name), folder) for folder, name in names if re.match(rf"[\"“„«']?{re.escape(name)}(?!\w)", rest)]
    length, folder = max(said, default=(0, ""))
    return Target(folder, found.start(), found.end() + length) if folder else None


def _quoted(story: Story, found: re.Match[str]) -> Target | None:
    name = QUOTED.match(story.text, found.end())
    return Target(name["name"], found.start(), name.end()) if name else None


def _same(story: Story, found: re.Match[str]) -> Target | None:
    """ "Los de Garmendia a Garmendia": called as what goes there."""
    before, after = story.text[: found.start()].split(), story.text[found.end() :]
    for n in range(min(WORDS_MOST, len(before)), 0, -1):
        name = re.match(rf"\w+(?:\s+\w+){{{n - 1}}}(?!\w)", after)
        if name is not None and _alike(before[-n:], name.group().split()):
            return Target(name.group(), found.start(), found.end() + name.end())
    return None


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    return [fold(word.strip(",.;:\"'“”„«»")) for word in one] == [fold(word) for word in other]
