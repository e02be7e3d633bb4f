"""What a person's reply to our question means.

A reply is a yes, a no, one of the things that were offered (by number, by place or by words), the value that was
missing, a correction, or a wish that stands by itself; the last of them is heard as such, or a session would go round
in circles. Each reply turns the request into one that is read anew, so that the next question is about what is still
open and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.events.committee import Task
from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Mood, Name, Reading
from libs.models.offline.explaining import without_why
from libs.models.offline.gist.acts import Side
from libs.models.offline.ground import Ground
from libs.models.offline.measures import number_of
from libs.models.offline.mentioned import quoted
from libs.models.offline.places import places
from libs.models.offline.pronouns import PRONOUNS
from libs.models.offline.unplaced import of_its_own
from libs.models.ports import Call, Offer, PlannerOutcome, Unclear
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.likeness import alike, sought, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold, language_of, words

YES = regex(
    r"^\W*([yjs](?=\W*$)|ya(?=\W*$)|yes|yep|yeah|yup|aye|sure|ok|okay|do (it|that|so)|go ahead|please do|right|correct"
    r"|exactly|ja|jo|jep|klar|gerne?|genau|mach das|stimmt|richtig|si|vale|claro|hazlo|adelante|eso es|correcto"
    r"|exacto)\b"
)
NO = regex(
    r"^\W*(no|n|nope|nah|never ?mind|cancel|stop|forget (it|that)|nein|nee?|lass es|abbrechen|vergiss es|nada"
    r"|not (?:yet|now)|noch nicht|jetzt nicht|todavia no|aun no|ahora no|dejalo|olvidalo)"
    r"(,? (thanks|thank you|danke|gracias|please|bitte))?\W*$"
)
BOTH = regex(r"^\W*(both|all( of them)?|everything|beides?|alles?|alle|ambos|ambas|todo|las dos)\W*$")
SO_MANY = regex(
    r"^\W*(?:(?:yes|ja|si|ok)\W+)?(?:all|alle|tod[oa]s)\s+(?:(?:the|los|las)\s+)?(?P<n>\w+)"
    r"(?:\s+(?:of them|of those|davon|please|bitte|files|dateien))*\W*$"
)
""" "All six of them"."""
TAKEN_BACK = regex(
    r"^\W*(?:(?:(?:oh|goodness|god|ah|ach|ay)\s+)?(?:no|nope|nah|nein|nee?)\b(?!\s+(?:longer|more|mehr|me|lo|los|las))\s*[,.!;:–-]*\s*)*"
    r"(?:(?:forget|never\s+mind|scrap|drop|leave|vergiss|lass|olvida|deja)\s+(?:that|it|this|the\s+\w+|es|das|eso)\b\s*[,.!;:–-]*\s*)?"
    r"(?:(?:i\s+mean(?:t)?|i\s+said|rather|instead|just|actually|ich\s+meine?|sondern|lieber|quiero\s+decir|digo|mejor)\b\s*[,.:]*\s*)?",
    re.IGNORECASE,
)
""" "No, forget that. …": what comes after it is the wish."""
ORDINALS = (
    r"(?:1|1st|one|first|erste[rsn]?|eins|primer[oa]?|uno|una|a)",
    r"(?:2|2nd|two|second|zweite[rsn]?|zwei|segund[oa]|dos|b)",
    r"(?:3|3rd|three|third|dritte[rsn]?|drei|tercer[oa]?|tres|c)",
)
NUMBERED = tuple(
    regex(
        rf"^\W*(?:(?:the|das|die|der|den|el|la|lo|number|no|nummer|nr|option|opcion)\W+)*{said}"
        r"(?:\W+(?:one|option|bitte|please|por favor))*\W*$"
    )
    for said in ORDINALS
)
LAST = regex(
    r"^\W*(?:the |das |die |der |den |el |la )?(?:last|letzte[rsn]?|ultim[oa])"
    r"(?:\W+(?:one|option|bitte|please|por favor))*\W*$"
)
LINKS = {"target": "to", "new_name": "to", "name": "named", "copy_name": "named", "query": "for"}
LEADING = (
    r"^(to|into|in|named|called|for|as|nach|namens|a|al|llamada?)\s+"
    r"(the\s+|den\s+|la\s+)?(folder\s+|ordner\s+|carpeta\s+)?"
)
ENOUGH = 0.5
"""Of the words of a reply, so many must be those of what was offered."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands before the person, as calls. Was it the gist that was `heard`? Then its words are not understood."""

    calls: tuple[Call, ...] = ()
    heard: bool = False
    plainly: Side = Side.INSTEAD
    """What shall be done with the files that a reply names: what nobody knew the files of."""


