"""What files say, where that is to choose them: "the invoices where I wrote PAID inside", "without the word draft".

A span of the request with one meaning, as a size or a time is: it is taken out before anything else is made of the
words, and becomes a bound of the listing. What stands in names as well is not meant so, unless it is said to stand
inside: "the files that say draft" are those that are called so, where there are any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from libs.models.offline.clauses import ACTIONS, AND, BUT, KINDS, OR
from libs.models.offline.ground import singulars
from libs.models.offline.marks import Says, marks
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words

_I = r"(?:(?:i|we|it|there|he|she|they|someone|ich|wir|man|er|sie|es|yo)\s+)?"
_HAS = r"(?:(?:have|has|had|i['’]?ve|is|are|was|am|did|do|does|hab(?:e|en)?|hat|ist|sind|he|hemos|est[aá]n?)\s+)*"
_NOT = r"(?P<not>(?:(?:do|does|did|has|have|is|are)n['’]?t|not|never|nicht|nie|no|nunca)\s+)?"
_PUT = r"(?:just\s+|already\s+)?"
_SAYS = (
    r"(?:wr[io]te|written|put|typed?|noted?|scribbled|stamped|says?|said|saying|mentions?|mentioned|mentioning"
    r"|contains?|containing|contained|reads?|states?|includes?|including)(?!\w)"
)
_WORD = (
    r"(?:(?:the|a|an|das|dem|den|der|la|el)\s+)?"
    r"(?:(?:words?|texts?|phrase|note|w[oö]rt(?:er)?|text|vermerk|palabras?|texto|frase|nota)\s+)?"
)
_WHERE = r"(?:where(?:ver)?|(?:in|on)\s+which|which|what(?:ever)?|that|whose\s+text)"
LEADS = (
    rf"{_WHERE}\s+{_I}{_HAS}{_NOT}{_HAS}{_PUT}{_SAYS}(?:\s+(?:down|inside|in\s+it|on\s+it|somewhere))?\s*:?\s*{_WORD}",
    rf"(?:who|that|which)\s+{_NOT}(?:say|mention|contain|include|read)\s+{_WORD}",
    rf"(?:not\s+)?(?:containing|mentioning|saying)\s+{_WORD}",
    r"(?:with(?P<out>out)?|having|(?P<none>no))\s+(?:the\s+)?(?:words?|text|phrase)\s+",
    rf"{_WHERE}\s+{_I}{_HAS}{_NOT}(?:the\s+)?(?:words?|text|phrase)\s+{_HAS}",
    r"(?:wo|worin|in\s+denen|in\s+dem|in\s+der|auf\s+denen)\s+(?:auch\s+)?(?:drin\s+)?(?P<not>(?:noch\s+)?nicht\s+)?(?:steht|stehen)\s*:?\s*",
    r"(?:mit|(?P<out>ohne))\s+(?:de[mnr]\s+|das\s+|die\s+)?(?:text|wort|wörtern|vermerk)\s+",
    r"(?P<none>sin|con)\s+(?:el\s+texto|la\s+palabra|la\s+frase|las\s+palabras)\s+",
    rf"(?:donde|en\s+(?:l[oa]s|el|la)\s+que|que)\s+(?:yo\s+)?{_NOT}(?:he\s+|se\s+)?(?:pon[eg]\w*|puse|dic\w+|dig\w+|escrib\w+|escrito|conti?en\w+|conteng\w+|mencion\w+"
    rf"|apare\w+|salg?\w*|haya)\s+(?:dentro\s+)?(?:escrit[oa]\s+)?{_WORD}",
)
"""What follows one of these is what they say."""
AROUND = (
    (
        rf"(?:{_WHERE}\s+{_I}(?:have|has|had|put|is|are|got)|with(?P<out>out|\s+no)?|having|marked(?:\s+(?:as|with))?|that['’]?s)\s+{_WORD}",
        r"(?:written\s+|typed\s+|marked\s+)?(?:inside(?!\s+(?:the|my|of|folder))|in\s+(?:it|them|there|(?:the|their|its)\s+(?:text|texts|contents?|file|files))(?!\s+(?:name|title))|on\s+(?:it|them)|written)",
    ),
    (
        rf"(?:wo|worin|in\s+denen|in\s+dem|in\s+der|auf\s+denen|bei\s+denen|die|das|was)\s+(?:ich\s+|ichs?\s+)?(?:drin\s+|innen\s+|irgendwo\s+)?(?P<not>(?:noch\s+)?nicht\s+)?{_WORD}",
        r"(?P<later>(?:noch\s+)?nicht\s+)?(?:(?:drin|drauf)\s*)?(?:(?:steht|stehen|drinsteht|drinstehen|draufsteht|vorkommt|vorkommen|enthalten|enthält)"
        r"|(?:rein|hinein|drauf)?\s*(?:ge)?schr(?:ie|ei)ben\s+(?:hab\w*|ist|steht)|erwähnt\s+(?:wird|werden|ist))",
    ),
    (
        rf"{_WHERE}\s+{_WORD}",
        r"(?:is|are|was|were|gets?)\s+(?P<later>not\s+)?(?:mentioned|written|noted|named)(?:\s+in\s+(?:it|them))?",
    ),
    (rf"(?:mit|(?P<out>ohne))\s+{_WORD}", r"(?:drin(?:nen)?(?!\s*\w*steh)|im\s+(?:text|inhalt))"),
    (
        rf"(?:con|(?P<out>sin)|que\s+tengan?|tienen)\s+{_WORD}",
        r"(?:a?dentro(?!\s+de)|en\s+(?:el|su)\s+(?:texto|contenido)|escrit[oa])",
    ),
)
"""What they say stands between the two."""
INSIDE = regex(
    r"\s*(?:inside(?!\s+(?:the|my|of|folder))|somewhere|in\s+(?:it|them|there|(?:the|their|its)\s+(?:text|texts|contents?|files?))|on\s+(?:it|them)|written"
    r"|drin(?:nen)?|irgendwo|im\s+text|a?dentro(?!\s+de)|en\s+(?:el|su)\s+(?:texto|contenido)|escrit[oa])(?!\w)",
    re.IGNORECASE,
)
SURELY = regex(
    r"(?<!\w)(?:inside|somewhere|irgendwo|in\s+the(?:ir)?\s+(?:text|content)s?|text|wr[io]te|written|typed|drin\w*|(?:rein)?geschrieben|im\s+(?:text|inhalt)"
    r"|a?dentro|texto|escrib\w*|escrit[oa]|contenido|mention\w*|erwähn\w*|vorkomm\w*|mencion\w*"
    r"|(?:contain\w*|enthalten|enthält|conti?en\w*|conteng\w*)\s+(?:the|das|la|el)\s+(?:word|wort|palabra)|das\s+wort(?=.*\s+enth))(?!\w)",
    re.IGNORECASE,
)
""" "Inside" is no name's."""
OF_NAMES = regex(
    r"(?<!\w)(?:(?:file\s?)?names?|title|called|(?:datei)?namen?|hei(?:ß|ss)\w*|nombres?|llam\w+|t[ií]tulo)(?!\w)",
    re.IGNORECASE,
)
NAMING = regex(
    r"(?<!\w)(?:re-?nam\w+|(?:file\s?)?names|umbenenn\w*|umzubenennen|(?:datei)?namen|renombr\w*|nombres?|statt|instead"
    r"|en\s+(?:su|vez|el)?\s*(?:lugar|de)|vorne?|vorangestellt|delante|in\s+front"
    r"|(?:make|should|must|has|have|soll\w*|deben?|que|gustar[ií]a)\s+(?:\w+\s+)?(?:say|read|stehen|stehn|decir|diga|dijera|ponga))(?!\w)",
    re.IGNORECASE,
)
IN_THE_NAME = regex(
    r"\s*(?:in|on|im|en|at)\s+(?:\w+\s+){0,2}(?:(?:file\s?)?names?|title|(?:datei)?namen?|nombres?|t[ií]tulo)(?!\w)",
    re.IGNORECASE,
)
QUOTE = regex(r"[\"“”„«»]\s*([^\"“”„«»\n]{1,100}?)\s*[\"“”„«»]|(?<!\w)['‘’`]([^'‘’`\n]{1,100}?)['‘’`](?!\w)")
TOKEN = regex(r"\s*([^\s,;:!?()\n\"“”„«»]+)")
FIELD = regex(r"\s*([^\W\d_]+:\s?[^\s,;:!?()\n\"“”„«»]+)")
""" "Paid: yes" is one, as it stands in a form."""
LONGEST = 4
"""Words that are not in quotes."""
STOPS = (
    AND
    | OR
    | BUT
    | listed(
        "to into in onto on from for of at then inside somewhere please pls should must can may shall will would"
        " go goes"
        " is are belong belongs them it they should there that which where when if so all just with without"
        " nach ins im bitte sollen soll sollten muss mussen kommen kommt gehoren dann drin drinnen steht stehen"
        " aus von vom"
        " same gleiche gleichen gleicher gleiches mismo misma mismos mismas mas menos more less mehr weniger over under"
        " nothing nowt nichts nix nada something anything etwas algo"
        " get gets got want wants need needs have has hab habe hatt hatte hatten quiero quiere quisiera"
        " necesito me se te la las lo los"
        " by per as each every als je pro como por segun"
        " fur zu zum zur die der das dem den wo weg raus rein vorkommt enthalten"
        " a al en de del para por con sin que van va vayan dentro adentro luego donde esta estan no not nicht"
    )
)
DEEDS = listed("remove move copy pack archives organize clean rename prefix suffix lower upper swap number")
IN_IT = regex(r"(?<!\w)in\s+(?:it|there)\s*$|(?<!\w)drin\s*$", re.IGNORECASE)
WITHIN = regex(r"(?<!\w)(?:in|inside|from|of|im|aus|vom|en|de|del)\s+(?:\w+\s+){0,3}$", re.IGNORECASE)
""" "In the folder Bills, with Paid in them": where they are."""
TITLE = regex(r"Mrs?|Ms|Dr|St|Sr|Sra|Hr|Fr|No|Nr", re.IGNORECASE)
LITTLE = listed("the a an that this der die das dem den ein eine la el los las un una")


