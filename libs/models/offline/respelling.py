"""Texts in names, told by what shall not stand there: "no spaces, put underscores", "oferta? change it to quote".

And what is said beside a rule and is none: an example of the date that is to stand in front, and what the order is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from libs.models.offline.clauses import ACTIONS
from libs.models.offline.rewriting import Rule
from libs.retrieval.regexes import regex
from libs.retrieval.words import words

_OLD, _NEW = (
    rf"(?P<{one}>(?:spaces?|blanks?|underscores?|dash(?:es)?|hyphens?|Leerzeichen|Unterstriche?n?|Bindestriche?n?|espacios?"
    r"|gui[oó]n(?:es)?(?:\s+bajos?)?)(?!\w))"
    for one in ("old", "new")
)
_PLAIN = r"(?:(?:an?|some|the|ordinary|normal|plain|simple|just|ein\w*|normale?|un|unos|normales)\s+)*"
_WHY = r"(?:\s*,?\s*(?:because|since|as|weil|da|denn|porque|ya\s+que)\s[^.;!?\n]*?)?"
_NEXT = r"\s*[.,;:–-]+\s*(?:(?:so|and|und|y|please|bitte|por\s+favor|can\s+you|could\s+you)\s+)*"
_INSTEAD = (
    r"(?:\s+(?:instead|there|in\s+(?:their|its)\s+place|stattdessen"
    r"|dafür|hin|en\s+(?:su|vez|el)\s+lugar|en\s+su\s+sitio))?"
)
_WANTED = {
    "en": (
        r"(?:(?:I|we)(?:['’]d)?\s+(?:need|want|like|would\s+like)\s+)?(?:the\s+)?(?:(?:file\s?)?names\s+(?:of|in)\s+(?P<what>[^,.;:!?\n]{2,60}?))"
        rf"\s+(?:(?:to|should|must|can|may)\s*(?:not|n['’]t)\s+(?:have|contain)(?:\s+any)?|(?:to|should|must)\s+have\s+no)\s+{_OLD}"
    ),
    "de": (
        r"(?:ich\s+(?:möchte|will|brauche)\s*,?\s+(?:dass\s+)?)?(?:in\s+)?(?:die|den)\s+(?:Datei)?namen\s+(?:von|der|in|im)\s+(?P<what>[^,.;:!?\n]{2,60}?)"
        rf"\s+(?:(?:sollen|dürfen|sollten|darf|soll)\s+)?keine\s+{_OLD}(?:\s+(?:mehr|haben|enthalten|stehen|sein|sollen|dürfen|vorkommen))*"
    ),
    "es": (
        r"(?:(?:necesito|quiero|quisiera|me\s+gustar[ií]a|hace\s+falta)\s+)?(?:que\s+)?los\s+nombres\s+(?:del?|en)\s+(?P<what>[^,.;:!?\n]{2,60}?)"
        rf"\s+no\s+(?:pueden\s+|deben\s+)?(?:teng|llev|conteng|tener|llevar)\w*\s+{_OLD}"
    ),
}
_PUTS = r"(?:put|use|make\s+(?:them|it)|setz\w*|nimm|mach\w*|nehmen\s+Sie|p[oó]n(?:ga|les?)?|usa|utiliza)"
_SWAP = {
    "en": "swap {old} by {new} in names of {what}",
    "de": "tausch {old} durch {new} in Namen von {what}",
    "es": "cambia {old} por {new} en nombres de {what}",
}
_OUT = {
    "en": "del {old} in names of {what}",
    "de": "lösch {old} aus Namen von {what}",
    "es": "quita {old} de nombres de {what}",
}


def _said(form: str) -> Callable[[re.Match[str]], str]:
    return lambda found: form.format_map(found.groupdict())


_UNWANTED: tuple[Rule, ...] = tuple(
    rule
    for lang, said in _WANTED.items()
    for rule in (
        (rf"^\W*{said}{_WHY}{_NEXT}{_PUTS}\s+{_PLAIN}{_NEW}{_INSTEAD}(?=\s*(?:[.,;!?]|$))", _said(_SWAP[lang])),
        (rf"^\W*{said}{_WHY}(?=\s*(?:[.!?]|$))", _said(_OUT[lang])),
    )
)

_IN = (
    r"^\W*(?:in|bei|en)\s+(?:(?:the|den|dem|my|la|el|las|los)\s+)?"
    r"(?:(?:folder|ordner|carpeta)\s+)?(?P<where>[^\s,.;:!?]+)\s*,?\s+"
)
_SUCH = r"(?:(?:all|those|these|such|so|lauter|diese|esos|unos|muchos)\s+)*"
_RATHER: tuple[Rule, ...] = (
    (
        rf"{_IN}(?:all\s+)?(?:the\s+)?(?P<what>[^,.;:!?\n]{{2,40}}?)\s+(?:have|has|come\s+with)\s+{_SUCH}{_OLD}\s+in\s+(?:the\s+|their\s+)?(?:file\s?)?names?{_NEXT}"
        rf"(?:I|we)(?:['’]d|\s+would)?\s+(?:much\s+|really\s+)?(?:rather|prefer|like)(?:\s+to)?(?:\s+(?:have|see))?\s+{_PLAIN}{_NEW}{_INSTEAD}(?=\s*(?:[.!?]|$))",
        _said("swap {old} by {new} in names of {what} in {where}"),
    ),
    (
        rf"{_IN}haben\s+(?:die|alle)\s+(?P<what>[^,.;:!?\n]{{2,40}}?)\s+{_SUCH}{_OLD}\s+(?:im|in\s+den)\s+(?:Datei)?namen{_NEXT}"
        rf"(?:ich\s+)?(?:hätte|möchte|will)\s+(?:ich\s+)?(?:viel\s+)?(?:lieber|gern\w*)?\s*{_PLAIN}{_NEW}{_INSTEAD}(?=\s*(?:[.!?]|$))",
        _said("tausch {old} durch {new} in Namen von {what} in {where}"),
    ),
    (
        rf"{_IN}(?:las|los)\s+(?P<what>[^,.;:!?\n]{{2,40}}?)\s+(?:tienen|llevan)\s+{_SUCH}{_OLD}\s+en\s+(?:el|los)\s+nombres?{_NEXT}"
        rf"(?:preferir[ií]a|prefiero|quiero|quisiera|mejor)\s+{_PLAIN}{_NEW}{_INSTEAD}(?=\s*(?:[.!?]|$))",
        _said("cambia {old} por {new} en nombres de {what} en {where}"),
    ),
)

_THOSE: tuple[Rule, ...] = (
    (r"\.\s+(?:they|these|those)\s+are\s+(?:all\s+)?(?:the\s+(?:ones|files)\s+)?(?=in\s)", lambda found: " "),
    (r"\.\s+(?:das|es)\s+sind\s+(?:alle\s+)?(?:die(?:jenigen)?\s+)?(?=in\s|im\s)", lambda found: " "),
    (
        r"\.\s+son\s+(?:tod[oa]s\s+)?l[oa]s\s+(?:que\s+(?:est[aá]n|hay)\s+)?(?:en|de)\s+(?=la\s+carpeta\s)",
        lambda found: " en ",
    ),
)
""" "… Son las de la carpeta Partituras": where they are, said afterwards."""

_TEXT = r"(?:[\"“„«'‘`](?=\w))?(?P<{}>[^\W_][\w-]*)[\"”“»'’`]?"
_WORD = r"(?:(?:the\s+)?word\s+|das\s+Wort\s+|la\s+palabra\s+)?"
_IT_TO = {
    "en": (
        rf"(?:change|replace|swap|turn|make)\s+(?:it|that|this(?:\s+word)?|that\s+word)\s+(?:to|with|by|into|for)\s+{_WORD}{_TEXT.format('new')}"
        r"(?=\s+in\s+(?:(?:all|the|my|these)\s+)*(?:file\s?)?names?\b)"
    ),
    "de": (
        rf"(?:ersetze?|änder[en]?|tausche?|mach)\s+(?:es|das|das\s+Wort)\s+(?:durch|in|zu|gegen)\s+{_WORD}{_TEXT.format('new')}"
        r"(?=\s+in\s+(?:den|allen)\s+(?:Datei)?namen\b)"
    ),
    "es": (
        rf"(?:c[aá]mbi[ae]l[oa]|reempl[aá]z[ae]l[oa]|sustit[uú]y[ea]l[oa])\s+(?:por|a)\s+{_WORD}{_TEXT.format('new')}"
        r"(?=\s+en\s+(?:todos\s+)?los\s+nombres\b)"
    ),
}
_FOR_IT = {"en": "swap {old} by {new}", "de": "tausch {old} durch {new}", "es": "cambia {old} por {new}"}


def _what_it_was(form: str) -> Callable[[re.Match[str]], str]:
    """The word that was just spoken of, where nothing was wished before it, and it means nothing else."""

    def put(found: re.Match[str]) -> str:
        acts = any(not DEEDS.isdisjoint(word.concepts) for word in words(found["lead"] or "") if not word.slip)
        known = any(not word.unknown for word in words(found["old"]))
        return found.group() if acts or known else form.format_map(found.groupdict())

    return put


DEEDS = ACTIONS - {"greeting", "capability", "whatis", "foreign", "inside"}
_IT: tuple[Rule, ...] = tuple(
    (
        rf"^\W*(?P<lead>[^.;!?\n]*\s)?{_TEXT.format('old')}(?:\s+(?:is|means|ist|heißt|bedeutet|es|significa))?\s*[.,;:!?–-]+\s*{said}",
        _what_it_was(_FOR_IT[lang]),
    )
    for lang, said in _IT_TO.items()
)

_NOT = {
    "en": (
        rf"^\W*(?:please\s+)?rename\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s+(?:with|that\s+(?:have|say))\s+{_TEXT.format('old')}(?:\s+in\s+(?:the\s+)?names?)?\s*[,.;:–-]+\s*"
        rf"(?:(?:and|please)\s+)*(?:put|write|use|say)\s+{_TEXT.format('new')}\s+(?:and\s+not|not|instead\s+of|rather\s+than)\s+(?P=old)(?=\s*(?:[.,;!?]|$))"
    ),
    "de": (
        rf"^\W*(?:bitte\s+)?benenne?\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s+mit\s+{_TEXT.format('old')}(?:\s+im\s+Namen)?\s+um\s*[,.;:–-]+\s*"
        rf"(?:schreib|setz|nimm)e?\s+{_TEXT.format('new')}\s+(?:und\s+nicht|statt|nicht)\s+(?P=old)(?=\s*(?:[.,;!?]|$))"
    ),
    "es": (
        rf"^\W*renombra\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s+(?:con|que\s+(?:tienen|llevan))\s+{_TEXT.format('old')}(?:\s+en\s+el\s+nombre)?\s*[,.;:–-]+\s*"
        rf"p[oó]n(?:les|ga)?\s+{_TEXT.format('new')}\s+(?:y\s+no|no|en\s+(?:vez|lugar)\s+de)\s+(?P=old)(?=\s*(?:[.,;!?]|$))"
    ),
}
_INSTEAD_OF: tuple[Rule, ...] = tuple((said, _said(_SWAP[lang])) for lang, said in _NOT.items())

_DAY = r"(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)"
_EXAMPLE_DAY = (
    r"\s*[,;(:–-]?\s*(?:(?:so|also|like|such\s+as|as\s+in|for\s+example|e\.g\.|wie|etwa|zum\s+Beispiel|z\.\s?B\.|as[ií](?:\s+como)?|como|tipo|por\s+ejemplo)"
    rf"[,:]?\s+)+(?:this[:,]?\s+|esto[:,]?\s+|das[:,]?\s+)?{_DAY}(?:\s[^,.;:!?()\n]*?|\s[^\s,;:!?()]+\.\w{{2,4}})?\)?(?=\s*(?:[,;!?\n]|\.(?:\s|$)|$|\s(?:so|para|damit|because)\s))"
)
_IN_ORDER = (
    r"\s*,\s*(?:so(?:\s+that)?\s+(?:they|it)|damit\s+(?:sie|die|das|es)|para\s+que|as[ií])\s+[^,.;:!?\n]{0,40}?(?:order|ordered|sort\w*|orden\w*|Reihenfolge|sortiert\w*|Reihe)"
    r"[^\w.;:!?\n]*(?:by\s+date|por\s+fecha|nach\s+Datum|correctly|right|properly|sind|stehen|ist)*(?=\s*(?:[.!?]|$))"
)
DATED = regex(r"\b(?:dates?|datum|fechas?)\b", re.IGNORECASE)
IN_FRONT = regex(
    r"\b(?:front|before|start|beginning|prefix|vor|vorne?|voran|davor|Anfang|delante|antes|principio|inicio)\b",
    re.IGNORECASE,
)


def _beside_a_date(found: re.Match[str]) -> str:
    """What is said of the date that stands in front, and is no wish."""
    before = found.string[: found.start()]
    return " " if DATED.search(before) and IN_FRONT.search(before) else found.group()


_FRONT = (
    r"(?:vorne?|am\s+Anfang|at\s+the\s+(?:front|start|beginning)|in\s+front|al\s+(?:principio|inicio|comienzo)|delante)"
)
_AT_FRONT: tuple[Rule, ...] = (
    (
        r"(?P<deed>\b(?:ersetze?n?|tausche?n?|replace|swap|change|reemplaza|sustituye|cambia)\s(?:[^.;!?\n]*?\s)?)"
        rf"{_FRONT}\s+(?P<rest>(?:das\s+|the\s+|el\s+)?(?:\S+\s+(?:und|and|y)\s+)?\S+\s+(?:durch|gegen|with|by|to|por)\s)",
        lambda found: f"{found['deed']}{found['rest']}",
    ),
    (
        rf"(?P<deed>\b(?:ersetze?n?|tausche?n?|replace|swap|change|reemplaza|sustituye|cambia)\s(?:[^.;!?\n]*?\s)?\S+)\s+{_FRONT}(?P<rest>\s+(?:durch|gegen|with|by|to|por)\s)",
        lambda found: f"{found['deed']}{found['rest']}",
    ),
)
""" "Ersetze vorne RE durch Rechnung": wherever the text stands, and no prefix."""

_SIGN = (
    r"[\"“„«'‘`]?(?P<new>[_-]|(?:an?\s+|un\s+|einen?\s+)?"
    r"(?:underscore|dash|hyphen|Unterstrich|Bindestrich|gui[oó]n(?:\s+bajo)?))[\"”“»'’`]?(?!\w)"
)
_WHEREVER: tuple[Rule, ...] = (
    (
        rf"^\W*(?:no\W+)?(?:por\s+favor\W+)?renombra\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s*[,.;:]?\s+donde\s+(?:hay|haya)\s+(?:un\s+)?espacios?\s*,?\s+p[oó]n(?:ga)?\s+{_SIGN}",
        _said("cambia espacios por {new} en nombres de {what}"),
    ),
    (
        rf"^\W*(?:no\W+)?(?:please\s+)?rename\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s*[,.;:]?\s+where(?:ver)?\s+there(?:['’]s|\s+is|\s+are)\s+(?:an?\s+)?spaces?\s*,?\s+(?:please\s+)?put\s+{_SIGN}",
        _said("swap spaces by {new} in {what}"),
    ),
    (
        rf"^\W*(?:nein\W+)?(?:bitte\s+)?benenne?\s+(?P<what>[^,.;:!?\n]{{2,60}}?)\s+um\s*[,.;:]?\s+wo\s+(?:ein\s+)?Leerzeichen\s+(?:ist|steht|sind)\s*,?\s+(?:mach|setz|schreib)e?\s+{_SIGN}",
        _said("tausch Leerzeichen durch {new} in {what}"),
    ),
)

_EITHER = (
    r"^\W*(?:bei|in|an)\s+(?:den\s+|meinen\s+|allen\s+)?(?P<what>[^\s,.;:!?]+)\s+steht\s+(?:vorne?|am\s+Anfang)?\s*(?:mal|teils|teilweise|manchmal)\s+(?P<one>[\w-]+)\s*,?\s+"
    r"(?:und\s+)?(?:mal|teils|teilweise|manchmal)\s+(?P<two>[\w-]+)\s*[,.;:–-]+\s*(?:bitte\s+)?mach\w*\s+(?:mir\s+)?(?:bitte\s+)?(?:da\s+|daraus\s+)?(?:bitte\s+)?(?:überall\s+|immer\s+)?(?P<new>[\w-]+)(?:\s+d(?:a)?raus)?(?=\s*(?:[.!?]|$))"
)

_OLDEST = {
    "nach Datum": (
        r"(?:(?:das|die|der|den)\s+)?(?:älteste[nrs]?|früheste[nrs]?)(?:\s+(?:bild|foto|datei)\w*)?\s+(?:zuerst|zuoberst|als\s+erste[sr]?)"
        r"|(?:das|die|der)\s+älteste\s+(?:ist|wird|kriegt|bekommt)\s+(?:die\s+)?(?:1|eins)|angefangen\s+(?:mit|beim)\s+(?:dem\s+)?ältesten"
    ),
    "by date": (
        r"(?:with\s+)?(?:the\s+)?oldest(?:\s+(?:one|picture|photo|file))?\s+(?:is\s+|as\s+|being\s+)?(?:first|number\s+(?:1|one))"
        r"|(?:starting|beginning)\s+with\s+the\s+oldest(?:\s+one)?"
    ),
    "por fecha": (
        r"(?:(?:el|la|l[oa]s)\s+)?m[aá]s\s+(?:antigu|viej)[oa]s?\s+primero|primero\s+(?:el|la|l[oa]s)\s+m[aá]s\s+(?:antigu|viej)[oa]s?"
        r"|empezando\s+por\s+(?:el|la|l[oa]s)\s+m[aá]s\s+(?:antigu|viej)[oa]s?"
    ),
}
COUNTED = regex(r"(?<!\d)0*1(?:\.\w+)?\s*(?:,|\.\.\.|…|and|und|y|usw|etc)[^.;!?\n]*?\b0*2\b")


def _by_age(order: str) -> Callable[[re.Match[str]], str]:
    """In which order names count, and no file that is meant alone."""
    return lambda found: f", {order}" if COUNTED.search(found.string[: found.start()]) else found.group()


_ORDERS: tuple[Rule, ...] = tuple(
    (rf"(?:\s*[,;(–-]\s*|\s+)(?:{said})\)?(?=\s*(?:[.,;!?]|$))", _by_age(order)) for order, said in _OLDEST.items()
)

RULES: tuple[Rule, ...] = (
    *_ORDERS,
    *_UNWANTED,
    *_RATHER,
    *_THOSE,
    *_IT,
    *_INSTEAD_OF,
    (_EXAMPLE_DAY, _beside_a_date),
    (_IN_ORDER, _beside_a_date),
    *_AT_FRONT,
    *_WHEREVER,
    (r"\bcada\s+espacio(?=\s+(?:por|con)\s)", lambda found: "los espacios"),
    (_EITHER, _said("tausch {one} und {two} durch {new} in {what}")),
    (
        r"(?P<verb>\b(?:change|replace|swap|turn)\s+)word\s+(?=\S+\s+(?:to|with|by|into|for)\s)",
        lambda found: found["verb"],
    ),
    (
        r"^\W*a\s+(?P<what>l[oa]s\s[^,;:!?\n]{2,50}?)\s+p[oó]nles\s+(?:delante\s+la\s+fecha|la\s+fecha\s+delante)(?:\s+(?:del?|de\s+cada)\s+(?:archivo|fichero|uno))?(?!\w)",
        _said("pon la fecha delante en {what}"),
    ),
    (r"\bheisen\b", lambda found: "heißen"),
    (
        r"\b(?P<noun>files|ones|photos|pictures|documents)\s+what\s+(?=(?:start|begin|end|have|say|contain)s?\b)",
        lambda found: f"{found['noun']} that ",
    ),
)