THEN_SAID = "\n» "
"""Between a request and the replies that have changed what it came to."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for, as far as the replies have told: the words, the skill that was picked, whether the person
    said yes to what we understood, to what was proposed for the rest, or to all that was offered, and whether it
    answers a question of ours. A yes to a proposal holds for these words and no others.
    """

    text: str
    skill: str | None = None
    agreed: bool = False
    proposed: bool = False
    all_of_it: bool = False
    answered: bool = False
    heard: str = ""
    """A question of ours that names what nobody has understood, and that they have agreed to leave aside."""
    left: str = ""
    """Words of an earlier wish that spare something, and that nobody has understood."""
    calls: tuple[Call, ...] = ()
    """What these words come to, as they were shown and agreed to."""
    said: tuple[str, ...] = ()
    """The replies that have changed what was offered."""
    refused: tuple[str, ...] = ()
    """What was offered and not taken: nobody is asked that twice."""
    standing: Standing = Standing()
    """What was offered last."""

    @property
    def replies(self) -> bool:
        """Is it what a reply of theirs has come to?"""
        return self.agreed or self.answered

    @property
    def told(self) -> str:
        """All of it, as a later turn may lean on it."""
        return THEN_SAID.join((self.text, *self.said))

    def leaves_aside(self, about: str) -> bool:
        return any(f"{begins}{about}{ends}" in self.heard for begins, ends in ("“”", "„“", "«»"))

    def takes(self, offer: Offer) -> Wish:
        """What was offered: the very calls, another request, or what we made of this one."""
        if offer.calls:
            return replace(self, calls=offer.calls, agreed=True, answered=True)
        if offer.request:
            return self.with_words(offer.request)
        return replace(self, skill=offer.skill or self.skill, agreed=True, proposed=True, answered=True)

    def with_words(self, text: str) -> Wish:
        return replace(self, text=text, proposed=False, calls=())

    def of(self, task: Task) -> Task:
        """The task with these words as its request."""
        return task.model_copy(update={"text": self.text, "clarification": None, "skill": self.skill, "replies": ()})


def refused(reply: str) -> bool:
    return NO.match(fold(reply)) is not None


WRONG = regex(
    r"\W*(?:(?:no|nope|nein|nee|sorry|aber|but|pero)\W+)*"
    r"(?:(?:that|this|it|das|es|eso|esto)(?:['’]?s)?\W+)?(?:(?:is|are|ist|war|esta|es)\W+)?"
    r"(?:(?:all|completely|ganz|total|todo)\W+)?(?:wrong|not (?:right|it|what i (?:want|meant?|said))|isn'?t right"
    r"|like that|falsch|verkehrt|stimmt (?:so )?nicht|so nicht|nicht (?:so|richtig)|passt nicht"
    r"|mal|no es(?: eso| asi)?|asi no|no esta bien|equivocad[oa])\W*"
)
""" "That's wrong", and no word of what."""
LIST = regex(r"\s*(?:,|&|\+|\b(?:and|und|y)\b)\s*", re.IGNORECASE)
AND: Mapping[Language, str] = {"en": " and ", "de": " und ", "es": " y "}


def several(reply: str, before: Unclear, language: Language) -> str | None:
    """ "1 and 3", "all of them": the request with several of what was offered in its place."""
    offers = before.offers if before.missing in (("paths",), ("path",)) else ()
    parts = [part for part in LIST.split(BOTH_OF.sub("", reply)) if part.strip()]
    if len(offers) > 1 and of_all(reply, len(offers)):
        some: list[Offer | None] = [*offers]
    else:
        some = [taken(part, before) for part in parts] if len(offers) > 1 and len(parts) > 1 else []
    told = [one for one in dict.fromkeys(some) if one is not None and one.label in one.request]
    if len(told) < 2 or None in some:
        return None
    heads, tails = zip(*((one.request.split(one.label, 1)) for one in told), strict=True)
    if len({*heads}) > 1 or len({*tails}) > 1:
        return None
    joint = '" "' if heads[0].endswith('"') else AND[language]
    return f"{heads[0]}{joint.join(one.label for one in told)}{tails[0]}"


