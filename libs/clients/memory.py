"""The memory service's queries (DESIGN §12)."""

from __future__ import annotations

from libs.clients.calls import Caller, call

SERVICE = "memory_service"


async def recall(caller: Caller, tenant: str, session: str | None, text: str, user: str, most: int) -> list[str]:
    """What `user` told us that bears on `text`, best first: at most `most` texts. Raises what `call` raises."""
    if most < 1:
        return []
    asked = {"query": text, "top_k": most}
    found = await call(caller, SERVICE, "POST", "/recall", tenant=tenant, session=session, user=user, json=asked)
    return [memory["text"] for memory in found["memories"]]
