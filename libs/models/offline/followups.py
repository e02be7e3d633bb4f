"""Replies to questions, and requests that depend on the last turn: each becomes one complete request."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from libs.events.committee import DENIED, MORE_BELOW, Exchange
from libs.models.offline.lexicon import Lexicon, lexicon
from libs.models.offline.selection import Doubt

SAME = re.compile(
    r"^(?:and |now |and now |then |please )*"
    r"(?:(?:do |and )?the same (?:for|with|to|in)|same (?:for|with)|also|and also|what about|and(?= the| in| for)) "
    r"(?P<other>.+?)(?: too| as well| also)?(?:,? please)?[.!?]*$",
    re.IGNORECASE,
)
DEEP = re.compile(
    r"^(?:and |also |yes,? |now )*(?P<deep>in (?:all )?(?:the )?subfolders|in all folders|everywhere)"
    r"(?: too| as well| also)?(?:,? please)?[.!]*$",
    re.IGNORECASE,
)
VERB = re.compile(
    r"^(?:please )?(?P<verb>[a-z]+(?: up| away| out| down)?) (?P<files>.+)(?P<target> (?:to|into|as) [^,]+)$",
    re.IGNORECASE,
)
AND = re.compile(
    r"^(?:(?:and|(?:and )?now|then|plus) |(?=the .+ (?:too|as well|also)\W*$))(?P<other>.+?)"
    r"(?:,? (?:too|as well|also)(?: please)?[.!?]*|\?)$",
    re.IGNORECASE,
)
BUT = re.compile(
    r"^(?:(?:no|yes)[,:]? +)?(?:but +)?(?:not|without|except(?: for)?|leave out|keep|skip) (?P<spared>[^,;]+?)[.!]*$",
    re.IGNORECASE,
)
INSTEAD = re.compile(
    r"^(?:no[,:]? +)?(?:rather |actually )?(?P<target>(?:to|into) [^,;]+?)(?: instead)?[.!]*$", re.IGNORECASE
)
BEFORE_A_REPLY = re.compile(r"^(?:no|nope|yes|ok|okay|sure|i mean|i meant|actually)[,:.!]? +", re.IGNORECASE)
ORDER = re.compile(r"^(?:and |or |what about |now )*the (?P<order>[a-z ]+?)(?: ones?)?[.!?]*$", re.IGNORECASE)
WORDS = re.compile(r"[\w'-]+")


def begin(text: str, history: Sequence[Exchange], files: Callable[[str], str]) -> str:
    """Return the request, completed from the last turn. `files` returns the words of a request that select files."""
    last = history[-1] if history else None
    if last is None:
        return text
    if last.reason == MORE_BELOW and lexicon()["yes"].all(_words(text)):
        return f"{last.about} in all subfolders"
    if found := DEEP.match(text):
        return f"{last.about} {found['deep']}"
    about = last.about.rstrip(".!?")
    if (found := ORDER.match(text)) and (ordered := _ordered(about, found["order"].lower())):
        return ordered
    if last.reason == DENIED and (found := BUT.match(text)):
        return f"{about}, but not {found['spared']}"
    if last.reason == DENIED and (found := INSTEAD.match(text)) and (before := VERB.match(about)):
        return f"{before['verb']} {before['files']} {found['target']}"
    if (found := SAME.match(text) or AND.match(text)) and (chosen := files(about)):
        return about.replace(chosen, _same(chosen, found["other"]), 1)
    return text


def _ordered(about: str, order: str) -> str:
    """Return the last request with another order, such as "the newest"; empty if it has none."""
    orders, words = lexicon().order, about.split()
    found = ((at, orders.at(about.lower().split(), at)) for at in range(len(words)))
    at, taken = next(((at, one[0]) for at, one in found if one), (0, 0))
    return " ".join([*words[:at], order, *words[at + taken :]]) if taken and orders.all(order.split()) else ""


def _same(files: str, other: str) -> str:
    """Return other files. A place alone replaces the old place."""
    place = re.match(r"^(?:in )?(?:the )?(?P<name>[A-Z][\w./ -]*)$", other)
    inside = re.search(r"\b(in|from) (?:the )?[\w./-]+$", files)
    return f"{files[: inside.start()]}{inside[1]} {place['name']}" if place and inside else other


def reply(
    wish: str, doubt: Doubt | None, said: str, understands: Callable[[str], bool], lexicon: Lexicon
) -> tuple[str, bool] | None:
    """Return the request after a reply, and whether the reply replaces it; None if the reply withdraws it.

    A complete request replaces the old one. Other words take the place of those that were asked about. If that is not
    understood, the request stays as it was, so that the same question is asked again.
    """
    words = _words(said)
    if lexicon["no"].all(words):
        return None
    bare = BEFORE_A_REPLY.sub("", said.strip())
    taken = _taken(words, doubt, lexicon) if doubt else None
    if doubt and taken is not None:
        return _put(wish, doubt, taken), False
    if understands(bare):
        return bare, True
    put = _put(wish, doubt, bare.rstrip(".!")) if doubt else wish
    return (put if understands(put) else wish), False


def _taken(words: Sequence[str], doubt: Doubt, lexicon: Lexicon) -> str | None:
    """Return the offer that a reply takes: by yes, by number, or by its name."""
    offers = doubt.offers
    if lexicon["yes"].all(words) and len(offers) == 1:
        return offers[0]
    plain = [word for word in words if word not in ("the", "one", "number", "please", "option")] or list(words)
    number = lexicon.ordinals.get(plain[0], lexicon.number(plain[0]) or 0) if len(plain) == 1 else 0
    if offers and number and abs(number) <= len(offers):
        return offers[number - 1 if number > 0 else number]
    return None


def _put(wish: str, doubt: Doubt, said: str) -> str:
    """Put the reply in the place of the words that were asked about; after the request if there were none."""
    if doubt.about == wish:
        return said
    taken = f'"{said}"' if said in doubt.offers and not said.startswith(("files ", "with ", "changed ")) else said
    if doubt.about and doubt.about in wish:
        return wish.replace(doubt.about, taken, 1)
    return f"{wish} {taken}"


def _words(text: str) -> list[str]:
    return WORDS.findall(text.lower())
