"""What surrounds a request and asks for nothing: politeness, insults, and stories about whoever asks.

It is blanked out before the words are read, so that every other place stays where it is. Only what could neither
choose a file nor forbid anything is talk: whatever holds a name, a kind, a deed of ours or an exception stays, and is
asked about where nobody understands it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.models.offline import numerals, telling
from libs.models.offline.clauses import ACTIONS, JUNK, KINDS
from libs.models.offline.frames import talk, wishes
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.pronouns import PRONOUNS, points_back
from libs.models.offline.telling import CONDITIONS, said_in, tells
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, words

AFTERWARDS = regex(
    r"\b(?:(?:when|once|after|as\s+soon\s+as)\s+(?:you(?:['’]re|\s+are|\s+have|['’]ve)|that(?:['’]s|\s+is)"
    r"|this\s+is|it(?:['’]s"
    r"|\s+is))\s+(?:all\s+)?(?:done|finished|through|that)(?:\s+with\s+(?:that|it|this))?|wenn\s+(?:du|sie|das"
    r"|alles)\s+(?:damit\s+)?"
    r"(?:fertig|erledigt|durch)\s+(?:bist|sind|ist)|cuando\s+(?:termines|acabes|hayas\s+(?:terminado|acabado)"
    r"|est[ée]\s+hecho)"
    r"|una\s+vez\s+hecho(?:\s+eso)?)(?!\w)",
    re.IGNORECASE,
)
GREETED = regex(r"\W*(?:[^\W\d_]+\s+){1,3}[^\W\d_]+(?=\s*[,!.\n])")
NONE_LEFT = regex(
    r"\b(?P<en>(?:don['’]t|do\s+not)\s+leave\s+(?:any|a\s+single"
    r"|one))(?P<what1>\s[^,.;:!?\n]+?)(?P<end1>\s+(?:lying\s+around|lying"
    r"\s+about|around|behind|undeleted))\b|\b(?P<es>no\s+(?:me\s+"
    r"|nos\s+)?dejes?\s+ni(?:\s+un[ao]?(?:\s+sol[ao])?|ng[uú]n[ao]?))"
    r"(?P<what2>\s[^,.;:!?\n]+?)(?P<end2>\s+(?:sin\s+borrar|por\s+ah[ií]))\b"
    r"|\b(?P<de>lass(?:en\s+sie)?\s+(?:bitte\s+|mir\s+)?keine?n?)"
    r"(?P<what3>\s[^,.;:!?\n]+?)(?P<end3>\s+(?:übrig|rumliegen|herumliegen|liegen))\b",
    re.IGNORECASE,
)
""" "Don't leave any tmp files lying around": two negations, and a deed."""
SIGNED = regex(
    r"(?:\bregards|\bsincerely|\bcheers|\bthanks\b[^.,!\n]*|\bthank\s+you\b[^.,!\n]*|\blove|grüßen?|\bgruß"
    r"|\bsaludos?|gracias\b[^.,!\n]*"
    r"|atentamente)\s*[,!.\n]+\s*(?P<who>[A-ZÄÖÜÁÉÍÓÚ][\w.]*(?:\s+[A-ZÄÖÜÁÉÍÓÚ][\w.]*)?)\s*[.!]*\s*$",
    re.IGNORECASE,
)

VERB_SECOND = regex(
    r"(\b(?:abgesehen\s+v\w+|außer|ausser|bis\s+auf|mit\s+Ausnahme\s+\w+)\s[^,.;:!?\n]{1,80}?)\s(?=(?:soll|sollen"
    r"|kann|können|muss|müssen|darf|dürfen)\b)",
    re.IGNORECASE,
)
""" "Abgesehen vom Mietvertrag sollen alle PDFs …": what is left out ends where the verb stands."""
SO = regex(
    r"(?:(?<=[.!?\n])|^)(?P<story>[^.!?\n\x1e]*?)\s*,?\s+(?:so|therefore|deshalb|daher|darum|as[ií]\s+que|por\s+eso)\s*,?\s+"
    r"(?=(?:please|kindly|can\s+you|could\s+you|would\s+you|will\s+you|I['’]d\s+like|I\s+would\s+like|ich\s+(?:hätte|möchte)|quisiera|quiero|bitte|kannst|könnte\w*|würde\w*|por\s+favor|puedes?|podr[ií]as?"
    r"|\w+en\s+Sie|lösche?|delete|remove|borr[ae]|elimin[ae])\b)",
    re.IGNORECASE,
)
""" "I'm going there tomorrow, so please …": why, and then the wish."""
PURPOSE = regex(
    r"\s*,?\s+(?:(?:for|für|para)\s+(?:the|my|our|a|an|die|den|das|mein\w*|unser\w*|el|la|los|las|mis?|nuestr\w+|una?)\s+"
    r"(?P<who>[^\W\d_]+(?:\s+[^\W\d_]+)?)|(?:que|pues)\s+(?:se|me|nos|le|les)\s+l[oae]s?\s+[^.,;!?\n]+)(?=\s*(?:[.,;!?\n]|$))",
    re.IGNORECASE,
)
""" "Zip it for my supervisor", "zipea X, que se la mando a los novios": who gets it chooses no file."""
NEEDED_FOR = regex(
    r"(?:(?<=[.!?;,\n])|\s[–-])\s*(?:(?:and|und|y)\s+)?(?:(?:I|we)(?:['’]ll|\s+will)?\s+(?:need|want)\s+(?:it|them|this|these|that)\s+for"
    r"|(?:ich|wir)\s+brauchen?\s+(?:es|sie|das|die|ihn|diese)\s+(?:für|zum|zur|beim?)|l[oae]s?\s+(?:necesito|quiero|necesitamos)\s+para"
    r"|(?:me|nos)\s+l[oae]s?\s+(?:pide|piden|pidi[oó]|pidieron|exige|exigen))"
    r"\s[^.!?\n]*",
    re.IGNORECASE,
)
""" "… I need them for the council inspector": why it is asked."""
LEADING = regex(r"^(\s*(?:please\s+)?(\w+)\s*):(?=[^\n:]+$)", re.IGNORECASE)
""" "Rename: a => b": a deed, and what it is to be done to."""
SENTENCE = regex(r"[^.;:!?\n\x1e]+")
SEGMENT = regex(
    r"(?:(?!,|\s[-–—]\s|\s(?:and|und|y|but|aber|pero"
    r"|(?<!\bare\s)(?<!\bis\s)(?<!\bwere\s)(?<!\bwas\s)so(?!\s+(?:über|im|mit|sehr|viel|alt)\b))\s).)+",
    re.IGNORECASE | re.DOTALL,
)
LIMITS = listed("except untouched only file folder duplicate empty recursive type wellknown")
"""Concepts that may narrow a request, or forbid a part of it, wherever they stand."""
CHOOSES = listed("age size empty date newest oldest largest smallest all keep")
"""Concepts that choose files where a pronoun stands for these."""
TELLS = listed("here greeting because capability first age")
"""Those that a sentence about anybody else may have."""
SPANS = listed(" ".join(("since ago seit desde hace", *numerals.SPANS.values())))
"""Years and days choose nothing by themselves: "over the years"."""
POINTERS = PRONOUNS | listed("that this das die")
"""A story that has one of these may speak of the files, even as their article."""
WISHED = "id like"
"""Stands for a polite wish, so that what follows is read as what shall be."""
NAMED = "Xname"
"""Stands for a name in a sentence that is judged by its other words."""
OBJECTS = frozenset((*KINDS, "duplicate", "all"))
LEAST = 3
"""Words of a sentence that is talk: a shorter one may be a deed that nobody knows."""
DEEDS = ACTIONS - listed("foreign greeting capability undo") | {"duplicate"}


def plain(text: str, known: Sequence[str] = (), language: Language = "en") -> str:
    """The text with all that blanked out, in its old length. Names in it have been masked already (`\\0`)."""
    return parted(text, known, language)[0]


Span = tuple[int, int]


def parted(text: str, known: Sequence[str], language: Language) -> tuple[str, list[Span]]:
    """The text without talk, and where it tells something of files: nothing is asked for there."""
    text = AFTERWARDS.sub(lambda found: f"{'then':<{len(found.group())}}", text)
    text = NONE_LEFT.sub(_none_left, text)
    text = VERB_SECOND.sub(lambda found: f"{found[1]},", text)
    tokens = words_of(tuple(known))
    text = SO.sub(lambda found: _reasonless(found, tokens), text)
    text = PURPOSE.sub(lambda found: " " * len(found.group()) if _nobody_here(found, tokens) else found.group(), text)
    text = without_needs(text)
    text = LEADING.sub(_without_colon, text)
    text = text.replace("=>", "to").replace("->", "to")
    for start, end in wishes(text):
        text = f"{text[:start]}{WISHED:<{end - start}}{text[end:]}"
    text, whole = _ungreeted(_unsigned(text)), text
    framed = talk(text)
    unframed = text
    for start, end in framed:
        unframed = unframed[:start] + _blank(unframed[start:end]) + unframed[end:]
    text = unframed if re.search(r"[\w\0]", unframed) else whole
    rest = text
    for start, end in _talk(text, tokens, language, framed=framed):
        rest = rest[:start] + " " * (end - start) + rest[end:]
    rest = rest if _stands_alone(rest) else text
    return rest, _told(rest, tokens, language, framed=framed)


def _reasonless(found: re.Match[str], tokens: frozenset[str]) -> str:
    """Without the story that a wish is drawn from, where that says all of it by name."""
    read, rest = words(found["story"]), found.string[found.end() :]
    limits = LIMITS | (DEEDS - {"clean"})  # "I'd like to have order, so …"
    told = "\0" in found["story"] or any({*word.concepts} & limits or word.folded in NEEDED for word in read)
    others = any(word.folded in REST for word in words(rest))
    told = told or (others and any(of_files(word, tokens) for word in read))
    return found.group() if told or not _stands_alone(rest) else " " * len(found.group())


def without_needs(text: str) -> str:
    """Without what it is needed for, in its old length."""
    return NEEDED_FOR.sub(_unneeded, text)


def _unneeded(found: re.Match[str]) -> str:
    deeds = {concept for word in words(found.group()) for concept in word.concepts} & FAR_DEEDS
    return found.group() if "\0" in found.group() or deeds else " " * len(found.group())


FAR_DEEDS = listed("remove move copy rename create pack unpack organize keep untouched")
NEEDED = listed("need needs needed brauche brauchen braucht necesito necesita important wichtig importante")
"""Who tells of these may mean what shall stay."""


def _without_colon(found: re.Match[str]) -> str:
    deed = {*words(found[2])[0].concepts} & ACTIONS
    return f"{found[1]} " if deed else found.group()


def _none_left(found: re.Match[str]) -> str:
    for n, (verb, deed) in enumerate((("en", "delete all"), ("es", "borra todo"), ("de", "lösch alle")), 1):
        if found[verb] is not None and len(found[verb]) >= len(deed):
            return f"{deed:<{len(found[verb])}}{found[f'what{n}']}{' ' * len(found[f'end{n}'])}"
    return found.group()


def _told(text: str, tokens: frozenset[str], language: Language, *, framed: Sequence[Span]) -> list[Span]:
    """What stands right before a question mark tells nothing, nor what a polite frame leads to: it asks."""
    told: list[Span] = []
    for sentence in SENTENCE.finditer(text):
        for part in SEGMENT.finditer(text, *sentence.span()):
            asks = text[part.end() : part.end() + 1] == "?" or _within(part.span(), framed)
            goes_on = bool(told) and told[-1][0] >= sentence.start() and _more_junk(part)
            if not asks and (goes_on or _tells(part, tokens, language)):
                told.append(part.span())
    return told


def _more_junk(part: re.Match[str]) -> bool:
    """ "(There are empty files) and some odd temporary ones": one more sort of what is told of, and no deed."""
    said = {concept for word in words(part.group()) for concept in word.concepts}
    return bool(said & JUNK) and not said & DEEDS


def _within(span: Span, framed: Sequence[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in framed)


def _stands_alone(rest: str) -> bool:
    """Is there a deed left, with its own object?"""
    left = words(rest)
    own = "\0" in rest or any(extension_of(word.folded) or not OBJECTS.isdisjoint(word.concepts) for word in left)
    return any(not DEEDS.isdisjoint(word.concepts) for word in left) and (own or not points_back(left, POINTERS))


def _blank(said: str) -> str:
    return said if "\0" in said else re.sub(r"[^\n]", " ", said)


def _ungreeted(text: str) -> str:
    """Without whom it is said to: "Hola mijo, …", "Guten Tag Frau Huber, …"."""
    found = GREETED.match(text)
    read = words(found.group()) if found else ()
    if found is None or not read or "greeting" not in read[0].concepts or "\0" in found.group():
        return text
    if len(read) < 2 or not all(word.unknown for word in read[1:]):
        return text
    return text[: read[1].start] + " " * (found.end() - read[1].start) + text[found.end() :]


def _unsigned(text: str) -> str:
    """Without who wrote it, after the closing words."""
    found = SIGNED.search(text)
    if not found or not found["who"][0].isupper() or not all(word.unknown for word in words(found["who"])):
        return text
    return text[: found.start("who")] + " " * len(found["who"]) + text[found.end("who") :]


def _talk(text: str, tokens: frozenset[str], language: Language, *, framed: Sequence[Span]) -> Iterator[Span]:
    for aside in ASIDE.finditer(text):
        if _beside_the_point(aside.group(), tokens, language):
            yield aside.span()
    for sentence in SENTENCE.finditer(text):
        if _nothing_known(sentence.group(), tokens) or _announces(sentence, tokens):
            yield sentence.span()
            continue
        goes_on = False
        for part in SEGMENT.finditer(text, *sentence.span()):
            told = not _within(part.span(), framed) and _story(part, tokens, language, goes_on=goes_on)
            if told:
                yield part.span()
            goes_on = told or (goes_on and not part.group().strip())


def _nobody_here(purpose: re.Match[str], tokens: frozenset[str]) -> bool:
    """Of what is packed or looked for, and by no word that could choose some of it."""
    if "\0" in purpose.group() or any(of_files(word, tokens) for word in words(purpose.group())):
        return False
    before = words(purpose.string[: purpose.start()])
    said = {concept for word in before for concept in word.concepts}
    unknown = all(word.unknown for word in words(purpose["who"])) if purpose["who"] else True
    new = "rename" in said or {"create", "folder"} <= said
    return unknown and bool(said & {"pack", "archives", "find", "list"}) and not new


ASIDE = regex(r"\([^()]*\)")


def _beside_the_point(said: str, tokens: frozenset[str], language: Language) -> bool:
    """Words in brackets that neither choose nor forbid anything."""
    read = words(said)
    if "\0" in said or not read or measures_in(said):
        return False
    known = TELLS - {"age"} | {"list", "create"}
    idle = all({*word.concepts} <= known and not of_files(word, tokens) for word in read)
    return idle and not points_back(read, POINTERS) and not any(word.folded in CONDITIONS for word in read)


def measures_in(said: str) -> bool:
    """Does a number stand in it?"""
    return re.search(r"\d", said) is not None


def _announces(sentence: re.Match[str], tokens: frozenset[str]) -> bool:
    """ "Three things:" before a list."""
    read = words(sentence.group())
    if "\0" in sentence.group() or sentence.string[sentence.end() : sentence.end() + 1] != ":" or not read:
        return False
    plain = all(word.filler or {*word.concepts} <= {"file", "age", "greeting", "here"} for word in read)
    counts = any(word.folded in COUNTS or "file" in word.concepts or "age" in word.concepts for word in read)
    return plain and counts and not any(of_files(word, tokens) or word.folded in REST for word in read)


REST = listed("rest resto others demas other else andere anderen ubrigen otros otras")


def _nothing_known(said: str, tokens: frozenset[str]) -> bool:
    """A whole sentence in which nothing is known, of files or of deeds."""
    read = words(said)
    if "\0" in said or len(read) < LEAST or not any(word.unknown for word in read):
        return False
    plain = all({*word.concepts} <= TELLS and not of_files(word, tokens) for word in read)
    return plain and not points_back(read, POINTERS) and not any(word.folded == "ones" for word in read)


def _tells(part: re.Match[str], tokens: frozenset[str], language: Language) -> bool:
    read = [said_in(language, word) for word in words(re.sub("\0+", f" {NAMED} ", part.group()))]
    if any("not" in word.concepts for word in read) and THAT.match(part.string, part.end()):
        return False  # "ich will nicht, dass …" forbids what follows
    if RELATIVE.match(part.group()) and _bounds(read):
        return False  # "…, die älter als fünf Jahre sind in allen Ordnern" says which, whatever follows its verb
    goes_on = re.search(r"\s(?:and|und|y)\s*$", part.string[: part.start() + 1], re.IGNORECASE) is not None
    joined = goes_on or re.match(r"\s*(?:and|und|y)\s", part.group(), re.IGNORECASE) is not None
    return tells(read, language, lambda word: of_files(word, tokens), goes_on=goes_on, joined=joined)


def _bounds(read: Sequence[Word]) -> bool:
    """Older, larger or newer than so much."""
    than = any(word.folded in THAN for word in read)
    return than and any({"age", "size"} & {*word.concepts} for word in read)


THAN = listed("als than que denn")
RELATIVE = regex(r"\W*(?:die|der|das|den|that|which|those|que|las\s+que|los\s+que)\s", re.IGNORECASE)


def _story(part: re.Match[str], tokens: frozenset[str], language: Language, *, goes_on: bool) -> bool:
    """Somebody tells something, without a word that could choose a file or forbid a deed; or goes on telling: "my
    sister came and saw it and laughed".
    """
    read = words(part.group())
    if "\0" in part.group() or not (_tells(part, tokens, language) or (goes_on and telling.past(read, language))):
        return False
    limiting = LIMITS - {"wellknown"} if goes_on else LIMITS
    limits = any(({*word.concepts} & limiting and word.folded != "just") or of_files(word, tokens) for word in read)
    chooses = any({*word.concepts} & CHOOSES and word.folded not in SPANS for word in read)
    relative = read[0].folded in RELATIVES or points_back(read[1:], POINTERS)
    return not limits and not (chooses and relative)


THAT = regex(r"\s*,?\s*(?:dass|that|que)\b", re.IGNORECASE)
RELATIVES = listed("que that which die der das welche")
"""What follows one of these may say which files are meant: ", que son grandes"."""


def of_files(word: Word, tokens: frozenset[str]) -> bool:
    """Could it choose some: an extension, a kind, or a word of a name that is there?"""
    return (
        word.text == NAMED
        or bool(extension_of(word.folded))
        or bool({*KINDS} & {*word.concepts})
        or not (word.filler or LETTERS & {*word.concepts} or tokens.isdisjoint(singulars(word.folded)))
    )


LETTERS = listed("blank underscore hyphen")
"""They are spoken of as what names are made of."""


def thing(word: Word, tokens: frozenset[str]) -> bool:
    """Is it a part of what a story is about: files, or how many?"""
    told = {"file", "folder", "duplicate"} | (CHOOSES if word.folded not in SPANS else frozenset())
    return of_files(word, tokens) or bool(told & {*word.concepts}) or word.folded in COUNTS


COUNTS = listed("two three four five six seven eight nine ten zwei drei vier funf sechs dos tres cuatro cinco seis")
