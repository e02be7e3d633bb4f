"""Polite and impolite ways to lead up to a request, to close it, and to talk around it.

Most are written as templates in `frames.txt`, one a line: `(a|b)` is either, `?` after it makes it optional, `*` is any
word, `,` may or may not stand there, `^` is where a sentence begins and `$` where one ends. What a template can't
say is a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from libs.retrieval.regexes import regex

_KIND = r"(?:nice|kind|good|lovely|sweet|gracious|helpful)"
_GLAD = r"(?:great|nice|lovely|good|wonderful|awesome|super|fantastic|helpful|cool|perfect|amazing)"
_NICE = r"(?:nett|lieb|freundlich|gut|gütig|liebenswürdig)"
_FOOL = (
    r"(?:idiots?|morons?|dumbass|dumb|imbeciles?|cretin|dipshit|asshole|arsehole|bastard|bitch|twat|wanker|fool|dummy"
    r"|numbskull|thing|waste of \w+|joke|tin can|bucket of bolts|toaster|(?:piece|pile|heap|bag) of \w+)"
)
_TROTTEL = (
    r"(?:\w*idiot\w*|trottel|depp|dummkopf|arschloch|penner|blödmann|esel|vollpfosten|pfeife|nase|kiste|blechkiste"
    r"|blechdose|schrotthaufen|versager|dussel|holzkopf|affe|wicht|ding)"
)
_END = r"(?=\s*(?:[.,;:!?)\n]|$|\s[-–—]\s))"
SPELT = (
    # English.
    rf"\b(?:(?:would|could|can|will|might)\s+you\s+)?(?:please\s+)?be\s+(?:so\s+|very\s+)?{_KIND}"
    r"(?:\s+(?:as|enough))?\s+(?:to|and)\b",
    r"\b(?:(?:would|could|can|will)\s+you\s+)?be\s+an?\s+(?:dear|darling|sweetheart|angel|love|star|legend|pal"
    r"|champ|doll)\s+and\b",
    r"\b(?:would|do|wouldn['’]t)\s+you\s+(?:please\s+)?mind\b",
    r"\b(?:only\s+)?if\s+(?:it|that)(?:['’]s|\s+is|\s+isn['’]t|\s+wouldn['’]t\s+be|\s+doesn['’]t|\s+does\s+not"
    r"|\s+would\s+not\s+be|\s+is\s+not)(?:\s+(?:not|too|any|a|no|of|big|asking|all|cause|to))*\s+(?:much|ok|okay|fine|right|alright"
    r"|possible|trouble|bother|hassle|problem|ask|imposition|inconvenience)\b(?:\s+(?:asking|to|ask|of|for|with|you|trouble|bother)\b)*",
    r"\bif\s+you\s+(?:do\s?n['’]t|would\s?n['’]t|do\s+not|would\s+not)\s+mind\b",
    rf"\bif\s+you\s+(?:get|have|find|could\s+spare)\s+(?:a|some|the)\s+(?:chance|minute|moment|second|time){_END}",
    rf"\b(?:if\s+(?:at\s+all\s+)?possible|as\s+soon\s+as\s+(?:you\s+can|possible)|at\s+your\s+(?:earliest\s+)?"
    rf"convenience|when(?:ever)?\s+you\s+(?:can|have\s+(?:a|the)\s+\w+|get\s+(?:a|the)\s+\w+)){_END}",
    r"\b(?:I|we)(?:['’]d|\s+would|\s+should)?\s+(?:really\s+|very\s+much\s+|greatly\s+|so\s+)*(?:appreciate|love|like"
    r"|prefer|be\s+(?:\w+\s+)?(?:grateful|happy|glad|thankful|delighted|obliged|pleased))(?:\s+it)?\s+"
    r"(?:(?:very\s+much|a\s+lot)\s+)?if\s+you(?:\s+(?:could|would|can|might))?\b",
    rf"\b(?:it|that)(?:['’]d|\s+would)\s+be\s+(?:\w+\s+)?{_GLAD}\s+(?:of\s+you\s+)?(?:if\s+you(?:\s+(?:could"
    r"|would|can))?|to)\b",
    r"\b(?:I|we)\s+(?:was|were|am|['’]m)\s+(?:just\s+)?(?:wondering|hoping)\s+(?:(?:if|whether|that)\s+)?you"
    r"(?:\s+(?:could|would|might|can)(?:\s+be\s+able\s+to)?)?\b",
    r"\b(?:might|may|can|could)\s+I\s+(?:please\s+|kindly\s+)?(?:ask|trouble|bother|request|beg)\s+you\s+to\b",
    r"\bdo\s+(?:me|us)\s+(?:a|the)\s+(?:\w+\s+)?(?:favou?r|solid|kindness)\s*(?:,?\s*and\b|[,:])",
    r"\b(?:I|we)\s+(?:want|need|expect|beg|ask)\s+you\s+to\b",
    r"\b(?:go\s+ahead\s+and|feel\s+free\s+to|make\s+sure\s+(?:to|you))\b",
    r"\bstop\s+(?:wasting|fucking|messing|screwing|dawdling|being|whining|faffing)\b[^.,;:!?\n]*?(?=\s+and\b"
    r"|[.,;:!?\n])",
    r"\b(?:no\s+(?:rush|hurry|worries|pressure)|sorry\s+(?:to|for|about)\b[^.,;:!?\n]*|for\s+(?:fuck|god|christ|heaven"
    rf"|pete)['’]?s['’]?\s+sakes?|(?:will|would|can|could)\s+you{_END})",
    rf"\b(?:I|we)\s+(?:do\s?n['’]t|do\s+not|no\s+longer|wo\s?n['’]t|never)\s+(?:even\s+|really\s+|ever\s+)?"
    r"(?:need|want|use|watch|like|open|read|listen\s+to|care\s+for)\s+(?:it|them|this|these|those|any\s+of\s+"
    rf"(?:it|them|these|those))(?:\s+(?:any\s?more|any\s+longer|now|at\s+all))?{_END}",
    rf"\b(?:are\s+you\s+(?:\w+\s+)?(?:stupid|deaf|blind|dumb|kidding(?:\s+me)?|serious|asleep|thick|there)|you"
    rf"\s+(?:\w+\s+){{0,3}}?{_FOOL})(?!\w)",
    rf"(?:(?<=[,!.])\s*|^\s*|\bhey\s+){_FOOL}(?!\w){_END}",
    rf"\b(?:before|by|until|till)\s+(?:noon|lunch|dinner|tonight|tomorrow|midnight|the\s+meeting|(?:mon|tues|wednes"
    rf"|thurs|fri|satur|sun)day|I\s+(?:go|leave|get|have)\b[^.,;:!?\n]*){_END}",
    r"\b(?:my|our)\s+\w+\s+(?:wants|needs|asked\s+for|is\s+asking\s+for)\s+(?:me|us)\s+to\b",
    r"\b(?:remind\s+me|refresh\s+my\s+memory|erinner[e]?\s+mich|recu[eé]rdame)\b\s*(?=[,:])",
    r"\by\s+dime\s+de\s+qu[eé]\s+(?:va|trata)\b",
    r"\b(?:how\s+hard\s+can\s+it\s+be|what\s+are\s+you\s+waiting\s+for|who\s+wrote\s+this\s+\w+)\b",
    r"\b(?:was|wie)\s+ist\s+daran\s+so\s+schwer\b|\bwie\s+oft\s+denn\s+noch\b|\bverdammt\s+noch\s+mal\b",
    r"\bI\s+said\b[,:]?|\bsuch\s+an?\b",
    r"\b(?:so\s+)?here['’]s\s+the\s+(?:thing|deal|situation|story)\b|^\s*(?:my\s+)?dear\s+\w+\s*(?=,)",
    r"\b(?:this|the|my|it)(?:\s+(?:whole\s+)?(?:folder|place|thing|directory|disk|drive))?\s+(?:is|looks)\s+(?:\w+\s+)"
    rf"{{0,3}}(?:mess|pigsty|disaster|dump|nightmare|chaos){_END}",
    rf"\bhier\s+ist\s+(?:ja\s+)?(?:alles|so)\s+(?:voll|durcheinander|unordentlich|ein\s+chaos){_END}",
    r"\b(?:many\s+)?(?:thanks|thank\s+you|thx)(?:\s+(?:so|very|much|a\s+lot|in\s+advance|already"
    r"|ever))*\s+for(?=\s+\w+ing\b)",
    # German.
    rf"\b(?:wenn|falls)\s+(?:du|sie|ihr)\s+(?:bitte\s+)?so\s+{_NICE}\s+(?:wär\w*|sein\s+(?:würde\w*|könnte\w*)|bist"
    r"|sind)\b",
    rf"\b(?:wär\w*|könnte?\w*|würde?\w*|sei(?:en)?)\s+(?:(?:du|sie|ihr|bitte|mal|vielleicht)\s+)*so\s+{_NICE}"
    r"(?:\s+sein)?(?:\s*,)?(?:\s+und(?:\s+würde\w*)?)?(?!\w)",
    r"\b(?:ich|wir)\s+(?:hätte\w*|möchte\w*|würde\w*|will|wollen|wünsche\s+mir|bitte\s+darum|fände\s+es\s+\w+|wär\w*"
    r"(?:\s+\w+)?\s+(?:dankbar|froh)|freue\s+mich)(?:\s+(?:es|gerne?|lieber|sehr|mich|freuen|begrüßen))*\s*,?\s+"
    r"(?:dass|wenn|ob)\s+(?:du|sie|ihr)(?:\s+(?:mir|uns|bitte|mal))*\b",
    r"\b(?:würde?|macht)\s+es\s+(?:dir|ihnen|euch)\s+(?:et)?was\s+ausmachen\b",
    r"\bes\s+wär\w*\s+(?:\w+\s+)?\w+\s*,\s*(?:wenn|dass)\s+(?:du|sie|ihr)(?:\s+(?:mir|uns|bitte|mal))*\b",
    r"\b(?:wenn|falls|sofern)\s+es\s+(?:(?:dir|ihnen|euch|nicht|nichts|keine|zu|viel|große)\s+)*(?:viel|mühe|umstände|verlangt"
    r"|geht|möglich|recht|ausmacht|macht|bereitet)\b(?:\s+(?:verlangt|macht|bereitet|ist|wäre)\b)*",
    r"\btu(?:n\s+sie)?\s+mir\s+(?:bitte\s+|mal\s+)*(?:den|einen)\s+gefallen(?:\s+und\b)?",
    rf"\bdu\s+(?:\w+\s+){{0,2}}?{_TROTTEL}(?!\w)|(?<=[,!.])\s*{_TROTTEL}{_END}",
    rf"\b(?:das|die|den|der|sie)?\s*(?:brauch\w*|benutz\w*|guck\w*|les\w*|hör\w*|seh\w*|schau\w*"
    rf"|will)\s+(?:(?:ich|wir|man"
    rf"|eh|ja|sie|es|das|die|sowieso|ohnehin)\s+)*(?:(?:nicht|keiner|niemand|kein\s+mensch)\s+mehr|nimmer){_END}",
    r"\bso\s+ein(?:e)?\s+(?:scheiß\w*|mist|dreck|schrott|kack\w*|sauerei|saustall)(?!\w)",
    rf"\b(?:vielen\s+)?(?:lieben\s+|herzlichen\s+)?dank(?:\s+im\s+voraus)?{_END}",
    # Spanish.
    r"\b(?:ser[ií]as?|podr[ií]as?\s+ser|si\s+(?:eres|fueras?|es)|sea|s[ée])\s+(?:usted\s+)?tan\s+amables?"
    r"(?:\s+(?:de|como\s+para))?(?!\w)",
    r"\b(?:tendr[ií]as?|ten|tenga|si\s+tienes)\s+la\s+(?:bondad|amabilidad|gentileza)\s+de\b",
    r"\b(?:te|le|os)\s+(?:importar[ií]a|molestar[ií]a|importa)(?:\s+mucho)?(?!\w)",
    r"\bsi\s+no\s+(?:(?:te|le)\s+)?(?:importa|molesta|(?:es|fuera|supone|causa)(?:\s+(?:mucha|mucho|demasiad[ao]|ninguna|una))*"
    r"\s+(?:molestia|pedir|problema|trabajo|mucho))(?:\s+mucho)?(?!\w)",
    rf"\b(?:si|cuando)\s+(?:puedes|pudieras|puedas|es\s+posible|tienes\s+(?:tiempo|un\s+\w+)){_END}",
    r"\b(?:(?:me|nos)\s+gustar[ií]a|quisiera|quiero|querr[ií]a|necesito|(?:te\s+|le\s+)?agradecer[ií]a|(?:estar[ií]a"
    r"|ser[ií]a)\s+(?:muy\s+)?\w+)\s+(?:que|si)(?:\s+(?:me|nos|pudieras?|podr[ií]as?|puedas?))*(?!\w)",
    r"\bha(?:z|ga)(?:me|nos)?\s+(?:el|un)\s+(?:gran\s+)?favor\s+(?:de|y)\b",
    r"(?<!\w)(?:pedazo\s+de\s+\w+|imb[ée]cil|idiota|gilipollas|cabr[óo]n|in[úu]til|est[úu]pido|tonto|hijo\s+de\s+puta)"
    rf"(?!\w){_END}",
    r"\bde\s+una\s+(?:\w+\s+)?vez\b",
    rf"\bya\s+no\s+(?:los|las|lo|la)\s+(?:necesito|quiero|uso|necesitamos|queremos)(?:\s+m[áa]s)?{_END}",
)
"""Those with a grammar of their own."""

PART = regex(r"\((?:[^()]|\([^()]*\))*\)\??|\S+")
BLANK = r"(?:\s+|(?=['’]))"
BEGINS = r"(?:(?<=[.,;:!?(\n¿¡–—])\s*|\A\s*)"


def _template(line: str) -> str:
    """A template as a pattern. Before its first word that must stand, what may be missing takes the blank after it."""
    built, begun = "", False
    for part in PART.findall(line):
        optional = part.endswith(")?")
        said = _choice(part.removesuffix("?") if optional else part)
        match part:
            case "^":
                built += BEGINS
            case "$":
                built += _END
            case ",":
                built += r"\s*,?"
            case _ if optional:
                built += rf"(?:{BLANK}{said})?" if begun else rf"(?:{said}\s+)?"
            case _:
                built, begun = built + (BLANK if begun else "") + said, True
    return rf"(?<![\w'’])(?:{built})(?!\w)"


def _choice(part: str) -> str:
    if part == "*":
        return r"\w+"
    return re.sub(r"['’]", "['’]", part.replace("(", "(?:").replace(" ", r"\s+"))


TOKEN = regex(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A template, and words of which a text must have one of each set: most frames need no closer look."""

    line: str
    needs: tuple[frozenset[str], ...]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        return (found.span() for found in _pattern(self.line).finditer(text))


