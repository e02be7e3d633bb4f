"""`suma log` and `suma purge`: what a folder's history holds, and what is asked before it goes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from services.cli.commands import app
from services.cli.errors import AnswerRequired, Usage
from tests.services.cli.answering import Server, running

NOW = datetime.now(UTC)


def commit(id: str, days: int, **more: Any) -> dict[str, Any]:
    """One that was made some days ago."""
    at = NOW - timedelta(days=days)
    changes = {"created": 0, "changed": 0, "moved": 3, "deleted": 2}
    until = {"undoable": True, "undo_until": (at + timedelta(days=30)).isoformat()}
    return {
        "commit_id": id,
        "session_id": f"s-{id}",
        "turn_id": "t",
        "at": at.isoformat(),
        "state": "committed",
        "operations": 5,
        "changes": changes,
        "bytes": 312_000_000,
        **until,
        **more,
    }


class Historian(Server):
    """Knows two commits of a folder, and frees what is asked for."""

    @override
    def answer(self, path: str, body: Any) -> Any:
        if body is not None:
            return {"root": body["root"], "state": "done", "commits": ["old"], "bytes": 312_000_000}
        gone = {"bytes": 0, "undoable": False, "undo_until": None}
        commits = [commit("new", 1), commit("old", 8), commit("gone", 40, **gone)]
        return {"root": "/home/ada", "bytes": 624_000_000, "commits": commits}


def test_a_log_lists_changes_sizes_and_undo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(Historian(), monkeypatch) as runner:
        lines = runner.invoke(app, ["log", "--in", str(tmp_path)]).output.splitlines()
        told = json.loads(runner.invoke(app, ["log", "--in", str(tmp_path), "--json"]).output)
    assert [line.split()[-1] for line in lines[:4]] == ["commit", "new", "old", "gone"]
    assert "3 moved, 2 deleted  312 MB" in lines[1]
    assert f"until {NOW + timedelta(days=29):%Y-%m-%d}" in lines[1]
    assert "no longer" in lines[3]
    assert lines[4] == "624 MB in history; `suma purge` frees it"
    assert told["bytes"] == 624_000_000


def test_purge_removes_older_history(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = Historian()
    with running(server, monkeypatch) as runner:
        done = runner.invoke(app, ["purge", "--in", str(tmp_path), "--older-than", "7d", "--yes"])
    assert "312 MB freed: 1 commit" in done.output
    ((path, body),) = server.posts
    assert (path, body["root"]) == ("/v1/workspace/purge", str(tmp_path))
    assert NOW - timedelta(days=7, minutes=1) < datetime.fromisoformat(body["before"]) < NOW - timedelta(days=6)


def test_a_purge_without_terminal_needs_yes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = Historian()
    with running(server, monkeypatch) as runner:
        refused = runner.invoke(app, ["purge", "--in", str(tmp_path)])
    assert isinstance(refused.exception, AnswerRequired)
    assert str(refused.exception) == (
        "this would free 2 commits, 624 MB; 2 of them can still be undone: add --yes to do it"
    )
    assert server.posts == []


def test_a_purge_of_nothing_asks_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = Historian()
    with running(server, monkeypatch) as runner:
        assert "Nothing to free." in runner.invoke(app, ["purge", "--in", str(tmp_path), "--older-than", "30d"]).output
    assert server.posts == []


def test_invalid_age_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with running(Historian(), monkeypatch) as runner:
        done = runner.invoke(app, ["purge", "--in", str(tmp_path), "--older-than", "soon"])
    assert isinstance(done.exception, Usage)