@lru_cache(maxsize=256)
def said(text: str, *, marked: bool = False) -> tuple[Says, ...]:
    """Every such span, and where they are `marked` what papers bear; where two overlap, the one that begins first."""
    told = {*_led(text), *_between(text), *(marks(text) if marked else ())}
    found = sorted(told, key=lambda one: (one.start, -one.end))
    kept: list[Says] = []
    for one in found:
        if (not kept or kept[-1].end <= one.start) and not (_of_names(text, one) or _holds_files(text, one)):
            kept.append(one)
    return tuple(kept)


def choosing(text: str, paths: Sequence[str], *, marked: bool = False) -> tuple[Says, ...]:
    """Those that no name bears out, or that are said to be inside. Where names are to change, "where it says Bar
    Manolo" is of these.
    """
    found = said(text, marked=marked)
    changed = NAMING.search(without(text, found)) is not None
    told = (one for one in found if not changed or one.surely)
    return tuple(one for one in told if one.surely or not in_names(one, paths))


def bounding(text: str, paths: Sequence[str]) -> tuple[Says, ...]:
    """Those that choose what a change is done to."""
    found = choosing(text, paths)
    return found if found and wants_a_change(text, found) else ()


def wants_a_change(text: str, spans: Sequence[Says]) -> bool:
    """Is something done to files, beside what they say? Who only looks for them wants a search."""
    plain = without(text, spans)
    return "?" not in text and any(DEEDS & {*word.concepts} and not word.slip for word in words(plain))


