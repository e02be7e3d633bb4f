"""A person's mind in the memory service: feedback, neuromodulators, personas, sleep (S3-06). Writes are safe to repeat.

Each raises what `call` raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from libs.clients.calls import Caller, call, call_near, is_near

SERVICE = "memory_service"
Json = Any


async def rate(
    caller: Caller, tenant: str, user: str, scopes: Sequence[str], *, id: str, subject: str, score: float, comment: str
) -> None:
    """Rate a subject from -1 to 1. The same `id` replaces an earlier rating."""
    said = {"feedback_id": id, "subject": subject, "score": score, "comment": comment, "scopes": list(scopes)}
    await call(caller, SERVICE, "POST", "/context/feedback", tenant=tenant, user=user, json=said)


async def ratings(caller: Caller, tenant: str, user: str) -> Sequence[Json]:
    """Return the person's feedback, latest first: decisions on changes as well."""
    found = await call(caller, SERVICE, "GET", "/context/feedback", tenant=tenant, user=user)
    return list(found["ratings"])


async def adaptation(caller: Caller, tenant: str, user: str) -> Json:
    """Return the weights that feedback gives to memories and kinds."""
    return await call(caller, SERVICE, "GET", "/context/adaptation/state", tenant=tenant, user=user)


async def reset(caller: Caller, tenant: str, user: str, scopes: Sequence[str]) -> None:
    """Let feedback up to now no longer count."""
    await call(caller, SERVICE, "DELETE", "/context/adaptation", tenant=tenant, user=user, params=_held(scopes))


async def modulators(caller: Caller, tenant: str, user: str) -> Json:
    """Return the levels and the factors that follow from them."""
    return await call(caller, SERVICE, "GET", "/neuromodulators", tenant=tenant, user=user)


async def modulate(caller: Caller, tenant: str, user: str, scopes: Sequence[str], levels: Mapping[str, float]) -> Json:
    """Set levels, and return all."""
    said = {**levels, "scopes": list(scopes)}
    return await call(caller, SERVICE, "POST", "/neuromodulators", tenant=tenant, user=user, json=said)


async def persona(caller: Caller, tenant: str, user: str, agent: str) -> Json:
    """Return how the person wants an agent's answers written. Raises NotFound."""
    return await call(caller, SERVICE, "GET", f"/persona/{agent}", tenant=tenant, user=user)


async def put_persona(caller: Caller, tenant: str, user: str, scopes: Sequence[str], agent: str, text: str) -> Json:
    said = {"text": text, "scopes": list(scopes)}
    return await call(caller, SERVICE, "PUT", f"/persona/{agent}", tenant=tenant, user=user, json=said)


async def delete_persona(caller: Caller, tenant: str, user: str, scopes: Sequence[str], agent: str) -> None:
    await call(caller, SERVICE, "DELETE", f"/persona/{agent}", tenant=tenant, user=user, params=_held(scopes))


async def manner(caller: Caller, tenant: str, user: str, agent: str) -> str:
    """Return how to write an agent's answers to the person; empty if nothing is asked for."""
    if is_near(caller, SERVICE):
        text: str = await call_near(caller, SERVICE, "manner", tenant, user=user, agent=agent)
        return text
    found = await call(caller, SERVICE, "GET", f"/persona/{agent}/manner", tenant=tenant, user=user)
    return str(found["text"])


async def sleeps(caller: Caller, tenant: str, user: str) -> Json:
    """Return the person's cognitive load and the reports of their sleeps."""
    return await call(caller, SERVICE, "GET", "/sleep", tenant=tenant, user=user)


async def sleep(caller: Caller, tenant: str, user: str, scopes: Sequence[str], *, nrem: bool, rem: bool) -> Json:
    """Start a sleep, and return its id. Raises Conflict while one is running: also for a repetition."""
    said = {"nrem": nrem, "rem": rem, "scopes": list(scopes)}
    return await call(caller, SERVICE, "POST", "/sleep/run", tenant=tenant, user=user, json=said)


async def wake(caller: Caller, tenant: str, user: str, scopes: Sequence[str], sleep: str) -> None:
    """Take back what a sleep did. Raises Conflict if it runs, or was taken back before."""
    await call(caller, SERVICE, "POST", f"/sleep/{sleep}/undo", tenant=tenant, user=user, params=_held(scopes))


def _held(scopes: Sequence[str]) -> list[tuple[str, str]]:
    return [("scope", scope) for scope in scopes]
