"""Words that are verbs only by their place: "zip the PDFs", and the German and English ones that come apart, "räum …
auf".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from libs.models.offline.clauses import ACTIONS, AND, BUT, OR, Clause, Item, Name, Named
from libs.models.offline.pronouns import PRONOUNS
from libs.models.offline.styling import INSTEAD, LETTERS
from libs.retrieval.lexicon import SEPARABLE, listed
from libs.retrieval.words import Word, extension_of

VERBS = {
    "place": "move",
    "file": "move",
    "zip": "pack",
    "archive": "pack",
    "tar": "pack",
    "mov": "move",
    "deposit": "move",
    "number": "number",
    "numbers": "",
}
"""Nouns that are verbs where a request begins: "zip the PDFs", "number the photos"."""
THROWS = listed("drop toss chuck throw dump")
"""Verbs that remove, but move where they say into what."""
ARTICLES = listed("the a an my this that der die das den dem ein eine el la los las un una mi mis")


def reunited(items: Sequence[Item], text: str) -> list[Item]:
    """A separable verb takes its particle back: "räum … auf" tidies, "throw … away" removes."""
    told = list(items)
    for at, item in enumerate(told):
        if not isinstance(item, Word) or not item.folded.isalpha():
            continue
        for end in range(at + 1, len(told)):
            between = text[told[end - 1].end : told[end].start]
            if re.search(r"[.;:!?\n]", between):
                break
            particle = told[end]
            if not isinstance(particle, Word) or not _closes(told, end, text):
                continue
            concept = _separable(item.folded, particle.folded)
            if at == 0 and item.unknown and particle.folded in ("weg", "raus"):
                concept = "remove"  # whatever the verb: "hau … raus", "feuer … weg"
            if concept:
                told[at] = replace(item, concepts=(concept,), filler=False)
                told[end] = replace(particle, concepts=(), filler=True)
                break
    return told


def _closes(items: Sequence[Item], at: int, text: str) -> bool:
    """Does a part of the sentence end after this word?"""
    if at + 1 == len(items):
        return True
    after = items[at + 1]
    said = after.folded if isinstance(after, Word) else ""
    stops = re.search(r"[,.;:!?\n]|\s[-–—]\s", text[items[at].end : after.start]) is not None
    later = isinstance(after, Word) and "then" in after.concepts
    return stops or later or said in AND | OR | BUT | {"please", "bitte", "mal", "again", "too", "auch", "now", "jetzt"}


@lru_cache(maxsize=4096)
def _separable(verb: str, particle: str) -> str | None:
    for concept, forms in SEPARABLE.items():
        for form in forms.split():
            stem, _, apart = form.partition("+")
            if particle == apart and (verb.startswith(stem[:-1]) if stem.endswith("*") else verb == stem):
                return concept
    return None


def verbal(part: Clause) -> Clause:
    """Words that are verbs only in a verb's place."""
    at = next((n for n, item in enumerate(part.items) if not _empty(item)), None)
    told = _redirected(_with_pronouns(part.items))
    for n, item in enumerate(told):
        if isinstance(item, Word) and item.folded in THROWS and any(_into(other) for other in told[n + 1 :]):
            told[n] = replace(item, concepts=("move",))
        verb = VERBS.get(item.folded) if isinstance(item, Word) else None
        if verb is None or not isinstance(item, Word):
            continue
        article = n > 0 and _determines(told[n - 1])
        others = any(
            isinstance(other, Word) and {"remove", "move", "rename", "find"} & {*other.concepts} for other in told
        )
        if (
            n == at
            and not article
            and not others
            and (verb != "pack" or part.joined not in (",", "and", "or", "but") or _object_follows(told, n))
        ):
            told[n] = replace(item, concepts=(verb,))
        elif verb not in ("pack", "move"):
            told[n] = replace(item, concepts=(), filler=True)
    return replace(part, items=tuple(told))


BY = listed("por by with for durch mit gegen to in zu con")
""" "Change draft to final": what stands for it follows one of these."""


def swapping(clause: Clause) -> Clause:
    """ "Change draft to final in the names", "put Fra instead of factura", "draft -> final": one text for another."""
    items = clause.items
    changes = next((n for n, item in enumerate(items) if _says(item, "change", "swap")), len(items))
    bare = not clause.acts and (clause.says("name") or any(name.kind is Name.GLOB for name in clause.names))
    for n, item in enumerate(items):
        if not isinstance(item, Word):
            continue
        if item.folded in INSTEAD and _text_after(items, n) and not clause.says("remove", "organize", "pack"):
            return replace(clause, items=tuple(_told(one, "swap") if one is item else _muted(one) for one in items))
        named = clause.says("name") and changes < n
        texts = items[n - 1 : n] + items[n + 1 : n + 2] if n else ()
        around = len(texts) > 1 and all(_is_text(one) or (named and _a_word(one)) for one in texts)
        if item.folded in BY and around and (changes < n or (bare and item.folded == "to")):
            verb = items[changes] if changes < n else item
            told = (_told(one, "swap") if one is verb else _as_text(one) if one in texts else one for one in items)
            return replace(clause, items=tuple(told))
    return clause


