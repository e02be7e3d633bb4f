"""What surrounds a request and asks for nothing: politeness, insults, and stories about whoever asks.

It is blanked out before the words are read, so that every other place stays where it is. Only what could neither
choose a file nor forbid anything is talk: whatever holds a name, a kind, a deed of ours or an exception stays, and is
asked about where nobody understands it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.models.offline.clauses import ACTIONS, KINDS
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.pronouns import PRONOUNS, points_back
from libs.models.offline.telling import tells
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.words import Word, extension_of, words

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

FRAMES = re.compile(
    "|".join(
        (
            # English.
            rf"\b(?:(?:would|could|can|will|might)\s+you\s+)?(?:please\s+)?be\s+(?:so\s+|very\s+)?{_KIND}"
            r"(?:\s+(?:as|enough))?\s+(?:to|and)\b",
            r"\b(?:(?:would|could|can|will)\s+you\s+)?be\s+an?\s+(?:dear|darling|sweetheart|angel|love|star|legend|pal"
            r"|champ|doll)\s+and\b",
            r"\b(?:would|do|wouldn['’]t)\s+you\s+(?:please\s+)?mind\b",
            r"\b(?:only\s+)?if\s+(?:it|that)(?:['’]s|\s+is|\s+isn['’]t|\s+wouldn['’]t\s+be|\s+doesn['’]t|\s+does\s+not"
            r"|\s+would\s+not\s+be|\s+is\s+not)(?:\s+(?:not|too|much|any|a|no|of|big|asking|ok|okay|fine|all|right|alright"
            r"|possible|trouble|bother|hassle|problem|you|with|to|ask|cause|imposition|inconvenience))+",
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
            r"\bstop\s+(?:wasting|fucking|messing|screwing|dawdling|being|whining|faffing)\b[^.,;:!?\n]*?(?=\s+and\b|[.,;:!?\n])",
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
            r"\b(?:wenn|falls|sofern)\s+es\s+(?:(?:dir|ihnen|euch|nicht|nichts|keine|zu|viel|große|mühe|umstände|verlangt"
            r"|geht|möglich|recht|ausmacht|macht|bereitet|ist)\b\s*)+",
            r"\btu(?:n\s+sie)?\s+mir\s+(?:bitte\s+|mal\s+)*(?:den|einen)\s+gefallen(?:\s+und\b)?",
            rf"\bdu\s+(?:\w+\s+){{0,2}}?{_TROTTEL}(?!\w)|(?<=[,!.])\s*{_TROTTEL}{_END}",
            rf"\b(?:das|die|den|der|sie)?\s*(?:brauch\w*|benutz\w*|guck\w*|les\w*|hör\w*|seh\w*|schau\w*|will)\s+(?:(?:ich|wir|man"
            rf"|eh|ja|sie|es|das|die|sowieso|ohnehin)\s+)*(?:nicht|keiner|niemand|kein\s+mensch)\s+mehr{_END}",
            r"\bso\s+ein(?:e)?\s+(?:scheiß\w*|mist|dreck|schrott|kack\w*|sauerei|saustall)(?!\w)",
            rf"\b(?:vielen\s+)?(?:lieben\s+|herzlichen\s+)?dank(?:\s+im\s+voraus)?{_END}",
            # Spanish.
            r"\b(?:ser[ií]as?|podr[ií]as?\s+ser|si\s+(?:eres|fueras?|es)|sea|s[ée])\s+(?:usted\s+)?tan\s+amables?"
            r"(?:\s+(?:de|como\s+para))?(?!\w)",
            r"\b(?:tendr[ií]as?|ten|tenga|si\s+tienes)\s+la\s+(?:bondad|amabilidad|gentileza)\s+de\b",
            r"\b(?:te|le|os)\s+(?:importar[ií]a|molestar[ií]a|importa)(?:\s+mucho)?(?!\w)",
            r"\bsi\s+no\s+(?:(?:te|le)\s+)?(?:es|fuera|supone|importa|molesta|causa)(?:\s+(?:mucha|mucho|demasiad[ao]|ninguna"
            r"|una|molestia|pedir|problema|trabajo))*(?!\w)",
            rf"\b(?:si|cuando)\s+(?:puedes|pudieras|puedas|es\s+posible|tienes\s+(?:tiempo|un\s+\w+)){_END}",
            r"\b(?:(?:me|nos)\s+gustar[ií]a|quisiera|quiero|querr[ií]a|necesito|(?:te\s+|le\s+)?agradecer[ií]a|(?:estar[ií]a"
            r"|ser[ií]a)\s+(?:muy\s+)?\w+)\s+(?:que|si)(?:\s+(?:me|nos|pudieras?|podr[ií]as?|puedas?))*(?!\w)",
            r"\bha(?:z|ga)(?:me|nos)?\s+(?:el|un)\s+(?:gran\s+)?favor\s+(?:de|y)\b",
            r"(?<!\w)(?:pedazo\s+de\s+\w+|imb[ée]cil|idiota|gilipollas|cabr[óo]n|in[úu]til|est[úu]pido|tonto|hijo\s+de\s+puta)"
            rf"(?!\w){_END}",
            r"\bde\s+una\s+(?:\w+\s+)?vez\b",
            rf"\bya\s+no\s+(?:los|las|lo|la)\s+(?:necesito|quiero|uso|necesitamos|queremos)(?:\s+m[áa]s)?{_END}",
        )
    ),
    re.IGNORECASE,
)
"""Said to be polite, or not to be. A "not" in one forbids nothing: "if it isn't too much trouble"."""

AFTERWARDS = re.compile(
    r"\b(?:(?:when|once|after|as\s+soon\s+as)\s+(?:you(?:['’]re|\s+are|\s+have|['’]ve)|that(?:['’]s|\s+is)|this\s+is|it(?:['’]s"
    r"|\s+is))\s+(?:all\s+)?(?:done|finished|through|that)(?:\s+with\s+(?:that|it|this))?|wenn\s+(?:du|sie|das|alles)\s+(?:damit\s+)?"
    r"(?:fertig|erledigt|durch)\s+(?:bist|sind|ist)|cuando\s+(?:termines|acabes|hayas\s+(?:terminado|acabado)|est[ée]\s+hecho)"
    r"|una\s+vez\s+hecho(?:\s+eso)?)(?!\w)",
    re.IGNORECASE,
)
NONE_LEFT = re.compile(
    r"\b(?P<en>(?:don['’]t|do\s+not)\s+leave\s+(?:any|a\s+single|one))(?P<what1>\s[^,.;:!?\n]+?)(?P<end1>\s+(?:lying\s+around|lying"
    r"\s+about|around|behind|undeleted))\b|\b(?P<es>no\s+(?:me\s+|nos\s+)?dejes?\s+ni(?:\s+un[ao]?(?:\s+sol[ao])?|ng[uú]n[ao]?))"
    r"(?P<what2>\s[^,.;:!?\n]+?)(?P<end2>\s+(?:sin\s+borrar|por\s+ah[ií]))\b|\b(?P<de>lass(?:en\s+sie)?\s+(?:bitte\s+|mir\s+)?keine?n?)"
    r"(?P<what3>\s[^,.;:!?\n]+?)(?P<end3>\s+(?:übrig|rumliegen|herumliegen|liegen))\b",
    re.IGNORECASE,
)
""" "Don't leave any tmp files lying around": two negations, and a deed."""
SIGNED = re.compile(
    r"(?:\bregards|\bsincerely|\bcheers|\bthanks\b[^.,!\n]*|\bthank\s+you\b[^.,!\n]*|\blove|grüßen?|\bgruß|\bsaludos?|gracias\b[^.,!\n]*"
    r"|atentamente)\s*[,!.\n]+\s*(?P<who>[A-ZÄÖÜÁÉÍÓÚ][\w.]*(?:\s+[A-ZÄÖÜÁÉÍÓÚ][\w.]*)?)\s*[.!]*\s*$",
    re.IGNORECASE,
)

VERB_SECOND = re.compile(
    r"(\b(?:abgesehen\s+v\w+|außer|ausser|bis\s+auf|mit\s+Ausnahme\s+\w+)\s[^,.;:!?\n]{1,80}?)\s(?=(?:soll|sollen"
    r"|kann|können|muss|müssen|darf|dürfen)\b)",
    re.IGNORECASE,
)
""" "Abgesehen vom Mietvertrag sollen alle PDFs …": what is left out ends where the verb stands."""
LEADING = re.compile(r"^(\s*(?:please\s+)?(\w+)\s*):(?=[^\n:]+$)", re.IGNORECASE)
""" "Rename: a => b": a deed, and what it is to be done to."""
SENTENCE = re.compile(r"[^.;:!?\n\x1e]+")
SEGMENT = re.compile(r"(?:(?!,|\s[-–—]\s|\s(?:and|und|y|but|aber|pero|so)\s).)+", re.IGNORECASE | re.DOTALL)
LIMITS = listed("except untouched only file folder duplicate recursive type wellknown")
"""Concepts that may narrow a request, or forbid a part of it, wherever they stand."""
CHOOSES = listed("age size empty date newest oldest largest smallest all keep")
"""Concepts that choose files where a pronoun stands for these."""
TELLS = listed("here greeting because capability first age")
"""Those that a sentence about anybody else may have."""
POINTERS = PRONOUNS | listed("that this das die")
"""A story that has one of these may speak of the files, even as their article."""
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
    text = LEADING.sub(_without_colon, text)
    text = text.replace("=>", "to").replace("->", "to")
    framed = [found.span() for found in FRAMES.finditer(text)]
    text = _unsigned(FRAMES.sub(_blank, text))
    tokens = words_of(tuple(known))
    rest = text
    for start, end in _talk(text, tokens, language, framed=framed):
        rest = rest[:start] + " " * (end - start) + rest[end:]
    rest = rest if _stands_alone(rest) else text
    return rest, _told(rest, tokens, language, framed=framed)


def _without_colon(found: re.Match[str]) -> str:
    deed = {*words(found[2])[0].concepts} & ACTIONS
    return f"{found[1]} " if deed else found.group()


def _none_left(found: re.Match[str]) -> str:
    for verb, what, end, deed in (("en", 1, 1, "delete all"), ("es", 2, 2, "borra todo"), ("de", 3, 3, "lösch alle")):
        if found[verb] is not None and len(found[verb]) >= len(deed):
            return f"{deed:<{len(found[verb])}}{found[f'what{what}']}{' ' * len(found[f'end{end}'])}"
    return found.group()


def _told(text: str, tokens: frozenset[str], language: Language, *, framed: Sequence[Span]) -> list[Span]:
    """Of a question nothing is told, nor where a polite frame stood: it asked for what follows."""
    return [
        part.span()
        for sentence in SENTENCE.finditer(text)
        if text[sentence.end() : sentence.end() + 1] != "?"
        for part in SEGMENT.finditer(text, *sentence.span())
        if not _within(part.span(), framed) and _tells(part, tokens, language)
    ]


def _within(span: Span, framed: Sequence[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in framed)


def _stands_alone(rest: str) -> bool:
    """Is there a deed left, with its own object?"""
    left = words(rest)
    own = "\0" in rest or any(extension_of(word.folded) or not OBJECTS.isdisjoint(word.concepts) for word in left)
    return any(not DEEDS.isdisjoint(word.concepts) for word in left) and (own or not points_back(left, POINTERS))


def _blank(found: re.Match[str]) -> str:
    return found.group() if "\0" in found.group() else re.sub(r"[^\n]", " ", found.group())


def _unsigned(text: str) -> str:
    """Without who wrote it, after the closing words."""
    found = SIGNED.search(text)
    if not found or not found["who"][0].isupper() or not all(word.unknown for word in words(found["who"])):
        return text
    return text[: found.start("who")] + " " * len(found["who"]) + text[found.end("who") :]


def _talk(text: str, tokens: frozenset[str], language: Language, *, framed: Sequence[Span]) -> Iterator[Span]:
    for sentence in SENTENCE.finditer(text):
        if _nothing_known(sentence.group(), tokens) or _announces(sentence, tokens):
            yield sentence.span()
            continue
        for part in SEGMENT.finditer(text, *sentence.span()):
            if not _within(part.span(), framed) and _story(part, tokens, language):
                yield part.span()


def _announces(sentence: re.Match[str], tokens: frozenset[str]) -> bool:
    """ "Three things:" before a list."""
    read = words(sentence.group())
    if "\0" in sentence.group() or sentence.string[sentence.end() : sentence.end() + 1] != ":" or not read:
        return False
    plain = all(word.filler or {*word.concepts} <= {"file", "age", "greeting", "here"} for word in read)
    counts = any(word.folded in COUNTS or "file" in word.concepts or "age" in word.concepts for word in read)
    return plain and counts and not any(of_files(word, tokens) or word.folded in REST for word in read)


REST = listed("rest resto others demas")


def _nothing_known(said: str, tokens: frozenset[str]) -> bool:
    """A whole sentence in which nothing is known, of files or of deeds."""
    read = words(said)
    if "\0" in said or len(read) < LEAST or not any(word.unknown for word in read):
        return False
    plain = all({*word.concepts} <= TELLS and not of_files(word, tokens) for word in read)
    return plain and not points_back(read, POINTERS)


def _tells(part: re.Match[str], tokens: frozenset[str], language: Language) -> bool:
    read = words(re.sub("\0+", f" {NAMED} ", part.group()))
    goes_on = re.search(r"\s(?:and|und|y)\s*$", part.string[: part.start() + 1], re.IGNORECASE) is not None
    return tells(read, language, lambda word: of_files(word, tokens), goes_on=goes_on)


def _story(part: re.Match[str], tokens: frozenset[str], language: Language) -> bool:
    """Somebody tells something, without a word that could choose a file or forbid a deed."""
    if "\0" in part.group() or not _tells(part, tokens, language):
        return False
    read = words(part.group())
    limits = any(({*word.concepts} & LIMITS and word.folded != "just") or of_files(word, tokens) for word in read)
    chooses = any({*word.concepts} & CHOOSES for word in read)
    relative = read[0].folded in RELATIVES or points_back(read[1:], POINTERS)
    return not limits and not (chooses and relative)


RELATIVES = listed("que that which die der das welche")
"""What follows one of these may say which files are meant: ", que son grandes"."""


def of_files(word: Word, tokens: frozenset[str]) -> bool:
    """Could it choose some: an extension, a kind, or a word of a name that is there?"""
    return (
        word.text == NAMED
        or bool(extension_of(word.folded))
        or bool({*KINDS} & {*word.concepts})
        or not (word.filler or tokens.isdisjoint(singulars(word.folded)))
    )


def thing(word: Word, tokens: frozenset[str]) -> bool:
    """Is it a part of what a story is about: files, or how many?"""
    told = {"file", "folder", "duplicate"} | CHOOSES
    return of_files(word, tokens) or bool(told & {*word.concepts}) or word.folded in COUNTS


COUNTS = listed("two three four five six seven eight nine ten zwei drei vier funf sechs dos tres cuatro cinco seis")
