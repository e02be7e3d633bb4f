"""A real OPA server over a folder of rules. It downloads them as a bundle from a small web server of ours and polls
every second, so it loads an edit of the folder as a deployed server loads a new bundle.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from deploy.local.served import Served, go_program
from libs.policy import Bundle, BundleBroken
from libs.policy.bundle_server import NAME, serving

VERSION = "v1.22.2"
PACKAGE = "github.com/open-policy-agent/opa"
LOOK_SECONDS = 1


program = partial(go_program, "opa", PACKAGE, VERSION)


@asynccontextmanager
async def opa(folder: Path) -> AsyncIterator[Served]:
    """Yield a server that evaluates the rules in `folder`; it waits until they are active, if they are valid.

    Raises:
        Unprovided: it cannot be built here.
    """
    command = await asyncio.to_thread(program)
    with tempfile.TemporaryDirectory(prefix="suma-opa-") as place, serving(partial(Bundle.read, folder)) as source:
        settings = Path(place) / "config.json"
        settings.write_text(json.dumps(_settings(source)))
        options = ("--addr=127.0.0.1:{port}", f"--config-file={settings}", "--disable-telemetry")
        server = Served((str(command), "run", "--server", *options), _probe(folder), Path(place))
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


def _settings(source: str) -> dict[str, Any]:
    often = {"min_delay_seconds": LOOK_SECONDS, "max_delay_seconds": LOOK_SECONDS}
    return {
        "services": {"law": {"url": source}},
        "bundles": {"suma": {"service": "law", "resource": NAME, "polling": often}},
        "status": {"prometheus": True},
    }


def _probe(folder: Path) -> str:
    try:
        Bundle.read(folder)
    except BundleBroken:
        return "/health"
    return "/health?bundles"
