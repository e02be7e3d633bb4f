"""Copying: a creation and nothing else. What is copied stays as it is, and nothing that is there is overwritten."""

from __future__ import annotations

import os
from typing import Any

import pytest

from libs.errors import NotFound, Rejected
from libs.workspace.errors import OutsideWorkspace, WrongKind
from services.tool_executor.tools.copying import CannotCopy
from services.tool_executor.tools.tool_context import TooMuch
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-14", "S4-20")


@pytest.fixture
def filled(folder: StagedFolder) -> StagedFolder:
    folder.write("a.txt", "one", at="2024-03-01T12:00", mode=0o640)
    folder.write("b.txt", "two")
    folder.write("album/p.jpg", "picture")
    folder.write("album/raw/q.jpg", "raw")
    folder.write("safe/a.txt", "another")
    (folder.root / "album/link").symlink_to("p.jpg")
    folder.scan()
    return folder


def copied(folder: StagedFolder, **args: Any) -> list[str]:
    return [copy["to"] for copy in folder.run("manage-files.copy", **args).data["copied"]]


@pytest.mark.parametrize(
    ("args", "ends"),
    [
        ({"source": "a.txt"}, ["a (2).txt"]),
        ({"source": "a.txt", "target": "."}, ["a (2).txt"]),
        ({"source": "a.txt", "new_name": "c.txt"}, ["c.txt"]),
        ({"source": "a.txt", "new_name": "B.txt"}, ["B (2).txt"]),
        ({"source": "a.txt", "target": "c.txt"}, ["c.txt"]),
        ({"source": "a.txt", "target": "b.txt"}, ["b (2).txt"]),
        ({"source": "a.txt", "target": "album"}, ["album/a.txt"]),
        ({"source": ["a.txt"], "target": "safe"}, ["safe/a (2).txt"]),
        ({"source": ["a.txt", "b.txt"], "target": "new/deep"}, ["new/deep/a.txt", "new/deep/b.txt"]),
        ({"source": ["a.txt", "safe/a.txt"], "target": "new"}, ["new/a.txt", "new/a (2).txt"]),
        ({"source": ["a.txt", "b.txt"]}, ["a (2).txt", "b (2).txt"]),
        ({"source": "a.txt", "target": "new", "new_name": "c"}, ["new/c"]),
        ({"source": "album"}, ["album (2)"]),
        ({"source": "album", "target": "safe"}, ["safe/album"]),
        ({"source": "album", "target": "photos"}, ["photos"]),
        ({"source": ["album"], "target": "photos"}, ["photos/album"]),
        ({"source": ["a.txt"], "target": "v1.2"}, ["v1.2/a.txt"]),
        ({"source": ["a.txt"], "target": "c.md"}, ["c.md"]),
        ({"source": ["album", "album/p.jpg"], "target": "safe"}, ["safe/album"]),
        ({"source": "safe/a.txt", "target": "."}, ["a (2).txt"]),
    ],
)
def test_copy_goes_to_its_target_under_a_free_name(
    filled: StagedFolder, args: dict[str, object], ends: list[str]
) -> None:
    before = filled.seen()
    assert copied(filled, **args) == ends
    filled.commit()
    after = filled.seen()
    assert {path for path in ends if path in before or path not in after} == set()
    assert {path: after[path][3] for path in before} == {path: facts[3] for path, facts in before.items()}


def test_folder_is_copied_whole_and_a_link_stays_a_link(filled: StagedFolder) -> None:
    done = filled.run("manage-files.copy", source="album", target="safe")
    assert (done.data["files"], done.data["folders"], done.data["bytes"]) == (3, 2, 10)
    assert done.summary == "Copied 3 files and 2 folders (10 B) to safe/album."
    filled.commit()
    assert (filled.root / "safe/album/raw/q.jpg").read_text() == "raw"
    assert os.readlink(filled.root / "safe/album/link") == "p.jpg"


def test_copy_is_a_creation_with_its_source_in_the_diff(filled: StagedFolder) -> None:
    filled.run("manage-files.copy", source=["a.txt", "album"], target="box")
    diff = filled.stage.diff()
    assert (diff.counts["created"], len(diff)) == (7, 7)
    assert {entry.path: entry.source for entry in diff.entries if entry.kind != "directory"} == {
        "box/a.txt": "a.txt",
        "box/album/link": "album/link",
        "box/album/p.jpg": "album/p.jpg",
        "box/album/raw/q.jpg": "album/raw/q.jpg",
    }


