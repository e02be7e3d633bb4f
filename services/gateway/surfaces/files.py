"""Files inside another protocol's request: data URLs become uploads of the caller, with the checks of any other.

Remote addresses are never fetched.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence
from mimetypes import guess_extension
from typing import NamedTuple

from libs.errors import Rejected
from libs.events import ATTACHMENTS_MOST
from services.gateway.surfaces.turns import TurnClient

DATA = re.compile(r"data:(?P<type>[^;,]{0,200})(?:;[^;,]{0,100})*?;base64,", re.IGNORECASE)


class RemoteFile(Rejected):
    """Suma fetches no remote file; send a data URL, or upload the file and name its id."""

    code = "REMOTE_FILE"


class BadDataUrl(Rejected):
    """This is not a data URL in base64; send `data:image/png;base64,…`."""

    code = "BAD_DATA_URL"


class TooManyFiles(Rejected):
    """A message names at most 10 files; send fewer."""

    code = "TOO_MANY_FILES"


class Given(NamedTuple):
    """A file of a request: an upload's id, or a data URL."""

    upload: str | None
    url: str | None
    filename: str | None


async def attached(turns: TurnClient, files: Sequence[Given]) -> list[str]:
    """Return the ids of the files' uploads, storing those that come with the request.

    Raises:
        RemoteFile, BadDataUrl, TooManyFiles: the request must change.
    """
    if len(files) > ATTACHMENTS_MOST:
        raise TooManyFiles
    for file in files:
        _check(file)
    return [file.upload or await turns.attach(*await asyncio.to_thread(_decoded, file)) for file in files]


def _check(file: Given) -> None:
    """Raise RemoteFile or BadDataUrl for a file that is neither an upload nor a data URL."""
    if file.upload is None and not DATA.match(file.url or ""):
        raise RemoteFile if (file.url or "")[:8].lower().startswith(("http:", "https:")) else BadDataUrl


def _decoded(file: Given) -> tuple[str, str, bytes]:
    """Return the name, claimed type and content of a file. Raises BadDataUrl."""
    url = file.url or ""
    found = DATA.match(url)
    if found is None:
        raise BadDataUrl
    try:
        content = b64decode(url[found.end() :], validate=True)
    except (NotBase64, ValueError):
        raise BadDataUrl from None
    kind = found["type"].strip().lower()
    return file.filename or f"image{guess_extension(kind) or ''}", kind, content
