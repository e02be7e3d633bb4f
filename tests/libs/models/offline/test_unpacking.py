"""Where an archive comes out: into a folder of its own, or, where that is said, straight among what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PATHS = ("data/raw.2021.zip", "data/raw/a.txt", "other/b.txt")
FACTS: dict[str, Any] = {"names": ["data/", "other/"], "paths": list(PATHS)}
STRAIGHT = {"path": "data/raw.2021.zip", "target": "data/raw", "straight": True}


@pytest.fixture
def unpacks(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str) -> dict[str, Any]:
        outcome = await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue)
        assert isinstance(outcome, Drafted), outcome
        (step,) = outcome.plan.steps
        return dict(step.args)

    return planned


@pytest.mark.parametrize(
    "text",
    [
        "unzip raw.2021.zip directly into data/raw, no subfolder",
        "unzip raw.2021.zip straight into data/raw",
        "unpack raw.2021.zip in the raw folder, without a new folder",
        "entpacke raw.2021.zip direkt in den Ordner data/raw",
        "Entpacken Sie raw.2021.zip bitte in data/raw, ohne einen neuen Ordner",
        "descomprime raw.2021.zip directamente en data/raw",
        "descomprime raw.2021.zip en data/raw sin crear una carpeta nueva",
    ],
)
async def test_no_folder_is_made_where_nobody_wants_one(unpacks: Any, text: str) -> None:
    assert await unpacks(text) == STRAIGHT


async def test_a_folder_beside_the_archive_is_meant_where_none_here_is_called_so(unpacks: Any) -> None:
    assert await unpacks("unzip raw.2021.zip into folder raw please") == {
        "path": "data/raw.2021.zip",
        "target": "data/raw",
    }


async def test_right_away_is_no_place(unpacks: Any) -> None:
    assert await unpacks("unzip raw.2021.zip right away") == {"path": "data/raw.2021.zip"}
