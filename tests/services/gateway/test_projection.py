"""The projection of outbound events and dead letters: the same rows however it comes to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs import ids
from libs.database import Dsns
from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    Asset,
    ClarificationReplied,
    ClarificationRequested,
    Event,
    EventDeadLettered,
    MessageCompleted,
    StepChanged,
    TurnEnded,
    TurnQueued,
    TurnStarted,
)
from libs.events.values import Body, StepState
from tests.services.gateway.running import RunningGateway
from tests.support.examples import examples

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
TENANTS, SESSIONS, TURNS = ("acme", "globex"), ("s1", "s2"), ("t1", "t2", "t3")


@dataclass(frozen=True)
class Told:
    """An event of a session, at its place in the story."""

    tenant: str
    session: str
    data: Event
    n: int = 0

    @property
    def at(self) -> datetime:
        return BEGAN + timedelta(seconds=self.n)


def _events(turn: str, asked: str) -> list[Event]:
    """Return one of each kind that changes a row, and a step without a result."""
    step = StepChanged(
        turn_id=turn, plan_id="p", step_id=asked, ordinal=1, tool="t", description="d", state=StepState.SUCCEEDED
    )
    file = Asset(asset_id=f"{turn}-{asked}", filename="f", media_type="text/plain", sha256="00", size=3)
    question = f"{turn}-{asked}"
    return [
        TurnQueued(turn_id=turn, message_id="m", position=1),
        TurnStarted(turn_id=turn, message_id="m", text="x"),
        ClarificationRequested(turn_id=turn, question="which?"),
        ClarificationReplied(turn_id=turn, message_id="m", text="this"),
        ClarificationReplied(turn_id=turn, message_id="m", text="another", instead=f"{turn}-instead"),
        MessageCompleted(turn_id=turn, message_id="m", text=f"answer {asked}"),
        TurnEnded(turn_id=turn, state="completed", reason="MORE_BELOW"),
        TurnEnded(turn_id=turn, state="failed", detail=f"because of {asked}"),
        step,
        step.model_copy(update={"result": file}),
        ApprovalRequested(turn_id=turn, approval_id=question, kind="commit", digest="00", title="?", expires_in=90.5),
        ApprovalClosed(turn_id=turn, approval_id=question, outcome="stale", principal="ada"),
        ApprovalClosed(turn_id=turn, approval_id=question, outcome="approved", principal="bob", reason="fine"),
    ]


@st.composite
def stories(draw: st.DrawFn) -> list[Told]:
    """Events of some turns, in an order in which a question comes before its answers."""
    told = st.tuples(st.sampled_from(TENANTS), st.sampled_from(SESSIONS), st.sampled_from(TURNS))
    story: list[Told] = []
    asked: set[tuple[str, str]] = set()
    for tenant, session, turn in draw(st.lists(told, min_size=1, max_size=30)):
        which = draw(st.sampled_from(("q1", "q2")))
        event = draw(st.sampled_from(_events(f"{tenant}-{session}-{turn}", which)))
        if isinstance(event, ApprovalRequested):
            asked.add((tenant, event.approval_id))
        if not isinstance(event, ApprovalClosed) or (tenant, event.approval_id) in asked:
            story.append(Told(tenant, session, event, len(story)))
    return story


def projected(story: Iterable[Told]) -> dict[str, Any]:
    """Return the rows that these events make, one event after another: the reference."""
    turns: dict[Any, dict[str, Any]] = {
        (tenant, f"{tenant}-{session}-{turn}"): {"state": "received", "detail": "", "session": session}
        for tenant in TENANTS
        for session in SESSIONS
        for turn in TURNS
    }
    approvals: dict[Any, Any] = {}
    files: dict[Any, Any] = {}
    numbered: dict[Any, list[str]] = {}
    for told in story:
        numbered.setdefault((told.tenant, told.session), []).append(f"e{told.n}")
        turn = turns[told.tenant, told.data.turn_id]  # type: ignore[attr-defined]

        def move(turn: dict[str, Any] = turn, at: datetime = told.at, **to: Any) -> None:
            if "ended_at" not in turn:
                turn.update(to, moved_at=at)

        match told.data:
            case TurnQueued():
                move(state="queued")
            case TurnStarted():
                turn.setdefault("started_at", told.at)
                move(state="running")
            case ClarificationRequested():
                move(state="awaiting_clarification")
            case ClarificationReplied(instead=None):
                move(state="running")
            case ClarificationReplied(text=text, instead=str(other)):
                turns.setdefault(
                    (told.tenant, other), {"state": "received", "detail": "", "session": told.session, "text": text}
                )
            case MessageCompleted(text=text):
                turn["answer"] = text
            case TurnEnded(state=state, reason=reason, detail=detail):
                if "ended_at" not in turn:
                    turn |= {"state": state, "ended_at": told.at}
                turn |= {"reason": turn.get("reason") or reason} if reason else {}
                turn["detail"] = turn["detail"] or detail
            case StepChanged(result=Asset() as file):
                files.setdefault((told.tenant, file.asset_id), (told.session, told.data.turn_id, told.at))
            case ApprovalRequested(approval_id=approval, expires_in=seconds):
                move(state="awaiting_approval")
                expires = told.at + timedelta(seconds=seconds)
                approvals.setdefault((told.tenant, approval), {"opened_at": told.at, "expires_at": expires})
            case ApprovalClosed(outcome="stale"):
                pass
            case ApprovalClosed(approval_id=approval, outcome=outcome, principal=principal):
                move(state="running")
                question = approvals[told.tenant, approval]
                if "outcome" not in question:
                    question |= {"outcome": outcome, "principal": principal, "closed_at": told.at}
    return {"turns": turns, "approvals": approvals, "files": files, "events": numbered}


PUT = """
insert into gateway.session_envelopes (tenant_id, session_id, principal, hitl, created_at, last_at)
select t, s, 'ada', 'final', $3, $3 from unnest($1::text[]) as t, unnest($2::text[]) as s
"""
OPEN = """
insert into gateway.turns (tenant_id, turn_id, session_id, state, created_at)
select t, t || '-' || s || '-' || r, s, 'received', $4
from unnest($1::text[]) as t, unnest($2::text[]) as s, unnest($3::text[]) as r
"""
PROJECT = """
select gateway.project_outbound(array_agg(row (
    'conversation.outbound', 0, e.n, 'e' || e.n, e.tenant, e.tenant || ':' || e.session, e.type,
    jsonb_build_object('sessionid', e.session, 'turnid', e.data ->> 'turn_id', 'time', e.at), e.data, e.at
)::bus.log order by e.n))
from jsonb_to_recordset($1) as e(n bigint, tenant text, session text, type text, at timestamptz, data jsonb)
"""


@dataclass
class Projecting:
    """A transaction of the function's caller, and of its owner, who sees the rows."""

    connection: asyncpg.Connection[asyncpg.Record]

    async def project(self, story: Sequence[Told]) -> None:
        events = [
            {"n": t.n, "tenant": t.tenant, "session": t.session, "type": t.data.type, "at": t.at.isoformat(),
             "data": orjson.Fragment(t.data.json_bytes())}
            for t in story
        ]  # fmt: skip
        await self.connection.execute(PROJECT, orjson.dumps(events).decode())

    async def rows(self) -> dict[str, Any]:
        """Return what stands in the tables, as `projected` does."""
        turns = await self._keyed("turns", "turn_id", {"session_id": "session"})
        approvals = await self._keyed("approvals", "approval_id", {})
        named = ("state", "detail", "session", "text", "answer", "reason", "started_at", "ended_at", "moved_at")
        asked = ("opened_at", "expires_at", "outcome", "principal", "closed_at")
        files = await self.connection.fetch("select * from gateway.attachments")
        events: dict[Any, list[str]] = {}
        for row in await self.connection.fetch("select * from gateway.session_events order by seq"):
            numbered = events.setdefault((row["tenant_id"], row["session_id"]), [])
            assert row["seq"] == len(numbered) + 1
            numbered.append(row["event_id"])
        return {
            "turns": {key: _given(row, named) for key, row in turns.items()},
            "approvals": {key: _given(row, asked) for key, row in approvals.items()},
            "files": {(f["tenant_id"], f["asset_id"]): (f["session_id"], f["turn_id"], f["created_at"]) for f in files},
            "events": events,
        }

    async def _keyed(self, table: str, name: str, renamed: dict[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
        rows = await self.connection.fetch(f"select * from gateway.{table}")
        return {
            (row["tenant_id"], row[name]): {renamed.get(key, key): value for key, value in row.items()} for row in rows
        }


def _given(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns that have a value; an empty text is none, but for a detail."""
    return {name: row[name] for name in names if row[name] is not None and (row[name] != "" or name == "detail")}


def _cut(story: Sequence[Told], sizes: Sequence[int]) -> Iterator[Sequence[Told]]:
    """Yield the story in batches of these sizes, the last one over and over."""
    at, left = 0, list(sizes)
    while at < len(story):
        size = left.pop(0) if len(left) > 1 else left[0]
        yield story[at : at + size]
        at += size


@pytest.mark.requirement("P2", "P3", "A12")
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stories(), st.lists(st.integers(1, 12), min_size=1, max_size=5))
async def test_any_batches_make_the_rows_of_single_events(
    gateway_where: Dsns, story: list[Told], sizes: list[int]
) -> None:
    connection = await asyncpg.connect(gateway_where.owner)
    transaction = connection.transaction()
    try:
        await transaction.start()
        await connection.execute("select set_config('suma.tenants', '{acme,globex}', true)")
        await connection.execute(PUT, TENANTS, SESSIONS, BEGAN)
        await connection.execute(OPEN, TENANTS, SESSIONS, TURNS, BEGAN)
        projecting = Projecting(connection)
        for batch in _cut(story, sizes):
            await projecting.project(batch)
        assert await projecting.rows() == projected(story)
    finally:
        await transaction.rollback()
        await connection.close()


@pytest.mark.requirement("P2")
async def test_an_event_is_projected_in_its_own_commit(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    session = accepted["session_id"]
    await home.worker_says(session, TurnStarted(turn_id=accepted["turn_id"], message_id=None, text="hello"))
    assert (await http.get(f"/v1/sessions/{session}")).json()["last_seq"] == 2
    assert await home.rows("select from gateway.turns where state = 'running'")


@pytest.mark.requirement("S3-32", "S3-49")
async def test_a_dead_letter_is_kept_for_its_tenants_admins(home: RunningGateway) -> None:
    letter = EventDeadLettered(
        group="conversation_worker",
        event_topic="conversation.inbound",
        event_type="suma.message.received.v1",
        event_id=ids.new(),
        event_key="k",
        code="MALFORMED_EVENT",
        error="no such field",
        attempts=1,
        original=Body(json={"data": {"a": 1}}, size=9),
    )
    await home.worker_says("s", letter)

    (row,) = await home.rows("select topic, event::text, error, code from gateway.dlq_messages")
    assert (row["topic"], row["error"], row["code"]) == ("conversation.inbound", "no such field", "MALFORMED_EVENT")
    assert '"a": 1' in row["event"]
    assert await home.rows("select from gateway.dlq_messages", tenant=ids.new()) == []


async def test_event_of_a_missing_session_is_discarded_alone(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    started = TurnStarted(turn_id=accepted["turn_id"], message_id=None, text="hello")
    await home.worker_says("nobodys", started)
    await home.worker_says(accepted["session_id"], started)
    await home.caught_up(accepted["session_id"], 2)
    assert await home.rows("select from gateway.session_events where session_id = 'nobodys'") == []
    (letter,) = await home.rows("select code, state, session_id from gateway.dlq_messages")
    assert tuple(letter) == ("NO_SESSION", "discarded", "nobodys")


async def test_another_tenants_event_for_a_session_writes_nothing_into_it(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    """Both tenants may be visible in one transaction; the row's tenant decides."""
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    stranger = replace(home, tenant=ids.new())
    await stranger.worker_says(session, TurnStarted(turn_id="t", message_id=None, text="forged"))
    await home.worker_says(session, TurnStarted(turn_id="t", message_id=None, text="true"))
    await home.caught_up(session, 1)

    page = (await http.get(f"/v1/sessions/{session}/events?stream=false")).json()
    assert [event["data"]["text"] for event in page["events"]] == ["true"]
