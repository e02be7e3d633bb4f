"""Packing: a staged archive of the staged view, the same bytes each time, undone like everything else."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from libs.workspace.errors import Changed
from libs.workspace.operations import Blob
from services.tool_executor.runner import CallCancelled, CancelToken
from services.tool_executor.tools.packing import CannotPack
from services.tool_executor.tools.primitives import CannotDelete
from services.tool_executor.tools.tool_context import TooMuch
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59", "A24")
PACK = "archive-files.pack"


@pytest.fixture
def photos(folder: StagedFolder) -> StagedFolder:
    folder.write("Photos/Übersicht.txt", "all of them\n" * 1000, at="2024-05-31T10:00:00", mode=0o640)
    folder.write("Photos/raw/a.jpg", os.urandom(100_000), at="2023-01-02T03:04:06")
    (folder.root / "Photos/hollow").mkdir()
    folder.write("notes.txt", "notes")
    folder.scan()
    return folder


def test_archive_is_staged_and_appears_at_the_commit(photos: StagedFolder) -> None:
    told = photos.run(PACK, paths=["Photos"]).data
    assert not (photos.root / "Photos.zip").exists()
    photos.commit()
    archive = photos.root / "Photos.zip"
    assert told == {
        "archive": "Photos.zip",
        "files": 2,
        "bytes": 112_000,
        "packed_bytes": archive.stat().st_size,
        "deleted": [],
    }


def test_zip_keeps_names_times_and_modes_and_passes_testzip(photos: StagedFolder) -> None:
    photos.run(PACK, paths=["Photos"], archive="out/p.zip")
    photos.commit()
    with zipfile.ZipFile(photos.root / "out/p.zip") as packed:
        assert packed.testzip() is None
        found = {info.filename: info for info in packed.infolist()}
    assert list(found) == ["Photos/", "Photos/hollow/", "Photos/raw/", "Photos/raw/a.jpg", "Photos/Übersicht.txt"]
    assert found["Photos/Übersicht.txt"].date_time == (2024, 5, 31, 10, 0, 0)
    assert found["Photos/Übersicht.txt"].external_attr >> 16 & 0o777 == 0o640


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tgz"])
def test_a_tar_is_read_by_the_system_s_own(photos: StagedFolder, ending: str, tmp_path: Path) -> None:
    photos.run(PACK, paths=["Photos", "notes.txt"], archive=f"all{ending}")
    photos.commit()
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "-xf", photos.root / f"all{ending}", "-C", tmp_path / "out"], check=True)
    original, copy = photos.root / "Photos/raw/a.jpg", tmp_path / "out/Photos/raw/a.jpg"
    assert (copy.read_bytes(), copy.stat().st_mtime) == (original.read_bytes(), original.stat().st_mtime)
    assert (tmp_path / "out/notes.txt").read_text() == "notes"


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_the_same_files_make_the_same_archive(photos: StagedFolder, ending: str) -> None:
    for name in ("one", "two"):
        photos.run(PACK, paths=["notes.txt", "Photos"], archive=f"{name}{ending}")
    photos.commit()
    one, two = ((photos.root / f"{name}{ending}").read_bytes() for name in ("one", "two"))
    assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest()


def test_move_into_an_archive_is_one_version_and_reversible(photos: StagedFolder) -> None:
    before = photos.seen()
    done = photos.run(PACK, paths=["Photos", "notes.txt"], archive="all", remove=True)
    assert (done.data["deleted"], photos.stage.version) == (["Photos", "notes.txt"], 1)
    photos.commit()
    assert list(photos.seen()) == ["all.zip"]
    photos.roll_back()
    assert photos.seen() == before


def test_unpacked_files_equal_the_packed_ones(photos: StagedFolder) -> None:
    photos.run(PACK, paths=["Photos"], remove=True)
    told = photos.run("archive-files.unpack", path="Photos.zip").data
    photos.run("manage-files.delete", paths=["Photos.zip"])
    before = {name: (mode, mtime, content) for name, (mode, mtime, _, content) in photos.seen().items()}
    photos.commit()
    after = {name: (mode, mtime, content) for name, (mode, mtime, _, content) in photos.seen().items()}
    assert told["target"] == "Photos"
    assert {k: v for k, v in after.items() if "." in k} == {k: v for k, v in before.items() if "." in k}
    assert after.keys() == before.keys()


def test_folder_with_a_new_archive_cannot_be_deleted(photos: StagedFolder) -> None:
    photos.run(PACK, paths=["Photos/raw/a.jpg", "Photos/Übersicht.txt"])
    with pytest.raises(CannotDelete, match=r"Photos/Archive\.zip was made just now"):
        photos.run("manage-files.delete", paths=["Photos"])
    assert photos.run("manage-files.delete", paths=["Photos/raw"]).data["deleted"] == ["Photos/raw"]


def test_the_staged_view_is_packed_not_the_disk(folder: StagedFolder) -> None:
    folder.files("a.txt", "b.txt")
    folder.run("manage-files.delete", paths=["b.txt"])
    folder.run("manage-files.rename", path="a.txt", new_name="c.txt")
    folder.run(PACK, paths=folder.listed(), archive="x.zip")
    found = folder.run("archive-files.contents", path="x.zip").data
    assert found == {"entries": [{"path": "c.txt", "size": 5}], "files": 1, "bytes": 5}


def test_names_in_the_archive_leave_out_the_common_folder(photos: StagedFolder) -> None:
    photos.run(PACK, paths=["Photos/raw/a.jpg", "Photos/Übersicht.txt"])
    entries = photos.run("archive-files.contents", path="Photos/Archive.zip").data["entries"]
    assert [entry["path"] for entry in entries] == ["raw/a.jpg", "Übersicht.txt"]


@pytest.mark.parametrize(
    ("asked", "made"), [("a", "a (2).zip"), ("a.zip", "a (2).zip"), ("b.v2", "b.v2.zip"), ("new/x.TGZ", "new/x.TGZ")]
)
def test_archive_gets_an_ending_and_a_free_name(folder: StagedFolder, asked: str, made: str) -> None:
    folder.files("a.zip", "f.txt")
    assert folder.run(PACK, paths=["f.txt"], archive=asked).data["archive"] == made


@pytest.mark.parametrize(
    ("paths", "made"), [(["v1.2"], "v1.2.zip"), (["v1.2/a.b.txt"], "v1.2/a.b.zip"), (["."], "Archive.zip")]
)
def test_archive_without_a_name_is_named_after_its_contents(folder: StagedFolder, paths: list[str], made: str) -> None:
    assert folder.files("v1.2/a.b.txt").run(PACK, paths=paths).data["archive"] == made


def test_archive_may_be_named_by_folder_or_full_path(folder: StagedFolder) -> None:
    folder.files("a.txt", "out/x")
    assert folder.run(PACK, paths=["a.txt"], archive="out").data["archive"] == "out/a.zip"
    with pytest.raises(CannotPack, match="would be deleted"):
        folder.run(PACK, paths=["out"], archive=f"{folder.root}/out/x.zip", remove=True)


@pytest.mark.parametrize("asked", ["a.rar", "a.7z", "a.tar.xz"])
def test_an_archive_that_cannot_be_made_is_not_called_one(folder: StagedFolder, asked: str) -> None:
    with pytest.raises(CannotPack):
        folder.files("f.txt").run(PACK, paths=["f.txt"], archive=asked)


def test_packing_no_files_is_reported_and_stages_nothing(folder: StagedFolder) -> None:
    told = folder.run(PACK, paths=folder.listed(), archive="x.zip")
    assert (told.data["files"], told.summary) == (0, "There was nothing to pack.")
    assert folder.stage.version == 0


def test_link_is_left_out_and_its_folder_cannot_be_removed(folder: StagedFolder) -> None:
    folder.files("d/a.txt")
    (folder.root / "d/link").symlink_to("/etc/passwd")
    folder.scan()
    assert folder.run(PACK, paths=["d"]).warnings == ("d/link is a link or a device and was left out.",)
    with pytest.raises(CannotPack, match="would be lost"):
        folder.run(PACK, paths=["d"], remove=True)


@pytest.mark.parametrize("paths", [["d"], ["."]])
def test_packing_with_removal_refuses_a_target_inside_the_sources(folder: StagedFolder, paths: list[str]) -> None:
    with pytest.raises(CannotPack):
        folder.files("d/a.txt").run(PACK, paths=paths, archive="d/x.zip", remove=True)
    assert folder.stage.version == 0


def test_a_file_that_changed_since_the_scan_is_not_packed(folder: StagedFolder) -> None:
    folder.files("a.txt")
    folder.write("a.txt", "longer than before")
    with pytest.raises(Changed):
        folder.run(PACK, paths=["a.txt"])


def test_name_that_is_not_utf8_needs_a_tar(folder: StagedFolder) -> None:
    (folder.root / b"\xff.txt".decode("utf-8", "surrogateescape")).touch()
    folder.scan()
    with pytest.raises(CannotPack, match="not UTF-8"):
        folder.run(PACK, paths=["\\xff.txt"], archive="x.zip")
    folder.run(PACK, paths=["\\xff.txt"], archive="x.tar")
    entries = folder.run("archive-files.contents", path="x.tar").data["entries"]
    assert entries == [{"path": "\\xff.txt", "size": 0}]


@pytest.mark.parametrize("limits", [{"archive_bytes_most": 4}, {"archive_entries_most": 1}, {"staged_bytes_most": 20}])
def test_archive_beyond_the_limits_is_refused_whole(folder: StagedFolder, limits: dict[str, int]) -> None:
    with pytest.raises(TooMuch):
        folder.files("a.txt", "b.txt").bounded(**limits).run(PACK, paths=["a.txt", "b.txt"])
    assert folder.stage.version == 0
    assert list(folder.blob_caches.rglob("*.*")) == []


def test_cancelled_packing_stops_and_stages_nothing(photos: StagedFolder) -> None:
    wanted = CancelToken()
    with wanted:
        photos.check = wanted.check
    with pytest.raises(CallCancelled):
        photos.run(PACK, paths=["Photos"])
    assert photos.stage.version == 0


def test_content_of_an_archive_leaves_the_cache_with_its_stage(photos: StagedFolder) -> None:
    photos.run(PACK, paths=["Photos"])
    (blob,) = photos.stage.blobs_needed
    assert photos.stage.blob_cache.unsaved == {blob.sha256: blob}
    assert isinstance(blob, Blob)
    photos.scan()
    assert list(photos.blob_caches.iterdir()) == []


def test_stage_rollback_leaves_the_folder_unchanged(photos: StagedFolder) -> None:
    before = photos.seen()
    photos.run(PACK, paths=["Photos"], remove=True)
    photos.stage.rollback(0)
    assert photos.listed() == ["notes.txt", "Photos"]
    assert photos.seen() == before


def test_file_from_before_1980_gets_the_oldest_zip_date(folder: StagedFolder) -> None:
    folder.write("old.txt", "x", at="1971-01-01T00:00")
    folder.scan()
    folder.run(PACK, paths=["old.txt"])
    folder.commit()
    with zipfile.ZipFile(folder.root / "old.zip") as packed:
        assert packed.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)
