"""Names set apart from the words of a request: told by their form, by the words around them, or because a file or
folder of that name is there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from libs.models.offline import newnames, titles
from libs.models.offline.clauses import ACTIONS, KINDS, Item, Name, Named
from libs.models.offline.ground import singulars, words_of
from libs.models.offline.paths import QUOTED, file_like, pathlike, quoted
from libs.models.offline.veils import UNVEILED, Veils
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, concepts_of, extension_of, fold, one_slip, words


def names(text: str, known: Sequence[str], veils: Veils = UNVEILED) -> list[Named]:
    """All names in the text; what one rule has found is out of the next one's sight."""
    found = list(_copies(veils.off(text), known))
    real = {fold(name.rstrip("/")) for name in known}
    found += [name for name in _quotes(masked(text, found)) if fold(name.text) in real]
    rules = (
        titles.holding,
        titles.edges,
        _quotes,
        titles.exchanged,
        titles.bracketed,
        titles.series,
        titles.spaced,
        veils.names,
        newnames.titles,
    )
    for rule in rules:
        told = (_there_already(name, text, known) for name in rule(masked(text, found)))
        found += [name for name in told if name is not None]
    found += list(newnames.ending(masked(text, found), known))
    found += list(_said_exactly(masked(text, found), known))
    found += list(titles.apposed(masked(text, found)))
    tokens = (token for token in re.finditer(r"[^\s,;\0]+", masked(text, found)) if not _full_stop(token))
    found += [name for token in tokens if (name := pathlike(token) or _below(token, known))]
    return [veils.lifted(name) for name in found]


def _full_stop(token: re.Match[str]) -> bool:
    """One whose sentence has been read before it; "into ." is a place."""
    return token.group() == "." and re.search(r"\w $", token.string[: token.start()]) is None


def _there_already(name: Named, text: str, known: Sequence[str]) -> Named | None:
    """Not a part of names, where something is called just so; nor new names by number, where they are there."""
    whole = bool(name.text) and (name.text[0] in titles.EDGES or name.text[-1] in titles.EDGES)
    if whole and any(fold(name.text) == fold(real.rstrip("/").rpartition("/")[2]) for real in known):
        return None
    return _there_by_number(name, text, known)


def _there_by_number(name: Named, text: str, known: Sequence[str]) -> Named | None:
    """ "fest 1.jpg, fest 2.jpg", where these are there already, are no new names; with "etc." they are all like it."""
    said = text[name.start : name.end]
    first = re.split(r"[,\s]+(?=\d)|,", said, maxsplit=1)[0].strip()
    series = titles.SERIES.fullmatch(text, name.start, name.end) is not None
    if not series or all(fold(first) not in (fold(real), fold(real).rpartition(".")[0]) for real in known):
        return name
    like = titles.AND_MORE.search(said) and re.fullmatch(r"(?P<base>.*?)\d+(?P<ending>\.\w+)?", first)
    if not like:
        return None
    return Named(Name.GLOB, f"{like['base']}*{like['ending'] or '.*'}", name.start, name.end)


def _below(token: re.Match[str], known: Sequence[str]) -> Named | None:
    """ "docs/old", where such a folder is there, though both are ordinary words."""
    said = token.group().rstrip(".!?:)")
    there = "/" in said and any(name.rstrip("/") == said.partition("/")[0] for name in known)
    like_one = LIKE_A_FOLDER.fullmatch(said) or (said[:1].isupper() and concepts_of(fold(said)) == ("untouched",))
    new = like_one and TOWARDS.search(token.string[: token.start()])
    return Named(Name.PATH, said, token.start(), token.start() + len(said)) if there or new else None


LIKE_A_FOLDER = regex(r"[^\W\d_][\w-]*(?:/|-\d+)")
TOWARDS = regex(
    r"\b(?:in|into|to|nach|en|a|called|named|as|namens|als|llamad[ao]|como|folder|directory|ordner|verzeichnis|carpeta)\s+$",
    re.IGNORECASE,
)
""" "In safe/" and "to Safe" are folders, whatever the word means, and "to work-2" another one than work."""

COPY_OF = regex(
    r"\b(?:the\s+)?(?:(?:second|spare|extra|duplicate)\s+)?(?:copy|duplicate)\s+of\s+(?:the\s+)?"
    r"|\b(?:die\s+)?(?:Kopie|Dublette)\s+(?:von|der|des)\s+"
    r"|\b(?:la\s+)?copia\s+de(?:l|\s+la)?\s+",
    re.IGNORECASE,
)
COPIED = (
    "{} copy",
    "copy of {}",
    "{}-copy",
    "{}_copy",
    "{} (1)",
    "{} (2)",
    "{} kopie",
    "kopie von {}",
    "{} copia",
    "copia de {}",
)
"""How copies are called."""


