"""Docker's own parsers, which need no engine: compose-go for the compose file, BuildKit's for the Dockerfile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from deploy.local.cache import Unprovided, built

SOURCE = Path(__file__).with_name("gotools")
BUILD_SECONDS = 600
PARSE_SECONDS = 60


class Unparsable(Exception):
    """The parser's own words."""


@cache
def program() -> Path:
    """The command `parse`.

    Raises:
        Unprovided: it cannot be built here.
    """
    digest = sha256(b"".join(path.read_bytes() for path in sorted(SOURCE.iterdir()))).hexdigest()[:12]
    return built(f"docker-parsers-{digest}", _build) / "parse"


def parsed(kind: str, *arguments: str | Path) -> Any:
    """What the parser of `kind` (compose, dockerfile, context) read.

    Raises:
        Unparsable: it refuses.
        Unprovided: there is no parser here.
    """
    answer = subprocess.run(
        [program(), kind, *arguments],
        env={"PATH": os.defpath, "HOME": "/"},
        capture_output=True,
        text=True,
        timeout=PARSE_SECONDS,
    )
    if answer.returncode != 0:
        raise Unparsable(answer.stderr.strip())
    return json.loads(answer.stdout)


def _build(draft: Path) -> None:
    if shutil.which("go") is None:
        raise Unprovided("Docker's parsers are built with Go: no `go` here")
    command = ["go", "build", "-trimpath", "-o", str(draft / "parse"), "."]
    answer = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=BUILD_SECONDS)
    if answer.returncode != 0:
        raise Unprovided(f"Go could not build Docker's parsers: {answer.stderr.strip()[-500:]}")
