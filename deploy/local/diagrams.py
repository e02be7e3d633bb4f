"""The diagram programs D2 and PlantUML, for tests of their producers."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

from deploy.local.cache import Unprovided, built
from deploy.local.served import go_program, run_build

D2 = "v0.7.2"
PLANTUML = "1.2026.10"
DIGEST = "b0387a5d8edf062a288017fa1b52aa1774ae6f7e90705194eaecff5ab8b80662"
"""The SHA-256 of PlantUML's jar under the MIT licence, which has no GPL parts."""


def d2() -> Path:
    """Return the path of D2, compiled once. Raises Unprovided as `go_program`."""
    return go_program("d2", "oss.terrastruct.com/d2", D2)


def plantuml() -> Path:
    """Return the path of PlantUML's jar, downloaded once.

    Raises:
        Unprovided: Java or Maven is missing, or the jar could not be had.
    """
    if missing := [name for name in ("java", "mvn") if shutil.which(name) is None]:
        raise Unprovided(f"PlantUML needs Java 17, and Maven to download it: install {' and '.join(missing)}")
    return built(f"plantuml-{PLANTUML}", _download) / f"plantuml-mit-{PLANTUML}.jar"


def _download(draft: Path) -> None:
    artifact = f"net.sourceforge.plantuml:plantuml-mit:{PLANTUML}"
    command = ("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={draft}")
    run_build(command, "Maven {} download PlantUML")
    found = sha256((draft / f"plantuml-mit-{PLANTUML}.jar").read_bytes()).hexdigest()
    if found != DIGEST:
        raise Unprovided(f"PlantUML's jar has the SHA-256 {found}, not the pinned one; do not use it")
