"""The conformance suites of MCP from npm: what each of their scenarios says of a server."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Judged:
    """A run of a suite: its own verdict on the scenarios that count, and each scenario's checks."""

    passed: bool
    scenarios: Mapping[str, Sequence[Mapping[str, str]]]

    @property
    def failing(self) -> Mapping[str, Set[str]]:
        """The scenarios with a failed check, or with none that was made, and the names of these checks."""
        found = {}
        for name, checks in self.scenarios.items():
            failed = {check["id"] for check in checks if check["status"] == "FAILURE"}
            if failed or all(check["status"] == "SKIPPED" for check in checks):
                found[name] = failed
        return found

    @property
    def counts(self) -> str:
        """The counts in words."""
        made = Counter(check["status"] for _, checks in self.scenarios.items() for check in checks)
        passed = len(self.scenarios) - len(self.failing)
        return f"{passed} of {len(self.scenarios)} scenarios, {made['SUCCESS']} checks passed, {made['FAILURE']} failed"


@cache
def package(version: str) -> Path:
    """Return the folder in which Node finds a suite. Raises Unprovided."""
    return installed(f"mcp-conformance-{version}", f"{PACKAGE}@{version}")


def packages() -> Path:
    """Return the folder of the last suite, once all are there. Raises Unprovided."""
    return [package(version) for version in VERSIONS][-1]


def judged(version: str, url: str, *options: str) -> Judged:
    """Return what a run against a server found."""
    program = package(version) / "node_modules" / PACKAGE / "dist/index.js"
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        command = [str(node() / "bin/node"), str(program), "server", "--url", url, "-o", folder, *options]
        done = subprocess.run(command, capture_output=True, timeout=RUN_SECONDS, env={"HOME": folder}, check=False)
        found = {path.parent.name: json.loads(path.read_text()) for path in Path(folder).rglob("checks.json")}
    return Judged(done.returncode == 0, {FOLDER.sub(r"\g<scenario>", name): checks for name, checks in found.items()})
