"""Uploads of files by tus: in pieces, so that a lost connection costs one of them."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

from services.cli.client import Client
from services.cli.errors import Usage

PIECE = 8 << 20
"""Bytes sent at once."""


def upload_all(client: Client, paths: Sequence[Path]) -> list[str]:
    """Upload files; return their ids. Raises Usage if one cannot be read."""
    return [str(upload(client, path)["upload_id"]) for path in paths]


def upload(client: Client, path: Path) -> Any:
    """Upload a file; return it as the API shows it. Raises Usage if it cannot be read, or shrinks meanwhile."""
    try:
        with path.open("rb") as file:
            return _sent(client, file, path)
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None


def _sent(client: Client, file: BufferedReader, path: Path) -> Any:
    # Announced first: the server refuses a file that changes while it is sent.
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    size, at = file.seek(0, os.SEEK_END), 0
    place = client.begin_upload(size, metadata=_metadata(filename=path.name, sha256=digest))
    while at < size:
        file.seek(at)
        if not (piece := file.read(PIECE)):
            raise Usage(f"{path} was changed while it was sent")
        at = client.send_bytes(place, at, piece)
    return client.get(place)


def _metadata(**pairs: str) -> str:
    return ",".join(f"{key} {b64encode(value.encode(errors='replace')).decode()}" for key, value in pairs.items())
