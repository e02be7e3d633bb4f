"""Constructions that say a plain thing in a roundabout way, put plainly before anything is read.

"X deserve a folder of their own, call it Beach" is "X into a folder called Beach". Each is rewritten in the place where
it stands and within its length, so that every other word keeps its own. What is quoted is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from libs.models.offline import beside, copying, keeping, renaming
from libs.models.offline.archives import UNPACKS
from libs.models.offline.paths import QUOTED
from libs.models.offline.rewriting import Rule, put
from libs.models.offline.titles import SERIES
from libs.retrieval.regexes import regex

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


def _rule(pattern: str, plain: str | Callable[[re.Match[str]], str]) -> Rule:
    said = plain if callable(plain) else put(plain)
    return pattern, said


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ORDERS = (
    ("size", r"(?:ascending|asc|smallest\s+(?:first|on\s+top))", "smallest first"),
    ("size", r"(?:descending|desc|largest\s+(?:first|on\s+top)|biggest\s+first)", "largest first"),
    (r"(?:date|age|time|modification\s+date)", r"(?:ascending|asc|oldest\s+first)", "oldest first"),
    (r"(?:date|age|time|modification\s+date)", r"(?:descending|desc|newest\s+first)", "newest first"),
    ("size", "", "largest first"),
    (r"(?:date|age|time|modification\s+date)", "", "newest first"),
)
"""By what, which way round, and how that is said plainly."""


def _titled(what: str) -> str:
    """A folder's name for things: "Gas bills"."""
    return what.strip()[:1].upper() + what.strip()[1:]


def _unpacking(found: re.Match[str]) -> str:
    """An archive's own folder is where it is unpacked anyway."""
    return " " if UNPACKS.search(found.string) else found.group()


PURPOSES: tuple[Rule, ...] = (
    _rule(r"^\s*für\s+(?:die|den|das|meine[n]?|unsere[n]?)\s+\w+\s+(?=(?:bräuchte|brauche|hätte|möchte)\s+ich\b)", " "),
    _rule(r"^\s*for\s+(?:the|my|our)\s+\w+\s*,?\s+(?=I(?:['’]d)?\s+(?:need|want|would|like))", " "),
    _rule(
        r"^\s*(?:[^\W\d_]+\s+){1,4}?(?:(?:has\s+|have\s+)?asked\s+(?:me\s+|us\s+)?for|wants|wanted|needs|needed)\s+"
        r"(?=(?:all|the|my|our|every)\s[^.!?\n]*,\s*(?:so\s+)?(?:please|would|could|can|will)\s[^.!?\n]*\b(?:them|it|those)\b)",
        " ",
    ),
    _rule(
        r"^\s*(?:[^\W\d_]+\s+){1,4}?(?:braucht|möchte|will|wünscht)\s+(?=(?:alle|die|den|das)\s[^.!?\n]*,\s*(?:also\s+)?(?:bitte|kann|könn)\w*\s[^.!?\n]*\b(?:sie|es|ihn|die)\b)",
        " ",
    ),
    _rule(
        r"^\s*(?:[^\W\d_]+\s+){1,4}?(?:(?:me|nos)\s+(?:ha\s+pedido|pide|pidi[oó])|quiere|necesita)\s+(?=(?:tod[oa]s|l[oa]s|el|la)\s[^.!?\n]*,\s*(?:así\s+que\s+)?(?:por\s+favor\W+)?\w+l[oa]s?\s)",
        " ",
    ),
    # Who wants it in one piece: "my accountant wants the invoices in one zip".
    *(
        _rule(rf"^\s*{who}\s+(?=[^.!?\n]{{3,80}}\s{into}\b)", f"{wish} ")
        for who, into, wish in (
            (
                r"(?:my|our|the)\s+\w+\s+(?:wants|needs|(?:has\s+)?asked\s+(?:me\s+|us\s+)?for|would\s+like)",
                r"(?:in|as|into)\s+(?:a|one)\s+(?:single\s+)?(?:zip|archive)",
                "I need",
            ),
            (
                r"(?:mein|unser|der|die)e?\s+\w+\s+(?:will|braucht|möchte)",
                r"(?:in\s+einem|als|in\s+einer)\s+(?:Zip|Archiv)",
                "ich will",
            ),
            (
                r"(?:mi|nuestr[oa]|el|la)\s+\w+\s+(?:quiere|necesita|(?:me|nos)\s+(?:ha\s+pedido|pide|pidi[oó]))",
                r"(?:en|como)\s+(?:un\s+)?(?:solo\s+)?zip",
                "quiero",
            ),
        )
    ),
    _rule(r"^\s*para\s+(?:la|el|mi|los|las)\s+\w+\s*,?\s+(?=(?:necesito|quiero|quisiera|querría)\b)", " "),
)
"""What it is for, or who asked, says nothing of the files."""


def _without(found: re.Match[str]) -> str:
    """A text is taken out wherever it stands in the names: there is no rule for one end alone. A word that may mean
    something, as spaces do, is a text only where it is called one.
    """
    what, said = found["what"], found["of"].casefold()
    if not (found["text"] or re.search(r"[\"A-Z\d_-]", what)):
        return found.group()
    before = found["deed"].ljust(found.start("what") - found.start() - 1)
    link = "from" if said in ("at", "of") else {"am": "aus", "vom": "aus", "del": "de", "al": "de"}.get(said, said)
    return f"{before} {what} {link} " if what.startswith('"') else f'{before}"{what}" {link} '


_SERIES = (
    r"(?=[^,;:!?\n]{1,60}?(?<!\d)0*1(?:\.\w{2,5})?\s*"
    r"(?:,|\.\.\.|…|(?:and|und|y|bis|to|through|hasta|etc|usw)\b|[^\s\d,]*[ _-]?0*2\b))"
)
"""Before what begins to count: "fig_01, fig_02"."""


def _by_number(found: re.Match[str]) -> str:
    """ "Die Bilder sollen Reise 1, Reise 2 usw. heißen": the names stay in their place."""
    series = SERIES.search(found["what"])
    what = SHALL.sub("", found["what"][: series.start()].rstrip()) if series else ""
    if series is None or not what:
        return found.group()
    at = found.start("what") + series.start() - found.start()
    return _in_place(found, f"nenn {what}", at, name=series.group())


SHALL = regex(r"\s+soll(?:t?en)(?:\s+(?:bitte|jetzt|künftig|alle))*$", re.IGNORECASE)


def _swapped(found: re.Match[str]) -> str:
    """ "Aus DSC_ soll in den Dateinamen Fest_ werden": both texts stay in their place."""
    head = f"{' ' * (found.start('old') - found.start())}{found['old']}{found['mid'].rstrip()} by"
    return _in_place(found, head, found.start("new") - found.start(), name=f"{found['new']} tausch")


def _in_place(found: re.Match[str], head: str, at: int, *, name: str) -> str:
    return f"{head:<{at}}{name}" if len(head) < at else found.group()


def _in_that_place(found: re.Match[str]) -> str:
    """ "Open Downloads and delete the temp files in there": the place stays where it is named."""
    start = found.start()
    head = f"{'in':<{found.start('where') - start}}{found['where']}"
    return f"{head:<{found.start('rest') - start}}{found['rest']}"