@cache
def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(_template(line), re.IGNORECASE)


def _needs(line: str) -> tuple[frozenset[str], ...]:
    plain = [part for part in PART.findall(line) if not part.endswith("?") and not re.search(r"[\\*^$,?]|\(.*\(", part)]
    return tuple(
        frozenset(TOKEN.findall(choice.lower())[0] for choice in part.strip("()").split("|")) for part in plain
    )


@cache
def _frames() -> Mapping[str, tuple[_Frame, ...]]:
    told: dict[str, list[_Frame]] = {}
    held: list[_Frame] = []
    for line in Path(__file__).with_name("frames.txt").read_text().splitlines():
        if line.startswith("["):
            held = told.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            held.append(_Frame(line, _needs(line)))
    return {kind: tuple(frames) for kind, frames in told.items()}


def _found(kind: str, text: str) -> Iterator[tuple[int, int]]:
    said = frozenset(TOKEN.findall(text.lower()))
    for frame in _frames()[kind]:
        if not any(need.isdisjoint(said) for need in frame.needs):
            yield from frame.spans(text)


def talk(text: str) -> list[tuple[int, int]]:
    """Where something is said to be polite, or not to be. A "not" in it forbids nothing."""
    return [*(found.span() for found in _spelt().finditer(text)), *_found("talk", text)]


@cache
def _spelt() -> re.Pattern[str]:
    return re.compile("|".join(SPELT), re.IGNORECASE)


def wishes(text: str) -> list[tuple[int, int]]:
    """Where something leads up to what shall be."""
    return list(_found("wish", text))
