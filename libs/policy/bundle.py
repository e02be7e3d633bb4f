"""The bundle: the rules and their data as one value with one revision, read from a folder in one pass.

An OPA server loads it as an archive whose manifest names that revision, so that every engine reports the same one.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from libs.errors import Rejected
from libs.policy.ports import ENTRYPOINT

TRIAL_SECONDS = 20.0


class BundleBroken(Rejected):
    """The policy bundle cannot be activated; correct it and reload."""

    code = "POLICY_BUNDLE"


class BundleUntried(BundleBroken):
    """The trial of the policy bundle ended without a result; try again."""


@dataclass(frozen=True)
class Bundle:
    """Rego modules by name, the JSON of data.json, and the SHA-256 of both."""

    modules: tuple[tuple[str, str], ...]
    data: str
    revision: str

    @classmethod
    def read(cls, folder: Path) -> Bundle:
        """Read data.json and every *.rego file below `folder` except tests. Raises BundleBroken."""
        try:
            # Sorted: the revision must not depend on the order in which a file system lists.
            files = {name: path.read_bytes() for name, path in sorted(_parts(folder))}
            texts = {name: content.decode() for name, content in files.items()}
        except (OSError, UnicodeDecodeError) as broken:
            raise BundleBroken(f"The policy bundle cannot be read: {broken}") from broken
        modules = tuple((name, text) for name, text in texts.items() if name.endswith(".rego"))
        if not modules:
            raise BundleBroken("The policy bundle contains no rules.")
        return cls(modules, _object(texts.get("data.json", "{}")), _digest(files))

    def archive(self) -> bytes:
        """Return the bundle as OPA downloads it (.tar.gz); equal bundles give equal bytes."""
        manifest = json.dumps({"revision": self.revision, "rego_version": 1})
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, text in ((".manifest", manifest), ("data.json", self.data), *self.modules):
                content = text.encode()
                # Without times and owners, so that equal bundles give equal bytes.
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        return gzip.compress(packed.getvalue(), mtime=0)


def _parts(folder: Path) -> Iterator[tuple[str, Path]]:
    # A mounted ConfigMap keeps older versions of the same files in hidden folders beside them.
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or not path.is_file():
            continue
        if (path.suffix == ".rego" and not path.stem.endswith("_test")) or relative.as_posix() == "data.json":
            yield relative.as_posix(), path


def _object(text: str) -> str:
    try:
        data = json.loads(text)
    except ValueError as broken:
        raise BundleBroken(f"data.json is not JSON: {broken}") from broken
    if not isinstance(data, dict):
        raise BundleBroken("data.json is not an object.")
    return text


def _digest(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of names and contents. Each is prefixed with its length, so that no two bundles collide."""
    digest = hashlib.sha256()
    for name, content in files.items():
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def try_apart(bundle: Bundle) -> frozenset[str] | None:
    """Try the bundle in another process (see `trial`). Return the question's fields that its rules read, or None if
    their answers must not be cached.

    Raises:
        BundleBroken: the trial failed. BundleUntried: the trial ended without a result.
    """
    candidate = {"modules": bundle.modules, "data": bundle.data, "entrypoint": ENTRYPOINT}
    # `-P`: the files beside the script must not hide modules that it imports.
    command = [sys.executable, "-P", str(Path(__file__).with_name("trial.py"))]
    tried = _trial(command, candidate)
    if tried.returncode < 0:
        # The engine sometimes aborts when it saves a bundle; a bundle that causes the abort repeats it.
        tried = _trial(command, candidate)
    if tried.returncode < 0:
        raise BundleUntried("The policy bundle is broken: the engine crashed.")
    if tried.returncode != 0:
        message = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BundleBroken(f"The policy bundle is broken: {message}.")
    read = json.loads(tried.stdout)
    return None if read is None else frozenset(read)


def _trial(command: list[str], candidate: Mapping[str, object]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 -- this interpreter and this project's file
            command, input=json.dumps(candidate).encode(), capture_output=True, timeout=TRIAL_SECONDS, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as failed:
        raise BundleUntried(f"The policy bundle could not be tried: {failed}") from failed
