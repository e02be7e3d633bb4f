"""Reading, writing and editing texts, and finding files and lines by patterns."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.errors import Rejected
from libs.workspace.errors import AlreadyExists, OutsideWorkspace
from services.tool_executor.tools.editing import CannotEdit
from services.tool_executor.tools.finding import BadPattern
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.reading import PAGE_BYTES, NoSuchLine
from services.tool_executor.tools.tool_context import TooMuch
from tests.services.tool_executor.tools.conftest import StagedFolder


def pages(folder: StagedFolder, path: str, **args: Any) -> list[dict[str, Any]]:
    """Read a file as a model does: page by page, until there is no next line."""
    found = [folder.run("edit-files.read", path=path, **args).data]
    while found[-1]["next"] is not None:
        found.append(folder.run("edit-files.read", path=path, **{**args, "offset": found[-1]["next"]}).data)
    return found


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=300), max_size=60), st.integers(1, 40))
def test_pages_add_up_to_the_file(lines: list[str], limit: int) -> None:
    with TemporaryDirectory() as place:
        folder = StagedFolder(Path(place), Path(place) / ".suma")
        text = "".join(f"{line}\n" for line in lines)
        folder.write("a.txt", text)
        folder.scan()
        found = pages(folder, "a.txt", limit=limit)
        assert "".join(page["text"] for page in found) == text
        assert found[0]["complete"] is (len(found) == 1)


def test_page_of_a_long_file_is_bounded_and_incomplete(folder: StagedFolder) -> None:
    folder.write("long.log", "".join(f"line {n}\n" for n in range(50_000)))
    folder.scan()
    page = folder.run("edit-files.read", path="long.log").data
    assert len(page["text"]) <= PAGE_BYTES
    assert (page["complete"], page["next"]) == (False, page["last"] + 1)
    assert folder.run("edit-files.read", path="long.log", offset=49_999).data["text"] == "line 49998\nline 49999\n"


def test_file_beyond_the_read_limit_is_read_to_its_end(folder: StagedFolder) -> None:
    folder.limits = Limits(read_bytes_most=1_000)
    folder.write("big.txt", "é" * 20 + "\n" + "x" * 5_000 + "\nend\n")
    folder.scan()
    page = folder.run("edit-files.read", path="big.txt").data
    assert page["text"].endswith("\nend\n")
    assert (page["cut"], page["complete"], page["next"]) == ([2], False, None)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_edit_keeps_encoding_and_line_ends(folder: StagedFolder, codec: str) -> None:
    mark = "\ufeff" if codec == "utf-16-be" else ""
    path = folder.write("a.ini", f"{mark}[Größe]\r\nwidth = 1\r\nheight = 2\r\n".encode(codec), mode=0o640)
    folder.scan()
    folder.run("edit-files.edit", path="a.ini", old="width = 1\nheight = 2", new="width = 3\nheight = 4")
    folder.commit()
    assert path.read_bytes() == f"{mark}[Größe]\r\nwidth = 3\r\nheight = 4\r\n".encode(codec)
    assert path.stat().st_mode & 0o777 == 0o640


def test_edit_of_a_missing_text_names_the_nearest_lines(folder: StagedFolder) -> None:
    folder.write("a.py", "def area(width, height):\n    return width * height\n")
    folder.scan()
    with pytest.raises(CannotEdit, match=r"line 2: 'return width \* height'"):
        folder.run("edit-files.edit", path="a.py", old="return width * heigth", new="return 0")
    assert folder.stage.version == 0


def test_edit_of_a_repeated_text_names_its_lines(folder: StagedFolder) -> None:
    folder.write("a.py", "x = 1\ny = 2\nx = 1\n")
    folder.scan()
    with pytest.raises(CannotEdit, match="2 times, at lines 1, 3"):
        folder.run("edit-files.edit", path="a.py", old="x = 1", new="x = 2")
    assert folder.run("edit-files.edit", path="a.py", old="x = 1", new="x = 2", all=True).data["replaced"] == 2
    folder.commit()
    assert (folder.root / "a.py").read_text() == "x = 2\ny = 2\nx = 2\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\x00\x01\x02" * 99, CannotEdit), ("ä".encode("latin-1") * 3 + b"\n", CannotEdit), (b"a" * 2_000, TooMuch)],
)
def test_edit_that_would_lose_bytes_is_refused(folder: StagedFolder, content: bytes, problem: type[Rejected]) -> None:
    folder.limits = Limits(read_bytes_most=1_000)
    folder.write("a.txt", content)
    folder.scan()
    with pytest.raises(problem):
        folder.run("edit-files.edit", path="a.txt", old="\n" if problem is CannotEdit else "a", new="☃")


def test_write_creates_folders_and_never_replaces_unasked(folder: StagedFolder) -> None:
    folder.run("edit-files.write", path="src/new/a.py", content="x = 1\n")
    with pytest.raises(AlreadyExists, match="replace: true"):
        folder.run("edit-files.write", path="src/new/a.py", content="x = 2\n")
    folder.run("edit-files.write", path="src/new/a.py", content="x = 3\n" * 40_000, replace=True)
    folder.commit()
    assert (folder.root / "src/new/a.py").read_text() == "x = 3\n" * 40_000


@pytest.mark.parametrize("path", ["../a.txt", "/etc/passwd", "a/../../b"])
def test_write_outside_the_folder_is_refused(folder: StagedFolder, path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        folder.run("edit-files.write", path=path, content="x")


def test_later_steps_see_staged_texts(folder: StagedFolder) -> None:
    folder.run("edit-files.write", path="a.txt", content="one\ntwo\n")
    folder.run("edit-files.edit", path="a.txt", old="two", new="three")
    assert folder.run("edit-files.read", path="a.txt").data["text"] == "one\nthree\n"
    assert folder.run("edit-files.grep", pattern="^th").data["matches"] == [
        {"path": "a.txt", "line": 2, "text": "three"}
    ]


def test_find_and_grep_leave_out_ignored_files(folder: StagedFolder) -> None:
    folder.write(".gitignore", "build/\n*.log\n")
    folder.write("src/.gitignore", "!keep.log\n")
    folder.files("src/a.py", "src/keep.log", "src/b.log", "build/a.py", "notes.md")
    assert folder.run("edit-files.find", include=["*.py", "*.log"]).data["nodes"] == ["src/a.py", "src/keep.log"]
    assert folder.run("edit-files.find", path="src", include=["*.log"]).data["nodes"] == ["src/keep.log"]
    assert folder.run("edit-files.find", include=["*.py"], ignored=True).data["count"] == 2
    found = folder.run("edit-files.grep", pattern="a.py|b.log").data
    assert [match["path"] for match in found["matches"]] == ["src/a.py"]


def test_grep_shows_lines_around_and_stops_at_the_most(folder: StagedFolder) -> None:
    folder.write("a.txt", "one\ntwo\nthree\n" * 100)
    folder.scan()
    found = folder.run("edit-files.grep", pattern="TWO", ignore_case=True, context=1, most=3).data
    assert found["matches"][1] == {"path": "a.txt", "line": 5, "text": "two", "before": ["one"], "after": ["three"]}
    assert (found["count"], found["complete"]) == (3, False)


@pytest.mark.parametrize("pattern", ["(", "(?=a)", "(a{1000}){1000}", r"(a)\1"])
def test_grep_refuses_a_pattern_that_is_not_linear(folder: StagedFolder, pattern: str) -> None:
    with pytest.raises(BadPattern):
        folder.run("edit-files.grep", pattern=pattern)


def test_read_beyond_the_end_names_the_number_of_lines(folder: StagedFolder) -> None:
    folder.files("a.txt")
    with pytest.raises(NoSuchLine, match="has 1 line"):
        folder.run("edit-files.read", path="a.txt", offset=2)