def without(text: str, spans: Sequence[Says]) -> str:
    """The text with blanks in their places."""
    for one in spans:
        text = f"{text[: one.start]}{' ' * (one.end - one.start)}{text[one.end :]}"
    return text


def in_names(one: Says, paths: Sequence[str]) -> bool:
    """Is there a file with all of it in its name?"""
    wanted = [singulars(part) | {part} for part in re.findall(r"\w+", fold(one.text))]
    told = ({*re.findall(r"[^\W\d_]+|\d+", fold(path.rstrip("/").rpartition("/")[2]))} for path in paths)
    return bool(wanted) and any(all(not said.isdisjoint(name) for said in wanted) for name in told)


def _led(text: str) -> Iterator[Says]:
    for lead in _LEADS:
        for found in lead.finditer(text):
            if (needle := _needle(text, found.end())) is not None:
                _, end, said_ = needle
                inside = INSIDE.match(text, end)
                end = inside.end() if inside else end
                whole = text[found.start() : end]
                yield Says(
                    found.start(), end, said_, _lacks(found), SURELY.search(whole.replace(said_, "")) is not None
                )


def _between(text: str) -> Iterator[Says]:
    for lead, tail in _AROUND:
        for found in lead.finditer(text):
            for start, end, said_ in _needles(text, found.end()):
                if (closes := tail.match(text, end)) is not None and start >= found.end():
                    lacks = _lacks(found) or bool(closes.groupdict().get("later"))
                    plain = text[found.start() : start] + closes.group()
                    yield Says(found.start(), closes.end(), said_, lacks, SURELY.search(plain) is not None)
                    break


