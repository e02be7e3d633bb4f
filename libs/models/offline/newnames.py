"""What something new is called, or where it goes: names of several words that no quotes hold together.

"A folder called Last Year", "to For the Hales", "benenne a.txt in alte Liste um": such a name goes to the end of its
clause, as far as its words could be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from libs.models.offline.clauses import ACTIONS, AND, BUT, KINDS, Name, Named
from libs.models.offline.paths import kind_of
from libs.models.offline.titles import PLUS, SERIES
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import extension_of, fold, words

CALLED = regex(
    r"\b(?:called|named|titled|entitled|namens|genannt|mit (?:dem )?Namen|die .{1,20} hei(?:ss|ß)t|llamad[ao]s?"
    r"|de nombre|con (?:el )?nombre|titulad[ao])\s+",
    re.IGNORECASE,
)
TITLED = regex(r"(?:[^\W\d_a-z][\w'-]*|\d[\w-]*)(?:[ ](?:[^\W\d_a-z][\w'-]*|\d[\w-]*))*(?:\.\w{1,7})?")


def titles(text: str) -> Iterator[Named]:
    """What stands after "called" in capitals is a name of several words: "a folder called Last Year"."""
    yield from called(text)
    yield from _in_small_letters(text)


def called(text: str) -> Iterator[Named]:
    for match in CALLED.finditer(text):
        said = FOR_ONE.match(text, match.end()) or _whole(text, match.end())
        if SERIES.match(text, match.end()):
            continue
        if said and "\0" not in said.group() and (" " in said.group() or not kind_of(said.group())):
            yield _named(said)


FOR_ONE = regex(
    r"(?-i:[^\W\d_a-z])[\w'-]*(?: [\w'-]+){0,3}? (?:for|für|para) (?-i:[^\W\d_a-z])[\w'-]*(?:\.\w{2,5})?"
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:so|because|and|please|damit|weil|und|bitte|para|porque|y|por favor)\s)",
    re.IGNORECASE,
)
""" "A zip called Programmes for Anne"."""
_BARE = r"(?!['‘])[^\s,;:!?\"“”„«*\0]*[^\s,.;:!?\"'“”„«*\0]"  # the full stop after it is the sentence's
_CLOSED = (
    rf"(?P<name>{_BARE}(?: {_BARE})+?)(?P<um> um)?(?:\s+(?:please|bitte|por favor|instead))?"
    r"(?=\s*(?:[.,;!?](?:\s|$)|$))"
)
RENAMING = regex(
    r"\b(?:rename|(?:be)?nenne?n?|renombra|renombrar|change the name of"
    r"|änder[en]?(?: Sie)?(?: bitte)? den (?:datei)?namen (?:von|der)|cambia(?:r|le)? el nombre (?:del?|a))\b",
    re.IGNORECASE,
)
_PLEASE = "bitte|please|mal|doch|einfach|just"
_NOW = "bitte|jetzt|künftig|von nun an|ab (?:jetzt|sofort)"
# What stands before a name is no part of it; a possessive repeat would say so, but Python misreads those before 3.11.5.
TO_NAME = regex(rf"\s(?:to|in|zu|a|as|als|como|[-=]>|→)\s+{_CLOSED}", re.IGNORECASE)
IT_NAMED = regex(
    r"\b(?:(?:call|name) (?:it|this|that)|(?:to|should|shall|must) be (?:called|named|renamed(?: to)?)"
    r"|nenne?n?(?: Sie)? (?:sie|ihn|es|das)|ll[aá]mal[oa]|ponle de nombre|(?:it|that)(?:['’]s| is) called"
    r"|s (?:file ?)?name (?:in)?to"
    r"|(?:give|gib|ponle|pon|dale)\s[^,;:\n]{2,60}?\s"
    r"(?:the (?:new )?name|den (?:neuen )?namen|el (?:nuevo )?nombre(?: de)?)"
    r"|(?:call|name|nenne?n?(?: Sie)?|llama a)(?: bitte)?(?: (?:the|my|die|el) (?:file|datei|archivo))?"
    r" (?:[\U00020000-\U000203ff]+|\S*\d\S*|\S+\.\w+))"
    rf"(?: (?:{_PLEASE}))*\s+(?!(?:{_PLEASE})\b){_CLOSED}",
    re.IGNORECASE,
)
_NAME = rf"(?P<name>{_BARE}(?: {_BARE})+?)"
SHALL_BE = (
    regex(rf"^\W*(?:[\U00020000-\U000203ff]+|\S+\.\w+)\s+(?:[-=]>|to)\s+{_CLOSED}"),
    regex(
        rf"\bsoll(?: (?:{_NOW}))*\s+(?!(?:{_NOW})\b){_NAME}(?= hei(?:ß|ss)en\b)",
        re.IGNORECASE,
    ),
    regex(rf"\sin\s+{_NAME}(?= um(?:zu)?benennen\b)", re.IGNORECASE),
)


def renamed(text: str, plain: str) -> Iterator[Named]:
    """What one thing shall be called goes to the end, and may hold any name that is there: "rename policy 2024 to
    policy 2024 old", "benenne a.txt in Liste alt um". In `plain` each name that is there is one word.
    """
    if SERIES.search(text) or PLUS.search(text):
        return
    found = chain(*(form.finditer(plain) for form in (IT_NAMED, *SHALL_BE)), _led_to(text, plain))
    for start, end in dict.fromkeys(match.span("name") for match in found):
        if _could_be_new(plain[start:end]):
            yield Named(kind_of(text[start:end]) or Name.QUOTE, text[start:end], start, end)


def _could_be_new(name: str) -> bool:
    read = words(name)
    return bool(read) and read[0].folded not in UNNAMED and not any(word.folded in AWAY for word in read)


def _led_to(text: str, plain: str) -> Iterator[re.Match[str]]:
    """Where what stands before the "to" is one thing, of each of several wishes."""
    verb = RENAMING.search(plain)
    um = re.search(r"\s(?:um|(?:datei)?namen)\b", plain, re.IGNORECASE) is not None
    for start, end in _wishes(plain, verb.end()) if verb else ():
        for split in LED_TO.finditer(plain, start, end):
            found = TO_NAME.match(text, split.start(), end)
            led = um is (split["to"].casefold() == "in") and ONE_THING.match(plain[start : split.start()])
            if found and led and _could_be_new(plain[slice(*found.span("name"))]):
                yield found
                break


def _wishes(plain: str, start: int) -> Iterator[tuple[int, int]]:
    """From where to where each goes: "a to b", "and c to d", "and delete e"."""
    for joint in JOINT.finditer(plain, start):
        rest = plain[joint.end() - 1 :]
        again = any(ONE_THING.match(rest[: split.start()]) for split in LED_TO.finditer(rest))
        if again or any({*word.concepts} & (ACTIONS | {"archives"}) for word in words(rest)[:1]):
            yield start, joint.start()
            start = joint.end() - 1
    yield start, len(plain)


JOINT = regex(r"(?:,|\s(?:and|und|y)(?: then| dann| luego)?)\s", re.IGNORECASE)
LED_TO = regex(r"\s(?P<to>to|in|zu|a|as|als|como|[-=]>|→)(?=\s)", re.IGNORECASE)
_NOUN = r"(?:file|folder|document|photo|picture|datei|ordner|dokument|foto|bild|archivo|fichero|carpeta|documento)\s+"
ONE_THING = regex(
    rf"^(?:\s+(?:Sie|bitte|please|mal|mir))*\s+(?:(?:the|my|die|den|das|meinen?|el|la|mi)\s+)?(?:{_NOUN})?[^\s,;]+"
    r"(?:\s+(?:in|inside|from|im|aus|von|of|en|de)\s+(?:(?:the|my|den|der|dem|meinen?|la|el|mi)\s+)?(?:(?:folder|ordner|carpeta)\s+)?"
    r"[^\s,;]+(?:\s+folder)?)?(?:\s+um)?$",
    re.IGNORECASE,
)
"""And the folder that it is in."""
UNNAMED = listed("that something anything whatever etwas irgendwas algo the their its all names to into")
AWAY = listed("in im en um and und y then dann instead now jetzt ahora not nicht")


SMALL = regex(
    r"\b(?:folder|directory|subfolder|ordner|unterordner|carpeta|subcarpeta)\s+(?:called|named|titled|namens"
    r"|genannt|llamada|de nombre)\s+"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)


def _in_small_letters(text: str) -> Iterator[Named]:
    """ "A folder called old stuff": of a folder's name, words that mean something else, or several."""
    for match in SMALL.finditer(text):
        first = re.compile(r"[^\W\d_][\w'-]*(?![\w./])").match(text, match.end())
        if first is None or not first.group()[0].islower() or words(first.group())[0].filler:
            continue
        end = _extended(text, first.end())
        said = re.compile(re.escape(text[match.end() : end])).match(text, match.end())
        if said and (words(first.group())[0].concepts or " " in said.group()):
            yield _named(said)


