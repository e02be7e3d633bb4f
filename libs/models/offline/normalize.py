"""Typing errors, against the closed vocabulary alone: a name is never mended, and a mended request is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from libs.models.offline.tokens import Token

SHORTEST, LONG = 4, 7


def mended(text: str, left: Sequence[Token], vocabulary: frozenset[str]) -> str | None:
    """The text with each of these words as the vocabulary spells it; None where one is not near to any of its words."""
    for token in reversed(left):
        if token.kind != "word" or token.end <= token.start:
            continue
        near = spelt(token.low, vocabulary)
        if near is None:
            return None
        if near != token.low:
            text = text[: token.start] + near + text[token.end :]
    return text


def spelt(word: str, vocabulary: frozenset[str]) -> str | None:
    """The word of the vocabulary that differs by a letter, or by two where it is long; itself where it is in it."""
    if word in vocabulary:
        return word
    if len(word) < SHORTEST or not word.isalpha():
        return None
    most = 2 if len(word) >= LONG else 1
    found = process.extractOne(word, vocabulary, scorer=DamerauLevenshtein.distance, score_cutoff=most)
    return found[0] if found else None
