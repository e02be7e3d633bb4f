"""Constructions that say a plain thing in a roundabout way, put plainly before anything is read.

"X deserve a folder of their own, call it Beach" is "X into a folder called Beach". Each is rewritten in the place where
it stands and within its length, so that every other word keeps its own. What is quoted is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from libs.models.offline.paths import QUOTED

_BIN = (
    r"(?:(?:in|into|to)\s+(?:the\s+)?(?:trash(?:\s+can)?|bin|recycle\s+bin|waste\s?basket|garbage|rubbish)"
    r"|in\s+(?:den|die)\s+"
    r"(?:papierkorb|müll(?:eimer)?|tonne|mülltonne)|a\s+la\s+(?:papelera(?:\s+de\s+reciclaje)?|basura))"
)
_THROW = (
    r"(?:send|move|throw|put|chuck|toss|drop|kick|dump|tira|tirar|manda|mandar|echa|echar|mueve|mover|lleva"
    r"|envía|wirf|werfen|schmeiß"
    r"|schmeiss|tu|pack|verschieb|verschiebe|schick|befördere?|leg|schieb)"
)
_NEW = r"(?:better|new|different|other|nicer|proper|sensible|shorter|decent|clearer|real)"
_SAY = (
    r"(?:\s*[,:;–-]*\s*(?:say|like|maybe|perhaps|for\s+example|for\s+instance|namely|such\s+as"
    r"|how\s+about|i\.e\.)\b\s*[,:]?)?"
)
_OWN = r"(?:of\s+(?:its|their|his|her)\s+own)"

_NAME = r"(?:[\"“„«'‘][^\"”“»'’]+[\"”“»'’]|[^\s,.;:!?]+)"

Rule = tuple[str, Callable[[re.Match[str]], str]]


def _rule(pattern: str, plain: str | Callable[[re.Match[str]], str]) -> Rule:
    said = plain if callable(plain) else (lambda found: found.expand(plain))
    return pattern, said


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


RULES: tuple[Rule, ...] = (
    # A folder of its own.
    _rule(
        rf"\b(?:deserves?|needs?|merits?|could\s+(?:do\s+with|use)|should\s+(?:have|get)|wants?"
        rf"|gets?)\s+(?:an?\s+(?:new\s+|separate\s+)?folder\s+"
        rf"{_OWN}|(?:their|its)\s+own\s+folder)",
        "into a folder",
    ),
    _rule(
        r"\b(?:verdien(?:t|en)|brauch(?:t|en)|bekomm(?:t|en)|krieg(?:t|en))\s+einen\s+eigenen\s+Ordner\b",
        "in einen Ordner",
    ),
    _rule(
        r"\b(?:merecen?|necesitan?|quieren?|piden?)\s+(?:una\s+carpeta\s+(?:propia|aparte|para\s+(?:ell[oa]s?"
        r"|sí)(?:\s+sol[oa]s?)?)|su\s+propia\s+"
        r"carpeta)",
        "a una carpeta",
    ),
    # A new folder, and what is to be in it.
    _rule(
        rf"(?:\b(?:make|create|add|set\s+up|I(?:['’]d)?\s+(?:need|want|like))\s+)?\b(?:a|another|one|the"
        rf"|new)\s+(?:new\s+|separate\s+)?folder\s+(?:called\s+"
        rf"|named\s+)?(?P<name>{_NAME})\s*,?\s+(?:with|for|containing|holding)\s+(?P<what>(?:all\s+|both\s+"
        rf"|the\s+|my\s+)(?:[^.;!?]|\.(?=\w))+?)"
        r"(?:\s+(?:in\s+it|inside|in\s+there))?(?=\s*(?:[,.;!?]|$))",
        r"\g<what> to folder \g<name>",
    ),
    _rule(
        rf"\b(?:einen\s+)?neuen?r?\s+Ordner\s+(?:namens\s+)?(?P<name>{_NAME})\s*,?\s+(?:mit"
        rf"|für)\s+(?P<what>(?:allen?\s+|beiden\s+|den\s+|die\s+)(?:[^.;!?]|\.(?=\w))+?)"
        r"(?:\s+(?:darin|drin))?(?=\s*(?:[,.;!?]|$))",
        r"\g<what> in Ordner \g<name>",
    ),
    _rule(
        rf"\b(?:una\s+)?(?:nueva\s+)?carpeta\s+(?:nueva\s+)?(?:llamada\s+)?(?P<name>{_NAME})\s*,?\s+(?:con"
        rf"|para)\s+(?P<what>(?:tod[oa]s\s+)?(?:l[oa]s|mis|ambos|ambas)\s+"
        r"(?:[^.;!?]|\.(?=\w))+?)(?:\s+(?:dentro|en\s+ella))?(?=\s*(?:[,.;!?]|$))",
        r"\g<what> a carpeta \g<name>",
    ),
    # Out of one place, and to another.
    _rule(
        r"\b(?:get|take|pull|fetch|dig|bring|grab)\s+(?P<what>[^,;!?]{2,60}?)\s+out\s+of\s+(?P<where>[^,;!?]{2,40}?)\s+and\s+(?:put|place|drop|leave|stick|bring|move"
        r")\s+(?:it|them)(?=\s)",
        r"move \g<what> out of \g<where>",
    ),
    _rule(
        r"\b(?:saca|sacar|coge|toma)\s+(?P<what>[^,;!?]{2,60}?)\s+de\s+(?P<where>[^,;!?]{2,40}?)\s+y\s+(?:déja"
        r"|pon|mete|tráe|coloca)l[oa]s?(?=\s)",
        r"mueve \g<what> de \g<where>",
    ),
    # What goes into the folder just spoken of.
    _rule(
        r"\b(?:da|dort)\s+(?:soll(?:en)?|kann|können|kommt|kommen|gehört|gehören|muss|müssen|darf"
        r"|dürfen)\s+(?P<what>(?:[^.;!?]|\.(?=\w)){2,80}?)\s+(?:hinein|rein)\b",
        r"leg \g<what> hinein",
    ),
    _rule(r"(?<![\w-])(?:ab|rein|rüber|hinein|fort|weiter)\s+(?=(?:in|nach|zu)\s)", " "),
    _rule(r"(?<=[,;])\s*off\s+(?=(?:in)?to\s)", " "),
    # What a new place shall be called, said after it.
    _rule(
        r"(?<=folder)\s*,?\s*(?:and\s+|please\s+|just\s+|you\s+can\s+|let['’]s\s+|we(?:['’]ll"
        r"|\s+can)\s+)*(?:call|name|label|title)\s+"
        r"(?:it|that|this|the\s+folder)(?=\s+[^\s.]+(?:[\s,;!?]|\.?$|\.\s))",
        " called",
    ),
    _rule(
        r"(?<=Ordner)\s*,?\s*(?:und\s+)?(?:nenn|nenne|nennen\s+Sie)\s+(?:ihn|den)(?:\s+(?:bitte|einfach))*(?=\s)",
        " namens",
    ),
    _rule(r"(?<=carpeta)\s*,?\s*(?:y\s+)?(?:llámala|llamala|ponle\s+de\s+nombre|que\s+llamaremos)(?=\s)", " llamada"),
    _rule(
        r"(?<=Ordner)\s*,\s*(?:der|den\s+(?:du|Sie|wir|ich))\s+(?P<name>[^\s,.;!?]+(?:\s[^\s,.;!?]+)?)\s+(?:heißt|heisst|heißen\s+(?:soll|kann"
        r"|könnte)|nennst|nennen|nenne|genannt\s+wird)\b",
        r" namens \g<name>",
    ),
    # A new name.
    _rule(
        rf"\b(?:could\s+(?:do\s+with|use)|needs?|wants?|deserves?|should\s+(?:have"
        rf"|get))\s+an?\s+{_NEW}\s+(?:file\s?)?name\b{_SAY}(?=\s)",
        "should be called",
    ),
    _rule(
        r"\b(?:shall|should|must|is\s+to|will|ought\s+to)\s+(?:now\s+|henceforth\s+"
        r"|from\s+now\s+on\s+)?be\s+known\s+as\b",
        "should be called",
    ),
    _rule(r"\b(?:ponle|dale|póngale|dele)(?=\s+a\s+\S[^,;]*?\s+(?:el\s+nombre|por\s+nombre|de\s+nombre)\b)", "llama"),
    # The bin is no folder.
    _rule(
        rf"\b{_THROW}\b(?P<what>(?:[^.;:!?\n]|\.(?=\w)){{2,90}}?)\s+{_BIN}(?=\s*(?:[.,;:!?)\n]|$|\s(?:and|und|y"
        rf"|bitte|please)\b))",
        r"delete\g<what>",
    ),
    _rule(r"^\s*fuera(?=\s+(?:l[oa]s|el|la|todos|todas)\b)", "borra"),
    # Where something ends up.
    _rule(
        r"\bbe\s+(?:better\s+off|happier|better\s+placed|more\s+at\s+home|best\s+(?:kept|placed|off)|tidier)\s+in(?:side)?\b",
        "go into",
    ),
    _rule(r"\b(?:finds?|found|makes?|made)\s+(?:its|their)\s+way\s+(?:in)?to\b", "go to"),
    _rule(r"\b(?:end(?:ed|s)?|wind|wound)\s+up\s+(?:in|inside)\b", "go into"),
    _rule(
        r"\b(?:all\s+)?(?:live|be|sit|stay|go)\s+(?:all\s+)?(?:together\s+)?in\s+(?:one|a\s+single"
        r"|the\s+same)\s+(?:place|spot)(?=\s+(?:called|named))",
        "go into a folder",
    ),
)


def plainly(text: str, known: Sequence[str]) -> str:
    """The text with these said plainly, in its old length."""
    for pattern, said in RULES:
        text = _compiled(pattern).sub(lambda found, said=said: _put(found, said(found), known), text)  # type: ignore[misc]
    return text


def _put(found: re.Match[str], plain: str, known: Sequence[str]) -> str:
    whole = found.group()
    kept = [found.span(name) for name in found.re.groupindex]
    inside = any(
        span.start() < found.end()
        and found.start() < span.end()
        and not any(start <= span.start() and span.end() <= end for start, end in kept)
        for span in QUOTED.finditer(found.string)
    )
    named = any(name.rstrip("/").casefold() in BINS for name in known) and plain.startswith("delete")
    if inside or named or len(plain) > len(whole):
        return whole
    return f"{plain:<{len(whole)}}"


BINS = frozenset(("trash", "bin", "papierkorb", "müll", "papelera", "basura", "recycle bin", "garbage", "rubbish"))
"""Folders that are called so are meant."""
