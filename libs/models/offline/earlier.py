"""What a request means that leans on the turn before: "do the same for Photos", "no, only the PDFs", "move them to
Music".

All that is known of earlier turns is what was said, so the request is written out in full, in the words of the one
before it, and read like any other. What those words can't tell (what a search found, say) is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.events.committee import DENIED, MORE_BELOW, Exchange, Task
from libs.models.offline import among, corrections, made, mentioned, originals, replies
from libs.models.offline import phrasebook as say
from libs.models.offline.archives import is_archive
from libs.models.offline.clauses import ACTIONS, JUNK, KINDS, Clause, Item, Measure, Mood, Name, Named, Reading
from libs.models.offline.corrections import BELOW
from libs.models.offline.disowning import owned
from libs.models.offline.explaining import WHY, without_why
from libs.models.offline.ground import Ground
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES as COUNTLESS
from libs.models.offline.paths import file_like
from libs.models.offline.places import INTO, places
from libs.models.offline.pronouns import PRONOUNS
from libs.models.offline.quantities import ORDERS
from libs.models.offline.ranges import spelled
from libs.models.offline.reading import read
from libs.models.offline.selection import named_words
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.likeness import alike, nearest, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, words

POINTERS = PRONOUNS | {"that"}
ARTICLES = listed("los las lo la es")
"""Pronouns that are also articles, or more: believed only where no noun follows."""
CORRECTS = regex(
    r"^\W*(no|nope|nein|not that|i meant|i mean|ich meinte|nee|quise decir|actually|sorry"
    r"|and(?: also)?|also|und(?: auch)?|auch|y(?: también)?|también)\b[\s,.:;!-]*",
    re.I,
)
THINGS = frozenset(
    (*KINDS, "file", "folder", "all", "empty", "largest", "smallest", "newest", "oldest", "duplicate", "starts", "ends")
)
BARE = listed("first then here greeting same all file folder only")


@dataclass(frozen=True, slots=True)
class Lost:
    """It leans on something that the words of earlier turns don't tell."""

    said: str


def in_full(task: Task, ground: Ground, now: datetime) -> str | Lost:
    """The request's text, written out where it leans on an earlier one, which may lean on one before it."""
    told: list[Exchange] = []
    for exchange in task.history[-LEANS_MOST:]:
        full = _in_full(asked(exchange), told, ground, now)
        told.append(exchange.model_copy(update={"wish": full}) if isinstance(full, str) else exchange)
    return _in_full(task.text, told, ground, now)


def said_no(history: Sequence[Exchange]) -> bool:
    """Was it refused what the turn before would have done?"""
    last = next((one for one in reversed(history) if not replies.refused(one.text)), None)
    return last is not None and (last.reason == DENIED or last.answer in LEFT)


LEFT = frozenset(text for phrase in (say.UNDONE, say.LEFT_AT_THAT) for text in phrase.values())
"""How a turn ends where a person says no to a question."""


def asked(exchange: Exchange) -> str:
    """What it was about, without the replies that changed only what it came to."""
    return exchange.about.partition(replies.THEN_SAID)[0]


def before_last(task: Task) -> Task:
    """The task of the turn before, with the replies that have changed what it came to."""
    at = next(n for n in range(len(task.history) - 1, -1, -1) if not replies.refused(task.history[n].text))
    text, *said = task.history[at].about.split(replies.THEN_SAID)
    again = {"text": text, "replies": tuple(said), "clarification": None, "history": task.history[:at], "skill": None}
    return task.model_copy(update=again)


TAKEN_BACK = regex(
    r"^\W*(?:(?:no|nein|please|bitte)\W+)*(?:(?:undo|revert|cancel|take\s+back|drop|forget)\s+(?:that|it|this|the\s+last\s+\w+)"
    r"|(?:mach|nimm)e?\s+(?:das|es)\s+(?:wieder\s+)?(?:rückgängig|zurück)|(?:deshaz|deshace|anula|olvida)(?:lo|\s+eso|\s+esto)?)"
    r"\s*(?:[,;.]\s*)?(?:(?:and|und|y)\s+)?(?:(?:then|dann|luego)\s+)?(?=\w+\s+\w)",
    re.IGNORECASE,
)
""" "Undo that and delete them instead": where nothing was done, it is only said what is wanted."""
NOT_THOSE = regex(
    r"^\W*(?:(?:no|nope|nah|nein|nee)\b\W*)*(?:not\s+(?:those|these|them|that)|nicht\s+(?:die|diese|das|alle)|no\s+(?:es[oa]s|est[oa]s)|es[oa]s\s+no)"
    r"\s*[,.;:!–-]+\s*(?=(?:only|just|but|nur|bloß|sondern|s[oó]lo|solamente|sino)\b)",
    re.IGNORECASE,
)
""" "No, not those, only …": what comes after it says which."""
PLAIN_NO = regex(r"^\W*(?:(?:no|nope|nah|nein|nee)\b\W*)+(?<=[,.!;:–-]\s)", re.IGNORECASE)
LED = regex(
    r"^\W*(?:yes|yeah|yep|aye|ok|okay|ja|s[ií]|vale)\b\W*(?:(?:please|bitte|por\s+favor)\b\W*)?(?=\w)", re.IGNORECASE
)
LEANS_MOST = 5
"""So many requests may lean on one another."""


