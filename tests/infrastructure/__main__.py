"""`python -m tests.infrastructure`: build the servers that slow tests need and the cache lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from deploy.local import diagrams, kafka, opa, runner_image, s3
from deploy.local.cache import Unprovided, reporting
from tests.infrastructure import agui, asyncapi, mcp_conformance, mcp_inspector, parsers

PARTS: dict[str, Callable[[], Path]] = {
    "Kafka": kafka.classes,
    "OPA": opa.program,
    "S3 (versitygw)": s3.program,
    "D2": diagrams.d2,
    "PlantUML": diagrams.plantuml,
    "the base of the sandbox's image": runner_image.tree,
    "the parsers of Docker's files": parsers.program,
    "the AsyncAPI parser": asyncapi.parser,
    "AG-UI's client": agui.package,
    "MCP's conformance suites": mcp_conformance.packages,
    "the MCP Inspector": mcp_inspector.package,
}


def main() -> None:
    """Build each part. One that cannot be had is named: its tests are skipped."""
    with reporting(_say):
        for name, build in PARTS.items():
            try:
                build()
            except Unprovided as reason:
                _say(f"{name}: its tests are skipped: {reason}")


def _say(line: str) -> None:
    sys.stderr.write(f"test: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
