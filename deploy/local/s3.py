"""A real S3 server: versitygw over a folder, with a key made for the run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex

from deploy.local.served import Served, go_program

VERSION = "v1.8.0"
PACKAGE = "github.com/versity/versitygw/cmd/versitygw"


@dataclass
class S3(Served):
    """An S3 server and its credentials."""

    access_key: str = ""
    secret_key: str = ""
    region: str = "us-east-1"


program = partial(go_program, "versitygw", PACKAGE, VERSION)


@asynccontextmanager
async def s3(folder: Path | None = None) -> AsyncIterator[S3]:
    """Yield a server of its own. Objects in a given folder are kept.

    Raises:
        Unprovided: it cannot be built here.
    """
    command = await asyncio.to_thread(program)
    access, secret = token_hex(8), token_hex(16)
    with tempfile.TemporaryDirectory(prefix="suma-s3-") as place:
        data, metadata = (folder or Path(place)) / "objects", (folder or Path(place)) / "metadata"
        for each in (data, metadata):
            each.mkdir(parents=True, exist_ok=True)
        # Metadata goes into files beside the objects: not every file system has extended attributes.
        options = ("--quiet", "--health=/health", "--port=127.0.0.1:{port}", "posix", f"--sidecar={metadata}")
        server = S3(
            (str(command), *options, str(data)),
            "/health",
            Path(place),
            environment={"ROOT_ACCESS_KEY": access, "ROOT_SECRET_KEY": secret},
            access_key=access,
            secret_key=secret,
        )
        try:
            await server.start()
            yield server
        finally:
            await server.stop()
