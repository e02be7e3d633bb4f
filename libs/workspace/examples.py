"""A messy Downloads folder to try Suma on: that of the worked example (S4-48, S4-49), or a random one from a seed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

MEGABYTE = 1_000_000
LONG_AGO, NOW = 631_152_000, 1_760_000_000
"""The range of the files' modification times, in seconds since the epoch: 1990 to 2025."""

KEPT_APART = ("report_v1.pdf", "report_final.pdf")
"""Equal bytes, but two versions to their owner: the group that is excluded from the removal."""

COPIES = {
    ("holiday.mp4", "holiday (1).mp4", "Kopie von holiday.mp4"): 4 * MEGABYTE,
    ("ubuntu-24.04.iso", "old/ubuntu-24.04 (1).iso"): 4 * MEGABYTE,
    KEPT_APART: 180_000,
}

SINGLES = (
    *("invoice-2023.pdf", "Rechnung März.pdf", "contract.docx", "thesis.odt", "notes.txt", "README.md", "ébauche.tex"),
    *("IMG_0001.JPG", "IMG_0002.jpeg", "screenshot 2024-05-01.png", "naïve café.webp", "logo.svg", "scan.tiff"),
    *("песня.mp3", "voice memo.m4a", "podcast.ogg", "lecture.mkv"),
    *("photos.zip", "backup.tar.gz", "curl-8.5.tar.gz", "setup.exe", "tool.deb", "app.dmg"),
    *("data.csv", "budget 2024.xlsx", "results.json", "config.yaml", "query.sql", "main.py", "script.sh"),
    *("日本語.txt", "emoji 🎉.txt", "e\u0301tude.txt", "no extension", "two  spaces.pdf"),
    *("projects/alpha/plan.md", "projects/alpha/photo.png", "old/2019/taxes.pdf"),
)
EMPTY = ("empty.log", "placeholder.txt")
FOLDERS = ("empty folder", "old/empty too")
MODES = (0o644, 0o600, 0o640, 0o755, 0o444, 0o664)
KINDS = ("pdf", "txt", "jpg", "png", "mp3", "mp4", "zip", "csv", "py", "docx", "xyz", "")
WORDS = ("alpha", "übung", "写真", "draft final", "copy", "IMG", "résumé", "e\u0301t", "🎈", "data", "old")


@dataclass(frozen=True)
class Mess:
    """The created groups of duplicates, and the group to exclude."""

    groups: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]

    @property
    def surplus(self) -> int:
        """The number of files to remove."""
        return sum(len(group) - 1 for group in self.groups if group != self.left_out)


def worked_example(folder: Path) -> Mess:
    """Create 47 files with 3 groups of duplicates; 2 groups have 3 surplus files (12 MB)."""
    rng = Random(448)  # noqa: S311 - the same folder at every run
    contents = {name: rng.randbytes(size) for names, size in COPIES.items() for name in names[:1]}
    for names in COPIES:
        contents |= dict.fromkeys(names, contents[names[0]])
    contents |= {name: rng.randbytes(rng.randint(200, 60_000)) for name in SINGLES}
    _write(folder, contents | dict.fromkeys(EMPTY, b""), FOLDERS, rng)
    return Mess(tuple(COPIES), KEPT_APART)


def random(folder: Path, seed: int) -> Mess:
    """Create 20 to 120 files in folders up to three deep, with 2 to 6 groups of duplicates."""
    rng = Random(seed)  # noqa: S311 - repeatable by its seed
    names = list(dict.fromkeys(_names(rng, rng.randint(20, 120))))
    contents = {name: rng.randbytes(rng.choice((0, 1, 100, 5_000, 200_000)) + n) for n, name in enumerate(names, 1)}
    originals = rng.sample(names, rng.randint(2, 6))
    groups = tuple(_copied(contents, rng, n, first) for n, first in enumerate(originals))
    contents |= {f"nothing {n}.{rng.choice(KINDS)}".rstrip("."): b"" for n in range(rng.randint(0, 4))}
    _write(folder, contents, tuple(f"hollow {n}" for n in range(rng.randint(0, 3))), rng)
    return Mess(groups, groups[0])


def _names(rng: Random, count: int) -> Iterator[str]:
    for n in range(count):
        depth = rng.choice((0, 0, 0, 1, 2, 3))
        folders = [f"folder {rng.choice(WORDS)} {rng.randint(1, 3)}" for _ in range(depth)]
        kind = rng.choice(KINDS)
        yield "/".join([*folders, f"{rng.choice(WORDS)} {n}{'.' if kind else ''}{kind}"])


def _copied(contents: dict[str, bytes], rng: Random, number: int, first: str) -> tuple[str, ...]:
    """Copy a file to new names at the top of the folder, and return all names."""
    same = contents[first] = rng.randbytes(1_000 + number)
    copies = tuple(f"copy of group {number} {n}.{rng.choice(KINDS) or 'bin'}" for n in range(rng.randint(1, 4)))
    contents |= dict.fromkeys(copies, same)
    return (first, *copies)


def _write(folder: Path, contents: Mapping[str, bytes], empty_folders: tuple[str, ...], rng: Random) -> None:
    """Write files with unusual modes and times; set folders last, since each new file changes its folder's time."""
    for name in empty_folders:
        (folder / name).mkdir(parents=True)
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(rng.choice(MODES))
        _age(path, rng)
    for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        path.chmod(rng.choice((0o755, 0o700, 0o775)))
        _age(path, rng)
    _age(folder, rng)


def _age(path: Path, rng: Random) -> None:
    moment = rng.randint(LONG_AGO, NOW) * 1_000_000_000 + rng.randint(0, 999_999_999)
    os.utime(path, ns=(moment, moment))
