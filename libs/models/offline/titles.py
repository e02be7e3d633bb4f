"""Names that are told by the words around them: with an ending, by number, and by parts of names.

"To accounts 2021.zip", "to Trip 001, Trip 002 and so on", "with birthday in the name".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from libs.models.offline.clauses import ACTIONS, Name, Named
from libs.models.offline.pronouns import PRONOUNS
from libs.retrieval.lexicon import CONCEPTS, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import words

RENAMES = regex(
    r"\bnamed?\b|\bcalled\b|llam[ae]|renam|benenn|\bnenn|renombr|nombre|change the name|\bcall\b|\bnumber|nummer|numer"
    r"|\bhei(?:ß|ss)en\b",
    re.IGNORECASE,
)
SPACED = regex(
    r"\b(?:to|in|into|as|zu|als|a|en|como|named|called|namens|llamad[ao]|llamarse|(?:call|name) it|ll[aá]mal[oa]"
    r"|nenne? (?:es|sie|ihn))\s+"
    r"(?P<name>(?:(?!(?:and|und|y|to|in|as|als|como|the|den|llamarse|be|called|named|one|namens"
    r"|llamad[ao])\b)[\w()-]+ ){1,4}[\w()-]+\.\w{2,5})\b",
    re.IGNORECASE,
)
_GRAMMAR = (
    r"to|in|into|as|als|an?|en|the|den|el|la|una?|ein\w*|with|mit|con|from|aus|called|named|namens|llamad[ao]|zip|files?"
    r"|archiv\w*|folder|ordner|carpeta|my|mein\w*|mi"
)
SPACED_ARCHIVE = regex(
    r"\b(?:to|into|in|as|als|en|como|a|called|named|namens|llamad[ao])\s+"
    rf"(?P<name>(?!(?:{_GRAMMAR}|of|von|de|and|und|y)\b)[\w()/-]+ (?:(?!(?:{_GRAMMAR})\b)[\w()/-]+ ){{0,3}}"
    r"[\w()/-]+\.(?:zip|tgz|7z|tar(?:\.\w{2,3})?))\b",
    re.IGNORECASE,
)
""" "Zip the invoices to accounts 2021.zip"."""
_ENDING, _JOINT = r"(?:\.\w{2,5})?", r"(?:\s*(?:,|and|und|y)\s*|\s+)"
_ON = r"(?:\s*,?\s*(?:and so on|and so forth|and on|etc\.?|usw\.?|und so weiter|etcétera|y así sucesivamente|\.\.\.|…))"
_LED = r"(?:(?<=\bin )|(?<=\bto )|(?<=\bas )|(?<=\bals )|(?<=\binto )|(?<=\bzu )|(?<=\ba )|(?<=\bcomo ))"
SERIES = regex(
    rf"(?<![\w-])(?P<base>[^\W\d_][^,;\n]{{0,60}}?)[\s_\-]*0*1{_ENDING}{_JOINT}"
    rf"(?P=base)[\s_\-]*0*2{_ENDING}(?:{_JOINT}(?P=base)[\s_\-]*0*3{_ENDING})?{_ON}?"
    rf"|(?<![\w-])(?P<token>[^\W\d_][\w-]*?)[_\-]?0*1{_ENDING}(?:{_JOINT}0*2{_ENDING}(?:{_JOINT}0*3{_ENDING})?{_ON}"
    r"|\s+(?:bis|to|through|hasta|a)\s+0*\d+(?!\w)|\s*(?:\.{2,4}|…|\s(?:bis|to|through|hasta)\s)\s*(?P=token)[_\-]?\d+)"
    rf"|{_LED}(?P<alone>[^\W\d_](?:(?! (?:in|to|into|as|als|zu|como|um) )[^,;:\n]){{0,60}}?)[\s_\-]0*1{_ENDING}{_ON}"
    rf"|{_LED}(?P<apart>[^\W\d_][\w-]*(?: (?!(?:in|to|into|as|als|zu|um|a|como|de|en|of)\b)[\w-]+){{0,4}}?)"
    rf" 0*1{_ENDING}(?:{_JOINT}0*2{_ENDING}(?:{_JOINT}0*3{_ENDING})?{_ON}|\s+(?:bis|through|hasta)\s+0*\d+(?!\w))",
    re.IGNORECASE,
)
""" "Trip 001, Trip 002 and so on", "trip-001, 002 etc.", "trip_01 to 04", "in Bad 01, 02 usw": names by number."""
AND_MORE = regex(rf"{_ON}\W*$", re.IGNORECASE)
_CAPITAL = r"(?-i:[A-ZÄÖÜÁÉÍÓÚÑ])"
_DIGITS = {2: r"two|2|zwei\w*|dos", 3: r"three|3|drei\w*|tres", 4: r"four|4|vier\w*|cuatro"}
PLUS = regex(
    rf"(?P<base>(?:{_CAPITAL}\w* (?:(?:{_CAPITAL}|\d)\w* )*)?[^\s,;]+)\s+"
    r"(?:plus|and|followed\s+by|und|gefolgt\s+von|más|mas|y)\s+(?:an?|eine[rn]?|un)\s+"
    r"(?:(?:running|consecutive|laufenden?|fortlaufenden?)\s+)?(?P<before>\w+-?(?:digit|stellige[nr]?)\s+)?(?:number|nummer|zahl|número)"
    r"(?:\s+correlativo)?(?P<after>\s+(?:with|of|mit|de)\s+\w+\s+(?:digits|stellen|cifras|dígitos))?"
    r"(?:\s*,?\s+(?:starting|beginning|beginnend|empezando)\s+(?:at|with|from|mit|bei|por|en)\s+0*1)?(?!\w)",
    re.IGNORECASE,
)
""" "okafor_ plus a number with three digits"."""


def digits_of(plus: re.Match[str]) -> int | None:
    """How many digits the number shall have, where that is said."""
    said = f"{plus['before'] or ''} {plus['after'] or ''}"
    return next((n for n, word in _DIGITS.items() if re.search(rf"\b(?:{word})", said, re.IGNORECASE)), None)


_NAME_OF = r"(?:the\s+|their\s+|its\s+|his\s+|el\s+|su\s+|sus\s+)?(?:file\s?|datei)?(?:names?|namen?|nombres?)\b"
_WORD = (
    r"(?:the\s+(?:word|text)\s+|das\s+wort\s+|la\s+palabra\s+)?(?:[\"“”„«'‘`](?P<quoted{n}>[^\"“”„«»'’`\n]+)[\"“”»'’`]"
    r"|(?P<part{n}>[\w-]+(?: [A-ZÄÖÜ][\w-]*){{0,3}}))"
)
HOLDING = regex(
    "|".join(
        form.replace("WORD", _WORD.format(n=n)).replace("NAME", _NAME_OF)
        for n, form in enumerate(
            (
                r"\b(?:with|having|containing|(?:that|which)\s+(?:have|has|contains?|includes?))\s+WORD\s+(?:somewhere\s+)?in\s+NAME",
                r"(?<=\bwithout )WORD\s+(?:anywhere\s+)?in\s+NAME",
                r"\b(?:whose|where\s+the)\s+(?:file\s?)?names?\s+(?:contains?|includes?|ha[sv]e?|mentions?|says?)\s+WORD",
                r"\b(?:called|named)\s+(?:something|anything)\s+(?:with|like|containing)\s+WORD",
                r"\bmit\s+WORD\s+im\s+NAME",
                r"(?<=\bohne )WORD\s+im\s+NAME",
                r"\bderen\s+(?:datei)?namen?\s+WORD\s+enth(?:ält|alten)",
                r"\b(?:die|welche)\s+WORD\s+im\s+NAME\s+(?:haben|hat|tragen|enthalten|führen)",
                r"\bwo\s+WORD\s+im\s+NAME\s+(?:steht|vorkommt|ist|drin\s*steht)",
                r"\b(?:con|que\s+(?:tengan?|tienen?|contengan?|contienen?|lleven?|llevan?|incluyan?))\s+WORD\s+en\s+NAME",
                r"(?<=\bsin )WORD\s+en\s+NAME",
                r"\bcuyos?\s+nombres?\s+(?:conteng|contien|teng|tien|llev|incluy)\w+\s+WORD",
            ),
            1,
        )
    ),
    re.IGNORECASE,
)
""" "With birthday in the name": files by a part of their names."""
REWRITES = regex(
    r"replac|swap|substit|chang|ersetz|tausch|reempla|sustitu|cambi|\b(?:no|nicht|not|n't)\s+$"
    r"|(?:renam|benenn|renombr|\bcall)[^.;]*\b(?:so|should|shall|must|damit|sollen?|para|deben?)\b[^.;]*$",
    re.IGNORECASE,
)
UNPARTS = listed("blank date number underscore hyphen upper lower not all same only except type size age")
"""What is said of names and is no part of one: "with blanks in the name"."""


_TEXT = r"(?![-–—]\s)[^\s,;:!?\"“”„«»‘`\0*]*[^\s,.;:!?\"“”„«»‘`\0*]"
_CLOSED = (
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:in|im|en|from|of|bei|and|und|y"
    r"|please|bitte|por\s+favor|ersetz\w*|austausch\w*|tausch\w*|everywhere|überall|throughout)\b)"
)
_FOR_ANOTHER = (
    r"\b(?:replac|swap|substit|exchang|ersetz|tausch|reempla|sustitu)\w*\b",
    r"\b(?:chang|turn|änder|aender|wandel|cambi)\w*\b",
)
_IN_BETWEEN = r"[^.;:!?\n\"“„«]*?\s"
EXCHANGED = (
    regex(
        rf"{_FOR_ANOTHER[0]}{_IN_BETWEEN}(?:(?P<also>{_TEXT})\s+(?:and|und|y|e)\s+)?(?P<old>{_TEXT})\s+(?:with|by|for|durch|gegen|mit|por|con)\s+(?P<new>{_TEXT}){_CLOSED}",
        re.IGNORECASE,
    ),
    regex(
        rf"{_FOR_ANOTHER[1]}{_IN_BETWEEN}(?P<old>{_TEXT})\s+(?:to|into|in|zu|por|a)\s+(?P<new>{_TEXT}){_CLOSED}",
        re.IGNORECASE,
    ),
    regex(
        rf"(?<!\S)(?P<old>{_TEXT})\s+(?:in\s+(?:den|allen)\s+(?:datei)?namen\s+)?(?:bitte\s+|überall\s+|immer\s+)*(?:durch|gegen)\s+(?P<new>{_TEXT})\s+(?:bitte\s+)?(?:ersetz|austausch|tausch)\w*",
        re.IGNORECASE,
    ),
)
""" "Replace … KV with Q": short as they are, they are texts."""
OF_NAMES = regex(r"\b(?:file\s?|datei)?names?\b|namen\b|\bnombres?\b", re.IGNORECASE)
SENTENCES = regex(r"(?:[^.;!?\n]|\.(?=\S))+")
GRAMMAR = ACTIONS | listed("blank underscore hyphen date name file folder type upper lower titlecase here all")


def exchanged(text: str) -> Iterator[Named]:
    """One text of names and what takes its place: "replace KV with Q in the names"."""
    for sentence in SENTENCES.finditer(text):
        found = (form.search(sentence.group()) for form in EXCHANGED)
        match = next((one for one in found if one and _of_names(one)), None)
        for start, end in _sides(match) if match else ():
            yield Named(Name.QUOTE, sentence.group()[start:end], sentence.start() + start, sentence.start() + end)


def _of_names(found: re.Match[str]) -> bool:
    """Both are texts, and names are spoken of, or a short form in capitals: "replace RE with Rechnung"."""
    old = (found["old"], found.groupdict().get("also") or "")
    short = any(one.isupper() and one.isalpha() and len(one) <= _SHORT for one in old)
    texts = all(_a_text(found[side]) for side in ("old", "new"))
    return texts and (short or OF_NAMES.search(found.string) is not None)


_SHORT = 4


def _sides(found: re.Match[str]) -> list[tuple[int, int]]:
    """Where they stand, and where another one does that the same text takes the place of."""
    also = found.groupdict().get("also")
    return [found.span(side) for side in (*(("also",) if also and _a_text(also) else ()), "old", "new")]


def _a_text(said: str) -> bool:
    """No word of grammar, unless its capitals say so: "Q"."""
    read = words(said)
    if not read or any(ord(letter) > _VEILS for letter in said) or read[0].folded in PRONOUNS:
        return False
    return said.isupper() or (not read[0].filler and GRAMMAR.isdisjoint(read[0].concepts))


_VEILS = 0x1FFFF
"""What lies beyond stands for names that are there."""


def series(text: str) -> Iterator[Named]:
    """What files shall be called by number."""
    for match in SERIES.finditer(text) if RENAMES.search(text) else ():
        base = match["base"] or match["token"] or match["alone"] or match["apart"]
        yield Named(Name.QUOTE, base, match.start(), match.end())
    for match in PLUS.finditer(text) if RENAMES.search(text) else ():
        yield Named(Name.QUOTE, match["base"], match.start(), match.end())


def a_series(name: Named) -> bool:
    """Does it stand for several: longer where it was said than what is left of it, quotes aside?"""
    return name.kind is Name.QUOTE and name.end - name.start > len(name.text) + 4


def spaced(text: str) -> Iterator[Named]:
    """The new name of a rename may have blanks, "to final v2.mp3", and so may that of an archive."""
    for match in (SPACED if RENAMES.search(text) else SPACED_ARCHIVE).finditer(text):
        said = words(match["name"].rpartition(" ")[0])
        if "\0" not in match["name"] and all(ACTIONS.isdisjoint(word.concepts) for word in said):
            yield Named(Name.PATH, match["name"], match.start("name"), match.end("name"))


def holding(text: str) -> Iterator[Named]:
    """Patterns for parts of names: "with birthday in the name"."""
    for match in HOLDING.finditer(text) if not REWRITES.search(text) else ():
        part = next(group for group in match.groups() if group)
        read, quoted = words(part), any(name.startswith("quoted") and said for name, said in match.groupdict().items())
        unsaid = not read or read[0].filler or {*read[0].concepts} & UNPARTS
        if (unsaid and not quoted) or REWRITES.search(text[: match.start()]):
            continue
        yield Named(Name.GLOB, f"*{part}*", match.start(), match.end())


_FIRST, _LAST = (
    "|".join(form.replace("_", r"\s+") for forms in CONCEPTS[concept].values() for form in forms.split())
    for concept in ("starts", "ends")
)
_PIECE = r"(?:[\"“„«'‘`](?P<quoted>[^\"“”„«»'’`\n]+)[\"“”»'’`]|(?P<plain>[^\s,;:!?]+))"
EDGE = (
    regex(rf"\b(?:(?P<first>{_FIRST})|(?P<last>{_LAST}))\s+{_PIECE}", re.IGNORECASE),
    regex(
        rf"\b(?:auf|mit)\s+{_PIECE}\s+(?:(?P<first>anfang\w*|anfängt|beginn\w*)|(?P<last>ende[nt]|aufhör\w*))\b",
        re.IGNORECASE,
    ),
    regex(
        rf"\b(?:with|mit|con)\s+(?:an?\s+|einem\s+|una?\s+)?{_PIECE}\s+(?:(?P<last>(?:at|on|in)\s+(?:the\s+)?end|am\s+ende|hinten"
        r"|al\s+final)|(?P<first>at\s+(?:the\s+)?(?:start|beginning|front)|am\s+anfang|vorne|al\s+(?:principio|inicio)))\b",
        re.IGNORECASE,
    ),
)
SHAPES = regex(
    r"renam|benenn|renombr|\bcall\b|prefix|suffix|präfix|prefij|sufij|\badd\b|should|soll|damit|para que", re.IGNORECASE
)
"""With one of these the edge may be what a name shall get, unless it says which files are meant."""
OF_SOME = regex(
    r"(?<!so )(?:\b(?:that|which|die|welche|ones|files|photos|images|pictures)|,\s*die|\bque)\s+$", re.IGNORECASE
)


def edges(text: str) -> Iterator[Named]:
    """Patterns for how names begin and end: "that start with ~", "ending in .tmp"."""
    shapes = SHAPES.search(text)
    told = 0
    for match in sorted(chain(*(edge.finditer(text) for edge in EDGE)), key=lambda match: match.start()):
        if match.start() < told or (shapes and not OF_SOME.search(text[: match.start()])):
            continue
        which = "quoted" if match["quoted"] else "plain"
        part = match[which].rstrip(".") or match[which]
        if "*" in part or (which == "plain" and words(part) and words(part)[0].filler):
            continue
        whole = part.startswith(".") or part in MARKS
        pattern = f"{part}*" if match["first"] else f"*{part}" if whole else f"*{part}.*"
        told = match.end()
        yield Named(Name.GLOB, pattern, *(match.span() if match.re.pattern == EDGE[-1].pattern else match.span(which)))


BRACKETED = regex(
    r"(?<=\s)(?:[(\[][\w -]{1,12}[)\]]|[_~#+-][\w-]+|\w[\w-]*[_~#+-])"
    r"(?=\s+(?:from|off|out\s+of|of|in|at|a|al|del?|en|aus|von|vom|bei|am|im|vorne?|hinten)\s)",
    re.IGNORECASE,
)
"""What can only be a part of names, by its brackets or the sign at its edge."""


COPIES = regex(r"(?<=\w\s)\((?:\d{1,2}|copy|copia|kopie)\)(?!\w)", re.IGNORECASE)


def bracketed(text: str) -> Iterator[Named]:
    """ "Quita el (1) de los nombres", "take the _v1 off the files" take a part out of names; "borra las fotos (1)"
    means those that have it.
    """
    deeds = {concept for word in words(text) for concept in word.concepts} & ACTIONS
    for match in BRACKETED.finditer(text) if {"remove", "swap"} & deeds else ():
        yield Named(Name.QUOTE, match.group(), *match.span())
    for match in COPIES.finditer(text):
        if not BRACKETED.match(text, match.start()):
            yield Named(Name.GLOB, f"*{match.group()}*", *match.span())


EDGES = "_~#+-([)]"
"""What stands at the edge of a part of a name."""
MARKS = ("~", "#")
"""What programs put after a name, its ending included."""
APPOSED = regex(
    r"\b(?:[Ff]older|[Dd]irectory|[Oo]rdner|ORDNER|[Vv]erzeichnis|[Cc]arpeta|[Ss]ub(?:folder|carpeta)"
    r"|[Uu]nterordner)\s+(?P<name>[A-ZÄÖÜÁÉÍÓÚÑ][\w-]+)"
    r"(?![\w./])"
)


NO_NAMES = ACTIONS | listed("file folder name not except untouched only")


def apposed(text: str) -> Iterator[Named]:
    """ "Ordner Alt": what a capital tells to be the folder's name, though the word means something."""
    for match in APPOSED.finditer(text):
        read = words(match["name"])
        if len(read) == 1 and read[0].concepts and not {*read[0].concepts} & NO_NAMES:
            yield Named(Name.QUOTE, match["name"], match.start("name"), match.end("name"))
