"""Attached files: planners see their names, and one tool copies them into the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs import ids
from libs.database import Dsns
from libs.events import PlanRequested, StepChanged
from libs.events.values import Asset, Attached, Hitl, StepState
from libs.objects import UPLOADS, area
from tests.support.platform import TENANT, RunningPlatform, plan, run_platform, scripted_model

IMPORT = plan(("manage-files.import", {"target": "Papers"}))
TEXT = b"a report about gulls\n" * 10_000


async def attached(
    home: RunningPlatform, content: bytes = TEXT, name: str = "gulls.txt", tenant: str = TENANT
) -> Asset:
    blob = await home.platform.objects.put(area(tenant, UPLOADS), content)
    about = {"filename": name, "media_type": "text/plain", "sha256": blob.sha256, "size": blob.size}
    return Asset.model_validate({"asset_id": ids.new(), **about})


async def test_attached_files_are_copied_into_the_folder(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path) as one:
        root = one.folder("Papers/gulls.txt", "notes.txt")
        files = (await attached(one), await attached(one, b"", "empty.txt"))
        turn = await one.say("save the attachments to Papers", session="s", root=root, attachments=files)
        asked = await one.asked(session="s")
        assert asked.args == {"names": ["gulls.txt", "empty.txt"], "target": "Papers"}
        await one.decide(asked, session="s")
        assert (await one.finish(turn, session="s")).state == "completed"
    found = {path.name: path.read_bytes() for path in (root / "Papers").iterdir()}
    assert found == {"gulls.txt": b"Papers/gulls.txt", "gulls (2).txt": TEXT, "empty.txt": b""}


async def test_planners_see_the_names_of_attached_files(home: Dsns, tmp_path: Path) -> None:
    look = plan(("manage-files.list", {"path": "."}))
    async with run_platform(home, tmp_path, model=scripted_model(look, look)) as one:
        root, file = one.folder("a.txt"), await attached(one)
        for attachments in ((file,), ()):
            turn = await one.say("look", session="s", root=root, attachments=attachments)
            await one.finish(turn, session="s")
        asked = [event.task.attachments for event in await one.logged("s") if isinstance(event, PlanRequested)]
    assert asked == [(Attached(name="gulls.txt", media_type="text/plain", size=len(TEXT)),)] * 2


@pytest.mark.requirement("P8")
async def test_another_tenants_content_is_not_imported(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(IMPORT)) as one:
        root, file = one.folder("a.txt"), await attached(one, b"secret", tenant="other")
        turn = await one.say("import it", session="s", root=root, attachments=(file,), hitl=Hitl.BYPASS)
        step = await one.until(
            StepChanged, session="s", where=lambda event: event.state in (StepState.FAILED, StepState.SUCCEEDED)
        )
        await one.ended(turn, session="s")
    assert (step.state, (root / "Papers").exists()) == (StepState.FAILED, False)


async def test_import_without_attached_files_fails(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(IMPORT)) as one:
        turn = await one.say("import it", session="s", root=one.folder("a.txt"), hitl=Hitl.BYPASS)
        step = await one.until(StepChanged, session="s", where=lambda event: event.state is StepState.FAILED)
        await one.ended(turn, session="s")
    assert "upload one" in (step.error or "")
