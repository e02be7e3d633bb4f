"""Starting: who held leases here before, also when a start is killed half way."""

from __future__ import annotations

from pathlib import Path

from services.start import Lives


def test_a_first_start_has_nobody_before_it(tmp_path: Path) -> None:
    assert Lives(tmp_path / "lives").past() == []


def test_the_dead_are_remembered_until_what_they_held_is_free(tmp_path: Path) -> None:
    lives = Lives(tmp_path / "lives")
    lives.record(["first"])
    # A start that is killed before it has freed them.
    lives.record([*lives.past(), "second"])
    assert Lives(tmp_path / "lives").past() == ["first", "second"]
    lives.record(["third"])
    assert lives.past() == ["third"]
