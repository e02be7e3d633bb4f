"""A library's `__init__.py` is its face: `__all__` names what others may import, and the modules they may open."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = sorted(path.parent.name for path in (ROOT / "libs").glob("*/__init__.py"))


def _faces() -> dict[str, list[str]]:
    return {name: getattr(importlib.import_module(f"libs.{name}"), "__all__", []) for name in LIBRARIES}


def _imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the library and the first name below it of each import from a library."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            where = node.module.split(".")
            if where[0] == "libs" and len(where) > 1 and where[1] in LIBRARIES:
                yield from ((where[1], name) for name in (where[2:3] or [alias.name for alias in node.names]))


@pytest.mark.parametrize("name", LIBRARIES)
def test_face_names_only_existing_members(name: str) -> None:
    library = importlib.import_module(f"libs.{name}")
    modules = {module.name for module in pkgutil.iter_modules(library.__path__)}
    face = _faces()[name]
    assert face
    assert len(face) == len(set(face))
    assert [entry for entry in face if not hasattr(library, entry) and entry not in modules] == []


def test_services_import_only_from_faces() -> None:
    faces = _faces()
    past = [
        f"{path.relative_to(ROOT)}: libs.{library}.{name}"
        for folder in ("services", "deploy")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for library, name in _imported(path)
        if name not in faces[library]
    ]
    assert past == []
