"""Uploads by tus 1.0: whole or in pieces, checked, bounded, shared within a tenant only, and deleted when unused."""

from __future__ import annotations

import asyncio
import hashlib
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from typing_extensions import override

from libs import ids
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.keys.file import FileKeys
from libs.policy import Policy
from services.cli.address import Address
from services.cli.client import Client
from services.cli.uploads import upload
from services.gateway.files.models import UploadShown
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway, served
from tests.services.gateway.uploading import BYTES, PART, PLACE, TUS, Uploads, WatchedObjects, metadata

CONTENT = b"two notes about birds\n" * 10_000
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
DAY = 25 * 3600.0
SETTINGS = {"upload_part_bytes": PART, "uploads_most": 5, "uploads_bytes_most": 1_000_000, "upload_bytes_most": 900_000}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def receiving(
    server: Postgres,
    gateway_template: str,
    rules: Policy,
    keys: FileKeys,
    owner: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[RunningGateway, WatchedObjects]]:
    """A gateway with low limits."""
    objects = WatchedObjects(tmp_path_factory.mktemp("objects"))
    database = infrastructure.fresh_database(server, gateway_template)
    async with (
        database as where,
        running_gateway(where, owner, policy=rules, keys=keys, objects=objects, settings=SETTINGS) as made,
    ):
        yield made, objects


@pytest_asyncio.fixture(loop_scope="session")
async def uploads(receiving: tuple[RunningGateway, WatchedObjects]) -> AsyncIterator[Uploads]:
    home, objects = receiving
    async with opened(home, objects) as made:
        yield made


def opened(home: RunningGateway, objects: WatchedObjects) -> _Opened:
    return _Opened(home, objects)


class _Opened:
    """A uploads for a tenant of its own."""

    def __init__(self, home: RunningGateway, objects: WatchedObjects) -> None:
        self._home, self._objects = replace(home, tenant=ids.new()), objects

    async def __aenter__(self) -> Uploads:
        home = replace(self._home, owner=await self._home.key("chat", "files:read", "files:write", principal="ada"))
        self._http = home.client()
        return Uploads(home, self._objects, self._http)

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()


@pytest.mark.requirement("S3-33")
async def test_an_upload_downloads_whole_and_in_ranges(uploads: Uploads) -> None:
    told = (await uploads.whole(CONTENT, "birds.txt", filetype="text/plain")).json()
    assert (told["complete"], told["sha256"]) == (True, hashlib.sha256(CONTENT).hexdigest())
    asset = f"/v1/assets/{told['upload_id']}"
    answer = await uploads.http.get(asset)
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, CONTENT, "text/plain")
    assert answer.headers["content-disposition"].startswith('attachment; filename="birds.txt"')
    part = await uploads.http.get(asset, headers={"Range": "bytes=4-8"})
    assert (part.status_code, part.content) == (206, CONTENT[4:9])


async def test_an_upload_in_pieces_goes_on_from_its_offset(uploads: Uploads) -> None:
    upload = (await uploads.begin(len(CONTENT))).json()["upload_id"]
    at = 0
    for size in (1, PART, 100_000, len(CONTENT)):
        answer = await uploads.send(upload, at, CONTENT[at : at + size])
        assert answer.status_code == 204, answer.text
        at = await uploads.offset(upload)
        assert int(answer.headers["upload-offset"]) == at
    assert (await uploads.http.get(f"/v1/assets/{upload}")).content == CONTENT


async def test_pieces_are_deleted_once_the_content_is_whole(uploads: Uploads) -> None:
    await uploads.id(CONTENT)
    await uploads.objects.until(lambda: [path.name for path in uploads.files] == [hashlib.sha256(CONTENT).hexdigest()])
    assert await uploads.rows("upload_parts") == 0