BOTH_OF = regex(r"^\W*(?:(?:yes|ja|s[ií]|ok)\W+)?(?:both|beide[sn]?|amb[oa]s|sowohl|tanto)\s+(?=\S+\s)", re.IGNORECASE)


def of_all(reply: str, count: int) -> bool:
    """All that the question has named, with no other number than theirs."""
    found, both = SO_MANY.match(fold(reply)), BOTH.match(fold(reply))
    two = both is not None and both[1] in ("both", "beide", "beides", "ambos", "ambas", "las dos")
    return (both is not None and (count == 2 or not two)) or (found is not None and number_of(found["n"]) == count)


def both_ways(reply: str, before: PlannerOutcome) -> bool:
    """ "Both", to "by year or by month?": it is one of them."""
    return isinstance(before, Unclear) and before.missing == ("by",) and of_all(reply, len(before.offers))


def taken(reply: str, before: Unclear) -> Offer | None:
    """What the reply takes of all that was offered."""
    offers, said = offered(before), fold(reply)
    if agrees(reply):
        return before.offers[0] if len(before.offers) == 1 else None  # of several none is a yes
    if MAKES_IT.match(said) is not None:
        return next((one for one in offers if FOLDER.search(one.label)), None)
    of_files = len(offers) == 1 and len(before.named) > 1  # the first of them is none of one deed
    for at, numbered in enumerate(NUMBERED):
        if numbered.match(said) and not of_files:
            return offers[at] if at < len(offers) else None
    if offers and LAST.match(said) and not of_files:
        return offers[-1]
    by_skill = next((one for one in offers if one.skill and said.strip() == fold(one.skill)), None)
    return by_skill or _by_words(reply, before.offers)


def unanswered(reply: str, before: Unclear) -> bool:
    """A bare yes to a question that no yes can answer: "Into which folder?", "(1) … or (2) …?"."""
    asks_more = bool(before.missing) and not before.partly and len(before.offers) != 1
    return agrees(reply) and (asks_more or len(offered(before)) > 1)


MAKES_IT = regex(
    r"^\W*(?:(?:yes|ja|si|ok|okay|well|so|then|dann|also|pues|entonces|please|bitte|por favor)\W+)*"
    r"(?:make|create|add|set up|mach\w*|leg\w*|erstell\w*|crea|haz|hazla|creala)\b"
    r"(?:\s+(?:me|mir|the|that|this|a|it|one|new|den|diesen|dieses|einen|ihn|neuen|la|una|esa|nueva"
    r"|folder|directory|ordner|verzeichnis|carpeta|then|now|dann|doch|halt|eben|mal|an|neu"
    r"|please|bitte|first|zuerst|entonces|pues|primero|por favor))+\W*$"
)
""" "Make the folder then!": the one that was asked about."""
FOLDER = regex(r"folder|Ordner|carpeta", re.IGNORECASE)


def place_to_make(reply: str, before: Unclear) -> str | None:
    """The folder that is not there, and is to be made."""
    missing = before.missing == ("path",) and not before.offers
    return before.about if missing and before.about and MAKES_IT.match(fold(reply)) else None


def refuses(reply: str, before: PlannerOutcome, offers: Sequence[Offer]) -> bool:
    """Has the reply refused all that would be offered now?"""
    told = {one.label for one in before.offers} if isinstance(before, Unclear) and DENIES.match(reply) else set()
    return bool(offers) and {one.label for one in offers} <= told


COUNTED = regex(
    r"^\W*(?:(?:yes|yeah|aye|ok|okay|ja|s[ií]|vale|please|bitte)\W+)*(?:the\s+|die\s+|la\s+|el\s+)?"
    r"(?:number|no\.|option|choice|nummer|nr\.?|n[uú]mero|opci[oó]n)\s*(?P<n>\d|one|two|three|eins|zwei|drei|uno|dos|tres)"
    r"(?:\W+(?P<rest>\w.*))?$",
    re.IGNORECASE | re.DOTALL,
)


