"""The one summary of a change that people approve: true counts of all of it, the riskiest first, paged to the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.events.values import Diff, DiffEntry
from libs.workspace.diff import RISKS
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.tool_executor import shown_diff
from tests.libs.workspace.actions import ACTIONS, Action, act
from tests.services.tool_executor.tools.conftest import StagedFolder
from tests.support.examples import examples


@pytest.fixture
def folder(tmp_path: Path) -> StagedFolder:
    (tmp_path / "work").mkdir()
    return StagedFolder(tmp_path / "work", tmp_path / "caches")


def pages(stage: Stage, size: int, **chosen: str) -> list[Diff]:
    found: list[Diff] = []
    after: int | None = 0
    while after is not None:
        wanted = {"change": chosen.get("change"), "folder": chosen.get("folder")}
        page, after = shown_diff.page(stage, 1, 30.0, after=after, most=size, **wanted)
        found.append(page)
    return found


def entries(found: list[Diff]) -> list[DiffEntry]:
    return [entry for page in found for entry in page.entries]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=20), size=st.integers(1, 7))
def test_pages_hold_each_change_once_and_counts_are_of_all(tmp_path: Path, actions: list[Action], size: int) -> None:
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    for number in range(6):
        (root / f"f{number}.txt").write_text(f"{number}")
    stage = Stage(Tree.scan(root))
    for action in actions:
        act(stage, action)
    found = pages(stage, size)
    everything, whole = entries(found), found[0]
    assert [entry.path for entry in everything] == [entry.path for entry in stage.diff().entries]
    assert whole.count == len(everything) == sum(group.count for group in whole.groups)
    assert whole.things == sum(group.things for group in whole.groups)
    by_kind = Counter(entry.change for entry in everything if entry.change != "deleted")
    assert by_kind == {kind: n for kind in RISKS[1:] if (n := getattr(whole, kind))}
    assert [RISKS.index(entry.change) for entry in everything] == sorted(RISKS.index(e.change) for e in everything)
    for group in whole.groups:
        chosen = entries(pages(stage, size, change=group.change, folder=group.folder))
        assert len(chosen) == group.count


def test_event_begins_with_every_deletion_of_a_large_change(folder: StagedFolder) -> None:
    pairs = {f"a{number:04}.txt": f"{number // 2}" for number in range(120)}
    for name, content in {**pairs, **{f"b{number:04}.pdf": f"pdf {number}" for number in range(600)}}.items():
        folder.write(name, content)
    folder.scan()
    groups = folder.run("remove-duplicates.scan", path=".", strategy="hash").data["groups"]
    folder.run("remove-duplicates.remove", groups=groups)
    folder.run("organize-by-type.sort", source=folder.listed(), target=".", by="extension_category")
    diff = shown_diff.of_stage(folder.stage, 1, 30.0)
    first = diff.entries[:60]
    assert (diff.deleted, diff.count, len(diff.entries)) == (60, 721, 200)
    assert {entry.change for entry in first} == {"deleted"}
    moved = entries(pages(folder.stage, 5000, change="moved"))
    assert {entry.same_as for entry in first} == {entry.path for entry in moved if "/a" in entry.path}
    counted = {(group.change, group.folder): group.count for group in diff.groups}
    assert counted == {("deleted", ""): 60, ("moved", "Documents"): 660, ("created", ""): 1}


def test_new_and_changed_texts_are_shown_as_differences(folder: StagedFolder) -> None:
    folder.write("notes.md", "one\ntwo\nthree\n")
    folder.write("photo.jpg", b"\xff\xd8\0binary")
    folder.scan()
    folder.run("manage-files.create", name="new.md", type="file", content="first\nsecond\n")
    folder.run("manage-files.delete", paths=["notes.md"])
    folder.run("manage-files.create", name="notes.md", type="file", content="one\n2\nthree\n")
    folder.run("manage-files.delete", paths=["photo.jpg"])
    diff = shown_diff.of_stage(folder.stage, 1, 30.0)
    told = {entry.path: (entry.change, entry.preview) for entry in diff.entries}
    assert told == {
        "photo.jpg": ("deleted", None),
        "notes.md": ("overwritten", "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"),
        "new.md": ("created", "@@ -0,0 +1,2 @@\n+first\n+second"),
    }
    assert (diff.overwritten, diff.deleted, diff.created) == (1, 1, 1)


def test_long_text_is_truncated_with_a_note(folder: StagedFolder) -> None:
    folder.scan()
    folder.run("manage-files.create", name="long.md", type="file", content="\n".join(f"line {n}" for n in range(5000)))
    (entry,) = shown_diff.of_stage(folder.stage, 1, 30.0).entries
    assert entry.preview is not None
    assert (len(entry.preview.splitlines()), entry.preview_cut) == (shown_diff.LINES_MOST, True)


def test_change_that_an_event_leaves_out_changes_its_digest(folder: StagedFolder) -> None:
    names = [f"{number:03}.txt" for number in range(shown_diff.ENTRIES_MOST + 2)]
    folder.files(*names)
    digests = set()
    for most in (len(names) - 1, len(names)):
        folder.scan()
        folder.run("manage-files.delete", paths=names[:most])
        digests.add(shown_diff.of_stage(folder.stage, 1, 30.0).digest)
    assert len(digests) == 2