async def test_broken_connection_keeps_the_received_bytes(uploads: Uploads) -> None:
    upload = (await uploads.begin(len(CONTENT))).json()["upload_id"]
    async with served(uploads.gateway) as url:
        place = httpx.URL(url)
        _, writer = await asyncio.open_connection(place.host, place.port)
        head = {**BYTES, "Authorization": f"Bearer {uploads.gateway.owner}", "Host": "localhost", "Upload-Offset": "0"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**head, "Content-Length": str(len(CONTENT))}.items())
        writer.write(f"PATCH {PLACE}/{upload} HTTP/1.1\r\n{lines}\r\n".encode() + CONTENT[: PART + 10])
        await writer.drain()
        writer.close()
        async with asyncio.timeout(30):
            while not await uploads.offset(upload):
                await asyncio.sleep(0.01)
        await uploads.gateway.context.concurrency.empty()
    at = await uploads.offset(upload)
    assert at == PART + 10
    assert (await uploads.send(upload, at, CONTENT[at:])).status_code == 204
    assert (await uploads.http.get(f"/v1/assets/{upload}")).content == CONTENT


async def test_bytes_for_another_offset_are_refused(uploads: Uploads) -> None:
    upload = (await uploads.begin(10)).json()["upload_id"]
    assert (await uploads.send(upload, 3, b"abc")).json()["code"] == "UPLOAD_OFFSET"
    first, second = await asyncio.gather(uploads.send(upload, 0, b"abc"), uploads.send(upload, 0, b"abc"))
    assert sorted((first.status_code, second.status_code)) in ([204, 409], [204, 204])
    assert await uploads.offset(upload) == 3


async def test_more_bytes_than_announced_are_refused(uploads: Uploads) -> None:
    assert (await uploads.begin(3, body=b"abcd")).json()["code"] == "UPLOAD_TOO_LARGE"
    upload = (await uploads.begin(3)).json()["upload_id"]
    assert (await uploads.send(upload, 0, b"abcd")).status_code == 413
    assert await uploads.offset(upload) == 0


async def test_an_empty_file_is_complete_at_once(uploads: Uploads) -> None:
    upload = await uploads.id(b"", "empty.txt")
    assert (await uploads.http.get(f"/v1/assets/{upload}")).content == b""


@pytest.mark.parametrize(
    ("content", "name", "claim", "recorded"),
    [
        (PNG, "a.png", "image/png", "image/png"),
        (PNG, "a", "", "image/png"),
        (PNG, "a.csv", "", "image/png"),
        (b"a,b\n", "a.csv", "", "text/csv"),
        (b"BMW sells cars\n", "a.txt", "text/plain", "text/plain"),
        (b"PK\x03\x04" + bytes(60), "a.epub", "application/epub+zip", "application/epub+zip"),
        (bytes(range(256)), "a", "", "application/octet-stream"),
        (PNG, "a.txt", "text/plain", None),
        (b"hello", "a.png", "image/png", None),
        (b"MZ" + bytes(200), "a.pdf", "application/pdf", None),
        (bytes(range(256)), "a.json", "application/json", None),
    ],
)
async def test_content_decides_whether_the_claimed_type_holds(
    uploads: Uploads, content: bytes, name: str, claim: str, recorded: str | None
) -> None:
    answer = await uploads.whole(content, name, filetype=claim)
    if recorded is None:
        assert (answer.status_code, answer.json()["code"]) == (415, "TYPE_MISMATCH")
        assert await uploads.rows("uploads") == await uploads.rows("attachments") == 0
    else:
        assert answer.json()["media_type"] == recorded


async def test_content_without_the_announced_hash_is_deleted(uploads: Uploads) -> None:
    answer = await uploads.whole(CONTENT, sha256="0" * 64)
    assert (answer.status_code, answer.json()["code"]) == (422, "CHECKSUM_MISMATCH")
    await uploads.objects.until(lambda: not uploads.files)


@pytest.mark.parametrize(
    ("given", "shown"), [("../../etc/passwd", "passwd"), ("C:\\tmp\\a.txt", "a.txt"), ("..", "upload"), ("a\nb", "a_b")]
)
async def test_a_file_name_names_no_folder(uploads: Uploads, given: str, shown: str) -> None:
    assert (await uploads.whole(b"x", given)).json()["filename"] == shown


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Tus-Resumable": "0.2.2"}, 412, "UPLOAD_PROTOCOL"),
        ({"Upload-Length": "-1"}, 422, "INVALID_REQUEST"),
        ({"Upload-Length": "900001"}, 413, "UPLOAD_TOO_LARGE"),
        ({"Upload-Metadata": "filename !"}, 422, "BAD_METADATA"),
        ({"Upload-Metadata": metadata(filetype="text")}, 422, "BAD_MEDIA_TYPE"),
    ],
)
async def test_wrong_headers_begin_no_upload(uploads: Uploads, headers: dict[str, str], status: int, code: str) -> None:
    answer = await uploads.http.post(PLACE, headers={**TUS, "Upload-Length": "5", **headers})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert await uploads.rows("uploads") == 0


