"""The edge of a running platform: every documented read answers, and an answer to a commit is checked at once."""

from __future__ import annotations

import httpx
import pytest

from tests.infrastructure.wish import get
from tests.journeys.installation import Installation
from tests.journeys.test_start_and_stop import approve_all, seen


async def _tidying(live: Installation, api: httpx.AsyncClient, name: str) -> dict[str, str]:
    """A session in a folder whose files are to be sorted, up to the question whether to commit."""
    folder = live.folder / name
    folder.mkdir()
    for file, text in {"a.txt": "a", "b.mp3": "b"}.items():
        (folder / file).write_text(text)
    body = {"text": "sort by type", "root": str(folder), "hitl": "bypass"}
    said = (await api.post("/v1/sessions/message", json=body)).json()
    asked = await seen(api, said["session_id"], "approval.requested")
    names = ("session_id", "turn_id", "message_id")
    return {**{name: said[name] for name in names}, "approval_id": asked["data"]["approval_id"]}


async def test_every_documented_get_answers(live: Installation) -> None:
    async with live.api() as api:
        there = await _tidying(live, api, "reads")
        document = (await api.get("/openapi.json")).json()
        paths = [path for path, methods in document["paths"].items() if "get" in methods]
        assert "/v1/tools" in paths
        for path in paths:
            at = path.format_map({**dict.fromkeys(_names(path), "unknown"), **there})
            params = {"session": there["session_id"], **({"stream": "false"} if at.endswith("/events") else {})}
            answer = await api.get(at, params=params)
            assert answer.status_code < 500, (at, answer.text)


async def test_the_tools_are_listed_with_their_schemas(live: Installation) -> None:
    async with live.api() as api:
        tools = {tool["name"]: tool for tool in (await get(api, "/v1/tools"))["tools"]}
    assert "skill" in tools["skills.use"]["params"]["properties"]


@pytest.mark.requirement("A22a")
async def test_commit_approval_refuses_args_and_unrelated_paths(live: Installation) -> None:
    async with live.api() as api:
        there = await _tidying(live, api, "answers")
        where = f"/v1/approvals/{there['approval_id']}"
        asked = (await api.get(where)).json()
        override = {"verdict": "override", "digest": asked["digest"]}
        edited = await api.post(where, json={**override, "args": {"path": "/etc"}})
        assert (edited.status_code, edited.json()["code"]) == (422, "NO_ARGS")
        for strange in ("../../etc/passwd", "/etc/passwd", "nothing.txt"):
            refused = await api.post(where, json={**override, "exclude": [strange]})
            assert refused.status_code == 422
            assert strange in refused.json()["detail"]
        assert (await get(api, where))["outcome"] is None
        answer = await api.post(where, json={**override, "exclude": ["a.txt"]})
        assert answer.status_code in (200, 202), answer.text
        await approve_all(api, there["session_id"], there["turn_id"])
    assert [path.name for path in (live.folder / "answers").glob("*.*") if path.is_file()] == ["a.txt"]


def _names(path: str) -> list[str]:
    return [part.strip("{}") for part in path.split("/") if part.startswith("{")]
