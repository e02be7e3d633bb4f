"""Each clause of a story wants its files gone, or kept, or nothing of them."""

from __future__ import annotations

import pytest

from libs.models.offline.gist.stances import Stance, parts

pytestmark = pytest.mark.requirement("S4-44")
GO, STAY, TOLD = Stance.GO, Stance.STAY, Stance.TOLD


@pytest.mark.parametrize(
    ("text", "stances"),
    [
        ("it was fun. a and b can go, c stays", [TOLD, GO, STAY]),
        ("keep a, b, bin the rest", [STAY, STAY, GO]),
        ("throw out the old ones but not the letters", [GO, STAY]),
        ("bin the blue ones keep the red ones", [GO, STAY]),
        ("die a brauch ich nicht mehr. b und c müssen bleiben", [GO, STAY]),
        ("lösch alles außer b, c", [GO, STAY, STAY]),
        ("bloß nicht löschen, die brauch ich", [STAY, STAY]),
        ("los a ya no me sirven, menos el b", [GO, STAY]),
        ("los que dicen c me gustan, los otros borralos", [STAY, GO]),
        ("get rid of the drafts, I've handed in the final one", [GO, TOLD]),
        ("lösch die Entwürfe, die hab ich längst abgegeben", [GO, TOLD]),
        ("borra los borradores, ya entregué el final", [GO, TOLD]),
        ("I keep getting mail. it is loud", [TOLD, TOLD]),
    ],
)
def test_what_a_clause_wants_of_its_files(text: str, stances: list[Stance]) -> None:
    assert [part.stance for part in parts(text)] == stances


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("borra los carteles viejos menos el final v2", "menos el final v2"),
        ("delete the posters minus the final v2", "minus the final v2"),
        ("delete the drafts other than the newest", "other than the newest"),
    ],
)
def test_what_is_taken_off_a_list_of_what_goes_stays(text: str, stays: str) -> None:
    assert [text[part.start : part.end] for part in parts(text) if part.stance is Stance.STAY] == [stays]


@pytest.mark.parametrize("text", ["borra los de hace menos de un mes", "borra más o menos la mitad"])
def test_a_measure_takes_nothing_off(text: str) -> None:
    assert {part.stance for part in parts(text)} == {Stance.GO}