def _copies(text: str, known: Sequence[str]) -> Iterator[Named]:
    """ "The copy of cake.jpg", where one file is called as its copy."""
    quotes = [found.span() for found in QUOTED.finditer(text)]
    for match in COPY_OF.finditer(text):
        if any(start < match.start() < end for start, end in quotes):
            continue  # a name that begins so
        begun = [
            name
            for name in _spoken(known)
            if "." in _spoken(known)[name] and fold(text[match.end() :]).startswith(fold(name))
        ]
        said = max(begun, key=len, default="")
        stem, dot, ending = said.rpartition(".") if "." in said else (said, "", "")
        called = {fold(form.format(stem)) for form in COPIED}
        held = [
            name
            for name in known
            if fold(name.rpartition("/")[2].rpartition(".")[0]) in called and name.endswith(dot + ending)
        ]
        if said and len(held) == 1:
            yield Named(Name.PATH, held[0], match.start(), match.end() + len(said))


def _quotes(text: str) -> Iterator[Named]:
    return (quoted(match) for match in QUOTED.finditer(text))


def _said_exactly(text: str, known: Sequence[str]) -> Iterator[Named]:
    """A known name of several words, or with a capital inside the sentence, is meant as one: `Tax 2024`, `Photos`.
    What comes before the extension does too, where only one file is called so.
    """
    said = text.casefold()
    for name, real in sorted(_spoken(known).items(), key=lambda pair: (-len(pair[0]), pair[0])):
        if name.casefold() not in said:
            continue
        plain = name == name.lower()
        if plain and name.isalpha():
            yield from _beside_noun(text, name, real)
        if not name or (plain and not re.search(r"[^\w]|[_\d]", name)) or name.isdigit():
            continue
        flags = re.IGNORECASE if " " in name or "." in name else 0
        for match in re.finditer(rf"(?<![\w/.*?-]){re.escape(name)}(?![\w/-]|\.\w|\.?[*?])", text, flags):
            if match.start() == 0 and name.isalpha():
                continue
            if (EVERY.search(text[: match.start()]) and _a_kind(name)) or (
                plain and SOME.search(text[: match.start()])
            ):
                continue
            yield Named(Name.PATH, real, match.start(), match.end())
            text = text[: match.start()] + "\0" * len(name) + text[match.end() :]


def _beside_noun(text: str, name: str, real: str) -> Iterator[Named]:
    """ "The old folder", where one is called so."""
    said = re.escape(name)
    noun = rf"\bthe\s+({said})(?=\s+(?:folder|directory)\b)|\b(?:folder|directory|ordner|carpeta)\s+({said})(?![\w/.-])"
    for match in re.finditer(noun, text) if words(name)[0].concepts else ():
        group = 1 if match[1] else 2
        yield Named(Name.PATH, real, match.start(group), match.end(group))


EVERY = regex(
    r"\b(?:all|every|each|alle[rnms]?|sämtliche[rn]?|jede[rsnm]?|tod[oa]s)\s+"
    r"(?:(?:of\s+)?(?:the|my|our|these|those|die|der|meine[rn]?|unsere[rn]?|l[oa]s|mis|est[oa]s)\s+)?$",
    re.IGNORECASE,
)
""" "All the Photos" are the photos, also where a folder is called so."""


SOME = regex(r"\b(?:an?|another|ein(?:en|em|e)?|una?|otra)\s+$", re.IGNORECASE)
""" "A new folder" is none that is there."""


def _a_kind(name: str) -> bool:
    read = words(name)
    return len(read) == 1 and bool({*read[0].concepts} & {*KINDS})


def _spoken(known: Sequence[str]) -> dict[str, str]:
    """Names and, of files, their stems where these name just one."""
    names = [name.rstrip("/") for name in known]
    stems: dict[str, list[str]] = {}
    for name in names:
        stem, dot, _ = name.rpartition("/")[2].rpartition(".")
        if dot and stem:
            stems.setdefault(stem, []).append(name)
    told = {
        stem: found[0]
        for stem, found in stems.items()
        if (len(found) == 1 and " " in stem) or re.search(r"[-_]|[^\W\d]\d", stem)
    }
    often = Counter(name.rpartition("/")[2] for name in names)
    last = {end: name for name in names if (end := name.rpartition("/")[2]) == name or often[end] == 1}
    return {stem: real for stem, real in told.items() if len(stems[stem]) == 1} | last | {name: name for name in names}


def known_as(word: Word, known: Sequence[str], *, after: Word | None = None) -> Item:
    """A word that means nothing else is the file or folder of that name, or the one file whose name begins so; but
    "tmp files" are of a kind, also where a folder is called so.
    """
    kind = after is not None and "file" in after.concepts and extension_of(word.folded)
    if not word.unknown or kind:
        return word
    names = [name.rstrip("/") for name in known]
    real = next((name for name in names if fold(name) == word.folded), None) or _only_stem(word.folded, names)
    if real is None and sum(fold(name).endswith(f"/{word.folded}") for name in names) > 1:
        real = word.text  # one of several folders of this name, and it has to be said which
    if real is None and any(_a_slip(word.folded, fold(name)) for name in names if "." not in name and "/" not in name):
        real = word.text if singulars(word.folded).isdisjoint(words_of(tuple(known))) else None
    return Named(Name.PATH, real, word.start, word.end) if real else word