NEXT = regex(r"[ ](?P<word>[\w'-]+)(?=[ ,.;:!?)]|$)")
WITHIN = listed("of the de del el la los las der des stuff things my")
"""Little words that stand within a name."""
STOPS = listed("dentro inside already junto please")


def _whole(text: str, at: int) -> re.Match[str] | None:
    """A name that begins with a capital, and the small words that belong to it."""
    said = TITLED.match(text, at)
    if said is None or "." in said.group():
        return said
    end = _extended(text, said.end())
    return re.compile(re.escape(text[at:end])).match(text, at) if end > said.end() else said


def _extended(text: str, end: int) -> int:
    """Where a name ends that may go on after this place."""
    if (more := ONE_MORE.match(text, end)) and ONE_OF.search(text[: text.rfind(" ", 0, end)]):
        end = more.end()
    held = end
    while (more := NEXT.match(text, held)) and _goes_on(more["word"]):
        held = more.end()
        end = end if more["word"].casefold() in WITHIN - {"stuff", "things"} else held
    return end


ONE_MORE = regex(r"[ ](?:and|und|y|e|&)[ ](?=[^\W\d_a-z])[^\W\d_a-z][\w'-]*(?=[.,;:!?)]|$| (?:and|und|y) )")
ONE_OF = regex(
    r"\b(?:an?|one|new|einen|neuen|una|nueva)\s+(?:\w+\s+)?(?:folder|directory|ordner|carpeta)\s+(?:nueva\s+)?[\w ]*$",
    re.IGNORECASE,
)
""" "A folder called Beach and Hills" is one."""


