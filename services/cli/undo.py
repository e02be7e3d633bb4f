"""The last commit of a session, or of its folder, which an undo rolls back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from services.cli import history
from services.cli.errors import Refused

if TYPE_CHECKING:
    from services.cli.client import Client
    from services.cli.streams import SessionEvent

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
    commits: dict[str, Mapping[str, Any]] = {}
    for event in client.past_events(session):
        if event.type == "workspace.changed" and event.data["change"] == "committed" and event.data["operations"]:
            commits[event.data["commit_id"]] = event.data
        elif _is_whole_rollback(event):
            commits.pop(event.data["commit_id"], None)
    return next(reversed(commits.values()), None)


def _owns(client: Client, principal: str, session: str) -> bool:
    try:
        return bool(client.get(f"/v1/sessions/{session}")["principal"] == principal)
    except Refused as error:
        if error.status != NOT_FOUND:
            raise
        return False


def _is_whole_rollback(event: SessionEvent) -> bool:
    # Events from before `whole` existed do not carry it.
    return event.type == "workspace.changed" and event.data["change"] == "rolled_back" and event.data.get("whole", True)
