"""Packages from npm, installed once in a folder of the cache."""

from __future__ import annotations

from pathlib import Path

from deploy.local.cache import Unprovided, built
from deploy.local.web import npm

OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-progress")


def installed(name: str, *packages: str) -> Path:
    """Return the folder `name` (which includes the version), in which Node finds these packages. Raises Unprovided."""

    def install(draft: Path) -> None:
        (draft / "package.json").write_text("{}")
        done = npm(draft, "install", *OPTIONS, *packages)
        if done.returncode:
            raise Unprovided(f"npm could not bring {packages[0]}: {done.stderr.strip()[-500:]}")

    return built(name, install)
