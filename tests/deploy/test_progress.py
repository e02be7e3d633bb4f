"""A build that takes long says what is built, and when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local import cache


def test_build_is_announced_and_its_end_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lines: list[str] = []
    with cache.reporting(lines.append):
        place = cache.built("thing-1", lambda draft: (draft / "made").touch())
        assert cache.built("thing-1", lambda draft: None) == place
    assert lines[0].startswith("building thing-1 once")
    assert lines[1].startswith("ended after")
    assert len(lines) == 2, "what is built already is not announced"
    assert (place / "made").exists()
