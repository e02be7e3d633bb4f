"""No route, id or event of another tenant, user or session shows or changes what is remembered of a person.

The test walks the application's own routes; a route without a probe fails it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from libs.events import FactsForgotten, FactStated, FeedbackGiven, MemoryEraseRequested, RememberRequested
from libs.events.base import Event
from tests.services.memory_service.running import OWNER, RunningMemory

SECRET = "blue cellar"
SCOPES: Mapping[str, Any] = {"scopes": OWNER}
PROBES: Mapping[str, Any] = {
    "POST /remember": {"text": "x", "memory_id": "{memory}", **SCOPES},
    "POST /recall": {"query": SECRET, "session": "s-1"},
    "GET /facts": None,
    "POST /facts": {"key": "key", "value": "x", **SCOPES},
    "DELETE /facts": {"id": "{fact}", "scope": "memory"},
    "GET /facts/block": None,
    "GET /facts/known": None,
    "GET /outcomes": {"step_type": "generate_chart"},
    "POST /context/feedback": {"subject": "{memory}", "score": -1, **SCOPES},
    "GET /memories": {"session": "s-1", "before": "{memory}"},
    "GET /memories/search": {"query": SECRET},
    "DELETE /memories/{memory_id}": {"scope": "memory"},
    "GET /memories/{memory_id}": None,
    "GET /held": None,
    "GET /context/feedback": None,
    "GET /context/adaptation/state": None,
    "DELETE /context/adaptation": {"scope": "memory"},
    "GET /neuromodulators": None,
    "POST /neuromodulators": {"dopamine": 1, **SCOPES},
    "GET /persona/{pid}": None,
    "GET /persona/{pid}/manner": None,
    "PUT /persona/{pid}": {"text": "x", **SCOPES},
    "DELETE /persona/{pid}": {"scope": "memory"},
    "GET /sleep": None,
    "POST /sleep/run": {**SCOPES},
    "POST /sleep/{sleep_id}/undo": {"scope": "memory"},
    "GET /knowledge": None,
    "POST /knowledge/search": {"query": SECRET},
    "PUT /knowledge/{name}": {"source": "/home/eve", **SCOPES},
    "GET /knowledge/{name}": None,
    "PUT /knowledge/{name}/removal": {**SCOPES},
}
"""The body of each route, or its query where a GET or DELETE has none."""
STRANGERS = {"another tenant": {"tenant": "bank", "user": "ada"}, "another user": {"user": "eve"}}


@dataclass(frozen=True)
class Victim:
    ids: Mapping[str, str]
    marks: frozenset[str]


async def held(at: RunningMemory) -> list[Any]:
    rows = (await at.ask("GET", "/held", session=None)).json()["rows"]
    return sorted(map(str, rows))


@pytest.fixture
async def victim(at: RunningMemory) -> Victim:
    memory = (await at.remember(f"the key is in the {SECRET}")).json()["id"]
    fact = (await at.ask("POST", "/facts", {"key": "key", "value": SECRET, **SCOPES})).json()["id"]
    await at.ask("POST", "/context/feedback", {"subject": memory, "score": 1, "comment": SECRET, **SCOPES})
    put = await at.ask("PUT", "/persona/butler", {"text": SECRET, **SCOPES})
    assert put.status_code == 200, put.text
    ids = {"memory": memory, "memory_id": memory, "fact": fact, "pid": "butler", "sleep_id": "none", "name": "manuals"}
    return Victim(ids, frozenset((SECRET, memory, fact)))


def routes(at: RunningMemory) -> set[str]:
    assert at.service.api is not None
    app = at.service.api.app
    assert isinstance(app, FastAPI)
    every = [route for route in app.routes if isinstance(route, APIRoute)]
    return {f"{method} {route.path}" for route in every for method in route.methods or ()} - {"GET /healthz"}


def filled(value: Any, ids: Mapping[str, str]) -> Any:
    match value:
        case str():
            return value.format(**ids) if value.startswith("{") else value
        case dict():
            return {name: filled(part, ids) for name, part in value.items()}
        case _:
            return value


async def probe(at: RunningMemory, route: str, victim: Victim, **who: Any) -> httpx.Response:
    method, path = route.split(" ")
    about = filled(PROBES[route], victim.ids)
    given = {"params": about} if method in ("GET", "DELETE") else {"json": about}
    return await at.ask(method, path.format(**victim.ids), **given, **who)


async def test_every_route_of_memory_has_a_probe(at: RunningMemory) -> None:
    assert routes(at) - set(PROBES) == set()


@pytest.mark.parametrize("who", STRANGERS)
async def test_no_route_shows_or_changes_anothers_memory(at: RunningMemory, victim: Victim, who: str) -> None:
    before = await held(at)
    for route in sorted(routes(at)):
        answer = await probe(at, route, victim, **STRANGERS[who])
        assert answer.status_code < 500, (route, answer.text)
        shown = [mark for mark in victim.marks if mark in answer.text]
        # An id that the stranger sends comes back as the stranger's own.
        assert route == "POST /remember" or shown == [], (route, answer.text)
    assert await held(at) == before


async def test_search_finds_a_persons_memories_of_every_session(at: RunningMemory, victim: Victim) -> None:
    await at.remember("the cellar floods in spring", session="s-2")
    answer = await at.ask("GET", "/memories/search", params={"query": "blue cellar"}, session=None)
    found = answer.json()["memories"]
    assert [one["text"] for one in found] == [f"the key is in the {SECRET}", "the cellar floods in spring"]
    assert found[0]["sources"] == [{"name": "words", "rank": 1, "contribution": 1.0}]
    assert answer.json()["waiting"] == 2


async def test_another_session_recalls_nothing_of_a_session(at: RunningMemory, victim: Victim) -> None:
    assert await at.recalled(SECRET) == [f"the key is in the {SECRET}"]
    assert await at.recalled(SECRET, session="s-2") == []
    answer = await at.ask("POST", "/recall", {"query": SECRET, "session": "s-1"}, session="s-2")
    assert answer.status_code == 403


@pytest.mark.parametrize("who", STRANGERS)
async def test_no_event_of_a_stranger_changes_anothers_memory(at: RunningMemory, victim: Victim, who: str) -> None:
    before, stranger = await held(at), STRANGERS[who]
    about: dict[str, Any] = {"user": stranger["user"], "scopes": OWNER}
    events: list[Event] = [
        RememberRequested(memory_id=victim.ids["memory"], kind="message", text="x", universe="person", **about),
        FactStated(fact_id=victim.ids["fact"], text="key: x", **about),
        FactsForgotten(facts=(victim.ids["fact"],), **about),
        FeedbackGiven(subject=victim.ids["memory"], score=-1, **about),
        MemoryEraseRequested(**about),
    ]
    for event in events[2:] if who == "another user" else events:
        await at.say(event, tenant=stranger.get("tenant", "acme"))
    assert await held(at) == before
