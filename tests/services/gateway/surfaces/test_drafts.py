"""Prepared answers: kept with their question, the same for every client of the session, and without any effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.stack import Stack

FILES = {"a_zip": "1", "b_zip": "2", "c_mp3": "3"}


async def asked(api: httpx.AsyncClient, folder: Path, text: str = "sort by type") -> dict[str, Any]:
    """Start a task, and return its open question."""
    task = {"text": text, "root": str(folder), "hitl": "bypass"}
    begun = (await api.post("/v1/sessions/message", json=task)).json()
    while True:
        found = (await api.get("/v1/approvals", params={"session": begun["session_id"]})).json()["approvals"]
        if found:
            return dict(found[0])
        turn = (await api.get(f"/v1/turns/{begun['turn_id']}")).json()
        assert turn["state"] not in ("completed", "failed", "refused"), turn


async def put(api: httpx.AsyncClient, question: dict[str, Any], **draft: Any) -> httpx.Response:
    body = {"digest": question["digest"], **draft}
    return await api.put(f"/v1/approvals/{question['approval_id']}/draft", json=body)


@pytest.mark.requirement("A28")
async def test_draft_counts_a_folder_with_all_that_goes_into_it(stack: Stack) -> None:
    folder = stack.folder("counted", **FILES)
    async with stack.api() as api:
        question = await asked(api, folder)
        kept = (await put(api, question, exclude=["Archives"], reason="keep the archives")).json()
        assert (kept["makes"], kept["leaves_out"], kept["problem"]) == (2, 3, "")
        assert (await put(api, question, exclude=["nothing"])).json()["problem"].startswith("these are not part")
        await put(api, question, exclude=["Archives"], reason="keep the archives")
        seen = (await api.get(f"/v1/approvals/{question['approval_id']}")).json()
        assert (seen["draft"]["exclude"], seen["draft"]["reason"]) == (["Archives"], "keep the archives")
        answer = {"verdict": "override", "digest": question["digest"], "exclude": ["Archives"]}
        done = (await api.post(f"/v1/approvals/{question['approval_id']}", json=answer)).json()
        assert done["outcome"]["data"]["outcome"] == "overridden"
        text = await answer_of(api, question)
    assert sorted(path.name for path in folder.iterdir() if path.name != ".suma") == ["Audio", "a.zip", "b.zip"]
    assert text.startswith("Moved 1 item into 1 folder, created 1 item. 3 changes left out.")


async def test_draft_of_another_digest_or_a_closed_question_is_refused(stack: Stack) -> None:
    async with stack.api() as api:
        question = await asked(api, stack.folder("closed", **FILES))
        other = await put(api, {**question, "digest": "else"}, exclude=[])
        assert (other.status_code, other.json()["code"]) == (409, "APPROVAL_CHANGED")
        deny = {"verdict": "deny", "digest": question["digest"]}
        await api.post(f"/v1/approvals/{question['approval_id']}", json=deny)
        late = await put(api, question, exclude=[])
        assert (late.status_code, late.json()["code"]) == (409, "APPROVAL_CLOSED")
        assert (await api.get(f"/v1/approvals/{question['approval_id']}")).json()["draft"] is None


@pytest.mark.requirement("P8")
async def test_draft_of_a_stranger_finds_no_question(stack: Stack) -> None:
    async with stack.api() as api, stack.api(await stack.stranger()) as stranger:
        question = await asked(api, stack.folder("strange", **FILES))
        assert (await put(stranger, question, exclude=["Archives"])).status_code == 404
        assert (await api.get(f"/v1/approvals/{question['approval_id']}")).json()["draft"] is None


async def answer_of(api: httpx.AsyncClient, question: dict[str, Any]) -> str:
    while True:
        turn = (await api.get(f"/v1/turns/{question['turn_id']}")).json()
        if turn["ended_at"] is not None:
            return str(turn["answer"])
