"""How a rule of renaming is said in a proposal."""

from __future__ import annotations

from typing import Any

import pytest

from libs.models.offline.rules import ruled
from libs.retrieval.lexicon import Language

pytestmark = pytest.mark.requirement("S4-44")


@pytest.mark.parametrize(
    ("args", "language", "said"),
    [
        ({"base": "Dock", "digits": 1}, "en", "to <Dock 1>, <Dock 2> …"),
        ({"base": "Kai_", "digits": 2}, "de", "in <Kai_01>, <Kai_02> …"),
        ({"find": "old", "replace": "new"}, "en", "with <new> instead of <old>"),
        ({"find": " (1)"}, "de", "ohne < (1)>"),
        ({"prefix": "Lidia "}, "es", "con <Lidia > delante"),
        ({"dated": True, "case": "lower"}, "en", "with the date of their last change in front and in small letters"),
    ],
)
def test_it_says_what_becomes_of_the_names(args: dict[str, Any], language: Language, said: str) -> None:
    assert ruled(args, language, lambda name: f"<{name}>") == said


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "so that <Brim Huber> becomes <Huber Brim>"),
        ("de", "so dass aus <Brim Huber> <Huber Brim> wird"),
        ("es", "de modo que <Brim Huber> pase a ser <Huber Brim>"),
    ],
)
def test_names_that_are_put_together_anew_are_shown_by_one_of_them(language: Language, said: str) -> None:
    args = {"shape": "Brim {text}", "becomes": "{text} Brim"}
    files = ("Hats/addresses.txt", "Hats/Brim Huber.txt", "Hats/Brim Demir.txt")
    assert ruled(args, language, lambda name: f"<{name}>", files=files) == said
