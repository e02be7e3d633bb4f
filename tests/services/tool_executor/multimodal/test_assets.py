"""Assets: kept once, sealed, read in parts, and deleted when their time has come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import Conflict
from libs.keys.sealing import FRAME, SealBroken
from libs.multimodal.ports import Made, StepType
from libs.objects import ASSETS, BlobCorrupt, area
from libs.objects.content import place
from services.tool_executor.multimodal.asset_rows import ContentsCondemned
from services.tool_executor.multimodal.asset_settings import Retention, RetentionClass
from services.tool_executor.multimodal.assets import Assets, Kept, Making, NoSuchAsset, redacted
from services.tool_executor.rows import SessionErased
from services.tool_executor.workspaces import GROUP
from tests.support.platform import TENANT, RunningPlatform, run_platform

DAY = 86_400
RETENTION = Retention(
    classes={"short": RetentionClass(days=1), "open": RetentionClass(encrypted=False), "kept": RetentionClass()},
    default="kept",
)
NOISE = bytes(n * n % 251 for n in range(3 * FRAME + 99))


class Desk:
    """Keeps assets as calls would."""

    def __init__(self, running: RunningPlatform) -> None:
        self.running, self.platform = running, running.platform
        self.assets = Assets(running.platform, RETENTION)

    def about(self, session: str = "s1", tenant: str = TENANT, **facts: Any) -> Making:
        id = ids.new()
        cause = Cause.request(GROUP, id=id, tenant=tenant, key=f"{tenant}:{session}", session=session, turn="t1")
        usual: dict[str, Any] = {
            "turn_id": "t1",
            "call_id": id,
            "execution_id": f"{id}:1",
            "principal": "ana",
            "provider": "local",
        }
        making = Making(cause, ids.new(), StepType.DIAGRAM, tool_id="generate_diagram", title="Flow", **usual)
        return replace(making, **facts)

    async def keep(self, data: bytes = NOISE, format: str = "markdown", **given: Any) -> Kept:
        retention = self.assets.retention(given.pop("retention", None))
        about = self.about(**given)
        made = Made(data, format, model="suma 1", parameters={"theme": "plain"})
        kept = await self.assets.keep(made, about, retention=retention)
        await self.commit(about.cause, kept)
        return kept

    async def commit(self, cause: Cause, kept: Kept) -> None:
        await self.platform.writer.apply(Changeset(cause).put(*kept.rows).emit(*kept.events))

    async def read(self, kept: Kept, start: int = 0, end: int | None = None, tenant: str = TENANT) -> bytes:
        found = await self.assets.find(tenant, kept.asset_id)
        return b"".join([piece async for piece in self.assets.open(tenant, found, start=start, end=end)])

    async def blob(self, kept: Kept) -> Path:
        found = await self.assets.find(TENANT, kept.asset_id)
        objects = self.platform.data_dir / "objects"
        return objects / place(area(TENANT, f"{ASSETS}/{found.retention}"), found.blob)

    def blobs(self) -> int:
        return sum(path.is_file() for path in (self.platform.data_dir / "objects").rglob("assets/*/*/*"))

    async def swept(self) -> None:
        """Wait until what is due was done."""
        pool = await self.platform.database.bus()
        async with asyncio.timeout(30):
            while await pool.fetchval(
                "select exists (select from bus.leases where due_at <= bus.now() or owner is not null)"
            ):
                await self.platform.bus.waiting()


@pytest_asyncio.fixture(loop_scope="session")
async def desk(home: Dsns, tmp_path: Path) -> AsyncIterator[Desk]:
    settings = {GROUP: {"assets": RETENTION.model_dump()}}
    async with run_platform(home, tmp_path, names=(GROUP,), settings=settings) as running:
        yield Desk(running)


def drawn(color: str = "#336699") -> bytes:
    out = BytesIO()
    Image.new("RGB", (90, 60), color).save(out, "PNG")
    return out.getvalue()


@pytest.mark.requirement("S3-35", "S3-39")
async def test_an_asset_has_a_row_and_its_provenance(desk: Desk) -> None:
    kept = await desk.keep(drawn(), "png", quality=0.9, made_from=("nov.xlsx",), parents=("a0",))
    found = await desk.assets.find(TENANT, kept.asset_id)
    assert (found.asset_type, found.format, found.sha256, found.size) == ("image", "png", kept.sha256, len(kept.data))
    assert found.credentials
    assert desk.assets.anchored(found)
    assert not desk.assets.anchored(replace(found, sha256="00" * 32))
    told = found.provenance
    assert (told["user_id"], told["tool_id"], told["made_from"]) == ("ana", "generate_diagram", ["nov.xlsx"])
    given = await desk.assets.load(TENANT, kept.asset_id, session="s1")
    assert given.data == kept.data
    assert given.provenance["quality"] == "0.90"


@pytest.mark.requirement("S3-35")
async def test_equal_content_is_stored_once_for_a_tenant(desk: Desk) -> None:
    one, other = await desk.keep(drawn(), "png"), await desk.keep(drawn(), "png", session="s2")
    assert one.asset_id != other.asset_id
    assert (one.sha256, one.data) == (other.sha256, other.data)
    assert desk.blobs() == 1
    await desk.keep(drawn("#000000"), "png")
    await desk.keep(drawn(), "png", retention="open")
    assert desk.blobs() == 3


@pytest.mark.requirement("S3-57")
@pytest.mark.parametrize("retention", ["kept", "open"])
async def test_a_part_of_an_asset_is_read_alone(desk: Desk, retention: str) -> None:
    kept = await desk.keep(retention=retention)
    for start, end in ((0, None), (0, 1), (FRAME - 1, FRAME + 1), (2 * FRAME + 5, len(NOISE)), (7, 10**9)):
        assert await desk.read(kept, start, end) == NOISE[start:end]
    stored = (await desk.blob(kept)).read_bytes()
    assert (NOISE[:1000] in stored) == (retention == "open")


@pytest.mark.requirement("S3-57")
@pytest.mark.parametrize("change", ["flipped", "cut"])
async def test_a_changed_blob_is_not_read(desk: Desk, change: str) -> None:
    kept = await desk.keep()
    path = await desk.blob(kept)
    stored = path.read_bytes()
    path.write_bytes(stored[:-9] if change == "cut" else stored[:9] + bytes([stored[9] ^ 1]) + stored[10:])
    with pytest.raises((SealBroken, BlobCorrupt)):
        await desk.read(kept, 0, 10 if change == "flipped" else len(NOISE) - 1)


@pytest.mark.requirement("P8")
async def test_another_tenant_sees_no_asset(desk: Desk) -> None:
    kept = await desk.keep()
    with pytest.raises(NoSuchAsset):
        await desk.assets.find("other", kept.asset_id)


@pytest.mark.requirement("P8")
async def test_a_call_builds_on_assets_of_its_session_alone(desk: Desk) -> None:
    kept = await desk.keep()
    with pytest.raises(NoSuchAsset, match="in this session; make it here"):
        await desk.assets.load(TENANT, kept.asset_id, session="s2")


async def test_an_expired_asset_goes_with_its_blob(desk: Desk) -> None:
    kept, other = await desk.keep(retention="short"), await desk.keep(b"# Text", retention="kept")
    await desk.running.later(DAY + 5)
    await desk.swept()
    with pytest.raises(NoSuchAsset):
        await desk.assets.find(TENANT, kept.asset_id)
    assert await desk.read(other) == b"# Text"
    assert desk.blobs() == 1


async def test_a_blob_stays_while_an_asset_names_it(desk: Desk) -> None:
    await desk.keep(retention="short")
    await desk.running.later(DAY / 2)
    second = await desk.keep(retention="short")
    await desk.running.later(DAY / 2 + 5)
    await desk.swept()
    assert await desk.read(second) == NOISE


@pytest.mark.requirement("S2-28")
async def test_an_erased_session_leaves_no_asset(desk: Desk) -> None:
    kept, other = await desk.keep(), await desk.keep(session="s2")
    about = desk.about()
    await desk.platform.writer.apply(Changeset(about.cause).put(SessionErased("s1")))
    with pytest.raises(NoSuchAsset):
        await desk.assets.find(TENANT, kept.asset_id)
    assert await desk.read(other) == NOISE


async def test_content_of_a_call_that_died_is_collected(desk: Desk) -> None:
    made = Made(NOISE, "markdown")
    await desk.assets.keep(made, desk.about(), retention="kept")
    assert desk.blobs() == 1
    await desk.running.later(2 * 3600)
    await desk.swept()
    assert desk.blobs() == 0


async def test_an_asset_never_names_a_condemned_content(desk: Desk) -> None:
    about = desk.about()
    kept = await desk.assets.keep(Made(NOISE, "markdown"), about, retention="kept")
    condemned = ContentsCondemned(collector="c1", seconds=0)
    await desk.platform.writer.apply(Changeset(desk.about().cause).put(condemned))
    with pytest.raises(Conflict):
        await desk.commit(about.cause, kept)


async def test_a_repeated_call_keeps_its_first_asset(desk: Desk) -> None:
    about = desk.about()
    first = await desk.assets.keep(Made(NOISE, "markdown"), about, retention="kept")
    await desk.commit(about.cause, first)
    again = await desk.assets.keep(Made(b"# Other", "markdown"), about, retention="kept")
    await desk.commit(replace(about.cause, id=ids.new()), again)
    assert await desk.read(first) == NOISE


@pytest.mark.requirement("S3-39")
async def test_a_prompt_is_kept_whole_only_where_policy_allows(desk: Desk) -> None:
    prompt = "Draw ana@example.org at https://x.example/?k=1, card 4111 1111 1111 1111, token sk1abcdefghijklmnopqrstuv"
    words = await desk.assets.words(desk.about().cause, "a1", prompt, principal="ana", scopes=("*",))
    kept = await desk.keep(words=words)
    told = (await desk.assets.find(TENANT, kept.asset_id)).provenance
    assert told["prompt_summary"] == "Draw [address] at [link] card [number], token [secret]"
    assert not told["prompt_is_full"]


def test_a_summary_of_a_prompt_is_short() -> None:
    assert len(redacted("word " * 10_000)) <= 201


async def test_a_picture_without_credentials_is_kept_with_a_warning(desk: Desk) -> None:
    kept = await desk.keep(b"no picture", "png")
    assert "no content credentials" in kept.warnings[0]
    assert not (await desk.assets.find(TENANT, kept.asset_id)).credentials