def _in_full(text: str, history: Sequence[Exchange], ground: Ground, now: datetime) -> str | Lost:
    named, text = mentioned.last(history), spelled(without_why(text), ground)
    text = owned(text) if history else text
    text = TAKEN_BACK.sub("", text) if history and history[-1].reason == DENIED else text
    text = NOT_THOSE.sub("", text) if history and history[-1].reason not in DONE else text
    text = text if named is None else mentioned.AGREED.sub("", text)
    reading = read(text, ground.spoken, now=now)
    if history and history[-1].reason in DONE and (led := LED.match(text)) is not None:
        deed = read(text[led.end() :], ground.spoken, now=now)
        if deed.clauses and replies.begins(deed.clauses[0]):  # "yes, remove them", where nobody has asked
            text, reading = deed.text, deed
    before = next(_requests(history, ground, now), None)
    whole = PLAIN_NO.sub("", text) if before is not None else text
    if whole != text and before is not None and replies.stands(own := read(whole, ground.spoken, now=now), before):
        text, reading = whole, own
    undone = bool(history) and history[-1].reason not in DONE
    if undone and before is not None and _agrees_to(before, reading):
        return before.text
    if undone and before is not None and (renamed := corrections.called(before, text, ground)) is not None:
        return renamed
    if undone and before is not None and (rest := corrections.without_folder(before, text)) is not None:
        return rest
    if history and before is not None and (again := made.renamed(history[-1], before, text, ground)) is not None:
        return again
    just_named = named.shown if named is not None and named is history[-1] else ()
    if before is not None and history[-1].reason == DENIED and (more := _gone_too(before, text, just_named, ground)):
        return more
    if undone and before is not None and (rest := left_of(before, text, just_named, ground)) is not None:
        return rest
    if just_named and (some := among.written_out(reading, just_named, ground)) is not None:
        return some
    if named is not None and (pointed := mentioned.by_name(reading, named.shown)) is not None:
        return pointed
    if named is not None and _of_copies(read(named.about, ground.spoken, now=now), reading):
        text = mentioned.surplus(text, named.shown) or text
        reading = read(text, ground.spoken, now=now)
    if before is not None and (counted := COUNTED.match(text)) and (more := _so_many(before, counted["n"])):
        return more
    if before is None or not reading.clauses or WHY.match(text):
        return text
    if AGAIN.match(text):
        return before.text
    if (wider := WIDER.match(text)) is not None:
        return _everywhere(before, wider["where"])
    if history[-1].reason == MORE_BELOW and replies.agrees(text):
        return _everywhere(before, BELOW[before.language])
    if history[-1].reason == DENIED and (more := added(before, text, ground, now)) is not None:
        return more
    if undone and (instead := corrections.instead(before, text, ground, now)) is not None:
        return instead
    if SAME.search(text) or _says_same(reading) or _says_also(reading):
        return _same(before, reading, ground)
    if (placed := _in_there(text, before, ground)) is not None:
        return placed
    bare = corrections.bare(text)
    if (corrected := _correction(f"no, {bare}" if undone else text, ground, now)) is not None:
        things = [item for clause in corrected.clauses for item in clause.items]
        return _instead(before, things, ground, text=corrected.text)
    reading = read(bare, ground.spoken, now=now) if undone else reading
    return _with_antecedent(reading, before, ground, last=history[-1])


def _gone_too(before: Reading, text: str, shown: Sequence[str], ground: Ground) -> str | None:
    """ "And then delete the three", where a packing stands before them."""
    text = originals.without_after(text, before.language)
    said = read(ADDED.sub("", text), ground.spoken)
    led = AND_THIS.match(text) or ADDS.match(text) or said.says("then")
    return originals.go_too(before, said, shown) if led else None


