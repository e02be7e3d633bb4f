"""Stored answers of requests, by the idempotency keys of a principal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosql
import orjson

from services.gateway.schema import Reads

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Receipt:
    """The stored answer of an idempotency key, and the digest of its request."""

    key: str
    body_hash: str
    body: Mapping[str, Any]


class Receipts(Reads):
    async def find(self, tenant: str, principal: str, key: str, *, keep: float) -> Receipt | None:
        """Return the answer of a key, if it is at most `keep` seconds old."""
        return await self._row(_receipt, queries.receipt, tenant, principal=principal, key=key, keep=keep)

    async def last(self, tenant: str, principal: str, prefix: str, *, keep: float) -> Receipt | None:
        """Return the newest receipt whose key begins with `prefix`."""
        return await self._row(_receipt, queries.last_receipt, tenant, principal=principal, prefix=prefix, keep=keep)


def _receipt(key: str, body_hash: str, receipt: str) -> Receipt:
    return Receipt(key, body_hash, orjson.loads(receipt))
