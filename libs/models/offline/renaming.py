"""Names as people tell of them: what they are like, and then what shall become of that.

"They all end in _v1, lose that bit", "they have names like IMG_2041, I want Trip 1, Trip 2", "the names are all caps,
make them normal", "its new name is X" are put plainly before anything is read. Texts that are meant as such get quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from libs.models.offline.respelling import RULES as RESPELLING
from libs.models.offline.rewriting import Rule
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, one_slip, words

_WHAT = r"(?:^|(?<=[.!?;:\n]\s))(?P<what>[^,.;:!?\n]{2,90}?)"
_PART = r"[\"“„«'‘`]?(?P<part>\([^()\n]{1,12}\)|(?![.*])[^\s,;:!?\"“”„«»‘`]*[^\s,;:!?.\"“”„«»‘’'`])[\"”“»'’`]?"
_SIGNED = r"(?=[\"“„«'‘`]|\S*[\d_()#~+-])"
_PLEASE = (
    r"(?:(?:please|pls|just|bitte|por\s+favor|(?:can|could|would)\s+you(?:\s+please)?|I(?:['’]d\s+like|\s+want|\s+need)(?:\s+you)?\s+to"
    r"|kannst\s+du|können\s+Sie|könntest\s+du|könnten\s+Sie|puedes|puede|podr[ií]as?)\s+)*"
)
_THEN = rf"\s*(?:[,.;:–-]+\s*)?(?:(?:so|and|und|y|e|also|then|dann|pues|but|aber|pero)\s+)?{_PLEASE}"
_MANY = r"(?:\s+(?:all|each|always|alle|jeweils|immer|todos|todas|siempre))*"

_ENDS = {
    "en": rf"{_MANY}\s+(?:end|start|begin|finish)(?:s|es)?\s+(?:up\s+)?(?:in|with|on)\s+(?:an?\s+|the\s+)?{_PART}",
    "de": rf"\s+(?:enden|beginnen)(?:\s+alle)?\s+(?:auf|mit|in)\s+(?:einem\s+|dem\s+)?{_PART}",
    "es": rf"{_MANY}\s+(?:terminan|acaban|empiezan|comienzan){_MANY}\s+(?:en|con|por)\s+(?:un\s+|el\s+)?{_PART}",
}
_STARTS_DE = (
    rf"\s+(?:fangen|hören)(?:\s+alle)?\s+mit\s+(?:einem\s+|dem\s+)?{_PART}\s+(?:an|auf)(?=\s*[,.;:–-])",
    rf"\s+(?:fangen|hören)(?:\s+alle)?\s+mit\s+(?:einem\s+|dem\s+)?{_PART}\s+(?:an|auf)(?=\s+und\s)",
)
_HAVE = {
    "en": rf"{_MANY}\s+(?:have|has|contain|carry){_MANY}\s+(?:got\s+)?(?:an?\s+|the\s+)?{_SIGNED}{_PART}\s+"
    r"(?:(?:at|on|in)\s+(?:the\s+|their\s+)*(?:end|front|start|beginning|back|(?:file\s?)?names?)|in\s+them|behind)",
    "de": rf"\s+haben(?:\s+alle)?\s+(?:ein\s+|das\s+|so\s+ein\s+)?{_SIGNED}{_PART}\s+"
    r"(?:am\s+(?:Ende|Anfang)|vorne(?:\s+dran)?|hinten(?:\s+dran)?|drin|im\s+(?:Datei)?namen)",
    "es": rf"{_MANY}\s+(?:tienen|llevan){_MANY}\s+(?:un\s+|el\s+)?{_SIGNED}{_PART}\s+"
    r"(?:al\s+(?:final|principio|inicio)|delante|detrás|en\s+el\s+nombre)",
}
_BIT = r"(?:bit|part|piece|ending|end|suffix|prefix|text|tag|thing|beginning|number)"
_LOSE = {
    "en": (
        r"(?:(?:lose|drop|remove|delete|cut|strip|ditch|kill|get\s+rid\s+of|take|chop|trim|scrap|erase)\s+(?:off\s+|out\s+)?"
        rf"(?:(?:that|this|the)\s+{_BIT}|that|this|it)(?!\s+(?:file|folder)s?\b)(?:\s+(?:off|out|away|everywhere|please"
        r"|from\s+(?:them|there|all(?:\s+of\s+them)?|the\s+(?:file\s?)?names?)))*"
        r"|(?:I|we)\s+(?:don['’]t|do\s+not)\s+(?:want|need|like)\s+(?:that|it)(?:\s+(?:bit|part|there|any\s?more))*"
        rf"|(?:that|this)\s+{_BIT}\s+(?:should|can|must|has\s+to|needs\s+to)\s+go)"
    ),
    "de": (
        r"(?:das(?:\s+(?:Stück|Teil|Kürzel|Ende))?\s+(?:soll|kann|muss|sollte|darf)\s+(?:bitte\s+|überall\s+|doch\s+)*(?:weg|raus|ab)"
        r"|das\s+(?:bitte\s+|überall\s+)*(?:weg|raus|ab)(?:machen|nehmen|schneiden|lassen)?"
        r"|das\s+(?:will|möchte|brauche)\s+ich\s+nicht(?:\s+(?:mehr|haben))*"
        r"|(?:mach\w*|nimm|nehmen|lösch\w*|entfern\w*|streich\w*|schneid\w*)\s+(?:Sie\s+)?(?:bitte\s+|mir\s+)*"
        r"(?:es|das|diesen\s+Teil|das\s+Stück|die\s+Endung)(?:\s+(?:bitte|überall|weg|raus|ab))*(?=\s*(?:[.,;!?]|$|\s+und\s)))(?!\w)"
    ),
    "es": (
        r"(?:(?:qu[ií]t|s[aá]c|b[oó]rr)[ae](?:me|se)?lo|elim[ií]n[ae]lo"
        r"|(?:quit|borr|elimin|sac)[ae]\s+(?:eso|esa\s+parte|ese\s+trozo|ese\s+final)|eso\s+(?:fuera|sobra|que\s+se\s+vaya))(?!\w)"
    ),
}
_OUT = {
    "en": ('del "{part}" in names of {what}', 'del "{part}" of {what}'),
    "de": ('entferne "{part}" aus Namen von {what}', 'entferne "{part}" aus {what}'),
    "es": ('quita "{part}" de nombres de {what}', 'quita "{part}" de {what}'),
}
NAMES = regex(r"\b(?:file\s?|datei)?(?:names?|namen?|nombres?)\b", re.IGNORECASE)
OF_SOME = regex(r"\b(?:that|which|die|welche|que|ones|those)\s*$", re.IGNORECASE)
EACH_ONE = regex(r"\b(?:everything|anything|each|every|alles|jede\w*|todo|cada)\b", re.IGNORECASE)
OF_THEM = regex(rf"\b{_BIT}\b|\b(?:off|out|from)\b", re.IGNORECASE)


def _taken_out(lang: str) -> Callable[[re.Match[str]], str]:
    """Out of the names of what is told to have it. "Those that end in _old, delete it" may mean files, and so may
    "everything ends in _old, delete it".
    """

    def put(found: re.Match[str]) -> str:
        what, lose = found["what"].strip(), found["lose"]
        if OF_SOME.search(what) or (EACH_ONE.search(what) and not OF_THEM.search(lose)):
            return found.group()
        plain, of_names = _OUT[lang]
        return (of_names if NAMES.search(what) else plain).format(part=found["part"], what=what)

    return put


def _rules_of(forms: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    return tuple((rf"{_WHAT}{has}{_THEN}(?P<lose>{_LOSE[lang]})", _taken_out(lang)) for lang, has in forms)


_TAKEN_OUT = _rules_of(
    (
        *_ENDS.items(),
        *_HAVE.items(),
        *(("de", has) for has in _STARTS_DE),
    )
)

_SERIES = r"(?=[^,;:!?\n]{1,60}?(?<!\d)0*1(?:\.\w{2,5})?\s*(?:,|\.\.\.|…|(?:and|und|y|etc|usw)\b|[^\s\d,]*[ _-]?0*2\b))"
_LIKE = (
    rf"(?:{_MANY}\s+(?:have|has|got|with|haben|hat|mit|tienen|llevan|con)\s+(?:got\s+)?(?:such\s+|these\s+|so\s+|unos\s+)?(?:[\w-]+\s+){{0,2}}?"
    r"(?:names?|namen?|nombres?)\s+(?:[\w]+\s+)?(?:like|such\s+as|wie|como|tipo)"
    r"|\s+(?:are|were|is)\s+(?:all\s+)?(?:called|named)\s+(?:(?:something|things|stuff)\s+)?(?:like|such\s+as)"
    r"|\s+hei(?:ß|ss)en(?:\s+(?:alle|so|alle\s+so|so\s+was|so\s+etwas))?\s+wie|\s+se\s+llaman(?:\s+(?:cosas|todas|todos))?\s+(?:como|tipo))"
    r"\s+(?P<like>[^,;:!?\s]*[^,;:!?.\s])(?:\s*,?\s*(?:and\s+(?:so\s+on|such|the\s+like)|etc\.?|usw\.?|und\s+so\s+weiter|oder\s+so|or\s+so"
    r"|y\s+cosas\s+as[ií]|y\s+as[ií]))?"
)
_BECOME = {
    "rename {what} to ": (
        r"(?:(?:I|we)(?:['’]d)?\s+(?:want|like|need)(?:\s+(?:them|these|those))?(?:\s+to)?(?:\s+be)?(?:\s+(?:called|named))?"
        r"|(?:they|these)\s+(?:should|shall|must)(?:\s+all)?\s+be(?:\s+(?:called|named))?|(?:re)?name\s+(?:them|these|those)(?:\s+all)?(?:\s+to|\s+as)?"
        r"|call\s+(?:them|these|those)(?:\s+all)?|make\s+(?:them|that)|change\s+(?:them|that)\s+to)"
    ),
    "benenne {what} in ": (
        r"(?:nenn\w*\s+(?:sie|die)|benenn\w*\s+(?:sie|die)(?:\s+alle)?(?:\s+um)?\s+in|(?:sie|die)\s+sollen(?:\s+alle|\s+jetzt|\s+lieber|\s+bitte)*"
        r"|ich\s+(?:möchte|will|hätte\s+gern\w*)(?:\s+sie)?)"
    ),
    "renombra {what} a ": (
        r"(?:(?:quiero|quisiera|que)\s+(?:que\s+)?se\s+llamen|pon(?:les|ga?les?|l[ae]s)(?:\s+(?:de\s+)?nombres?)?|ll[aá]m[ae]l[ao]s|ren[oó]mbr[ae]l[ao]s\s+(?:a|como))"
    ),
}


def _by_number(form: str) -> Callable[[re.Match[str]], str]:
    """What they are called now is one of many, and no file that is meant alone."""
    return lambda found: f"{form.format(what=found['what'].strip())}"


_SHOW = (
    r"\s+(?:(?:are|were)\s+(?:all\s+)?(?:of|from)|(?:all\s+)?show|sind\s+(?:alle\s+)?(?:von|vom|aus)|zeigen(?:\s+alle)?"
    r"|son\s+(?:tod[oa]s\s+)?del?|muestran)\s+[^.,;:!?\n]{2,60}"
)
_EXAMPLES = tuple(
    (rf"{_WHAT}{has}{_THEN}{become}\s+{_SERIES}", _by_number(form))
    for form, become in _BECOME.items()
    for has in (_LIKE, _SHOW)
)

_SOME_LIKE = (
    r"(?<=\w)\s+(?:(?:that|which|die|que)\s+)?(?:have|has|with|having|haben|mit|tienen|tengan|con)\s+(?:names?|namen?|nombres?)\s+"
    r"(?:like|such\s+as|wie|como|tipo)\s+(?P<like>[^\s,;:!?\"*]*\d[^\s,;:!?\"*]*[^\s,;:!?.\"*]|[^\s,;:!?\"*]*\d)"
)


def _all_like(found: re.Match[str]) -> str:
    """ "With names like IMG_2041" chooses all that are numbered so, and not that one alone."""
    return f" {re.sub(r'[0-9]+(?=[^0-9]*$)', '*', found['like'])}"


_CASE = {
    "title case": (
        r"normal(?:\s+(?:case|ones|letters|schreiben|machen))?|readable|sensible|proper(?:\s+case)?|nicer?|normales|legibles"
    ),
    "lower case": r"lower\s?-?case|small(?:\s+letters)?|klein|minúsculas|minusculas|en\s+min[uú]sculas",
}
_LOUD = (
    r"\s+(?:(?:is|are)\s+(?:all\s+|completely\s+|entirely\s+)*(?:in\s+|written\s+in\s+)?(?:all\s+)?(?:caps|capitals|upper\s?-?case|capital\s+letters)"
    r"|(?:sind|ist)\s+(?:alle\s+|komplett\s+|ganz\s+)*(?:in\s+)?(?:großgeschrieben|groß\s+geschrieben|Großbuchstaben|groß)"
    r"|est[aá]n?\s+(?:tod[oa]s\s+)?en\s+may[uú]sculas)"
)
_MAKE = (
    r"(?:make|turn|put|change|write|mach\w*|schreib\w*|p[oó]n(?:l[oa]s?|ga)?|d[eé]jal[oa]s?)"
    r"(?:\s+(?:Sie\s+)?(?:them|it|that|those|sie|es|das))?(?:\s+(?:to|into|in|bitte))?"
)


def _cased(case: str) -> Callable[[re.Match[str]], str]:
    def put(found: re.Match[str]) -> str:
        what = found["what"].strip()
        return f"make {what if NAMES.search(what) else f'names of {what}'} {case}"

    return put


_CASES = tuple((rf"{_WHAT}{_LOUD}{_THEN}{_MAKE}\s+(?:{said})(?!\w)", _cased(case)) for case, said in _CASE.items())


_THING = r"(?P<thing>[\U00020000-\U000203ff]+|[^\s,;:!?\"“„]*[^\s,;:!?.\"”“])"
_ART = (
    r"(?:(?:the|my|our|this|die|der|das|den|dem|mein\w*|el|la|mi|este|esta)\s+)?"
    r"(?:(?:file|folder|photo|Datei|Ordner|Foto|archivo|fichero|carpeta)\s+)?"
)
_NEW = (
    r"[\"“„«'‘]?(?P<new>(?!(?:in|to|into|nach|zu|a|en)\s)[^,;:!?\"“”„«»\n]+?)[\"”“»'’]?(?=\s*(?:[,;!?\n]|\.(?:\s|$)|$))"
)
_NOW = (
    r"(?:\s+(?:now|please|from\s+now\s+on|in\s+future|jetzt|ab\s+jetzt|ab\s+sofort|künftig|von\s+nun\s+an"
    r"|bitte|lieber|ahora|desde\s+ahora|mejor|por\s+favor))*"
)
_NEW_NAME = (
    r"(?:its\s+|the\s+|der\s+|den\s+|el\s+)?(?:new\s+name|neue[rn]?\s+Name[n]?|nuevo\s+nombre)\s*"
    r"(?:is|should\s+be|shall\s+be|lautet|ist|soll\s+(?:sein|lauten)|sei|wäre|es|ser[aá]|sería)?(?![\w])\s*[:=]?\s*"
)
_CALL = {"en": "call {} as {}", "de": "nenn {} in {}", "es": "nombra {} a {}"}


def _called(lang: str) -> Callable[[re.Match[str]], str]:
    """The one thing and its new name, which goes to the end of its clause."""
    return lambda found: f"{found['lead'] or ''}{_CALL[lang].format(found['thing'], _quoted(found['new']))}"


def _quoted(name: str) -> str:
    """In quotes where nothing else holds it together, or where it means something."""
    name = name.strip()
    plain = RUN.fullmatch(name) or (name.isalnum() and all(word.unknown for word in words(name)))
    return name if plain else f'"{name}"'


RUN = regex(r"[\U00020000-\U000203ff]+")
_START = r"(?P<lead>^\W*|(?<=[.!?;:\n]\s)|\b(?:and|und|y)\s+)"
_ONE: tuple[Rule, ...] = tuple(
    (f"{_START}{form}", _called(lang))
    for lang, form in (
        (
            "en",
            rf"(?:the\s+)?(?:new\s+)?name\s+(?:of|for)\s+{_ART}{_THING}\s+(?:is|should\s+be|shall\s+be|ought\s+to\s+be)(?:\s+now)?\s+{_NEW}",
        ),
        ("en", rf"(?:please\s+)?change\s+(?:the\s+)?name\s+(?:of\s+|for\s+)?{_ART}{_THING}\s+(?:in)?to\s+{_NEW}"),
        (
            "en",
            rf"{_ART}{_THING}\s+(?:gets|should\s+get|needs|should\s+have)\s+(?:the|a)\s+(?:new\s+)?name\s+(?:of\s+)?{_NEW}",
        ),
        ("en", rf"{_ART}{_THING}\s+is\s+(?:now|from\s+now\s+on)\s+(?:called|named|to\s+be\s+called)\s+{_NEW}"),
        (
            "en",
            rf"{_ART}{_THING}\s+(?:is|was|has\s+been)\s+(?:called|named|labelled)\s+(?:wrong(?:ly)?|incorrectly|badly){_THEN}"
            rf"(?:it|that)\s+(?:should|shall|must|ought\s+to)\s+be\s+(?:called\s+|named\s+)?{_NEW}",
        ),
        ("en", rf"(?:please\s+)?call\s+{_ART}(?=[\U00020000-\U000203ff]|\S*[\d.]){_THING}\s+{_NEW}"),
        ("en", rf"{_ART}{_THING}\s*[:,]\s*{_NEW_NAME}{_NEW}"),
        ("en", rf"(?:please\s+)?rename\s+{_ART}{_THING}\s*[.,;:–-]\s*{_NEW_NAME}{_NEW}"),
        ("de", rf"(?:bitte\s+)?benenn\w*\s+(?:Sie\s+)?{_ART}{_THING}(?:\s+bitte)?\s+um\s*[.,;:–-]\s*{_NEW_NAME}{_NEW}"),
        ("de", rf"(?:bitte\s+)?{_ART}{_THING}(?:\s+bitte)?\s+umbenennen\s*[.,;:–-]\s*{_NEW_NAME}{_NEW}"),
        ("de", rf"{_ART}{_THING}\s+hei(?:ß|ss)t\s+(?:jetzt|ab\s+jetzt|künftig|ab\s+sofort|von\s+nun\s+an)\s+{_NEW}"),
        ("de", rf"{_ART}{_THING}\s+soll{_NOW}\s+(?P<new>[^,;:!?]+?)\s+hei(?:ß|ss)en(?=\s*(?:[,;!?.]|$))"),
        (
            "de",
            rf"(?:bitte\s+)?(?:gib|geben\s+Sie)\s+{_ART}{_THING}{_NOW}\s+(?:den|einen)\s+(?:neuen\s+|anderen\s+)?namen\s*[,:]?\s*(?:nämlich\s+|und\s+zwar\s+)?{_NEW}",
        ),
        (
            "es",
            rf"(?:por\s+favor\W+)?(?:quiero\s+|quisiera\s+)?c[aá]mbi(?:a|e|ar)(?:le|r?le)?\s+el\s+nombre\s+(?:al?|del?)\s+{_ART}{_THING}\s*,?\s+(?:y\s+)?"
            rf"(?:p[oó]n(?:le|ga?le)(?:\s+de\s+nombre)?|por|a|que\s+se\s+llame|ll[aá]mal[oa])\s+{_NEW}",
        ),
        (
            "es",
            rf"(?:por\s+favor\W+)?p[oó]n(?:ga)?le\s+(?:a|al)\s+{_ART}{_THING}\s+(?:(?:el|de|por)\s+)?nombre(?:\s+de)?\s+{_NEW}",
        ),
        (
            "es",
            rf"(?:que\s+)?{_ART}{_THING}\s+(?:se\s+(?:tiene\s+que|debe|ha\s+de|va\s+a)\s+llamar|(?:tiene\s+que|debe|deber[ií]a|ha\s+de)\s+llamarse){_NOW}\s+{_NEW}",
        ),
        (
            "es",
            rf"el\s+(?:nuevo\s+)?nombre\s+del?\s+{_ART}{_THING}\s+(?:es|ser[aá]|debe\s+ser|tiene\s+que\s+ser)\s+{_NEW}",
        ),
    )
)

_BOTH_DE = (
    rf"^\W*(?:bitte\s+)?(?:be)?nenn\w*\s+(?:Sie\s+)?{_ART}{_THING}\s+in\s+(?P<new>[^,;:!?\n]+?)(?:\s+um)?\s+und\s+{_ART}"
    rf"{_THING.replace('thing', 'other')}\s+in\s+(?P<also>[^,;:!?\n]+?)(?:\s+um)?(?=\s*(?:[.!?]|$))"
)


def _both(found: re.Match[str]) -> str:
    told = (_CALL["de"].format(found[one], _quoted(found[new])) for one, new in (("thing", "new"), ("other", "also")))
    return "; ".join(told)


_LETTER = (
    r"(?:spaces?|blanks?|underscores?|dashes|hyphens|Leerzeichen|Unterstriche?|Bindestriche?|espacios"
    r"|guiones(?:\s+bajos)?)"
)
_PLAINER: tuple[Rule, ...] = (
    (
        r"^\W*(?P<where>(?:in|bei|en)\s+(?:(?:all|allen|todos)\s+)?(?:(?:the|my|our|den|meinen|los|mis)\s+)?(?:file\s?|datei)?"
        r"(?:names?|namen|nombres?)(?:\s+(?:of|von|der|de)\s+[^,;:.!?\n]{2,50}?)?)\s*[,:]?\s+"
        r"(?P<deed>(?:please\s+|bitte\s+|por\s+favor\s+)?(?:replace|change|swap|exchange|ersetze?n?|tausche?n?|cambi[ae]|reemplaz[ae]|sustituy[ea])\s"
        r"[^,;:.!?\n]+)",
        lambda found: f"{found['deed']} {found['where'][0].lower()}{found['where'][1:]}",
    ),
    (
        r"\b(?:the\s+(?:word|text|abbreviation|letters)|das\s+(?:Wort|Kürzel)|die\s+(?:Abkürzung|Buchstaben)|den\s+Text|la\s+palabra|las\s+siglas|el\s+texto)"
        r"\s+(?=\S+\s+(?:with|by|durch|gegen|por|con)\s)",
        lambda found: " ",
    ),
    (r"\bsetz(?:e|en)?(?=(?:\s+Sie)?\s[^.;!?\n]*\bvor\s)", lambda found: "leg"),
    (
        r"\bp[oó]n(?:le|les|gale|gales)(?=\s[^.;!?\n]*\b(?:delante|al\s+(?:principio|inicio|final)|detrás)(?!\w))",
        lambda found: "pon",
    ),
    (
        rf"\bp[oó]n(?:le|les|gales)\s+a\s+(?P<what>[^,;:!?\n]{{2,60}}?)\s+{_SERIES}",
        lambda found: f"numera {found['what']} ",
    ),
    (
        rf"\b(?:I|we)\s+(?:don['’]t|do\s+not)\s+(?:want|like|need)\s+(?:any\s+)?(?={_LETTER}\s+in\b)",
        lambda found: "remove ",
    ),
    (
        rf"^\W*(?:please\s+)?no\s+(?P<what>{_LETTER})(?:\s+please)?\s+(?=in\s+(?:the\s+|my\s+|all\s+)*(?:file\s?)?names?\b)",
        lambda found: f"del {found['what']} ",
    ),
    (
        rf"^\W*keine\s+(?P<what>{_LETTER})(?:\s+mehr)?\s+(?=in\s+den\s+(?:Datei)?namen\b)",
        lambda found: f"lösch {found['what']} ",
    ),
    (rf"^\W*sin\s+(?P<what>{_LETTER})\s+en\s+los\s+nombres\b", lambda found: f"quita {found['what']} de nombres"),
    (
        rf"\buse\s+(?P<new>{_LETTER})\s+(?:instead\s+of|rather\s+than|not)\s+(?P<old>{_LETTER})(?=\s+(?:in|for)\b)",
        lambda found: f"swap {found['old']} by {found['new']}",
    ),
    (
        r"\b(?:turn|make)\s+(?P<old>[\w-]+)\s+(?P<in>into)\s+(?P<new>[\w-]+)(?=\s+in\s+(?:all\s+)?(?:the\s+)?(?:file\s?)?names?\b)",
        lambda found: f"swap {found['old']} by {found['new']}",
    ),
    (
        r"(?<!\S)(?P<old>[\w-]+)\s+(?:should|must)\s+be\s+(?P<new>[\w-]+)(?:\s+(?:everywhere|always|instead))?(?=\s+in\s+(?:all\s+)?(?:the\s+)?(?:file\s?)?names?\b)",
        lambda found: f"swap {found['old']} by {found['new']}",
    ),
    (
        rf"{_WHAT}\s+should\s+(?:all\s+)?be\s+(?:called|named)\s+(?P<new>[\w-]+)\s*,?\s+(?:and\s+)?(?:not|instead\s+of|rather\s+than)\s+(?P<old>[\w-]+)(?=\s*(?:[.,;!?]|$))",
        lambda found: f"swap {found['old']} by {found['new']} in names of {found['what']}",
    ),
    (
        rf"{_WHAT}\s+sollen\s+(?:alle\s+)?(?P<new>[\w-]+)\s+(?:statt|anstatt|und\s+nicht)\s+(?P<old>[\w-]+)\s+hei(?:ß|ss)en(?=\s*(?:[.,;!?]|$))",
        lambda found: f"tausch {found['old']} durch {found['new']} in Namen von {found['what']}",
    ),
    # Off their ends.
    (
        r"\b(?:take|strip|cut|chop|trim|knock)\s+(?:off\s+)?(?P<what>(?:the\s+|that\s+)?(?:dates?|years?|[(\[][^()\n]{1,12}[)\]]|[_~#+-][\w-]+|[\w-]+[_~#+-]))\s+"
        r"(?:off|from|out\s+of)\s+(?:the\s+(?:end|front|start|beginning)\s+of\s+)?",
        lambda found: f"del {found['what']} from names of ",
    ),
    # All of them, and then how.
    (
        r"^\W*(?:please\s+|bitte\s+)?rename\s+(?P<what>[^,.;:!?\n]{2,90}?)\s*[,;:–-]\s*(?:please\s+)?(?P<how>(?:put|add|prefix|append)\s[^,.;:!?\n]{1,40}?\s"
        r"(?:in\s+front|at\s+the\s+(?:start|beginning|front|end)))(?=\s*(?:[,.;!?]|$))",
        lambda found: f"{found['how']} of {found['what']}",
    ),
    # How, they don't say.
    (
        r"\b(?:give|gib|geben\s+Sie|pon(?:le|les|ga|gale|gales)?|dale|dales)\s+(?P<what>[^,.;:!?\n]{2,50}?)\s+(?:some\s+|any\s+|other\s+|neue\s+|andere\s+)*"
        r"(?:sensible|better|proper|nicer?|decent|meaningful|useful|readable|vernünftige|bessere|sinnvolle|schönere?|ordentliche|lesbare|aussagekräftige)"
        r"\s+(?:file\s?|Datei)?names?n?(?=\s*(?:[.,;!?]|$))",
        lambda found: (
            f"rename names of {found['what']}"
            if found.group()[:4].casefold() == "give"
            else f"benenne {found['what']} um"
        ),
    ),
    (
        r"\bp[oó]n(?:le|les|ga|gale|gales)?\s+nombres?\s+(?:decentes?|mejores|buenos|claros|sensatos|con\s+sentido)\s+a\s+(?P<what>[^,.;:!?\n]{2,50}?)(?=\s*(?:[.,;!?]|$))",
        lambda found: f"renombra {found['what']}",
    ),
    (
        r"(?<=\w)\s+(?:from\s+now\s+on|in\s+future|ab\s+(?:jetzt|sofort)|künftig|de\s+ahora\s+en\s+adelante|a\s+partir\s+de\s+ahora)(?=\s*(?:[.,;!?]|$))",
        lambda found: " ",
    ),
)

_FOLDERS_NAME = (
    r"(?:(?:the|their|its|this)\s+)?(?:folder(?:['’]s)?\s+name|name\s+of\s+(?:the|their|its|that)\s+folder)"
    r"|(?:den\s+|dem\s+)?(?:Ordnernamen?|namen?\s+(?:des|ihres|seines)\s+Ordners)|(?:el\s+)?nombre\s+de\s+(?:la|su)\s+carpeta"
)
AT_AN_END = regex(
    r"\b(?:front|before|start|beginning|prefix|prepend|end|append|suffix|behind|vor|voran|vorne|Anfang|Ende|hinten|anhäng\w*|delante|antes|principio"
    r"|inicio|final|detrás|antepon\w*)\b",
    re.IGNORECASE,
)
AT_THE_END = regex(r"\b(?:end|append|suffix|behind|after|Ende|hinten|anhäng\w*|final|detrás)\b", re.IGNORECASE)
INSIDE = regex(
    r"\b(?:in|from|of|inside|im|aus|von|en|de|del)\s+(?:the\s+|my\s+|dem\s+|la\s+)?(?:folder\s+|ordner\s+|carpeta\s+)?(?P<folder>[\U00020000-\U000203ff]+|[^\s,;:!?.]+)",
    re.IGNORECASE,
)


def _by_its_folder(known: Sequence[str]) -> Callable[[re.Match[str]], str]:
    """The name of the one folder that is spoken of, to be put before names or after them."""
    folders = {name.rstrip("/").partition("/")[0] for name in known if "/" in name}

    def put(found: re.Match[str]) -> str:
        said = {one["folder"].casefold() for one in INSIDE.finditer(found.string)}
        named = [folder for folder in folders if folder.casefold() in said]
        if len(named) != 1 or not AT_AN_END.search(found.string):
            return found.group()
        return f'" {named[0]}"' if AT_THE_END.search(found.string) else f'"{named[0]} "'

    return put


_WRONGLY = (
    r"(?:(?:I|we|someone|somebody)(?:\s+have|['’]ve)?\s+(?:(?:spelled|spelt|written|wrote|typed)\s+(?P<one>[^\W\d_]{4,})\s+(?:wrong(?:ly)?|incorrectly|badly)\b"
    r"|(?:misspelled|misspelt|mistyped)\s+(?P<two>[^\W\d_]{4,}))"
    r"|(?P<three>[^\W\d_]{4,})\s+(?:is|was)\s+(?:misspell?ed|misspelt|(?:spelled|spelt|written)\s+wrong(?:ly)?)\b"
    r"|ich\s+habe?\s+(?P<four>[^\W\d_]{4,})(?=\s[^.!?]*(?:falsch|verkehrt)\s+geschrieben)"
    r"|(?:fix|correct|mend)\s+the\s+(?:spelling|typo)\s+(?:of|in)\s+(?P<five>[^\W\d_]{4,})"
    r"|(?:escrib[ií]\s+mal|he\s+escrito\s+mal|est[aá]\s+mal\s+escrit[oa])\s+(?P<six>[^\W\d_]{4,}))"
    r"[^.;:!?\n]*(?:[.,;:]\s*(?:please|can\s+you|could\s+you|bitte|por\s+favor|fix|correct|mend|change|korrigier|corrig)[^.;:!?\n]*)?"
)


def _spelling(known: Sequence[str]) -> Callable[[re.Match[str]], str]:
    """Where just one thing is called by a slip of the word, that is renamed."""
    names = sorted({name.rstrip("/").rpartition("/")[2]: name.rstrip("/") for name in known}.items())

    def put(found: re.Match[str]) -> str:
        right = next(one for one in found.groups() if one)
        slips = [(path, name, word) for name, path in names for word in WORDS.findall(name) if _slip(right, word)]
        if len(slips) != 1 or "/" in slips[0][0]:
            return found.group()
        path, name, word = slips[0]
        new = name.replace(word, right.capitalize() if word[0].isupper() else right).rpartition(".")[0]
        return f'call "{path}" "{new}"'

    return put


def _slip(right: str, said: str) -> bool:
    return fold(said) != fold(right) and one_slip(fold(right), fold(said))


WORDS = regex(r"[^\W\d_]{4,}")
RULES: tuple[Rule, ...] = (
    *RESPELLING,
    *_TAKEN_OUT,
    *_EXAMPLES,
    (_SOME_LIKE, _all_like),
    *_CASES,
    *_PLAINER,
    (_BOTH_DE, _both),
    *_ONE,
)


def rules(known: Sequence[str]) -> tuple[Rule, ...]:
    """All of them, with those that go by what is there."""
    return ((_FOLDERS_NAME, _by_its_folder(known)), (_WRONGLY, _spelling(known)), *RULES)
