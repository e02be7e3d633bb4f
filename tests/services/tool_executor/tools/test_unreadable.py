"""What the system does not permit to read is left out and named; the rest of the request is done."""

from __future__ import annotations

import codecs
import os
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from libs.errors import Rejected
from libs.workspace.errors import NotPermitted, Sealed
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.texts import Texts
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = [
    pytest.mark.requirement("S4-14", "S4-59"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user and return"),
]
NOBODY = 65534


@pytest.fixture
def shut(folder: StagedFolder) -> Iterator[StagedFolder]:
    """A folder with a file and a folder of mode 000, as an ordinary user has it; the test runs as that user."""
    folder.write("a.txt", "same words")
    folder.write("b.txt", "same words")
    folder.write("secret.txt", "same words", mode=0)
    folder.write("shut/x.txt", "x")
    folder.write("full/shut/x.txt", "x")
    (folder.root / "hollow").mkdir()
    for name in ("shut", "full/shut"):
        (folder.root / name).chmod(0)
    for above in folder.root.parent.parents:
        above.chmod(above.stat().st_mode | 0o011)
    for path in (folder.root.parent, *folder.root.parent.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    codecs.lookup("cp437")  # which zips need, and only root can load
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    folder.scan()
    yield folder
    os.seteuid(0)
    os.setegid(0)


def unread(folder: StagedFolder, name: str, **args: Any) -> list[str]:
    found: list[str] = folder.run(name, **args).data["left_alone"]["unread"]
    return found


def test_reports_name_the_paths_that_they_could_not_read(shut: StagedFolder) -> None:
    assert unread(shut, "analyze-directory.report", path=".") == ["full/shut", "secret.txt", "shut"]
    assert unread(shut, "remove-duplicates.scan", path=".") == ["full/shut", "secret.txt", "shut"]
    assert unread(shut, "manage-files.list", path=".", recursive=True) == ["full/shut", "shut"]
    assert unread(shut, "manage-files.get_metadata", path="full") == ["full/shut"]


@pytest.mark.parametrize("tool", ["manage-files.list", "manage-files.get_metadata", "analyze-directory.report"])
def test_an_unreadable_folder_is_not_reported_as_empty(shut: StagedFolder, tool: str) -> None:
    with pytest.raises(Sealed, match="shut: it cannot be read"):
        shut.run(tool, path="shut")


def test_archive_omits_unreadable_files(shut: StagedFolder) -> None:
    done = shut.run("archive-files.pack", paths=["a.txt", "secret.txt", "full", "shut"], archive="x.zip")
    shut.commit()
    assert zipfile.ZipFile(shut.root / "x.zip").namelist() == ["a.txt", "full/"]
    assert (done.data["files"], done.data["left_alone"]["unread"]) == (1, ["full/shut", "secret.txt", "shut"])


def test_packed_originals_are_deleted_but_not_unreadable_ones(shut: StagedFolder) -> None:
    done = shut.run("archive-files.pack", paths=["a.txt", "secret.txt", "shut"], archive="x.zip", remove=True)
    assert (done.data["deleted"], done.data["left_alone"]["unread"]) == (["a.txt"], ["secret.txt", "shut"])
    with pytest.raises(Rejected, match="full/shut cannot be read and would be lost"):
        shut.run("archive-files.pack", paths=["full"], archive="y.zip", remove=True)


def test_empty_folders_are_deleted_beside_an_unreadable_one(shut: StagedFolder) -> None:
    assert shut.listed(node_kind="directory", empty=True, recursive=True) == ["hollow"]


@pytest.mark.parametrize(
    ("tool", "arg", "more"),
    [
        ("manage-files.delete", "paths", {}),
        ("manage-files.move", "source", {"target": "Box"}),
        ("manage-files.copy", "source", {"target": "Box"}),
        ("batch-rename.rename", "paths", {"prefix": "old "}),
    ],
)
def test_bulk_changes_leave_unreadable_folders_unchanged(
    shut: StagedFolder, tool: str, arg: str, more: dict[str, str]
) -> None:
    paths: dict[str, Any] = {arg: ["full", "hollow", "shut"]}
    assert unread(shut, tool, listed=arg, **paths, **more) == ["full", "shut"]
    with pytest.raises(Sealed):
        shut.run(tool, **paths, **more)


def test_a_folder_that_cannot_be_written_is_only_looked_at(shut: StagedFolder) -> None:
    shut.root.chmod(0o555)
    assert "a.txt" in shut.listed()
    with pytest.raises(NotPermitted, match="cannot be written"):
        shut.run("manage-files.create", path=".", name="new")


def test_a_search_names_files_that_it_could_not_read(shut: StagedFolder) -> None:
    texts = Texts(shut.stage, Limits(), lambda: 0.0)
    assert dict(texts.of(["a.txt", "secret.txt"])) == {"a.txt": "same words", "secret.txt": ""}
    assert texts.unread == {"secret.txt": SkipReason.UNREADABLE}
