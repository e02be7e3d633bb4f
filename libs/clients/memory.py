"""The memory service's queries (DESIGN §12)."""

from __future__ import annotations

from libs.clients.calls import Caller, call

SERVICE = "memory_service"


async def recall(caller: Caller, tenant: str, session: str | None, text: str, user: str, most: int) -> list[str]:
    """Return up to `most` remembered texts of `user` that bear on `text`, best first. Raises what `call` raises."""
    if most < 1:
        return []
    asked = {"query": text, "top_k": most}
    found = await call(caller, SERVICE, "POST", "/recall", tenant=tenant, session=session, user=user, json=asked)
    return [memory["text"] for memory in found["memories"]]
