"""A skill's folder as bytes: read once and completely, within limits, without following links.

The same bytes are parsed, hashed, approved and used later. A change in the folder meanwhile affects the next version,
never this one.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from libs.errors import Rejected

LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Use libyaml, which is ten times as fast; PyYAML may have been built without it."""

LARGEST = 1_000_000
"""Maximum bytes of one file of a skill. Larger files are not instructions."""
WHOLE = 4_000_000
"""Maximum bytes of all files."""
FILES_MOST = 200
BUILT = "__pycache__"

Fingerprint = tuple[tuple[str, int, int, int, int], ...]
"""Metadata of each file and folder, without reading it: path, inode, size, mtime and ctime in ns."""


class BadSkill(Rejected):
    """The folder is not a valid skill; `problems` says what to correct."""

    code = "BAD_SKILL"

    def __init__(self, folder: Path, problems: tuple[str, ...]) -> None:
        super().__init__(f"{folder.name}: {'; '.join(problems)}")
        self.problems = problems


def read_files(folder: Path) -> Mapping[str, bytes]:
    """Return the folder's files by path, in order. Hidden files (of an editor or a version control) are not part of the
    skill.

    Raises:
        BadSkill: it contains a link, something that is not a file, or more than a skill may contain.
    """
    found: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        for path, name, place in _entries(folder):
            if len(found) + len(problems) >= FILES_MOST:
                problems.append(f"it contains more than {FILES_MOST} files")
                break
            if not path.isprintable():
                problems.append(f"{path!a} is not a valid file name in a skill")
                continue
            try:
                found[path] = _content(name, place)
            except BadFile as bad:
                problems.append(f"{path} {bad}")
    except OSError as error:
        problems.append(f"it cannot be read: {error.strerror}")
    if sum(map(len, found.values())) > WHOLE:
        problems.append(f"its files are larger than {WHOLE} bytes in total")
    if problems:
        raise BadSkill(folder, tuple(sorted(problems)))
    return dict(sorted(found.items()))


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over the names and contents of all files, so that approval by hash covers every byte."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\0{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return whole.hexdigest()


def fingerprint(folder: Path) -> Fingerprint:
    """Return metadata that changes whenever a file of the folder does, from one `stat` for each. Raises OSError."""
    found: list[tuple[str, int, int, int, int]] = []
    below = [os.fspath(folder)]
    while below and len(found) <= FILES_MOST:
        with os.scandir(below.pop()) as entries:
            for entry in entries:
                if _ignored(entry.name):
                    continue
                about = entry.stat(follow_symlinks=False)
                found.append((entry.path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
                if stat.S_ISDIR(about.st_mode):
                    below.append(entry.path)
    return tuple(sorted(found))


class BadFile(Rejected):
    """This file cannot be part of a skill."""


def _entries(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Yield each file or link: its path, its name, and its open directory, so that it cannot be replaced meanwhile."""
    if folder.is_symlink():
        raise BadSkill(folder, ("the folder is a link",))
    for n, (here, below, files, place) in enumerate(os.fwalk(folder, onerror=_raise, follow_symlinks=False)):
        if n > FILES_MOST:
            raise BadSkill(folder, (f"it contains more than {FILES_MOST} folders",))
        below[:] = sorted(name for name in below if not _ignored(name))
        inside = Path(here).relative_to(folder)
        links = [name for name in below if stat.S_ISLNK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)]
        for name in (*links, *(name for name in sorted(files) if not _ignored(name))):
            yield (inside / name).as_posix(), name, place


def _raise(error: OSError) -> None:
    """Raise: an unreadable folder must not count as empty."""
    raise error


def _ignored(name: str) -> bool:
    return name.startswith(".") or name == BUILT


def _content(name: str, place: int) -> bytes:
    if stat.S_ISLNK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        raise BadFile("is a link")
    # Open without blocking: a pipe would wait for a writer.
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadFile("is not a regular file")
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(f"is larger than {LARGEST} bytes")
    return content
