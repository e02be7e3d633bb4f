"""The README's first task on a folder of repositories: these stay as they are, and all of it comes back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import MessageCompleted, ToolSucceeded
from libs.events.values import Hitl
from tests.libs.workspace.trees import manifest
from tests.support.platform import run_platform

WISH = "remove duplicates and sort by type"
SHARED = {"utils.py": "print('shared')\n" * 9, "logo.png": "PNG" * 99, ".gitignore": "node_modules/\n"}
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git says whether a repository is whole")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "--no-optional-locks", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=folder,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        capture_output=True,
        text=True,
    )
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


def repository(folder: Path) -> None:
    """A repository that shares files with others and has changes that are not committed."""
    for name, text in {
        **SHARED,
        "node_modules/left/index.js": "x" * 99,
        "node_modules/right/index.js": "x" * 99,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert git(folder, "init", "-q").startswith("0")
    assert git(folder, "add", "-A").startswith("0")
    assert git(folder, "commit", "-qm", "first").startswith("0")
    (folder / "utils.py").write_text("changed\n")
    (folder / "untracked.txt").write_text("report")


def messy(folder: Path) -> tuple[Path, Path]:
    """Downloads with two repositories, dependencies, and files of systems and programs."""
    projects = folder / "project-a", folder / "code" / "project-b"
    for project in projects:
        repository(project)
    loose = {
        "utils.py": SHARED["utils.py"], "logo.png": SHARED["logo.png"], "logo copy.png": SHARED["logo.png"],
        "report.txt": "report", "report (1).txt": "report", "song.mp3": "song",
        "node_modules/a/index.js": "x" * 99, "node_modules/b/index.js": "x" * 99,
        ".DS_Store": "store", "code/.DS_Store": "store", "~$x.docx": "lock", "movie.mkv.part": "half",
    }  # fmt: skip
    for name, text in loose.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return projects


def state(project: Path) -> list[str]:
    return [git(project, "status", "--porcelain"), git(project, "fsck", "--full", "--strict"), git(project, "log")]


@pytest.mark.requirement("S4-48", "A24")
async def test_cleaning_a_folder_leaves_its_repositories_unchanged(where: Dsns, tmp_path: Path) -> None:
    async with run_platform(where, tmp_path) as at:
        folder = at.root / "Downloads"
        projects = messy(folder)
        states = [state(project) for project in projects]
        before, inside = manifest(folder), [manifest(project) for project in projects]

        turn = await at.say(WISH, session="s", root=folder, hitl=Hitl.BYPASS)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert {path.name for path in folder.glob("*.*")} >= {"~$x.docx", "movie.mkv.part", ".DS_Store"}
        assert not list(folder.glob("*.txt"))
        assert [manifest(project) for project in projects] == inside
        assert len(list((folder / "node_modules").rglob("*.js"))) == 2
        assert [state(project) for project in projects] == states

        undo = await at.roll_back(session="s")
        assert (await at.finish(undo, session="s")).state == "completed"
        assert manifest(folder) == before


@pytest.mark.requirement("S4-48")
async def test_the_results_name_the_repositories_that_were_left_alone(where: Dsns, tmp_path: Path) -> None:
    async with run_platform(where, tmp_path) as at:
        folder = at.root / "Downloads"
        messy(folder)
        turn = await at.say(WISH, session="s", root=folder, hitl=Hitl.BYPASS)
        await at.finish(turn, session="s")
        results = [event.data.json_ for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
        alone = [found["left_alone"] for found in results if isinstance(found, dict) and "left_alone" in found]
        assert ["code/project-b", "node_modules", "project-a"] in [told["repositories"] for told in alone]
        assert max(told["files"] for told in alone) == 4


@pytest.mark.requirement("S4-48")
async def test_a_bulk_move_leaves_folders_that_hold_repositories(where: Dsns, tmp_path: Path) -> None:
    async with run_platform(where, tmp_path) as at:
        folder = at.root / "Downloads"
        messy(folder)
        (folder / "letters").mkdir()
        turn = await at.say("move all folders into Box", session="s", root=folder, hitl=Hitl.BYPASS)
        await at.finish(turn, session="s")
        assert [path.name for path in (folder / "Box").iterdir()] == ["letters"]
        assert (folder / "code" / "project-b" / ".git").is_dir()
        (answer,) = [event.text for event in await at.logged("s") if isinstance(event, MessageCompleted)]
        assert "Left alone: 3 folders (node_modules, project-a, code/project-b)" in answer