def _of_copies(before: Reading, reading: Reading) -> bool:
    """Has it looked for what is there more than once, and is that all that something is to be done with now? Where it
    has looked for all, removing duplicates says as much.
    """
    deeds = [clause for clause in reading.clauses if clause.mood is Mood.DO and clause.says("remove", "move", "pack")]
    some = any(clause.filters or clause.names or clause.says(*KINDS) for clause in before.clauses)
    if not before.says("duplicate") or before.says("remove") or len(deeds) != len(reading.clauses):
        return False
    return len(deeds) == 1 and (some or not (reading.says("duplicate") and reading.says("remove")))


def _everywhere(before: Reading, where: str) -> str:
    """The same wish in all subfolders, said before what is only told after it; what a German sentence closed by its
    verb is closed.
    """
    text, deed = before.text.rstrip(" .!?"), _last(before)
    end = deed.items[-1].end if deed is not None else len(text)
    if re.match(r"\s*[,.;:–-]\s*\w", text[end:]) is None:
        end = len(text)
    return f"{text[:end]}{',' if VERB_LAST.search(text[:end]) else ''} {where}{text[end:]}"


VERB_LAST = regex(
    r",\s[^,]*\s(?:sind|ist|waren?|hat|haben|wurden?|gibt|liegt|liegen|steht|stehen|hei(?:ß|ss)t|hei(?:ß|ss)en|anfangen|enden|beginnen)$",
    re.IGNORECASE,
)


def _agrees_to(before: Reading, reading: Reading) -> bool:
    """ "Yes, move them", where that is what was asked: it was no plain yes, so it is asked once more."""
    deeds = {concept for clause in reading.clauses for concept in clause.concepts & ACTIONS - {"greeting"}}
    asked = {concept for clause in before.clauses for concept in clause.concepts}
    return replies.agrees(reading.text) and bool(deeds) and deeds <= asked


DONE = (None, MORE_BELOW, "UNDO_WANTED")
"""Reasons of a turn that has not been kept from anything."""
WIDER = regex(
    r"\W*(?:(?:yes|ok|and|also|please|ja|und|auch|bitte|s[ií]|y|tambi[eé]n|por\s+favor)\W+)*"
    r"(?P<where>in\s+all\s+(?:the\s+)?sub-?folders|in\s+(?:allen|den)\s+unterordnern|en\s+todas\s+las\s+subcarpetas"
    r"|everywhere|überall|en\s+todas\s+partes)"
    r"(?:\W+(?:too|also|as\s+well|please|auch|bitte|tambi[eé]n|por\s+favor))*\W*$",
    re.IGNORECASE,
)
""" "In all subfolders too": what was asked for before, wherever it is."""


AGAIN = regex(
    r"\W*(?:(?:and|ok|yes|please|und|ja|bitte|y|s[ií]|vale|por\s+favor)\W+)*(?:(?:try|do|versuch|mach|prueba|hazlo)\s+)?(?:(?:it|that|the\s+same|das|es)\s+)?"
    r"(?:(?:once\s+)?again|once\s+more|noch\s*(?:ein)?mal|otra\s+vez|de\s+nuevo|rep[ií]telo)(?:\W+(?:please|bitte|por\s+favor))*\W*$",
    re.IGNORECASE,
)
COUNTED = regex(
    r"^\W*(?:(?:no|nein|but|aber|pero)\W+)?(?:i\s+(?:wanted|asked\s+for|said)|ich\s+(?:wollte|will|sagte)|quer[ií]a|dije)\s+"
    r"(?:(?:to\s+see|the|doch|die|ver|los|las)\s+)*(?P<n>\d{1,3})(?:\s+(?:sehen|haben))?"
    r"(?:\W+(?:not|nicht|no|statt|instead\s+of|en\s+vez\s+de)\s+\d+)?\W*$",
    re.IGNORECASE,
)
""" "I wanted to see 5, not 3": of the same, so many."""


def _so_many(before: Reading, number: str) -> str | None:
    order = [word for clause in before.clauses for word in clause.words if {*ORDERS} & {*word.concepts}]
    if not order:
        return None
    head = re.sub(r"\b\d+\s+$", "", before.text[: order[0].start])
    return f"{head}{number} {before.text[order[0].start :]}"


def _requests(history: Sequence[Exchange], ground: Ground, now: datetime) -> Iterator[Reading]:
    """Earlier requests that asked for something, the newest first."""
    for exchange in reversed(history[-3:]):
        told = read(asked(exchange), ground.spoken, now=now)
        if any(clause.acts and clause.mood is Mood.DO for clause in told.clauses):
            yield told