def counted_in(reply: str, before: Unclear) -> tuple[Offer, str] | None:
    """ "Yes, number 1, zip the letters please": what is taken by its number, and what is said of it."""
    found, offers = COUNTED.match(reply), offered(before)
    at = next((n for n, one in enumerate(NUMBERED) if found and one.match(fold(found["n"]))), len(offers))
    return (offers[at], found["rest"] or "") if found and at < len(offers) else None


def proposed(before: PlannerOutcome) -> tuple[str, ...]:
    """What was offered to do at once, in its words."""
    at_once = isinstance(before, Unclear) and not before.missing
    return tuple(one.label for one in before.offers) if isinstance(before, Unclear) and at_once else ()


def offered(before: Unclear) -> tuple[Offer, ...]:
    return before.offers or tuple(Offer(one.description, "", one.skill) for one in before.candidates)


def agrees(reply: str) -> bool:
    """A yes, and no more than a bare deed beside it: "yes, move them"."""
    reply = EXPLAINED.sub("", reply)
    found = YES.match(fold(reply))
    if found is None or any("." in word.strip(".,;:!?…") for word in reply.split()):  # a file is no part of a yes
        return False
    rest = words(reply[found.end() :]) if len(fold(reply)) == len(reply) else words(fold(reply)[found.end() :])
    return all(word.filler or {*word.concepts} & BARE or word.folded in PRONOUNS for word in rest)


def repeats(reply: str, alone: Reading, whole: Reading) -> bool:
    """A yes, and the same wish once more: "yes, those are the ones, please take out the two copies"."""
    known = BARE | {"duplicate", "file"}
    asked = {concept for clause in whole.clauses for concept in clause.concepts}
    return bool(YES.match(fold(reply)) and alone.clauses) and all(
        clause.mood is Mood.DO
        and clause.concepts <= known
        and (clause.concepts - {"here", "file"}) <= asked
        and not (clause.names or clause.filters or any(word.unknown for word in clause.words))
        for clause in alone.clauses
    )


EXPLAINED = regex(
    r"\s*[.;,!–-]+\s*(?:(?:that|this|it|the\s+rest)\s+(?:was|is)\s+(?:only|just|merely)\s+(?:to\s+explain|to\s+tell\s+you"
    r"|an?\s+explanation|a\s+story|background)|(?:das|der\s+rest)\s+(?:war|ist)\s+(?:nur|bloß)\s+(?:\w+\s+)?(?:erklärung|info|geschichte)"
    r"|(?:eso|esto|lo\s+dem[aá]s)\s+(?:era|es)\s+s[oó]lo\s+(?:para\s+explicar\w*|una\s+explicaci[oó]n))\W*$",
    re.IGNORECASE,
)
""" "Yes, please do. That was only to explain": the end of a yes."""
BARE = ACTIONS | {"here", "all", "greeting", "then", "only"}


def _by_words(reply: str, offers: Sequence[Offer]) -> Offer | None:
    """The one offer whose file the reply names, or that has its words and no other has as many of them."""
    named = [word.strip("\"'“”„«»`,;:!?()").casefold() for word in reply.split() if "." in word.strip(".")]
    if len(told := [one for one in offers if any(name in _told(one).casefold() for name in named)]) == 1:
        return told[0]
    asked = sought(reply)
    shares = [len([term for term in asked if alike(term, dict.fromkeys(terms(_told(one))))]) for one in offers]
    best = max(shares, default=0)
    enough = 1 if any(one.skill for one in offers) or LIST.search(reply) else ENOUGH
    if not asked or best < len(asked) * enough or shares.count(best) > 1 or _acts(reply) or BUT.search(reply):
        return None
    return offers[shares.index(best)]


def _told(offer: Offer) -> str:
    """Who names one of several files that a deed is about does not ask for it to be done to all of them."""
    return offer.label if len(NAMED.findall(offer.label)) == 1 else NAMED.sub("", offer.label)


