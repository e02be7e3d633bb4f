"""What is typed at a yes-or-no question: only a plain yes carries anything out."""

from __future__ import annotations

import pytest

from services.cli.hearing import Heard, heard


@pytest.mark.parametrize(
    "said", ["y", "Yes!", "yes please", "do it", "ja", "Ja, bitte", "mach das", "sí", "s", "vale, hazlo"]
)
def test_a_plain_yes_is_one_in_any_of_the_languages(said: str) -> None:
    assert heard(said) is Heard.YES


@pytest.mark.parametrize(
    "said", ["n", "No.", "no thanks", "nein danke", "lass es", "never mind", "no, gracias", "déjalo"]
)
def test_a_plain_refusal_stays_one(said: str) -> None:
    assert heard(said) is Heard.NO


@pytest.mark.parametrize(
    "said",
    [
        "no, only the PDFs",
        "yes, but not the photos",
        "just those in Photos",
        "in all subfolders too",
        "everywhere",
        "nein, behalte die neuesten",
        "solo los de Docs",
        "can you keep the newest instead?",
    ],
)
def test_words_of_its_own_say_what_is_wanted_instead(said: str) -> None:
    assert heard(said) is Heard.INSTEAD


@pytest.mark.parametrize("said", ["", "?", "hm", "PDFs", "what is in it?", "warum?", "¿qué pasa con las fotos?"])
def test_what_is_neither_is_asked_again(said: str) -> None:
    assert heard(said) is Heard.UNCLEAR
