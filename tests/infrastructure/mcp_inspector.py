"""The MCP Inspector from npm, as `npx` starts it without a network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from deploy.local.web import node
from tests.infrastructure.packages import installed

VERSION = "2.12.0"


def package() -> Path:
    """Return the folder in which `npx` finds the inspector. Raises Unprovided."""
    return installed(f"mcp-inspector-{VERSION}", f"@modelcontextprotocol/inspector@{VERSION}")


def environment(place: Path) -> Mapping[str, str]:
    """Return the variables with which a shell finds `npx`; `place` is a folder for it alone."""
    program = node()
    (place / "npx").symlink_to(program / "lib/node_modules/npm/bin/npx-cli.js")
    path = f"{place}:{program / 'bin'}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(place), "npm_config_offline": "true"}
