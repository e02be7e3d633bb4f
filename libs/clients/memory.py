"""The memory service's queries (architecture.md 13)."""

from __future__ import annotations

from libs.clients.calls import Caller, call, call_near, is_near

SERVICE = "memory_service"


async def recall(caller: Caller, tenant: str, session: str | None, text: str, user: str, most: int) -> list[str]:
    """Return up to `most` remembered texts of `user` that bear on `text`, best first. Raises what `call` raises."""
    if most < 1:
        return []
    if is_near(caller, SERVICE):
        texts: list[str] = await call_near(
            caller, SERVICE, "recall", tenant, session=session, user=user, query=text, most=most
        )
        return texts
    asked = {"query": text, "top_k": most}
    found = await call(caller, SERVICE, "POST", "/recall", tenant=tenant, session=session, user=user, json=asked)
    return [memory["text"] for memory in found["memories"]]
