"""The memory service's knowledge bases (docs/knowledge.md). Adding and removing one are safe to repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from libs.clients.calls import Caller, call, call_near, is_near

SERVICE = "memory_service"
ROOT = "/knowledge"
Json = dict[str, Any]


async def add(caller: Caller, tenant: str, user: str, name: str, asked: Mapping[str, Any]) -> Json:
    """Begin to read a base, or read it again; return it with its progress. Raises what `call` raises."""
    return cast("Json", await call(caller, SERVICE, "PUT", f"{ROOT}/{name}", tenant=tenant, user=user, json=asked))


async def bases(caller: Caller, tenant: str, user: str) -> Json:
    """Return the bases that a person can search. Raises what `call` raises."""
    return cast("Json", await call(caller, SERVICE, "GET", ROOT, tenant=tenant, user=user))


async def status(caller: Caller, tenant: str, user: str, name: str, *, shared: bool) -> Json:
    """Return a base with its progress and gaps. Raises what `call` raises."""
    params = {"shared": str(shared).lower()}
    return cast("Json", await call(caller, SERVICE, "GET", f"{ROOT}/{name}", tenant=tenant, user=user, params=params))


async def remove(caller: Caller, tenant: str, user: str, name: str, asked: Mapping[str, Any]) -> Json:
    """Remove a base with all that was read. Raises what `call` raises."""
    path = f"{ROOT}/{name}/removal"
    return cast("Json", await call(caller, SERVICE, "PUT", path, tenant=tenant, user=user, json=asked))


async def find(caller: Caller, tenant: str, user: str, asked: Mapping[str, Any]) -> Json:
    """Return the best passages with their places and scores, best first. Raises what `call` raises."""
    return cast("Json", await call(caller, SERVICE, "POST", f"{ROOT}/search", tenant=tenant, user=user, json=asked))


async def search(caller: Caller, tenant: str, text: str, user: str, most: int) -> list[Json]:
    """Return up to `most` passages of `user`'s bases that fit the request `text`, best first: `base`, `path`, `unit`
    (line or page), `first`, `last`, `text`. They are untrusted. Raises what `call` raises.
    """
    if is_near(caller, SERVICE):
        near = await call_near(caller, SERVICE, "knowledge", tenant, user=user, query=text, most=most)
        return cast("list[Json]", near)
    found = await find(caller, tenant, user, {"query": text, "top_k": most})
    return [passage for passage in found["passages"] if passage["fits"]]
