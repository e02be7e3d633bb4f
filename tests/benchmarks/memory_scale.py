"""How fast and how complete recall is among many memories: beside pgvector's own index over the same vectors.

One scope has `--size` memories, others few or some thousands. Vectors are clustered noise from a fixed seed, texts have
words with frequencies by Zipf. Recall at 10 is against an exact search. `--folder` keeps the server's data, so that a
second run measures what the first one built.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import numpy as np
from rich.console import Console
from rich.table import Table

from libs.bus import log
from libs.database import Connection, Dsns, migrate
from libs.embedded.postgres import Postgres
from libs.runtime.host import host, prepare
from libs.search import DIMS, Matrix, Vector
from libs.search.lists import HALF
from services.memory_service.mind.store import MindStore, RecentMinds
from services.memory_service.recalling import Recalling
from services.memory_service.service import build
from services.memory_service.store import GROUP, SCHEMA, Ranked, Scope, Store
from services.memory_service.upkeep import Upkeep
from tests import infrastructure
from tests.infrastructure.databases import ROLES

EMBEDDER = "clustered"
LATENT, TOPICS, WITHIN, NOISE = 64, 2_000, 0.6, 0.15
VOCABULARY, WORDS = 50_000, 12
BATCH, ASKED, TOP = 20_000, 100, 10
SMALL, SMALLER, SOME, MANY = 1_000, 100, 20, 4_000
"""Scopes of one tenant each: `SMALL` with `SMALLER` memories, `SOME` with `MANY`."""
MAINTENANCE = "4GB"
COLUMNS = "tenant_id memory_id user_id session_id universe kind text embedder embedding".split()  # noqa: SIM905 - one line
INDEXED = "select exists (select from memory.scopes where tenant_id = 'large' and probes is not null)"
REUSE = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB"}


class Clustered:
    """Vectors and texts from a seed. As an embedder, it embeds the number of a query."""

    name, dimensions, batch = EMBEDDER, DIMS, BATCH

    def __init__(self) -> None:
        source = np.random.default_rng(1)
        self._spread = source.standard_normal((LATENT, DIMS), np.float32) / np.float32(LATENT**0.5)
        self._topics = source.standard_normal((TOPICS, LATENT), np.float32)

    def vectors(self, seed: int, count: int) -> Matrix:
        source = np.random.default_rng(seed)
        topics = self._topics[source.integers(0, TOPICS, count)]
        latent = topics + np.float32(WITHIN) * source.standard_normal((count, LATENT), np.float32)
        rows = latent @ self._spread + np.float32(NOISE) * source.standard_normal((count, DIMS), np.float32)
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def texts(self, seed: int, count: int) -> Sequence[str]:
        ranks = np.random.default_rng(seed).zipf(1.2, (count, WORDS)) % VOCABULARY
        return [" ".join(f"w{rank}" for rank in row) for row in ranks.tolist()]

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.vectors(int(text.split("#")[1]), 1)[0] for text in texts])

    async def embed_query(self, text: str) -> Vector:
        [vector] = await self.embed_documents([text])
        return np.asarray(vector)

    def calibrate(self, cosine: float) -> float:
        return cosine


@dataclass(frozen=True)
class Timed:
    p50: float
    p95: float
    share: float | None = None
    """Recall at 10."""


CLUSTERED = Clustered()
LARGE = Scope("large", "notes", "ada", "ada")
FOUR_THOUSAND, HUNDRED = (Scope(f"{name}-0", "notes", f"{name}-0", f"{name}-0") for name in ("some", "small"))


def scopes(size: int) -> Iterator[tuple[Scope, int]]:
    yield LARGE, size
    yield from ((Scope(f"some-{n}", "notes", f"some-{n}", f"some-{n}"), MANY) for n in range(SOME))
    yield from ((Scope(f"small-{n}", "notes", f"small-{n}", f"small-{n}"), SMALLER) for n in range(SMALL))


async def load(connection: Connection, size: int) -> float:
    """Copy the memories, as the superuser: COPY is not permitted under row-level security."""
    began = time.perf_counter()
    for n, (scope, count) in enumerate(scopes(size)):
        for start in range(0, count, BATCH):
            some = min(BATCH, count - start)
            rows = zip(CLUSTERED.texts(_seed(n, start), some), CLUSTERED.vectors(_seed(n, start), some), strict=True)
            records = [
                (scope.tenant, f"m-{start + i}", scope.person, None, scope.universe, "message", text, EMBEDDER, vector)
                for i, (text, vector) in enumerate(rows)
            ]
            await connection.copy_records_to_table("memories", schema_name="memory", columns=COLUMNS, records=records)
    await connection.execute(
        "insert into memory.scopes (tenant_id, universe, scope, user_id, embedder)"
        " select distinct tenant_id, universe, scope, user_id, embedder from memory.memories"
    )
    return time.perf_counter() - began


def _seed(scope: int, start: int) -> int:
    return 10_000_000 * (scope + 1) + start


def _halfvec(row: Vector) -> bytes:
    return len(row).to_bytes(2, "big") + bytes(2) + row.astype(HALF).tobytes()


def truth(size: int) -> tuple[Matrix, Sequence[frozenset[str]]]:
    """Return queries, and the ids of the nearest memories of the largest scope, by an exact search."""
    asked = np.concatenate([CLUSTERED.vectors(n, 1) for n in range(ASKED)])
    best, ids = np.full((ASKED, TOP), -2, np.float32), np.zeros((ASKED, TOP), np.int64)
    for start in range(0, size, BATCH):
        some = min(BATCH, size - start)
        near = np.concatenate([best, asked @ CLUSTERED.vectors(_seed(0, start), some).T], axis=1)
        known = np.concatenate([ids, np.broadcast_to(np.arange(start, start + some), (ASKED, some))], axis=1)
        order = np.argsort(-near, axis=1)[:, :TOP]
        best, ids = np.take_along_axis(near, order, axis=1), np.take_along_axis(known, order, axis=1)
    return asked, [frozenset(f"m-{id}" for id in row) for row in ids.tolist()]


async def timed(ask: Callable[[int], Awaitable[Sequence[str]]], right: Sequence[frozenset[str]] = ()) -> Timed:
    """Ask every query twice, and time the second pass."""
    seconds, hits = [], 0
    for again in (False, True):
        for n in range(ASKED):
            began = time.perf_counter()
            found = await ask(n)
            if again:
                seconds.append(time.perf_counter() - began)
                hits += len(right[n].intersection(found)) if right else 0
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return Timed(float(p50), float(p95), hits / (ASKED * TOP) if right else None)


async def index(where: Dsns, connection: Connection, size: int) -> float:
    """Let the service index the largest scope as a recall would start it that takes less than a statement may; return
    the seconds.
    """
    began = time.perf_counter()
    settings = {GROUP: {"index_from": 5_000}}
    async with infrastructure.platform(where, embedder=CLUSTERED, settings=settings) as given:
        service = build(given)
        await prepare(given, [service])
        async with host(given, [service]):
            upkeep = Upkeep(given, Store(given.database), index_from=2)
            upkeep.noticed(LARGE, Ranked([], [EMBEDDER], size))
            starting = asyncio.create_task(upkeep.run())
            while not await connection.fetchval(INDEXED):
                await asyncio.sleep(2)
            starting.cancel()
    return time.perf_counter() - began


async def raw_index(connection: Connection) -> float:
    """Build pgvector's own index over the same vectors, without tenants; return the seconds."""
    began = time.perf_counter()
    await connection.execute(
        "drop table if exists public.raw;"
        "create table public.raw as select memory_id, embedding from memory.memories where tenant_id = 'large';"
        f"set maintenance_work_mem = '{MAINTENANCE}';"
        "create index raw_near on public.raw using hnsw (embedding halfvec_cosine_ops); analyze public.raw"
    )
    return time.perf_counter() - began


