"""A tus client, and a store that tells when its files change, for tests of uploads."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
from typing_extensions import override

from libs.objects import Blob
from libs.objects.filesystem import FilesystemObjects
from tests.services.gateway.running import RunningGateway

PART = 64 * 1024
PLACE = "/v1/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}
PATIENCE = 60.0


class WatchedObjects(FilesystemObjects):
    """A directory whose changes can be awaited. `broken`: the process dies right after it stored a blob."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, max_bytes=1 << 30)
        self.root = root
        self.changed = asyncio.Condition()
        self.broken = False

    @override
    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        blob = await super().put(tenant, content)
        if self.broken:
            raise RuntimeError("the process died")
        return blob

    @override
    async def delete(self, tenant: str, sha256: str) -> None:
        await super().delete(tenant, sha256)
        async with self.changed:
            self.changed.notify_all()

    def files(self, tenant: str) -> list[Path]:
        homes = [path for path in self.root.glob("*/uploads") if path.parent.name == tenant]
        return [path for home in homes for path in home.rglob("*") if path.is_file()]

    async def until(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(so)


@dataclass
class Uploads:
    """One tenant's uploads at a gateway."""

    gateway: RunningGateway
    objects: WatchedObjects
    http: httpx.AsyncClient

    @property
    def files(self) -> list[Path]:
        return self.objects.files(self.gateway.tenant)

    async def begin(
        self, size: int, name: str = "report.txt", body: bytes | None = None, **claims: str
    ) -> httpx.Response:
        headers = {**(TUS if body is None else BYTES), "Upload-Length": str(size)}
        headers["Upload-Metadata"] = metadata(filename=name, **claims)
        return await self.http.post(PLACE, headers=headers, content=body)

    async def whole(self, content: bytes, name: str = "report.txt", **claims: str) -> httpx.Response:
        """Upload in one request."""
        return await self.begin(len(content), name, content, **claims)

    async def id(self, content: bytes, name: str = "report.txt") -> str:
        answer = await self.whole(content, name)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["upload_id"])

    async def send(self, upload: str, at: int, content: bytes) -> httpx.Response:
        headers = {**BYTES, "Upload-Offset": str(at)}
        return await self.http.patch(f"{PLACE}/{upload}", headers=headers, content=content)

    async def offset(self, upload: str) -> int:
        answer = await self.http.head(f"{PLACE}/{upload}", headers=TUS)
        assert answer.status_code == 200, answer.status_code
        return int(answer.headers["upload-offset"])

    async def rows(self, table: str) -> int:
        (row,) = await self.gateway.rows(
            f"select count(*) as n from gateway.{table} where tenant_id = $1", self.gateway.tenant
        )
        return int(row["n"])


def metadata(**pairs: str) -> str:
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())
