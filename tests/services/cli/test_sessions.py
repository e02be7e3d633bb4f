"""`suma sessions`: the newest, and that there are more."""

from __future__ import annotations

from typing import Any

import pytest
from typing_extensions import override

from services.cli.commands import app
from tests.services.cli.answering import Server, running

ONE = {"title": "sort", "root": "/a", "turn_state": None, "approvals": 0, "last_at": "2026-03-04T12:00:00Z"}


class Busy(Server):
    """Has three sessions."""

    @override
    def answer(self, path: str, body: Any) -> Any:
        most = int(path.partition("limit=")[2])
        return {"sessions": [{**ONE, "session_id": f"s{n}"} for n in range(min(3, most))]}


@pytest.mark.parametrize(("limit", "rows", "more"), [(2, 2, True), (3, 3, False)])
def test_sessions_that_are_not_listed_are_mentioned(
    limit: int, rows: int, more: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(Busy(), monkeypatch) as runner:
        shown = runner.invoke(app, ["sessions", "--limit", str(limit)])
    assert len(shown.stdout.splitlines()) == 1 + rows
    assert ("--limit 10 shows more" in shown.stderr) is more


def test_table_in_a_pipe_has_no_trailing_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Busy(), monkeypatch) as runner:
        lines = runner.invoke(app, ["sessions"]).stdout.splitlines()
    assert lines == [line.rstrip() for line in lines]
