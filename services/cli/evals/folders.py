"""The folders of cases: their descriptions, and the files on disk made from one."""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

UNITS = {"B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|KB|MB|GB)")
DATE = re.compile(r"-?(\d+)-(\d\d)-(\d\d)")
"""Years before this one, month, day: -1-08-20 is 20 August of last year."""


class FileSpec(BaseModel):
    """A file with one of four contents, and an age in days or a date in an earlier year."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int | None = None
    text: str | None = None
    same: str | None = None
    """The path of the file that this one copies."""
    archive: dict[str, str] | None = None
    """The text files in an archive; the file's name gives its format."""
    age: int | None = Field(default=None, ge=0)
    date: str | None = None

    @field_validator("size", mode="before")
    @classmethod
    def _size(cls, value: object) -> object:
        if isinstance(value, str) and (found := SIZE.fullmatch(value)):
            return int(float(found[1]) * UNITS[found[2]])
        if isinstance(value, str):
            raise ValueError("a size is a number with B, KB, MB or GB")
        return value

    @field_validator("date")
    @classmethod
    def _date(cls, value: str | None) -> str | None:
        if value is not None and not DATE.fullmatch(value):
            raise ValueError("a date is years back, month and day: -1-08-20")
        return value

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if sum(one is not None for one in (self.size, self.text, self.same, self.archive)) != 1:
            raise ValueError("a file has exactly one of size, text, same and archive")
        if (self.age is None) == (self.date is None):
            raise ValueError("a file has either an age or a date")
        return self


class FolderSpec(BaseModel):
    """Files by their paths, and empty folders."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    files: dict[str, FileSpec] = Field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @field_validator("folders")
    @classmethod
    def _inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(inside, value))

    @model_validator(mode="after")
    def _copies(self) -> Self:
        for path, file in self.files.items():
            inside(path)
            if file.same is not None and (file.same not in self.files or self.files[file.same].same is not None):
                raise ValueError(f"{path} is a copy of {file.same}, which must be a file with its own content")
        return self


def inside(path: str) -> str:
    """Check a relative POSIX path and drop its trailing slash. Raises ValueError for any other path."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "." in parts:
        raise ValueError(f"{path!r} is not a path inside a folder")
    return path.rstrip("/")


def make(folder: FolderSpec, root: Path, now: datetime) -> None:
    """Put the folder's files into `root`, an existing empty folder."""
    for path in folder.folders:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, file in folder.files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        _fill(place, path, file, folder)
        moment = moment_of(file, now).timestamp()
        os.utime(place, (moment, moment))


def moment_of(file: FileSpec, now: datetime) -> datetime:
    """Compute the modification time; a file of today is half-way between midnight and now."""
    if file.date is not None and (found := DATE.fullmatch(file.date)):
        return datetime(now.year - int(found[1]), int(found[2]), int(found[3]), 12, tzinfo=UTC)
    if not file.age:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + (now - midnight) / 2
    return now - timedelta(days=file.age)


def _fill(place: Path, path: str, file: FileSpec, folder: FolderSpec) -> None:
    name, source = (file.same, folder.files[file.same]) if file.same is not None else (path, file)
    if source.text is not None:
        place.write_text(source.text, encoding="utf-8")
    elif source.archive is not None:
        place.write_bytes(_archive(name, source.archive))
    else:
        _bulk(place, name, source.size or 0)


def _bulk(place: Path, name: str, size: int) -> None:
    """Write a sparse binary file that is unlike every other."""
    with place.open("wb") as file:
        file.write(f"\0\x01\x02{name}\n".encode()[:size])
        file.truncate(size)


def _archive(name: str, texts: dict[str, str]) -> bytes:
    made = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
            for path, text in texts.items():
                packed.writestr(path, text)
        return made.getvalue()
    with tarfile.open(fileobj=made, mode="w" if name.endswith(".tar") else "w:gz") as packed_tar:
        for path, text in texts.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            packed_tar.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()
