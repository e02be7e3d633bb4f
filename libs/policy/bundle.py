"""The bundle: the rules and their data as one value with one revision, read from a folder all at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from libs.errors import Rejected


class BundleBroken(Rejected):
    """The policy bundle cannot be put in force."""

    code = "POLICY_BUNDLE"


@dataclass(frozen=True)
class Bundle:
    """Rego modules by name, the JSON of data.json, and the SHA-256 over both."""

    modules: tuple[tuple[str, str], ...]
    data: str
    revision: str

    @classmethod
    def read(cls, folder: Path) -> Bundle:
        """Every *.rego file below `folder` but its tests, and data.json. Raises BundleBroken."""
        try:
            files = {name: path.read_bytes() for name, path in sorted(_parts(folder))}
            texts = {name: content.decode() for name, content in files.items()}
        except (OSError, UnicodeDecodeError) as broken:
            raise BundleBroken(f"The policy bundle cannot be read: {broken}") from broken
        modules = tuple((name, text) for name, text in texts.items() if name.endswith(".rego"))
        if not modules:
            raise BundleBroken("The policy bundle holds no rules.")
        return cls(modules, _object(texts.get("data.json", "{}")), _digest(files))


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
    """SHA-256 over names and contents, each with its length before it, so that no two bundles read alike."""
    digest = hashlib.sha256()
    for name, content in files.items():
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
