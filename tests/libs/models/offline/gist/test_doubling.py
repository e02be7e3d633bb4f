"""What is there twice is told by what is in it: everywhere, or where the story speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Unclear
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PATHS = ("Slips/slip 01.pdf", "Slips/slip 01 (1).pdf", "Slips/slip 02.pdf", "Trip/a.jpg", "deed copy.pdf", "deed.pdf")
FACTS: dict[str, Any] = {"names": ["Slips/", "Trip/", "deed copy.pdf", "deed.pdf"], "paths": list(PATHS)}


@pytest.fixture
def offer(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def offer(text: str) -> Any:
        outcome = await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue)
        assert isinstance(outcome, Unclear), outcome
        return outcome.offers[0].calls

    return offer


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("half of this muck is in here twice. one of each is plenty", "."),
        ("hier liegt alles doppelt und dreifach rum, einmal reicht doch", "."),
        ("mi hermana y yo guardamos todo dos veces, con uno de cada me basta", "."),
        ("why on earth do i have three of everything, one each is enough", "."),
        ("da sind so viele sachen doppelt drin, das nervt. bitte nur je eins behalten", "."),
        ("hay muchas cosas repetidas, con una copia basta", "."),
        ("gone and saved some of me slips twice like a muppet can you chuck the doubles", "Slips"),
    ],
)
async def test_of_each_content_one_stays(offer: Any, text: str, where: str) -> None:
    (scan, args), (remove, _) = await offer(text)
    assert (scan, remove, args["path"]) == ("remove-duplicates.scan", "remove-duplicates.remove", where)


async def test_who_speaks_of_a_copy_in_the_name_means_names(offer: Any) -> None:
    (listing, args), _ = await offer(
        "I saved the deed two times by mistake, it has copy in the name. can you bin this one please, the first I keep"
    )
    assert (listing, args["include"]) == ("manage-files.list", ["deed copy.pdf"])


@pytest.mark.parametrize(
    ("text", "include"),
    [
        ("I have the deed twice, the double one can go", ["deed copy.pdf", "deed.pdf"]),
        ("die deed hab ich zweimal heruntergeladen, die doppelte gehört weg", ["deed copy.pdf", "deed.pdf"]),
    ],
)
async def test_twins_are_looked_for_among_those_that_are_told_of(offer: Any, text: str, include: list[str]) -> None:
    (_, args), _ = await offer(text)
    assert sorted(args["include"]) == include


async def test_the_spare_ones_of_which_one_of_each_stays_are_twins(offer: Any) -> None:
    (tool, args), _ = await offer("could you take out the spare hymn sheets and leave me one of each")
    assert (tool, "include" in args) == ("remove-duplicates.scan", False)
