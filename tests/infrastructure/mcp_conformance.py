"""The conformance suites of MCP from npm: what each of their scenarios says of a server."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from deploy.local.web import node
from tests.infrastructure.packages import installed

VERSIONS = ("0.1.16", "0.2.0-alpha.12")
"""The latest release, and the newest preview, which also knows the revision 2026-07-28."""
PACKAGE = "@modelcontextprotocol/conformance"
RUN_SECONDS = 180
FOLDER = re.compile(r"(?:server-)?(?P<scenario>.*)-\d{4}-\d\d-\d\dT[^T]*")
"""The name of a scenario's results."""


@cache
def package(version: str) -> Path:
    """Return the folder in which Node finds a suite. Raises Unprovided."""
    return installed(f"mcp-conformance-{version}", f"{PACKAGE}@{version}")


def packages() -> Path:
    """Return the folder of the last suite, once all are there. Raises Unprovided."""
    return [package(version) for version in VERSIONS][-1]


def judged(version: str, url: str, *options: str) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """Return the checks of each scenario that a run against a server made."""
    program = package(version) / "node_modules" / PACKAGE / "dist/index.js"
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        command = [str(node() / "bin/node"), str(program), "server", "--url", url, "-o", folder, *options]
        subprocess.run(command, capture_output=True, timeout=RUN_SECONDS, env={"HOME": folder}, check=False)
        found = {path.parent.name: json.loads(path.read_text()) for path in Path(folder).rglob("checks.json")}
    return {FOLDER.sub(r"\g<scenario>", name): checks for name, checks in found.items()}
