"""What a person wants instead of a change that they have just refused: "but not top.jpg", "to Photos", "in subfolders".

A refused change stands before them, so whatever they say that is no wish of its own is about it. It is put into the
words of that request, which is then read like any other; nobody has to repeat what was not wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from libs.models.offline.archives import is_archive
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Item, Measure, Mood, Reading
from libs.models.offline.ground import Ground
from libs.models.offline.grouping import UNITS
from libs.models.offline.moods import selects
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.pronouns import PRONOUNS
from libs.models.offline.quantities import told_by
from libs.models.offline.reading import read
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word

BELOW: Mapping[Language, str] = {
    "en": "in all subfolders",
    "de": "in allen Unterordnern",
    "es": "en todas las subcarpetas",
}
BUT_NOT: Mapping[Language, str] = {"en": "but not {what}", "de": "aber nicht {what}", "es": "pero no {what}"}
INTO: Mapping[Language, str] = {"en": "into {what}", "de": "nach {what}", "es": "a {what}"}
WITHIN: Mapping[Language, str] = {"en": "in {what}", "de": "in {what}", "es": "en {what}"}
LEADS = regex(
    r"^\W*(?:(?:yes|yeah|aye|ok|okay|ja|s[ií]|vale|but|and|aber|und|pero|y|bitte|please|actually|sorry|lieber|mejor|rather|oh|oops|wait|hm+|halt|moment|espera)\b"
    r"[\s,.:;!–-]*|(?:(?:oh|ah|ach|ay)\s+)?(?:no|nope|nein|nee)\b(?:\s*[,.:;!–-]+\s*|\s+(?=(?:no|nein|nee)\b|i\s+mean|ich\s+mein|quise|quiero|only|just|nur|s[oó]lo))"
    r"|(?:(?:that|this|it|das|es|eso)(?:['’]?s|\s+is|\s+ist|\s+est[aá])?\s+)?(?:nearly|almost|fast|beinah|casi)\s+"
    r"(?:right|correct|good|it|there|richtig|gut|bien|correcto)\b[\s,.:;!–-]*"
    r"|not\s+all(?:\s+of\s+(?:them|those))?\s*[,;:.–-]+\s*|nicht\s+alle[ns]?\s*[,;:.–-]+\s*|no\s+(?:tod[oa]s)\s*[,;:.–-]+\s*"
    r"|(?:i\s+mean[t]?|ich\s+meinte?|quise\s+decir|quiero\s+decir)\s+)+",
    re.IGNORECASE,
)
""" "No, …", "yes, but …": it says that there is more to come. A "no" right before a word is part of what it says."""
TAILS = regex(r"\W*\b(?:instead|stattdessen|lieber|en su lugar|mejor|please|bitte|por favor)\W*$", re.IGNORECASE)
SPARES = regex(
    r"^(?:(?:all|everything|alles?|tod[oa]s?)\s+)?(?:but|not|nicht|no|except|without|leave(?:\s+out)?|skip|keep"
    r"|(?:please\s+)?(?:don['’]?t|do\s+not)\s+(?:touch|include|take|use|delete|remove|move|copy|zip|rename)|ohne|außer|lass|behalte|sin"
    r"|excepto|menos|salvo|deja|no\s+(?:toques|incluyas|borres|muevas|copies))\s+(?:for\s+|not\s+)?(?P<what>.+?)(?:\s+(?:alone|out|in\s+ruhe|weg|aus|(?:just\s+)?(?:where|as)\s+(?:they|it)\s+(?:are|is)|(?:wo|wie)\s+(?:sie|es)\s+(?:sind|ist)"
    r"|(?:donde|como)\s+est[aá]n?))?$",
    re.IGNORECASE | re.DOTALL,
)
STAYS = regex(
    r"^(?P<what>.+?)\s+(?:(?:should\s+)?stays?|(?:sollen\s+)?bleib(?:en|t)|lass(?:t|en(?:\s+sie)?)?(?:\s+bitte)?(?=\s+in\s+ruhe)|(?:que\s+)?se\s+qued[ae]n?|nicht|no)"
    r"(?:\s+(?:put|there|da|dort|ahí|in\s+ruhe|(?:just\s+)?where\s+(?:they|it)\s+(?:are|is)|wo\s+(?:sie|es)\s+(?:sind|ist)|donde\s+est[aá]n?))?$",
    re.IGNORECASE | re.DOTALL,
)
LIMITS = regex(r"^(?:only|just|nur|bloß|s[oó]lo|solamente)\b", re.IGNORECASE)
ITSELF = regex(
    r"\W*(?:it|that|this|them|those|these|das|es|sie|die|ihn|den|diese[rsn]?|eso|esto|lo|la|los|las|[eé]s[eo]s?|[eé]sas?|[eé]st[ea]s?)"
    r"(?:\s+one)?(?:\s+(?:(?:where|as)\s+(?:it\s+is|they\s+are)|(?:wo|wie)\s+(?:es|sie|er)\s+(?:ist|sind)|(?:donde|como)\s+est[aá]n?))?\s*(?:[,.;!]|$)",
    re.IGNORECASE,
)
NOTHING_ELSE = regex(
    r"\W+(?:(?:and\s+)?nothing\s+(?:else|more)|(?:und\s+)?(?:sonst\s+nichts|nichts\s+(?:weiter|anderes))|(?:y\s+)?nada\s+m[aá]s)\W*$",
    re.IGNORECASE,
)
GOES = regex(
    r"^(?:put\s+(?:them|it|those)\s+|tu\s+sie\s+)?(?:into|to|nach|in\s+den\s+ordner|a\s+la\s+carpeta|a)\s+"
    r"(?:the\s+folder\s+)?(?P<what>\S.*)$",
    re.IGNORECASE,
)
NESTED = regex(
    r"^(?:(?:the|der|den|la)\s+)?(?:(?:new|neue[rn]?|nueva)\s+)?(?:folder|ordner|carpeta)?\s*(?P<what>\S.*?|)\s*"
    r"(?:\b(?:(?:should|must|has\s+to|needs\s+to)\s+(?:be|go)|goes|belongs|is|soll(?:te)?|muss|geh[oö]rt|kommt"
    r"|tiene\s+que\s+(?:estar|ir)|debe\s+(?:estar|ir)|va)\s+)?"
    r"(?:inside(?:\s+of)?|within|in|into|im|ins|innerhalb\s+von|dentro\s+de|en)\s+"
    r"(?:(?:the|den|dem|der|la)\s+)?(?:(?:folder|ordner|carpeta)\s+)?(?P<in>\S.*?)(?:\s+(?:sein|hinein|rein|liegen|folder))?$",
    re.IGNORECASE,
)
""" "The folder X inside Y": where the new folder goes."""
ITS = ("it", "that", "er", "der", "es")
LIES = regex(
    r"^(?:only|just|nur|bloß|s[oó]lo|solamente)?\s*(?:the\s+(?:ones|files)|those|die|los|las)?\s*"
    r"(?:that\s+are\s+|which\s+are\s+|que\s+est[aá]n\s+)?(?:in|within|inside|from|im|aus|en|de)\s+"
    r"(?:the\s+|dem\s+|la\s+)?(?:folder\s+|ordner\s+|carpeta\s+)?(?P<what>\S.*?)(?:\s+folder)?$",
    re.IGNORECASE,
)
CALLED = regex(
    r"^(?:please\s+)?(?:(?:call|name)\s+(?:it|them|the\s+(?:new\s+)?\w+)"
    r"|(?:it|they|the\s+(?:new\s+)?\w+)\s+(?:should|shall|must|has\s+to)\s+be\s+(?:(?:just|only|simply)\s+)?(?:called|named)"
    r"|(?:the\s+(?:new\s+)?folder(?:['’]s\s+name)?|der\s+(?:neue\s+)?ordner|la\s+carpeta(?:\s+nueva)?)\s+"
    r"(?:is(?:\s+called)?|ist|hei(?:ß|ss)t|es|se\s+llama)\s+(?:just|only|simply|nur|einfach|bloß|solo|sólo|simplemente)"
    r"|(?:the\s+)?(?:new\s+)?name(?:\s+(?:is|should\s+be)|:)|named|called|(?:que|q)\s+se\s+llamen?|ll[aá]mal[oa]s?|(?:el\s+)?nombre(?:\s+es|:)"
    r"|llamad[oa]s?|(?:be)?nenne?(?:n\s+sie)?\s+(?:es|ihn|sie|das)|(?:der\s+)?(?:neue\s+)?name(?:\s+ist|\s+soll(?!.*\s(?:lauten|sein|heißen)$)|:)|namens)\s+(?P<what>\S.*)$"
    r"|^(?:es|er|sie|das|(?:d(?:ie|er|as)\s+)?(?:neue\s+)?\w+)\s+soll(?:te|en)?\s+(?P<what2>\S.*?)\s+(?:heißen|lauten)$",
    re.IGNORECASE,
)
""" "Call it b.zip", "que se llame b.zip", "es soll b.zip heißen"."""
NAME: Mapping[Language, str] = {"en": "named {what}", "de": "namens {what}", "es": "llamado {what}"}
SUBFOLDERS = regex(r"\bsub-?folders?\b|\bunterordnern?\b|\bsubcarpetas\b", re.IGNORECASE)


def bare(text: str) -> str:
    """Without what only leads up to it."""
    led = LEADS.match(text)
    return TAILS.sub("", NOTHING_ELSE.sub("", text[led.end() if led else 0 :].strip(" .!"))) or text


def instead(before: Reading, text: str, ground: Ground, now: datetime) -> str | None:
    """The refused request as it is now wanted; None where this is another wish."""
    said = bare(text)
    clause = next((one for one in reversed(before.clauses) if one.mood is Mood.DO and one.acts), None)
    if clause is None:
        return None
    if (right := _right_folder(before, clause, text, ground) or _not_this(before, said, ground)) is not None:
        return right
    reading = read(said, ground.spoken, now=now)
    if (swapped := _another_deed(before, clause, reading)) is not None:
        return swapped
    if (again := deed_again(before, said, ground) or _only_renamed(before, clause, reading, ground)) is not None:
        return again
    if CALLED.match(named := _the_name(said, ground)) is not None:
        return called(before, named, ground)
    spared = SPARES.match(said) or STAYS.match(said)
    if spared is not None and ITSELF.match(spared["what"]):
        return None  # all that is to be changed, or one of it: nobody knows
    spares = spared is not None
    if any(one.acts and one.mood is Mood.DO for one in reading.clauses) and not (_stays(reading) or spares):
        return None
    return _put_right(before, clause, reading, ground)


WRONG = regex(
    r"^\W*(?:(?:no|nope|nein|nee)\W+)?(?:(?:that|it|das|es|eso)(?:['’]s|\s+(?:is|was|ist|war|es|era))\s+)?(?:the\s+|der\s+|la\s+|in\s+the\s+)?"
    r"(?:(?:wrong|falsche[rn]?|not\s+the\s+right|nicht\s+der\s+richtige)\s+(?:folder|place|ordner)|carpeta\s+(?:equivocada|incorrecta))"
    r"\s*[,.:;!–-]+\s*",
    re.IGNORECASE,
)
RIGHT_ONE = regex(
    r"^(?:(?:i\s+(?:meant?|wanted|said)|ich\s+(?:meinte?|wollte)|quer[ií]a(?:\s+decir)?|quise\s+decir|era|es|it\s+should\s+be|should\s+be)\s+)?"
    r"(?:(?:the|den|die|der|la|el)\s+(?:one|ones|folder|ordner|carpeta)?\s*)?(?:(?:in|to|into|nach|en|a|al|called|namens|llamada)\s+)?"
    r"(?:(?:the|den|la)\s+)?(?:(?:folder|ordner|carpeta)\s+)?(?P<what>\S.*?)(?:\s+folder)?$",
    re.IGNORECASE,
)


def _right_folder(before: Reading, clause: Clause, text: str, ground: Ground) -> str | None:
    """ "Wrong folder, the one in Docs": where it goes, if it goes somewhere, else where it is."""
    wrong = WRONG.match(text)
    found = RIGHT_ONE.match(bare(text[wrong.end() :])) if wrong else None
    folder = _folder(found["what"], ground) if found else None
    if folder is None:
        return None
    there = places(clause, ground)
    old = [place.item for place in there if place.target] or [place.item for place in there]
    if not old:
        return within(before, clause, folder, ends=[])
    return f"{before.text[: old[-1].start]}{_quoted(folder)}{before.text[old[-1].end :]}"


NOT_THIS = regex(
    r"^(?:not|nicht|no)\s+(?P<old>[^,;]+?)\s*[,;]\s*(?:but\s+|sondern\s+|sino\s+|rather\s+)?(?P<new>[^,;]+)$",
    re.IGNORECASE,
)
ARTICLE = regex(r"^(?:to\s+|into\s+|in\s+|nach\s+|a\s+)?(?:the|den|die|das|der|la|el|los|las)\s+(?=\w)", re.IGNORECASE)


def _not_this(before: Reading, said: str, ground: Ground) -> str | None:
    """ "Not Docs, Pictures": the one in the place of the other, which is said in the request."""
    found = NOT_THIS.match(said)
    if found is None or any(one.acts for one in read(found["new"], ground.spoken).clauses):
        return None
    for old, new in ((found["old"], found["new"]), (ARTICLE.sub("", found["old"]), ARTICLE.sub("", found["new"]))):
        standing = [*re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", before.text, re.IGNORECASE)]
        if len(standing) == 1:
            return f"{before.text[: standing[0].start()]}{new}{before.text[standing[0].end() :]}"
    return None


def each_instead(before: Reading, text: str, ground: Ground, now: datetime) -> str | None:
    """The same for each part, where the text is no correction as a whole: "only in Docs, leave the photos alone"."""
    right: Reading | None = before
    for part in re.split(r"[,;.]\s+(?:(?:and|und|y)\s+)?", text.strip(" .!?")):
        put = instead(right, part, ground, now) if right is not None else None
        right = None if put is None else read(put, ground.spoken, now=now)
    return instead(before, text, ground, now) if right is None else right.text


ONLY_OF = regex(
    r"^\W*(?:(?:only|just|nur|bloß|s[oó]lo|solamente)\s+)?"
    r"(?:(?:(?:the|die|los|las)\s+)?\w+\s+(?:of\s+(?:them|those)|davon|von\s+(?:ihnen|denen)|de\s+ell[oa]s)\s*[,:]+\s*)?",
    re.IGNORECASE,
)


def deed_again(before: Reading, said: str, ground: Ground) -> str | None:
    """ "No, only a.txt and b.txt, into a new folder X": files and an end, done with them what was asked for."""
    rest = said[ONLY_OF.match(said).end() :]  # type: ignore[union-attr]
    reading = read(rest, ground.spoken)
    deed = [word for one in before.clauses if one.mood is Mood.DO for word in one.words if {*MOVED} & {*word.concepts}]
    ends = any(place.target for one in reading.clauses for place in places(one, ground))
    named = any(file_like(name) for one in reading.clauses for name in one.names)
    plain = all(one.mood is Mood.DO and not one.concepts & ACTIONS - {"create"} for one in reading.clauses)
    if (
        len(deed) != 1
        or not (ends and named and plain)
        or not all(one.mood in (Mood.DO, Mood.TOLD) for one in before.clauses)
    ):
        return None
    return f"{deed[0].text} {rest}"


MOVED = listed("move copy")


def _only_renamed(before: Reading, clause: Clause, reading: Reading, ground: Ground) -> str | None:
    """ "I only wanted to rename it, not to put it into a folder": what was the end is the new name."""
    ends = [place.item.text for place in places(clause, ground) if place.target]
    files = [name.text for name in clause.names if name.text not in ends]
    renames = any(one.says("rename") and one.mood is not Mood.NEVER for one in reading.clauses)
    if not renames or any(one.names for one in reading.clauses) or not (len(ends) == len(files) == 1):
        return None
    return RENAMES[before.language].format(old=_quoted(files[0]), new=_quoted(ends[0])) if clause.says("move") else None


RENAMES: Mapping[Language, str] = {
    "en": "rename {old} to {new}",
    "de": "benenne {old} in {new} um",
    "es": "renombra {old} a {new}",
}


def _put_right(before: Reading, clause: Clause, reading: Reading, ground: Ground) -> str | None:
    said, language = reading.text, before.language
    request = before.text.rstrip(" .!?")
    if (found := SPARES.match(said) or STAYS.match(said)) and not _stays(reading) and not LIMITS.match(said):
        return f"{request}, {BUT_NOT[language].format(what=found['what'])}"
    if any(one.says("recursive") for one in reading.clauses) or SUBFOLDERS.search(said):
        return None if _chooses(reading) else f"{request} {BELOW[language]}"
    ends = [place.item for place in places(clause, ground) if place.target]
    if (found := NESTED.match(said)) and ends and (folder := _folder(found["in"], ground)) is not None:
        name = ends[-1].text.rpartition("/")[2]
        if found["what"].strip("\"'“”„«» ").casefold() in (name.casefold(), *ITS):
            return f'{before.text[: ends[-1].start]}"{folder}/{name}"{before.text[ends[-1].end :]}'
    if ends and (folder := _folder(said, ground)) is not None:
        return f"{before.text[: ends[-1].start]}{_quoted(folder)}{before.text[ends[-1].end :]}"
    if (found := GOES.match(said)) and ends:
        return f"{before.text[: ends[-1].start]}{_quoted(found['what'])}{before.text[ends[-1].end :]}"
    if (found := LIES.match(said)) and (folder := _folder(found["what"], ground)) is not None:
        old = [place.item for place in places(clause, ground) if not place.target]
        if old:
            return f"{before.text[: old[0].start]}{_quoted(folder)}{before.text[old[0].end :]}"
        return within(before, clause, folder, ends=[end.start for end in ends])
    if (narrowed := _other_bound(before, clause, reading) or _by_another(before, clause, reading)) is not None:
        return narrowed
    bounds = any(one.filters for one in reading.clauses) and not _chooses(reading)
    limits = all(one.mood in (Mood.ONLY, Mood.SPARE) for one in reading.clauses)
    whole = limits and (clause.says("organize", "duplicate") or len(reading.clauses) > 1)
    return f"{request}, {said}" if _stays(reading) or bounds or whole else None


NO_FOLDER = regex(
    r"^\W*(?:(?:good|fine|nice|great|yes|yeah|aye|ok|okay|right|perfect|gut|schön|super|ja|passt|bien|s[ií]|vale|perfecto)\b\W*)*"
    r"(?:(?:but|aber|pero|only|just|nur|please|bitte)\W+)*(?:without\s+(?:making\s+)?|(?:don['’]?t|do\s+not)\s+(?:make|create|add)\s+"
    r"|no\s+(?:crees|hagas)\s+|ohne\s+|keinen\s+|sin\s+(?:crear\s+)?|(?:leg|mach|erstell)e?\s+(?=.*\bnicht\b))"
    r"(?:(?:the|that|this|an?|any|den|diesen|einen|la|esa|una)\s+)?(?:(?:new|extra|empty|neuen|leeren|extra)\s+)?"
    r"(?:folder|directory|ordner|carpeta)\b(?:\s+(?:called|named|namens|llamada))?(?P<what>[^,;.]*?)(?:\s+nicht(?:\s+an)?)?\W*$",
    re.IGNORECASE,
)
JOINED = regex(r"[\s,;.]*(?:\b(?:and|und|y|then|dann|luego))?\s*$", re.IGNORECASE)


def without_folder(before: Reading, text: str) -> str | None:
    """ "Good, but without folder X": the same without the step that makes it."""
    found = NO_FOLDER.match(text)
    acting = [one for one in before.clauses if one.mood is Mood.DO and one.acts]
    makes = [one for one in acting if one.says("folder") and one.concepts & ACTIONS == {"create"}]
    if found is None or len(makes) != 1 or len(acting) < 2:
        return None
    start, end = makes[0].items[0].start, makes[0].items[-1].end
    name = found["what"].strip(" \"'“”„«»").casefold()
    if not before.text[start:end].casefold().strip(" \"'“”„«»").endswith(name):
        return None
    rest = re.sub(r"^[\s,;.]*(?:(?:and|und|y|then|dann|luego)\b\s*)*", "", before.text[end:], flags=re.IGNORECASE)
    head = JOINED.sub("", before.text[:start])
    return f"{head}, {rest}" if head and rest else head or rest


def within(before: Reading, clause: Clause, folder: str, *, ends: Sequence[int] = ()) -> str:
    """With the folder where the files are, before it is said where they go."""
    inside = WITHIN[before.language].format(what=_quoted(folder))
    goes = next((word for word in clause.words if ends and word.end <= ends[-1] and word.folded in LINKS), None)
    if goes is None:
        end = clause.items[-1].end if clause is not before.clauses[-1] else len(before.text.rstrip(" .!?"))
        return f"{before.text[:end]} {inside}{before.text[end:].rstrip(' .!?')}"
    return f"{before.text[: goes.start]}{inside} {before.text[goes.start :]}"


def called(before: Reading, text: str, ground: Ground) -> str | None:
    """With the new name in place of the one that was made of the request, or as its first."""
    found = CALLED.match(_the_name(bare(text), ground))
    clause = next((one for one in before.clauses if one.mood is Mood.DO and one.says(*MAKES)), None)
    said = (found["what"] or found["what2"]) if found else _a_name(bare(text), ground)
    if said is None or clause is None or not (found or (clause.says("rename") and len(clause.names) > 1)):
        return None
    what, but_not = _and_spares(said, before.language)
    new = _quoted(what)
    ends: Sequence[Item] = [place.item for place in places(clause, ground) if place.target]
    ends = ends or [one for one in clause.names if clause.says("pack") and is_archive(one.text)]
    if clause.says("rename") and not ends and len(clause.names) == 1:
        after = [word for word in clause.words if word.unknown and word.start > clause.names[0].end]
        ends = after if len(after) == 1 else []
    ends = ends or ([*clause.names][-1:] if clause.says("create") or len(clause.names) > 1 else [])
    if ends and clause.says("copy") and (led := _led_to(clause, ends[-1], ground)) is not None:
        rest = before.text[ends[-1].end :]
        return f"{before.text[: led.start]}{NAME[before.language].format(what=new)}{rest}{but_not}"
    if ends:
        return f"{before.text[: ends[-1].start]}{new}{before.text[ends[-1].end :]}{but_not}"
    if clause.says("rename"):
        return None
    end = clause.items[-1].end
    return f"{before.text[:end]} {NAME[before.language].format(what=new)}{before.text[end:]}{but_not}"


def _led_to(clause: Clause, end: Item, ground: Ground) -> Word | None:
    """What leads to the end of a copy that is not there: it may as well be the copy's name."""
    if ground.has(end.text.strip("/")) is not None:
        return None
    before = [item for item in clause.items if item.end <= end.start]
    return next((item for item in reversed(before) if isinstance(item, Word) and item.folded in LINKS), None)


