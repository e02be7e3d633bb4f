"""Reads behind a transaction pooler, which gives each transaction whichever connection is free."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from libs.database import Database, Dsns
from tests.support.pooler import pooled

NAMES = "select tenant_id from echo.tallies"
READS = 20


@pytest.mark.requirement("P8")
async def test_reads_of_two_processes_share_a_pooled_connection(echo_where: Dsns) -> None:
    eye = await asyncpg.connect(echo_where.owner.replace("suma_owner", "postgres"))
    await eye.execute("insert into echo.tallies (tenant_id, name, spent) values ('a', 'n', 1), ('b', 'n', 1)")
    await eye.close()
    async with pooled(echo_where) as pooler:
        databases = {tenant: Database(pooler.dsns) for tenant in ("a", "b")}

        async def seen(tenant: str) -> set[str]:
            async with databases[tenant].read("echo", tenant) as connection:
                rows = await connection.fetch(NAMES)
            # Nothing of the read is left for a statement without a tenant.
            assert await (await databases[tenant].pool("echo")).fetch(NAMES) == []
            return {row["tenant_id"] for row in rows}

        reads = [(tenant, seen(tenant)) for _ in range(READS) for tenant in databases]
        found = await asyncio.gather(*(read for _, read in reads))
        assert found == [{tenant} for tenant, _ in reads]
        for database in databases.values():
            await database.close()
    assert next(pooler.clients) > len(databases), "each process has several connections"
    assert pooler.transactions >= 2 * len(found)