async def test_options_list_the_tus_extensions_and_limits(uploads: Uploads) -> None:
    told = (await uploads.http.options(PLACE)).headers
    assert (told["tus-version"], told["tus-max-size"]) == ("1.0.0", "900000")
    assert "creation-with-upload" in told["tus-extension"]


async def test_offset_comes_with_the_metadata_as_sent(uploads: Uploads) -> None:
    said = {"Upload-Length": "5", "Upload-Metadata": "filename w5xiLnR4dA==,is_ok"}
    place = (await uploads.http.post(PLACE, headers={**TUS, **said})).headers["location"]
    for content in (b"12", b"345"):
        assert (await uploads.http.head(place, headers=TUS)).headers["upload-metadata"] == said["Upload-Metadata"]
        await uploads.send(place.rpartition("/")[2], 0 if content == b"12" else 2, content)
    assert (await uploads.http.head(place, headers=TUS)).headers["upload-metadata"] == said["Upload-Metadata"]


async def test_upload_as_json_has_no_metadata_of_tus(uploads: Uploads) -> None:
    begun = await uploads.whole(b"x")
    read = await uploads.http.get(f"{PLACE}/{begun.json()['upload_id']}")
    assert begun.json() == read.json()
    assert read.json().keys() == UploadShown.model_fields.keys()


async def test_every_refusal_names_the_version_of_tus(uploads: Uploads) -> None:
    other = await uploads.http.post(PLACE, headers={"Tus-Resumable": "0.2.2", "Upload-Length": "5"})
    assert (other.status_code, other.headers["tus-version"]) == (412, "1.0.0")
    anonymous = await uploads.http.head(f"{PLACE}/none", headers={**TUS, "Authorization": ""})
    refused = (other, anonymous, await uploads.http.head(f"{PLACE}/none", headers=TUS))
    assert [answer.status_code for answer in refused] == [412, 401, 404]
    assert {answer.headers["tus-resumable"] for answer in refused} == {"1.0.0"}