def new_name(reply: str, language: Language) -> str | None:
    """ "The new name should be b.txt"; with the file before it a wish: "the file a.txt, and the new name is b.txt"."""
    if found := CALLED.match(bare(reply)):
        return found["what"] or found["what2"]
    for joint in re.finditer(r"\s*,?\s+(?:and|und|y)\s+", reply):
        if found := CALLED.match(bare(reply[joint.end() :])):
            return RENAMES[language].format(
                old=bare(reply[: joint.start()]), new=_quoted(found["what"] or found["what2"])
            )
    return None


def _and_spares(what: str, language: Language) -> tuple[str, str]:
    """The name alone, and what shall not go with it: "Old prices, and the 2024 ones stay where they are"."""
    what = re.sub(r"^(?:just|only|simply|nur|einfach|bloß|s[oó]lo|simplemente)\s+(?=\S)", "", what)
    for joint in re.finditer(r"\s*,?\s+(?:and|but|und|aber|y|pero)\s+", what):
        if left := STAYS.match(what[joint.end() :]) or SPARES.match(what[joint.end() :]):
            return what[: joint.start()], f", {BUT_NOT[language].format(what=left['what'])}"
    return what, ""


def _a_name(said: str, ground: Ground) -> str | None:
    """A bare name of what is not there."""
    items = [item for clause in read(said, ground.spoken).clauses for item in clause.items]
    names = all(
        item.unknown and item.text[:1].isupper() if isinstance(item, Word) else file_like(item) for item in items
    )
    there = ground.has(said) is not None or any(ground.anywhere(word) for word in said.split())
    return said if items and names and not there else None