OVER = listed("not all except only because then")
"""A name does not go on with what limits the wish: "called Old prices except the 2024 ones"."""


def _goes_on(word: str) -> bool:
    read = words(word)
    if not read or read[0].folded in STOPS | BUT or not (ACTIONS | OVER).isdisjoint(read[0].concepts):
        return False
    return not read[0].filler or read[0].folded in WITHIN


def _named(said: re.Match[str]) -> Named:
    return Named(kind_of(said.group()) or Name.QUOTE, said.group(), said.start(), said.end())


LEADS = regex(
    r"\b(?:(?:to|into|nach|as|als|como|in|en|al?)\s+(?:(?:an?|the|my|our|den|einen|una?|la|el|mi)\s+)?"
    r"(?:(?-i:new|neuen?|nueva)\s+)?(?P<noun>(?:folder|directory|ordner|carpeta)\s+(?:nueva\s+)?)?)(?=[^\s\0])",
    re.IGNORECASE,
)
MAKES = regex(
    r"\b(?:create|make|crea|crear|haz|erstelle?|mach|leg|lege)\s+(?:(?:me|mir|bitte)\s+)?(?:an?|the|einen|den|una|la)\s+"
    r"(?:(?-i:new|neuen|nueva)\s+)?(?:folder|ordner|carpeta)\s+(?-i:(?=[^\W\d_a-z]))",
    re.IGNORECASE,
)
""" "Create a folder For the Hales in Weddings"."""
AROUND = listed("in inside within en dentro im unter an")
PLACING = listed("move copy pack unpack")
BELONGS = listed(
    "should must go goes belong belongs"
    " soll sollen sollte sollten muss mussen gehoren gehort kommen kommt deben debe deberian van"
)
SENTENCE = regex(r"[.!?;:\n]\s")
WHERE = listed("in en a al")
"""Where something is, or goes: a folder's name follows only where it says so, or has a capital."""


