"""The report of a container is data of a stranger: nothing but a plain, small, whole file is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from libs.turn_runner.messages import OUTPUT_MOST, output


def test_plain_report_is_read(tmp_path: Path) -> None:
    (tmp_path / "output.json").write_text('{"text": "done", "usage": {"tokens": 7}, "more": 1}')
    found = output(tmp_path)
    assert found is not None
    assert (found.text, found.usage) == ("done", {"tokens": 7})


USELESS = (
    *("", "{", "[]", "7", "{}", '{"text": ""}', '{"text": 7}', '{"text": "a", "usage": 7}', '{"text": "\\u0000"}'),
    *('{"text": "' + "x" * 40_001 + '"}', '{"text": "a"}' + " " * OUTPUT_MOST, "[" * 100_000),
)


@pytest.mark.parametrize("content", USELESS, ids=range(len(USELESS)))
def test_report_of_another_form_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "output.json").write_text(content)
    assert output(tmp_path) is None


def test_link_to_a_file_of_the_host_is_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "turn"
    inside.mkdir()
    (tmp_path / "secret").write_text('{"text": "secret"}')
    (inside / "output.json").symlink_to(tmp_path / "secret")
    assert output(inside) is None
    (inside / "output.json").unlink()
    (inside / "output.json").symlink_to("../secret")
    assert output(inside) is None


def test_pipe_folder_and_absence_are_none(tmp_path: Path) -> None:
    assert output(tmp_path) is None
    os.mkfifo(tmp_path / "output.json")
    assert output(tmp_path) is None
    (tmp_path / "output.json").unlink()
    (tmp_path / "output.json").mkdir()
    assert output(tmp_path) is None
