"""Typing errors: only words of the closed vocabulary are corrected, never names, and the user confirms."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from libs.models.offline.tokens import Token

SHORTEST, LONG = 3, 8


def mended(text: str, left: Sequence[Token], vocabulary: frozenset[str]) -> str | None:
    """Return the text with these words as the vocabulary spells them; None if one is near to no word of it."""
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
    """Return the vocabulary's word that differs by one letter, by two in a long word, or not at all."""
    if word in vocabulary:
        return word
    if len(word) < SHORTEST or not word.isalpha():
        return None
    most = 2 if len(word) >= LONG else 1
    ranked = sorted(vocabulary, key=lambda one: (-len(one), one))  # "Mov" is a "move", and no "mv".
    found = process.extractOne(word, ranked, scorer=DamerauLevenshtein.distance, score_cutoff=most)
    return found[0] if found else None
