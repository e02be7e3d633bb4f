"""Reads of files: assets and uploads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosql

from libs.objects import UPLOADS, area
from services.gateway.files.models import Upload
from services.gateway.schema import Reads

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class StoredAsset:
    """A downloadable file; its content is a blob. A step's result has a session, an upload a principal."""

    asset_id: str
    session_id: str | None
    turn_id: str | None
    filename: str
    media_type: str
    sha256: str
    size: int
    principal: str | None

    def place(self, tenant: str) -> str:
        """Return the part of the store that holds the content."""
        return tenant if self.principal is None else area(tenant, UPLOADS)


class FileStore(Reads):
    async def asset(self, tenant: str, asset: str, *, reader: str | None) -> StoredAsset | None:
        """Return a file that `reader` sees; None sees all."""
        return await self._row(StoredAsset, queries.asset_by_id, tenant, asset=asset, reader=reader)

    async def upload(self, tenant: str, principal: str, upload: str) -> Upload | None:
        """Return an upload of this principal."""
        return await self._row(Upload, queries.upload_by_id, tenant, principal=principal, upload=upload)

    async def upload_parts(self, tenant: str, upload: str) -> Sequence[str]:
        """Return the names of an upload's stored pieces, in order."""
        return await self._rows(_name, queries.upload_parts, tenant, upload=upload)

    async def upload_usage(self, tenant: str) -> tuple[int, int]:
        """Return a tenant's number of unused uploads, and the bytes of all its uploads."""
        row = await self._one(queries.upload_usage, tenant)
        return row["files"], int(row["bytes"])

    async def upload_left(self, tenant: str, upload: str) -> float | None:
        """Return the seconds until an upload expires; None if it is gone or used."""
        left: float | None = await self._one(queries.upload_left, tenant, upload=upload)
        return left

    async def condemned_blobs(self, tenant: str, collector: str, *, most: int) -> Sequence[str]:
        """Return blobs of uploads that this lease is to delete."""
        return await self._rows(_name, queries.condemned_blobs, tenant, collector=collector, most=most)


def _name(sha256: str) -> str:
    return sha256
