"""`memory.remember` and `memory.forget`: what a call asks the memory service, as events of the call's own commit.

Both are idempotent: ids derive from the call, and policy is asked about the write before an event is
emitted; the memory service asks again, and records the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs import ids
from libs.clients import memory
from libs.errors import Denied
from libs.events import NAMES, Event, FactsForgotten, FactStated, ToolRequested
from libs.runtime import Platform
from libs.texts import quoted
from services.tool_executor.tools.tool_context import many

REMEMBER, FORGET = "remember", "forget"
"""The methods of the primitive `memory`."""
METHODS = (REMEMBER, FORGET)


class NotYours(Denied):
    """Policy does not let this person change their memory."""

    code = "POLICY_DENIED"


class Remembering:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def do(
        self, tenant: str, session: str, request: ToolRequested, method: str, args: Mapping[str, Any]
    ) -> tuple[dict[str, Any], str, tuple[Event, ...]]:
        """Return the call's data, its summary, and the events that change what is remembered.

        Raises:
            NotYours: policy denies the write.
            Unavailable: policy or the memory service does not answer.
        """
        await self._permitted(tenant, session, request)
        return self._stated(request, args) if method == REMEMBER else await self._forgotten(tenant, request, args)

    async def _permitted(self, tenant: str, session: str, request: ToolRequested) -> None:
        decision = await self._platform.policy.decide(
            "memory.write",
            {
                "tenant": tenant,
                "principal": {"id": request.principal, "scopes": list(request.scopes)},
                "session": session,
                "turn": request.turn_id,
                "kind": "fact",
                "user": request.principal,
            },
        )
        if not decision.allowed:
            raise NotYours(decision.reason)

    def _stated(self, request: ToolRequested, args: Mapping[str, Any]) -> tuple[dict[str, Any], str, tuple[Event, ...]]:
        text = " ".join(args["text"].split())
        stated = FactStated(
            fact_id=ids.derived(request.call_id, "fact"),
            user=request.principal,
            text=text,
            # A setting is whole or absent: half of one would be read as another.
            **{name: args[name] for name in ("subject", "key", "value") if args.get("key") and args.get("value")}
            | {"many": bool(args.get("also"))},
            source="person" if request.own_words or request.approval_id else "tool",
            touched=NAMES if request.own_words else request.touched,
            scopes=request.scopes,
        )
        return {"remembered": text}, f"I will remember: {quoted(text)}.", (stated,)

    async def _forgotten(
        self, tenant: str, request: ToolRequested, args: Mapping[str, Any]
    ) -> tuple[dict[str, Any], str, tuple[Event, ...]]:
        found = await memory.named(self._platform, tenant, request.principal, args["about"])
        if not found:
            return {"forgotten": 0}, "I do not remember that.", ()
        # Without the facts themselves, which would be stored again with the answer.
        event = FactsForgotten(facts=tuple(found), user=request.principal, scopes=request.scopes)
        return {"forgotten": len(found)}, f"Forgot {many(len(found), 'fact')}.", (event,)
