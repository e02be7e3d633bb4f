"""The image, without an engine: each command of deploy/Dockerfile done natively on a base made from Debian's packages.

A stage is a folder. RUN happens in it by bubblewrap, as root with the network; COPY takes what .dockerignore lets in.
The result is run as the image says: its user, its environment, a read-only root, no capability. Not done here: layers,
pulling the base, and the reading of HEALTHCHECK, which a test runs itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from deploy.local.cache import Unprovided, built, home
from tests.infrastructure.parsers import parsed

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
SUITE, PACKAGES = "bookworm", "python3,python3-venv,ca-certificates"
PROGRAMS = ("debootstrap", "bwrap", "setpriv")
BUILD_SECONDS = 1800
USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LENT = ("/etc/resolv.conf", "/etc/ssl/certs")
"""What an engine, too, lends to a RUN: how names are found, and whom to trust."""
LENT_VARIABLES = ("PIP_CERT", "PIP_INDEX_URL", "NODE_EXTRA_CA_CERTS", "npm_config_registry")


class BuildFailed(Exception):
    """A command of the Dockerfile failed; its last words."""


@dataclass
class Stage:
    """A file system, and what the image says of how it is run."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    workdir: str = "/"
    command: Sequence[str] = ()
    healthcheck: Sequence[str] = ()
    labels: dict[str, str] = field(default_factory=dict)
    key: str = ""
    """What it is known by in the cache; empty for one that holds our own code."""

    def child(self, root: Path) -> Stage:
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", self.root, root], check=True)
        return Stage(root, dict(self.environment), dict(self.arguments), self.user, self.workdir)


def image(place: Path) -> Stage:
    """The last stage, built in `place`; what does not change with our own code is taken from the cache.

    Raises:
        Unprovided: a program that this needs is not here, or the base cannot be had.
        BuildFailed: a command failed.
    """
    if missing := [name for name in PROGRAMS if shutil.which(name) is None] + ["root"] * (os.geteuid() != 0):
        raise Unprovided(f"an image is built natively with {', '.join(PROGRAMS)} as root: no {', '.join(missing)} here")
    read = parsed("dockerfile", DOCKERFILE)
    stages: dict[str, Stage] = {}
    place.mkdir(parents=True, exist_ok=True)
    for each in read["Stages"]:
        base = stages.get(each["Base"]) or Stage(debian(), {"PATH": USUAL}, key=SUITE)
        stages[each["Name"]] = _stage(each, base, place / each["Name"], stages)
    return stages[read["Stages"][-1]["Name"]]


def run(stage: Stage, data: Path, *command: str, **variables: str) -> list[str]:
    """The command line that runs something as the image says, with `data` (its user's) where it keeps its data."""
    user, group = stage.user.split(":")
    inside = ("--ro-bind", str(stage.root), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")
    mounted = ("--bind", str(data), stage.environment["SUMA_DATA_DIR"], "--die-with-parent")
    known = [part for pair in {**stage.environment, **variables}.items() for part in ("--setenv", *pair)]
    # Mounting takes a root; what follows inside is nobody's.
    kept = [part for capability in ("SETUID", "SETGID", "SETPCAP") for part in ("--cap-add", f"CAP_{capability}")]
    walls = ("--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", *kept, "--clearenv")
    fallen = ("--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")
    owned = ("/usr/bin/setpriv", "--reuid", user, "--regid", group, *fallen)
    return [
        "bwrap",
        *inside,
        *mounted,
        *walls,
        *known,
        "--",
        *owned,
        "/usr/bin/env",
        "--chdir",
        stage.workdir,
        *(command or stage.command),
    ]


def debian() -> Path:
    """A Debian with Python, as the official image is one."""

    def make(draft: Path) -> None:
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(draft)]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
        if answer.returncode != 0:
            raise Unprovided(f"debootstrap could not make a base: {answer.stdout.strip()[-500:]}")
        (draft / "usr/bin/python").symlink_to("python3")

    return built(f"base-{SUITE}-python-1", make)


