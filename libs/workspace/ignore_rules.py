"""`.sumaignore`: entries that a person excludes from the workspace, with the syntax and meaning of gitignore.

A folder may come from anywhere, so the file and its patterns are bounded. Each match must be short, because it blocks
the interpreter.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from libs.workspace.names import join
from libs.workspace.reserved import IGNORE_FILE
from libs.workspace.safe_dir import SafeDir

BYTES_MOST, LINES_MOST = 64 * 1024, 1_000
STARS_MOST = 2
"""Maximum number of `*` in one component, and of `**` in one line. Each further one multiplies the time of a match
(0.01 s with two, 0.4 s with four, measured on the longest names).
"""
NAMED_MOST = 5
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW


@dataclass(frozen=True)
class Rules:
    """The rules of one folder; `folder` is its path with a slash at the end, or empty for the root."""

    folder: str
    spec: GitIgnoreSpec


def ignored(path: str, rules: tuple[Rules, ...]) -> bool:
    """Return whether the rules, the root's first, exclude a path; a folder's path ends with a slash."""
    for level in reversed(rules):
        found = level.spec.check_file(path[len(level.folder) :]).include
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
    spec = GitIgnoreSpec.from_lines(line for number, line in enumerate(lines, 1) if number not in wrong)
    return Rules(f"{folder}/" if folder else "", spec), problems


def _text(safe_dir: SafeDir, path: str) -> tuple[str, bool]:
    """Return the complete lines among the first bytes, and whether these are the whole file."""
    with os.fdopen(safe_dir.at(path, READ), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(0, "it is not a file")
        raw = stream.read(BYTES_MOST + 1)
    whole = len(raw) <= BYTES_MOST
    raw = raw if whole else raw[: raw.rfind(b"\n", 0, BYTES_MOST) + 1]
    return raw.decode("utf-8-sig", "backslashreplace"), whole


def _usable(line: str) -> bool:
    """Return False for a line that is invalid or takes too long to match."""
    parts = line.split("/")
    if parts.count("**") > STARS_MOST or any(part.count("*") > STARS_MOST for part in parts):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