def _text_after(items: Sequence[Item], at: int) -> Item | None:
    """The text that stands right after a word, but for little ones."""
    rest = (item for item in items[at + 1 :] if not (isinstance(item, Word) and item.filler))
    first = next(rest, None)
    return first if first is not None and _is_text(first) else None


def _is_text(item: Item) -> bool:
    return item.kind is Name.QUOTE if isinstance(item, Named) else item.unknown and not extension_of(item.folded)


def _a_word(item: Item) -> bool:
    return isinstance(item, Word) and not item.filler and {*LETTERS}.isdisjoint(item.concepts)


def _as_text(item: Item) -> Item:
    return replace(item, concepts=()) if isinstance(item, Word) else item


def _says(item: Item, *concepts: str) -> bool:
    return isinstance(item, Word) and bool({*concepts} & {*item.concepts})


def _muted(item: Item) -> Item:
    """ "Put the word Fra", "das Wort steht dort": neither a move nor a search."""
    if not isinstance(item, Word):
        return item
    mute = item.folded in STANDS or {*item.concepts} & {"move", "create", "content", "parse", "find"}
    return replace(item, concepts=(), filler=True) if mute else item


STANDS = listed("stehen stehn heissen kommen stand standing quede quedar vaya ponga")


def _told(item: Item, concept: str) -> Item:
    return replace(item, concepts=(concept,), filler=False) if isinstance(item, Word) else item


THEM = listed("mal alle bitte dann auch doch einfach halt noch da dort weg raus rein in nach zu ins jetzt gleich")


def _with_pronouns(items: Sequence[Item]) -> list[Item]:
    """ "Pack die mal alle in uni": no noun follows, so the German article is what was spoken of before."""
    told = list(items)
    for at in range(1, len(told)):
        item, after = told[at], told[at + 1] if at + 1 < len(told) else None
        verb = told[at - 1]
        led = isinstance(verb, Word) and not ACTIONS.isdisjoint(verb.concepts)
        bare = after is None or (isinstance(after, Word) and after.folded in THEM)
        if isinstance(item, Word) and item.folded == "die" and led and bare:
            told[at] = replace(item, folded="sie", concepts=("here",), filler=False)
    return told


def _empty(item: Item) -> bool:
    if not isinstance(item, Word) or item.folded in VERBS:
        return False
    return item.filler or bool(item.concepts and {*item.concepts} <= {"then", "first"})


def _redirected(items: list[Item]) -> list[Item]:
    """Verbs of making, tidying and sorting move where they say into which place: "räum a.txt in den Ordner X"."""
    at = next((n for n, item in enumerate(items) if isinstance(item, Word) and _arranges(item)), None)
    if at is None or any(
        isinstance(item, Word) and {"type", "date", "age", "duplicate"} & {*item.concepts} for item in items
    ):
        return items
    end = next((n for n in range(at + 2, len(items)) if _one_place(items, n)), None)
    if end is None or all(
        isinstance(item, Word) and (item.filler or "folder" in item.concepts) for item in items[at + 1 : end]
    ):
        return items
    verb = items[at]
    return [*items[:at], replace(verb, concepts=("move",)), *items[at + 1 :]] if isinstance(verb, Word) else items


MAKES = listed("mach mache machen macht machs tu tue")


def _arranges(item: Word) -> bool:
    return item.folded in MAKES or bool({"clean", "organize"} & {*item.concepts} and len(item.concepts) == 1)


def _one_place(items: Sequence[Item], at: int) -> bool:
    """ "Into Shots", "in einen Ordner X": one folder by its name, and no kind of folders."""
    item = items[at]
    if not isinstance(item, Word) or item.folded not in ("into", "in", "nach", "en", "to", "a"):
        return False
    rest = items[at + 1 :]
    noun = any(isinstance(one, Word) and one.folded in ONE_FOLDER for one in rest[:4])
    named = any(isinstance(one, Named) or one.unknown or one.text[0].isupper() for one in rest[:6])
    straight = item.folded == "into" and isinstance(rest[0] if rest else None, Named)
    return (noun and named) or straight


ONE_FOLDER = listed("folder directory ordner verzeichnis unterordner carpeta directorio subcarpeta subfolder")


def _into(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in ("into", "onto", "in")


def _determines(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in ARTICLES


def _object_follows(items: Sequence[Item], at: int) -> bool:
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Named) or after is None:
        return after is not None
    return after.filler or "all" in after.concepts or after.folded in PRONOUNS
