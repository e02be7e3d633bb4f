"""How many files shall be renamed at once: the rule in the words, apart from the words that choose the files.

"replace spaces with underscores in the PDF names": the rule is a space and an underscore, the choice is the PDFs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Name, Named
from libs.models.offline.measures import number_of
from libs.models.offline.places import INTO
from libs.models.offline.pronouns import PRONOUNS
from libs.models.offline.quantities import criteria
from libs.models.offline.titles import EDGES, PLUS, SERIES, digits_of
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, words

WITH = frozenset(("with", "by", "durch", "gegen", "mit", "por", "con", *INTO))
LETTERS = {"blank": " ", "underscore": "_", "hyphen": "-"}
CASES = {"lower": "lower", "upper": "upper", "titlecase": "title", "snake": "snake"}
TAIL = regex(r"(?P<apart>[\s_\-.]*)(?P<number>\d+)$")
ENDING = regex(r"\*\.[A-Za-z]+")
AND_SO_ON = regex(r"\s+(?:etc\.?|usw\.?|and\s+so\s+on|und\s+so\s+weiter|…|\.\.\.)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Style:
    """The rule by the roles of its parameters, and the items that said it."""

    args: dict[str, str | int | bool] = field(default_factory=dict)
    used: tuple[Item, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.args)


Literal = tuple[str, tuple[Item, ...]]
"""Text that is meant as such, and the items that say it."""


def style(clause: Clause, text: str) -> Style:
    """The first rule that the words spell out whole; nothing where they leave it open."""
    for read in (
        _patterned,
        _exampled,
        _cased,
        _written,
        _dated,
        _extended,
        _swapped,
        _taken_out,
        _prefixed,
        _suffixed,
        _based,
    ):
        found = read(clause, text)
        if found is not None:
            return found
    return Style()


def choice(clause: Clause, text: str) -> Clause:
    """The clause without the rule: what is left chooses the files."""
    used = style(clause, text).used
    kept = (item for item in clause.items if item not in used and not _verb(item))
    return replace(clause, items=tuple(kept))


def _verb(item: Item) -> bool:
    """ "Put" and "add" of a prefix move nothing."""
    return isinstance(item, Word) and bool({"move", "create", "prefix", "suffix"} & {*item.concepts})


def _patterned(clause: Clause, text: str) -> Style | None:
    """ "IMG_*.jpg to Teich_*.jpg": the star stands for what it matched."""
    globs = [item for item in clause.names if item.kind is Name.GLOB and item.text.count("*") == 1]
    if len(globs) != 2 or not clause.says("rename", "swap", "name"):
        return None
    (old, ending), (new, other) = (item.text.split("*") for item in globs)
    if ending != other:
        plain = old == new and re.fullmatch(r"\.\w+", ending) and re.fullmatch(r"\.\w+", other)
        return Style({"extension": other[1:]}, (globs[1],)) if plain else Style()
    rule: dict[str, str | int | bool] = {"find_text": old, "replace_text": new} if old else {"prefix": new}
    return Style(rule if old != new else {}, (globs[1],))


def _exampled(clause: Clause, text: str) -> Style | None:
    """ "nenn sie fest_01, fest_02 usw., nach Datum": by the names themselves, in which order said beside them."""
    if not clause.says("rename", "number", "name"):
        return None
    plus = next(((item, found) for item in clause.names if (found := PLUS.fullmatch(text, item.start, item.end))), None)
    if plus is not None:
        digits = digits_of(plus[1])
        return Style({"base": plus[1]["base"].strip(QUOTES)} | ({"digits": digits} if digits else {}), (plus[0],))
    series = (item for item in clause.names if SERIES.fullmatch(text, item.start, item.end))
    example = next((item for item in series if item.kind is not Name.GLOB), None)
    if example is None:
        return None
    on = (item for item in clause.words if "number" in item.concepts and item.start >= example.end)
    return _numbered(_first_of(text[example.start : example.end]), (example, *on, *criteria(clause)))


def _first_of(names: str) -> str:
    """ "fest_01" of "fest_01.jpg, fest_02.jpg" and of "fest_01 bis 04"."""
    first = re.split(r",|\s*(?:\.{2,4}|…)|\s+(?:and|und|y|bis|to|through|hasta|a)\s", names, maxsplit=1)[0]
    first = re.sub(r"^((?P<base>\D+?)[\s_-]*0*1(?:\.\w+)?)\s+(?P=base).*", r"\1", first)
    return re.sub(r"(?<=\d)\.\w+$", "", AND_SO_ON.sub("", first).strip(" \"'“”„«»`"))


def _cased(clause: Clause, text: str) -> Style | None:
    case = next((case for concept, case in CASES.items() if clause.says(concept)), None)
    ending = next((name.text for name in clause.names if ENDING.fullmatch(name.text)), "")
    if ending and case in ("lower", "upper") and not clause.says("name", "file"):
        return Style({"extension": getattr(ending[2:], case)()})  # "make the .PNG lowercase"
    if case and clause.says("type") and not clause.says("name"):
        return Style()  # of the endings alone there is no such rule
    return Style({"case": case}) if case else None


def _written(clause: Clause, text: str) -> Style | None:
    """The date that stands in the names: taken out, or put elsewhere. To put a day there is to date them."""
    said = tuple(item for item in clause.words if "date" in item.concepts)
    if any(word.folded in YEARS for word in said) and any(word.folded not in YEARS for word in said):
        return Style()  # "the date in front, the year first": no rule of the strict reading turns dates
    if not said or clause.filters or any(name.kind is Name.QUOTE for name in clause.names):
        return None
    if clause.says("remove"):
        return Style({"written": "out"}, said)
    if clause.says("suffix"):
        return Style({"written": "last"}, said)
    shifts = any(word.folded.startswith(SHIFTS) for word in clause.words) or any(word.folded in YEARS for word in said)
    return Style({"written": "first"}, said) if shifts and clause.says("prefix") else None


SHIFTS = ("move", "moving", "shift", "verschieb", "ruck", "muev", "mover", "pasa")
YEARS = listed("year years jahr jahre jahreszahl jahreszahlen ano anos")


def with_years(clause: Clause) -> Clause:
    """ "Put the year first": the one in the names."""
    years = [word for word in clause.words if word.folded in YEARS and not isinstance(word, Measure)]
    puts = clause.says("move", "create") and clause.says(*AT_AN_END)
    if not years or clause.says("organize", "folder", "pack", "find", "list") or not (puts or _out_of_names(clause)):
        return clause
    return replace(clause, items=tuple(_in_the_name(item) if isinstance(item, Word) else item for item in clause.items))


AT_AN_END = ("prefix", "suffix", "first")


def _out_of_names(clause: Clause) -> bool:
    return clause.says("remove") and clause.says("name", "prefix", "suffix")


def _in_the_name(word: Word) -> Word:
    if word.folded in YEARS:
        return replace(word, concepts=("date",))
    return replace(word, concepts=("prefix",)) if "first" in word.concepts else word


def _dated(clause: Clause, text: str) -> Style | None:
    put = clause.says("prefix", "move", "create", "rename")
    return Style({"dated": True}) if clause.says("date") and put and not clause.filters else None


def _extended(clause: Clause, text: str) -> Style | None:
    if not clause.says("type") or clause.says("organize"):
        return None
    _, right = _cut(clause, WITH)
    for item in right:
        said = item.text.lstrip("*.") if isinstance(item, Named) else extension_of(item.folded)
        if said:
            return Style({"extension": said}, (item,))
    return None


def _swapped(clause: Clause, text: str) -> Style | None:
    at = next((n for n, item in enumerate(clause.items) if isinstance(item, Word) and item.folded in INSTEAD), None)
    if at is not None:
        return _instead(clause.items[:at], clause.items[at + 1 :], text)
    letters = [item for item in clause.items if isinstance(item, Word) and {*LETTERS} & {*item.concepts}]
    if len(letters) == 2:
        old, new = (LETTERS[next(c for c in item.concepts if c in LETTERS)] for item in letters)
        return Style({"find_text": old, "replace_text": new}, tuple(letters))
    if clause.exchanged:
        return _one_for(*(_as_quoted(one, text) for one in clause.exchanged))
    if not clause.says("swap", "change"):
        return None
    left, right = _cut(clause, WITH if any(word.folded in WITH for word in clause.words) else FOR)
    verb = next((n for n, item in enumerate(left) if isinstance(item, Word) and CHANGES & {*item.concepts}), -1)
    before = _literal(left[verb + 1 :], text) or _literal(left, text)  # "in the invoices change inv to Invoice"
    after = _next_to(right, text) or _literal(right, text)
    return _one_for(before, after)


CHANGES = {"swap", "change"}


def each_text(clause: Clause) -> tuple[Clause, ...]:
    """ "Replace RE and Rg with Rechnung": a rule for each of them."""
    old = clause.exchanged[0] if clause.exchanged else None
    at = clause.items.index(old) if old else 0
    also = clause.items[at - 1] if at else None
    if old is None or not (isinstance(also, Named) and also.kind is Name.QUOTE and old.start in clause.links):
        return (clause,)
    return clause.without((old,)), replace(clause.without((also,)), joined="and")


def _one_for(old: Literal | None, new: Literal | None) -> Style | None:
    if old is None or new is None or fold(old[0]) in PRONOUNS:
        return None
    return Style({"find_text": old[0], "replace_text": new[0]}, (*old[1], *new[1]))


def _instead(before: Sequence[Item], after: Sequence[Item], text: str) -> Style | None:
    """ "Put Fra instead of factura", "statt IMG soll Teich vorne stehen": the old text follows."""
    old = _next_to(after, text)
    last = next((item for item in reversed(before) if not (isinstance(item, Word) and item.filler)), None)
    if isinstance(last, Word) and {*LETTERS} & {*last.concepts}:
        return _one_for(old, _literal([last], text))
    rest = [item for item in (*before, *after) if old is None or item not in old[1]]
    nouns = [item for item in rest if not (isinstance(item, Word) and item.unknown and item.text.islower())]
    return _one_for(old, _literal(nouns, text) or _literal(rest, text))


def _next_to(items: Sequence[Item], text: str) -> Literal | None:
    """The text that follows at once."""
    first = next((item for item in items if not (isinstance(item, Word) and item.filler)), None)
    return None if first is None else _literal([first], text)


FOR = listed("for")
""" "Swap x for y", where no plainer word leads the new text."""
INSTEAD = listed("instead statt anstatt anstelle lugar vez")


def _taken_out(clause: Clause, text: str) -> Style | None:
    if not clause.says("remove"):
        return None
    old = _literal(clause.items, text)
    return Style({"find_text": old[0], "replace_text": ""}, old[1]) if old else None


def _after(clause: Clause, concept: str) -> tuple[Item, ...]:
    """What stands right after a word of this concept, with the word."""
    for n, item in enumerate(clause.items[:-1]):
        if isinstance(item, Word) and concept in item.concepts:
            return item, clause.items[n + 1]
    return ()


def _edge(clause: Clause, text: str, *, concept: str, role: str) -> Style | None:
    """ "so that it starts with it_"."""
    said = _after(clause, concept) if clause.says("rename", "create") and _shall(clause, concept) else ()
    found = _literal(said[1:], text) if said else None
    return Style({role: _apart(found, text, role)}, said) if found else None


SHALL = listed("so should shall must damit sodass soll sollen para deben deban")


def _shall(clause: Clause, concept: str) -> bool:
    """ "… so that they start with it_", and not "rename those that start with it_"."""
    at = next((n for n, item in enumerate(clause.words) if concept in item.concepts), 0)
    before = {word.folded for word in clause.words[:at]}
    return bool(before & SHALL)


def _prefixed(clause: Clause, text: str) -> Style | None:
    return _edge(clause, text, concept="starts", role="prefix") or _put_on(clause, text, role="prefix")


def _suffixed(clause: Clause, text: str) -> Style | None:
    return _edge(clause, text, concept="ends", role="suffix") or _put_on(clause, text, role="suffix")


def _put_on(clause: Clause, text: str, *, role: str) -> Style | None:
    found = _literal(clause.items, text) if clause.says(role) else None
    if found is None or (found[1] == clause.items[:1] and isinstance(clause.items[0], Word)):
        return None  # its verb, that nobody knows
    return Style({role: _apart(found, text, role)}, found[1])


def _apart(literal: Literal, text: str, role: str) -> str:
    """What is put to names, with a blank between where it is a word that stands in no quotes and has no sign."""
    said, items = literal
    if text[items[0].start] in QUOTES or not said[-1 if role == "prefix" else 0].isalnum():
        return said
    return f"{said} " if role == "prefix" else f" {said}"


def _based(clause: Clause, text: str) -> Style | None:
    """ "to Trip 001, Trip 002 and so on"."""
    if not clause.says("rename", "number"):
        return None
    right = _after_last(clause, WITH | {"as", "als", "como"}) or _after_in(clause)
    by = criteria(clause)
    used = tuple(item for item in right if item not in by and (isinstance(item, Named) or not _chooses(item)))
    named = [item for item in used if isinstance(item, Named) or not (item.filler or "number" in item.concepts)]
    between = clause.items[clause.items.index(named[0]) : clause.items.index(named[-1])] if named else ()
    if not named or any(isinstance(item, Word) and item.filler for item in between):
        return None
    if any(isinstance(item, Named) and item.kind is Name.PATH and re.search(r"\w\.\w+$", item.text) for item in named):
        first = re.sub(r"\.\w+$", "", named[0].text)  # one file's whole name, unless it begins to number many
        return _numbered(first, used) if clause.says("number") and FIRST.search(first) else None
    last = next((n for n, item in enumerate(named) if n and FIRST.fullmatch(item.text)), len(named) - 1)
    first = text[named[0].start : named[last].end].partition(",")[0].strip(" \"'“”„«»`")
    return _numbered(AND_SO_ON.sub("", first), used)


FIRST = regex(r"(?<!\d)0*1$")
DIGITS = regex(
    r"(?:\d|two|three|four|zwei|drei|vier|dos|tres|cuatro)[\s-]*(?:digits?|figures|stell(?:en|ig\w*)|ziffern|d[ií]gitos|cifras)",
    re.IGNORECASE,
)
""" "With 3 digits" tells no name."""


def _numbered(first: str, used: tuple[Item, ...]) -> Style | None:
    """From the first of the names: `receipt_001` has its sign and its digits, where it says them."""
    tail = TAIL.search(first) if FIRST.search(first) else None
    base = first[: tail.start()] if tail else first
    if not re.search(r"\w", base) or DIGITS.fullmatch(base.strip()):
        return None
    if tail is None:
        return Style({"base": base}, used)
    if not tail["apart"]:
        return None  # "v1, v2": the tool puts a blank before the number where no sign stands there
    return Style({"base": base + tail["apart"].strip(), "digits": len(tail["number"])}, used)


def _cut(clause: Clause, at: frozenset[str]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    for n, item in enumerate(clause.items):
        if n and isinstance(item, Word) and item.folded in at:
            return clause.items[:n], clause.items[n + 1 :]
    return clause.items, ()


def _after_last(clause: Clause, at: frozenset[str]) -> tuple[Item, ...]:
    places = [n for n, item in enumerate(clause.items) if n and isinstance(item, Word) and item.folded in at]
    return clause.items[places[-1] + 1 :] if places else ()


def _after_in(clause: Clause) -> tuple[Item, ...]:
    """ "In Reise": what is there already is where they are."""
    right = _after_last(clause, frozenset(("in", "en")))
    there = any(isinstance(item, Named) and item.kind is Name.PATH for item in right[:1])
    return () if there else right


def _literal(items: Sequence[Item], text: str) -> Literal | None:
    """In quotes, with a sign at its edge, a name, a letter by its name, or a word that
    means nothing else.
    """
    quoted = next(
        (item for item in items if isinstance(item, Named) and (text[item.start] in QUOTES or _piece(item))), None
    )
    if quoted is not None:
        return _as_quoted(quoted, text)
    plain = [item for item in items if isinstance(item, Word) and item.unknown and not extension_of(item.folded)]
    if any(item.folded in INDEFINITE for item in plain):
        return None
    affixes = [item for item in plain if _signed(item, text)[0] in SIGNS or _signed(item, text)[-1] in SIGNS]
    if len(affixes) == 1:
        return _signed(affixes[0], text), (affixes[0],)
    named = next((item for at, item in enumerate(items) if _names_no_place(items, at)), None)
    if named is not None:
        return text[named.start : named.end].strip(), (named,)
    for item in items:
        letter = (
            next((LETTERS[concept] for concept in item.concepts if concept in LETTERS), None)
            if isinstance(item, Word)
            else None
        )
        if letter is not None:
            return letter, (item,)
    return (plain[0].text, (plain[0],)) if len(plain) == 1 else None


def _piece(item: Named) -> bool:
    """A part of names by the sign at its edge: "_v1", "(1)"."""
    return item.kind is Name.QUOTE and bool({item.text[0], item.text[-1]} & {*EDGES})


def _as_quoted(item: Named, text: str) -> Literal:
    """With its blanks, "2024 "."""
    said = text[item.start : item.end].strip(QUOTES) if text[item.start] in QUOTES else ""
    return said or item.text, (item,)


INDEFINITE = listed(
    "something anything whatever etwas irgendwas irgendetwas algo accents accent diacritics umlauts umlaute umlauten"
    " akzente akzenten acentos tildes symbols sonderzeichen simbolos emojis brackets klammern parentesis"
)
"""What nobody knows what it is."""
QUOTES = "\"'“”„«»`‘’"
SIGNS = "_-+~#="
"""At the edge of a word they belong to it: "-final", "2024_"."""


def _signed(item: Word, text: str) -> str:
    """The word with the signs that stand right at its edges, where a blank or the text's end is beyond them."""
    start, end = item.start, item.end
    while start and text[start - 1] in SIGNS:
        start -= 1
    while end < len(text) and text[end] in SIGNS:
        end += 1
    free = (start == 0 or text[start - 1].isspace()) and (end == len(text) or not text[end].isalnum())
    return text[start:end] if free else item.text