THERE = regex(
    r"\b(?P<in>(?:in|into)\s+(?:there|it)|in\s+(?:that|this|the\s+same)\s+folder)\b(?=\s*(?:[.,;!?]|$|\s(?:and|please|too|as\s+well)\b))"
    r"|\b(?P<da>(?:da|dort)\s+(?:rein|hinein)|darein|(?:in\s+)?dorthin|in\s+(?:diesen|den)\s+Ordner)\b(?!\s+[A-ZÄÖÜ\"“„])"
    r"|(?<!\w)(?P<ahi>(?:ahí|allí|en\s+ella|en\s+esa\s+carpeta)(?:\s+dentro)?)(?!\w)",
    re.IGNORECASE,
)
""" "Put a.txt in there": where something goes is the folder that the turn before was about."""
RIGHT_IN = {"in": "into {}", "da": "in den Ordner {}", "ahi": "a la carpeta {}"}


def _in_there(text: str, before: Reading, ground: Ground) -> str | None:
    """The request with the folder of the turn before in the place of "there"; nothing where it makes one of its own."""
    found = THERE.search(text)
    clause = _last(before)
    if found is None or clause is None or MADE_HERE.search(text[: found.start()]):
        return None
    ends = [place.said for place in places(clause, ground) if place.target]
    made = [name.text for name in clause.names] or [word.text for word in clause.words if word.unknown]
    folders = ends[-1:] or (made[-1:] if clause.says("create") and clause.says("folder") else [])
    if not folders:
        return None
    form = next(form for group, form in RIGHT_IN.items() if found[group])
    return _put(text, found.start(), found.end(), said=form.format(f'"{folders[0]}"'))


MADE_HERE = regex(r"\b(?:folder|ordner|carpeta|directory)\b", re.IGNORECASE)
"""A folder that this request names itself is what "there" means."""


def _says_same(reading: Reading) -> bool:
    """ "The same for X": not "with the same name", nor "delete the same files"."""
    first = next((clause for clause in reading.clauses if clause.says("same")), None)
    return first is not None and not first.concepts & (OWN - {"name", "rename"})


def _says_also(reading: Reading) -> bool:
    """ "Do a.txt as well", "and b.txt too": nothing of its own to do, but perhaps a name."""
    concepts = {concept for clause in reading.clauses for concept in clause.concepts}
    named = any(clause.names for clause in reading.clauses)
    return named and ALSO.search(reading.text) is not None and not concepts & (OWN - {"name", "rename"})


SAME = regex(
    r"\b(?:the\s+same|same|das\s+gleiche|dasselbe|genauso|lo\s+mismo)\s+(?:thing\s+)?(?:for|with|to|mit|für|bei|con|para)\b",
    re.IGNORECASE,
)
ALSO = regex(r"\b(?:as well|too|also|likewise|auch|ebenfalls|también|igualmente)\b", re.IGNORECASE)
OWN = ACTIONS - {"create", "greeting", "list"} | {"duplicate", "content", "name"}
"""What a clause says that wants a deed of its own."""


def _same(before: Reading, reading: Reading, ground: Ground) -> str | Lost:
    """The deed of before, done to what is said now, and under the new name that is said now. What else is said
    changes it in a way that nobody has read.
    """
    items = [item for clause in reading.clauses for item in clause.items]
    at = next((n for n, item in enumerate(items) if isinstance(item, Word) and "same" in item.concepts), -1)
    called = next((n for n, item in enumerate(items) if n > at and _names_it(item)), len(items))
    things = [item for item in items[at + 1 : called] if not (isinstance(item, Word) and _empty(item))]
    moods = {clause.mood for clause in reading.clauses}
    if any(clause.concepts & (OWN - {"name", "rename"}) for clause in reading.clauses):
        return Lost(reading.text)
    full = _instead(before, things, ground, text=reading.text) if things and moods <= {Mood.DO, Mood.TOLD} else None
    if full is None or isinstance(full, Lost):
        return full or Lost(reading.text)
    return full if called == len(items) else _under(full, before, items[called + 1 :], ground, text=reading.text)


def _names_it(item: Item) -> bool:
    return isinstance(item, Word) and bool({"name", "rename"} & {*item.concepts})


