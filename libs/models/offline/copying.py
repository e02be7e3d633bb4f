"""Copies: what makes one, and what only speaks of one.

"Put a copy of a.txt in Docs" and "make a copy of a.txt" want one made: they are said plainly, by a verb, before
anything else is read. "The copy of a.txt" is a file that is there, "copies" are duplicates, and "delete a copy"
deletes: where the word is no deed, it stays one that nobody knows, and is asked about. A deed of copying moves
nothing: the "put" beside it only says that a place follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TypeGuard

from libs.models.offline.clauses import Clause, Item, Name, Named, Reading
from libs.models.offline.rewriting import Rule, put
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word

_LITTLE = r"(?:\s+(?:me|us|please|just|also|then|quickly|up|kindly))*"
_OTHER = (
    r"(?:(?:single|second|spare|extra|further|fresh|new|safe|safety|backup|back-up|security|identical|exact|full|quick)"
    r"\s+)?"
)
_COPY = (
    rf"(?:(?:an?|another|one(?:\s+more)?)\s+{_OTHER}(?:copy|duplicate)"
    r"|(?:some\s+|extra\s+|backup\s+|new\s+)?copies)\s+of"
)
_HELP = r"(?:\s+(?:bitte|mir|uns|mal|noch|auch|doch|jeweils|davon|schnell|einfach))*"
_KOPIE = (
    r"(?:(?:(?:eine[nr]?|'?ne)\s+(?:(?:weitere|zweite|zusätzliche|neue|exakte|genaue|extra)\s+)?"
    r"(?:Kopie|Sicherungskopie|Sicherheitskopie)|ein\s+(?:weiteres\s+)?Duplikat|(?:Sicherungs|Sicherheits)?kopien)\s+"
    r"(?:von|vom|der|des))"
)
_AYUDA = r"(?:\s+(?:por\s+favor|también|además|ahora|ya))*"
_COPIA = (
    r"(?:(?:una|otra|un)\s+(?:segunda\s+|nueva\s+)?(?:copia|duplicado)"
    r"(?:\s+(?:exacta|nueva|extra|adicional|de\s+seguridad|de\s+respaldo))?|copias(?:\s+de\s+seguridad)?)\s+del?"
)
_PUT = r"(?:put|place|drop|stick|stash|store|save|deposit|move|throw|park|tuck|slip|add)"
_LEG = r"(?:leg|lege|legen|pack|packe|tu|tue|speicher|speichere|steck|stecke|stell|stelle|verschieb|verschiebe|schieb)"
_PON = (
    r"(?:pon(?:er|me|ga|gas)?|guarda(?:r|me)?|guarde|deja(?:r|me)?|deje|mete(?:r|me)?|meta|coloca(?:r)?|coloque|mueve"
    r"|mover|lleva(?:r)?|almacena(?:r)?)"
)
_WANT_EN = (
    r"(?:(?:I|we)(?:['’]d)?\s+(?:really\s+)?(?:need|want|would\s+like|like|could\s+use)|there\s+should\s+be"
    r"|(?:give|get|fetch)\s+(?:me|us))"
)
_WANT_DE = (
    r"(?:(?:ich|wir)\s+(?:brauche[n]?|will|wollen|möchte[n]?|bräuchte[n]?|hätte[n]?\s+gerne?)"
    r"|(?:brauche|bräuchte|möchte|hätte)\s+ich(?:\s+gerne?)?)"
)
_WANT_ES = r"(?:(?:quiero|queremos|necesito|necesitamos|quisiera|querría)(?:\s+tener)?)"
_SOMEWHERE = regex(r"\s(?:in|into|inside|to|under|im|ins|nach|en|a|al)\s+\S", re.IGNORECASE)
_SPARING = regex(
    r"dup|dopp|dubl|repetid|dedup|identi|twice|zweimal|\b(?:remov|delet|eras|get\s+rid|clean|lösch|entfern|räum|borr|elimin"
    r"|quit|limpi|each\s*$|them\b)",
    re.IGNORECASE,
)
""" "Remove duplicates, keep a copy of each": nothing is copied there."""


def _placed(plain: str, *, otherwise: str | None = None) -> Callable[[re.Match[str]], str]:
    """As a copy that goes somewhere; else as what it is without a place."""

    def say(found: re.Match[str]) -> str:
        rest = re.split(r"[;:!?\n]|\.(?=\s|$)", found.string[found.end() :])[0]
        if _SOMEWHERE.search(rest):
            return plain
        return found.group() if otherwise is None else otherwise

    return say


def _kept(plain: str) -> Callable[[re.Match[str]], str]:
    """ "Keep a copy of the invoices in Safe" makes one; "keep a copy of each" spares one of several."""
    placed = _placed(plain)
    return lambda found: found.group() if _SPARING.search(found.string) else placed(found)


RULES: tuple[Rule, ...] = (
    # Made, and put somewhere.
    (
        rf"\b(?:make|create|take){_LITTLE}\s+{_COPY}(?P<what>\s(?:[^.;:!?\n]|\.(?=\w)){{1,80}}?)\s*,?\s+and\s+(?:then\s+)?"
        r"(?:put|place|drop|move|stick|store|save)\s+(?:it|them|that|those|the\s+(?:copy|copies|duplicates?))"
        r"(?=\s+(?:in|into|to|inside|under)\b)",
        put(r"put copying\g<what>"),
    ),
    (
        rf"\b(?:mach|mache|erstell|erstelle|zieh|ziehe){_HELP}\s+{_KOPIE}(?P<what>\s(?:[^.;:!?\n]|\.(?=\w)){{1,80}}?)\s*,?"
        rf"\s+und\s+{_LEG}\s+(?:sie|es|diese|die\s+Kopien?)(?=\s+(?:in|nach|ins)\b)",
        put(r"leg kopiere\g<what>"),
    ),
    (
        rf"(?<!\w)(?:h[aá]z(?:me)?|crea|saca){_AYUDA}\s+{_COPIA}(?P<what>\s(?:[^.;:!?\n]|\.(?=\w)){{1,80}}?)\s*,?"
        r"\s+y\s+(?:pon|guárda|guarda|mete|méte|deja|déja)(?:la|las|lo|los)(?=\s+(?:en|a)\b)",
        put(r"pon copiar\g<what>"),
    ),
    (r"(?<=\s)and\s+paste\s+(?:it|them|those)(?=\s+(?:in|into|to)\b)", put(" ")),
    # What it shall be called, said after it.
    (
        r"\b(?P<head>(?:copy|duplicate|clone|(?:make|create)\s+an?\s+(?:copy|duplicate)\s+of)\s[^;:!?\n]{2,80}?)\s*(?:,|,?\s+and)\s+"
        r"(?:please\s+)?(?:call|name)\s+(?:it|the\s+(?:copy|duplicate|new\s+(?:one|file)))(?=\s+\S)",
        put(r"\g<head> called"),
    ),
    (
        r"\b(?P<head>(?:kopiere?|dupliziere?|mach\w*\s+eine\s+Kopie\s+(?:von|der|des))\s[^;:!?\n]{2,80}?)\s*,?\s+und\s+"
        r"(?:nenn|nenne)\s+(?:sie|es|die\s+Kopie)(?=\s+\S)",
        put(r"\g<head> namens"),
    ),
    (
        r"\b(?P<head>(?:copia|duplica|haz(?:me)?\s+una\s+copia\s+de)\s[^;:!?\n]{2,80}?)\s*,?\s+y\s+"
        r"(?:llámala|llamala|llámalo|llamalo|ponle\s+de\s+nombre)(?=\s+\S)",
        put(r"\g<head> llamada"),
    ),
    # English.
    (rf"\b(?:make|making|create|creating|produce|generate|do|take){_LITTLE}\s+{_COPY}\b", put("replicate")),
    (rf"\b{_PUT}{_LITTLE}\s+{_COPY}\b", put("put copying")),
    (rf"\b(?:keep|leave|have|hold){_LITTLE}\s+an?\s+{_OTHER}(?:copy|duplicate)\s+of\b", _kept("put copying")),
    (rf"\b{_WANT_EN}{_LITTLE}\s+{_COPY}\b", _placed("put copying", otherwise="copy")),
    (
        rf"(?:^|(?<=[.!,]\s)|(?<=\sand\s)|(?<=\splease\s))(?P<blank>\s*)(?:a|another)\s+{_OTHER}copy\s+of\b"
        r"(?=\s(?:[^.;:!?\n]|\.(?=\w)){1,80}?\s(?:should|shall|must|needs?\s+to|has\s+to|goes|belongs|to|into)\s)",
        put(r"\g<blank>copying"),
    ),
    # German: the verb may come last.
    (
        rf"\b(?:mach|mache|erstell|erstelle|zieh|ziehe){_HELP}\s+von\s+(?P<what>(?:[^.;:!?\n]|\.(?=\w)){{2,60}}?)\s+"
        r"(?:eine|je\s+eine)\s+Kopie\b",
        put(r"dupliziere \g<what>"),
    ),
    (
        rf"\b{_LEG}{_HELP}\s+von\s+(?P<what>(?:[^.;:!?\n]|\.(?=\w)){{2,60}}?)\s+(?:eine|je\s+eine)\s+Kopie\b",
        put(r"leg kopiere \g<what>"),
    ),
    (rf"\b(?:mach|mache|macht|erstell|erstelle|erzeuge?|fertige?|zieh|ziehe){_HELP}\s+{_KOPIE}\b", put("dupliziere")),
    (rf"\b{_LEG}{_HELP}\s+{_KOPIE}\b", put("leg kopiere")),
    (rf"\b(?:behalte?|bewahre?|sicher|sichere|lass|lasse){_HELP}\s+{_KOPIE}\b", _kept("leg kopiere")),
    (rf"\b{_WANT_DE}{_HELP}\s+{_KOPIE}\b", _placed("leg kopiere", otherwise="kopiere")),
    (
        rf"\b{_KOPIE}(?P<what>\s(?:[^.;:!?\n]|\.(?=\w)){{2,80}}?)\s+(?:machen|erstellen|anlegen|anfertigen|erzeugen|ziehen)\b",
        put(r"dupliziere\g<what>"),
    ),
    (
        rf"\b{_KOPIE}(?P<what>\s(?:[^.;:!?\n]|\.(?=\w)){{2,80}}?)\s+(?:legen|packen|ablegen|speichern|stecken|tun)\b",
        put(r"leg kopiere\g<what>"),
    ),
    (
        rf"(?:^|(?<=[.!,]\s)|(?<=\sund\s))(?P<blank>\s*){_KOPIE}\b"
        r"(?=\s(?:[^.;:!?\n]|\.(?=\w)){1,80}?\s(?:soll|sollen|muss|kommt|gehört|nach|in\s+den|ins)\s)",
        put(r"\g<blank>kopiere"),
    ),
    # Spanish.
    (
        rf"(?<!\w)(?:h[aá]z(?:me|nos)?|haga(?:me|s)?|hacer(?:me)?|crea(?:r|me)?|cree|genera(?:r)?|s[aá]ca(?:r|me)?|saque)"
        rf"{_AYUDA}\s+{_COPIA}\b",
        put("duplica"),
    ),
    (rf"\b{_PON}{_AYUDA}\s+{_COPIA}\b", put("pon copiar")),
    (rf"(?<!\w)(?:conserva(?:r)?|mant[eé]n|mantener){_AYUDA}\s+{_COPIA}\b", _kept("pon copiar")),
    (rf"\b{_WANT_ES}{_AYUDA}\s+{_COPIA}\b", _placed("pon copiar", otherwise="copia")),
)
"""Ways to say that a copy shall be made, and the verb that says it plainly."""

SPOKEN = regex(r"cop[iy]|kopi|dupl|clone|paste", re.IGNORECASE)
"""No rule fits a text without one of these."""

BY_PLACE = listed("duplicate clone")
"""Other words that are this verb where a request begins and something in particular follows."""
PARTICULAR = listed("the this that these those my our every each both all")
DETERMINERS = listed(
    "the a an my your his her our their this that these those another second spare extra other backup der die das"
    " den dem eine einer einen meine deine diese andere zweite la el una un mi tu su esa esta otra misma segunda"
)
OF = listed("of von vom")
RIVALS = listed(
    "remove duplicate rename pack unpack find clean organize content blank underscore hyphen date number prefix suffix"
    " upper lower titlecase snake swap"
)
"""Deeds beside which the word tells what they are done to, "delete the copy", and choices that no listing can make:
"copy the files with spaces in their names".
"""
MOVES = ("mov", "verschieb", "muev", "traslad", "relocat", "transfer")
"""Beginnings of verbs that move whatever stands beside them: "move them instead of copying" is no deed of copying."""
YIELDS = listed("move create keep whatis")
"""What else a clause of copying says by its verbs: "put a copy", "into a new folder"."""
BESIDE_ITSELF = ("replic", "dupli", "clon")
"""Beginnings of verbs that need no place: the copy comes to be beside what is copied."""


def copying(part: Clause) -> Clause:
    """A part of a request with the verb alone as its deed, or with a word that nobody knows where it is no verb."""
    told = _by_place(part)
    said = [n for n, item in enumerate(told) if isinstance(item, Word) and "copy" in item.concepts]
    if not said:
        return part
    deed = next((n for n in said if not _a_noun(told, n)), None)
    rival = any(isinstance(item, Word) and _rivals(item) for item in told)
    if deed is None or rival:
        return replace(part, items=tuple(_strange(item) if n in said else item for n, item in enumerate(told)))
    return replace(part, items=tuple(_yielding(item) for item in told))


STAYS = regex(
    r"\b(?:both\s+here|here\s+as\s+well\s+as|here\s+and\s+(?:in|there)|sowohl\s+hier|hier\s+und\s+(?:dort|in)|tanto\s+aqu[ií]"
    r"|aqu[ií]\s+y\s+en)(?!\w)",
    re.IGNORECASE,
)


def originals_stay(reading: Reading) -> bool:
    """Does it want what goes somewhere to stay as well: "put them in Docs, but keep the originals"?"""
    told = (clause for clause in reading.clauses if clause.says("keep", "untouched") and not clause.says("duplicate"))
    kept = any(word.folded.startswith("original") for clause in told for word in clause.words)
    return kept or STAYS.search(reading.asked) is not None


def needs_a_place(clause: Clause) -> bool:
    """Does it say "copy", which leads somewhere, and not "duplicate"?"""
    deeds = [word.folded for word in clause.words if "copy" in word.concepts]
    return not any(deed.startswith(BESIDE_ITSELF) for deed in deeds)


def names_of_copy(clause: Clause) -> list[tuple[Item, ...]]:
    """What stands after "called" or "as" and is a name, each with all its words; of several, the last one holds."""
    told: list[tuple[Item, ...]] = []
    for at, (before, after) in enumerate(pairwise(clause.items), 1):
        names = isinstance(before, Word) and ("name" in before.concepts or before.folded in AS)
        if names and isinstance(after, Named) and after.kind is not Name.GLOB:
            told.append((after,))
        elif names and isinstance(after, Word) and not after.filler:
            told.append(tuple(takewhile(_goes_on, clause.items[at:])))
    return [name for name in told if name]


def _goes_on(item: Item) -> bool:
    return isinstance(item, Word) and not item.filler and "name" not in item.concepts


AS = listed("as als como")


def _by_place(part: Clause) -> list[Item]:
    """ "Duplicate notes.txt" is a deed; "duplicate files" are some that are there."""
    told = list(part.items)
    at = next((n for n, item in enumerate(told) if not _leads_up(item)), None)
    first = told[at] if at is not None else None
    if at is None or not isinstance(first, Word) or first.folded not in BY_PLACE or at + 1 == len(told):
        return told
    after = told[at + 1]
    named = isinstance(after, Named) and after.kind is not Name.GLOB
    particular = isinstance(after, Word) and after.folded in PARTICULAR
    if named or (particular and (first.folded != "clone" or part.names)):
        told[at] = replace(first, concepts=("copy",), filler=False)
    return told


def with_backups(items: Sequence[Item]) -> list[Item]:
    """Where something is copied or renamed, a backup is what is made or where it goes, and no slip of "back up"."""
    first = next((item for item in items if not _leads_up(item)), None)
    by_place = isinstance(first, Word) and first.folded in BY_PLACE
    if not by_place and not any(isinstance(item, Word) and {"copy", "rename"} & {*item.concepts} for item in items):
        return list(items)
    return [replace(item, concepts=(), slip=False) if _a_backup(item) else item for item in items]


def _a_backup(item: Item) -> TypeGuard[Word]:
    return isinstance(item, Word) and item.slip and item.folded in ("backup", "backups")


def _leads_up(item: Item) -> bool:
    """Does it stand before a request's verb: "please", "then"?"""
    return isinstance(item, Word) and (item.filler or bool(item.concepts and {*item.concepts} <= {"then", "first"}))


def _a_noun(items: list[Item], at: int) -> bool:
    before, after = items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None
    determined = isinstance(before, Word) and before.folded in DETERMINERS
    return determined or (isinstance(after, Word) and after.folded in OF)


def _rivals(word: Word) -> bool:
    moves = "move" in word.concepts and word.folded.startswith(MOVES)
    return moves or not RIVALS.isdisjoint(word.concepts)


def _strange(item: Item) -> Item:
    kept = () if not isinstance(item, Word) else tuple(one for one in item.concepts if one != "copy")
    return replace(item, concepts=(*kept, "foreign")) if isinstance(item, Word) and "copy" in item.concepts else item


def _yielding(item: Item) -> Item:
    if not isinstance(item, Word) or "copy" in item.concepts or YIELDS.isdisjoint(item.concepts):
        return item
    kept = tuple(concept for concept in item.concepts if concept not in YIELDS)
    return replace(item, concepts=kept, filler=not kept)
