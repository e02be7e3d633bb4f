"""The platform's address and API key, from the environment or else from this machine's data directory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from libs.embedded import datadir
from libs.workspace.roots import Root


@dataclass(frozen=True)
class Address:
    """An address and its key. `data` is None when the platform runs on another machine."""

    url: str
    key: str
    key_from: str
    data: Path | None
    roots: tuple[Root, ...] = ()


def find() -> Address:
    """Read SUMA_URL and SUMA_API_KEY; take a missing one from the live platform of the data directory.

    Raises `Rejected` if there is none.
    """
    url, key = os.environ.get("SUMA_URL"), os.environ.get("SUMA_API_KEY")
    if url and key:
        return Address(url.rstrip("/"), key, "SUMA_API_KEY", None)
    # Imported only when needed: with both variables set, a command starts in half the time.
    from services import settings

    here = settings.process()
    directory = datadir.existing(here.data_dir)
    owner = directory.owner()
    announced = owner.url if owner is not None else None
    return Address(
        url=(url or announced or f"http://127.0.0.1:{here.port}").rstrip("/"),
        key=key or directory.key(),
        key_from="SUMA_API_KEY" if key else str(directory.key_file),
        data=directory.path,
        roots=here.roots,
    )
