"""The scopes that a denied principal lacks. Only policy knows them, so it is asked with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from libs.policy.ports import Decision, Policy

SCOPES = ("admin", "admin.roots", "admin.tenants", "chat", "files:read", "files:write", "memory")
"""The scopes in the policy's settings."""
MISSING = "missing scope: "


async def missing(policy: Policy, action: str, input: Mapping[str, Any]) -> Sequence[str]:
    """Return the scopes that a denied action requires and its principal lacks; none if the denial has another reason.

    Policy is asked with all scopes, then with one after the other left out.
    """
    held = set(input["principal"]["scopes"])

    async def allowed(scopes: set[str]) -> bool:
        principal = {**input["principal"], "scopes": sorted(scopes)}
        return (await policy.decide(action, {**input, "principal": principal})).allowed

    needed = held | set(SCOPES)
    if not await allowed(needed):
        return ()
    # Each scope that is not needed stays left out, so no scope of the result can be spared.
    for scope in SCOPES:
        if scope not in held and await allowed(needed - {scope}):
            needed.discard(scope)
    return sorted(needed - held)


async def decide(policy: Policy, action: str, input: Mapping[str, Any]) -> Decision:
    """Return policy's decision; the reason of a denial names the missing scopes. Raises like `Policy.decide`."""
    decision = await policy.decide(action, input)
    if decision.allowed or not (lacking := await missing(policy, action, input)):
        return decision
    return replace(decision, reason=f"{decision.reason}; {MISSING}{', '.join(lacking)}")
