"""`make up-real` with forked services, since imports take most of a start; the gateway starts by its command."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.local.fleet import Child, by_command
from deploy.local.up import main
from tests.support.fork_server import forked, shared

BY_COMMAND = "gateway"


async def birth(service: str, environment: Mapping[str, str], log: Path) -> Child:
    start = by_command if service == BY_COMMAND else forked(await shared())
    return await start(service, environment, log)


if __name__ == "__main__":
    sys.exit(main(birth=birth))
