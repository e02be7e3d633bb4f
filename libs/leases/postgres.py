"""The adapter on Postgres: leases in `bus.leases`, with the database's clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from libs.database import BUS, HINTS, Database
from libs.leases.ports import TTL_SECONDS, Lease, LeaseCount


class PostgresLeases:
    def __init__(self, database: Database, member: str) -> None:
        self._database = database
        self._member = member

    async def pending(self, groups: Sequence[str]) -> Sequence[tuple[str, str]]:
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.pending($1)", list(groups))
        return [(row["grp"], row["kind"]) for row in rows]

    async def claim_due(self, group: str, kind: str, *, room: int, per_tenant: int) -> Sequence[Lease]:
        # Not by `HINTS`: a claim lost in a crash of the server would issue its token a second time.
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch(
                "select * from bus.due($1, $2, $3, $4, $5, $6)",
                group,
                self._member,
                kind,
                room,
                per_tenant,
                TTL_SECONDS,
            )
        return [
            Lease(
                row["id"],
                group,
                kind,
                row["tenant"],
                row["key"],
                row["token"],
                row["attempts"],
                orjson.loads(row["input"]),
                row["cancelled"],
                row["deaths"],
            )
            for row in rows
        ]

    async def backlog(self, *, most: int) -> int:
        async with self._database.connection(HINTS) as connection:
            return int(await connection.fetchval("select bus.backlog($1)", most))

    async def counts(self, tenant: str) -> Sequence[LeaseCount]:
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.leased($1)", tenant)
        return [LeaseCount(*row) for row in rows]

    async def renew(self, leases: Sequence[Lease]) -> Mapping[str, bool]:
        # A heartbeat that a crash of the server loses costs a repeat only, so it does not wait for the disk.
        async with self._database.connection(HINTS) as connection:
            rows = await connection.fetch("select * from bus.beat($1, $2, $3)", *_ids_and_tokens(leases), TTL_SECONDS)
        return {row["id"]: row["cancelled"] for row in rows}

    async def cancelled_or_lost(self, leases: Sequence[Lease]) -> Mapping[str, bool]:
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.cancelled_or_lost($1, $2)", *_ids_and_tokens(leases))
        return {row["id"]: row["lost"] for row in rows}

    async def release(self, leases: Sequence[Lease], *, delay: float) -> None:
        async with self._database.connection(BUS) as connection:
            # By token: a lease that another process has claimed meanwhile stays with it.
            await connection.execute("select bus.release($1, $2, $3)", *_ids_and_tokens(leases), delay)

    async def free(self, owners: Sequence[str]) -> int:
        async with self._database.connection(BUS) as connection:
            return int(await connection.fetchval("select bus.free($1)", list(owners)))

    async def leave(self) -> None:
        async with self._database.connection(BUS) as connection:
            # By owner, not by token: a claim whose answer never arrived is released, too.
            await connection.execute("select bus.release_all($1)", self._member)


def _ids_and_tokens(leases: Sequence[Lease]) -> tuple[list[str], list[int]]:
    return [lease.id for lease in leases], [lease.token for lease in leases]
