"""Where the platform is, and the key to it: from the environment, else from the data directory of this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from libs.runtime.embedded import datadir


@dataclass(frozen=True)
class Address:
    """`data` is None when the platform is another machine's."""

    url: str
    key: str
    key_from: str
    data: Path | None
    roots: tuple[Path, ...] = ()


def find() -> Address:
    """SUMA_URL with SUMA_API_KEY; what is not given is that of the data directory's live platform.

    Raises `Rejected` where there is none."""
    url, key = os.environ.get("SUMA_URL"), os.environ.get("SUMA_API_KEY")
    if url and key:
        return Address(url.rstrip("/"), key, "SUMA_API_KEY", None)
    # Loaded only where it is asked: a command with both variables starts in half the time.
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
