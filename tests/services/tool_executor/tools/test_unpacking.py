"""Archives from anywhere: unpacked whole into a folder of their own, or refused whole."""

from __future__ import annotations

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO

import pytest

from libs.errors import Rejected
from services.tool_executor.runner import CallCancelled, CancelToken
from services.tool_executor.tools.tool_context import TooMuch
from services.tool_executor.tools.unpacking import BadArchive, UnsafeArchive
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59", "A5")
UNPACK, CONTENTS = "archive-files.unpack", "archive-files.contents"


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries:
            packed.writestr(name, content)
    return made.getvalue()


def tarred(*entries: tarfile.TarInfo, content: bytes = b"", mode: str = "w") -> bytes:
    made = BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as tar:  # type: ignore[call-overload]
        for info in entries:
            info.size = len(content) if info.isreg() else 0
            tar.addfile(info, BytesIO(content) if info.isreg() else None)
    return made.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, **facts: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def windows(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.filename, info.create_system = name, 0
    return info


@pytest.fixture
def holding(folder: StagedFolder) -> Callable[..., StagedFolder]:
    def written(content: bytes, name: str = "a.zip") -> StagedFolder:
        folder.write(name, content)
        folder.scan()
        return folder

    return written


Holding = Callable[..., StagedFolder]


def test_an_archive_becomes_a_folder_beside_it(holding: Holding) -> None:
    folder = holding(zipped(("x.txt", b"x"), ("s/ü.txt", b"y" * 100_000), ("empty/", b"")), "in/a.zip")
    told = folder.run(UNPACK, path="in/a.zip").data
    folder.commit()
    assert told == {"created": ["in/a/x.txt", "in/a/s/ü.txt"], "files": 2, "bytes": 100_001, "target": "in/a"}
    assert [path for path in folder.seen() if path.startswith("in/a/")] == [
        "in/a/empty",
        "in/a/s",
        "in/a/s/ü.txt",
        "in/a/x.txt",
    ]
    assert (folder.root / "in/a/s/ü.txt").read_bytes() == b"y" * 100_000


def test_an_unpacked_archive_is_rolled_back_bit_for_bit(holding: Holding) -> None:
    folder = holding(zipped(("x.txt", b"x"), ("s/y.txt", b"y" * 100_000)))
    before = folder.seen()
    folder.run(UNPACK, path="a.zip")
    folder.commit()
    folder.roll_back()
    assert folder.seen() == before


@pytest.mark.parametrize(
    "content",
    [
        tarred(entry("d/x"), content=b"x"),
        tarred(entry("d/x"), content=b"x", mode="w:gz"),
        tarred(entry("d/x"), content=b"x", mode="w:bz2"),
    ],
    ids=["tar", "gz", "bz2"],
)
def test_tar_is_recognised_by_content_not_by_name(holding: Holding, content: bytes) -> None:
    folder = holding(content, "odd.dat")
    assert folder.run(CONTENTS, path="odd.dat").data["entries"] == [{"path": "d/x", "size": 1}]
    assert folder.run(UNPACK, path="odd.dat").data["created"] == ["odd/d/x"]


def test_unpacking_restores_times_and_modes_readable_by_the_owner(holding: Holding) -> None:
    folder = holding(tarred(entry("x", mode=0o4711, mtime=1_600_000_000), entry("y", mode=0), content=b"x"), "a.tar")
    folder.run(UNPACK, path="a.tar")
    folder.commit()
    found = (folder.root / "a/x").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_mtime) == (0o711, 1_600_000_000)
    assert stat.S_IMODE((folder.root / "a/y").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/etc/evil", "..", "C:", "C:/evil", "a/\x01b", "x" * 300, "a/" + "y" * 256, "a\u202eb"],
)
@pytest.mark.parametrize("form", ["zip", "tar"])
def test_name_that_leads_out_or_is_invalid_refuses_everything(holding: Holding, name: str, form: str) -> None:
    content = (
        zipped(("fine", b"x"), (name, b"x")) if form == "zip" else tarred(entry("fine"), entry(name), content=b"x")
    )
    folder = holding(content)
    for tool in (UNPACK, CONTENTS):
        with pytest.raises(BadArchive):
            folder.run(tool, path="a.zip")
    assert folder.stage.version == 0


def test_backslashes_of_windows_separate_folders_and_cannot_lead_out(holding: Holding) -> None:
    assert holding(zipped((windows("d\\x"), b""))).run(CONTENTS, path="a.zip").data["entries"][0]["path"] == "d/x"
    with pytest.raises(BadArchive):
        holding(zipped((windows("d\\..\\..\\x"), b""))).run(UNPACK, path="a.zip")


