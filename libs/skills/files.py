"""A skill's folder as bytes: read once, whole, within bounds and without following a link.

What is parsed, hashed, approved and used later are the same bytes. Whoever changes the folder meanwhile changes the
next version, never this one.
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
"""libyaml's takes a tenth of the time; PyYAML may have been built without it."""

LARGEST = 1_000_000
"""Bytes of one file of a skill. What is larger is not instructions."""
WHOLE = 4_000_000
"""Bytes of all of them."""
FILES_MOST = 200
BUILT = "__pycache__"

Print = tuple[tuple[str, int, int, int, int], ...]
"""What a look without reading tells of each file and folder: its path, inode, size, and times of change in ns."""


class BadSkill(Rejected):
    """The folder is no valid skill; `problems` says what to mend."""

    code = "BAD_SKILL"

    def __init__(self, folder: Path, problems: tuple[str, ...]) -> None:
        super().__init__(f"{folder.name}: {'; '.join(problems)}")
        self.problems = problems


def read_files(folder: Path) -> Mapping[str, bytes]:
    """The folder's files by path, in order. Hidden ones (an editor's, a version control's) are no part of the skill.

    Raises:
        BadSkill: a link, something that is no file, or more than a skill may hold.
    """
    found: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        for path, name, place in _entries(folder):
            if len(found) + len(problems) >= FILES_MOST:
                problems.append(f"it holds more than {FILES_MOST} files")
                break
            if not path.isprintable():
                problems.append(f"{path!a} is no name for a file of a skill")
                continue
            try:
                found[path] = _content(name, place)
            except BadFile as bad:
                problems.append(f"{path} {bad}")
    except OSError as error:
        problems.append(f"it cannot be read: {error.strerror}")
    if sum(map(len, found.values())) > WHOLE:
        problems.append(f"its files are larger than {WHOLE} bytes together")
    if problems:
        raise BadSkill(folder, tuple(sorted(problems)))
    return dict(sorted(found.items()))


def digest_of(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the names and contents of all files, so that approval by hash covers every byte."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\0{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return whole.hexdigest()


def fingerprint(folder: Path) -> Print:
    """What changes when a file of the folder does, told by one `stat` for each. Raises OSError."""
    told: list[tuple[str, int, int, int, int]] = []
    below = [os.fspath(folder)]
    while below and len(told) <= FILES_MOST:
        with os.scandir(below.pop()) as entries:
            for entry in entries:
                if _passed_over(entry.name):
                    continue
                about = entry.stat(follow_symlinks=False)
                told.append((entry.path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
                if stat.S_ISDIR(about.st_mode):
                    below.append(entry.path)
    return tuple(sorted(told))


class BadFile(Rejected):
    """This can be no part of a skill."""


def _entries(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Each file or link: its path, its name, and the open directory that it is in, so that none is swapped midway."""
    if folder.is_symlink():
        raise BadSkill(folder, ("the folder is a link",))
    for n, (here, below, files, place) in enumerate(os.fwalk(folder, onerror=_stop, follow_symlinks=False)):
        if n > FILES_MOST:
            raise BadSkill(folder, (f"it holds more than {FILES_MOST} folders",))
        below[:] = sorted(name for name in below if not _passed_over(name))
        inside = Path(here).relative_to(folder)
        links = [name for name in below if stat.S_ISLNK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode)]
        for name in (*links, *(name for name in sorted(files) if not _passed_over(name))):
            yield (inside / name).as_posix(), name, place


def _stop(error: OSError) -> None:
    """A folder that cannot be read is not an empty one."""
    raise error


def _passed_over(name: str) -> bool:
    return name.startswith(".") or name == BUILT


def _content(name: str, place: int) -> bytes:
    if stat.S_ISLNK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        raise BadFile("is a link")
    # Without blocking: a pipe would wait for a writer.
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadFile("is no ordinary file")
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(f"is larger than {LARGEST} bytes")
    return content