def ending(text: str, known: Sequence[str]) -> Iterator[Named]:
    """A new place of several words goes to the end of its clause: "copy them to For the Hales", "into bills 2021"."""
    tops = {fold(name.rstrip("/")) for name in known}
    for match in MAKES.finditer(text):
        if end := ended(text, match.end(), frozenset(), closing=AROUND):
            yield Named(Name.QUOTE, text[match.end() : end], match.end(), end)
    for match in LEADS.finditer(text):
        before = words(SENTENCE.split(text[: match.end()])[-1])
        if match["noun"] is None and match.group().split()[0].casefold() in WHERE and not text[match.end()].isupper():
            continue
        deeds = {concept for word in before for concept in word.concepts} & PLACING
        deeds |= {word.folded for word in before} & BELONGS
        odd = bool(match["noun"]) or "unpack" in deeds
        if deeds and (end := ended(text, match.end(), tops) or (_one_word(text, match.end()) if odd else None)):
            yield Named(kind_of(text[match.end() : end]) or Name.QUOTE, text[match.end() : end], match.end(), end)


def ended(text: str, start: int, known: AbstractSet[str], *, closing: AbstractSet[str] = frozenset()) -> int | None:
    """Where a name of several words ends that begins here; nothing where the clause goes on after it."""
    end, before = start, ""
    for token in re.compile(r"[^\s\0]+").finditer(text, start):
        said = token.group().rstrip(".,;:!?)")
        inner = said.islower() and token.start() > start and _joins(said, before)
        if "\0" in text[end : token.start()] or not (inner or _of_a_name(said, before)) or fold(said) in known:
            return end if " " in text[start:end] and (_closes(said) or said.casefold() in closing) else None
        before = before if inner and before.casefold() in LED else said
        end = end if inner else token.start() + len(said)
        if len(said) < len(token.group()):
            break
    return end if " " in text[start:end] and not text[end:].lstrip().startswith("\0") else None


def _joins(said: str, before: str) -> bool:
    """May it stand between two words of a name: "Reed and Lopez", "For the Reeds", and not "Fotos die Bilder"?"""
    return said.casefold() in OF | AND or (said.casefold() in WITHIN and before.casefold() in LED)


LED = listed("for of de del von para fur from")


def _of_a_name(said: str, before: str) -> bool:
    """A word with a capital or a digit, one that nobody knows, or a kind of files; not all of these follow a little
    word.
    """
    read = words(said)
    if not read or (read[0].folded in CLOSING and before) or extension_of(read[0].folded):
        return False
    if said[0].isupper() or said[0].isdigit():
        return True
    if read[0].folded in COPIES and before:
        return True
    if before and read[0].slip and {*read[0].concepts} & ACTIONS and said.endswith("en"):
        return False  # "in Brief Müller umbennenen"
    if any({*word.concepts} & ACTIONS and not word.slip for word in read) or before in WITHIN - OF:
        return False
    return all(
        word.unknown or word.slip or (before not in ("", *OF, *AND) and {*word.concepts} & {*KINDS}) for word in read
    )


OF = listed("of de del von der")
COPIES = listed("copy copia kopie backup")
""" "Klasse 6 Kopie": what ends many a name."""
CLOSING = (
    AND
    | BUT
    | listed(
        "please bitte porfa por thanks danke gracias without ohne sin"
        " minus menos pero aus ein um ab weg hinein rein zusammen"
    )
)


def _one_word(text: str, start: int) -> int | None:
    """ "Unzip it to website", "into stuff": the last word of a clause is a name, though it means something."""
    said = re.compile(r"[^\W\d_]{3,}(?=\s*(?:[.,;:!?)]|$))").match(text, start)
    read = words(said.group()) if said else ()
    odd = len(read) == 1 and (read[0].concepts == ("foreign",) or read[0].folded in VAGUE)
    return said.end() if said and odd else None


VAGUE = listed("stuff things zeug kram sachen cosas trastos")


def _closes(said: str) -> bool:
    """Does a clause end before this word?"""
    read = words(said)
    over = ACTIONS | {"not", "except", "then", "because", "only"}
    return not read or read[0].folded in CLOSING or bool({*read[0].concepts} & over)
