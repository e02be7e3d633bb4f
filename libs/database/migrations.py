"""Migrations: SQL files, forward only, in order, under one advisory lock, with lock and statement timeouts.

After its files, a schema's functions are re-created from files that show them as they are now. Its tables are
granted to `suma_app`, and every table with a `tenant_id` gets the same row-level security policy, so that none can be
forgotten. Then the own roles of the services that use the schema get the rights of `suma_app` (docs/decisions/0102).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import asyncpg

from libs.database.pools import Database, answering, connected, hang_up
from libs.errors import SumaError, Unavailable

LOCK = 0x53554D41
TENANT_RULE = "tenant_id = any ((select nullif(current_setting('suma.tenants', true), '')::text[])::text[])"
"""The subquery reads the setting once a statement instead of once a row."""


class MigrationChanged(SumaError):
    """An applied migration has been edited since. Migrations only go forward: add a new file."""

    code = "MIGRATION_CHANGED"


class DatabaseTooOld(SumaError):
    """The database was made before files were squashed, and lacks the last of them."""

    code = "DATABASE_TOO_OLD"


SHARED = """
    select format('grant %s%s on %s to %I', a.privilege_type, o.columns, o.name, role)
    from (
        select nspacl, '', format('schema %I', nspname) from pg_namespace where nspname = $1
        union all
        select relacl, '', format('%s %s', case relkind when 'S' then 'sequence' else 'table' end, oid::regclass)
        from pg_class where relnamespace = $1::regnamespace
        union all
        select attacl, format(' (%I)', attname), attrelid::regclass::text
        from pg_attribute join pg_class c on c.oid = attrelid where c.relnamespace = $1::regnamespace
        union all
        select proacl, '', format('function %s', oid::regprocedure) from pg_proc where pronamespace = $1::regnamespace
    ) as o(acl, columns, name), aclexplode(o.acl) as a, unnest($2::text[]) as role
    where a.grantee = 'suma_app'::regrole and to_regrole(role) is not null
"""
"""The rights of suma_app in a schema, as grants to those of these roles that exist."""


class NotMigrated(Unavailable):
    """The database lacks migrations of this release; run `python -m services migrate` with the owner's URL."""

    code = "NOT_MIGRATED"


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema with one owner service: the folder of its numbered files, and its files of functions, if it has any.

    Attributes:
        apply: functions that are re-created, in this order, whenever one of the files changes.
        users: services whose own roles get the rights of `suma_app`.
        roles: a file that grants other rights; run at each migration.
        squashed: the file that replaces earlier ones → the last of those. A database that has that one has it all.
    """

    name: str
    migrations: Path
    apply: Sequence[Path] = ()
    users: Sequence[str] = ()
    roles: Path | None = None
    owner: str = "suma_owner"
    squashed: Mapping[str, str] = field(default_factory=dict)


async def migrate(dsn: str, *schemas: Schema) -> list[str]:
    """Migrate schemas, each in a transaction; return the names of the applied files. Safe from several processes at
    once.

    Raises:
        MigrationChanged: an applied file has been edited since.
        DatabaseDown, BadDatabase: what `connected` raises; also when a busy table cannot be locked.
    """
    # More than the server's own 60 s (`_migrated`), so that a statement ends there first.
    connection = await connected(dsn, seconds=120)
    try:
        return [name for schema in schemas for name in await _migrated(connection, schema)]
    finally:
        await hang_up(connection)


async def check(database: Database, pool: str, schema: Schema) -> None:
    """Return if every file of a schema was applied, for a process that cannot migrate. Raises NotMigrated."""
    async with database.connection(pool) as connection:
        try:
            known = await connection.fetch(f"select name from {schema.name}.migrations")  # noqa: S608 - ours
        except (asyncpg.UndefinedTableError, asyncpg.InsufficientPrivilegeError):
            known = []
    if missing := {file.name for file in schema.migrations.glob("*.sql")} - {row["name"] for row in known}:
        raise NotMigrated(f"{schema.name} lacks {min(missing)}: run `python -m services migrate`")


async def _migrated(connection: asyncpg.Connection[asyncpg.Record], schema: Schema) -> list[str]:
    async with answering(), connection.transaction():
        # Another process may be migrating, which takes longer than a table lock may.
        await connection.execute("set local lock_timeout = '60s'; set local statement_timeout = '60s'")
        await connection.execute("select pg_advisory_xact_lock($1)", LOCK)
        await connection.execute("set local lock_timeout = '5s'")
        return await _forward(connection, schema)


async def _forward(connection: asyncpg.Connection[asyncpg.Record], schema: Schema) -> list[str]:
    await connection.execute(f"create schema if not exists {schema.name} authorization {schema.owner}")
    # New tables and functions belong to this role, whatever the connection's user is.
    await connection.execute(f"set local role {schema.owner}")
    await connection.execute(
        f"create table if not exists {schema.name}.migrations"
        " (name text primary key, digest text not null, at timestamptz not null default now())"
    )
    known = {
        row["name"]: row["digest"]
        for row in await connection.fetch(f"select name, digest from {schema.name}.migrations")  # noqa: S608 - ours
    }
    files = sorted(schema.migrations.glob("*.sql"))
    applied = [file.name for file in files if await _step(connection, schema, file, known)]
    if applied and schema.name != "bus":
        await _shut(connection, schema.name)
    # After the grants: it may take some of them back, so new grants need it again.
    if schema.apply and await _replace(connection, schema, {} if applied else known):
        applied.append(schema.apply[-1].name)
    await _share(connection, schema)
    return applied


async def _share(connection: asyncpg.Connection[asyncpg.Record], schema: Schema) -> None:
    """Give the services' own roles their rights again: roles may be new, and rights may have been taken away."""
    names = [f"suma_{user}" for user in schema.users]
    for (role,) in await connection.fetch("select rolname from pg_roles where rolname = any ($1)", names):
        await connection.execute(
            f"revoke all on all tables in schema {schema.name} from {role};"
            f"revoke all on all functions in schema {schema.name} from {role}"
        )
    if schema.users:
        await connection.execute(f"grant select on {schema.name}.migrations to suma_app")
    for (grant,) in await connection.fetch(SHARED, schema.name, names):
        await connection.execute(grant)
    if schema.roles is not None:
        await connection.execute(await asyncio.to_thread(schema.roles.read_text))