async def built(where: Dsns, connection: Connection, size: int) -> Table:
    """Load and index what is not there yet; return the seconds and the sizes."""
    table = Table("step", "seconds", "MB", title=f"{size:,} memories in the largest scope, built")
    if await connection.fetchval("select to_regclass('memory.memories') is null"):
        await migrate(where.owner, log.SCHEMA, SCHEMA)
        table.add_row("load", f"{await load(connection, size):.0f}")
        await connection.execute("vacuum analyze memory.memories")
    if await connection.fetchval("select to_regclass('public.raw_near') is null"):
        table.add_row("HNSW of pgvector", f"{await raw_index(connection):.0f}")
    if not await connection.fetchval(INDEXED):
        table.add_row("index of the service", f"{await index(where, connection, size):.0f}")
        for name in ("codes", "rare_words"):
            await connection.execute(f"vacuum analyze memory.{name}")
    for name in ("memory.memories", "memory.lists", "memory.codes", "memory.rare_words", "public.raw_near"):
        size_of = await connection.fetchval("select pg_total_relation_size($1::regclass)", name)
        table.add_row(name, "", f"{size_of / 2**20:,.0f}")
    table.add_row(f"lists read: {await connection.fetchval('select max(probes) from memory.scopes')}")
    return table


async def measured(where: Dsns, connection: Connection, size: int) -> Table:
    """Ask the service's query, a whole recall, and pgvector."""
    table = Table("query", "p50 ms", "p95 ms", "recall@10", title=f"{size:,} memories in the largest scope, asked")
    asked, right = truth(size)
    said = [CLUSTERED.texts(n, 1)[0] for n in range(ASKED)]

    def add(name: str, found: Timed) -> None:
        share = f"{found.share:.3f}" if found.share is not None else ""
        table.add_row(name, f"{found.p50:.1f}", f"{found.p95:.1f}", share)

    for ef in (40, 100, 200):
        await connection.execute(f"set hnsw.ef_search = {ef}")

        async def raw(n: int) -> Sequence[str]:
            rows = await connection.fetch(
                "select memory_id from public.raw order by embedding <=> $1 limit 10", asked[n]
            )
            return [row["memory_id"] for row in rows]

        add(f"pgvector, HNSW, ef_search {ef}", await timed(raw, right))
    async with infrastructure.platform(where, embedder=CLUSTERED) as given:
        store = Store(given.database)
        recalling = Recalling(store, CLUSTERED, RecentMinds(MindStore(given.database), 0))
        for scope, name in (
            (LARGE, "largest scope"),
            (FOUR_THOUSAND, f"scope of {MANY:,}"),
            (HUNDRED, f"scope of {SMALLER:,}"),
        ):

            async def near(n: int, scope: Scope = scope) -> Sequence[str]:
                ranked = await store.ranked(scope, {EMBEDDER: asked[n]}, words="", pool=TOP)
                return [one.id for one in ranked.found if one.near is not None]

            async def both(n: int, scope: Scope = scope) -> Sequence[str]:
                ranked = await store.ranked(scope, {EMBEDDER: asked[n]}, words=said[n], pool=4 * TOP)
                return [one.id for one in ranked.found if (one.near or size) <= TOP]

            async def recall(n: int, scope: Scope = scope) -> Sequence[str]:
                return [one.id for one in (await recalling.recall(scope, f"{said[n]} #{n}", TOP)).memories]

            known = right if scope is LARGE else ()
            add(f"{name}: vectors", await timed(near, known))
            add(f"{name}: vectors and words", await timed(both, known))
            add(f"{name}: a whole recall", await timed(recall))
    return table


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="memories of the largest scope")
    parser.add_argument("--folder", type=Path, help="keep the server's data here, and use what is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="suma-scale-") as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(mode=0o700, exist_ok=True)
        async with Postgres(folder, settings=REUSE) as server:
            where = Dsns(*(server.dsn(role) for role in ROLES))
            connection = await asyncpg.connect(server.dsn("postgres"), command_timeout=None)
            await connection.set_type_codec(
                "halfvec", schema="public", encoder=_halfvec, decoder=bytes, format="binary"
            )
            tables = [await built(where, connection, options.size)]
            tables.append(await measured(where, connection, options.size))
            await connection.close()
    for table in tables:
        Console(width=120).print(table)


if __name__ == "__main__":
    asyncio.run(_main())