def _names_no_place(items: Sequence[Item], at: int) -> bool:
    """A name that is text to be put into names, and does not tell where: "in Italy", "the folder X"."""
    item, after = items[at], items[at + 1] if at + 1 < len(items) else None
    before = next(
        (one for one in reversed(items[:at]) if not isinstance(one, Word) or one.folded not in ARTICLES), None
    )
    where = isinstance(before, Word) and ("folder" in before.concepts or before.folded in PLACES)
    where = where or (isinstance(after, Word) and "folder" in after.concepts)
    genitive = isinstance(before, Word) and before is not items[at - 1] and "name" in before.concepts  # "Namen der X"
    where = where or genitive
    return isinstance(item, Named) and item.kind is not Name.GLOB and not where


def of_names(clause: Clause) -> Clause:
    """ "Quítale el (1) a las fotos": what is taken off things is taken out of their names."""
    part = any(map(_piece, clause.names))
    if not part or not clause.says("remove") or clause.says("name"):
        return clause
    end = clause.items[-1].end
    return replace(clause, items=(*clause.items, Word("names", "names", end, end, concepts=("name",))))


ARTICLES = listed("the my der die das dem den el la los las mi")
PLACES = frozenset(
    ("in", "inside", "within", "from", "of", "im", "aus", "von", "vom", "en", "de", "del", "dentro", "and")
)


