"""Every setting is used: code of its component reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

from services import catalog
from services.settings import Process

ROOT = Path(__file__).parents[2]


@cache
def code(*folders: str) -> str:
    return "\n".join(path.read_text() for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


def fields(model: type[BaseModel], folders: tuple[str, ...]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield every field of a section and its subsections, with the place that must read it."""
    for name, field in model.model_fields.items():
        yield f"{model.__module__}.{name}", name, folders
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, folders)


SETTINGS = [
    *fields(Process, ("services", "libs")),
    *(each for entry in catalog.SERVICES for each in fields(entry.settings(), (f"services/{entry.name}",))),
]


@pytest.mark.parametrize(("setting", "name", "folders"), SETTINGS, ids=[setting for setting, _, _ in SETTINGS])
def test_every_setting_is_read_somewhere(setting: str, name: str, folders: tuple[str, ...]) -> None:
    assert re.search(rf"\.{name}\b", code(*folders)), f"nothing reads {setting}"
