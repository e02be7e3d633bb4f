"""Requests that need no plan: greetings, questions about doing, conditions, commands, and places outside."""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline import texts
from libs.models.offline.clauses import ASIDE, sentences, stripped
from libs.models.offline.lexicon import Lexicon
from libs.models.offline.tokens import Token
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, PlannerOutcome

OUTSIDE = re.compile(r"^(?:/|~/|~$|[A-Za-z]:[\\/])|(?:^|/)\.\.(?:/|$)")
SHELL = re.compile(
    r"^\s*(?:sudo|rm|mv|cp|chmod|dd|curl|wget|bash|sh)\s+(?:-|/|\S+\s*\|)|[;&|]{1,2}\s*(?:rm|sudo)\b|\$\(|`rm\b"
)


def talk(text: str, lexicon: Lexicon) -> PlannerOutcome | None:
    """Words that are about Suma, or about nothing."""
    words = re.findall(r"[\w'/-]+", text.lower())
    spelt = [word for said in words for word in lexicon.contractions.get(said, said).split()]
    bare = [word for word in spelt if word not in ("please",)]
    if lexicon["undo"].all(bare):
        return Answered(texts.UNDO, AnswerKind.UNDO)
    if (found := lexicon["can_undo"].at(bare, 0)) and found[0]:
        return Answered(texts.CAN_UNDO)
    if lexicon["helps"].all(bare):
        return Answered(texts.CAPABILITY, AnswerKind.CAPABILITY)
    if lexicon["greetings"].all(bare):
        return Answered(texts.GREETING, AnswerKind.GREETING)
    polite = ASIDE.sub("", " ".join(bare)).split()
    if lexicon["farewells"].all(bare) or (bare and not polite) or (polite != bare and lexicon["farewells"].all(polite)):
        return Answered(texts.FAREWELL, AnswerKind.GREETING)
    return None


def refuse(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> PlannerOutcome | None:
    """Refuse commands, places outside of the folder, and conditions."""
    if SHELL.search(text):
        return Answered(texts.SHELL, AnswerKind.DANGEROUS)
    ends = [token.low for token in tokens]
    outside = next(
        (
            token
            for n, token in enumerate(tokens)
            if token.kind != "name"
            and OUTSIDE.search(token.raw)
            and (len(token.raw) > 1 or ends[max(0, n - 2) : n] != ["ending", "with"])
        ),
        None,
    )
    if outside is not None:
        return Answered(texts.OUTSIDE.format(said=outside.raw), AnswerKind.DANGEROUS)
    reserved = next((each for each in tokens if lexicon["untouchable"].all(each.low.strip("/").split("/")[-1:])), None)
    if reserved is not None:
        return Answered(texts.RESERVED.format(said=reserved.raw), AnswerKind.DANGEROUS)
    return None if lexicon["beyond"].at(ends, 0) else _condition(tokens, lexicon)


def _condition(tokens: Sequence[Token], lexicon: Lexicon) -> PlannerOutcome | None:
    words = [token.low if token.kind == "word" else "" for token in tokens]
    for at in range(len(words)):
        found = lexicon["conditions"].at(words, at)
        if words[at].endswith("ly") and words[at + 1 : at + 2] not in ([], [""]):
            continue  # "The Daily ones" are files.
        if words[at] == "when" and (
            at == 0 or not words[at - 1] or words[at + 1 : at + 2] in (["was"], ["did"], ["is"], ["were"])
        ):
            continue
        if (
            found is not None
            and words[at : at + 3] != ["if", "you", "can"]
            and words[at : at + 2] != ["if", "possible"]
        ):
            said = " ".join(token.raw for token in tokens[at : at + 6])
            return ClarificationNeeded(texts.CONDITION.format(said=said))
    return None


def asks_about_doing(tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Return whether it asks if or how something is done, instead of requesting it."""
    for sentence in sentences(tokens):
        words = [token.low for token in sentence]
        if lexicon["asking"].at(words, 0):
            return True
    bare = stripped(list(tokens), lexicon)
    return (
        bool(tokens)
        and tokens[-1].low == "?"
        and bool(bare)
        and bare[0].low in ("is", "are", "can", "could", "should", "will", "would", "does", "do")
        and len(bare) + 1 == len(tokens)
    )