def _the_name(said: str, ground: Ground) -> str:
    """The last sentence alone, where it says the name and those before it choose nothing and ask for nothing."""
    *before, last = re.split(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ¿¡])", said)
    if not before or CALLED.match(bare(last)) is None:
        return said
    told = read(" ".join(before), ground.spoken).clauses
    plain = [one for one in told if not one.says("suffix", "prefix", "name")]
    wished = any(one.acts or one.says(*CHOOSES) or selects(one) or _strange(one.words) for one in plain)
    return said if wished else bare(last)


CHOOSES = listed("only except empty recursive all")
MAKES = listed("pack unpack copy create rename move")


def _another_deed(before: Reading, clause: Clause, reading: Reading) -> str | None:
    """ "Copy them instead": the deed alone is another one."""
    words = [word for one in reading.clauses for word in one.words if not word.filler and word.folded not in PRONOUNS]
    old = [word for word in clause.words if not ACTIONS.isdisjoint(word.concepts)]
    plain = len(words) == 1 and not any(one.names for one in reading.clauses)
    if not plain or ACTIONS.isdisjoint(words[0].concepts) or len(old) != 1 or words[0].concepts == old[0].concepts:
        return None
    if not {"move", "copy"} & {*words[0].concepts} and {"move", "copy"} & {*old[0].concepts}:
        return None  # what said where it goes would be in the way
    return f"{before.text[: old[0].start]}{words[0].text}{before.text[old[0].end :]}"


