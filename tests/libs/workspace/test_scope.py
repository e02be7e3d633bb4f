"""Paths outside the workspace are refused, never turned into something inside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.workspace.errors import InvalidPath, OutsideWorkspace
from libs.workspace.scope import checked_name, resolve

ROOT = Path("/data")


@pytest.mark.requirement("S4-29", "A5")
@pytest.mark.parametrize(
    "path",
    ["..", "../x", "a/../../x", "a/..", "/", "/etc/passwd", "/data-evil", "/data-evil/x", "/datax", "/data/../etc"],
)
def test_path_out_of_the_workspace_is_refused(path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        resolve(ROOT, path)


@pytest.mark.requirement("S4-29")
@pytest.mark.parametrize("path", ["a/b", "./a/b", "a//b", "a/./b/", "/data/a/b", "/data//a/b"])
def test_each_spelling_of_a_path_inside_means_the_same(path: str) -> None:
    assert resolve(ROOT, path) == ("a", "b")


@pytest.mark.parametrize("path", [".", "./", "/data", "/data/"])
def test_the_root_has_no_components(path: str) -> None:
    assert resolve(ROOT, path) == ()


@pytest.mark.requirement("S4-29")
@pytest.mark.parametrize("path", [".suma", ".suma/history", "./.suma", "/data/.suma/lock"])
def test_the_hidden_folder_is_outside(path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        resolve(ROOT, path)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "x" * 256, "é" * 128])
def test_invalid_file_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidPath):
        checked_name(name)


def test_an_empty_path_is_not_the_root() -> None:
    with pytest.raises(InvalidPath):
        resolve(ROOT, "")
