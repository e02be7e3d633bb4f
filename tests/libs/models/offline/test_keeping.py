"""Files that are the same, as people speak of them: all but one of each go, and nothing that is there once."""

from __future__ import annotations

import pytest

from libs.models.offline.reading import read


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    "text",
    [
        "the ones that are the same picture. Just keep one of each.",
        "delete the pictures that are the same. Just keep one of each.",
        "remove the same pictures",
        "some of these pictures are the same, keep just one of each",
        "only keep one copy of each photo",
        "lösch die gleichen Bilder",
        "von den gleichen Bildern nur eins behalten",
        "die Bilder, die gleich sind. Behalte jeweils nur eins.",
        "borra las fotos iguales",
        "las fotos que son iguales. Quédate con una de cada.",
        "quédate con una sola copia de cada foto",
    ],
)
def test_pictures_that_are_the_same_are_duplicates_to_be_removed(text: str) -> None:
    (clause,) = read(text).clauses
    assert {"duplicate", "remove", "images"} <= clause.concepts


@pytest.mark.parametrize(
    "text", ["keep one of each size of beach.jpg", "keep the same name", "the photos that are the same size as a.jpg"]
)
def test_what_only_sounds_like_it_is_no_duplicate(text: str) -> None:
    assert not read(text).says("duplicate")
