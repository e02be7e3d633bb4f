"""The last commit of a session, or of its folder, which an undo rolls back, or a redo makes again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from services.cli import history
from services.cli.errors import Refused

if TYPE_CHECKING:
    from services.cli.client import Client

NOT_FOUND = 404


@dataclass(frozen=True)
class LastCommit:
    """The last commit of a folder, and its session, which can roll it back."""

    session: str
    commit_id: str
    diff: Mapping[str, Any]


def last_commit(client: Client, session: str) -> LastCommit | None:
    """Return the last commit of the session's folder, among those that the session's principal made."""
    here = client.get(f"/v1/sessions/{session}")
    if here["root"] is None:
        return None
    for commit in client.get("/v1/workspace/log", root=here["root"], most=history.MOST)["commits"]:
        session_id, commit_id = commit["session_id"], commit["commit_id"]
        if not (commit["undoable"] and commit["operations"] and _owns(client, here["principal"], session_id)):
            continue
        for event in client.past_events(session_id):
            if event.type == "workspace.changed" and event.data["commit_id"] == commit_id:
                return LastCommit(session_id, commit_id, event.data["diff"])
    return None


def last_change(client: Client, session: str) -> Mapping[str, Any] | None:
    """Return the session's last commit that was not rolled back as a whole."""
    return _latest(client, session, "committed")


def last_undone(client: Client, session: str) -> Mapping[str, Any] | None:
    """Return the session's last whole rollback that was not redone."""
    return _latest(client, session, "rolled_back")


def _latest(client: Client, session: str, change: str) -> Mapping[str, Any] | None:
    """Return the last change of this kind whose commit has not changed again since."""
    commits: dict[str, Mapping[str, Any]] = {}
    for event in client.past_events(session):
        # Events from before `whole` existed do not carry it.
        if event.type == "workspace.changed" and event.data["operations"] and event.data.get("whole", True):
            commits.pop(event.data["commit_id"], None)
            commits[event.data["commit_id"]] = event.data
    return next((data for data in reversed(commits.values()) if data["change"] == change), None)


def _owns(client: Client, principal: str, session: str) -> bool:
    try:
        return bool(client.get(f"/v1/sessions/{session}")["principal"] == principal)
    except Refused as error:
        if error.status != NOT_FOUND:
            raise
        return False
