"""Empty files and empty folders are told apart, and from what is listed beside them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44")
PATHS = ("plan.txt", "a.tmp", "film.mp4.crdownload", "Bills/Thumbs.db", "Bills/may.pdf", "Bills/old.bak")
Catalogue = Sequence[ToolDefinition]


async def cleared(model: OfflineModel, catalogue: Catalogue, text: str) -> tuple[set[str], set[str]]:
    """The kinds that have to be empty to go, and the files that go by their names."""
    asked = await model.plan(task(text, PATHS), catalogue)
    outcome = await model.plan(task(text, PATHS, reply="yes"), catalogue) if isinstance(asked, Unclear) else asked
    assert isinstance(outcome, Drafted), outcome
    looks = [step.args for step in outcome.plan.steps if step.tool == "manage-files.list"]
    hollow = {str(args["node_kind"]) for args in looks if args.get("empty")}
    return hollow, {path for args in looks if not args.get("empty") for path in args.get("include", ())}


@pytest.mark.parametrize(
    ("text", "kind", "files"),
    [
        (
            "clear out the rubbish in here and below, half downloaded things, old bak stuff, and empty folders",
            "directory",
            {"film.mp4.crdownload", "Bills/old.bak"},
        ),
        (
            "delete all tmp and bak files and also empty ones, in every folder, is only rubbish",
            "file",
            {"a.tmp", "Bills/old.bak"},
        ),
        ("hiya can you get rid of the tmp file and that empty folder, dont need em", "directory", {"a.tmp"}),
        ("lösch die tmp und den leeren Ordner", "directory", {"*.tmp"}),
        ("borra la carpeta vacía", "directory", set()),
    ],
)
async def test_only_what_is_said_to_be_empty_has_to_be(
    model: OfflineModel, catalogue: Catalogue, text: str, kind: str, files: set[str]
) -> None:
    hollow, named = await cleared(model, catalogue, text)
    assert hollow == {kind}
    assert named >= files
    assert not named & {"plan.txt", "Bills/may.pdf"}
