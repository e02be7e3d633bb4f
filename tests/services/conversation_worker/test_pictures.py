"""A picture of the folder, from the file to the vendor's request for the next plan and the answer."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from libs.database import Dsns
from libs.events import ToolFailed, ToolSucceeded
from libs.models.choice import Key, chosen
from libs.models.vendors import Bounds, Price, VendorModel, opened
from libs.objects.filesystem import FilesystemObjects
from libs.resilience import GuardedCall
from tests.infrastructure.vendor import KEY, planned, said, vendor
from tests.libs.documents.test_pictures import claimed, drawn
from tests.support.platform import plan, run_platform, scripted_model

READ, OTHER = ("edit-files.read", {"path": "red.png"}), ("edit-files.read", {"path": "blue.png"})


async def test_picture_reaches_the_next_plan_and_the_answer(home: Dsns, tmp_path: Path) -> None:
    objects = FilesystemObjects(tmp_path / "objects", max_bytes=1 << 30)
    async with (
        vendor(planned(READ, complete=False), planned(OTHER), said("It is red.")) as there,
        AsyncExitStack() as on,
    ):
        which = chosen("openai:gpt-5-toy", url=there.url, key=Key(SecretStr(KEY), None, {}))
        line = await on.enter_async_context(opened(which, Bounds()))
        model = VendorModel(
            line,
            GuardedCall("model"),
            price=Price(1, 2),
            now=lambda: datetime.now(UTC),
            budgets=None,
            load=objects.get,
        )
        async with run_platform(home, tmp_path, model=model, objects=objects) as at:
            (at.root / "red.png").write_bytes(drawn("PNG"))
            (at.root / "blue.png").write_bytes(drawn("PNG", color="blue"))
            turn = await at.say("which colour has the picture?", session="s", root=at.root)
            ended = await at.ended(turn, session="s")
            assert ended.state == "completed", ended
        assert [asked.text.count("data:image/jpeg;base64,") for asked in there.asked] == [0, 1, 2]


async def test_read_of_a_picture_describes_it(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        (at.root / "red.png").write_bytes(drawn("PNG"))
        turn = await at.say("look", session="s", root=at.root)
        await at.ended(turn, session="s")
        (done,) = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
        assert (done.data.json_["text"], done.data.json_["complete"]) == ("a PNG picture of 40 × 20 pixels", False)
        assert (done.touched.private, done.touched.untrusted) == (True, True)


@pytest.mark.requirement("A3")
async def test_bomb_of_a_picture_is_refused(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        (at.root / "red.png").write_bytes(claimed(60_000, 60_000))
        turn = await at.say("look", session="s", root=at.root)
        await at.ended(turn, session="s")
        (failed,) = [event for event in await at.logged("s") if isinstance(event, ToolFailed)]
        assert "more than 40,000,000" in failed.error
