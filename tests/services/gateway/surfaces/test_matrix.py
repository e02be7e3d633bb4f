"""Each protocol, each way to answer, each content and each ending: all views agree, and the client can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from libs import ids
from tests.services.gateway.surfaces.a2a.agent import DIGEST, Agent
from tests.services.gateway.surfaces.drivers.connected import surface
from tests.services.gateway.surfaces.drivers.surface import (
    APPROVAL,
    CLARIFICATION,
    REFUSED,
    Said,
    Surface,
    state_after,
)

Json = Any
FIRST = (
    *("A2A 1.0, streams", "A2A 0.3, waits", "MCP 2025-11-25", "MCP 2026-07-28", "AG-UI", "REST"),
    *("chat completions, streams", "responses, streams"),
)
PROTOCOLS = (*FIRST, "A2A 1.0 REST, waits", "chat completions, waits", "responses, waits")
PATIENCE = 60
"""Seconds for a cell, most of which take a fifth of one."""
WAYS = ("task", "context", "thread", "words", "form", "dismissal")
"""How an answer finds its question: by the id of its task, its context, or its conversation; in words, or in a form. A
dismissal leaves the question unanswered.
"""
QUESTIONS = {"approval": APPROVAL, "clarification": CLARIFICATION}
CONTENTS: Mapping[str, Mapping[str, Said]] = {
    "approval": {
        "plain": Said(),
        "exclusion": Said(exclude=("taxes.pdf",)),
        "reason": Said(approve=False, reason="not today"),
        "attachment": Said(file=True),
        "misfit": Said(exclude=("nothing",)),
    },
    "clarification": {"plain": Said("the red one"), "attachment": Said("the red one", file=True)},
}
ENDINGS = {
    "in time": "completed",
    "failed": "failed",
    "closed elsewhere": "completed",
    "expired": "completed",
    "followed by another": "completed",
}
"""The state of the turn after each ending of its question."""
TEXTS, HOW = {"approval": "approve ", "clarification": "which "}, {"failed": "fail", "followed by another": "twice"}
"""What makes the worker ask, and what makes it end the turn otherwise than this."""
LATE = dict.fromkeys(("closed elsewhere", "expired"), (REFUSED, "completed"))
"""What a client may be shown of an answer that comes late: a refusal, or the turn of what is now a message."""


class Cell(NamedTuple):
    protocol: str
    way: str
    question: str
    content: str
    ending: str

    @property
    def impossible(self) -> str:
        """Return why there is no such cell; empty if there is one."""
        return next((why for why, about in IMPOSSIBLE if self.matches(**about)), "")

    @property
    def is_slow(self) -> bool:
        """Whether the cell belongs to the slow tier: it is the other binding, or its content comes too late."""
        return self.protocol not in FIRST or (self.content != "plain" and self.ending != "in time")

    @property
    def decides_nothing(self) -> bool:
        """Whether a question is open after the answer."""
        if self.way == "dismissal":
            return self.protocol.startswith("MCP") and self.ending in ("in time", "followed by another")
        unbound = self.question == "approval" and any(self.matches(protocol=name, way=way) for name, way in UNBOUND)
        misfits = self.content == "misfit" or (self.question, self.content) == ("approval", "attachment")
        return self.ending == "followed by another" or ((unbound or misfits) and self.ending in ("in time", "failed"))

    @property
    def final(self) -> str:
        """The state of the turn that asked, in the end."""
        if self.way == "dismissal" and not self.decides_nothing and self.ending in ("in time", "followed by another"):
            return "cancelled"
        unanswered = self.question == "clarification" and self.ending == "expired"
        return "failed" if unanswered else ENDINGS[self.ending]

    def matches(self, **about: str) -> bool:
        return all(
            any(getattr(self, name).startswith(each) for each in wanted.split("|")) for name, wanted in about.items()
        )


IMPOSSIBLE: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("a dismissal says nothing", {"way": "dismissal", "content": "exclusion|reason|attachment|misfit"}),
    ("a turn does not go on after a dismissal", {"way": "dismissal", "ending": "failed"}),
    ("only an approval is followed by another", {"ending": "followed", "question": "clarification"}),
    ("an answer that does not fit ends nothing", {"content": "misfit", "ending": "failed|closed|expired|followed"}),
    (
        "words that name no question are a task once none is open",
        {"protocol": "MCP|chat", "way": "context", "question": "approval", "ending": "closed|expired"},
    ),
    (
        "words that name no question are a task once none is open",
        {"protocol": "AG-UI", "way": "thread", "question": "approval", "ending": "closed|expired"},
    ),
    ("the context of A2A is its conversation", {"protocol": "A2A", "way": "thread"}),
    (
        "A2A answers a clarification with text: the task's",
        {"protocol": "A2A", "way": "words|form", "question": "clarification"},
    ),
    ("a task of MCP is followed, not answered", {"protocol": "MCP", "way": "task"}),
    ("MCP keeps no conversation but the session", {"protocol": "MCP", "way": "thread"}),
    ("an answer in MCP is a form", {"protocol": "MCP", "way": "words"}),
    ("a form of MCP holds no file", {"protocol": "MCP", "way": "form", "content": "attachment"}),
    ("a chat names no task", {"protocol": "chat", "way": "task"}),
    ("the result of a tool holds no file", {"protocol": "chat", "way": "words|form", "content": "attachment"}),
    (
        "a clarification is answered in words",
        {"protocol": "chat|responses", "way": "form", "question": "clarification"},
    ),
    (
        "the answer to a request for approval holds no file",
        {"protocol": "responses", "way": "task|form|context", "question": "approval", "content": "attachment"},
    ),
    ("AG-UI names an interrupt, not a task", {"protocol": "AG-UI", "way": "task"}),
    ("the context of AG-UI is its thread", {"protocol": "AG-UI", "way": "context"}),
    ("the answer to an interrupt holds no file", {"protocol": "AG-UI", "way": "words|form", "content": "attachment"}),
    (
        "REST answers an approval by its id, in a form",
        {"protocol": "REST", "way": "task|context|thread|words", "question": "approval"},
    ),
    (
        "a decision by REST holds no file",
        {"protocol": "REST", "way": "form", "question": "approval", "content": "attachment"},
    ),
    (
        "REST answers a clarification with the next message",
        {"protocol": "REST", "way": "task|thread|words|form", "question": "clarification"},
    ),
)
"""Why a cell does not exist, and which ones: by the beginnings of its coordinates."""


def cells() -> Iterator[Cell]:
    for protocol in PROTOCOLS:
        for way in WAYS:
            for question, contents in CONTENTS.items():
                for content in contents:
                    for ending in ENDINGS:
                        yield Cell(protocol, way, question, content, ending)


POSSIBLE = [cell for cell in cells() if not cell.impossible]
UNBOUND = (("MCP", "context"), ("chat", "context"), ("AG-UI", "thread"))
"""Where words name no question, so they never approve anything."""


def test_each_reason_leaves_out_a_cell() -> None:
    needless = [why for why, about in IMPOSSIBLE if not any(cell.matches(**about) for cell in cells())]
    assert needless == []


@pytest.mark.parametrize(
    "cell", [pytest.param(each, id=" - ".join(each), marks=[pytest.mark.slow] * each.is_slow) for each in POSSIBLE]
)
async def test_client_goes_on_after_its_question(agent: Agent, cell: Cell) -> None:
    said, waits = CONTENTS[cell.question][cell.content], QUESTIONS[cell.question]
    async with asyncio.timeout(PATIENCE), surface(agent, cell.protocol) as client:
        assert await client.ask(TEXTS[cell.question] + HOW.get(cell.ending, "this"), cell.way) == waits
        await agrees(client, waits)
        asked, session = client.turn, client.session
        await end_elsewhere(client, cell)
        shown = await (client.dismiss() if cell.way == "dismissal" else client.answer(cell.way, said))
        if cell.decides_nothing:
            assert shown in (REFUSED, waits)
            await agrees(client, waits)
            shown = await client.answer(client.sure, Said("the red one" if cell.question == "clarification" else ""))
        elif cell.ending in ("in time", "failed"):
            await arrived(client, cell, asked)
        assert (await client.get(f"turns/{asked}"))["state"] == cell.final
        assert shown in (cell.final, *LATE.get(cell.ending, ()))
        await agrees(client, cell.final if client.turn == asked else "completed")
        if cell.question == "approval":
            assert len(await client.turns()) == 1
        assert (await client.more("hello"), client.session) == ("HELLO", session)


async def arrived(client: Surface, cell: Cell, turn: str) -> None:
    """Check that the worker has received what the answer held."""
    said = CONTENTS[cell.question][cell.content]
    if cell.question == "clarification":
        events = (await client.get(f"sessions/{client.session}/events", stream="false"))["events"]
        *_, last = (event["data"] for event in events if event["type"] == "message.accepted")
        assert [file["filename"] for file in last["attachments"]] == ["notes.md"] * said.file
    elif cell.way != "dismissal":
        (got,) = (each for each in client.agent.worker.decided if each.approval_id == ids.derived(turn, "approval"))
        assert (got.verdict == "deny", got.exclude, got.reason) == (not said.approve, said.exclude, said.reason)


async def end_elsewhere(client: Surface, cell: Cell) -> None:
    """Close the question of a cell before its answer, if it is to be closed so, and wait until that is seen."""
    turn, seen = client.turn, client.agent.gateway.seen
    asked = await client.question() if cell.question == "approval" else None
    match cell.ending:
        case "closed elsewhere" | "followed by another" if asked:
            about = {"verdict": "approve", "digest": DIGEST}
            assert (await client.http.post(f"/v1/approvals/{asked['approval_id']}", json=about)).is_success
            kind = "turn.ended" if cell.ending == "closed elsewhere" else "approval.requested"
            closed = await seen(client.session, lambda event: event.type == "approval.closed")
            await seen(client.session, lambda event: event.type == kind and event.seq > closed.seq)
        case "closed elsewhere":
            await client.http.post(f"/v1/sessions/{client.session}/messages", json={"text": "the blue one"})
            await seen(client.session, lambda event: event.type == "turn.ended" and event.turn_id == turn)
        case "expired":
            await client.agent.expire(client.session, turn, asked["approval_id"] if asked else "")


async def agrees(client: Surface, state: str) -> None:
    """Check that each view of the client's turn shows this state: the protocol's own, and those of the REST API."""
    got = await client.get(f"turns/{client.turn}")
    listed = (await client.get(f"sessions/{client.session}/history"))["turns"]
    events = (await client.get(f"sessions/{client.session}/events", stream="false"))["events"]
    streamed = [state_after(each["type"], each["data"]) for each in events if each["turn_id"] == client.turn]
    assert got in listed
    assert (got["state"], [each for each in streamed if each][-1]) == (state, state)
    assert (await client.question() is not None) == (state == APPROVAL)
    assert set((await client.views()).values()) <= {state}
