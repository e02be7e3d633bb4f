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
        ("I keep getting mail. it is loud", [TOLD, TOLD]),
    ],
)
def test_what_a_clause_wants_of_its_files(text: str, stances: list[Stance]) -> None:
    assert [part.stance for part in parts(text)] == stances