def _under(full: str, before: Reading, after: Sequence[Item], ground: Ground, *, text: str) -> str | Lost:
    """With the new name in place of the one that the deed of before gave."""
    clause = _last(before)
    new = [item for item in after if isinstance(item, Named)]
    given = [name for name in clause.names if name.kind is not Name.GLOB] if clause else []
    rest = [item for item in after if isinstance(item, Word) and not (_empty(item) or item.folded in POINTERS)]
    made = clause is not None and clause.says("pack", "create", "rename", "name", "archives")
    if len(new) != 1 or rest or not given or not made or full.count(given[-1].text) != 1:
        return Lost(text)
    return full.replace(given[-1].text, new[0].text)


ADDS = regex(
    r"^\W*(?:(?:yes|yeah|aye|ok|okay|ja|s[ií]|vale|and|und|y|but|aber|pero|please|bitte|por\s+favor)\b\W*)*"
    r"(?:also|plus|in\s+addition|auch(?:\s+noch)?|außerdem|zusätzlich|tambi[eé]n|adem[aá]s)\b\W*"
    r"|^\W*(?:(?:yes|yeah|aye|ok|okay|ja|s[ií]|vale)\b\W*)?(?:(?:and|n|und|y)\b\W*(?=.*\b(?:as\s+well|too|auch|mit|tambi[eé]n)(?:\W+(?:please|bitte|por\s+favor))?\W*$))"
    r"|^\W*(?:(?:and|und|y)\b\W*)?(?=(?:\w+\W+){1,3}(?:also|auch|tambi[eé]n)\b)"
    r"|^\W*(?:please\s+|bitte\s+|por\s+favor\s+)?(?:(?:add|include|throw\s+in|a[ñn]ade|agrega|incluye)\s+|(?:füge?|nimm)\s+(?=.*\b(?:hinzu|dazu|mit)\W*$))",
    re.IGNORECASE | re.DOTALL,
)
MISSING = regex(
    r"^\W*(?:(?:but|aber|pero|und|and|y)\W+)?(?:(?P<what>\S.*?)\s+(?:fehlen|fehlt|(?:are|is)\s+(?:still\s+)?missing)(?:\s+(?:da|noch|there|aber|ja))*"
    r"|(?:todav[ií]a\s+|a[uú]n\s+)?faltan?\s+(?P<es>\S.*?))"
    r"(?:\s*[,.;]\s*(?:(?:and|und|y)\s+)?(?:(?:die|sie|those|they)\s+(?:sollen|müssen|können|should|must|can)|(?:que\s+)?(?:se\s+vayan|b[oó]rral[oa]s))"
    r"(?:\s+(?:auch|also|too|noch|weg|go|gelöscht\s+werden|be\s+deleted|tambi[eé]n))*)?\W*$",
    re.IGNORECASE,
)
""" "The empty ones are missing, they should go too"."""
AND_THIS = regex(r"^\W*(?:(?:yes|yeah|aye|ok|okay|ja|s[ií]|vale)\b\W*)?(?:and|n|und|y)\b\W*(?=\w)", re.IGNORECASE)
""" "And notes.txt": more of it, where files are all that follows."""
ADDED = regex(
    r"(?:\W+(?:as\s+well|too|also|hinzu|dazu|to\s+it|to\s+(?:that|them)|auch(?:\s+noch)?|mit|tambi[eé]n|please|bitte|por\s+favor))+\W*$",
    re.IGNORECASE,
)
AND: Mapping[Language, str] = {"en": "and", "de": "und", "es": "y"}


def _adds_files(reading: Reading, ground: Ground) -> bool:
    named = any(clause.names or clause.says(*KINDS, "empty") for clause in reading.clauses)
    ends = any(place.target for clause in reading.clauses for place in places(clause, ground))
    return named and not ends and all(clause.mood is Mood.DO for clause in reading.clauses)


def added(before: Reading, text: str, ground: Ground, now: datetime) -> str | None:
    """ "Also notes.txt", to a change that stands before them: what was asked for, and this as well."""
    led, lacks = replies.MORE.match(text), MISSING.match(text)
    text = f"also {led['rest']}" if led is not None and led["and"] else text
    if lacks is not None and before.says("remove"):
        text = f"also {lacks['what'] or lacks['es']}"
    found, clause = ADDS.match(text) or AND_THIS.match(text), _last(before)
    if found is None or clause is None:
        return None
    rest = ADDED.sub("", text[found.end() :])
    reading, asked = read(rest, ground.spoken, now=now), before.text.rstrip(" .!?")
    if AND_THIS.match(text) and not ADDS.match(text) and not _adds_files(reading, ground):
        return None
    if replies.stands(reading, before):
        return f"{asked}. {rest[:1].upper()}{rest[1:]}"
    things = [item for one in reading.clauses for item in one.items]
    span = _things(clause, ground)
    if span is None or any(one.acts for one in reading.clauses) or not any(_is_thing(item, set()) for item in things):
        return None
    if not clause.says("pack", "rename", "copy", "archives") and not any(is_archive(one.text) for one in clause.names):
        last = read(before.text[clause.items[0].start :], ground.spoken, now=now)
        alone = _instead(last, things, ground, text=rest)
        return f"{asked}. {alone}" if isinstance(alone, str) else None
    return _put(before.text, span[1], span[1], said=f"{AND[before.language]} {rest}")