@pytest.mark.requirement("A24", "S0-24")
def test_rollback_removes_copies_and_leaves_originals_byte_for_byte(filled: StagedFolder) -> None:
    before = filled.seen()
    filled.run("manage-files.copy", source=["a.txt", "album"], target="box")
    filled.run("manage-files.copy", source="b.txt", new_name="c.txt")
    filled.commit()
    assert filled.seen().keys() > before.keys()
    filled.roll_back()
    assert filled.seen() == before


def test_staged_changes_are_copied(filled: StagedFolder) -> None:
    filled.run("manage-files.create", path=".", name="fresh.txt", type="file", content="hello")
    filled.run("manage-files.move", source="b.txt", target="album")
    assert copied(filled, source=["fresh.txt", "album/b.txt"], target="box") == ["box/fresh.txt", "box/b.txt"]
    filled.commit()
    assert [(filled.root / "box" / name).read_text() for name in ("fresh.txt", "b.txt")] == ["hello", "two"]


def test_copy_skips_files_that_are_in_the_folder_already(filled: StagedFolder) -> None:
    done = filled.run("manage-files.copy", source=["safe/a.txt", "b.txt"], target="safe")
    assert [copy["to"] for copy in done.data["copied"]] == ["safe/b.txt"]
    assert done.warnings == ("safe/a.txt is in safe already and was left out.",)


def test_missing_source_among_several_is_skipped_and_alone_fails(filled: StagedFolder) -> None:
    assert copied(filled, source=["gone.txt", "b.txt"], target="box") == ["box/b.txt"]
    with pytest.raises(NotFound):
        filled.run("manage-files.copy", source=["gone.txt"], target="box")


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"source": "album", "target": "album"}, CannotCopy),
        ({"source": "album", "target": "album/raw"}, CannotCopy),
        ({"source": ["b.txt", "album"], "target": "album/new"}, CannotCopy),
        ({"source": ".", "target": "box"}, CannotCopy),
        ({"source": ["a.txt", "b.txt"], "new_name": "c.txt"}, CannotCopy),
        ({"source": ["a.txt", "b.txt"], "target": "safe/a.txt"}, WrongKind),
        ({"source": "a.txt", "target": "../out"}, OutsideWorkspace),
        ({"source": "a.txt", "target": "album/link/x"}, OutsideWorkspace),
        ({"source": "a.txt", "new_name": ".suma"}, OutsideWorkspace),
    ],
)
def test_impossible_copy_is_refused_and_stages_nothing(
    filled: StagedFolder, args: dict[str, Any], error: type[Rejected]
) -> None:
    with pytest.raises(error):
        filled.run("manage-files.copy", **args)
    assert (filled.stage.version, len(filled.stage.diff())) == (0, 0)


def test_a_pipe_is_not_copied_and_the_error_names_it(filled: StagedFolder) -> None:
    os.mkfifo(filled.root / "album/pipe")
    filled.scan()
    with pytest.raises(WrongKind, match="album/pipe"):
        filled.run("manage-files.copy", source="album")


@pytest.mark.parametrize(("limits", "said"), [({"copy_entries_most": 4}, "at most 4"), ({"copy_bytes_most": 9}, "9 B")])
def test_copy_beyond_the_bounds_is_refused_before_staging(
    filled: StagedFolder, limits: dict[str, int], said: str
) -> None:
    filled.bounded(**limits)
    with pytest.raises(TooMuch, match=said):
        filled.run("manage-files.copy", source="album")
    assert filled.stage.version == 0


def test_name_that_is_not_utf8_is_copied_unchanged(folder: StagedFolder) -> None:
    (folder.root / os.fsdecode(b"caf\xe9")).write_text("latin")
    folder.scan()
    assert copied(folder, source=["caf\\xe9"], target="box") == ["box/caf\\xe9"]
    folder.commit()
    assert os.listdir(os.fsencode(folder.root / "box")) == [b"caf\xe9"]
