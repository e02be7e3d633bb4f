"""What a script reads from `suma run`: its exit code, and that a dry run leaves nothing behind."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infrastructure.wish import get
from tests.journeys.installation import Installation
from tests.journeys.terminal import CTRL_C, Terminal
from tests.journeys.test_command import mess, names


@pytest.fixture
def full(live: Installation) -> Iterator[Path]:
    """A folder on a file system without a free block."""
    folder = live.folder / "full"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        for name in ("a.txt", "song.mp3"):
            (folder / name).write_text(name)
        (folder / "rest.bin").touch()
        while shutil.disk_usage(folder).free:
            with (folder / "rest.bin").open("ab", 0) as rest:
                rest.write(b"x" * 4096)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize(
    ("goal", "code"),
    [
        ("what is here", 0),
        ("sort by type", 0),
        ("book me a flight to Mars", 1),
        ("delete the log files", 3),
        ("undo that", 3),
        ("", 2),
    ],
)
async def test_exit_code_shows_the_outcome_of_a_run(live: Installation, goal: str, code: int) -> None:
    folder = mess(live.folder / f"code {goal}")
    (folder / "deep").mkdir()
    (folder / "deep" / "old.log").touch()
    if goal == "undo that":
        assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    said = await live.suma("run", goal, "--in", str(folder), *(["--yes"] if goal != "undo that" else []))
    assert said.code == code, said.out + said.err
    assert "Traceback" not in said.err


async def test_folder_of_the_system_is_refused_even_with_yes(live: Installation) -> None:
    said = await live.suma("run", "sort by type", "--in", "/etc", "--yes")
    assert said.code == 2
    assert "/etc" in said.err
    assert "--yes" not in said.err


async def test_yes_undoes_when_asked_to(live: Installation) -> None:
    folder = mess(live.folder / "yes undo")
    before = names(folder)
    assert (await live.suma("run", "sort by type", "--in", str(folder), "--yes")).code == 0
    undone = await live.suma("run", "undo that", "--in", str(folder), "--yes")
    assert undone.code == 0, undone.out + undone.err
    assert names(folder) == before


async def test_dry_run_shows_the_difference_and_drops_it(live: Installation) -> None:
    folder = mess(live.folder / "dry")
    before = names(folder)
    shown = await live.suma("run", "sort by type", "--dry-run", "--in", str(folder))
    assert shown.code == 0, shown.err
    assert "song.mp3 → Audio/song.mp3" in shown.out
    assert "nothing was changed" in shown.out
    assert names(folder) == before
    async with live.api() as api:
        newest = (await get(api, "/v1/sessions", limit="1"))["sessions"][0]
    assert (newest["turn_id"], newest["approvals"]) == (None, 0)


async def test_dry_run_of_an_unclear_request_leaves_no_question(live: Installation) -> None:
    folder = mess(live.folder / "unclear")
    shown = await live.suma("run", "do the thing", "--dry-run", "--in", str(folder))
    assert shown.code == 3
    async with live.api() as api:
        newest = (await get(api, "/v1/sessions", limit="1"))["sessions"][0]
    assert newest["turn_id"] is None


async def test_yes_does_not_repeat_a_commit_that_fails(live: Installation, full: Path) -> None:
    done = await live.suma("run", "sort by type", "--in", str(full), "--yes")
    assert done.code == 1, done.out + done.err
    assert "full" in done.err
    assert done.out.count("\n? ") == 2
    assert names(full) == {"a.txt", "song.mp3", "rest.bin"}


async def test_ctrl_c_at_the_folder_question_is_an_interruption(live: Installation, tmp_path: Path) -> None:
    with Terminal(live, "run", "sort by type", "--in", str(mess(tmp_path / "elsewhere"))) as terminal:
        await terminal.answer("[y]es", CTRL_C)
        assert await terminal.end() == 130


async def test_tables_are_whole_in_a_pipe(live: Installation) -> None:
    folder = mess(live.folder / ("a folder with a name that is longer than a column " * 2).strip())
    goal = "please show me the files that are larger than 10 MB and older than two years in all subfolders"
    await live.suma("run", goal, "--in", str(folder))
    listed = (await live.suma("sessions")).out
    assert goal in listed
    assert str(folder) in listed
    assert "Answer: " in (await live.suma("events")).out


async def test_version_is_printed_without_a_platform(live: Installation) -> None:
    said = await live.run("services.cli", "--version", SUMA_DATA_DIR="/nowhere")
    assert (said.code, said.out.split()[0]) == (0, "suma")
