"""The commit that an undo takes."""

from __future__ import annotations

from typing import Any

import httpx

from services.cli import undo
from tests.services.cli.gateway import event, refusing

OWNERS = {"here": "ada", "mine": "ada", "shared": "bob"}


def listed(session: str | None, *, undoable: bool = True) -> dict[str, Any]:
    """A commit of the folder's log, named after its session."""
    return {"commit_id": f"of {session}", "session_id": session, "operations": 1, "undoable": undoable}


def last_commit(*commits: dict[str, Any]) -> undo.LastCommit | None:
    """Return the folder's last commit for ada, when its log lists these."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/v1/workspace/log":
            return httpx.Response(200, json={"commits": commits})
        session = path.split("/")[3]
        if session not in OWNERS:
            return httpx.Response(404, json={"detail": "There is no such session.", "code": "NOT_FOUND"})
        if path.endswith("/events"):
            committed = event(1, "workspace.changed", change="committed", commit_id=f"of {session}", diff={"count": 1})
            return httpx.Response(200, json={"events": [committed] if request.url.params["after"] == "0" else []})
        return httpx.Response(200, json={"root": "/home/ada", "principal": OWNERS[session]})

    with refusing(answer) as client:
        return undo.last_commit(client, "here")


def test_the_last_commit_may_be_another_session_s() -> None:
    found = last_commit(listed("here", undoable=False), listed("mine"), listed("here"))
    assert found == undo.LastCommit("mine", "of mine", {"count": 1})


def test_undo_ignores_commits_of_other_users() -> None:
    assert last_commit(listed("bob's own"), listed("shared"), listed(None)) is None
