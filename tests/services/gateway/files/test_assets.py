"""Downloads of a conversation's files: streamed, or by a short-lived link if clients reach the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.s3 import s3
from libs import ids
from libs.database import Dsns
from libs.events import StepChanged
from libs.events.values import Asset, StepState
from libs.keys.file import FileKeys
from libs.objects import Objects
from libs.objects.filesystem import FilesystemObjects
from libs.objects.s3 import Account, Outside, connected
from libs.policy import Policy
from libs.telemetry.logs import LIBRARIES
from tests.services.gateway.running import RunningGateway, running_gateway
from tests.services.gateway.uploading import BYTES, PLACE, metadata

CONTENT = b"0123456789" * 200_000
MOST = 1 << 30


@dataclass
class Assets:
    """A gateway, its store, and a session with one result too large for an event."""

    gateway: RunningGateway
    objects: Objects
    http: httpx.AsyncClient
    session: str = ""
    asset: str = ""

    async def put(
        self, content: bytes = CONTENT, filename: str = "step-1-list.json", media_type: str = "application/json"
    ) -> str:
        blob = await self.objects.put(self.gateway.tenant, content)
        said = (await self.http.post("/v1/sessions/message", json={"text": "list"})).json()
        self.session, self.asset = said["session_id"], ids.new()
        result = Asset(
            asset_id=self.asset,
            filename=filename,
            media_type=media_type,
            sha256=blob.sha256,
            size=len(content),
        )
        about = {"turn_id": said["turn_id"], "plan_id": "p", "step_id": "s", "ordinal": 1, "tool": "list"}
        told = StepChanged(**about, description="", state=StepState.SUCCEEDED, result=result)
        await self.gateway.worker_says(self.session, told, told)
        await self.gateway.seen(self.session, lambda event: event.type == "step.changed")
        return self.path

    @property
    def path(self) -> str:
        return f"/v1/assets/{self.asset}"

    async def get(self, **headers: str) -> httpx.Response:
        return await self.http.get(self.path, headers=headers)

    async def recorded(self) -> list[tuple[str, str, str]]:
        """Return phase, verdict and resource of this asset's records."""
        return [(r["phase"], r["verdict"], r["resource"]) for r in await self.gateway.audited("asset.read")]


@pytest_asyncio.fixture(loop_scope="session")
async def assets(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, tmp_path: Path
) -> AsyncIterator[Assets]:
    objects = FilesystemObjects(tmp_path / "objects", max_bytes=MOST)
    async with (
        running_gateway(gateway_where, owner, policy=rules, keys=keys, objects=objects) as made,
        made.client() as http,
    ):
        yield Assets(made, objects, http)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bucket() -> AsyncIterator[Objects]:
    try:
        async with s3() as server:
            account = Account(server.url, server.region, server.access_key, server.secret_key)
            async with connected("gateway", account, max_bytes=MOST, outside=Outside(server.url, 60)) as objects:
                yield objects
    except Unprovided as reason:
        pytest.skip(f"no S3 server: {reason}")


@pytest_asyncio.fixture(loop_scope="session")
async def linking(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, bucket: Objects
) -> AsyncIterator[Assets]:
    """A gateway whose clients reach the object store."""
    async with (
        running_gateway(gateway_where, owner, policy=rules, keys=keys, objects=bucket) as made,
        made.client() as http,
    ):
        yield Assets(made, bucket, http)