async def _step(
    connection: asyncpg.Connection[asyncpg.Record], schema: Schema, file: Path, known: dict[str, str]
) -> bool:
    text = await asyncio.to_thread(file.read_text)
    digest = sha256(text.encode()).hexdigest()
    if file.name in known:
        if known[file.name] != digest:
            raise MigrationChanged(
                f"{schema.name}/{file.name} was applied and has been edited since; add a new migration"
            )
        return False
    last = schema.squashed.get(file.name)
    if last not in known:
        if last and known:
            raise DatabaseTooOld(
                f"{schema.name} lacks {last}, which this release no longer has; start the release before it once, or"
                " begin with a new data directory"
            )
        await connection.execute(text)
    noted = f"insert into {schema.name}.migrations (name, digest) values ($1, $2)"  # noqa: S608 - the name is ours
    await connection.execute(noted, file.name, digest)
    return last not in known


async def _replace(connection: asyncpg.Connection[asyncpg.Record], schema: Schema, known: dict[str, str]) -> bool:
    text = "\n".join([await asyncio.to_thread(file.read_text) for file in schema.apply])
    name, digest = schema.apply[-1].name, sha256(text.encode()).hexdigest()
    if known.get(name) == digest:
        return False
    await connection.execute(text)
    noted = f"insert into {schema.name}.migrations as m (name, digest) values ($1, $2)"  # noqa: S608 - the name is ours
    renewed = " on conflict (name) do update set digest = excluded.digest, at = now()"
    await connection.execute(noted + renewed, name, digest)
    return True


async def _shut(connection: asyncpg.Connection[asyncpg.Record], name: str) -> None:
    """Grant what a service needs, and enforce row-level security even for the owner."""
    await connection.execute(f"grant usage on schema {name} to suma_app")
    tables = await connection.fetch(
        "select c.relname, exists"
        " (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as tenanted"
        " from pg_class c"
        " where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'migrations'",
        name,
    )
    for table in tables:
        where = f'{name}."{table["relname"]}"'
        await connection.execute(f"grant select, insert, update, delete on {where} to suma_app")
        if table["tenanted"]:
            await connection.execute(
                f"alter table {where} enable row level security; alter table {where} force row level security;"
                f"drop policy if exists tenant on {where};"
                f"create policy tenant on {where} using ({TENANT_RULE}) with check ({TENANT_RULE})"
            )
    await connection.execute(f"grant usage, select on all sequences in schema {name} to suma_app")