async def test_header_overrides_the_method_of_a_post(uploads: Uploads) -> None:
    place = f"{PLACE}/{(await uploads.begin(5)).json()['upload_id']}"
    sends = {**BYTES, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    assert (await uploads.http.post(place, headers=sends, content=b"12345")).headers["upload-offset"] == "5"
    ends = {**TUS, "X-HTTP-Method-Override": "DELETE"}
    assert (await uploads.http.post(place, headers=ends)).status_code == 204
    assert (await uploads.http.post(place, headers={**TUS, "X-HTTP-Method-Override": "GET"})).status_code == 405


async def test_files_and_bytes_of_a_tenant_are_bounded(receiving: tuple[RunningGateway, WatchedObjects]) -> None:
    async with opened(*receiving) as many, opened(*receiving) as much:
        answers = await asyncio.gather(*(many.begin(1) for _ in range(8)))
        assert sorted(answer.status_code for answer in answers) == [201] * 5 + [429] * 3
        assert (await much.begin(900_000)).status_code == 201
        full = await much.begin(100_001)
        assert (full.json()["code"], full.headers["retry-after"]) == ("UPLOADS_FULL", "60")


@pytest.mark.requirement("P8")
async def test_equal_content_is_shared_within_a_tenant_only(receiving: tuple[RunningGateway, WatchedObjects]) -> None:
    async with opened(*receiving) as ours, opened(*receiving) as theirs:
        first, second = await ours.id(b"same"), await ours.id(b"same")
        await theirs.id(b"same")
        assert (len(ours.files), len(theirs.files)) == (1, 1)
        await ours.http.delete(f"{PLACE}/{first}", headers=TUS)
        assert (await ours.http.get(f"/v1/assets/{second}")).content == b"same"
        await ours.http.delete(f"{PLACE}/{second}", headers=TUS)
        await ours.objects.until(lambda: not ours.files)
        assert len(theirs.files) == 1


async def test_an_unused_upload_expires_with_its_content(uploads: Uploads) -> None:
    complete, pending = await uploads.id(b"unused"), (await uploads.begin(len(CONTENT))).json()["upload_id"]
    await uploads.send(pending, 0, CONTENT[:PART])
    await infrastructure.shift(uploads.gateway.platform.database, seconds=DAY)
    await uploads.objects.until(lambda: not uploads.files)
    assert (await uploads.http.get(f"/v1/assets/{complete}")).status_code == 404
    assert (await uploads.http.head(f"{PLACE}/{pending}", headers=TUS)).status_code == 404


@pytest.mark.requirement("P1")
async def test_bytes_stored_by_a_killed_process_are_found(uploads: Uploads) -> None:
    upload = (await uploads.begin(len(CONTENT))).json()["upload_id"]
    uploads.objects.broken = True
    assert (await uploads.send(upload, 0, CONTENT)).status_code == 500
    uploads.objects.broken = False
    assert (len(uploads.files), await uploads.offset(upload)) == (1, 0)
    await infrastructure.shift(uploads.gateway.platform.database, seconds=DAY)
    await uploads.objects.until(lambda: not uploads.files)


async def test_content_that_is_being_deleted_can_be_uploaded_again(uploads: Uploads) -> None:
    for _ in range(5):
        upload = await uploads.id(b"again and again")
        assert (await uploads.http.get(f"/v1/assets/{upload}")).content == b"again and again"
        assert (await uploads.http.delete(f"{PLACE}/{upload}", headers=TUS)).status_code == 204
    await uploads.objects.until(lambda: not uploads.files)


@pytest.mark.requirement("P8")
async def test_another_principals_upload_looks_like_none(uploads: Uploads) -> None:
    upload = await uploads.id(b"mine")
    everything = ("*",)
    for key in (
        await uploads.gateway.key("chat", "files:read", "files:write", principal="eve"),
        await uploads.gateway.key(*everything, tenant=ids.new(), principal="ada"),
    ):
        async with uploads.gateway.client(key) as stranger:
            theirs = replace(uploads, http=stranger)
            answers = [
                await stranger.get(f"{PLACE}/{upload}"),
                await stranger.head(f"{PLACE}/{upload}", headers=TUS),
                await theirs.send(upload, 0, b""),
                await stranger.delete(f"{PLACE}/{upload}", headers=TUS),
                await stranger.get(f"/v1/assets/{upload}"),
            ]
            assert [answer.status_code for answer in answers] == [404] * 5
    assert (await uploads.http.get(f"/v1/assets/{upload}")).content == b"mine"


@pytest.mark.requirement("P4", "P6")
async def test_an_upload_needs_permission_and_is_recorded(uploads: Uploads) -> None:
    async with uploads.gateway.client(await uploads.gateway.key("chat", "files:read")) as reader:
        refused = await replace(uploads, http=reader).whole(b"x")
    assert (refused.status_code, refused.json()["code"]) == (403, "POLICY_DENIED")
    upload = await uploads.id(b"x")
    records = [(r["phase"], r["verdict"], r["resource"]) for r in await uploads.gateway.audited("asset.write")]
    assert records == [
        ("decision", "deny", ""),
        ("decision", "allow", f"asset:{upload}"),
        ("decision", "allow", f"asset:{upload}"),
        ("outcome", "stored", f"asset:{upload}"),
    ]


async def test_a_message_names_uploads_for_its_turn(uploads: Uploads) -> None:
    first, second = await uploads.id(CONTENT, "birds.txt"), await uploads.id(b"more", "birds.txt")
    said = {"text": "save the attachments", "attachments": [first, second, first]}
    accepted = (await uploads.http.post("/v1/sessions/message", json=said)).json()
    (told,) = [data async for data in uploads.gateway.published("suma.message.received.v1")]
    assert [(file["asset_id"], file["filename"], file["size"]) for file in told["attachments"]] == [
        (first, "birds.txt", len(CONTENT)),
        (second, "birds (2).txt", 4),
    ]
    events = (await uploads.http.get(f"/v1/sessions/{accepted['session_id']}/events?stream=false")).json()["events"]
    assert events[0]["data"]["attachments"] == told["attachments"]


@pytest.mark.requirement("P1")
async def test_a_named_upload_does_not_expire(uploads: Uploads) -> None:
    used, unused = await uploads.id(b"used"), await uploads.id(b"unused")
    await uploads.http.post("/v1/sessions/message", json={"text": "look", "attachments": [used]})
    await infrastructure.shift(uploads.gateway.platform.database, seconds=DAY)
    await uploads.objects.until(lambda: len(uploads.files) == 1)
    assert (await uploads.http.get(f"/v1/assets/{used}")).content == b"used"
    assert (await uploads.http.get(f"/v1/assets/{unused}")).status_code == 404


async def test_readers_of_a_session_read_its_attached_files(uploads: Uploads) -> None:
    upload = await uploads.id(b"for the team")
    said = {"text": "look", "attachments": [upload]}
    session = (await uploads.http.post("/v1/sessions/message", json=said)).json()["session_id"]
    async with uploads.gateway.client(await uploads.gateway.key("chat", "files:read", principal="eve")) as eve:
        assert (await eve.get(f"/v1/assets/{upload}")).status_code == 404
        await uploads.http.put(f"/v1/sessions/{session}/share", json={"access": "read"})
        assert (await eve.get(f"/v1/assets/{upload}")).content == b"for the team"
        assert (await eve.get(f"{PLACE}/{upload}")).status_code == 404


@pytest.mark.requirement("P8")
async def test_a_message_names_only_complete_uploads_of_its_sender(uploads: Uploads) -> None:
    mine, pending = await uploads.id(b"mine"), (await uploads.begin(9)).json()["upload_id"]
    async with uploads.gateway.client(await uploads.gateway.key("*", principal="eve")) as eve:
        for http, upload in ((eve, mine), (uploads.http, pending), (uploads.http, ids.new())):
            answer = await http.post("/v1/sessions/message", json={"text": "look", "attachments": [upload]})
            assert (answer.status_code, answer.json()["code"]) == (422, "NO_SUCH_ATTACHMENT")
    assert await uploads.rows("session_envelopes") == 0


class LosingAnswers(httpx.HTTPTransport):
    """A connection that breaks after the first bytes were sent."""

    lost = 0

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if request.method == "PATCH" and not self.lost:
            self.lost += 1
            answer.close()
            raise httpx.ReadError("the connection broke")
        return answer


async def test_the_command_line_goes_on_after_a_lost_answer(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_bytes(CONTENT)
    async with served(uploads.gateway) as url:
        address = Address(url, uploads.gateway.owner, "the key file", None)
        transport = LosingAnswers()
        with Client(address, transport=transport, pause=lambda seconds: None) as client:
            stored = await asyncio.to_thread(upload, client, tmp_path / "birds.csv")
    assert (transport.lost, stored["complete"], stored["media_type"]) == (1, True, "text/csv")
    assert (await uploads.http.get(f"/v1/assets/{stored['upload_id']}")).content == CONTENT


@pytest.mark.slow
async def test_a_large_upload_needs_little_memory(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, tmp_path: Path
) -> None:
    objects, size, chunk = WatchedObjects(tmp_path), 48 << 20, bytes(1 << 16)

    async def zeros() -> AsyncIterator[bytes]:
        for _ in range(size // len(chunk)):
            yield chunk

    async with (
        running_gateway(gateway_where, owner, policy=rules, keys=keys, objects=objects) as home,
        served(home) as url,
    ):
        headers = {**BYTES, "Authorization": f"Bearer {owner}", "Upload-Length": str(size)}
        async with httpx.AsyncClient(base_url=url) as http:
            tracemalloc.start()
            answer = await http.post(PLACE, headers=headers, content=zeros(), timeout=60)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert answer.json()["complete"], answer.text
    assert peak < 12 << 20
