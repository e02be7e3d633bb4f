"""A picture, of the folder or attached: from the file to the vendor's request for the next plan and the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from libs.database import Dsns
from libs.events import Asset, ToolFailed, ToolRequested, ToolSucceeded
from libs.models.choice import Key, chosen
from libs.models.vendors import Bounds, Price, VendorModel, opened
from libs.objects import UPLOADS, area
from libs.objects.filesystem import FilesystemObjects
from libs.resilience import GuardedCall
from tests.infrastructure.vendor import KEY, Vendor, called, planned, said, vendor
from tests.libs.documents.test_pictures import claimed, drawn, scanned
from tests.support.platform import plan, run_platform, scripted_model

READ, OTHER = ("edit-files.read", {"path": "red.png"}), ("edit-files.read", {"path": "blue.png"})


@asynccontextmanager
async def seeing(name: str, there: Vendor, objects: FilesystemObjects) -> AsyncIterator[VendorModel]:
    """A model of this name, which is shown pictures if models of its kind see."""
    which = chosen(name, url=there.url, key=Key(SecretStr(KEY), None, {}))
    async with opened(which, Bounds()) as line:
        yield VendorModel(
            line,
            GuardedCall("model"),
            price=Price(1, 2),
            now=lambda: datetime.now(UTC),
            budgets=None,
            load=objects.get if which.sees else None,
        )


async def test_picture_reaches_the_next_plan_and_the_answer(home: Dsns, tmp_path: Path) -> None:
    objects = FilesystemObjects(tmp_path / "objects", max_bytes=1 << 30)
    async with (
        vendor(planned(READ, complete=False), planned(OTHER), said("It is red.")) as there,
        AsyncExitStack() as on,
    ):
        model = await on.enter_async_context(seeing("openai:gpt-5-toy", there, objects))
        async with run_platform(home, tmp_path, model=model, objects=objects) as at:
            (at.root / "red.png").write_bytes(drawn("PNG"))
            (at.root / "blue.png").write_bytes(drawn("PNG", color="blue"))
            turn = await at.say("which colour has the picture?", session="s", root=at.root)
            ended = await at.ended(turn, session="s")
            assert ended.state == "completed", ended
        assert [asked.text.count("data:image/jpeg;base64,") for asked in there.asked] == [0, 1, 2]


@pytest.mark.parametrize("name", ["openai:gpt-5-toy", "openai:gpt-3.5-toy"], ids=["sees", "blind"])
async def test_attached_picture_reaches_a_model_that_sees(home: Dsns, tmp_path: Path, name: str) -> None:
    objects = FilesystemObjects(tmp_path / "objects", max_bytes=1 << 30)
    answer = called({"kind": "answer", "text": "It is red."})
    async with vendor(answer) as there, AsyncExitStack() as on:
        model = await on.enter_async_context(seeing(name, there, objects))
        async with run_platform(home, tmp_path, model=model, objects=objects) as at:
            blob = await objects.put(area("local", UPLOADS), drawn("PNG"))
            file = Asset(asset_id="a", filename="photo.png", media_type="image/png", sha256=blob.sha256, size=blob.size)
            turn = await at.say("which colour has the photo?", session="s", root=at.root, attachments=(file,))
            ended = await at.ended(turn, session="s")
            assert ended.state == "completed", ended
    (asked,) = there.asked
    sees = "gpt-5" in name
    assert asked.text.count("data:image/jpeg;base64,") == sees
    assert ("You see no pictures" in asked.text) == (not sees)


async def test_attached_picture_marks_the_session(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        file = Asset(asset_id="a", filename="photo.png", media_type="image/png", sha256="0" * 64, size=1)
        turn = await at.say("look", session="s", root=at.root, attachments=(file,))
        await at.ended(turn, session="s")
        asked = [event for event in await at.logged("s") if isinstance(event, ToolRequested)]
        assert (asked[0].touched.private, asked[0].touched.untrusted, asked[0].touched.secret) == (True, True, False)


async def test_read_of_a_picture_describes_it(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        (at.root / "red.png").write_bytes(drawn("PNG"))
        turn = await at.say("look", session="s", root=at.root)
        await at.ended(turn, session="s")
        (done,) = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
        assert (done.data.json_["text"], done.data.json_["complete"]) == ("a PNG picture of 40 × 20 pixels", False)
        assert (done.touched.private, done.touched.untrusted) == (True, True)


async def test_read_of_a_scan_shows_its_first_page(home: Dsns, tmp_path: Path) -> None:
    step = ("edit-files.read", {"path": "letter.pdf"})
    async with run_platform(home, tmp_path, model=scripted_model(plan(step))) as at:
        (at.root / "letter.pdf").write_bytes(scanned(2))
        turn = await at.say("read the letter", session="s", root=at.root)
        await at.ended(turn, session="s")
        (done,) = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
        assert "a scan without text" in done.data.json_["text"]
        assert done.data.json_["picture"]["media_type"] == "image/jpeg"


@pytest.mark.requirement("A3")
async def test_bomb_of_a_picture_is_refused(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(READ))) as at:
        (at.root / "red.png").write_bytes(claimed(60_000, 60_000))
        turn = await at.say("look", session="s", root=at.root)
        await at.ended(turn, session="s")
        (failed,) = [event for event in await at.logged("s") if isinstance(event, ToolFailed)]
        assert "more than 40,000,000" in failed.error