def _chooses(item: Word) -> bool:
    kind = {*KINDS, "file", "folder", "all", "here"} & {*item.concepts}
    return isinstance(item, Measure) or bool(kind) or (number_of(item.folded) is not None and not item.text.isdigit())


EXAMPLE = regex(
    r"\s*[,;(–-]?\s*(?:so(?:\s+that|\s+dass)?|for\s+(?:example|instance)|e\.g\.|i\.e\.|like|also|sodass|zum\s+Beispiel"
    r"|z\.\s?B\.|as[ií](?:\s+que)?|por\s+ejemplo|p\.\s?ej\.|de\s+modo\s+que)\s*[,:]?\s+"
    r"(?:wird\s+aus\s+(?P<both>[^,;:!?()\n]+?)|(?:(?:aus|wird)\s+)?(?P<old>[^,;:!?()\n]+?)\s+(?:becomes?|turns?\s+into|is\s+then(?:\s+called)?|(?:would|will|should)\s+(?:be|become)"
    r"|wird(?:\s+zu)?|zu|pas[ae]\s+a(?:\s+ser)?|se\s+convierte\s+en|qued[ae](?:\s+como)?|->|→|to)\s+"
    r"(?P<new>[^,;:!?()\n]+?)(?:\s+wird)?)\)?(?=\s*(?:[.,;!?](?:\s|$)|$))",
    re.IGNORECASE,
)


def without_example(text: str) -> str:
    """ "Change inv to Invoice, so inv 001 becomes Invoice 001" asks for nothing more than the rule, where the example
    follows it.
    """
    return EXAMPLE.sub(lambda found: " " * len(found.group()) if _follows(found) else found.group(), text)


def _follows(found: re.Match[str]) -> bool:
    """Is the one name the other, but for two texts that are both in the rule?"""
    both = re.findall(r"\w+|[^\w\s]", found["both"] or f"{found['old']} {found['new']}")
    old, new = both[: len(both) // 2], both[len(both) // 2 :]
    changed = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
    rule = words(found.string[: found.start()])
    said = {word.folded for word in rule}
    swaps = any({"swap", "change"} & {*word.concepts} for word in rule)
    return swaps and len(old) == len(new) and len(changed) == 1 and {*map(fold, changed[0])} <= said
