"""What is told beside a wish and belongs into it: where its things lie, what the archive is called, whom it is for.

"Zip the invoices for the accountant. Call it Invoices 2022", "borra los mp3. Están en Grabaciones", "all to do with the
Dobsons into one folder, they're all over the place": each is put into the wish's own sentence.
"""

from __future__ import annotations

import re

from libs.models.offline.rewriting import Rule, put

_WHO = (
    r"(?:accountant|book-?keeper|lawyer|solicitor|boss|bank|landlord|client|customer|insurance|tax\s*(?:man|office|advis[eo]r)"
    r"|steuerberater(?:in)?|buchhalter(?:in)?|finanzamt|anwalt|chef(?:in)?|bank|versicherung|kunden?"
    r"|gestor(?:a|[ií]a)?|asesor(?:a|[ií]a)?|contables?|abogad[oa]|jef[ea]|banco|hacienda|seguro|cliente)"
)
_PACK = r"(?:zip|pack|compress|archive|packe?n?|zippe?n?|archivier\w*|comprim\w+|empaquet\w+|archiva\w*)"
_FOLDER = r"(?:folder|ordner|carpeta)"
_ALL_OVER = {
    "in all subfolders": (
        r"(?:they|it|these|those)(?:\s*['’]?re|\s+are|\s*['’]s|\s+is)\s+(?:spread\s+|scattered\s+|lying\s+)?(?:all\s+)?"
        r"(?:over\s+the\s+place|everywhere|in\s+(?:several|various|different|lots\s+of|many)\s+folders"
        r"|(?:over|across)\s+(?:several|various|different|all\s+the|many)\s+folders)"
    ),
    "in allen Unterordnern": (
        r"(?:sie|die)\s+(?:sind|liegen)\s+(?:(?:ja|leider|alle|so)\s+)*(?:überall(?:\s+(?:verteilt|verstreut|rum|herum))?"
        r"|(?:in|über)\s+(?:verschiedenen?|mehreren?|vielen?|viele|mehrere)\s+ordnern?(?:\s+(?:verteilt|verstreut))?)"
    ),
    "en subcarpetas": (
        r"est[aá]n\s+(?:(?:repartid|desperdigad|dispers)[oa]s\s+)?(?:por\s+todas\s+partes"
        r"|(?:por|en)\s+(?:varias|distintas|diferentes|muchas|todas\s+las)\s+carpetas)"
    ),
}


def _set_apart(found: re.Match[str]) -> str:
    """The folder's name in quotes, right before what follows."""
    name = f'"{found["name"]}"'
    head = f"{found['to']} {found['noun']} "
    return f"{head:<{len(found.group()) - len(name)}}{name}"


