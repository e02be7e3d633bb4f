"""How names are written: blanks or signs between their words, capitals, and like the others.

Which sign goes is told by the names: those with underscores and no blanks lose their underscores, whichever way round
the sentence has it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from libs.models.offline.gist import plain
from libs.models.offline.gist.aiming import around, chosen, scope
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.rewriting import one_by_one
from libs.models.offline.gist.spelling import Files, parts, stem
from libs.models.offline.gist.story import Some, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

_LINES = r"(?:low(?:er)?\s+|little\s+|small\s+)*(?:lines?|strokes?)|striche?n?|rayas?|rayitas?|líneas?|lineas?"
SIGNS = {
    "_": regex(
        r"underscores?|under[ -]scores?|unterstrich\w*|gui[oó]n(?:es|cito|citos)?\s+bajos?"
        r"|guiones\s+de\s+abajo|tiefstrich\w*|barrabaja|barra\s+baja"
        rf"|\s_(?=\s|$|[,.;!?])|[\"“'‘„]_[\"”'’“]|{_LINES}",
        re.IGNORECASE,
    ),
    "-": regex(
        rf"\b(?:dash(?:es)?|hyphens?|bindestrich\w*|minus(?:zeichen)?|gui[oó]n(?:es)?(?!\s+baj)|{_LINES})\b"
        rf"|\s-(?=\s|$)|[\"“'‘„]-[\"”'’“]",
        re.IGNORECASE,
    ),
    ".": regex(r"\b(?:dots?|periods?|full\s+stops?|punkte?n?|puntos?)\b", re.IGNORECASE),
    " ": regex(
        r"\b(?:spaces?|blanks?|gaps?|leerzeichen|leerstellen?|leerschritte?|lücken?|zwischenr(?:a|ä)ume?"
        r"|espacios?|huecos?|separad[oa]s?)\b|[\"“'‘„] [\"”'’“]",
        re.IGNORECASE,
    ),
}
NO_SIGN = regex(r"\b(?:join|together|zusammen|junt[oa]s?|pegad[oa]s?)\b", re.IGNORECASE)
CHANGING = regex(
    r"\bnames?\b|renam|\bfix|\blooks?\b|\bwrit|\btyped|\bswap|\breplac|\bchang|\binstead|\bturn|\bmake|\bput"
    r"|\bwant|\brather|\bshould|\bmust|\bcan(?:no|['’])?t?\b|\bget\s+rid|\bwithout"
    r"|namen|benenn|ersetz|tausch|\bmach|statt|\bsoll|\bwill\b|möchte|weg\b|\bohne|nombr|cambi|reempla"
    r"|sustitu|\bpon|\bquiero|\bquita|en\s+(?:vez|lugar)|\bsin\b",
    re.IGNORECASE,
)
LOWER = regex(
    r"\b(?:lower\s?-?case|(?:in|to|all|with)\s+(?:small|little)\s+letters|small\s+letters"
    r"|no(?:t)?\s+capitals?|klein(?:buchstaben|schreib\w*|geschrieben)?|min[uú]sculas?)\b",
    re.IGNORECASE,
)
UPPER = regex(
    r"\b(?:upper\s?-?case|(?:in|to|all|with)\s+(?:capitals?|caps|(?:big|capital)\s+letters)|capital\s+letters"
    r"|gro(?:ß|ss)(?:buchstaben|schreib\w*|geschrieben)|may[uú]sculas?)\b",
    re.IGNORECASE,
)
SHOUTS = regex(
    r"\b(?:shout\w*|scream\w*|yell\w*|all\s+caps|caps\s+lock|schrei\w*|(?:ge)?brüll\w*|grit\w*)\b|\btyped\b"
    r"|\bkeyboard|\bnot\s+(?:in|all)\b",
    re.IGNORECASE,
)
LIKE_OTHERS = regex(
    r"\b(?:like|as|same\s+as|match\w*)\s+(?:all\s+)?(?:the\s+)?(?:other|others|rest)\b"
    r"|\bwie\s+(?:bei\s+)?(?:die|den|alle)\s+(?:\w+\s+)?(?:anderen|übrigen|restlichen|rest)\b"
    r"|\b(?:como|igual\s+que)\s+(?:l[oa]s|el)\s+(?:otr[oa]s|demás|demas|resto)\b",
    re.IGNORECASE,
)


def heard(story: Story) -> Iterator[Deed]:
    """Names keep their words, and are written otherwise."""
    yield from plain.heard(story)
    yield from _signed(story)
    if CHANGING.search(story.text) and LIKE_OTHERS.search(story.text):
        yield from _like_others(story)
    yield from _cased(story)


def surely(story: Story) -> bool:
    """Is it a sign that shall go, whatever the words might delete?"""
    return _unwanted(story.text) and any(_signed(story))


def _signed(story: Story) -> Iterator[Deed]:
    said = [sign for sign, form in SIGNS.items() if form.search(story.text)]
    if " " not in said:
        return
    some, everything = chosen(story), story.ground.paths or ()
    signs = [sign for sign in said if sign != " "] or (["_"] if _wished(story.text) else said)
    out = [" "] if _unwanted(story.text) else signs
    near = [path for path in some.files if any(sign in stem(path) for sign in out)] if some else []
    names = near or [path for path in around(story) if any(sign in stem(path) for sign in signs)]
    names = names or list(scope(story, everything))
    for old, new in _directions(story.text, said, names):
        files = tuple(path for path in names if old in stem(path).strip())
        if files:
            titled = {"case": "title"} if TITLED.search(story.text) else {}
            yield restyle(Some(files), find=old, replace=new, **titled)
            return


PAIR = ("old", "new")
TITLED = regex(
    r"\b(?:(?:big|capital)\s+letters?\s+(?:like|as|at\s+the\s+(?:start|beginning|front)|(?:for|in)\s+(?:each|every))|each\s+word\s+capital\w*"
    r"|(?:like|as)\s+(?:an?\s+)?(?:person(?:['’]?s)?|people['’]?s?)\s+names?|jedes\s+wort\s+gro(?:ß|ss)|gro(?:ß|ss)e?n?\s+anfangsbuchstaben?"
    r"|cada\s+palabra|como\s+nombres?\s+(?:de\s+persona|propios?))",
    re.IGNORECASE,
)


def _directions(text: str, said: Sequence[str], names: Files) -> list[tuple[str, str]]:
    """From which sign to which; what fewer of the names are without goes first, unless a blank is all that is said."""
    if [*said] == [" "]:
        lined = sum("_" in stem(path) and " " not in stem(path) for path in names)
        return [(" ", "_")] if _unwanted(text) else [("_", " ")] if lined and _wished(text) else []
    signs = [sign for sign in said if sign != " "]
    held = Counter({sign: sum(sign in stem(path) for path in names) for sign in (*signs, " ")})
    sign = max(signs, key=lambda one: held[one])
    both = [(sign, " "), (" ", sign)]
    if held[sign] and held[" "]:
        return both if _first(text, sign, " ") else both[::-1]
    return both if held[sign] else both[::-1]


_BLANK = r"(?:spaces?|blanks?|gaps?|leerzeichen|lücken|espacios?|huecos?)"
UNWANTED = regex(
    r"\b(?:no|not|without|remove|get\s+rid\s+of|keine?|ohne|(?:weg|raus)\s+mit|sin|quita\w*|b[oó]rra\w*|elimina\w*|delete|l[öo]sch\w*"
    rf"|nada\s+de)\s+(?:\w+\s+){{0,2}}?{_BLANK}\b|\b{_BLANK}\s+(?:\w+\s+){{0,4}}?(?:weg|raus|off|out|fuera|l[öo]schen|entfernen|removed|deleted|quitar)\b",
    re.IGNORECASE,
)


def _wished(text: str) -> bool:
    return (
        re.search(r"\b(?:with|mit|con)\s+(?:an?\s+|un\s+)?(?:spaces?|leerzeichen|espacios?)\b", text, re.IGNORECASE)
        is not None
    )


def _unwanted(text: str) -> bool:
    return UNWANTED.search(text) is not None


GOAL = regex(
    r"(?:\b(?:to|into|with|by|for|put|want|need|rather|prefer|like|ordinary|normal|make|durch|zu|in|lieber"
    r"|mach\w*|normale?|por|a|con|pon\w*|quiero)\s+(?:(?:an?|the|some|just|da|ein\w*|un|unos|have)\s+)*)$",
    re.IGNORECASE,
)
DEFECT = regex(
    r"(?:\b(?:those|these|this|no|not|don['’]?t\s+like|replace|every|each|of|swap|change|instead\s+of|statt"
    r"|keine?|die|diese|lauter|blöde?n?|es[oa]s|est[oa]s|l[oa]s|cada|cambia|reemplaza|sustituye)\s+(?:the\s+"
    r"|all\s+|dem\s+|los\s+)*(?:line\s+)?)$",
    re.IGNORECASE,
)


def _first(text: str, one: str, other: str) -> bool:
    """Is it this sign that goes, as the words before the two tell, or else their order?"""
    score = [
        sum(bool(DEFECT.search(head)) - bool(GOAL.search(head)) for head in _clipped(text, sign))
        for sign in (one, other)
    ]
    if score[0] != score[1]:
        return score[0] > score[1]
    places = [next((found.start() for found in SIGNS[sign].finditer(text)), len(text)) for sign in (one, other)]
    return places[0] < places[1]


def _clipped(text: str, sign: str) -> list[str]:
    return [
        text[: found.start()] + ("" if text[: found.start()].endswith(" ") else " ")
        for found in SIGNS[sign].finditer(text)
    ]


def _cased(story: Story) -> Iterator[Deed]:
    first = CAPITAL_FIRST.search(story.text)
    if first is not None and (some := chosen(story, beside=[first.span()])) is not None:
        deed = one_by_one(some.files, lambda name: f"{name[:1].upper()}{name[1:]}")
        yield from (deed,) if deed else ()
        return
    yield from _shouting(story)
    case = _case(story.text)
    some = chosen(story, beside=_shouted(story)) if case else None
    if some is None or case is None:
        return
    wrong = tuple(path for path in some.files if any(_differs(letter, case) for letter in stem(path)))
    if wrong:
        yield restyle(Some(wrong, times=some.times), case=case)


def _shouting(story: Story) -> Iterator[Deed]:
    """Names that are capitals and nothing else: only their first one stays."""
    if SHOUTED.search(story.text) is None or FIRST_ONLY.search(story.text) is None:
        return
    some = chosen(story)
    held = some.files if some else story.ground.paths or ()
    loud = tuple(path for path in held if _loud(stem(path)))
    if loud:
        yield restyle(Some(loud), case="sentence")


def _loud(name: str) -> bool:
    words_ = [part.text for part in parts(name) if part.text.isalpha() and len(part.text) > 1]
    return bool(words_) and all(word.isupper() for word in words_) and sum(map(len, words_)) >= LOUD


LOUD = 5
"""Letters of a name that shouts."""
SHOUTED = regex(
    r"\b(?:shout\w*|scream\w*|yell\w*|all\s+(?:in\s+)?(?:caps|capitals)|capitals?|caps|schrei\w*|gro(?:ß|ss)(?:buchstaben|geschrieben)|grit\w+|may[uú]scul\w*)\b",
    re.IGNORECASE,
)
FIRST_ONLY = regex(
    r"\b(?:only|just|but)\s+(?:the\s+)?first(?:\s+letter)?|\bfirst\s+letter\s+(?:\w+\s+)?(?:big|capital|only)"
    r"|\b(?:nur|bloß|bloss)\s+(?:der\s+|den\s+)?(?:erste[rn]?|anfang\w*)|\bprimera\s+(?:letra\s+)?(?:en\s+)?(?:grande|may[uú]scula)|\bsolo\s+la\s+primera",
    re.IGNORECASE,
)
CAPITAL_FIRST = regex(
    r"\b(?:begin|start)\w*\s+with\s+(?:a\s+)?(?:capital|big|upper)|\bcapital\s+(?:first|at\s+the\s+(?:front"
    r"|start|beginning))"
    r"|\bgro(?:ß|ss)\w*\s+anfang|\bvorne\s+gro(?:ß|ss)|\bgro(?:ß|ss)\s+anfangen"
    r"|\bempie[cz]\w+\s+(?:por|con|en)\s+may[uú]scul|\bprimera\s+(?:letra\s+)?(?:en\s+)?may[uú]scul",
    re.IGNORECASE,
)


def _case(text: str) -> str | None:
    lower, upper, shouts = (form.search(text) is not None for form in (LOWER, UPPER, SHOUTS))
    if lower and not upper:
        return "lower" if not re.search(r"typed|geschrieben|escrit", text, re.IGNORECASE) else "title"
    if upper and not lower:
        return "title" if shouts else "upper"
    return "lower" if shouts and lower else None


def _shouted(story: Story) -> list[tuple[int, int]]:
    """Words in capitals only say what the names are like."""
    return (
        [found.span() for found in re.finditer(r"\b[^\W\d_a-z]{3,}\b", story.text)] if LOWER.search(story.text) else []
    )


def _differs(letter: str, case: str) -> bool:
    return letter.isupper() if case == "lower" else letter.islower()


def _like_others(story: Story) -> Iterator[Deed]:
    """One that is written otherwise than all of its kind: `ifta q3` beside `IFTA Q1` and `IFTA Q2`."""
    some = chosen(story)
    paths = story.ground.paths or ()
    for path in some.files if some else paths:
        shapes = [_shape(stem(other)) for other in paths if _key(other) == _key(path)]
        shape, often = Counter(shapes).most_common(1)[0]
        if often >= MANY and shape != _shape(stem(path)) and shapes.count(_shape(stem(path))) == 1:
            deed = one_by_one([path], partial(_shaped, shape))
            if deed is not None:
                yield deed

    for path in some.files if some else paths:
        if (head := _head_of_others(path, paths)) is not None and (deed := one_by_one([path], head)) is not None:
            yield deed


def _head_of_others(path: str, paths: Files) -> Callable[[str], str] | None:
    """Their first word as the others of its folder have it."""
    own, folder = parts(stem(path)), path.rpartition("/")[0]
    beside = [parts(stem(one)) for one in paths if one != path and one.rpartition("/")[0] == folder]
    heads = {told[0].text for told in beside if own and told and fold(told[0].text) == fold(own[0].text)}
    if len(heads) != 1 or own[0].text in heads:
        return None
    return lambda name: f"{name[: own[0].start]}{next(iter(heads))}{name[own[0].end :]}"


MANY = 2


def _shaped(shape: str, name: str) -> str:
    return shape.format(*re.findall(r"\d+", name))


def _key(path: str) -> tuple[str, ...]:
    folder = path.rpartition("/")[0]
    return (folder, *("#" if part.text.isdigit() else fold(part.text) for part in parts(stem(path))))


def _shape(name: str) -> str:
    return re.sub(r"\d+", "{}", name.replace("{", "{{").replace("}", "}}"))
