"""Duplicates as they are spoken of: which of them shall stay, and by what they are alike.

"Keep the ones with the proper names", "preferring the copy in data/raw", "find duplicates …, and delete the others" are
put plainly before anything is read; `spares_copies` tells afterwards which clause names copies that stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from libs.models.offline.clauses import Clause
from libs.models.offline.rewriting import Rule
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex

SPEAKS = regex(
    r"dup|dopp|dubl|doubl|repetid|dedup|identi|twice|zweimal|mehrfach|\bsame\b|mism[oa]s?\b|gleiche|\bcop(?:y|ies)\b|copias?\b"
    r"|kopien?\b|extra\s+ones|\balike\b|igual(?:es)?\b|\bgleich\b|selben\b|one\b.*\beach\b|\beins?\b|\bcada\b",
    re.IGNORECASE,
)
"""Only beside one of these is anything here read so."""
_GOOD = (
    r"(?:nice|proper|normal|good|real|right|original|readable|sensible|meaningful|decent|clean|best|better|nicer"
    r"|correct)"
)
_GUT = r"(?:normal|richtig|gut|sch[öo]n|ordentlich|vern[üu]nftig|urspr[üu]nglich|original|echt|sauber|besser|lesbar)"
_BUENO = r"(?:normal|buen[oa]?|correct[oa]|original|bonit[oa]|mejor|leg[ií]ble|propi[oa])"
_MARK = (
    r"[\"'“„«‘(]*(?:\(\d\)|\d|copy|copies|kopie|copia|numbers?|brackets|nummern?|klammern?|n[úu]meros?|par[ée]ntesis)"
    r"[\"'”»’)]*"
)
_LIKE = r"(?:\s*,?\s*(?:like|such\s+as|e\.g\.|wie|como)\s+[^.;,!?]+)?"
_NAMED = "wellnamed"
_ONE_OF_EACH = (
    r"(?:(?:and|but|so|please|just|only|we|I|want|need|to|und|aber|bitte|nur|y|pero|s[oó]lo|por\s+favor)\s+)*"
    r"(?:(?:keep|leave|save)(?:ing)?\s+(?:me\s+|just\s+|only\s+)*(?:a\s+single|one|1)(?:\s+single)?"
    r"(?:\s+(?:cop(?:y|ies)|version|file))?\s+(?:of|from)\s+(?:each|every)"
    r"|(?:behalt\w*|lass\w*)(?:\s+Sie)?\s+(?:(?:bitte|davon|dabei|immer|jeweils|je|nur)\s+)*(?:von\s+jede[mr]\s+)?(?:nur\s+)?(?:je(?:weils)?\s+)?"
    r"(?:eins|eines|eine[ns]?|ein\s+exemplar)(?:\s+(?:davon|von\s+jede[mr]|übrig|da|behalten))*"
    r"|(?:von\s+jede[mr]\s+)?nur\s+(?:je(?:weils)?\s+)?(?:eins|eines|eine[ns]?)(?:\s+davon)?\s+behalten"
    r"|(?:qu[eé]date|d[eé]ja(?:me)?|conserva|guarda)\s+(?:con\s+)?(?:s[oó]lo\s+)?(?:con\s+)?(?:una?|uno)(?:\s+sol[oa])?(?:\s+copia)?\s+de\s+cada)"
)
_THING = (
    r"(?:pictures?|photos?|pics?|images?|files?|documents?|docs|pdfs?|songs?|videos?|films?|tracks?|scans?"
    r"|bild(?:er(?:n)?)?|fotos?|datei(?:en)?|dokumenten?|lieder[n]?|filmen?|im[aá]gen(?:es)?|archivos?|documentos?|canciones|v[ií]deos?)"
)
_OTHERS = (
    r"(?:all\s+)?(?:the\s+)?(?:others?|rest|surplus|extras?|extra\s+ones|spare\s+ones|remaining\s+ones|alle\s+anderen"
    r"|die\s+(?:anderen|übrigen)|den\s+rest|(?:todos\s+)?(?:l[oa]s\s+)?(?:demás|otr[oa]s)|el\s+resto)"
)


def _many(kind: str) -> str:
    """ "Just one of each photo" is said of all photos."""
    return {"bild": "bilder", "datei": "dateien"}.get(kind.casefold()) or (
        kind if kind.endswith(("s", "n", "r")) else f"{kind}s"
    )


def _to(plain: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found.expand(plain) if SPEAKS.search(found.string) else found.group()


RULES: tuple[Rule, ...] = (
    # "The ones that are the same picture".
    (
        rf"\b(?:(?:some|many|several|all|any|a\s+few)\s+of\s+)?(?P<the>(?:the|these|those|my|our)\s+)?"
        rf"(?:ones|(?P<kind>{_THING}|\w+(?=\s+(?:that|which)\b)))\s+(?:(?:that|which)\s+)?(?:are|look)\s+"
        rf"(?:(?:all|exactly|really|basically|just|actually|completely)\s+)*(?:the\s+(?:very\s+)?same|identical|alike)"
        rf"(?:\s+(?P<same>{_THING}))?(?!\s+(?:as|size|name|date)\b|\w)",
        lambda found: f"{found['the'] or ''}{_many(found['kind'] or found['same'] or 'files')} dupes",
    ),
    (
        rf"\b(?P<kind>{_THING})\s*,?\s+(?:die|welche)\s+(?:(?:genau|völlig|exakt|alle|ganz)\s+)*(?:gleich|identisch)\s+(?:sind|aussehen)\b,?",
        _to(r"\g<kind> dupes"),
    ),
    (
        rf"\b(?P<deed>delete|remove|erase|bin|trash)\s+(?:all\s+)?(?:the\s+)?same\s+(?P<kind>{_THING})(?=\s*(?:[,.;:!?–-]|$))",
        _to(r"\g<deed> dupe \g<kind>"),
    ),
    (
        rf"\b(?:gleichen?|selben|dieselben)\s+(?P<kind>{_THING})(?=\s+(?:nur\s+)?(?:löschen|entfernen|weg|raus|eins?|je)\b|\s*(?:[.!]|$))",
        _to(r"\g<kind> dupes"),
    ),
    (
        rf"\b(?P<kind>{_THING})\s+(?:que\s+(?:son|est[aá]n|sean)\s+)?(?:(?:exactamente|totalmente)\s+)?(?:l[oa]s\s+mism[oa]s|iguales)(?!\w)",
        _to(r"\g<kind> dupes"),
    ),
    # "Just keep one of each".
    (
        rf"\b(?P<kind>{_THING})\s+dupes\s*[,.;:–-]*\s*{_ONE_OF_EACH}(?:\s+(?:of\s+them|one|un[oa]|{_THING}))?",
        _to(r"dedup \g<kind>"),
    ),
    (
        rf"\b{_ONE_OF_EACH}\s+(?:of\s+)?(?:the\s+)?(?P<kind>{_THING})(?:\s+dupes)?\b",
        lambda found: f"dedup {_many(found['kind'])}",
    ),
    (rf"^(?P<no>\W*(?:(?:no|nein)\W+)?){_ONE_OF_EACH}(?:\s+(?:of\s+them|one|un[oa]))?\W*$", _to(r"\g<no>dedup")),
    # Told first, and then taken up: "my photos are in here twice, please remove the extra ones".
    (
        r"(?:\b(?:I\s*(?:['’]m|\s+am)\s+(?:sure|certain|afraid)|I\s+(?:think|believe|know))\s+(?:that\s+)?)?"
        r"(?:\bI(?:['’]ve|\s+have)(?:\s+got)?\s+)?(?:(?:some|many|most|several|a\s+few)\s+of\s+)?(?:the|my|our)\s+(?P<kind>\w+)\s+"
        r"(?:(?:are|seem\s+to\s+be|exist|were\s+saved)\s+)?(?:(?:in\s+)?(?:here|there)\s+)?(?:twice|two\s+times|double|more\s+than\s+once"
        r"|several\s+times)\s*[,.;:–-]+\s*(?:(?:so|and|please|can\s+you|could\s+you|would\s+you)\s+)*"
        r"(?:remove|delete|get\s+rid\s+of|throw\s+(?:away|out)|bin|erase)\s+the\s+(?:extra|surplus|spare|duplicate|second|superfluous)\s+"
        r"(?:cop(?:y|ies)|ones?)",
        _to(r"remove duplicate \g<kind>"),
    ),
    (
        r"(?<=\boriginals)\s*,?\s*(?:and\s+)?not\s+(?:the|their)\s+copies\b|(?<=\boriginale)\s*,?\s*(?:und\s+)?nicht\s+die\s+kopien\b"
        r"|(?<=\boriginales)\s*,?\s*(?:y\s+)?no\s+las\s+copias\b",
        _to(" "),
    ),
    (  # Of those that are kept, the others.
        rf"(?<=\boriginal\sones)\s*,?\s*(?:and\s+|but\s+)?not\s+(?:the\s+)?(?:ones?|cop(?:y|ies)|files?)\s+(?:with|having|that\s+have)\s+{_MARK}",
        _to(" "),
    ),
    (r"\b(?:but\s+|and\s+)?(?:please\s+)?mind\s+(?:that\s+)?you\s+(?=keep\b)", _to("and ")),
    # By what they are alike.
    (
        r"(?<=\w)\s+(?:by|via|using|nach|por)\s+(?:their\s+|its\s+|the\s+|dem\s+|ihrem\s+|su\s+)?(?:content|contents|hash|hashes"
        r"|checksums?|inhalt|prüfsumme|contenido)\b",
        _to(" "),
    ),
    (
        r",?\s+(?:con|de)\s+(?:el\s+)?mismo\s+contenido(?:,?\s+aunque\s+[^.;?!]+)?"
        r"|,?\s+with\s+the\s+same\s+contents?(?:,?\s+(?:even\s+if|although|though|but)\s+[^.;?!]+)?"
        r"|,?\s+mit\s+(?:dem\s+)?(?:gleichem|gleichen|selben)\s+inhalt(?:,?\s+(?:auch\s+wenn|obwohl)\s+[^.;?!]+)?",
        lambda found: " " if re.search(r"dup|dopp|repetid|identi", found.string, re.IGNORECASE) else found.group(),
    ),
    # Found, and all but one removed.
    (
        r"\b(?:find|search\s+for|look\s+for|identify|detect|finde|suche?|busca|encuentra)(?P<what>\s(?:[^.;!?]|\.(?=\w))*?(?:dup|dopp|repetid"
        r"|identi)(?:[^.;!?]|\.(?=\w))*?)\s*,?\s*(?:\b(?:and|then|und|y|luego)\s+)+(?:remove|delete|erase|trash|bin|lösche?|entferne?"
        rf"|borra|elimina|quita)\s+{_OTHERS}(?!\w)",
        _to(r"dedup \g<what>"),
    ),
    # Which stay: by their names.
    (
        rf"(?:\b(?:the\s+|those\s+)?(?:ones?|cop(?:y|ies)|files?|versions?|photos|pictures|pdfs)\s+)?\b(?:with|that\s+have|having)\s+"
        rf"(?:the\s+|a\s+)?(?:\w+\s+)?{_GOOD}\s+(?:file\s?)?names?{_LIKE}",
        _to(_NAMED),
    ),
    (rf"\bthe\s+{_GOOD}ly\s+named\s+(?:ones?|files?|cop(?:y|ies)){_LIKE}|\bthe\s+well[- ]named\s+ones?", _to(_NAMED)),
    (
        rf"(?:\b(?:die|das|den)\s+)?(?:\bimmer\s+)?(?:\bdie\s+)?\bmit\s+(?:dem|den|einem)?\s*{_GUT}(?:e[nmrs]?)?\s+(?:datei)?namen?{_LIKE}"
        rf"(?:\s+ohne\s+{_MARK}(?:\s*(?:,|oder|und)\s*{_MARK})*)?",
        _to(_NAMED),
    ),
    (
        rf"\b(?:l[oa]s?\s+)?(?:que\s+(?:tienen?|tengan?|lleven?|llevan?)|con|del?)\s+(?:el\s+|los\s+|un\s+)?(?:nombres?\s+{_BUENO}(?:e?s)?"
        rf"|{_BUENO}(?:e?s)?\s+nombres?){_LIKE}",
        _to(_NAMED),
    ),
    (
        r"(?:\b(?:the|those|die|das|l[oa]s?)\s+)?(?:\b(?:ones?|cop(?:y|ies)|files?|que\s+no\s+(?:tienen?|tengan?|llevan?))\s+)?"
        rf"(?:\b(?:without|ohne|sin|no(?!\s+copies\b))\s+)(?:a\s+|an\s+|any\s+|the\s+|ein\s+)?{_MARK}(?:\s*(?:,|/|or|and|oder|und|o|ni|y)\s*(?:the\s+|a\s+)?"
        rf"{_MARK})*(?:\s+(?:in|im|en)\s+(?:the|their|el|su)?\s*(?:file\s?)?nam\w+|\s+en\s+el\s+nombre)?(?=[\s.,;!?]|$)",
        _to(_NAMED),
    ),
    # … or by where they are.
    (r"\bprefer(?:ring|ably)?(?:\s+to\s+keep|\s+keeping)?(?=\s+(?:the|those|what)\b)", _to("keep")),
    (
        r"(?<=keep)\s+(?:only\s+|always\s+)?the\s+(?:cop(?:y|ies)|versions?|ones?|files?|originals?|survivors?)\s+"
        r"(?:(?:that|which)\s+(?:is|are)\s+|located\s+|stored\s+)?(?=(?:in|from|inside|under|within)\b)",
        _to(" those "),
    ),
    (
        r"\bas\s+(?:the\s+)?(?:survivors?|one\s+to\s+keep|keepers?)\b",
        _to(" "),
    ),
    # No matter what they are called.
    (
        r"\b(?:never\s+mind|forget(?:\s+about)?|ignore|don['’]t\s+(?:bother|care)\s+about|no\s+matter)\s+(?:about\s+)?"
        r"(?:the|their)\s+(?:file\s?)?names?\s*,?"
        r"|\begal\s+wie\s+(?:sie|die)\s+hei(?:ß|ss)en\s*,?|\b(?:da\s+igual|no\s+importa)\s+(?:el|los|cómo\s+se)\s+(?:nombres?|llamen)\s*,?",
        _to(" "),
    ),
)

PRONOUNS = listed("ones one those los las die den")


def spares_copies(clause: Clause) -> bool:
    """ "Keep the ones in Archive": copies that stay because of where they are or what they are called. "Leave Archive
    alone" keeps out of it.
    """
    pointed = any(word.folded in PRONOUNS for word in clause.words)
    return clause.says("keep") or (clause.says("untouched") and pointed and not clause.says("except"))