_WANTS_TO_KNOW = (
    r"^\W*(?:my|our|the)\s+\w+\s+(?:wants?|needs?|would\s+like|(?:has\s+|have\s+)?asked)\s+(?:me\s+)?(?:to\s+know\s+)?"
    r"(?=(?:which|what|how\s+(?:many|much|big)|where|when)\b)",
    r"^\W*(?:mein|unser|der|die|das)e?\s+\w+\s+(?:will|möchte|muss)\s+wissen\s*,?\s+(?=(?:welche|was|wie|wo|wann)\w*\b)",
    r"^\W*(?:mi|nuestr[oa]|el|la)\s+\w+\s+(?:quiere|necesita)\s+saber\s+(?=(?:qu[eé]|cu[aá]|d[oó]nde)\w*)",
)
_SEPARATED = (
    (
        r"\b(?:I|we)(?:['’]d|\s+would)?\s+(?:want|like|need)\s+(?P<what>[^,.;:!?\n]{2,60}?)\s+"
        r"(?:separated|split(?:\s+up)?|sorted|organi[sz]ed|divided|arranged)\s+(?:up\s+)?(?=(?:in)?(?:to|by|per)\s)",
        r"sort \g<what> ",
    ),
    (
        r"\b(?:ich|wir)\s+(?:will|wollen|möchten?|hätten?\s+gern|brauchen?)\s+(?P<what>[^,.;:!?\n]{2,60}?)\s+"
        r"(?P<by>nach\s+\w+)\s+(?:getrennt|sortiert|geordnet|aufgeteilt)(?:\s+haben)?\b",
        r"sortier \g<what> \g<by>",
    ),
    (
        r"\b(?:quiero|querr[ií]a|quisiera|necesito)\s+(?:tener\s+)?(?P<what>[^,.;:!?\n]{2,60}?)\s+"
        r"(?:separad|ordenad|clasificad|dividid|organizad|agrupad)[oa]s?\s+(?=por\s)",
        r"ordena \g<what> ",
    ),
)
RULES: tuple[Rule, ...] = (
    (
        r"^\W*no\s*,\s*(?:(?:lo\s+que\s+)?quiero\s+)?que\s+(?=(?:me\s+)?(?:borr|elimin|quit|muev|pong|met|comprim|orden|renombr|cambi)\w*[ae]s\s)",
        put(""),
    ),
    *((asked, put("")) for asked in _WANTS_TO_KNOW),
    *(
        (
            rf"\s*[,.;:–-]*\s*(?:(?:and|because|since|but|as|y|porque|pero|und|aber|denn)\s+)?{told}(?=\s*(?:[.,;!?]|$))",
            put(f" {where}"),
        )
        for where, told in _ALL_OVER.items()
    ),
    (r"\bfrom\s+all\s+(?:of\s+)?(?:the|my|our)\s+(?:other\s+)?folders\b", put("in all subfolders")),
    (r"\b(?:aus|in|von)\s+(?:all\s+den|sämtlichen)\s+Ordnern\b", put("in Unterordnern")),
    (r"\b(?:de|desde|en)\s+todas\s+las\s+carpetas\b(?:\s+de\s+dentro)?", put("en subcarpetas")),
    (
        rf"(?P<what>\b(?:all|everything)\b)\s+(?:to\s+do\s+with|about|concerning|related\s+to|that\s+has\s+to\s+do\s+with)"
        rf"\s+the\s+(?P<who>(?-i:[A-Z])\w+?)s(?=\s[^.;!?\n]*\b{_FOLDER}\b)",
        put(r"all with \g<who> in the name"),
    ),
    (
        rf"(?<=\w)(?P<into>\s{_FOLDER}\s+(?:called|named)\s+[^\s,.;!?]+),(?:\s+(?:the|my|and)(?:\s+\w+){{1,3}},?)+?"
        r"(?=\s+in\s+all\s+subfolders\b)",
        put(r"\g<into> "),
    ),
    (
        rf"(?P<head>\b{_PACK}\b[^!?\n]*?)\s+(?:for|für|para)\s+(?:the|my|our|den|die|das|meinen?|unseren?|el|la|mi)\s+{_WHO}"
        r"(?=\s*(?:[.,;!?]|$|(?:and|und|y)\s))",
        put(r"\g<head>"),
    ),
    (
        rf"(?P<head>\b{_PACK}\b[^!?\n]*?)\s*[.?,;!]?\s+(?:and\s+)?(?:please\s+)?(?:call|name)\s+(?:it|the\s+(?:zip|archive))\s+"
        r"(?!an?\b|the\b)(?=\S)",
        put(r"\g<head> called "),
    ),
    (
        r"\s+ya\s+no\s+(?:me|nos)\s+(?:sirven?|hacen?\s+falta|valen?|interesan?)(?:\s+(?:para\s+nada|de\s+nada))?"
        r"(?:\s+y\s+(?:s[oó]lo\s+)?(?:me\s+)?ocupan?\s+(?:mucho\s+)?(?:sitio|espacio))?(?=\s*[,.;:])",
        put(""),
    ),
    (
        r"(?<=\w)\s*[.?!]+\s*(?:(?:they(?:\s*['’]re|\s+are)|sie\s+(?:sind|liegen)|est[aá]n)\s+(?:todos\s+|todas\s+|all\s+|alle\s+)?)"
        rf"(?P<where>(?:in|im|en)\s+(?:(?:the|my|la|den|dem|mi)\s+)?(?:{_FOLDER}\s+)?\w+(?:\s+folder)?)\s*(?=[.!?]*$)",
        put(r" \g<where>"),
    ),
    *((pattern, put(plain)) for pattern, plain in _SEPARATED),
    (
        r"\b(?:nach\s+(?P<unit>jahr(?:en)?|monat(?:en)?))\s+(?:weg|ein|aus|durch)\s*sortier",
        put(r"nach \g<unit> sortier"),
    ),
    (
        r"^\s*(?P<what>(?:(?:my|the|all)\s+)*\S+)\s+(?P<put>put|move|sort)\s+in(?:to)?\s+(?:a\s+|separate\s+)?folders?\s+"
        r"(?:for\s+each|for\s+every|per|by)\s+(?P<unit>year|month)\b",
        put(r"\g<put> \g<what> in folders by \g<unit>"),
    ),
    (
        r"^\W*(?:räum\w*|mach\w*\s+ordnung)[^.:!?\n]*?(?:rum|herum)(?:fliegt|liegt)\s*[:,–-]\s*(?=(?:die|alle|den|das)\s)",
        put("verschieb "),
    ),
    (
        r"^\W*(?:please\s+)?(?:tidy|clean|sort)[^.:!?\n]*?\b(?:lying|flying|floating)\s+(?:around|about)\s*[:–-]\s*(?=(?:the|all|my)\s)",
        put("move "),
    ),
    (
        r"^\W*(?:por\s+favor\s+)?(?:orden|recog|organi)\w+[^.:!?\n]*?\b(?:por\s+(?:ah[ií]|medio)|suelto)\s*[:–-]\s*(?=(?:l[oa]s|tod[oa]s)\s)",
        put("mueve "),
    ),
    (
        r",?\s+(?:contando|incluyendo|mirando|con)\s+(?:también\s+)?(?:tod[oa]s\s+)?(?:las\s+)?(?:subcarpetas|carpetas\s+de\s+dentro)\b",
        put(" en subcarpetas"),
    ),
    (
        r",?\s+counting\s+(?:also\s+)?(?:all\s+)?(?:the\s+)?(?:sub-?folders|folders\s+inside)\b",
        put(" in all subfolders"),
    ),
    (
        r",?\s+(?:(?:die\s+)?unterordner\s+(?:mitgezählt|mitgerechnet|eingeschlossen))\b",
        put(" in Unterordnern"),
    ),
    (
        r"\bque\s+m[aá]s\s+(?:espacio\s+|sitio\s+)?(?:me\s+)?ocupan\b(?:\s+(?:de|en)\s+todo(?:\s+esto)?)?",
        put("más grandes"),
    ),
    (
        rf"\b(?P<to>in|into|to|a|en|nach)\s+(?:(?:(?:ei)?['’]?nen?|den|an?|the|una|la)\s+)?(?:(?:neuen?|new|nueva)\s+)?(?P<noun>{_FOLDER})\s+"
        r"(?:(?:nueva)\s+)?(?P<name>(?-i:[A-Z]{2,5}s?))(?=\s*(?:[,.;!?]|$)|\s+(?:and|und|y|\w*(?:schieb|rein|pack|tun|leg))\w*)",
        _set_apart,
    ),
    (
        r"(?P<first>\b(?:in|nach)\s[^.;!?\n]*?(?:,|\sund)\s+(?:die|alle|den|das)\s+\w+)\s+zu(?:\s+den|\s+der|r|\s+dem|m)?\s+"
        r"(?P<where>(?-i:[A-ZÄÖÜ])\w+)(?=\s*(?:[.,!?]|$))",
        put(r"\g<first> nach \g<where>"),
    ),
)
