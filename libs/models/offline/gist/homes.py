"""What a folder is called that nobody has named, or that is called like a kind of files: "put the invoices in a folder"
and "pack die Fotos in Bilder".

Of a new folder for the invoices everybody would say that it is called Invoices. It is offered so, and a reply may name
it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from libs.models.offline.clauses import ACTIONS, KINDS
from libs.models.offline.gist.called import FOLDER
from libs.models.offline.gist.each import EACH_OF
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, words

_POLITE = r"(?:\s*,?\s*(?:please|pls|thanks?|thx|bitte|danke|por\s+favor|porfa|gracias))*\W*"
_A = r"(?:an?|one|some|their|its|einen?|'?nen?|ihren|una?|su|nuev[oa]|new|neuen|own|eigenen|extra|separate|propia)"
_ALSO = (
    r"\s*,\s*(?:(?:and|und|y)\s+)?(?P<also>(?:(?:die|den|das|the|la|el|los|las|my|meine?)\s+)*[^\W\d_]+)"
    rf"\s+(?:auch|too|as\s+well|also|también)(?={_POLITE}$)"
)
_BESIDE = (
    r"\s*,?\s+(?:but|aber|pero)\s+(?:leave|keep|not|lass|nicht|ohne|deja|no)(?!\w)"
    r"|\s*,\s*(?:except|but\s+not|not|außer|nur\s+nicht|menos|excepto|salvo)\s"
    rf"|{_ALSO}"
)
""" "…, but leave my selfie where it is", "…, the reminder too"."""
ANY_FOLDER = regex(
    rf"\s(?:in(?:to)?|inside|nach|en|a)\s+(?:{_A}\s+)+{FOLDER}(?:\s+(?:suya|propia|aparte|nueva))?(?=(?:\s+(?:rein|zusammen|together|packen|legen|tun|stecken|schieben))?(?:{_POLITE}$|{_BESIDE}))",
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
_SPOT = (
    r"(?:(?:one|a\s+single|the\s+same)\s+(?:place|spot)|eine[mn]?\s+(?:Ort|Platz|Stelle)"
    r"|un\s+(?:solo\s+|mismo\s+)?(?:sitio|lugar))"
)
TOGETHER = regex(
    r"^(?:.*?(?<!\w))?(?:(?:put|keep|have|bring|want|like|need|leg\w*|tu|pack\w*|bring\w*|will|möchte?|hätte|pon\w*|quiero|quisiera|ten\w*)\s+"
    rf"(?P<what>(?:[\w'’]+\s+){{1,7}}?)(?:(?:kept|put|to\s+be|gern\w*|bitte)\s+)*(?:all(?:e|es)?\s+)?"
    rf"(?:(?:together|zusammen|junt[oa]s)(?:\s+(?:somewhere|irgendwo|haben|legen|in\s+{_SPOT}|en\s+{_SPOT}))?|(?:in|an|en)\s+{_SPOT}(?:\s+haben)?)"
    rf"|(?:gather|collect|sammel\w*|sammle|junta\w*|re[uú]ne\w*)\s+(?P<those>(?:[\w'’]+\s+){{0,6}}[\w'’]+?)(?:\s+(?:up|together|ein|zusammen))?){_POLITE}$",
    re.IGNORECASE,
)
""" "I want all the knitting things in one place"."""
LIKE_A_KIND = regex(
    rf"\s(?:in(?:to)?|to|nach|ins|en|a)\s+(?:(?:the|den|die|das|la|las|los)\s+)?(?P<name>\w+)(?={_POLITE}$)",
    re.IGNORECASE,
)
INTO_SOME = regex(r"(?<!\w)(?:in|into|to|nach|ins|en|a)\s", re.IGNORECASE)
"""Of two ends neither is the one."""
AND = {"en": "and", "de": "und", "es": "y"}
MOVES = {"en": "put", "de": "verschiebe", "es": "mete"}
INTO = {"en": 'into a folder "{}"', "de": 'in einen Ordner "{}"', "es": 'en una carpeta "{}"'}


def named(story: Story) -> str | None:
    """The request with a name for its folder; None where that is no question, or where more is asked for."""
    text = story.text
    if (found := FOR_THEM.match(text)) is not None and (name := _name(found["what"], story)) is not None:
        return f"{found['lead']}{MOVES[story.language]} {found['what']} {_into(story, name)}"
    if story.says("remove", "copy", "pack", "rename", "find", "list") or EACH_OF.search(text):
        return None
    if (found := ANY_FOLDER.search(text)) is not None and (name := _name(text[: found.start()], story)) is not None:
        also = f" {AND[story.language]} {found['also']}" if found["also"] else ""
        rest = text[found.end() :] if not also else ""
        return f"{text[: found.start()]}{also} {_into(story, name)}{rest}"
    if (found := TOGETHER.match(text)) is not None:
        what = (found["what"] or found["those"]).strip()
        name = _name(what, story) if re.search(FOLDER, what, re.IGNORECASE) is None else None
        return f"{MOVES[story.language]} {what} {_into(story, name)}" if name is not None else None
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
    """The noun of what goes in, or several side by side: a kind, or a word that files have."""
    nouns = [*_nouns(said, story)]
    if not nouns:
        return None
    if ending := extension_of(nouns[0].folded):
        return nouns[0].text.upper().removesuffix("S") + "s" * (nouns[0].folded != ending)
    side = [*takewhile(lambda two: two[0].end + 1 == two[1].start, pairwise(nouns))]
    name = said[nouns[0].start : side[-1][1].end if side else nouns[0].end]
    return f"{name[:1].upper()}{name[1:]}"


def _nouns(said: str, story: Story) -> Iterator[Word]:
    for word in words(said):
        deed = not ACTIONS.isdisjoint(word.concepts)
        if not (word.filler or deed) and (
            {*KINDS} & {*word.concepts} or extension_of(word.folded) or _held(word, story)
        ):
            yield word


def _held(word: Word, story: Story) -> bool:
    return bool(re.search(r"[^\W\d_]{3}", word.text)) and bool(story.having(word, story.ground.paths or ()))
