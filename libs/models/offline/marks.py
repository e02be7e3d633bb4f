"""What papers are marked with: "the invoices that are not paid yet", "die beantworteten Briefe", "facturas sin pagar".

Who has paid a bill writes so on it. So the word, or that it lacks, may choose files by what they say; nobody is sure of
it, and it is offered and never done outright.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from libs.models.offline.measures import Filters
from libs.retrieval.regexes import regex

_EN = r"(?P<word>paid|signed|answered|settled|approved|cancelled|canceled|delivered|shipped|overdue|refunded|invoiced)"
_DE = (
    r"(?P<word>bezahlt|unterschrieben|beantwortet|beglichen|genehmigt|storniert|erledigt|geliefert|überfällig"
    r"|überwiesen|gekündigt)"
)
_ES = r"(?P<word>pagad|firmad|contestad|respondid|aprobad|cancelad|anulad|entregad|cobrad|vencid)(?P<end>[oa])s?"
_AUX = r"(?:have|has|had|are|is|were|was|be|been|being|got|['’](?:ve|s|re)|(?:have|has|had|are|is|were|was)n['’]?t)"
_SMALL = r"(?:not|never|yet|already|all|now|even|just|still|to|they|i|we|he|she|it|you)"
_SIND = r"(?:sind|ist|waren?|wurden?|worden|werden|hab\w*|hat|hatten?)"
_SCHON = r"(?:schon|bereits|noch|nicht|nie|längst|alle|ich|wir|er|sie|die|das|mal|immer)"
_ESTAN = r"(?:est[aáeé]n?|estaban?|he|ha|han|hemos|fue|fueron|sido|son|es|sea[n]?)"
_YA = r"(?:ya|todav[ií]a|a[uú]n|no|nunca|me|se|nos|las|los|la|lo)"
_DONE_EN = rf"(?:{_SMALL}\s+)*{_AUX}\s+(?:(?:{_SMALL}|{_AUX})\s+)*{_EN}(?:\s+(?:yet|already|for|up|off|so\s+far))*"
_DONE_ES = rf"(?:{_YA}\s+)*{_ESTAN}\s+(?:(?:{_YA}|{_ESTAN})\s+)*{_ES}"
FORMS = (
    rf"(?:that|which|who|ones|those)\s+{_DONE_EN}",
    rf"(?:(?:that|which|who)\s+(?:{_SMALL}\s+)*)?(?:{_AUX}\s+)?(?:still\s+|as\s+yet\s+)?(?P<un>un){_EN}(?:\s+(?:yet|so\s+far))?",
    rf"(?<=\bthe\s)(?:already\s+)?{_EN}(?=\s+\w)",
    rf"(?:die|das|der|welche)\s+(?:{_SCHON}\s+)*{_DE}(?:\s+{_SIND})+",
    rf"(?:{_SCHON}\s+)*(?P<un>un)?{_DE}e[nrsm]?(?=\s+\w)",
    rf"(?:(?:{_SCHON}|{_SIND})\s+)*(?P<un>un){_DE}(?:\s+{_SIND})*",
    rf"que\s+{_DONE_ES}",
    rf"(?:que\s+)?(?:{_YA}\s+)*(?P<un>im)?{_ES}",
)
ASKED = (
    _DONE_EN,
    rf"{_SIND}\s+(?:{_SCHON}\s+)*{_DE}(?:\s+{_SIND})*",
    rf"(?:{_SCHON}\s+)+{_DE}(?:\s+{_SIND})+",
    _DONE_ES,
)
"""What only a question chooses by: else it says why, and of all."""
_STILL = r"(?:que\s+)?(?:(?:est[aá]n?|quedan?|siguen?|a[uú]n|todav[ií]a)\s+)*(?:sin|por)"
TO_BE = (
    ("pag", rf"{_STILL}\s+pagar|pendientes?\s+de\s+pago"),
    ("firm", rf"{_STILL}\s+firmar|pendientes?\s+de\s+firma"),
    ("cobr", rf"{_STILL}\s+cobrar|pendientes?\s+de\s+cobro"),
    ("contest", rf"{_STILL}\s+contestar"),
)
NOT = regex(r"n['’]?t\b|(?<!\w)(?:not|never|to\s+be|nicht|nie|no|nunca)(?!\w)", re.IGNORECASE)
HELPED = regex(rf"(?<!\w)(?:{_ESTAN}|ten\w+|tiene\w*|qued\w+)\s+(?:(?:{_YA}|tod[oa]s?|bien)\s+)*$", re.IGNORECASE)
""" "Están aprobadas" tells, and chooses none: what chooses begins before it."""
END = regex(r"[.!?\n](?=\s|$)")
ASKS = regex(r"\W*(?:which|what|welche[rs]?|qu[eé]|cu[aá]les)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Says:
    """A span of the text, and the words that files are to have in them, or to lack."""

    start: int
    end: int
    text: str
    lacks: bool = False
    surely: bool = False
    """Is it said that they stand inside?"""

    @property
    def filters(self) -> Filters:
        return {"lacking" if self.lacks else "containing": self.text}


@lru_cache(maxsize=256)
def marks(text: str) -> tuple[Says, ...]:
    """Every such span, whether or not another one overlaps it."""
    told = [found for form in _FORMS for found in form.finditer(text)]
    told += [found for form in _ASKED for found in form.finditer(text) if _asked(text, found.start())]
    chosen = [_mark(found) for found in told if HELPED.search(text[: found.start()]) is None]
    to_be = [Says(*found.span(), f"{stem}ado", lacks=True) for stem, form in _TO_BE for found in form.finditer(text)]
    return *chosen, *to_be


def _mark(found: re.Match[str]) -> Says:
    beside = found.groupdict()
    lacks = NOT.search(found.string[found.start() : found.start("word")]) is not None or bool(beside.get("un"))
    return Says(*found.span(), f"{found['word'].casefold()}{'o' if beside.get('end') else ''}", lacks)


def _asked(text: str, at: int) -> bool:
    """Does its sentence ask?"""
    start = max(text.rfind(end, 0, at) for end in ".!?\n") + 1
    end = END.search(text, at)
    return (end is not None and end.group() == "?") or ASKS.match(text[start:]) is not None


_FORMS = tuple(regex(rf"(?<!\w){form}(?!\w)", re.IGNORECASE) for form in FORMS)
_ASKED = tuple(regex(rf"(?<!\w){form}(?!\w)", re.IGNORECASE) for form in ASKED)
_TO_BE = tuple((stem, regex(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE)) for stem, form in TO_BE)