def _other_bound(before: Reading, clause: Clause, reading: Reading) -> str | None:
    """ "Older than 1 year": in place of the bound of before, of which it might be wider."""
    new = [item for one in reading.clauses for item in one.items if isinstance(item, Measure)]
    old = [item for item in clause.items if isinstance(item, Measure)]
    if len(new) != 1 or len(old) != 1 or _chooses(reading) or new[0].filters.keys() != old[0].filters.keys():
        return None
    return f"{before.text[: old[0].start]}{new[0].text}{before.text[old[0].end :]}"


def _by_another(before: Reading, clause: Clause, reading: Reading) -> str | None:
    """ "By month": in place of what was said to sort by."""
    words = [word for one in reading.clauses for word in one.words if not word.filler]
    by = [word for word in words if any(word.folded in forms for forms in UNITS.values()) or "type" in word.concepts]
    if not by or by != words or not clause.says("organize"):
        return None
    old = told_by(clause)
    if not old:
        return f"{before.text.rstrip(' .!?')} {reading.text}"
    if any(before.text[word.start : word.end] != word.text for word in old):
        return None  # said in a roundabout way, and put plainly in another place
    return f"{before.text[: old[0].start]}{by[0].text}{before.text[old[-1].end :]}"


LINKS = ("to", "into", "nach", "in", "a", "en")


def _stays(reading: Reading) -> bool:
    """ "Keep the newest": which of several stays."""
    return any(one.says("newest", "oldest", "shortest", "wellnamed") for one in reading.clauses)


def _chooses(reading: Reading) -> bool:
    return any(one.names or one.says(*KINDS, "empty") or _strange(one.words) for one in reading.clauses)


def _strange(words: Sequence[Word]) -> bool:
    return any(word.unknown for word in words)


def _folder(said: str, ground: Ground) -> str | None:
    """The folder of this name, if there is one."""
    name = said.strip(" /\"'“”„«»").casefold()
    above = {parent for path in ground.paths or () for parent in map(str, PurePosixPath(path).parents)}
    return next((real for real in sorted({*ground.folders, *above}) if real.casefold() == name), None)


def _quoted(name: str) -> str:
    bare = name.strip(" .!?\"'“”„«»")
    return f'"{bare}"'
