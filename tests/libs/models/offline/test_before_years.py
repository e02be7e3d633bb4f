"""Years that names tell: "from before 2024" is no year 2024."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
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