def _correction(text: str, ground: Ground, now: datetime) -> Reading | None:
    """ "No, only the PDFs": a choice and nothing to do."""
    found = CORRECTS.match(text)
    rest = text[found.end() :] if found else text
    reading = read(rest, ground.spoken, now=now)
    clauses = reading.clauses
    if not clauses or any(clause.acts or clause.mood not in (Mood.DO, Mood.ONLY) for clause in clauses):
        return None
    chosen = all(any(_chooses(item, ground) for item in clause.items) for clause in clauses)
    return reading if chosen and (found or clauses[0].mood is Mood.ONLY) else None


def _chooses(item: Item, ground: Ground) -> bool:
    if isinstance(item, Named | Measure):
        return True
    if ACTIONS & {*item.concepts}:
        return False
    return bool({*KINDS} & {*item.concepts} or extension_of(item.folded) or (item.unknown and ground.called(item.text)))


def chosen_instead(text: str, reply: str, ground: Ground, now: datetime) -> str | None:
    """The request with the files that a reply names in place of those that nobody understood."""
    alone = read(reply, ground.spoken, now=now)
    told = [item for clause in alone.clauses for item in clause.items]
    before = read(text, ground.spoken, now=now)
    clause = _last(before)
    if clause is not None and (cleared := _cleared(before.language, clause, alone, ground)) is not None:
        return cleared
    span = _things(clause, ground) if clause is not None else None
    if span is None or WITHIN.search(text[slice(*span)]):
        return None
    things = [item for item in told if isinstance(item, Named) or not item.filler]
    if all(isinstance(item, Named) and file_like(item) for item in things):
        return _put(text, _vaguely(clause, span[0]), span[1], said=reply.strip(" .!"))
    whole = _instead(before, told, ground, text=reply)
    return whole if isinstance(whole, str) else None


def left_of(before: Reading, text: str, of: Sequence[str], ground: Ground, *, asked: bool = False) -> str | None:
    """The request for some `of` its files by name, where it has one deed, and they are what that is about. Of copies
    those are named that stay: each is known by being compared with the others.
    """
    files = among.left(text, of, asked=asked)
    if files is None:
        return None
    acting = [clause for clause in before.clauses if clause.mood is Mood.DO and clause.acts]
    span = _things(acting[0], ground) if len(acting) == 1 else None
    if span is None or len(before.clauses) > 1 or len(files) > mentioned.MOST or any('"' in path for path in files):
        return None
    if acting[0].says("duplicate"):
        stay = mentioned.quoted([path for path in of if path not in files])
        return f"{before.text.rstrip(' .!?')}, {corrections.BUT_NOT[before.language].format(what=stay)}"
    return _put(before.text, _vaguely(acting[0], span[0]), span[1], said=mentioned.quoted(files))


def _vaguely(clause: Clause | None, start: int) -> int:
    """Where "the old …" begins: files by their names are no old ones of something."""
    before = [item for item in clause.items if item.end <= start] if clause is not None else []
    while before and isinstance(before[-1], Word) and ({*before[-1].concepts} <= {"age", "size", "all"}):
        start = before.pop().start
    return start


def _cleared(language: Language, clause: Clause, alone: Reading, ground: Ground) -> str | None:
    """ "Tidy up in Docs", and what shall go: "the duplicates and the temp files"."""
    parts = [group for one in alone.clauses for group in one.groups(one.items)]
    worthless = all(any(isinstance(item, Word) and CLEARED & {*item.concepts} for item in part) for part in parts)
    vague = clause.says("clean") or (clause.says("junk") and clause.says("remove"))
    if not vague or not parts or not worthless or any(one.acts or one.mood is not Mood.DO for one in alone.clauses):
        return None
    where = [item.text for item in clause.items if _is_folder(item, ground)]
    inside = f" {corrections.WITHIN[language].format(what=mentioned.quoted(where))}" if where else ""
    return CLEARS[language].format(what=f"{alone.text.strip(' .!?')}{inside}")


