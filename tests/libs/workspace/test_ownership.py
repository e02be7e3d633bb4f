"""A `.suma` that was not made here is set aside whole and reported, and nothing in it is used."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from libs.workspace.commit import commit
from libs.workspace.errors import Busy, Forged
from libs.workspace.operations import Delete, Move
from libs.workspace.ownership import check, own, set_aside
from libs.workspace.recovery import recover
from libs.workspace.rollback import rollback
from libs.workspace.tree import ROOT, Tree
from tests.libs.workspace.trees import Killed, forked, grow, manifest, owner, staged

OURS, THEIRS = b"o" * 32, b"t" * 32
ASIDE = ".suma-set-aside-1"
Make = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grow(tmp_path / "work", {"a": "a", "b": "b", "folder/c": "c"})


def committed(root: Path, secret: bytes) -> None:
    own(root, secret)
    commit(root, staged(root, Delete(path="a")), commit_id="c", fence=owner)


def interrupted(root: Path, secret: bytes) -> None:
    """Leave a transaction of `secret`'s installation that was killed between two renames."""
    own(root, secret)
    stage = staged(root, Move(path="a", target="folder"), Move(path="b", target="folder"))
    step = Killed(7)
    assert forked(lambda: commit(root, stage, commit_id="k", fence=owner, step=step)) == -9
    assert not (root / "a").exists() or not (root / "b").exists()


def linked(name: str) -> Make:
    def make(root: Path) -> None:
        own(root, OURS)
        target = root.parent / "outside"
        target.mkdir()
        (target / "precious").write_text("x")
        (root / ".suma" / name).unlink(missing_ok=True)
        (root / ".suma" / name).symlink_to(target)

    return make


def garbage_in_ours(root: Path) -> None:
    own(root, OURS)
    (root / ".suma/txn/evil").mkdir(parents=True)


FOREIGN: dict[str, Make] = {
    "garbage": lambda root: grow(root / ".suma", {"txn/evil/intent": "{}"}),
    "garbage in ours": garbage_in_ours,
    "a file": lambda root: (root / ".suma").write_text("x"),
    "a link": lambda root: (root / ".suma").symlink_to(root / "folder"),
    "another installation's": lambda root: committed(root, THEIRS),
    "another installation's, interrupted": lambda root: interrupted(root, THEIRS),
    "no proof": lambda root: commit(root, staged(root, Delete(path="a")), commit_id="c", fence=owner),
    "a proof of garbage": lambda root: grow(root / ".suma", {"owner": "[1]", "history/x.1/intent": "{}"}),
    **{f"{name} linked": linked(name) for name in ("lock", "txn", "trash", "history", "outcomes", "owner")},
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_foreign_suma_folder_is_renamed_and_reported(root: Path, make: Make) -> None:
    make(root)
    before, outside = _visible(root), _names(root.parent / "outside")
    sentence = check(root, OURS)
    assert sentence is not None
    assert (str(root / ".suma") in sentence, ASIDE in sentence, "\n" in sentence) == (True, True, False)
    assert os.path.lexists(root / ASIDE)
    assert (_visible(root), _names(root.parent / "outside")) == (before, outside)
    assert not {".suma", ASIDE} & {Tree.scan(root).name(node) for node in Tree.scan(root).inside(ROOT)}
    assert (check(root, OURS), recover(root)) == (None, [])


def _visible(root: Path) -> dict[bytes, object]:
    return {name: fact for name, fact in manifest(root).items() if not name.startswith(b"/.suma")}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_copied_folder_loses_its_history_and_reports_it(root: Path, tmp_path: Path) -> None:
    committed(root, OURS)
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    assert "copied or moved" in (check(copy, OURS) or "")
    assert check(root, OURS) is None
    rollback(root, "c", fence=owner)
    assert (root / "a").exists()


def test_a_renamed_folder_keeps_its_history(root: Path, tmp_path: Path) -> None:
    committed(root, OURS)
    moved = root.rename(tmp_path / "moved")
    assert check(moved, OURS) is None
    rollback(moved, "c", fence=owner)
    assert (moved / "a").exists()


def test_suma_folder_with_only_skills_is_adopted(root: Path) -> None:
    grow(root / ".suma", {"skills/x/SKILL.md": "x"})
    assert check(root, OURS) is None
    committed(root, OURS)
    assert check(root, OURS) is None
    assert (root / ".suma/skills/x/SKILL.md").exists()


def test_skills_stay_when_a_foreign_suma_folder_is_renamed(root: Path) -> None:
    grow(root / ".suma", {"skills/x/SKILL.md": "x", "txn/evil.1/intent": "{}"})
    assert check(root, OURS)
    assert (root / ".suma/skills/x/SKILL.md").exists()
    assert not (root / ASIDE / "skills").exists()


def test_two_foreign_suma_folders_get_two_names(root: Path) -> None:
    for number in (1, 2):
        grow(root / ".suma", {"txn/evil/x": ""})
        assert f".suma-set-aside-{number}" in (check(root, OURS) or "")


def test_the_folders_own_time_of_change_stays(root: Path) -> None:
    grow(root / ".suma", {"txn/evil/x": ""})
    before = root.stat().st_mtime_ns
    check(root, OURS)
    assert root.stat().st_mtime_ns == before


def test_suma_folder_in_use_by_another_installation_is_busy(root: Path) -> None:
    committed(root, THEIRS)
    with (root / ".suma/lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Busy):
            check(root, OURS)
    assert (root / ".suma").is_dir()


@pytest.mark.requirement("A25")
def test_a_foreign_transaction_among_ours_is_not_acted_on(root: Path, tmp_path: Path) -> None:
    other = grow(tmp_path / "other", {"a": "a", "b": "b", "folder/c": "c"})
    interrupted(other, OURS)
    committed(root, OURS)
    for found in (other / ".suma/txn").iterdir():
        found.rename(root / ".suma/txn" / found.name)
    before = _visible(root)
    assert check(root, OURS) is None
    with pytest.raises(Forged):
        recover(root)
    set_aside(root)
    assert _visible(root) == before


@pytest.mark.requirement("A25")
def test_our_own_interrupted_transaction_is_settled(root: Path) -> None:
    before = manifest(root)
    interrupted(root, OURS)
    assert check(root, OURS) is None
    assert [found.outcome for found in recover(root)] == ["undone"]
    assert manifest(root) == before