def _lacks(found: re.Match[str]) -> bool:
    told = found.groupdict()
    none = str(told.get("none") or "").casefold() in ("no", "sin")
    return bool(told.get("not") or told.get("out")) or none or found.group().casefold().startswith("not ")


def _needle(text: str, at: int) -> tuple[int, int, str] | None:
    """What is said from here on: in quotes, in capitals, or up to where the sentence goes on."""
    if (quoted := QUOTE.match(text, at)) is not None:
        return quoted.start(), quoted.end(), quoted[1] or quoted[2]
    told = [*_tokens(text, at)]
    if told and told[0][2].isupper() and len(told[0][2]) > 1:
        told = told[: next((n for n, one in enumerate(told) if not one[2].isupper()), len(told))]
    if not told or len(told) > LONGEST:
        return None
    return told[0][0], told[-1][1], text[told[0][0] : told[-1][1]]


def _needles(text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """The same, the shortest first: what closes it tells where it ends."""
    if (quoted := QUOTE.match(text, at)) is not None:
        yield (
            quoted.start(),
            quoted.end() + len(text[quoted.end() :]) - len(text[quoted.end() :].lstrip(" ")),
            quoted[1] or quoted[2],
        )
        return
    told = [*_tokens(text, at, deeds=True)][:LONGEST]
    for n in range(1, len(told) + 1):
        end = told[n - 1][1]
        yield told[0][0], end + len(text[end:]) - len(text[end:].lstrip(" ")), text[told[0][0] : end]


def _tokens(text: str, at: int, *, deeds: bool = False) -> Iterator[tuple[int, int, str]]:
    """The words from here on, up to one that no text is told with."""
    first = True
    while (found := FIELD.match(text, at) or TOKEN.match(text, at)) is not None:
        token = found[1].rstrip(".")
        if not (first and fold(token) in LITTLE):
            if not token or fold(token) in STOPS or (not deeds and (_acts(token) or (not first and _little(token)))):
                return
            yield found.start(1), found.start(1) + len(token), token
            first = False
        if len(token) < len(found[1]) and not TITLE.fullmatch(token):
            return
        at = found.end()


def _little(token: str) -> bool:
    return token.islower() and any(word.filler and not word.slip for word in words(token))


def _acts(token: str) -> bool:
    return not token.isupper() and any(ACTIONS & {*word.concepts} and not word.slip for word in words(token))


def _of_names(text: str, one: Says) -> bool:
    """ "With draft in the name", "the word IMG in their names", "with his name on it"."""
    around = text[one.start : one.end].replace(one.text, "")
    own = one.text.islower() and OF_NAMES.search(one.text) is not None
    return own or OF_NAMES.search(around) is not None or IN_THE_NAME.match(text, one.end) is not None


def _holds_files(text: str, one: Says) -> bool:
    """ "A zip that contains the photos", "a folder with the bills in it": what holds files says nothing, and files are
    nothing that is said.
    """
    sentence = max(text.rfind(end, 0, one.start) for end in ".!?\n") + 1
    before = [word for word in words(text[: one.start]) if word.start >= sentence]
    near = before if IN_IT.search(text, one.start, one.end) else before[-1:]
    nouns = [word for word in near if {"folder", "archives", "pack"} & {*word.concepts}]
    holds = any(WITHIN.search(text[: word.start]) is None for word in nouns)
    plain = one.text.islower() and not QUOTE.search(text[one.start : one.end])
    told = [word for word in words(one.text) if not word.filler]
    return holds or (plain and all({*KINDS, "file", "folder", "empty"} & {*word.concepts} for word in told))


_LEADS = tuple(regex(rf"(?<!\w){lead}", re.IGNORECASE) for lead in LEADS)
_AROUND = tuple(
    (regex(rf"(?<!\w){lead}", re.IGNORECASE), regex(rf"\s*{tail}(?!\w)", re.IGNORECASE)) for lead, tail in AROUND
)
