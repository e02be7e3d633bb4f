"""A folder that is told beside a kind of files says where else they lie: it never goes itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
VAN = ("setup.exe", "insurance.pdf", "fuel/receipt march.pdf", "fuel/app.exe", "e.pdf")


@pytest.mark.parametrize(
    "text",
    [
        "get rid of all the exe files, fuel folder an all",
        "delete all exe files including the fuel folder",
        "delete the exe files, in the fuel folder too",
        "lösch alle exe, auch im ordner fuel",
        "borra los exe, también los de la carpeta fuel",
    ],
)
async def test_only_files_of_the_kind_go_at_the_top_and_in_it(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    asked = await model.plan(task(text, VAN), catalogue)
    assert isinstance(asked, Unclear), asked
    (offer,) = asked.offers
    assert {*offer.calls[0][1]["include"]} == {"setup.exe", "fuel/app.exe"}
    assert [tool for tool, _ in offer.calls] == ["manage-files.list", "manage-files.delete"]


async def test_a_folder_that_is_to_go_with_all_that_is_in_it_goes(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    done = await model.plan(task("delete the fuel folder and all", VAN), catalogue)
    assert isinstance(done, Drafted)
    assert done.plan.steps[-1].args["paths"] == ["fuel"]


async def test_what_is_told_of_them_besides_chooses_as_well(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    text = "die pdfs schreib ich auf und dann nix rein, auch im fuel ordner. kannst du die leeren alle wegmachen?"
    outcome = await model.plan(task(text, VAN), catalogue)
    offered = outcome.offers if isinstance(outcome, Unclear) else ()
    assert not any("insurance.pdf" in args.get("include", ()) for offer in offered for _, args in offer.calls)