CLEARED = frozenset((*JUNK, "duplicate"))
CLEARS: Mapping[Language, str] = {"en": "delete {what}", "de": "lösche {what}", "es": "borra {what}"}
WITHIN = regex(r"\b(?:in|im|ins|into|inside|en|dentro)\b", re.IGNORECASE)
"""Where something is, or goes: what takes the place of such words might lose an end."""


def nearest_instead(reading: Reading, ground: Ground) -> str | None:
    """The request with the few files by name that its words come nearest to: "the xero zip" is `Xero_export.zip`."""
    clause = _last(reading)
    span = _things(clause, ground) if clause is not None and not clause.filters else None
    if clause is None or span is None or any(map(file_like, clause.names)):
        return None
    said = reading.text[slice(*span)]
    where = [ground.has(place.said.strip("/")) for place in places(clause, ground) if not place.target]
    if len(WITHIN.findall(said)) > sum(name in ground.folders for name in where):
        return None
    there = [path for path in ground.paths or () if not clause.says("unpack") or is_archive(path)]
    for folder in where:
        there = [path for path in there if path.startswith(f"{folder}/")]
    telling = (word for word in words(said) if not word.filler and {*word.concepts} <= {*KINDS, "foreign"})
    told = [word for word in telling if word.text not in where]
    found = nearest([term for word in told for term in terms(word.text)], there)
    own = [term for word in told if not KINDS_SAID & {*word.concepts} for term in terms(word.text)]
    if (number := originals.number_said(clause)) is not None and (number != len(found) or _packs_before(reading)):
        return None
    if not found or len(found) > FEW or not all(_has_one(path, own) for path in found):
        return None
    return _put(reading.text, *span, said=" ".join(f'"{path}"' for path in found))


def _packs_before(reading: Reading) -> bool:
    """Has it packed something? Then a number that follows is of that."""
    return any(originals.packs(clause) for clause in reading.wishes(Mood.DO)[:-1])


def _has_one(path: str, sought: Sequence[str]) -> bool:
    """Is one of the words in the name? "The pictures of the house" names none, where a folder is called Pictures."""
    return any(alike(term, dict.fromkeys(terms(path))) for term in sought)


KINDS_SAID = frozenset(KINDS)
FEW = 5
"""So many files may be guessed from words of their names."""


def _instead(before: Reading, items: Sequence[Item], ground: Ground, *, text: str) -> str | Lost:
    """The earlier request with these things in place of its own."""
    said = _written(text, [item for item in items if not (isinstance(item, Word) and _empty(item))])
    clause = _last(before)
    if clause is None or not said:
        return Lost(text)
    place = [item for item in items if _is_folder(item, ground)]
    if place:
        old = [found.item for found in places(clause, ground) if not found.target]
        old += [
            name
            for name in clause.names
            if not file_like(name) and name not in {p.item for p in places(clause, ground)}
        ]
        if not old and len(place) == 1 and not any(found.target for found in places(clause, ground)):
            return corrections.within(before, clause, place[0].text)
        return _put(before.text, old[0].start, old[0].end, said=said) if old else Lost(text)
    span = _things(clause, ground)
    if span is None:
        return Lost(text)
    return _put(before.text, *span, said=said)


def _with_antecedent(reading: Reading, before: Reading, ground: Ground, *, last: Exchange) -> str | Lost:
    """ "Them" is what the earlier request chose, wherever it has gone since; what was `undone` is where it was."""
    text = reading.text
    first = next((clause for clause in reading.clauses if clause.mood is Mood.DO and clause.acts), None)
    pronoun = _pronoun(first, text, ground) if first else None
    if first is None or pronoun is None:
        return text
    place, archive = _comes_after_into(first, pronoun), made.packed(last, before, ground, [pronoun])
    thing = f'"{archive}"' if archive else _thing(before, ground, place=place, undone=last.reason not in DONE)
    return Lost(text) if thing is None else _put(text, pronoun.start, pronoun.end, said=thing)


def _pronoun(clause: Clause, text: str, ground: Ground) -> Word | None:
    """The pronoun that stands for what the clause is about, if it says nothing else about that."""
    targets = {place.item for place in places(clause, ground) if place.target}
    last = clause.items[-1]
    if isinstance(last, Word) and last.folded in POINTERS and _comes_after_into(clause, last):
        return last
    if any(_chooses(item, ground) for item in clause.items if item not in targets) or clause.says("duplicate", "type"):
        return None
    for at, item in enumerate(clause.items):
        polite = at > 0 and text[item.start : item.end] == "Sie"  # who is asked, and nothing that was spoken of
        if isinstance(item, Word) and item.folded in POINTERS and not (polite or _article(clause.items, at, text)):
            return item
    return None


