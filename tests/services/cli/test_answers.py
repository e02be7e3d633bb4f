"""What is typed at a yes-or-no question: only a plain yes carries anything out."""

from __future__ import annotations

import pytest

from services.cli.answers import Answer, classify


@pytest.mark.parametrize("said", ["y", "Yes!", "yes please", "do it", "go ahead", "ok, thanks"])
def test_plain_yes_is_classified_as_yes(said: str) -> None:
    assert classify(said) is Answer.YES


@pytest.mark.parametrize("said", ["n", "No.", "no thanks", "leave it", "never mind"])
def test_plain_refusal_is_classified_as_no(said: str) -> None:
    assert classify(said) is Answer.NO


@pytest.mark.parametrize(
    "said",
    [
        "no, only the PDFs",
        "yes, but not the photos",
        "just those in Photos",
        "in all subfolders too",
        "everywhere",
        "can you keep the newest instead?",
    ],
)
def test_other_wishes_are_classified_as_a_correction(said: str) -> None:
    assert classify(said) is Answer.INSTEAD


@pytest.mark.parametrize("said", ["", "?", "hm", "PDFs", "what is in it?"])
def test_unclear_answer_is_asked_again(said: str) -> None:
    assert classify(said) is Answer.UNCLEAR