_DEEDS = (
    r"(?:delete|remove|clean|clear|get\s+rid|throw|bin|erase|tidy|sort|organi[sz]e|zip|rename|find|list|show|count|bring\s+order"
    r"|lösch\w*|entfern\w*|räum\w*|sortier\w*|zipp?e?|benenn\w*|such\w*|zeig\w*|wirf|werfen|schmei(?:ß|ss)\w*"
    r"|borr[ae]|elimin[ae]|quit[ae]|limpi[ae]|orden[ae]|comprim[ae]|renombr[ae]|busca|busque|tir[ae])"
)
_THAT_PLACE = (
    r"(?:(?:the|my|den|dem|meinen|la|mi)\s+)?(?:(?:folder|directory|Ordner|carpeta)\s+)?"
    r"(?P<where>[^\s,;.!?]+)(?:\s+folder)?"
)

RULES: tuple[Rule, ...] = (
    # Where to go first.
    _rule(
        r"\b(?:(?:open(?:\s+up)?|go\s+(?:in)?to|look\s+(?:in(?:to|side)?|at)|have\s+a\s+look\s+(?:in(?:to|side)?|at)|check|visit)"
        r"|(?:geh\w*|schau\w*|guck\w*|sieh|wechs\w+)(?:\s+(?:Sie|mal|bitte|doch))*\s+(?:in|nach|ins)|(?:öffne|mach)\s+(?:mal\s+|bitte\s+)?"
        rf"|(?:entra|ve|m[ií]ra|entre|vaya|vete)\s+(?:en|a)|abr[ae])\s+{_THAT_PLACE}\s*(?:,|,?\s+(?:and|und|y))(?:\s+(?:then|dann|luego))?\s+"
        rf"(?P<rest>{_DEEDS}\b(?:(?!\s(?:it|into)\b)[^.;!?\n]|\.(?=\w))*)",
        _in_that_place,
    ),
    # What it depends on.
    _rule(r"\bin\s+case(?!\s+of\b)\b", "if"),
    _rule(r"\s*,?\s+(?:es\s+sei\s+denn\s*,?|(?:a\s+menos|salvo|a\s+no\s+ser)\s+que)(?=\s)", " unless"),
    _rule(r"\b(?:except|excepto|salvo)\s+(?:if|si)\b|\bau(?:ß|ss)er\s*,?\s+(?:wenn|falls)\b", "unless"),
    _rule(
        r"\b(?:check|verify|test)\s+(?:if|whether)(?=\s(?:[^.!?\n]|\.(?=\w))*\s(?:and|then)\s)"
        r"|\b(?:prüfe?n?|schau\w*|sieh|guck\w*)(?:\s+(?:Sie|bitte|mal|nach|doch))*\s*,?\s+ob(?=\s(?:[^.!?\n]|\.(?=\w))*\s(?:und|dann)\s)"
        r"|\b(?:mira|comprueba|revisa|verifica|mire|compruebe)\s+si(?=\s(?:[^.!?\n]|\.(?=\w))*\sy\s)",
        "if",
    ),
    _rule(
        r"(?P<and>\s(?:and|und|y))\s*,?\s+(?:if\s+so|(?:wenn|falls)\s+(?:ja|das\s+so\s+ist)|(?:si\s+es\s+as[ií]|en\s+ese\s+caso))\b,?"
        r"|(?:,?\s+(?:if\s+so|(?:wenn|falls)\s+ja|si\s+es\s+as[ií])(?=\s*(?:[.!?]|$)))",
        lambda found: found["and"] or " ",
    ),
    # "Make the folder then!"
    _rule(r"(?<=\w)\s*,?\s+(?:then|dann|entonces|pues)(?=(?:\s+an)?\s*[.!]*\s*$)", " "),
    # Where the subfolders are.
    _rule(
        r"\b(?:down|deeper|further\s+down|unten|abajo)\s+(?=(?:in|en)\s+(?:all\s+|my\s+|the\s+|den\s+|allen\s+|las\s+)?(?:sub|unter))",
        "",
    ),
    # Why, in a hurry: "que esto está hecho un desastre".
    _rule(
        r"\s*,?\s+(?:que|porque|pues)\s+(?:todo\s+)?(?:esto|eso)\s+(?:ya\s+)?(?:es|est[aá]|parece|va|queda)\b[^.,;:!?\n]*",
        " ",
    ),
    # What somebody does all the time is nothing to be kept.
    _rule(r"\b(?P<who>I|we|he|she|they|you|people)\s+(?:always\s+)?keeps?\s+(?:on\s+)?(?=\w+ing\b)", r"\g<who> "),
    # "Die Bilder, die doppelt sind, entfernen": German sets commas around what tells which.
    _rule(
        r",\s+(?P<which>(?:die|der|das)\s+[^,;:.!?\n]{2,60}?\s(?:sind|ist|waren|war|liegen|liegt|stehen|steht))\s*,"
        r"(?=\s+(?:bitte\s+)?(?:weg|ent|lösch|raus|ver|um|in|nach|zu|pack|kopier)\w*\b)",
        r"  \g<which> ",
    ),
    # As they are sorted anyway.
    _rule(
        r"\s*,?\s+in\s+(?:the|their)\s+(?:same\s+)?(?:current\s+|present\s+)?order\s*(?:(?:that|in\s+which|as)\s+)?(?:they\s*(?:['’]re|are)(?:\s+in)?)?"
        r"(?:\s+(?:right\s+)?now|\s+at\s+the\s+moment|\s+already)?(?=\s*(?:[.,;!?]|$))"
        r"|\s*,?\s+in\s+(?:der|ihrer)\s+(?:jetzigen|aktuellen|gleichen|derzeitigen)\s+Reihenfolge(?=\s*(?:[.,;!?]|$))"
        r"|\s*,?\s+in\s+der\s+Reihenfolge\s*,\s*(?:in\s+der|wie)\s+sie\s+(?:jetzt\s+|gerade\s+)?(?:sind|stehen|liegen)"
        r"|\s*,?\s+en\s+el\s+(?:mismo\s+)?orden\s+(?:actual|en\s+(?:el\s+)?que\s+est[aá]n(?:\s+ahora)?)",
        " ",
    ),
    # In which order they are numbered.
    _rule(r"\b(?P<what>number\s+[^.;!?\n,]*?),?\s+(?:the\s+)?oldest\s+(?:ones?\s+)?first\b", r"\g<what> by date"),
    _rule(r"\b(?P<what>nummerier\w*\s+[^.;!?\n,]*?),?\s+(?:die\s+)?älteste[nr]?\s+zuerst\b", r"\g<what> nach Datum"),
    _rule(
        r"\b(?P<what>numera\w*\s+[^.;!?\n,]*?),?\s+primero\s+l[oa]s\s+m[aá]s\s+(?:viej|antigu)[oa]s\b",
        r"\g<what> por fecha",
    ),
    # All but.
    _rule(
        r"\b(?P<all>everything|anything|all\s+(?:the\s+)?files)\s+(?:that|which)\s*(?:is|are|['’]s)(?:n['’]t|\s+not)\s+"
        r"(?:an?\s+|the\s+)?(?=\w)",
        r"\g<all> except ",
    ),
    _rule(
        r"(?<=\balles)\s*,?\s+was\s+(?:kein(?:e[nrsm]?)?|nicht)\s+(?P<what>[^\s,.;!?]+)\s+(?:ist|sind)\b",
        r" außer \g<what>",
    ),
    _rule(r"(?<=\btodo)\s+lo\s+que\s+no\s+sean?\s+(?:una?\s+)?(?=\w)", " excepto "),
    _rule(r"^\W*qu[eé]\s+(?P<what>\w+)\s+hay(?=\s+en\b)", r"lista \g<what>"),
    # Why some are left out.
    _rule(
        r"(?P<spare>\b(?:except|excluding|apart\s+from|other\s+than|but\s+not|außer|bis\s+auf|aber\s+nicht|excepto|salvo|menos)\s"
        r"(?!(?:the\s+ones?|those|them|denen|die|las|los|lo)\s*,?\s+(?:which|that|die|que)\b)"
        r"[^.;!?\n]*?)(?:\s*,\s*|\s+)(?:which|that|because|since|as|cause|those|they|die|denn\s+die|weil|que|porque)(?:\s+(?:I|we|ich|wir|they|are"
        r"|die|sie|is|am|['’]re|still|currently|often|always|todav[ií]a|aún|a[uú]n|noch|las|los))*\s+(?:use|using|need|want|valid|current|in\s+use"
        r"|brauche[n]?|benutze[n]?|gültig|gelten|uso|usamos|necesit[oa]|necesitamos|valen|vigentes)"
        r"(?:\s+(?:them|those|it|ich|wir|noch|ja|daily|a\s+lot|every\s+day))*\s*(?=[.,;!?]|$)",
        r"\g<spare> ",
    ),
    # A name of several words, one of which leads elsewhere in a sentence.
    _rule(
        r"\bcalled\s+(?P<name>(?-i:[A-Z])[\w'’-]*(?:\s+[\w'’-]+){0,3}?\s+(?:to|in|from|into)\s+(?:(?:the|my|our)\s+)?(?-i:[A-Z])[\w'’-]*(?:\s+(?-i:[A-Z])[\w'’-]*)*)"
        r"(?=\s*(?:[.,;!?]|$))",
        lambda found: found.group() if GETS_ANOTHER.search(found.string) else f'name "{found["name"]}"',
    ),
    _rule(r"(?<=\bto)\s+(?:be\s+)?like\s+(?=[\"“(]?(?-i:[A-Z]))", " "),
    _rule(
        r"(?<=\bund)\s+(?:tu|leg|pack|schieb|steck|räum)e?\s+da(?:nn)?\s+(?P<what>(?:die|den|das|alle|meine)\s[^.;!?\n]{2,120}?)\s+(?:rein|hinein)(?=\s*(?:[.;!?]|$))",
        r" leg \g<what> hinein",
    ),
    _rule(
        r"(?<=[.!?])\s+(?:are\s+you\s+able\s+to\s+do\s+(?:that|this)|can\s+you\s+do\s+(?:that|this)|is\s+(?:that|this|it)\s+possible|would\s+that\s+be\s+possible"
        r"|(?:geht|ginge)\s+das(?:\s+irgendwie)?|kannst\s+du\s+das(?:\s+machen)?|k[oö]nnen\s+sie\s+das|ist\s+das\s+m[oö]glich|wäre\s+das\s+möglich"
        r"|(?:lo\s+)?puedes\s+hacer(?:lo)?|se\s+puede|es\s+posible|ser[ií]a\s+posible)\s*\?\s*$",
        " ",
    ),
    _rule(
        r"\s*[.,;]\s*(?:aber\s+)?(?P<what>(?:die|der|das|den)\s[^.,;!?\n]{2,60}?)\s+(?:gehör\w*|komm\w*|soll\w*|muss|müssen)\s+(?:da\s+)?nicht\s+(?:dazu|mit\s+rein|mit|rein|hinein|dabei\s+sein)"
        r"(?=\s*(?:[.,;!?]|$))",
        r", außer \g<what>",
    ),
    _rule(
        r"\s*[.,;]\s*(?:but\s+)?(?P<what>(?:the|those|that)\s[^.,;!?\n]{2,60}?)\s+(?:(?:does\s+not|do\s+not|does\s?n['’]?t|do\s?n['’]?t|should\s?n['’]?t)\s+(?:belong|go\s+in|count)(?:\s+(?:in\s+)?(?:there|here|it))?"
        r"|(?:is|are)(?:\s+not|n['’]?t)\s+(?:part\s+of\s+it|included))(?=\s*(?:[.,;!?]|$))",
        r", except \g<what>",
    ),
    # What is needed still, beside what goes.
    _rule(
        r"(?:^|(?<=[,;.:]\s)|(?<=\saber\s)|(?<=\sund\s))(?P<what>(?:die|den|das|der|alle)\s[^,.;:!?\n]{1,60}?)\s+(?:brauch\w*|benötig\w*)\s+(?:ich|wir)"
        r"(?:\s+(?:aber|ja|doch|schon|auf\s+jeden\s+fall))*\s+noch(?:\s+(?:mal|für\s+\w+|eine\s+weile))?(?=\s*(?:[,.;!?]|$))",
        r"behalte \g<what>",
    ),
    _rule(
        r"(?P<go>\b(?:weg|raus|löschen|gelöscht)\s*[,;.]\s*(?:aber\s+)?)(?P<what>(?:die|den|das|der)\s[^,.;:!?\n]{1,60}?)\s+(?:brauch\w*|benötig\w*)"
        r"\s+(?:ich|wir)(?:\s+(?:aber|ja|doch|schon))*(?=\s*(?:[,.;!?]|$))",
        r"\g<go>behalte \g<what>",
    ),
    _rule(
        r"(?:^|(?<=[,;.:]\s)|(?<=\spero\s)|(?<=\sy\s))(?P<what>(?:el|mis?|l[oa]s?)\s[^,.;:!?\n]{1,60}?)\s+(?:(?:s[ií]|todav[ií]a|a[uú]n)\s+)*"
        r"(?:(?:l[oa]s?\s+(?:sigo\s+)?(?:necesit\w+|us[oa]\w*))|me\s+(?:(?:siguen?\s+)?(?:sirven?|sirviendo)|hacen?\s+falta))"
        r"(?:\s+(?:todav[ií]a|a[uú]n))?(?=\s*(?:[,.;!?]|$))",
        r"conserva \g<what>",
    ),
    # What many shall be called, by number.
    _rule(
        r"\b(?:I|we)(?:['’]d|\s+would)?\s+(?:like|want|need)\s+(?P<what>[^,;!?]{2,80}?)\s+(?:to\s+be\s+)?(?:called|named|numbered)"
        rf"(?:\s+(?:as|like))?\s+{_SERIES}",
        r"rename \g<what> to ",
    ),
    _rule(
        r"(?:^|(?<=[.!?;,]\s)|(?<=\splease\s))(?P<what>(?:the|all|my|these)\s[^,;!?]{2,80}?)\s+(?:should|shall|must|can|are\s+to|need\s+to)\s+"
        rf"(?:all\s+|now\s+)?(?:be|become)(?:\s+(?:called|named|numbered))?\s+{_SERIES}",
        r"call \g<what> to ",
    ),
    _rule(
        rf",?\s+(?:(?:with\s+)?(?:the\s+)?new\s+names?(?:\s+is|\s+are|\s+should\s+be|:)?)\s+{_SERIES}", " rename to "
    ),
    _rule(
        r"\b(?:dass\s+)?(?P<what>(?:die|alle|meine|unsere)\s[^;:!?\n]{4,140}?)\s+(?:hei(?:ß|ss)en|genannt\s+werden)(?:\s+soll(?:t?en))?(?!\w)",
        _by_number,
    ),
    _rule(
        r"\bder\s+(?:neue\s+)?Name\s+(?:der|von\s+den|von)\s+(?P<what>[^,;!?]{2,80}?)\s+soll\s+(?P<name>[^,;!?]+?)\s+(?:sein|lauten|werden)\b",
        lambda found: _in_place(
            found, f"nenn {found['what']} als", found.start("name") - found.start(), name=found["name"]
        ),
    ),
    _rule(
        r"(?:^|\bque\s+|(?<=[.!?;,]\s))(?P<what>(?:las|los|todas\s+las|todos\s+los|mis)\s[^,;!?]{2,80}?)\s+(?:se\s+llamen|(?:deben|deberían|tienen\s+que|han\s+de)\s+llamarse)"
        rf"\s+{_SERIES}",
        r"renombra \g<what> a ",
    ),
    _rule(rf"(?P<head>\b(?:durch)?(?:number|nummer|numer)[^;:.!?\n]+?)(?:\s+durch)?:\s+{_SERIES}", r"\g<head>, "),
    # Texts within names.
    _rule(
        r"(?P<verb>\b(?:replace|change|swap|ersetz\w*|tausch\w*|änder\w*|cambi\w+|sustitu\w+|reemplaz\w+)\s+(?:\w+\s+)?)"
        r"(?:the\s+(?:words?|text|bit|part)|das\s+(?:Wort|Stück)|den\s+(?:Text|Teil)|la\s+palabra|el\s+texto|la\s+parte)\s+(?=[\w\"'“«_-])",
        r"\g<verb>",
    ),
    _rule(
        r"\b(?:mach\w*\s+)?aus\s+(?=[\w-]*[_\d-]|[^,;.!?\n]*namen?\b)(?P<old>[\w-]+)(?:\s+(?:soll|wird))?(?P<mid>(?:\s+(?:in|im|bei|aus)\s[^,;.!?\n]*?)?)\s+(?P<new>[\w-]+)\s+(?:werden|wird|machen)\b",
        _swapped,
    ),
    _rule(
        r"\b(?:take|strip|cut|get|remove|delete|drop)\s+(?:out\s+)?the\s+(?:words?|text|part|bit|letters)\s+(?P<what>[^,;.!?\"“]{1,40}?)"
        r"\s+(?:out\s+of|off|from)\s+(?=(?:the\s+|all\s+|their\s+)*(?:[\w']+\s+){0,2}?(?:file)?names?\b)",
        lambda found: _in_place(
            found, "remove", found.start("what") - found.start() - 1, name=f'"{found["what"]}" from '
        ),
    ),
    _rule(
        r"\btake(?=\s+(?:[\"“(]|\w+\s+)[^,;.!?]*?\s(?:out\s+of|off|from)\s[^,;.!?]*\bnames?\b)",
        "del",
    ),
    _rule(
        r"\b(?:I|we)(?:['’]d)?\s+(?:need|want|like)\s+(?P<what>[^,;.!?\n]+?)\s+to\s+(?P<edge>(?:start|begin|end)\s+(?:with|in)\s)",
        r"rename \g<what> so \g<edge>",
    ),
    # One thing's new name.
    _rule(r"\bgive\s+(?P<what>[^,;!?]{2,60}?)\s+the\s+(?:new\s+)?name\s+(?=\S)", r"rename \g<what> to "),
    _rule(
        r"(?:^|(?<=[.!?]\s))(?:die\s+Datei\s+|der\s+Ordner\s+)?(?P<what>[^\s,;!?]+)\s+soll\s+(?P<name>[^,;!?]+?)\s+hei(?:ß|ss)en\b",
        r"nenn \g<what> in \g<name> um",
    ),
    _rule(r"^\s*que\s+(?P<what>[^\s,;!?]+)\s+se\s+llame\s+(?=\S)", r"renombra \g<what> a "),
    # In one place, and into another.
    _rule(
        r"\b(?:hol|hole|nimm|zieh|ziehe)\s+(?P<what>[^,;!?]{2,60}?)\s+aus\s+(?P<where>[^,;!?]{2,40}?)\s+und\s+"
        r"(?:leg|lege|pack|packe|steck|stecke|schieb|tu)\s+(?:es|ihn|sie|das|die)(?=\s+(?:in|nach)\b)",
        r"leg \g<what> aus \g<where>",
    ),
    _rule(
        r"^(?P<deed>\W*(?:por\s+favor\W+)?(?:mueve|mete|pon|lleva|copia)\s[^.;!?]+?)\s+dentro\s+de(?=\s)", r"\g<deed> a"
    ),
    _rule(r"(?<!\w)w/o(?=\s)", "sin"),
    # "The last five changed files".
    _rule(r"\blast\s+(?P<n>\w+\s+)?(?:changed|modified|edited|saved)\s+(?=\w)", r"newest \g<n>"),
    _rule(
        r"\b(?:letzten|zuletzt)\s+(?P<n>\w+\s+)?(?:geänderten|bearbeiteten|veränderten|gespeicherten)\s+(?=\w)",
        r"neuesten \g<n>",
    ),
    # "By the year of their last change".
    _rule(
        r"\b(?P<unit>years?|months?)\s+(?:of\s+|in\s+which\s+|when\s+|that\s+)?(?:(?:the|their|its)\s+|they\s+were\s+)?"
        r"(?:last\s+(?:changed?|modification|modified)|modification)\b",
        r"\g<unit> by date",
    ),
    _rule(r"\b(?P<unit>Jahr|Monat)\s+(?:der|ihrer)\s+letzten\s+Änderung\b", r"\g<unit> nach Datum"),
    _rule(
        r"\b(?P<unit>año|mes)\s+de(?:\s+la|\s+su|l)?\s+(?:últim[oa]\s+)?(?:cambio|modificaci[oó]n)(?!\w)",
        r"\g<unit> por fecha",
    ),
    # "Some with a capital I".
    _rule(
        r"\s*,?\s*(?:some|a\s+few|many)\s+(?:of\s+them\s+)?with\s+an?\s+(?:capital|small|big|upper-?case|lower-?case)\s+\w(?P<end>[.,;!?]|$)",
        r"\g<end> ",
    ),
    # "Delete the empty files. Everywhere."
    _rule(r"\s*[.,;–-]\s*(?=(?:everywhere|überall|en\s+todas\s+partes)\W*$)", " "),
    _rule(r"\bany\s+(?=(?:more|longer)\b)", " "),
    # "Priya n Tom", "Übungen u. Hausarbeiten"; a German "n" may be an article as well.
    _rule(r"(?<=\w )(?<!\bin )(?<!\bauf )(?<!\bmit )(?<!\bmal )(?<!\bnoch )(?:n|u\.?)(?= [^\W\d_]{2})", "&"),
    _rule(
        r"\s*,?\s*(?:and\s+)?(?:(?:each|every)(?:\s+(?:one|zip|archive|of\s+them))?\s+)?(?:in|into|to)\s+(?:its|their|a|an)\s+(?:own|separate)"
        r"\s+(?:sub)?folders?(?:\s+of\s+(?:its|their)\s+own)?\b|\s+(?:in|into)\s+a\s+folder\s+of\s+(?:its|their)\s+own\b"
        r"|\s*,?\s*(?:und\s+zwar\s+)?(?:jede[sn]?(?:\s+(?:zip|davon|archiv))?\s+)?in\s+(?:einen|ein|nen|'nen|ihren|seinen|je\s+einen|jeweils\s+einen)"
        r"\s+(?:jeweils\s+)?eigenen?\s+(?:unter)?ordner\b"
        r"|\s*,?\s*(?:cada\s+un[oa]\s+)?en\s+su\s+(?:propi[oa]\s+carpeta|carpeta(?:\s+propia)?)(?!\w)",
        _unpacking,
    ),
    # Where something stands, it is nothing that was spoken of before.
    _rule(
        r"\bwhere(?:\s+(?:does|did|is|was))?\s+it\s+(?:(?:really|actually|ever|also)\s+)?(?P<says>says?|said|mentions?|mentioned|written|stated)\b",
        r"where \g<says>",
    ),
    _rule(r"\bwo\s+steht\s+(?:es|das)(?=,?\s+dass\b)", "wo steht"),
    # A folder for each year.
    _rule(
        r"\b(?:in(?:to)?\s+)?(?:an?\s+|one\s+)?(?:sub|separate\s+|different\s+)?folders?\s+(?:per\s+(?:each\s+)?|for\s+(?:each|every)\s+)"
        r"(?P<unit>year|month)\b",
        r"folders by \g<unit>",
    ),
    _rule(
        r"\b(?:for\s+)?(?:each|every)\s+(?P<unit>year|month)\s*,?\s+(?:(?:gets?|has|should\s+(?:have|get)|in)\s+)?(?:its\s+own|an?|one)"
        r"\s+(?:own\s+|separate\s+)?(?:sub)?folder\b",
        r"folders by \g<unit>",
    ),
    _rule(
        r"\b(?:für\s+jede[ns]|pro|je)\s+(?P<unit>Jahr|Monat)\s+(?:(?:soll\w*|kommt|bitte|dann)\s+)?(?:jeweils\s+|je\s+)?(?:ein(?:en)?|'?nen)"
        r"\s+(?:eigene[rn]?\s+|extra\s+)?(?:unter)?ordner\b",
        r"in Ordner nach \g<unit>",
    ),
    _rule(
        r"\b(?:(?:in|into|to)\s+(?:an?\s+|the\s+)?folders?\s+)?(?:(?:named|called)\s+(?:after|by|for)|by)\s+"
        r"(?:the\s+|their\s+|its\s+)?(?P<unit>year|month|date)"
        r"(?:\s+(?:in\s+which\s+|when\s+|that\s+)?(?:they|it)\s+(?:were|was|got)(?:\s+last)?\s+\w+)?\b",
        lambda found: f"{'folders ' if 'folder' in found.group() else ''}by {found['unit']}",
    ),
    _rule(r"\b(?:in)?to\s+(?P<unit>year|month)(?:ly)?\s+folders\b", r"folders by \g<unit>"),
    _rule(r"\bfür\s+jede[ns]\s+(?P<unit>Jahr|Monat)\b", r"pro \g<unit>"),
    _rule(r"\b(?:in\s+)?(?P<unit>Jahr|Monat)(?:e?s(?:weise|ordnern?))\b", r"nach \g<unit>"),
    _rule(r"\bcarpetas?\s+(?:para|por)\s+cada\s+(?P<unit>año|mes)\b", r"carpeta por \g<unit>"),
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
        r")\s+(?:it|them)(?P<in>\s+in(?:to|side)?)?(?=\s)",
        lambda found: f"move {found['what']} out of {found['where']}{' into' if found['in'] else ''}",
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
    # What an archive shall be called, said after it.
    _rule(
        r"\b(?P<head>(?:zip|pack|compress|archive)\s[^;:!?\n]{2,80}?)\s*(?:,|,?\s+and)\s+(?:please\s+)?"
        r"(?:call|name)\s+(?:it|the\s+(?:zip|archive)(?:\s+file)?)(?=\s+\S)",
        r"\g<head> as",
    ),
    _rule(
        r"\b(?P<head>(?:zippe?|pack|packe|archiviere?|komprimiere?)\s[^;:!?\n]{2,80}?)\s*,?\s+und\s+"
        r"nenne?\s+(?:es|sie|ihn|das(?:\s+(?:zip|archiv))?)(?=\s+\S)",
        r"\g<head> als",
    ),
    _rule(
        r"(?<!\w)(?P<head>(?:comprim[ea]|empaqueta)\s[^;:!?\n]{2,80}?)\s*,?\s+y\s+ll[aá]mal[oa](?=\s+\S)",
        r"\g<head> como",
    ),
    _rule(
        r"(?P<head>\b(?:zip|archiv)[\w-]*)\s*(?:,|,?\s+und)\s*(?:am\s+besten\s+)?(?:heißt|heisst|nennen\s+wir|nenn(?:e|en\s+Sie)?)\s+"
        r"(?:sie|es|ihn|das)\s+(?:bitte\s+|am\s+besten\s+|einfach\s+)*(?=\S)",
        r"\g<head> namens ",
    ),
    _rule(
        r"(?P<head>\b(?:zip|archive)(?:\s+file)?)\s*(?:,|,?\s+and)\s*(?:please\s+|best\s+|just\s+|let['’]s\s+)*"
        r"(?:(?:call|name)\s+it|it\s+(?:should|can|could)\s+be\s+called)(?=\s+\S)",
        r"\g<head> called",
    ),
    _rule(
        r"(?P<head>\b(?:zip|archivo))\s*(?:,|,?\s+y)\s*(?:mejor\s+)?(?:que\s+se\s+llame|ll[aá]mal[oa]|ponle)(?=\s+\S)",
        r"\g<head> llamado",
    ),
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
    _rule(r"\b(?:que|q)\s+se\s+llam[ea](?=\s)", "llamada"),
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
    _rule(
        r"\b(?:necesito|quiero|quisiera|querría|me\s+gustaría)\s+que\s+(?P<what>[^,.;:!?]{3,60}?)\s+se\s+llamen?\s+(?=\S)",
        r"renombra \g<what> a ",
    ),
    _rule(r"\b(?:ponle|dale|póngale|dele)(?=\s+a\s+\S[^,;]*?\s+(?:el\s+nombre|por\s+nombre|de\s+nombre)\b)", "llama"),
    _rule(r"\bändern\s+Sie(?:\s+bitte)?\s+den\s+(?:Datei)?namen\b", "ändere den Namen"),
    _rule(r"\bchange\s+(?P<what>[^,;!?]{2,60}?)['’]s\s+(?:file\s?)?name(?=\s+to\b)", r"rename \g<what>"),
    _rule(
        r"(?:^|(?<=please\s)|(?<=you\s))name(?=\s+(?:the\s+(?:file|folder|photo|picture)\s+)?(?:[\U00020000-\U000203ff]|\S*\d|\S+\.\w))",
        "call",
    ),
    _rule(r"\bllama\s+a(?=\s+(?:el\s+archivo\s+)?(?:[\U00020000-\U000203ff]|\S*\d|\S+\.\w))", "nombra"),
    _rule(
        r"\b(?:nach\s+dem\s+(?:Schema|Muster)|(?:following|with|by)\s+the\s+(?:pattern|scheme)|(?:según|con)\s+el\s+(?:patrón|esquema))\b",
        "as",
    ),
    # The bin is no folder.
    _rule(
        rf"\b{_THROW}\b(?P<what>(?:[^.;:!?\n]|\.(?=\w)){{2,90}}?)\s+{_BIN}(?=\s*(?:[.,;:!?)\n]|$|\s(?:and|und|y"
        rf"|bitte|please)\b))",
        r"delete\g<what>",
    ),
    _rule(r"^\s*fuera(?=\s+(?:l[oa]s|el|la|todos|todas)\b)", "borra"),
    # A folder of their own, called as they are.
    _rule(
        r"\b(?:put|move|stick|place|shove|pop|drop|chuck|file|stuff|bung)\s+(?:all\s+)?(?:of\s+)?(?:the|my|our|these)\s+(?P<what>[^\W\d_]{3,30}s)\s+(?:in|into)\s+"
        r"(?:their|a\s+(?:new\s+)?folder\s+of\s+their|a\s+separate)\s+own(?:\s+folder)?\b",
        lambda found: f"put {found['what']} into folder {_titled(found['what'])}",
    ),
    _rule(
        r"\b(?:leg|lege|pack|packe|steck|stecke|schieb|schiebe|tu|verschiebe?|mach)\s+(?:bitte\s+|mir\s+)?(?:alle\s+|all\s+)?(?:die|meine|unsere)\s+(?P<what>[^\W\d_]{3,30})\s+"
        r"in\s+(?:einen|ihren|nen|'nen)\s+eigenen\s+Ordner\b",
        lambda found: f"leg {found['what']} in Ordner {_titled(found['what'])}",
    ),
    _rule(
        r"\b(?:pon|mete|mueve|guarda|lleva)\s+(?:tod[oa]s\s+)?(?:l[oa]s|mis)\s+(?P<what>[^\W\d_]{3,30})\s+(?:en|a)\s+su\s+(?:propia\s+carpeta|carpeta\s+propia)(?!\w)",
        lambda found: f"pon {found['what']} en carpeta {_titled(found['what'])}",
    ),
    # A new folder for some, and they in it.
    _rule(
        r"\b(?:make|create|set\s+up)\s+(?:me\s+|us\s+)?an?(?:\s+(?:nice|tidy|neat|new|separate|little|proper|own))*\s+folder\s+for\s+"
        r"(?:all\s+)?(?P<the>the|my|our|these)\s+(?P<what>[\w' -]{2,40}?)\s*,?\s+and\s+(?:then\s+)?"
        r"(?:put|move|place|stick|drop)\s+"
        r"(?:them|those|it)(?:\s+all)?\s+(?:(?:in|into|inside)\s+(?:it|there)|in(?:side)?|there)\b",
        lambda found: f"put {found['the']} {found['what']} into folder called {_titled(found['what'])}",
    ),
    _rule(
        r"\b(?:mach|erstell|leg)e?\s+(?:mir\s+|uns\s+)?(?:bitte\s+)?(?:einen|nen|'nen)(?:\s+(?:schönen|neuen|eigenen|ordentlichen))*\s+Ordner\s+"
        r"für\s+(?:alle\s+)?(?P<the>die|meine|unsere)\s+(?P<what>[\w' -]{2,40}?)(?:\s+an)?\s*,?\s+und\s+(?:dann\s+)?"
        r"(?:pack|leg|tu|steck|schieb|verschieb)e?\s+sie(?:\s+alle)?\s+(?:da\s*|dort\s*)?(?:rein|hinein)\b",
        lambda found: f"leg {found['the']} {found['what']} in Ordner namens {_titled(found['what'])}",
    ),
    _rule(
        r"\b(?:crea|haz)(?:me)?\s+una\s+carpeta(?:\s+nueva)?\s+para\s+(?:tod[oa]s\s+)?"
        r"(?P<the>l[oa]s|mis|nuestr[oa]s)\s+(?P<what>[\w' -]{2,40}?)"
        r"\s*,?\s+y\s+(?:mete|pon|guarda)l[oa]s(?:\s+tod[oa]s)?\s+(?:ahí|dentro|allí|en\s+ella)\b",
        lambda found: f"pon {found['the']} {found['what']} en carpeta llamada {_titled(found['what'])}",
    ),
    # Nothing in them.
    _rule(
        r"\b(?:(?:that|which)\s+)?(?:have|has|with|contain|contains|containing|having|hold|got)\s+(?:absolutely\s+)?nothing"
        r"(?:\s+(?:at\s+all|whatsoever))?\s+(?:in|inside)(?:\s+(?:of\s+)?(?:them|it))?\b"
        r"|\b(?:that|which)\s+(?:don['’]t|do\s+not|doesn['’]t)\s+(?:have|contain|hold)\s+anything(?:\s+(?:in|inside)(?:\s+(?:them|it))?)?",
        "that are empty",
    ),
    _rule(r"\b(?:that|which)\s+contain\s+nothing(?:\s+at\s+all)?\b|\bwithout\s+any\s+contents?\b", "that are empty"),
    _rule(
        r",?\s*\b(?:wo|in\s+denen|die|bei\s+denen)\s+(?:(?:gar|überhaupt|rein)\s+)?(?:nix|nichts)\s+(?:drin|drinnen|enthalten|darin|drinne)"
        r"(?:\s*(?:ist|steht|sind|haben|hat))?(?:\s+(?:ist|steht))?\b|,?\s*\bdie\s+nichts\s+enthalten\b",
        " die leer sind",
    ),
    _rule(
        r"\b(?:que\s+no\s+(?:tienen?|tengan?|contienen?|contengan?|llevan?)\s+nada(?:\s+(?:dentro|adentro))?"
        r"|sin\s+(?:nada(?:\s+dentro)?|contenido))\b",
        "vacíos",
    ),
    # In an order.
    *(
        _rule(
            rf"\b(?:and\s+)?(?:sorted|ordered|ranked|arranged)\s+by\s+(?:their\s+|file\s*)?{what}"
            rf"(?:\s*,?\s*\(?(?:in\s+)?{way}(?:\s+order)?\)?)",
            order,
        )
        for what, way, order in _ORDERS
    ),
    _rule(
        r",?\s+nach\s+(?:der\s+)?größe\s+(?:absteigend\s+)?(?:sortiert|geordnet)(?:\s*,?\s*absteigend)?(?=\s*(?:[.,;!?]|$))",
        ", größte zuerst",
    ),
    _rule(
        r",?\s+ordenad[oa]s\s+por\s+tamaño(?:\s+(?:descendente|de\s+mayor\s+a\s+menor))?(?=\s*(?:[.,;!?]|$))",
        ", más grandes primero",
    ),
    # Told first, and then to go.
    _rule(
        r"\bda\s+(?:liegen|sind|fliegen|stehen|gammeln|gibt\s+es|gibts)\s+(?:(?:glaub|glaube)\s+ich\s+|wohl\s+|noch\s+|bestimmt\s+)*"
        r"(?:ein\s+paar|einige|viele|lauter|'?ne\s+menge)?\s*(?P<what>[^,.;!?]*?)\s+(?:he)?rum\b(?P<rest>[^.;!?,]*?)\s*,?\s*(?:und\s+)?(?:die|das)\s+"
        r"(?:kann|können|dürfen|darf|sollen|müssen)\s+(?:alle\s+|ruhig\s+|bitte\s+)*(?:weg|raus|gelöscht\s+werden)\b",
        r"lösch die \g<what>\g<rest>",
    ),
    _rule(
        r"\bthere\s*(?:are|['’]re|['’]s)\s+(?:some|a\s+few|several|many|lots\s+of|loads\s+of|a\s+couple\s+of)\s+(?P<what>[^,.;!?]*?)\s+"
        r"(?:lying|hanging|floating|sitting)\s+around(?P<rest>[^,.;!?]*?)\s*,?\s*(?:and\s+)?(?:they|those|these)\s+"
        r"(?:can|may|should)\s+(?:all\s+)?(?:go|be\s+(?:deleted|removed|thrown\s+away))(?=\s*(?:[,.;!?]|$))",
        r"delete the \g<what>\g<rest>",
    ),
    _rule(r"\bder\s+Reihe\s+nach\b", ""),
    # One more question in the same sentence.
    _rule(
        r"(?<=\w)(?P<and>\s*[,.;?!]?\s+and\s+)(?:also\s+)?(?:is|are)\s+there\s+(?=(?:any|some)(?:thing)?\b)",
        r"\g<and>list ",
    ),
    _rule(
        r"(?<=\w)(?P<and>\s*[,.;?!]?\s+und\s+)(?:gibt\s+es|gibt['’]?s|hab(?:e)?\s+ich)\s+(?:auch\s+|noch\s+)?(?=(?:etwas|was|irgendwas|welche|irgendwelche)\b)",
        r"\g<and>zeig ",
    ),
    _rule(r"(?<=\w)(?P<and>\s*[,.;?!]?\s+y\s+)¿?(?:también\s+)?hay\s+(?=alg)", r"\g<and>ver "),
    # What stays.
    _rule(r"\bthe\s+original\s+(?:has\s+to|must|should|shall|needs\s+to)\s+(?:stay|remain)\b", "keep the original"),
    _rule(
        r"\bdas\s+Original\s+(?:muss|soll|sollte)\s+(?:aber\s+|ja\s+|natürlich\s+)*bleiben\b", "behalte das Original"
    ),
    _rule(r"\bel\s+original\s+(?:tiene\s+que|debe)\s+quedarse(?!\w)", "conserva el original"),
    # How it is spelt.
    _rule(
        r"\s*,?\s*\b(?:das|es|der)\s+(?:gehört|schreibt\s+(?:sich|man)|wird)\s+(?:doch\s+)?mit\s+[^,;.!?]{1,20}?(?:\s+geschrieben)?(?=\s*[,;.!?])"
        r"|\s*,?\s*\bit(?:['’]s|\s+is)\s+(?:spelled|spelt|written)\s+with\s+[^,;.!?]{1,20}?(?=\s*[,;.!?])"
        r"|\s*,?\s*\bse\s+escribe\s+con\s+[^,;.!?]{1,20}?(?=\s*[,;.!?])",
        " ",
    ),
    # As it is anyway: no rename of many changes an ending, unless it says so.
    _rule(
        r"\s*,?\s*(?:\b(?:and|but)\s+)?\b(?:(?:leav|keep)(?:e|ing)?|without\s+(?:changing|touching)|don['’]?t\s+(?:change|touch))\s+"
        r"(?:the|their|its)\s+(?:file\s+)?(?:endings?|extensions?|file\s?types?)"
        r"(?:\s+(?:(?:just\s+)?(?:as|the\s+way)\s+(?:they\s+are|it\s+is|is|they\s+were)|alone|unchanged|the\s+same|untouched))?(?=\s*(?:[.,;!?)]|$))"
        r"|\s*,?\s*(?:\b(?:und|aber)\s+)?\b(?:(?:lass\w*\s+(?:Sie\s+)?(?:dabei\s+|aber\s+)*)?(?:die|den)\s+(?:Datei)?(?:endung(?:en)?|typ)\s*(?:bitte\s+)?"
        r"(?:so\s+lassen|lassen|beibehalten|behalten|bleib(?:t|en)(?:\s+(?:gleich|so|wie\s+sie\s+(?:ist|sind)))?|(?:,\s*)?(?:so\s*,?\s*)?wie\s+sie\s+(?:ist|sind)|unverändert|so|in\s+Ruhe)"
        r"|ohne\s+(?:die|den)\s+(?:Datei)?(?:endung(?:en)?|typ)\s+zu\s+(?:(?:ver)?ändern))(?=\s*(?:[.,;!?)]|$))"
        r"|\s*,?\s*(?:\b[ye]\s+)?\b(?:(?:dej|manten|conserv)\w*\s+(?:la|las|su|sus)\s+(?:extensi[oó]n|extensiones|terminaci[oó]n|terminaciones)"
        r"(?:\s+(?:como\s+est[aá]n?|tal\s+cual|igual|intactas?|sin\s+cambios))?|sin\s+(?:cambiar|tocar)\s+(?:la|las|su|sus)\s+(?:extensi[oó]n|extensiones))(?=\s*(?:[.,;!?)]|$))",
        " ",
    ),
    # Which, said once more and outright.
    _rule(
        r"\s*,\s*(?:also|d\.\s?h\.|sprich|das\s+heißt|ich\s+meine)\s+(?:alles|alle|die)\s*,?\s*(?:was|die)\s+"
        r"(?P<bound>(?:von\s+)?(?:vor|seit|älter|über|größer|kleiner|unter)\s[^,.;!?]*?)\s+(?:ist|sind|stammt|stammen|war|waren)\b",
        r" \g<bound>",
    ),
    _rule(
        r"\s*,\s*(?:so|i\.\s?e\.|that\s+is|meaning|I\s+mean)\s*,?\s+(?:everything|anything|all|those|the\s+ones)\s+(?:that\s*(?:is|are|['’]s)\s+)?"
        r"(?P<bound>(?:from\s+)?(?:before|after|since|older|newer|over|under|bigger|larger|smaller)\s[^,.;!?]+)",
        r" \g<bound>",
    ),
    # What is taken out of an archive is not thrown away.
    _rule(
        r"\b(?:chuck|take|get|pull|throw|fetch)\s+(?P<what>(?!it\b|them\b)[^,.;!?]{2,60}?)\s+(?:out|oot)\s+(?:of\s+)?(?:the|its|that)\s+(?:zip|archive)(?:\s+file)?\b",
        r"unpack \g<what>",
    ),
    _rule(
        r"\b(?:hol(?:e|en\s+Sie)?|nimm|zieh|nehmen\s+Sie)\s+(?P<what>(?!es\b|sie\b)[^,.;!?]{2,60}?)\s+aus\s+de[mr]\s+(?:Zip(?:-?Datei)?|Archiv)(?:\s+(?:he)?raus)?\b",
        r"entpacke \g<what>",
    ),
    _rule(r"\bsaca\s+(?P<what>[^,.;!?]{2,60}?)\s+del\s+(?:zip|archivo\s+comprimido)\b", r"descomprime \g<what>"),
    # What takes room is not taken away.
    _rule(
        r"\b(?P<room>(?:platz|speicher\w*)\b[^.,;!?]*?)\b(?:nimmt|nehmen)\b(?P<what>[^.,;!?]*?)\s+(?:weg|ein)\b",
        r"\g<room>belegt\g<what>",
    ),
    _rule(r"\b(?:nimmt|nehmen)\b(?P<what>[^.,;!?]*?\b(?:platz|speicher\w*))\s+(?:weg|ein)\b", r"belegt\g<what>"),
    # A box is a folder, and what may go there is not to go.
    _rule(r"\b(?:box|bucket|pile|drawer|crate)(?=\s+(?:called|named|labelled)\b)", "folder"),
    _rule(
        r"\b(?:can|may|could|might)\s+(?:all\s+)?go\s+(?:in|into|inside|to)\s+(?=(?:an?|the|my|our|one)\s+(?!bin|trash|recycl|rubbish|garbage|waste))",
        "go into ",
    ),
    _rule(r"\b(?:should|shall|must|can|may)\s+go\s+on\s+(?=\w+ing\b)", "stay "),
    _rule(r"\bdentro\s+de\b", "en"),
    _rule(r"\bgelöscht\s+werden\b", "löschen"),
    # Both of two.
    _rule(r"\bsowohl\s+(?P<one>[^.;!?]+?)\s+als\s+auch\b", r"\g<one> und"),
    _rule(r"\btanto\s+(?P<one>(?:el|la|los|las)\s[^.;!?]+?)\s+como\b", r"\g<one> y"),
    # What is to be done with it is said after what it is like.
    _rule(
        rf"^\W*(?P<what>{_NAME})(?:\s+folder)?\s+(?:is|are|looks?)\s+(?:\w+\s+){{0,3}}?(?:mess|chaos|disaster|dump|tip|nightmare|untidy|cluttered"
        r"|full\s+of\s+\w+)\s*[.,;:!–-]+\s*(?:(?:so|please|can\s+you|could\s+you)\s+)*"
        r"(?P<verb>sort|organi[sz]e|tidy\s+up|tidy|clean\s+up|clean|group|arrange)\s+(?:it|them|that)(?:\s+(?:out|up))?(?!\w)",
        r"\g<verb> \g<what>",
    ),
    _rule(
        rf"^\W*(?:(?:der|die|das|mein)\s+)?(?P<what>{_NAME})\s+ist\s+(?:\w+\s+){{0,3}}?(?:chaos|durcheinander|unordentlich|saustall|voll)"
        r"\s*[.,;:!–-]+\s*(?:bitte\s+)?(?P<verb>sortiere?|ordne)\s+(?:mir\s+)?(?:bitte\s+)?(?:es|das|den|ihn|sie)(?!\w)",
        r"\g<verb> \g<what>",
    ),
    _rule(
        rf"^\W*(?:la\s+carpeta\s+)?(?P<what>{_NAME})\s+(?:es|est[aá])\s+(?:\w+\s+){{0,3}}?(?:desastre|caos|l[ií]o|desorden(?:ad[ao])?)"
        r"\s*[.,;:!–-]+\s*(?:por\s+favor\s+)?(?P<verb>ord[eé]n|organ[ií]z)[aáe]l[ao](?!\w)",
        r"\g<verb>a \g<what>",
    ),
    # A list that goes on.
    _rule(r"\s*,?\s+as\s+well\s+as\s+(?=(?:the|all|any|every|those)\b)", " and "),
    _rule(r"\s*,?\s+as[ií]\s+como\s+(?=(?:el|la|los|las|tod[oa]s|l[oa]s)\b)", " y "),
    _rule(
        r"(?P<what>\bmit\s+(?:einer?\s+)?[~$_#.]+)\s+(?:davor|voran)\b",
        r"\g<what> vorne",
    ),
    _rule(r"\b(?:das|die)\s+(?:kann|können)\s+alle?s?\s+(?=weg\b|gelöscht\b)", "die können "),
    _rule(r"\b(?:that|those|these|they)\s+can\s+all\s+(?=go\b|be\s+(?:deleted|removed)\b)", "they can "),
    # What was packed, and one archive of a folder.
    _rule(
        r"\bdie\s+(?P<what>einzelne?n?|originale?n?|losen)(?:\s+dateien)?\s+(?:können\s+|sollen\s+)?(?:dann|danach|hinterher|anschließend)"
        r"\s+(?:auch\s+)?(?:weg|raus|löschen|gelöscht\s+werden)(?:machen|werfen|schmeißen)?\b",
        r"dann lösche \g<what>",
    ),
    _rule(
        r"\b(?:mach|bau|erstell)e?\s+(?:mir\s+|bitte\s+)?aus\s+(?:dem|meinem)\s+ordner\s+(?P<what>\S+|[\"„“][^\"„“”]+[\"“”])\s+"
        r"(?:ein|eine|einen|ne|nen)\s+(?:zip|archiv)(?:[-\s]?(?:datei|archiv))?\b",
        r"pack ordner \g<what> in ein zip",
    ),
    _rule(r"\bin\s+['’`]n\s+(?=zip|archiv)", "in ne "),
    # Where we are.
    _rule(
        r"\bin\s+(?:the|my|this)\s+(?:main|top|root)(?:[-\s]level)?\s+(?:folder|directory)\b(?!\s+(?:of|called))",
        "here",
    ),
    _rule(r"\bim\s+(?:haupt|wurzel)(?:ordner|verzeichnis)\b", "hier"),
    _rule(r"\ben\s+(?:la|esta|mi)\s+(?:misma\s+)?carpeta\s+(?:principal|ra[ií]z)\b", "aquí"),
    # Where something ends up.
    _rule(
        r"\bbe\s+(?:better\s+off|happier|better\s+placed|more\s+at\s+home|best\s+(?:kept|placed|off)|tidier)\s+in(?:side)?\b",
        "go into",
    ),
    _rule(
        r"\b(?P<deed>remove|delete|drop|strip|entfern\w*|lösch\w*|streich\w*|quit[ae]|elimin[ae]|borr[ae])\s+"
        r"(?P<text>(?:the\s+(?:word|text)|das\s+wort|la\s+palabra)\s+)?(?P<what>\"[^\"]+\"|[\w-]+)\s+"
        r"(?P<of>from|at|of|am|vom|aus|del?|al)\s+"
        r"(?:(?:the\s+)?(?:start|beginning|front|end|anfang|ende|principio|comienzo|inicio|final)\s+(?:of|from|der|de)\s+)?"
        r"(?=(?:the\s+|all\s+|den\s+|los\s+|todos\s+)*(?:\w+\s+)?(?:(?:datei|file)?names?|namen|nombres?)\b)",
        _without,
    ),
    _rule(r"\b(?:finds?|found|makes?|made)\s+(?:its|their)\s+way\s+(?:in)?to\b", "go to"),
    _rule(r"\b(?:end(?:ed|s)?|wind|wound)\s+up\s+(?:in|inside)\b", "go into"),
    _rule(
        r"\b(?:all\s+)?(?:live|be|sit|stay|go)\s+(?:all\s+)?(?:together\s+)?in\s+(?:one|a\s+single"
        r"|the\s+same)\s+(?:place|spot)(?=\s+(?:called|named))",
        "go into a folder",
    ),
)


GETS_ANOTHER: re.Pattern[str] = regex(
    r"\b(?:renam|chang|(?:mov|put|send|cop(?:y|ies)|delet|remov)\w*\s+(?:(?:the|my|all|every)\s+)*(?:\w+\s+)?(?:called|named))",
    re.IGNORECASE,
)
"""What is called so now goes somewhere, or gets another name."""


def plainly(text: str, known: Sequence[str]) -> str:
    """The text with these said plainly, in its old length."""
    copies = copying.RULES if copying.SPOKEN.search(text) else ()
    for pattern, said in (*PURPOSES, *beside.RULES, *keeping.RULES, *copies, *renaming.rules(known), *RULES):
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
