"""Years that names tell: "from before 2024" is no year 2024."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition, selected
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
MINUTES = tuple(f"Minutes {year}-02-06.docx" for year in (2019, 2021, 2023, 2024))


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("move the minutes from before 2024 to Old", (2019, 2021, 2023)),
        ("verschieb die Minutes von vor 2024 nach Alt2", (2019, 2021, 2023)),
        ("mueve las Minutes de antes de 2024 a Viejas", (2019, 2021, 2023)),
        ("move the minutes from after 2020 to New", (2021, 2023, 2024)),
        ("move the minutes from 2024 to Old", (2024,)),
        ("move the minutes from the year 2024 to Old", (2024,)),
    ],
)
async def test_the_bound_is_that_of_the_names(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, years: tuple[int, ...]
) -> None:
    outcome = await model.plan(task(text, MINUTES), catalogue)
    assert isinstance(outcome, Drafted), outcome
    listing = outcome.plan.steps[0].args
    chosen = [path for path in MINUTES if selected(path, include=listing["include"])]
    assert chosen == [path for path in MINUTES if int(path[8:12]) in years]


MIXED = (*MINUTES, "plan.txt", "list.xlsx", "poster.jpg", "hall.pdf")
CLUB = (*MINUTES, "Kassenbuch 2022.xlsx", "plan.txt")


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("put everything from before 2022 in a folder Old", (2019, 2021)),
        ("alles von vor 2022 ins Archiv", (2019, 2021)),
        ("mueve todo lo de 2023 a Viejo", (2023,)),
    ],
)
async def test_where_most_names_say_their_year_everything_goes_by_these(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, years: tuple[int, ...]
) -> None:
    outcome = await model.plan(task(text, CLUB), catalogue)
    assert isinstance(outcome, Drafted), outcome
    listing = outcome.plan.steps[0].args
    chosen = [path for path in CLUB if selected(path, include=listing["include"])]
    assert chosen == [path for path in MINUTES if int(path[8:12]) in years]


@pytest.mark.parametrize(
    "text",
    [
        "put everything from before 2022 in a folder Old",
        "leg alles von vor 2022 in einen Ordner Alt",
        "mueve todo lo de antes de 2022 a una carpeta Viejo",
        "delete everything from before 2022",
    ],
)
async def test_where_some_do_it_is_asked_which_year_counts(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    outcome = await model.plan(task(text, MIXED), catalogue)
    assert isinstance(outcome, Unclear), outcome
    named, changed = (offer.calls[0][1] for offer in outcome.offers)
    assert named["include"] == [*MINUTES[:2]]
    assert changed["modified_before"] == "2022-01-01"


@pytest.mark.parametrize(
    "text", ["delete everything older than 2 years", "delete the pdfs from 2023", "move all to Old2"]
)
async def test_nothing_is_asked_of_names_that_say_no_such_year(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    assert isinstance(await model.plan(task(text, MIXED), catalogue), Drafted)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("alles von vor 2024 ins Archiv, für jedes Jahr ein eigener Ordner", "Archiv"),
        ("für jedes jahr ein ordner", "."),
        ("pro Jahr ein Ordner", "."),
        ("everything from before 2024 into a folder per year", "."),
    ],
)
async def test_a_folder_for_each_year_is_sorting_by_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, target: str
) -> None:
    outcome = await model.plan(task(text, CLUB), catalogue)
    assert isinstance(outcome, Drafted), outcome
    step = outcome.plan.steps[-1]
    assert (step.tool, step.args["by"], step.args["target"]) == ("organize-by-type.sort", "name_year", target)
    said = json.loads((await model.review(task(text, CLUB), outcome.plan, catalogue)).text)
    assert said["approved"], said