def _article(items: Sequence[Item], at: int, text: str) -> bool:
    word, after = items[at], items[at + 1] if at + 1 < len(items) else None
    if not isinstance(word, Word) or word.folded not in ARTICLES:
        return after is not None and isinstance(after, Word) and {"file", "folder"} & {*after.concepts} != set()
    joined = at > 0 and items[at - 1].end == word.start
    return not joined and after is not None and not (isinstance(after, Word) and after.filler)


def _comes_after_into(clause: Clause, pronoun: Word) -> bool:
    at = clause.items.index(pronoun)
    before = clause.items[at - 1] if at else None
    return isinstance(before, Word) and before.folded in INTO | {"in", "en", "inside"}


def _thing(before: Reading, ground: Ground, *, place: bool, undone: bool) -> str | None:
    """The words for what the earlier request was about."""
    clause = _last(before)
    if clause is None or clause.says("organize", "clean", "duplicate") or (clause.says("remove") and not undone):
        return None
    if clause.says("copy") and not place and not undone:
        return None  # there are two of it now
    targets = [found for found in places(clause, ground) if found.target]
    if place:
        made = [name.text for name in clause.names] or [word.text for word in clause.words if word.unknown]
        made = made if clause.says("create") else [found.said for found in targets]
        return f'"{made[-1]}"' if made else None
    names = [name for name in clause.names if name.kind is not Name.GLOB and file_like(name)]
    if clause.says("rename") and len(names) > 1:
        return f'"{names[-1].text}"'
    if clause.says("content", "find") and not names and not any(_chooses(item, ground) for item in clause.items):
        return None
    span = _things(clause, ground)
    if span is None:
        return None
    said = before.text[slice(*span)]
    moved = clause.says("move") and targets and not undone
    return f'{said} in "{targets[-1].said}"' if moved else said


def _last(reading: Reading) -> Clause | None:
    told = [clause for clause in reading.clauses if clause.mood is Mood.DO and clause.acts]
    return told[-1] if told else None


def _things(clause: Clause, ground: Ground) -> tuple[int, int] | None:
    """Where in the text the clause says what it is about, its folder included and its target left out."""
    out = {place.item for place in places(clause, ground) if place.target}
    called = {word for word, _ in named_words(clause, ground)}
    runs: list[list[Item]] = [[]]
    for at, item in enumerate(clause.items):
        if item in out or (isinstance(item, Word) and (ACTIONS & {*item.concepts} or _leads_off(clause.items, at))):
            runs.append([])
        else:
            runs[-1].append(item)
    for run in runs:
        held = [n for n, item in enumerate(run) if _is_thing(item, called)]
        if held:
            return run[held[0]].start, run[held[-1]].end
    return None


def _leads_off(items: Sequence[Item], at: int) -> bool:
    """Does it lead to an end: "into", "as", "in eine ZIP-Datei namens …"?"""
    after = next((item for item in items[at + 1 :] if isinstance(item, Named) or not item.filler), None)
    zipped = is_archive(after.text) if isinstance(after, Named) else after is not None and "archives" in after.concepts
    return items[at].text.casefold() in INTO | AS or (zipped and items[at].text.casefold() in ("in", "en", "a"))


AS = listed("as als como")


def _is_thing(item: Item, called: set[Word]) -> bool:
    if isinstance(item, Named | Measure) or item in called:
        return True
    known = {*item.concepts} & THINGS or extension_of(item.folded) or item.unknown
    return bool(known) or (number_of(item.folded) is not None and item.folded not in COUNTLESS)


def _is_folder(item: Item, ground: Ground) -> bool:
    said = item.text if isinstance(item, Named) else item.text if item.unknown or item.text[0].isupper() else ""
    real = ground.has(said.strip("/")) if said else None
    return real is not None and real in ground.folders


def _empty(word: Word) -> bool:
    return not isinstance(word, Measure) and (
        word.filler or bool(word.concepts and {*word.concepts} <= BARE and "file" not in word.concepts)
    )


def _written(text: str, items: Sequence[Item]) -> str:
    return text[items[0].start : items[-1].end] if items else ""


def _put(text: str, start: int, end: int, *, said: str) -> str:
    blank = "" if start == 0 or text[start - 1].isspace() else " "
    return f"{text[:start]}{blank}{said}{text[end:]}"
