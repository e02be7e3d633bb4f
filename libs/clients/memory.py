"""The memory service's queries (architecture.md 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from libs.clients.calls import Caller, call, call_near, is_near
from libs.events import KnownFact

SERVICE = "memory_service"
HELD_SECONDS = 60.0
Json = Any
ABOUT_MOST = 500
"""Characters of a text that facts are chosen by."""


async def recall(caller: Caller, tenant: str, session: str | None, text: str, user: str, most: int) -> Sequence[Json]:
    """Return up to `most` memories of `user` that fit `text`, best first: `id`, `text`, `score` and `sources`. Raises
    what `call` raises.
    """
    if most < 1:
        return []
    if is_near(caller, SERVICE):
        near: Sequence[Json] = await call_near(
            caller, SERVICE, "recall", tenant, session=session, user=user, query=text, most=most
        )
        return near
    asked = {"query": text, "top_k": most, "fitting": True}
    found = await call(caller, SERVICE, "POST", "/recall", tenant=tenant, session=session, user=user, json=asked)
    return list(found["memories"])


async def facts(caller: Caller, tenant: str, user: str, *, history: bool = False, about: str = "") -> Sequence[Json]:
    """Return a person's facts, latest first: those that are true, or also those that were; with `about`, those that the
    person means by these words. Raises what `call` raises.
    """
    params = {"history": str(history).lower(), "about": about}
    found = await call(caller, SERVICE, "GET", "/facts", tenant=tenant, user=user, params=params)
    return list(found["facts"])


async def state(caller: Caller, tenant: str, user: str, scopes: Sequence[str], fact: Json) -> None:
    """Store a fact that the person states; it replaces the value that its setting had. Raises what `call` raises."""
    stated = {**fact, "scopes": list(scopes)}
    await call(caller, SERVICE, "POST", "/facts", tenant=tenant, user=user, json=stated)


async def forget(caller: Caller, tenant: str, user: str, scopes: Sequence[str], fact: str) -> int:
    """Forget a fact with its history; return how many that were. Raises what `call` raises."""
    about = [("id", fact), *(("scope", one) for one in scopes)]
    found = await call(caller, SERVICE, "DELETE", "/facts", tenant=tenant, user=user, params=about)
    return int(found["forgotten"])


async def outcomes(caller: Caller, tenant: str, step_type: str) -> Sequence[Json]:
    """Return the sums of a tenant's attempts at one step type, by capability (S3-20). Raises what `call` raises."""
    if is_near(caller, SERVICE):
        near: Sequence[Json] = await call_near(caller, SERVICE, "outcomes", tenant, step_type=step_type)
        return near
    found = await call(caller, SERVICE, "GET", "/outcomes", tenant=tenant, params={"step_type": step_type})
    return list(found["outcomes"])


async def memories(
    caller: Caller, tenant: str, user: str, *, session: str | None = None, before: str | None = None, most: int = 100
) -> Sequence[Json]:
    """Return a person's memories, latest first. Raises what `call` raises."""
    about = {"session": session, "before": before, "most": str(most)}
    params = {name: value for name, value in about.items() if value is not None}
    found = await call(caller, SERVICE, "GET", "/memories", tenant=tenant, user=user, params=params)
    return list(found["memories"])


async def memory(caller: Caller, tenant: str, user: str, id: str) -> Json:
    """Return a memory of the person. Raises NotFound, and what `call` raises."""
    return await call(caller, SERVICE, "GET", f"/memories/{id}", tenant=tenant, user=user)


async def search(
    caller: Caller, tenant: str, user: str, query: str, *, session: str | None = None, most: int = 20
) -> Json:
    """Return the `memories` that bear on a query, best first, with the ranks that their scores come from: of one
    session by meaning and by words, of all by words; and what they lack. Raises what `call` raises.
    """
    if session is not None:
        asked = {"query": query, "top_k": most}
        return await call(caller, SERVICE, "POST", "/recall", tenant=tenant, session=session, user=user, json=asked)
    about = {"query": query, "most": str(most)}
    return await call(caller, SERVICE, "GET", "/memories/search", tenant=tenant, user=user, params=about)


async def forget_memory(caller: Caller, tenant: str, user: str, scopes: Sequence[str], memory: str) -> None:
    """Delete a memory of the person. Raises NotFound, and what `call` raises."""
    about = [("scope", one) for one in scopes]
    await call(caller, SERVICE, "DELETE", f"/memories/{memory}", tenant=tenant, user=user, params=about)


async def held(caller: Caller, tenant: str, user: str) -> Sequence[Json]:
    """Return the rows that are kept of a person: `table` and `content`. Raises what `call` raises."""
    found = await call(caller, SERVICE, "GET", "/held", tenant=tenant, user=user, seconds=HELD_SECONDS)
    return list(found["rows"])


async def known(caller: Caller, tenant: str, user: str, about: str) -> Sequence[KnownFact]:
    """Return the facts about `user` for a turn on this text, the most relevant first. Raises what `call` raises."""
    if is_near(caller, SERVICE):
        facts: Sequence[KnownFact] = await call_near(caller, SERVICE, "known", tenant, user=user, about=about)
        return facts
    found = await call(caller, SERVICE, "GET", "/facts/known", tenant=tenant, user=user, params=_bounded(about))
    return [KnownFact.model_validate(fact) for fact in found["facts"]]


async def named(caller: Caller, tenant: str, user: str, about: str) -> Sequence[str]:
    """Return the ids of the facts that `user` means by these words. Raises what `call` raises."""
    if is_near(caller, SERVICE):
        ids: Sequence[str] = await call_near(caller, SERVICE, "named", tenant, user=user, about=about)
        return ids
    found = await call(caller, SERVICE, "GET", "/facts", tenant=tenant, user=user, params=_bounded(about))
    return [fact["id"] for fact in found["facts"]]


def _bounded(about: str) -> dict[str, str]:
    """Return a text as a parameter of an address, which a long message would not fit."""
    return {"about": about[:ABOUT_MOST]}