async def test_large_result_downloads_and_never_renders_in_a_browser(assets: Assets) -> None:
    await assets.put(filename="Größe.json")
    answer = await assets.get()
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"].startswith('attachment; filename="Gr__e.json"; ')
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.requirement("A28a")
@pytest.mark.parametrize(("filename", "media_type"), [("x.html", "text/html"), ("x.svg", "image/svg+xml")])
async def test_stored_page_or_drawing_runs_no_script(assets: Assets, filename: str, media_type: str) -> None:
    await assets.put(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", filename, media_type)
    headers = (await assets.get()).headers
    assert headers["content-disposition"].startswith(f'attachment; filename="{filename}"')
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=5-9", 5, 10),
        ("bytes=1999990-", 1999990, 2000000),
        ("bytes=-7", 1999993, 2000000),
        ("bytes=-9999999", 0, 2000000),
        ("bytes=1500000-9999999", 1500000, 2000000),
        ("Bytes=1-2", 1, 3),
    ],
)
async def test_a_part_of_it_is_the_slice(assets: Assets, asked: str, start: int, end: int) -> None:
    await assets.put()
    answer = await assets.get(Range=asked)
    assert (answer.status_code, answer.content) == (206, CONTENT[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"


@pytest.mark.parametrize("asked", ["lines=1-2", "bytes=9-1", "bytes=0-1,5-6", "bytes=-", "bytes", "bytes=a-b"])
async def test_unusable_range_returns_the_whole_file(assets: Assets, asked: str) -> None:
    await assets.put()
    answer = await assets.get(Range=asked)
    assert (answer.status_code, len(answer.content)) == (200, len(CONTENT))


@pytest.mark.parametrize("asked", ["bytes=2000000-", "bytes=99999999-999999999", "bytes=-0"])
async def test_a_range_behind_the_end_is_refused(assets: Assets, asked: str) -> None:
    await assets.put()
    answer = await assets.get(Range=asked)
    assert (answer.status_code, answer.json()["code"]) == (416, "OUT_OF_RANGE")
    assert answer.headers["content-range"] == f"bytes */{len(CONTENT)}"


async def test_interrupted_download_resumes_if_content_is_unchanged(assets: Assets) -> None:
    await assets.put()
    tag = (await assets.get()).headers["etag"]
    goes_on = await assets.get(Range="bytes=10-", **{"If-Range": tag})
    anew = await assets.get(Range="bytes=10-", **{"If-Range": '"another"'})
    assert (goes_on.status_code, anew.status_code) == (206, 200)


@pytest.mark.requirement("A9", "A29", "P8")
@pytest.mark.parametrize("scopes", [("chat", "files:write", "admin"), ()])
@pytest.mark.slow
async def test_caller_without_files_read_gets_neither_content_nor_link(
    linking: Assets, scopes: tuple[str, ...]
) -> None:
    await linking.put()
    async with linking.gateway.client(await linking.gateway.key(*scopes)) as other:
        answer = await other.get(linking.path)
    assert (answer.status_code, answer.json()["code"]) == (403, "POLICY_DENIED")
    assert "location" not in answer.headers
    assert await linking.recorded() == [("decision", "deny", "")]


@pytest.mark.requirement("A29", "P8")
@pytest.mark.slow
async def test_another_tenants_file_looks_like_none(linking: Assets) -> None:
    await linking.put()
    async with linking.gateway.client(await linking.gateway.key("*", tenant=ids.new())) as stranger:
        theirs, none = await stranger.get(linking.path), await stranger.get(f"/v1/assets/{ids.new()}")
    assert (theirs.status_code, theirs.json()) == (404, none.json())
    assert "location" not in theirs.headers


@pytest.mark.requirement("P6")
async def test_download_is_recorded_before_it_is_sent(assets: Assets) -> None:
    await assets.put()
    await assets.get()
    name = f"asset:{assets.asset}"
    assert await assets.recorded() == [("decision", "allow", name), ("outcome", "streamed", name)]


async def test_missing_or_damaged_content_is_never_sent_as_complete(assets: Assets, tmp_path: Path) -> None:
    for content in (b"small" * 20_000, CONTENT):
        await assets.put(content)
        (blob,) = (path for path in (tmp_path / "objects").rglob("*") if path.is_file())
        blob.write_bytes(bytes(len(content)))
        with pytest.raises((httpx.HTTPError, AssertionError)):
            assert len((await assets.get()).raise_for_status().content) == len(content)
        blob.unlink()
        assert (await assets.get()).status_code == 404


@pytest.mark.requirement("A29")
@pytest.mark.slow
async def test_reachable_store_is_redirected_to_without_a_key(linking: Assets) -> None:
    await linking.put()
    answer = await linking.get()
    assert (answer.status_code, answer.content) == (307, b"")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    async with httpx.AsyncClient() as anyone:
        found = await anyone.get(answer.headers["location"], headers={"Range": "bytes=5-9"})
    assert (found.status_code, found.content) == (206, CONTENT[5:10])
    assert found.headers["content-disposition"] == 'attachment; filename="step-1-list.json"; ' + (
        "filename*=UTF-8''step-1-list.json"
    )


@pytest.mark.requirement("A29", "S3-33")
@pytest.mark.slow
async def test_upload_in_two_pieces_is_linked_to_in_s3(linking: Assets) -> None:
    half = len(CONTENT) // 2
    about = {**BYTES, "Upload-Length": str(len(CONTENT)), "Upload-Metadata": metadata(filename="Größe.txt")}
    begun = (await linking.http.post(PLACE, headers=about, content=CONTENT[:half])).json()
    rest = {**BYTES, "Upload-Offset": str(half)}
    ended = await linking.http.patch(f"{PLACE}/{begun['upload_id']}", headers=rest, content=CONTENT[half:])
    assert ended.headers["upload-offset"] == str(len(CONTENT))
    linking.asset = begun["upload_id"]
    answer = await linking.get()
    assert (answer.status_code, answer.content) == (307, b"")
    async with httpx.AsyncClient() as anyone:
        found = await anyone.get(answer.headers["location"])
    assert (found.status_code, found.content) == (200, CONTENT)
    assert found.headers["content-type"] == "text/plain"
    assert found.headers["content-disposition"].startswith('attachment; filename="Gr__e.txt"; ')


@pytest.mark.requirement("A29", "P6")
@pytest.mark.slow
async def test_signed_link_appears_in_the_answer_alone(linking: Assets, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(LIBRARIES)
    await linking.put()
    link = (await linking.get()).headers["location"]
    signature = link.rpartition("=")[2]
    name = f"asset:{linking.asset}"
    assert await linking.recorded() == [("decision", "allow", name), ("outcome", "linked", name)]
    pool = await linking.gateway.platform.database.bus()
    said: list[Any] = await pool.fetch("select headers::text || data::text as all from bus.log")
    assert len(signature) == 64
    assert not [row for row in said if signature in row["all"] or "X-Amz" in row["all"]]
    assert signature not in caplog.text


@pytest.mark.slow
async def test_key_in_a_forwardable_header_gets_no_link(linking: Assets) -> None:
    await linking.put()
    header = {"X-API-Key": linking.gateway.owner}
    async with linking.gateway.client(**header, Authorization="") as http:
        answer = await http.get(linking.path)
    assert (answer.status_code, answer.content) == (200, CONTENT)


async def test_small_result_makes_no_asset_and_repetition_no_second(assets: Assets) -> None:
    await assets.put()
    rows = await assets.gateway.rows("select asset_id, session_id, size from gateway.attachments")
    assert [tuple(row) for row in rows] == [(assets.asset, assets.session, len(CONTENT))]
