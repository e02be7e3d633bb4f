"""`.sumaignore`: entries that a person excludes from the workspace, with the syntax and meaning of gitignore.

A folder may come from anywhere, so the number of rules is bounded, and RE2 matches them all at once in time that is
linear in the name (record 0098).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

import re2
from pathspec import GitIgnoreSpec

from libs.texts import composed
from libs.workspace.names import join
from libs.workspace.reserved import IGNORE_FILE
from libs.workspace.safe_dir import SafeDir

BYTES_MOST, LINES_MOST = 64 * 1024, 1_000
NAMED_MOST = 5
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@dataclass(frozen=True)
class Rules:
    """The rules of one folder; `folder` is its path with a slash at the end, or empty for the root."""

    folder: str
    specs: tuple[GitIgnoreSpec, ...]
    """Consecutive rules, the last first: a later rule decides."""
    lines: int

    def excludes(self, path: str) -> bool | None:
        """Return whether the rules exclude a path; None if none of them is about it."""
        results = (spec.check_file(composed(path[len(self.folder) :])).include for spec in self.specs)
        return next((found for found in results if found is not None), None)


def ignored(path: str, rules: tuple[Rules, ...]) -> bool:
    """Return whether the rules, the root's first, exclude a path; a folder's path ends with a slash."""
    for level in reversed(rules):
        found = level.excludes(path)
        if found is not None:
            return found
    return False


def read(safe_dir: SafeDir, folder: str) -> tuple[Rules | None, list[str]]:
    """Return the rules of a folder that has the file, and the problems found in it, as sentences."""
    path = join(folder, IGNORE_FILE)
    try:
        text, whole = _text(safe_dir, path)
    except OSError as error:
        return None, [f"{path} cannot be read and was ignored: {error.strerror}."]
    return parsed(folder, path, text, whole=whole)


def parsed(folder: str, path: str, text: str, *, whole: bool = True) -> tuple[Rules, list[str]]:
    """Return the rules in the text of a folder's file, and the problems found in it, as sentences."""
    lines, problems = text.splitlines(), [] if whole else [f"{path} is longer than 64 KiB; the rest was ignored."]
    if len(lines) > LINES_MOST:
        problems.append(f"{path} has more than {LINES_MOST} lines; the rest was ignored.")
    lines = lines[:LINES_MOST]
    wrong = [number for number, line in enumerate(lines, 1) if not _usable(line)]
    problems += [
        f"{path}, line {number}: this is not a valid pattern and was skipped." for number in wrong[:NAMED_MOST]
    ]
    if len(wrong) > NAMED_MOST:
        problems.append(f"{path}: {len(wrong) - NAMED_MOST} more lines were skipped.")
    usable = [line for number, line in enumerate(lines, 1) if number not in wrong]
    return Rules(f"{folder}/" if folder else "", (*_specs(usable),), len(usable)), problems


def _specs(lines: list[str]) -> Iterator[GitIgnoreSpec]:
    """Yield matchers of the lines, the last lines first. Patterns too large for one RE2 set make two."""
    try:
        yield _spec(lines)
    except re2.error:
        middle = len(lines) // 2
        yield from _specs(lines[middle:])
        yield from _specs(lines[:middle])


def _spec(lines: list[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(lines, backend="re2")


def _text(safe_dir: SafeDir, path: str) -> tuple[str, bool]:
    """Return the complete lines among the first bytes, and whether these are the whole file."""
    with os.fdopen(safe_dir.at(path, READ), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(0, "it is not a file")
        raw = stream.read(BYTES_MOST + 1)
    whole = len(raw) <= BYTES_MOST
    raw = raw if whole else raw[: raw.rfind(b"\n", 0, BYTES_MOST) + 1]
    return composed(raw.decode("utf-8-sig", "backslashreplace")), whole


def _usable(line: str) -> bool:
    """Return False for a line that is invalid, or too large for RE2."""
    try:
        _spec([line])
    except (ValueError, re.error, re2.error):
        return False
    return True