@pytest.mark.parametrize(
    "content",
    [
        zipped((linked("link"), b"/etc/passwd")),
        tarred(entry("link", tarfile.SYMTYPE, linkname="/etc")),
        tarred(entry("x"), entry("hard", tarfile.LNKTYPE, linkname="x")),
        tarred(entry("pipe", tarfile.FIFOTYPE)),
        tarred(entry("device", tarfile.CHRTYPE, devmajor=1, devminor=3)),
    ],
    ids=["zip link", "symlink", "hard link", "pipe", "device"],
)
def test_links_and_devices_refuse_the_whole(holding: Holding, content: bytes) -> None:
    folder = holding(content)
    with pytest.raises(BadArchive, match="link"):
        folder.run(UNPACK, path="a.zip")
    assert folder.stage.version == 0


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries",
    [
        (("x", b"1"), ("x", b"2")),
        (("x", b"1"), ("./x", b"2")),
        (("x", b"1"), ("x/y", b"2")),
        (("x/y", b"1"), ("x", b"2")),
    ],
)
def test_a_name_twice_refuses_the_whole(holding: Holding, entries: tuple[tuple[str, bytes], ...]) -> None:
    with pytest.raises(BadArchive):
        holding(zipped(*entries)).run(UNPACK, path="a.zip")


def test_bomb_is_stopped_by_its_expanded_size(holding: Holding) -> None:
    with pytest.raises(BadArchive, match="expands to more than"):
        holding(zipped(("zeros", bytes(30_000_000)))).run(UNPACK, path="a.zip")


def test_bomb_that_understates_its_size_is_stopped(holding: Holding) -> None:
    raw = bytearray(zipped(("zeros", bytes(3_000_000))))
    at = raw.rindex(b"PK\x01\x02")
    raw[at + 24 : at + 28] = struct.pack("<I", 10)
    with pytest.raises(Rejected):
        holding(bytes(raw)).bounded(archive_bytes_most=1_000_000).run(UNPACK, path="a.zip")


@pytest.mark.parametrize("tool", [UNPACK, CONTENTS])
def test_tar_of_a_terabyte_is_stopped_even_when_skipped(holding: Holding, tool: str) -> None:
    info = entry("zeros")
    info.size = 1 << 40
    folder = holding(gzip.compress(info.tobuf() + bytes(60_000_000)), "a.tgz")
    with pytest.raises(BadArchive, match="expands to more than"):
        folder.run(tool, path="a.tgz")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_without_end_is_refused_before_it_is_read(holding: Holding, kind: bytes) -> None:
    info = entry("x", kind)
    info.size = 1 << 33
    with pytest.raises(BadArchive, match="header"):
        holding(info.tobuf() + bytes(4096)).run(CONTENTS, path="a.zip")


@pytest.mark.parametrize("limits", [{"archive_bytes_most": 10}, {"archive_entries_most": 1}, {"staged_bytes_most": 10}])
def test_archive_beyond_the_limits_is_refused_whole(holding: Holding, limits: dict[str, int]) -> None:
    folder = holding(zipped(("a", b"x" * 9000), ("b", b"y" * 9000))).bounded(**limits)
    with pytest.raises(TooMuch):
        folder.run(UNPACK, path="a.zip")
    assert folder.stage.version == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", b"PK\x03\x04 broken", gzip.compress(b"only text"), zipped(("x", b"y" * 999))[:-40]],
    ids=["empty", "text", "broken", "not a tar", "cut"],  # an archive holds the time: as an id it would change
)
def test_damaged_or_foreign_file_is_refused_as_an_archive(holding: Holding, content: bytes) -> None:
    for tool in (UNPACK, CONTENTS):
        with pytest.raises(BadArchive):
            holding(content).run(tool, path="a.zip")


def test_a_damaged_entry_refuses_the_whole(holding: Holding) -> None:
    raw = bytearray(zipped(("good", b"good"), ("bad", bytes(range(256)) * 40)))
    raw[len(raw) // 2] ^= 0xFF
    folder = holding(bytes(raw))
    with pytest.raises(BadArchive):
        folder.run(UNPACK, path="a.zip")
    assert folder.stage.version == 0


def test_encrypted_archive_is_reported(holding: Holding) -> None:
    raw = bytearray(zipped(("x", b"secret")))
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadArchive, match="password"):
        holding(bytes(raw)).run(UNPACK, path="a.zip")


@pytest.mark.parametrize(
    ("there", "target", "made"),
    [
        ("a/old.txt", None, "a (2)"),
        ("Docs/old.txt", "Docs", "Docs/a"),
        ("Docs", "Docs", "Docs (2)"),
        ("x", "new/deep", "new/deep"),
    ],
)
def test_nothing_is_overwritten(holding: Holding, there: str, target: str | None, made: str) -> None:
    folder = holding(zipped(("old.txt", b"new"))).files(there)
    told = folder.run(UNPACK, path="a.zip", **({"target": target} if target else {})).data
    assert told["created"] == [f"{made}/old.txt"]
    folder.commit()
    assert (folder.root / there).read_text() == there


