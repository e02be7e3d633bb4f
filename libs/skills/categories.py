"""Pure rules for tidying: the category of a file's name, the year in it, and the next free name.

The categories are data of the `organize-by-type` skill (`references/categories.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

import yaml

from libs.errors import Rejected
from libs.skills.files import LOADER
from libs.texts import composed

OTHER = "Other"
DOUBLE = (".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst")


class BadCategories(Rejected):
    """The categories must be a mapping of each category to a list of extensions."""

    code = "BAD_CATEGORIES"


@dataclass(frozen=True, slots=True)
class Categories:
    """Extensions (lower case, without the dot) by category."""

    extensions: Mapping[str, frozenset[str]]

    @classmethod
    def load(cls, path: Path) -> Categories:
        """Read a file of categories. Raises `BadCategories`."""
        return cls.read(path.read_bytes())

    @classmethod
    def read(cls, content: bytes) -> Categories:
        """Parse a YAML mapping of category to extensions. Raises `BadCategories`."""
        try:
            listed = yaml.load(content, LOADER)  # noqa: S506 - both loaders are safe ones
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as wrong:
            raise BadCategories(f"the categories cannot be read: {wrong}") from wrong
        if not isinstance(listed, dict) or not all(isinstance(found, list) for found in listed.values()):
            raise BadCategories
        return cls({str(category): frozenset(map(str, found)) for category, found in listed.items()})

    def category_of(self, name: str) -> str:
        """Return `Images` for `a/B.JPG`, and `Other` for an extension that no category lists."""
        extension = PurePosixPath(name).suffix.lower().lstrip(".")
        return next((category for category, known in self.extensions.items() if extension in known), OTHER)


DATE = re.compile(
    r"(?<!\d)(?:(?P<before>0[1-9]|1[0-2])[-_.])?(?P<year>(?:19|20)\d\d)"
    r"(?:[-_. ]?(?P<month>0[1-9]|1[0-2])(?:[-_. ]?(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)


def date_in(name: str) -> tuple[str, str | None] | None:
    """Return the year and the month in a name: 2023 and 02 for `scan 2023-02-14.pdf`, `20230214.jpg`, `14.02.2023.txt`.
    None if it holds no year or several.
    """
    dates = [(found["year"], found["month"] or found["before"]) for found in DATE.finditer(name)]
    years, months = {year for year, _ in dates}, {month for _, month in dates if month}
    if len(years) != 1:
        return None
    return years.pop(), months.pop() if len(months) == 1 else None


NAME_BYTES_MOST = 255


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name itself, or the first of `name (2).ext`, `name (3).ext` … that is free, whatever its case
    and the form of its letters.

    Both are ignored because the same folder may be read on a file system that ignores them. A stem is shortened where
    the name would exceed 255 bytes, which is the most that a file system takes.
    """
    used = {composed(other).casefold() for other in taken}
    if composed(name).casefold() not in used:
        return name
    stem, suffix = split_suffix(name)
    return next(fresh for n in count(2) if composed(fresh := _numbered(stem, n, suffix)).casefold() not in used)


def _numbered(stem: str, n: int, suffix: str) -> str:
    end = f" ({n}){suffix}"
    room = NAME_BYTES_MOST - len(end.encode("utf-8", "surrogatepass"))
    while len(stem.encode("utf-8", "surrogatepass")) > room:
        stem = stem[:-1]
    return f"{stem.rstrip()}{end}"


def split_suffix(name: str) -> tuple[str, str]:
    """Split off the extension: `("a", ".tar.gz")`, `("b", ".txt")`, `(".env", "")`."""
    double = next((end for end in DOUBLE if name.lower().endswith(end) and len(name) > len(end)), None)
    suffix = name[-len(double) :] if double else PurePosixPath(name).suffix
    return (name.removesuffix(suffix), suffix) if suffix else (name, "")
