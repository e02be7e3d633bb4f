"""Builds of the web application are kept by the content of their sources, and packages come from no named registry."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deploy.local import cache
from deploy.local.web import NODE, ROOT, WEB, name, sources, web

INPUTS = (
    NODE,
    Path("proto/openapi.yaml"),
    Path("proto/events/suma.turn.ended.v1.json"),
    *(WEB / file for file in ("package.json", "package-lock.json", ".npmrc", "vite.config.ts", "index.html")),
    *(WEB / file for file in ("src/main.tsx", "public/sw.js", "scripts/types.mjs", "tests/reduce.test.ts")),
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources."""
    for file in sources(ROOT):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.mark.parametrize("file", INPUTS, ids=str)
def test_changed_source_names_another_build(copy: Path, file: Path) -> None:
    before = name(copy)
    with (copy / file).open("a") as source:
        source.write(" ")
    assert name(copy) != before


def test_new_and_renamed_sources_name_other_builds(copy: Path) -> None:
    names = [name(copy)]
    (copy / WEB / "src/new.ts").touch()
    names.append(name(copy))
    (copy / WEB / "src/new.ts").rename(copy / WEB / "src/other.ts")
    names.append(name(copy))
    assert len(set(names)) == 3


def test_written_files_leave_the_name(copy: Path) -> None:
    before = name(copy)
    for folder in ("node_modules/react", "src/api/generated", "dist"):
        (copy / WEB / folder).mkdir(parents=True)
        (copy / WEB / folder / "index.js").touch()
    assert name(copy) == before


def test_kept_build_needs_no_node_and_no_registry(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(copy / "cache"))
    kept = cache.home() / name(copy)
    kept.mkdir(parents=True)
    assert web(copy) == kept


def test_lock_file_pins_contents_and_no_registry() -> None:
    packages = json.loads((ROOT / WEB / "package-lock.json").read_text())["packages"]
    fetched = [package for path, package in packages.items() if path and not package.get("link")]
    assert fetched
    assert all("integrity" in package and "resolved" not in package for package in fetched)
