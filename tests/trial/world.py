"""The world: another database, where every execution of an effect is a row, and nothing keeps a row from being there
twice. `keys` is what a real service has that takes an idempotency key, `fences` what one has that can
refuse attempts which were overtaken.

The statements are PostgreSQL's own (`$1`), so that every contender's driver sends the same ones. A row that was undone
stays, and does not stand.
"""

from __future__ import annotations

SCHEMA = """
create table effects (
    id bigint generated always as identity primary key,
    turn text not null,
    key text not null,
    attempt int not null,
    at timestamptz not null default clock_timestamp(),
    undone timestamptz
);
create index on effects (turn);
create index on effects (key);
create table keys (key text primary key);
create table fences (key text primary key, attempt int not null);
"""

PLAIN = "insert into effects (turn, key, attempt) values ($1::text, $2::text, $3::int)"

KEYED = """
with fresh as (insert into keys (key) values ($2::text) on conflict do nothing returning key)
insert into effects (turn, key, attempt) select $1::text, key, $3::int from fresh
"""
"""Once for each key, however often it is asked."""

FENCED = """
with fence as (
    insert into fences as f (key, attempt) values ($2::text, $3::int)
    on conflict (key) do update set attempt = excluded.attempt where f.attempt <= excluded.attempt returning key
)
insert into effects (turn, key, attempt) select $1::text, key, $3::int from fence returning id
"""
"""No row where a higher attempt has raised the fence. The fence's row stays locked until the effect has committed."""

FENCE = """
insert into fences as f (key, attempt) values ($1::text, $2::int)
on conflict (key) do update set attempt = greatest(f.attempt, excluded.attempt)
"""
"""From here on lower attempts are refused, and what they did can be seen."""

HAPPENED = "select exists (select from effects where key = $1::text and undone is null)"

UNDO = """
update effects set undone = clock_timestamp() where key = $1::text and undone is null and attempt < $2::int
"""

EFFECTS = "select turn, count(*) as made, count(*) filter (where undone is null) as left from effects group by turn"