def told_by_name(read: Sequence[Word], known: Sequence[str]) -> list[Word]:
    """ "The analysis PDFs", where files are called so: which of the kind, and no deed. "The folder website" is called
    so, too.
    """
    tokens, told = words_of(tuple(known)), list(read)
    renames = any({"rename", "name", "prefix", "suffix"} & {*word.concepts} for word in read)
    for at in range(1, len(told) - 1):
        before, word, after = told[at - 1 : at + 2]
        kind = {*KINDS, "file"} & {*after.concepts} or extension_of(after.folded)
        if word.folded in tokens and before.filler and kind and ACTIONS & {*word.concepts} and not word.filler:
            told[at] = replace(word, concepts=())
    for at in _objects(read, known):
        told[at] = replace(told[at], concepts=())
    for at, (before, word) in enumerate(pairwise(read), start=1):
        there = before.folded in AT and any(fold(name.strip("/")) == word.folded for name in known)
        called = before.folded in ARTICLES and not singulars(word.folded).isdisjoint(tokens)
        noun = there or "folder" in before.concepts or called
        if (
            (noun and word.concepts == ("foreign",))
            or (called and renames and {*word.concepts} <= DEEDS_TOO)
            or _one_name(before, word, known)
        ):
            told[at] = replace(word, concepts=())
        for one, other, place in ((before, word, at - 1), (word, before, at)):
            if "tempfiles" in one.concepts and other.folded in FOLDER:
                told[place] = replace(one, concepts=())  # "the temporary folder" is none of files
    return told


def _objects(read: Sequence[Word], known: Sequence[str]) -> Iterator[int]:
    """ "Rename notes to summary": what is called so, and what it shall be called, whatever these words mean."""
    stems = {fold(name.rstrip("/").rpartition("/")[2]).rpartition(".")[0] for name in known}
    for at, word in enumerate(read):
        object_at = at + 1 + (read[at + 1].folded in ARTICLES if at + 1 < len(read) else 0)
        if "rename" not in word.concepts or object_at + 2 >= len(read) or read[object_at].folded not in stems:
            continue
        if read[object_at + 1].folded in LEADS:
            yield from (object_at, object_at + 2)


LEADS = listed("to in zu a as als como por")
DEEDS_TOO = listed("report summary list content find parse explain foreign")
""" "The year in front of the reports", where files are called so: what looks are called, too."""
AT = listed("in to into from of inside im aus nach en a de")
""" "The shots in phone", where a folder is called so."""
FOLDER = listed("folder folders directory directories ordner verzeichnis carpeta carpetas directorio")
ARTICLES = listed("the my our der die das den dem mein meine meinen el la los las mi mis")


def _one_name(before: Word, word: Word, known: Sequence[str]) -> bool:
    """ "The price lists", where files are called so: no list of anything."""
    if not (before.unknown and {*word.concepts} & ACTIONS):
        return False
    said = [f"{before.folded} {form}" for form in singulars(word.folded)]
    return any(one in fold(name) for name in known for one in said)


def _a_slip(said: str, folder: str) -> bool:
    """ "In figuers": asked about as a folder that is not there, and no other form of the word."""
    a_form = said in singulars(folder) or folder in singulars(said)
    return min(len(said), len(folder)) >= LEAST_SLIP and not a_form and one_slip(folder, said)


LEAST_SLIP = 5


def _only_stem(said: str, names: Sequence[str]) -> str | None:
    holding = [name for name in names if said in fold(name)]
    return holding[0] if len(holding) == 1 and fold(holding[0]).rpartition(".")[0] == said else None


def masked(text: str, names: Sequence[Item]) -> str:
    """The text with these blotted out, in its old length."""
    for name in names:
        text = text[: name.start] + "\0" * (name.end - name.start) + text[name.end :]
    return text


BESIDE = regex(
    r"\b(?:right\s+)?(?:next\s+to|alongside|beside|neben|junto\s+a|al\s+lado\s+de)\s+(?:the\s+|die\s+|der\s+"
    r"|das\s+|el\s+|la\s+)?$",
    re.IGNORECASE,
)


def beside(text: str, named: Sequence[Named]) -> tuple[str, list[Named]]:
    """ "Next to vocals.wav" is into its folder: the text with "into" there, and the folder for the name."""
    told: list[Named] = []
    for name in named:
        found = BESIDE.search(text[: name.start])
        if found is None or name.kind is not Name.PATH or not file_like(name):
            told.append(name)
            continue
        text = f"{text[: found.start()]}{'into':<{len(found.group())}}{text[found.end() :]}"
        told.append(replace(name, text=name.text.rpartition("/")[0] or "."))
    return text, told
