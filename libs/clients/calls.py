"""A call to another of our services: a short-lived token, a timeout, and typed errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

import httpx

from libs.clock import Clock
from libs.errors import Conflict, Denied, NotFound, Rejected, SumaError, Unavailable
from libs.identity import internal
from libs.keys import Keys
from libs.resilience import CallFailed, GuardedCalls

Json = Any
Query: TypeAlias = Callable[..., Awaitable[Json]]
"""A query of a service, for callers in its own process. It takes the tenant, which the caller has verified, first."""
TIMEOUT_SECONDS = 10.0
AWAY = (502, 503, 504)


class Caller(Protocol):
    """The parts of the platform that a call needs."""

    @property
    def clients(self) -> Mapping[str, Callable[[], httpx.AsyncClient]]: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def guarded_calls(self) -> GuardedCalls: ...
    @property
    def near(self) -> Mapping[str, Mapping[str, Query]]: ...


class ServiceDown(Unavailable):
    """Another of our services does not answer."""

    code = "SERVICE_UNAVAILABLE"


class NotConfigured(ServiceDown):
    """No address is configured for that service."""

    lasting = True


async def call(
    caller: Caller,
    service: str,
    method: str,
    path: str,
    *,
    tenant: str,
    session: str | None = None,
    user: str | None = None,
    params: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    json: Json = None,
    seconds: float = TIMEOUT_SECONDS,
) -> Json:
    """Call `service` for a tenant, and for a principal if given, and return its JSON.

    Raises:
        ServiceDown, CircuitOpen, CallTimedOut: it does not answer in time, or fails, or has done so for a while.
        NotFound, Denied, Conflict, Rejected: it refuses, in its own words.
    """
    headers = heading(caller, service, tenant, session, user)

    async def once() -> Json:
        return await _asked(caller, service, method, path, params=params, json=json, headers=headers, seconds=seconds)

    # All of these are queries (architecture.md 5), so they may be retried.
    return await caller.guarded_calls.to(service).repeat(once, seconds=seconds)


async def stream(
    caller: Caller, service: str, path: str, *, tenant: str, start: int, end: int, seconds: float = TIMEOUT_SECONDS
) -> AsyncIterator[bytes]:
    """Yield the bytes from `start` to before `end` of a content of `service`; each must follow within `seconds`.

    Raises:
        ServiceDown: it does not answer, or ends before the last byte.
        NotFound, Denied, Conflict, Rejected: it refuses, in its own words.
    """
    if start >= end:
        return
    part, headers, left = {"start": start, "end": end}, heading(caller, service, tenant), end - start
    try:
        async with (
            caller.clients[service]() as client,
            client.stream("GET", path, params=part, headers=headers, timeout=seconds) as got,
        ):
            if got.status_code >= 500:
                raise failed(service, got.status_code)
            if got.status_code >= 400:
                await got.aread()
                raise _refused(got)
            async for chunk in got.aiter_bytes():
                left -= len(chunk)
                yield chunk
    except KeyError:
        raise NotConfigured(f"{service} is not configured") from None
    except httpx.HTTPError as error:
        raise ServiceDown(f"{service}: {type(error).__name__}") from error
    if left:
        raise ServiceDown(f"{service} ended {left} bytes early")


def is_near(caller: Caller, service: str) -> bool:
    """Return whether the service runs in this process, so that its queries are calls."""
    return service in caller.near


async def call_near(caller: Caller, service: str, query: str, tenant: str, /, **arguments: Json) -> Json:
    """Call a query of a service in this process.

    Raises:
        ServiceDown: it takes too long.
        SumaError: what the query raises.
    """
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await caller.near[service][query](tenant, **arguments)
    except TimeoutError:
        raise ServiceDown(f"{service} did not answer {query} within {TIMEOUT_SECONDS:g} s") from None


async def alive(caller: Caller, service: str) -> None:
    """Return when another of our services has answered. Raises ServiceDown."""
    with suppress(Rejected):  # a refusal is an answer; one in this very process has no such page
        await _asked(caller, service, "GET", "/healthz", seconds=TIMEOUT_SECONDS)


async def readiness(caller: Caller, service: str, *, seconds: float) -> Mapping[str, Json]:
    """Return the body of another service's `/readyz`, whether it is ready or not. Raises ServiceDown."""
    try:
        async with asyncio.timeout(seconds), caller.clients[service]() as client:
            report = (await client.get("/readyz")).json()
    except KeyError:
        raise NotConfigured(f"{service} is not configured") from None
    except TimeoutError:
        raise ServiceDown(f"{service} did not answer within {seconds:g} s") from None
    except (httpx.HTTPError, ValueError) as error:
        raise ServiceDown(f"{service}: {type(error).__name__}") from error
    if not isinstance(report, dict) or "ready" not in report:
        raise ServiceDown(f"{service} returned something that is not a report")
    return report


async def _asked(caller: Caller, service: str, method: str, path: str, *, seconds: float, **request: Any) -> Json:
    try:
        async with caller.clients[service]() as client:
            answer = await client.request(method, path, timeout=seconds, **request)
    except KeyError:
        raise NotConfigured(f"{service} is not configured") from None
    except httpx.HTTPError as error:
        raise ServiceDown(f"{service}: {type(error).__name__}") from error
    if answer.status_code >= 500:
        raise failed(service, answer.status_code)
    if answer.status_code >= 400:
        raise _refused(answer)
    try:
        return answer.json()
    except ValueError:
        raise ServiceDown(f"{service} returned something that is not JSON") from None


def failed(service: str, status: int) -> Unavailable:
    """Return the error of a 5xx status. Only 502, 503 and 504 say that the service is away: a 500 is one route's."""
    kind = ServiceDown if status in AWAY else CallFailed
    return kind(f"{service} answered {status}")


def heading(
    caller: Caller, service: str, tenant: str, session: str | None = None, user: str | None = None
) -> dict[str, str]:
    """Return the header that names tenant, session and principal, signed."""
    now = caller.clock.now()
    token = internal.issue(caller.keys, tenant=tenant, session=session, user=user, audience=service, now=now)
    return {internal.HEADER: token}


def _refused(answer: httpx.Response) -> SumaError:
    """Return a problem document (RFC 9457) as the error of its status."""
    try:
        said = answer.json()
    except ValueError:
        said = None
    problem = said if isinstance(said, dict) else {}
    kind = {401: Denied, 403: Denied, 404: NotFound, 409: Conflict, 429: Unavailable}.get(answer.status_code, Rejected)
    detail = str(problem.get("detail", f"refused with {answer.status_code}"))
    code = problem.get("code")
    return kind(f"{detail} {_places(problem.get('errors'))}".strip(), code=code if isinstance(code, str) else None)


def _places(errors: Json) -> str:
    """Return field errors that have our own format."""
    told = [place for place in errors if isinstance(place, dict)] if isinstance(errors, list) else []
    return "; ".join(f"{place.get('pointer', '')}: {place.get('detail', '')}" for place in told)
