"""`python -m deploy.local.runner_image [BASE]`: build the sandbox's image without a registry and without the network.

The base is an image that is already here, or a minimal Debian with Python made by mmdebstrap from the machine's own
package sources. The build itself has no network.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import which

import docker
from docker.errors import DockerException

from deploy.local.cache import Unprovided, built, reporting
from libs.sandbox.docker import image_of

RUNNER = Path(__file__).parents[1] / "runner"
SUITE, PACKAGES = "bookworm", "python3,python3-pytest,gawk,make,patch,file,jq,tree,zip,unzip"
BASE = f"suma-runner-base:{SUITE}-2"
SECONDS = 900
UNNEEDED = ("man", "doc", "locale", "info")
OWN_USER = """
rm -rf "$1"/etc/apt/sources.list* "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*
echo runner:x:1000:1000::/workspace:/bin/bash >>"$1/etc/passwd"
echo runner:x:1000: >>"$1/etc/group"
install -d -o1000 -g1000 "$1/workspace"
"""


def build(base: str | None = None, engine: docker.DockerClient | None = None) -> str:
    """Build the image if it is not here; return its name.

    Raises:
        Unprovided: there is no engine, or no base can be made.
    """
    name = image_of(RUNNER)
    try:
        engine = engine or docker.from_env(timeout=SECONDS)
        if not engine.images.list(name):
            if base is None and not engine.images.list(BASE):
                engine.api.import_image_from_file(str(tree() / "base.tar"), *BASE.split(":"))
            named = {"BASE": base or BASE}
            engine.images.build(path=str(RUNNER), tag=name, network_mode="none", buildargs=named, rm=True)
    except DockerException as error:
        raise Unprovided(f"the Docker engine failed: {error}") from error
    return name


def tree() -> Path:
    """Return a folder with the base as `base.tar`, from the cache or made now."""

    def make(draft: Path) -> None:
        if which("mmdebstrap") is None:
            raise Unprovided("no mmdebstrap: install it, or name an image with Python that is here as the base")
        excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in UNNEEDED]
        command = ("mmdebstrap", "-q", "--variant=essential", f"--include={PACKAGES}", *excluded)
        # Without a mirror in the arguments it takes the machine's own sources.
        _run(*command, f"--customize-hook={OWN_USER}", SUITE, str(draft / "base.tar"))

    return built(f"runner-base-{SUITE}-2", make)


def _run(*command: str) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if answer.returncode != 0:
        raise Unprovided(f"{command[0]} {command[1]} failed: {answer.stderr.strip()[-500:]}")
    return answer.stdout.strip()


if __name__ == "__main__":
    with reporting(lambda line: print(line, file=sys.stderr)):
        try:
            print(build(*[one for one in sys.argv[1:2] if one]))
        except Unprovided as reason:
            sys.exit(str(reason))
