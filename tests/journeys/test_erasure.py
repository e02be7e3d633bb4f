"""A person's words are gone from every table and blob once they are erased, also after a kill meanwhile."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest_asyncio
import redis.asyncio

from libs.embedded.postgres import Postgres
from libs.embedded.redis import Redis
from tests.architecture.test_persons import KEPT
from tests.infrastructure.wish import answered, post
from tests.journeys.installation import Installation, installation
from tests.services.gateway.uploading import BYTES, PLACE

MARK = "zanzibar"
LIKE = f"%{MARK}%"
LOGS = {"bus.log", "bus.leases"}
"""Events and finished inputs, which end by retention."""


@pytest_asyncio.fixture
async def own(tmp_path: Path) -> AsyncIterator[Installation]:
    async with installation(tmp_path / "installation") as made:
        (made.folder / f"{MARK}.txt").write_text("same")
        (made.folder / f"{MARK}2.txt").write_text("same")
        await made.start()
        yield made


async def marked(own: Installation) -> set[str]:
    """Return the tables with a row that holds the mark."""
    connection = await asyncpg.connect(Postgres(own.data).dsn("postgres"))
    try:
        tables = await connection.fetch(
            "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            " where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)'"
        )
        return {
            row["name"]
            for row in tables
            if await connection.fetchval(f"select exists (select from {row['name']} t where t::text like $1)", LIKE)
        }
    finally:
        await connection.close()


def blobs(own: Installation) -> list[Path]:
    """Return the files of the object store that hold the mark."""
    return [path for path in (own.data / "objects").rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]


async def cached(own: Installation) -> list[bytes]:
    """Return the keys of Redis that name the mark or hold it."""
    async with redis.asyncio.from_url(Redis(own.data).url) as cache:
        keys = [key async for key in cache.scan_iter()]
        return [key for key in keys if MARK.encode() in key + (await cache.dump(key) or b"")]


async def left(own: Installation) -> set[str]:
    return await marked(own) - LOGS - set(KEPT)


async def test_erased_person_is_found_in_no_table_or_blob(own: Installation) -> None:
    async with own.api() as api:
        session = (await post(api, "/v1/sessions", {"root": str(own.folder), "title": MARK}))["session_id"]
        turn = (await post(api, f"/v1/sessions/{session}/messages", {"text": "remove duplicates"}))["turn_id"]
        assert (await answered(api, session, turn))["data"]["state"] == "completed"
        stored = await api.post(PLACE, headers={**BYTES, "Upload-Length": str(len(MARK))}, content=MARK.encode())
        assert stored.status_code == 201
        fact = await api.put("/v1/memory/facts", json={"key": "island", "value": MARK})
        assert fact.status_code == 200, fact.text
        held = await left(own)
        assert {name.partition(".")[0] for name in held} == {"gateway", "conversation", "executor", "memory"}
        exported = (await api.get("/v1/memory/export")).text
        assert [name for name in held if f'"{name}"' not in exported and not name.startswith("conversation.")] == []
        assert blobs(own)
        assert (await api.post("/v1/memory/erase")).status_code == 202
    await own.end(signal.SIGKILL)
    await own.start()
    async with asyncio.timeout(120):
        while await left(own) or blobs(own) or await cached(own):
            await asyncio.sleep(0.1)
    async with own.api() as api:
        assert (await api.get("/v1/memory/held")).json()["tables"] == {}