def test_an_empty_archive_is_an_empty_folder(holding: Holding) -> None:
    folder = holding(zipped())
    assert folder.run(CONTENTS, path="a.zip").data == {"entries": [], "files": 0, "bytes": 0}
    folder.run(UNPACK, path="a.zip")
    folder.commit()
    assert list((folder.root / "a").iterdir()) == []


def test_a_folder_is_no_archive(folder: StagedFolder) -> None:
    with pytest.raises(Rejected, match="folder"):
        folder.files("d/x").run(UNPACK, path="d")


def test_cancelled_unpacking_stops(holding: Holding) -> None:
    folder, wanted = holding(zipped(("x", b"y"))), CancelToken()
    with wanted:
        folder.check = wanted.check
    with pytest.raises(CallCancelled):
        folder.run(UNPACK, path="a.zip")


def test_straight_unpacking_merges_into_the_target_folder(holding: Holding) -> None:
    folder = holding(zipped(("old.txt", b"new"), ("s/y.txt", b"y"))).files("Docs/old.txt", "Docs/s/x")
    told = folder.run(UNPACK, path="a.zip", target="Docs", straight=True).data
    folder.commit()
    assert (told["target"], told["created"]) == ("Docs", ["Docs/old (2).txt", "Docs/s/y.txt"])
    assert (folder.root / "Docs/old.txt").read_text() == "Docs/old.txt"


def test_straight_unpacking_without_a_target_goes_beside_the_archive(holding: Holding) -> None:
    folder = holding(zipped(("a/x.txt", b"x"), ("a/s/y.txt", b"y")))
    assert folder.run(UNPACK, path="a.zip", straight=True).data["created"] == ["x.txt", "s/y.txt"]


def test_archived_folder_that_is_a_file_there_refuses_everything(holding: Holding) -> None:
    with pytest.raises(BadArchive, match="Docs/s is a folder in it"):
        holding(zipped(("s/y.txt", b"y"))).files("Docs/s").run(UNPACK, path="a.zip", target="Docs", straight=True)


def test_an_unsafe_archive_says_that_it_was_refused_for_safety(folder: StagedFolder) -> None:
    folder.write("evil.zip", zipped(("../../evil.txt", b"x")))
    folder.scan()
    with pytest.raises(UnsafeArchive, match="for safety, nothing was unpacked: “"):
        folder.run(UNPACK, path="evil.zip")


def unicode_path(raw: bytes, name: str) -> bytes:
    field = struct.pack("<BI", 1, zlib.crc32(raw)) + name.encode()
    return struct.pack("<HH", 0x7075, len(field)) + field


def raw_zip(name: bytes, *, extra: bytes = b"", system: int = 0, method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip with one entry whose name is these bytes, without the flag of UTF-8."""
    placeholder = zipfile.ZipInfo("_" * len(name))
    placeholder.create_system, placeholder.extra = system, extra
    raw = bytearray(zipped((placeholder, b"content")).replace(placeholder.filename.encode(), name))
    raw[8:10] = struct.pack("<H", method)
    at = raw.index(b"PK\x01\x02")
    raw[at + 10 : at + 12] = struct.pack("<H", method)
    return bytes(raw)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (raw_zip("Übung.txt".encode(), system=3), "Übung.txt"),
        (raw_zip("전자책.txt".encode()), "전자책.txt"),
        (raw_zip("broschüre.pdf".encode("cp437")), "broschüre.pdf"),
        (raw_zip("ваз.txt".encode("cp866"), extra=unicode_path("ваз.txt".encode("cp866"), "ваз.txt")), "ваз.txt"),
        (raw_zip(b"#U00fc.txt", extra=unicode_path(b"#U00fc.txt", "ü.txt")), "ü.txt"),
        (raw_zip(b"renamed.txt", extra=unicode_path(b"old.txt", "ü.txt")), "renamed.txt"),
        (raw_zip("機能".encode("cp932")), "ï@ö\\\\"),
        (raw_zip("予定表.xlsx".encode("cp932")), "ù\\\\ÆΦò\\\\.xlsx"),
        (raw_zip("d\\ü.txt".encode()), "d/ü.txt"),
        (raw_zip(b"A: intro.mp3"), "A: intro.mp3"),
    ],
)
def test_zip_names_are_decoded_by_their_declared_encoding(holding: Holding, content: bytes, name: str) -> None:
    folder = holding(content)
    assert folder.run(UNPACK, path="a.zip").data["created"] == [f"a/{name}"]


@pytest.mark.parametrize(("method", "named"), [(9, "Deflate64"), (93, "Zstandard"), (77, "method 77")])
def test_unsupported_compression_is_named_and_not_damage(holding: Holding, method: int, named: str) -> None:
    folder = holding(raw_zip(b"x", method=method))
    assert folder.run(CONTENTS, path="a.zip").data["files"] == 1
    with pytest.raises(BadArchive, match=f"compressed with {named}") as refused:
        folder.run(UNPACK, path="a.zip")
    assert "damaged" not in str(refused.value)
