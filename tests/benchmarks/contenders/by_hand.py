"""The floor: the same turn written by hand for this one purpose, one statement and one round trip for each transaction.

Seven transactions, where each step is an event that someone takes (inbox, state, event) and long work is claimed and
finished; or four, where whoever finishes a step claims the next with it, which a platform of several services cannot.
Neither has audit, policy, traces, recovery or order. Eight connections, and no reset between uses.
"""

from __future__ import annotations

import sys
import uuid
from typing import Any

import asyncpg

from tests.benchmarks import load

SCHEMA = """
create table inbox (id uuid primary key);
create table turns (id uuid primary key, session uuid not null, state text not null, version int not null);
create table leases (id uuid primary key, turn uuid not null, token int not null, done boolean not null default false);
create table events (position bigserial primary key, turn uuid not null, type text not null, data jsonb not null);
"""
BEGIN = """
with t as (insert into turns values ($1, $2, 'received', 1))
insert into events (turn, type, data) values ($1, 'received', $3) returning position
"""
TAKE = """
with i as (insert into inbox values ($2)), l as (insert into leases values ($3, $1, 1)),
t as (update turns set state = $4, version = version + 1 where id = $1)
insert into events (turn, type, data) values ($1, $4, $5) returning position
"""
FINISH = """
with l as (update leases set done = true where id = $2 and token = 1 and not done),
t as (update turns set state = $3, version = version + 1 where id = $1)
insert into events (turn, type, data) values ($1, $3, $4) returning position
"""
FINISH_AND_TAKE = """
with i as (insert into inbox values ($2)),
f as (update leases set done = true where id = $3 and token = 1 and not done),
l as (insert into leases values ($4, $1, 1)), t as (update turns set state = $5, version = version + 1 where id = $1)
insert into events (turn, type, data) values ($1, $5, $6) returning position
"""
DATA = (
    '{"text": "hello", "principal": "user:ada", "args": {"path": ".", "recursive": true}, "summary": "It said hello."}'
)


async def main(dsn: str, transactions: int) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(SCHEMA)
    await connection.close()
    async with asyncpg.create_pool(dsn, min_size=8, max_size=8, reset=_keep) as pool:
        await load.serve({7: _seven, 4: _four}[transactions](pool))


def _seven(pool: Any) -> load.Turn:
    async def turn(session: str) -> None:
        turn = uuid.uuid4()
        await pool.fetchval(BEGIN, turn, uuid.UUID(session), DATA)
        for step in ("planned", "acted", "answered"):
            lease = uuid.uuid4()
            await pool.fetchval(TAKE, turn, uuid.uuid4(), lease, f"{step}?", DATA)
            await load.call()
            await pool.fetchval(FINISH, turn, lease, step, DATA)

    return turn


def _four(pool: Any) -> load.Turn:
    async def turn(session: str) -> None:
        turn, lease = uuid.uuid4(), uuid.uuid4()
        await pool.fetchval(BEGIN, turn, uuid.UUID(session), DATA)
        for step in ("planned", "acted", "answered"):
            await load.call()
            last, lease = lease, uuid.uuid4()
            await pool.fetchval(FINISH_AND_TAKE, turn, uuid.uuid4(), last, lease, step, DATA)

    return turn


async def _keep(connection: Any) -> None:
    """No reset query, which would be one more transaction for each use."""


if __name__ == "__main__":
    load.run(main(sys.argv[1], int(sys.argv[2])))