NAMED = regex(r"[“„«][^”“»]*[”“»]")
BUT = regex(
    r"^\W*(?:no|nope|nah|nein|nee?|not|nicht)\b|\b(?:but|though|aber|pero|only|just|nur|s[oó]lo|solamente)\b",
    re.IGNORECASE,
)
""" "Yes, but inside X": what is offered is not all that is wanted, or not what is wanted."""
MORE = regex(
    r"^\W*(?:yes|yep|yeah|yup|aye|sure|ok|okay|ja|jo|jep|klar|gerne?|s[ií]|vale|claro)\b[\s,.;:!–-]*"
    r"(?:(?:please|bitte|por\s+favor)\b[\s,.;:!–-]*)?"
    r"(?:(?:but|though|aber|pero)\b|(?P<and>(?:and|n|und|y)\b))\s*,?\s*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
""" "Yes, and then delete the folder", "yes, but leave out the png"."""
DENIES = regex(r"^\W*(?:(?:oh|goodness|god|ah|ach|ay)\W+)?(?:no|nope|nah|nein|nee|naw)\b\W*(?=\w)", re.IGNORECASE)


CONTRARY = regex(
    r"(?<!\w)(?:umgekehrt|andersrum|anders\s+herum|the\s+other\s+way|opposite|al\s+rev[eé]s|not|nicht|no|nein|kein\w*|stays?|keep|bleib\w*|qued\w+)(?!\w)",
    re.IGNORECASE,
)


def contradicts(reply: str) -> bool:
    """ "No, the other way round", "no, not in capitals": what is denied twice is not what was offered."""
    denied = DENIES.match(reply)
    return denied is not None and CONTRARY.search(reply, denied.end()) is not None


def _acts(reply: str) -> bool:
    return any(not ACTIONS.isdisjoint(word.concepts) for word in words(reply))


def completed(wish: Wish, before: PlannerOutcome, reply: str) -> Wish | None:
    """With a bare value put where it belongs: asked "into which folder?", `Docs` means "to Docs"."""
    answer = reply.strip(" .!?\"'“”„«»`")
    param = before.missing[0] if isinstance(before, Unclear) and len(before.missing) == 1 else ""
    link = LINKS.get(param)
    bare = re.sub(LEADING, "", answer, flags=re.IGNORECASE)
    bare = "." if param == "target" and HERE.match(answer) else bare
    if link is None or len(bare.split()) > 6 or _acts(bare) or not bare:
        return None
    return wish.with_words(f'{wish.text.rstrip(" .!?")} {link} "{bare}"')


ONE_OF_MANY = regex(
    r"^\W*(?:(?:just|simply|only|please|like|as|einfach|nur|bitte|wie|als|simplemente|solo|s[oó]lo|como|por\s+favor)\s+)*"
    r"(?P<base>[^\W\d_][^,;!?\n\d]{0,40}?)(?:[ _-]?0*1(?!\d).*)?$",
    re.IGNORECASE,
)
AS: Mapping[Language, str] = {"en": "as", "de": "als", "es": "como"}
MOST_WORDS = 3


def of_many(wish: Wish, before: PlannerOutcome, reply: str) -> Wish | None:
    """Asked how the names should change: "Beach", or "Beach 1, Beach 2", is the name that each gets with its number."""
    asked = isinstance(before, Unclear) and before.missing == ("rule",)
    name = _of_many(reply.strip(" .!?\"'“”„«»`")) if asked else None
    text = wish.text.rstrip(" .!?")
    return wish.with_words(f'{text} {AS[language_of(text)]} "{name}"') if name is not None else None


def _of_many(answer: str) -> str | None:
    """Words that mean a rule are no name."""
    found = ONE_OF_MANY.match(answer)
    base = found["base"].strip() if found else ""
    told = words(base)
    series = found is not None and found.end("base") < len(answer)
    plain = all(word.unknown for word in told) or (series and not any(ACTIONS & {*word.concepts} for word in told))
    return f"{base} 1" if base and plain and len(told) <= MOST_WORDS else None


RENAMED = regex(
    r"^\W*(?:(?:please|bitte|por\s+favor|ok(?:ay)?|well|just|einfach|simplemente)\W+)*"
    r"(?:(?:re)?name\s+(?:them|those|these)|call\s+(?:them|those|these)|(?:i(?:['’]d)?\s+(?:want|like)\s+)?(?:them|they)\s+(?:should|to|shall)\s+(?:all\s+)?"
    r"be(?:\s+(?:called|named))?|(?:be)?nenne?(?:n\s+sie)?\s+(?:sie|die)|(?:quiero\s+)?que\s+se\s+llamen|ll[aá]mal[oa]s"
    r"|p[oó]n(?:ga)?les(?:\s+(?:de\s+|el\s+)?nombre)?)(?:\s+(?:all|alle|tod[oa]s|to|as|um\s+in|in))*\s+(?P<new>\S.*)$"
    r"|^\W*(?:sie|die)\s+sollen\s+(?:alle\s+)?(?P<new2>\S.*?)\s+hei(?:ß|ss)en\W*$",
    re.IGNORECASE | re.DOTALL,
)
""" "Call them Beach 1, Beach 2, …": which ones is known, and how is the rest."""
BARE_OF = regex(
    r"^\W*(?:(?:no|without|with\s+no|ohne|keine|sin)\s+(?:any\s+|the\s+|die\s+|los\s+|las\s+)?)(?P<what>\S.*?)(?:\s+(?:please|bitte|por\s+favor))?\W*$",
    re.IGNORECASE,
)
OUT: Mapping[Language, str] = {"en": "remove the {what}", "de": "entferne die {what}", "es": "quita los {what}"}


def how(before: PlannerOutcome, reply: str, language: Language) -> str:
    """What is said to "how should the names change?", as it would stand in the request."""
    if not (isinstance(before, Unclear) and before.missing == ("rule",)):
        return reply
    if found := RENAMED.match(reply):
        return found["new"] or found["new2"]
    return OUT[language].format(what=found["what"]) if (found := BARE_OF.match(reply)) else reply


def where(before: PlannerOutcome, reply: str, ground: Ground, *, whole: Reading, alone: Reading) -> str:
    """A rule that is told to "how should the names change?" holds in the folder that the request spoke of."""
    asked = isinstance(before, Unclear) and before.missing == ("rule",)
    if not asked or any(places(clause, ground) or _of_files(clause) for clause in alone.clauses):
        return reply
    told = {place.said for clause in whole.wishes(Mood.DO) for place in places(clause, ground)}
    if len(told) != 1 or not _acts(reply):
        return reply
    return f'{reply.rstrip(" .!?")} {_of_kinds(whole, alone)} "{told.pop()}"'


def _of_kinds(whole: Reading, alone: Reading) -> str:
    """Of what is there, the kind that was spoken of."""
    of, link = NAMES_OF[whole.language]
    kinds = {word.text for clause in whole.wishes(Mood.DO) for word in clause.words if {*KINDS} & {*word.concepts}}
    spoken = any(clause.says(*KINDS) for clause in alone.clauses)
    return f"{of} {kinds.pop()} {link}" if len(kinds) == 1 and not spoken else link


NAMES_OF: Mapping[Language, tuple[str, str]] = {
    "en": ("in the names of the", "in"),
    "de": ("in den Namen von", "in"),
    "es": ("en los nombres de", "en"),
}


def _of_files(clause: Clause) -> bool:
    """Does it name files, or those that are here?"""
    here = any("here" in word.concepts and word.folded in HERES for word in clause.words)
    return here or any(name.kind is not Name.QUOTE for name in clause.names)


HERES = listed("here hier aqui this diesem este esta")

HERE = regex(
    r"^(?:(?:egal|einfach|whatever|just|simply|right|igual|da)\W+)*(?:hier|here|aqu[ií])"
    r"(?:\s+(?:rein|hinein|mismo|is\s+fine|will\s+do|please|bitte|por\s+favor))*$",
    re.IGNORECASE,
)


def in_place(wish: Wish, before: PlannerOutcome, reply: str, *, whole: Reading, alone: Reading) -> Wish | None:
    """The request with the reply in the place of the words that were asked about, which are gone then; of a whole
    exception, where the reply makes one of its own.
    """
    about = before.about if isinstance(before, Unclear) and not before.partly else ""
    said = MEANT.sub("", anew(reply)).strip(" .!?")
    if not about or not said or _acts(about) or _acts(said) or agrees(reply) or BOTH.match(fold(said)):
        return None
    begins = [item.start for clause in whole.clauses for item in clause.items]
    places = [found.start() for found in re.finditer(re.escape(about), wish.text)]
    if len(places) > 1:  # in a name it is not what was asked about
        places = [place for place in places if place in begins]
    if len(places) != 1:
        return None
    start, end = places[0], places[0] + len(about)
    if _a_noun(words(wish.text[end:])[:1]) and _a_noun([word for clause in alone.clauses for word in clause.words]):
        return None  # "the odd photos": other files are no kind of photos
    if spares(alone):
        spans = [(one.items[0].start, one.items[-1].end) for one in whole.clauses if one.mood in SPARING]
        start, end = next((span for span in spans if span[0] <= start and end <= span[1]), (start, end))
    head = ARTICLE.sub("", wish.text[:start]) if ARTICLE.match(f"{said.split()[0]} ") else wish.text[:start]
    return replace(wish.with_words(f"{head}{said}{wish.text[end:]}"), answered=True)


def _a_noun(said: Sequence[Word]) -> bool:
    return any({"file", *KINDS} & {*word.concepts} for word in said)


ARTICLE = regex(r"\b(?:the|die|der|den|das|dem|la|el|los|las)\s+$", re.IGNORECASE)


def each_of(wish: Wish, before: PlannerOutcome, reply: str) -> Wish | None:
    """ "Both", where several are called what was said."""
    about = before.about if isinstance(before, Unclear) and before.offers else ""
    if not about or not isinstance(before, Unclear) or len(before.named) < 2 or not of_all(reply, len(before.named)):
        return None
    return wish.with_words(wish.text.replace(about, quoted(before.named))) if wish.text.count(about) == 1 else None


MEANT = regex(r"\W*(?:i\s+mean(?:t)?|mein(?:te|e)?\s+ich|quiero\s+decir)\W*$", re.IGNORECASE)
""" "The file a.txt, I mean"."""


def instead(fresh: Wish, alone: Reading, whole: Reading) -> Iterator[Wish]:
    """A wish of its own in place of another one. What that would leave alone is left alone by it, too; only where
    nobody understands that, it is done without, and said.
    """
    sparing = [clause for clause in whole.clauses if clause.mood in SPARING and _bears_on(clause, alone)]
    left = [] if spares(alone) else [_written(whole, clause) for clause in sparing]
    if not left:
        yield fresh
        return
    request = fresh.text.rstrip(" .!?")
    yield replace(fresh, text=f"{request}, {', '.join(left)}")
    yield replace(fresh, left=" … ".join(left))


def _bears_on(clause: Clause, wish: Reading) -> bool:
    """Could it limit that wish? Not a deed that is not wished for, nor what somebody does not need or like, nor a no to
    what was asked ("no, that was an example").
    """
    deeds = clause.concepts & DEEDS
    if clause.says("except", "keep", "untouched"):
        return True
    if not (clause.names or clause.filters) and all(map(_only_denies, clause.words)):
        return False
    if (deeds and not any(deeds & one.concepts for one in wish.clauses)) or _says(clause, LIKINGS):
        return False
    plain = _says(clause, NEEDS) or all(word.folded in NOS for word in clause.words if "not" in word.concepts)
    return not plain or bool(clause.names or clause.filters or clause.says(*KINDS))


def _only_denies(word: Word) -> bool:
    """ "Not those", to what was shown."""
    return word.filler or "not" in word.concepts or word.folded in PRONOUNS


NOS = listed("no nein nope nee")


def _says(clause: Clause, forms: frozenset[str]) -> bool:
    return any(word.folded in forms for word in clause.words)


LIKINGS = listed("like likes love mag mogen gusta gustan")
NEEDS = listed("need want see care brauche brauchen will sehen necesito quiero ver")


def _written(reading: Reading, clause: Clause) -> str:
    return reading.text[clause.items[0].start : clause.items[-1].end]


def combined(wish: Wish, reply: str) -> Wish:
    """The request with the reply as its last words; a yes and "both" are no words of it."""
    if agrees(reply):
        return replace(wish, agreed=True, answered=True)
    if BOTH.match(fold(reply)):
        return replace(wish, all_of_it=True, answered=True)
    return replace(wish.with_words(f"{wish.text.rstrip(' .!?')}, {reply}"), answered=True)


def anew(reply: str) -> str:
    """The reply without a yes or a no that only leads up to the wish in it."""
    reply = without_why(reply)
    rest = reply[found.end() :] if (found := TAKEN_BACK.match(reply)) else reply
    if led := re.match(
        r"^\W*(?:yes|yeah|aye|ja|s[ií]|ok|okay|vale)\b\s*[,.!;:–-]*\s*(?=\w+\s+\w)", rest, re.IGNORECASE
    ):
        rest = rest[led.end() :]
    return rest if re.search(r"\w", rest) else reply


SENTENCE = regex(r"^(?P<first>[^.!?]*[.!?])\s+(?P<rest>\S.*)$", re.DOTALL)


def only_explains(first: Reading) -> bool:
    """ "That's the new name.", before the wish itself: no deed, and nothing that could choose or limit."""
    limits = ("file", "folder", "all", "only", "not", "except", "keep", "untouched", "recursive", *KINDS)
    return all(
        clause.mood in (Mood.DO, Mood.TOLD)
        and clause.concepts & DEEDS <= {"create"}  # "new" is no deed by itself
        and not (clause.names or clause.filters or clause.says(*limits))
        for clause in first.clauses
    )


def stands(alone: Reading, whole: Reading) -> bool:
    """Does it ask for a deed and say what it is about? Where a change was asked for, a look is a new wish only where it
    begins as one.
    """
    deeds = [clause for clause in alone.wishes(Mood.DO) if not clause.concepts.isdisjoint(DEEDS)]
    if not any(map(_of_something, deeds)):
        return False
    changes = any(not clause.concepts.isdisjoint(STRONG) for clause in deeds)
    return changes or not wants_change(whole) or begins(deeds[0]) or alone.text.rstrip().endswith("?")


def says_it_all(alone: Reading) -> bool:
    """Is it a wish of a few words at least, with a deed in it?"""
    deed = any(not clause.concepts.isdisjoint(DEEDS) for clause in alone.clauses)
    return deed and len(alone.text.split()) >= FEWEST


FEWEST = 4


DEEDS = ACTIONS - {"greeting", "capability", "whatis", "foreign"}
STRONG = DEEDS - listed("list find report parse explain inside howmany summary number create")


def wants_change(reading: Reading) -> bool:
    return any(not clause.concepts.isdisjoint(STRONG | {"create"}) for clause in reading.clauses)


def begins(clause: Clause) -> bool:
    """Is its deed its first word?"""
    first = next((word for word in clause.words if not word.filler), None)
    return first is not None and not DEEDS.isdisjoint(first.concepts) and "inside" not in first.concepts


def narrowed(wish: Wish, before: PlannerOutcome, alone: Reading, *, denied: bool) -> Wish | None:
    """What was proposed, but only for these, or not for those. Who has `denied` it is asked about what is left."""
    offers = before.offers if isinstance(before, Unclear) and not before.missing else ()
    limits = all(clause.mood in SPARING and not clause.concepts & STRONG for clause in alone.clauses)
    if not offers or offers[0].calls or not alone.clauses or not limits:
        return None
    taken = wish if denied else wish.takes(offers[0])
    return replace(taken, text=f"{taken.text.rstrip(' .!?')}, {alone.text}", agreed=not denied, answered=True)


def chooses(reading: Reading) -> bool:
    """Names, a kind or a bound, and nothing to do: what fills the place of files that were not understood."""
    clauses = reading.clauses
    told = any(clause.names or clause.filters or clause.says(*KINDS, "empty", "duplicate") for clause in clauses)
    return told and not any(clause.concepts & STRONG for clause in clauses)


def _of_something(clause: Clause) -> bool:
    told = any(word.unknown and not YES.match(word.folded) for word in clause.words)
    return told or of_its_own(clause) or clause.says("all", "report", "empty")


def spares(reading: Reading) -> bool:
    """Does it leave something alone? A wish that replaces this one must not lose that."""
    return any(clause.mood in SPARING for clause in reading.clauses)


SPARING = (Mood.SPARE, Mood.NEVER, Mood.ONLY)
