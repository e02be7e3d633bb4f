"""Folders that a person types into a browser: their state before a session is made in one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.errors import Rejected
from libs.events.topics import EXECUTOR
from libs.workspace.roots import Root
from services.tool_executor.folders import SUGGESTED_MOST, Folder, look
from tests.support.platform import run_platform, scripted_model


def seen(path: Path | str, roots: list[Root], data: Path, *, tenant: str = "local", owner: bool = True) -> Folder:
    return look(str(path), tenant, roots, data, owner=owner)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "Tax 2026").mkdir(parents=True)
    (made / "Tax 2025").mkdir()
    (made / ".hidden").mkdir()
    (made / "Tax.txt").write_text("")
    return made


def test_owner_sees_the_state_of_each_folder(data: Path, docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    expected = {
        docs / "Tax 2026": "allowed",
        other: "needs_permission",
        docs / "absent": "missing",
        docs / "Tax.txt": "missing",
        data: "refused",
        Path("/etc"): "refused",
    }
    states: dict[Path, str] = {path: seen(path, [Root(docs)], data).state for path in expected}
    assert states == expected


def test_others_learn_nothing_of_folders_outside_their_roots(data: Path, docs: Path, tmp_path: Path) -> None:
    for path in (docs, tmp_path / "nowhere", data, "/etc", docs / "Tax.txt"):
        assert seen(path, [Root(docs)], data, tenant="acme") == Folder(str(path), "needs_permission")
        assert seen(path, [], data, owner=False) == Folder(str(path), "needs_permission")


def test_path_is_completed_inside_allowed_folders_only(data: Path, docs: Path, tmp_path: Path) -> None:
    roots = [Root(docs)]
    assert seen(f"{docs}/Ta", roots, data).suggestions == (f"{docs}/Tax 2025", f"{docs}/Tax 2026")
    assert seen(f"{docs}/", roots, data).suggestions[-2:] == (f"{docs}/Tax 2025", f"{docs}/Tax 2026")
    assert seen(f"{tmp_path}/d", roots, data).suggestions == (str(docs),)
    assert seen(f"{docs}/../d", roots, data).suggestions == ()


def test_suggestions_are_bounded(data: Path, docs: Path) -> None:
    for number in range(2 * SUGGESTED_MOST):
        (docs / f"x{number}").mkdir()
    assert len(seen(f"{docs}/x", [Root(docs)], data).suggestions) == SUGGESTED_MOST


@pytest.mark.parametrize("path", ["Downloads", "", "~nobody-of-this-name/x", "a\0b", "x" * 4000])
def test_text_that_is_no_path_is_missing(path: str, data: Path) -> None:
    assert seen(path, [], data).state == "missing"


async def test_unreadable_list_of_folders_is_refused_with_the_remedy(home: Dsns, tmp_path: Path) -> None:
    asked = {"path": str(tmp_path), "owner": "true"}
    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        (at.platform.data_dir / "roots.json").mkdir()
        with pytest.raises(Rejected, match=r"roots\.json cannot be read; give it to the owner of"):
            await call(at.platform, EXECUTOR, "GET", "/internal/v1/folders", tenant="local", params=asked)


async def test_permission_given_in_a_terminal_is_seen_at_once(home: Dsns, tmp_path: Path) -> None:
    wanted = tmp_path / "Downloads"
    wanted.mkdir()

    async def state() -> object:
        asked = {"path": str(wanted), "owner": "true"}
        return (await call(at.platform, EXECUTOR, "GET", "/internal/v1/folders", tenant="local", params=asked))["state"]

    async with run_platform(home, tmp_path, model=scripted_model()) as at:
        before = await state()
        (at.platform.data_dir / "roots.json").write_text(json.dumps([str(wanted)]))
        assert (before, await state()) == ("needs_permission", "allowed")