def _key(stage: Mapping[str, Any], base: Stage) -> str:
    """What a stage is known by in the cache: all that it is made of. Empty for one that holds our own code."""
    copies = [command["Is"] for command in stage["Commands"] if command["Name"] == "COPY"]
    if not base.key or any(copy["From"] or "libs" in copy["SourcePaths"] for copy in copies):
        return ""
    parts = [base.key.encode(), repr(stage["Commands"]).encode()]
    parts += [(ROOT / name).read_bytes() for copy in copies for name in _taken(copy["SourcePaths"])]
    return sha256(b"".join(parts)).hexdigest()[:12]


def _taken(sources: Sequence[str]) -> Sequence[str]:
    """The files that a COPY takes: those below its sources that .dockerignore lets in."""
    files = parsed("context", ROOT)
    return [name for name in files if any(name == source or name.startswith(f"{source}/") for source in sources)]


def _stage(read: Mapping[str, Any], base: Stage, place: Path, stages: Mapping[str, Stage]) -> Stage:
    key = _key(read, base)
    if not key:
        made = base.child(place)
        for command in read["Commands"]:
            _do(command["Name"], command["Is"], made, stages)
        return made
    name = f"image-{read['Name']}-{key}"
    for old in home().glob(f"image-{read['Name']}-*"):
        if old.is_dir() and not old.name.startswith(name):
            shutil.rmtree(old)
    return _cached(read, base, name, key)


def _cached(read: Mapping[str, Any], base: Stage, name: str, key: str) -> Stage:
    """The folder comes from the cache, and what the image says beside it from the Dockerfile."""

    def make(draft: Path) -> None:
        child = base.child(draft)
        for command in read["Commands"]:
            _do(command["Name"], command["Is"], child, {})

    made = Stage(built(name, make), dict(base.environment), key=key)
    for command in read["Commands"]:
        if command["Name"] not in ("RUN", "COPY"):
            _do(command["Name"], command["Is"], made, {})
    return made


def _do(name: str, what: Mapping[str, Any], made: Stage, stages: Mapping[str, Stage]) -> None:
    match name:
        case "ARG":
            made.arguments |= {each["Key"]: each["Value"] for each in what["Args"]}
        case "ENV":
            made.environment |= {each["Key"]: each["Value"] for each in what["Env"]}
        case "LABEL":
            made.labels |= {each["Key"]: each["Value"] for each in what["Labels"]}
        case "RUN":
            _run(" ".join(what["CmdLine"]), made)
        case "COPY":
            _copy(what, made, stages)
        case "USER":
            made.user = what["User"]
        case "WORKDIR":
            made.workdir = what["Path"]
        case "CMD":
            made.command = what["CmdLine"]
        case "HEALTHCHECK":
            kind, *made.healthcheck = what["Health"]["Test"]
            assert kind == "CMD"
        case "EXPOSE" | "STOPSIGNAL":
            pass
        case _:
            raise BuildFailed(f"nobody knows here how {name} is done")


def _run(line: str, made: Stage) -> None:
    lent = [part for path in LENT for part in ("--ro-bind", path, path)]
    passed = {name: value for name, value in os.environ.items() if name in LENT_VARIABLES}
    known = {**made.environment, **made.arguments, **passed, "HOME": "/root"}
    settings = [part for pair in known.items() for part in ("--setenv", *pair)]
    mounts = ("--bind", str(made.root), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *lent)
    answer = subprocess.run(
        ["bwrap", *mounts, "--die-with-parent", "--clearenv", *settings, "--", "/bin/sh", "-c", line],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
    )
    if answer.returncode != 0:
        raise BuildFailed(f"RUN {line}\n{(answer.stdout + answer.stderr)[-2000:]}")


def _copy(what: Mapping[str, Any], made: Stage, stages: Mapping[str, Stage]) -> None:
    target = made.root / _within(what["DestPath"])
    for source in what["SourcePaths"]:
        if what["From"]:
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", stages[what["From"]].root / _within(source), target], check=True)
            continue
        found = _taken([source])
        if not found:
            raise BuildFailed(f"COPY {source}: .dockerignore lets none of it in")
        for name in found:
            place = target / name.removeprefix(source).lstrip("/") if name != source else target
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place)


def _within(path: str) -> str:
    return re.sub("^/+", "", path)
