"""Both sides of a changed file, and of no other file."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Literal

import pytest

from libs.errors import NotFound
from libs.workspace.operations import Create, Delete, Inline, Rename, Write
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor import previews

Side = Literal["before", "after"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A stage that changes four files, and leaves one as it is."""
    for name in ("notes.txt", "old.txt", "photo.png", "kept.txt"):
        (tmp_path / name).write_bytes(b"\x89PNG\x00" if name == "photo.png" else name.encode())
    stage = Stage(Tree.scan(tmp_path))
    stage.apply(Write(path="notes.txt", content=Inline.of(b"better")))
    stage.apply(Delete(path="old.txt"))
    stage.apply(Rename(path="photo.png", new_name="picture.png"))
    stage.apply(Create(path="new.txt", content=Inline.of(b"new")))
    return stage


def test_changed_file_is_shown_before_and_after(stage: Stage) -> None:
    assert previews.of(stage, "notes.txt", "before")["text"] == "notes.txt"
    assert previews.of(stage, "notes.txt", "after")["text"] == "better"


def test_moved_file_shows_its_bytes_on_both_sides(stage: Stage) -> None:
    sides: tuple[Side, ...] = ("before", "after")
    for side in sides:
        shown = previews.of(stage, "picture.png", side)
        assert (shown["text"], b64decode(shown["base64"])) == (None, b"\x89PNG\x00")


@pytest.mark.parametrize(
    ("path", "side"), [("kept.txt", "after"), ("old.txt", "after"), ("new.txt", "before"), ("../x", "before")]
)
def test_other_files_and_sides_are_not_shown(stage: Stage, path: str, side: Side) -> None:
    with pytest.raises(NotFound):
        previews.of(stage, path, side)


def test_long_text_is_cut_between_characters(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_bytes(b"x" + "ü".encode() * previews.MOST)
    stage = Stage(Tree.scan(tmp_path))
    stage.apply(Delete(path="long.txt"))
    shown = previews.of(stage, "long.txt", "before")
    assert shown["truncated"]
    assert len(shown["text"]) == previews.MOST // 2
