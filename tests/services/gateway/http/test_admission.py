"""Limits: excess requests are refused early, with the limit's name and a time to retry."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest

from libs.cache import LimitState, LocalWindows
from libs.database import BUS, Dsns, Sizes
from libs.errors import Unavailable
from libs.events import TurnEnded
from libs.runtime.shutdown import Shutdown
from services.gateway.http.admission import ConcurrencyLimiter, Slot, TooMany
from services.gateway.service import drain
from services.gateway.settings import Settings
from tests.services.gateway.running import RunningGateway, running_gateway, served


def told(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    return answer.status_code, answer.json()["code"]


async def asks(home: RunningGateway, times: int, key: str | None = None) -> list[httpx.Response]:
    async with home.client(key) as http:
        return [await http.get("/v1/sessions") for _ in range(times)]


async def says(home: RunningGateway, times: int, *, session: str | None = None, **headers: str) -> list[httpx.Response]:
    body: dict[str, Any] = {"text": "hello", **({"session_id": session} if session else {})}
    async with home.client(**headers) as http:
        return [await http.post("/v1/sessions/message", json=body) for _ in range(times)]


@pytest.mark.requirement("S3-03", "S3-43")
async def test_rate_limit_applies_to_one_principal(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_per_minute_each": 3}) as home:
        mine, theirs = await asks(home, 4), await asks(home, 3, await home.key("*", principal="bob"))
    assert [answer.status_code for answer in mine] == [200, 200, 200, 429]
    assert told(mine[3]) == (429, "RATE_LIMITED")
    assert [answer.status_code for answer in theirs] == [200] * 3


@pytest.mark.requirement("S3-43")
async def test_a_tenant_s_requests_are_bounded_over_all_its_principals(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_per_minute": 3}) as home:
        await asks(home, 2)
        bob, stranger = await home.key("*", principal="bob"), await home.key("*", tenant="other")
        ours, theirs = await asks(home, 2, bob), await asks(home, 2, stranger)
    assert told(ours[1]) == (429, "TENANT_RATE_LIMITED")
    assert [answer.status_code for answer in theirs] == [200, 200]


async def test_route_limit_applies_to_one_key_on_one_route(gateway_where: Dsns, owner: str) -> None:
    limits = {"requests_per_minute_by_route": {"GET /v1/sessions/{session_id}": 2}, "requests_per_minute_route": 4}
    async with running_gateway(gateway_where, owner, settings=limits) as home:
        another = await home.key("*", principal="owner")
        async with home.client() as mine, home.client(another) as theirs:
            read = [await mine.get(f"/v1/sessions/{n}") for n in range(3)]
            listed = [await mine.get("/v1/sessions") for _ in range(5)]
            with_another_key = await theirs.get("/v1/sessions/0")
            nowhere = [await mine.get(f"/nowhere/{n}") for n in range(5)]
    assert [answer.status_code for answer in read] == [404, 404, 429]
    assert told(read[2]) == (429, "ROUTE_RATE_LIMITED")
    assert [answer.status_code for answer in listed] == [200] * 4 + [429]
    assert with_another_key.status_code == 404
    assert [answer.status_code for answer in nowhere] == [404] * 4 + [429]


async def test_browser_shares_the_limit_of_its_key(gateway_where: Dsns, owner: str) -> None:
    async with (
        running_gateway(gateway_where, owner, settings={"requests_per_minute_route": 2}) as home,
        home.client() as http,
    ):
        await http.get("/v1/sessions")
        assert (await http.post("/v1/signin")).status_code == 200
        del http.headers["Authorization"]
        assert [(await http.get("/v1/sessions")).status_code for _ in range(2)] == [200, 429]


@pytest.mark.requirement("S3-43")
async def test_responses_report_limits_in_standard_headers(gateway_where: Dsns, owner: str) -> None:
    settings = {"requests_per_minute": 9, "requests_per_minute_each": 5, "requests_per_minute_route": 1}
    async with running_gateway(gateway_where, owner, settings=settings) as home, home.client() as http:
        first, second = await http.get("/v1/me"), await http.get("/v1/me")
        open = await http.get("/healthz")
    assert first.headers["ratelimit-policy"] == '"tenant";q=9;w=60, "principal";q=5;w=60, "route";q=1;w=60'
    told_of = r'"tenant";r=8;t=(\d+), "principal";r=4;t=\1, "route";r=0;t=\1'
    for answer in (first, second):
        assert (shown := re.fullmatch(told_of, answer.headers["ratelimit"]))
        assert 1 <= int(shown[1]) <= 60
    assert told(second) == (429, "ROUTE_RATE_LIMITED")
    assert "ratelimit" not in open.headers


class Away:
    """Rate windows in a Redis that does not answer."""

    async def admit(self, limits: object) -> list[LimitState]:
        raise Unavailable


async def test_with_the_shared_windows_away_each_gateway_counts_for_itself(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_per_minute": 2}, windows=Away()) as home:
        assert [answer.status_code for answer in await asks(home, 3)] == [200, 200, 429]


async def test_two_gateways_share_their_rate_windows(gateway_where: Dsns, owner: str) -> None:
    shared = LocalWindows()
    ours: dict[str, Any] = {"settings": {"requests_per_minute": 3}, "windows": shared}
    async with (
        running_gateway(gateway_where, owner, **ours) as one,
        running_gateway(gateway_where, owner, **ours) as two,
    ):
        assert [a.status_code for home in (one, two) for a in await asks(home, 2)] == [200, 200, 200, 429]


async def test_wrong_key_consumes_no_rate_limit(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_per_minute": 2}) as home:
        assert [a.status_code for a in await asks(home, 5, f"{owner[:-1]}x")] == [401] * 5
        assert [a.status_code for a in await asks(home, 2)] == [200, 200]


@pytest.mark.requirement("A20")
async def test_session_limit_still_answers_repeated_requests(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"turns_open_each_session": 2}) as home:
        (first,) = await says(home, 1)
        session = first.json()["session_id"]
        once = {"Idempotency-Key": "once"}
        (second,) = await says(home, 1, session=session, **once)
        full, again = await says(home, 1, session=session), await says(home, 1, session=session, **once)
        assert told(full[0]) == (429, "SESSION_FULL")
        assert again[0].json() == second.json()
        await home.worker_says(session, TurnEnded(turn_id=first.json()["turn_id"], state="completed"))
        await home.seen(session, lambda event: event.type == "turn.ended")
        assert (await says(home, 1, session=session))[0].status_code == 202


async def test_open_turn_limit_spans_a_tenants_sessions(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"turns_open_most": 3}) as home:
        answers = await says(home, 5)
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429, 429]
    assert told(answers[4]) == (429, "TENANT_FULL")


async def test_full_backlog_refuses_all_messages(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"backlog_most": 1}) as home:
        for _ in range(5):
            await home.worker_waits()
        async with asyncio.timeout(60):
            while (refused := (await says(home, 1))[0]).status_code != 429:
                await asyncio.sleep(0.05)
        assert told(refused) == (429, "BACKLOG_FULL")
        assert (await asks(home, 1))[0].status_code == 200


@pytest.mark.parametrize(("pool", "path"), [("gateway", "/v1/sessions"), (BUS, "/v1/admin/bus")], ids=["own", "bus"])
async def test_slow_queries_on_all_connections_answer_429(
    gateway_where: Dsns, owner: str, pool: str, path: str
) -> None:
    few = Sizes(service=1, bus=1, hints=1, wait=0.1)
    async with (
        running_gateway(gateway_where, owner, sizes=few) as home,
        # The gateway's own tasks may have the connection for longer than a request waits for it.
        (await home.platform.database.pool(pool)).acquire(timeout=60) as connection,
    ):
        slow = asyncio.ensure_future(connection.fetchval("select pg_sleep(60)"))
        async with home.client() as http:
            answer = await http.get(path)
        slow.cancel()
        assert told(answer) == (429, "DATABASE_CROWDED")


def crowd(**settings: Any) -> ConcurrencyLimiter:
    return ConcurrencyLimiter(Settings(**settings))


def test_running_requests_are_limited_in_total_and_by_tenant() -> None:
    full = crowd(requests_most=2, requests_most_each=1)
    one, two = Slot("a"), Slot("b")
    full.enter(one, writes=False)
    with pytest.raises(TooMany) as busy:
        full.enter(Slot("a"), writes=False)
    assert busy.value.code == "TENANT_BUSY"
    full.enter(two, writes=False)
    with pytest.raises(TooMany) as crowded:
        full.enter(Slot("c"), writes=False)
    assert crowded.value.code == "PROCESS_BUSY"
    full.leave(two)
    full.enter(Slot("b"), writes=False)


def test_bodies_in_memory_are_limited_in_total_and_by_tenant() -> None:
    full = crowd(bodies_most=1_000_000)
    one, two, three = Slot("a"), Slot("b"), Slot("c")
    full.carry(one, 400_000)
    with pytest.raises(TooMany) as busy:
        full.carry(Slot("a"), 200_000)
    assert busy.value.code == "TENANT_BUSY"
    full.carry(two, 500_000)
    with pytest.raises(TooMany) as crowded:
        full.carry(three, 200_000)
    assert crowded.value.code == "PROCESS_BUSY"
    full.leave(one)
    full.leave(one)
    full.carry(three, 400_000)


async def test_repeated_loop_lag_refuses_writes_but_not_reads(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"late_most": 0.000_001}) as home:
        async with asyncio.timeout(60):
            while (answer := (await says(home, 1))[0]).status_code != 429:
                await asyncio.sleep(0.05)
        assert told(answer) == (429, "PROCESS_BUSY")
        assert (await asks(home, 1))[0].status_code == 200
        async with home.client() as http:
            assert (await http.get("/healthz")).status_code == 200


async def test_flood_gets_429_and_leaves_no_running_request(gateway_where: Dsns, owner: str) -> None:
    async with running_gateway(gateway_where, owner, settings={"requests_most": 8, "requests_most_each": 8}) as home:
        async with home.client() as http:
            answers = await asyncio.gather(*(http.post("/v1/sessions", json={}) for _ in range(200)))
        async with asyncio.timeout(60):
            await home.context.concurrency.empty()
    statuses = {answer.status_code for answer in answers}
    assert statuses == {201, 429}


async def test_request_that_the_stop_cuts_off_may_be_repeated(gateway_where: Dsns, owner: str) -> None:
    async with (
        running_gateway(gateway_where, owner, settings={"drain_seconds": 0.0}) as home,
        httpx.AsyncClient(headers={"Authorization": f"Bearer {owner}"}, timeout=60) as http,
        home.connection(home.tenant, gateway_where.owner) as other,
    ):
        async with served(home) as url:
            await other.execute("begin; lock table gateway.session_envelopes in access exclusive mode")
            asking = asyncio.ensure_future(http.get(f"{url}/v1/sessions"))
            while not await other.fetchval("select count(*) from pg_locks where not granted"):
                await asyncio.sleep(0.02)
            await drain(home.service, Shutdown())
        answer = await asking
        await other.execute("rollback")
    assert told(answer) == (503, "DRAINING")
