"""What a folder is called that nobody has named, or that is called like a kind of files: "put the invoices in a folder"
and "pack die Fotos in Bilder".

Of a new folder for the invoices everybody would say that it is called Invoices. It is offered so, and a reply may name
it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.clauses import ACTIONS, KINDS
from libs.models.offline.gist.called import FOLDER
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, words

_POLITE = r"(?:\s*,?\s*(?:please|pls|thanks?|thx|bitte|danke|por\s+favor|porfa|gracias))*\W*"
_A = r"(?:an?|one|some|their|its|einen?|'?nen?|ihren|una?|su|nuev[oa]|new|neuen|own|eigenen|extra|separate|propia)"
ANY_FOLDER = regex(
    rf"\s(?:in(?:to)?|inside|nach|en|a)\s+(?:{_A}\s+)+{FOLDER}(?=(?:\s+(?:rein|zusammen|together))?{_POLITE}$)",
    re.IGNORECASE,
)
FOR_THEM = regex(
    rf"^(?P<lead>\W*(?:(?:please|bitte|por\s+favor|can\s+you|could\s+you|kannst\s+du)\s+)*)"
    rf"(?:make|create|start|set\s+up|leg\w*|mach\w*|erstell\w*|crea\w*|haz(?:me)?)\s+(?:me\s+|mir\s+)?(?:mal\s+)?(?:{_A}\s+)+{FOLDER}\s+"
    rf"(?:an\s+)?(?:for|für|para)\s+(?P<what>(?:\w+\s+){{0,2}}\w+?)(?:\s+an)?"
    rf"(?:\s*,?\s*(?:and|und|y)\s+(?:put|move|pack|tu|leg|schieb|m[eé]te\w*|pon\w*)\w*\s+(?:(?:them|it|all|sie|die|alle)\s+)*"
    rf"(?:in(?:\s+(?:it|there))?|(?:da)?(?:rein|hinein)|(?:ah[ií]|all[ií]|dentro)))?(?={_POLITE}$)",
    re.IGNORECASE,
)
LIKE_A_KIND = regex(
    rf"\s(?:in(?:to)?|to|nach|ins|en|a)\s+(?:(?:the|den|die|das|la|las|los)\s+)?(?P<name>\w+)(?={_POLITE}$)",
    re.IGNORECASE,
)
INTO_SOME = regex(r"(?<!\w)(?:in|into|to|nach|ins|en|a)\s", re.IGNORECASE)
"""Of two ends neither is the one."""
MOVES = {"en": "put", "de": "verschiebe", "es": "mete"}
INTO = {"en": 'into a folder "{}"', "de": 'in einen Ordner "{}"', "es": 'en una carpeta "{}"'}


def named(story: Story) -> str | None:
    """The request with a name for its folder; None where that is no question, or where more is asked for."""
    text = story.text
    if (found := FOR_THEM.match(text)) is not None and (name := _name(found["what"], story)) is not None:
        return f"{found['lead']}{MOVES[story.language]} {found['what']} {_into(story, name)}"
    if story.says("remove", "copy", "pack", "rename", "find", "list"):
        return None
    if (found := ANY_FOLDER.search(text)) is not None and (name := _name(text[: found.start()], story)) is not None:
        return f"{text[: found.start()]} {_into(story, name)}{text[found.end() :]}"
    if (found := LIKE_A_KIND.search(text)) is not None and _like_a_kind(found["name"], story):
        alone = INTO_SOME.search(text, 0, found.start()) is None
        return f"{text[: found.start()]} {_into(story, found['name'])}{text[found.end() :]}" if alone else None
    return None


def _like_a_kind(said: str, story: Story) -> bool:
    """ "Pictures", where no folder is called so."""
    there = any(said.casefold() == one.casefold() for one in story.folders)
    return said[0].isupper() and not there and any({*KINDS} & {*word.concepts} for word in words(said))


def _into(story: Story, name: str) -> str:
    return INTO[story.language].format(name)


def _name(said: str, story: Story) -> str | None:
    """The noun of what goes in: a kind, or a word that files have."""
    noun = next(_nouns(said, story), None)
    if noun is None:
        return None
    ending = extension_of(noun.folded)
    return noun.text.upper().removesuffix("S") + "s" * (noun.folded != ending) if ending else noun.text.capitalize()


def _nouns(said: str, story: Story) -> Iterator[Word]:
    for word in words(said):
        deed = not ACTIONS.isdisjoint(word.concepts)
        if not (word.filler or deed) and (
            {*KINDS} & {*word.concepts} or extension_of(word.folded) or _held(word, story)
        ):
            yield word


def _held(word: Word, story: Story) -> bool:
    return bool(re.search(r"[^\W\d_]{3}", word.text)) and bool(story.having(word, story.ground.paths or ()))
