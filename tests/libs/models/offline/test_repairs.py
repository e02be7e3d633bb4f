"""What is taken back in mid-sentence is not done; where it is not plain what was taken back, that is known."""

from __future__ import annotations

import pytest

from libs.models.offline.repairs import repaired

KNOWN = ("plan.txt", "map.png", "Docs/", "Trips/")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("delete plan.txt - no, sorry, I mean map.png", "delete map.png"),
        ("lösch plan.txt, nein warte, map.png", "lösch map.png"),
        ("borra plan.txt, no, perdón, map.png", "borra map.png"),
        ("put plan.txt into Docs, no wait, not Docs, into Trips", "put plan.txt into Trips"),
        ("list the pngs, scratch that, delete map.png", "delete map.png"),
    ],
)
def test_the_new_word_takes_the_place_of_the_old(said: str, meant: str) -> None:
    plain, torn = repaired(said, KNOWN)
    assert (" ".join(plain.split()), torn, len(plain)) == (meant, False, len(said))


@pytest.mark.parametrize("said", ["delete plan.txt, no wait, the other one", "put it into Docs, or rather, hm"])
def test_what_is_not_plain_is_torn(said: str) -> None:
    assert repaired(said, KNOWN) == (said, True)


def test_a_no_before_any_deed_takes_nothing_back() -> None:
    assert repaired("oh, no, sorry, delete plan.txt", KNOWN) == ("oh, no, sorry, delete plan.txt", False)
