"""Permission to read: policy is asked about each kind of reading, and a yes is remembered for a moment.

Writes ask policy in their routes, which record the answer (`http.commands`). A yes to a read is not recorded, since a
read changes nothing (docs/decisions/0119).
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from dataclasses import dataclass

from libs.identity import Principal, ScopeMissing
from libs.identity.roles import SESSIONS_READ
from libs.policy import Policy
from libs.runtime import PolicyDenied

REMEMBERED_MOST = 10_000
"""Permissions that are remembered."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind of reading: the action that policy is asked about, and scopes of which the caller needs one."""

    action: str
    scopes: tuple[str, ...] = ()


SESSIONS = Reading("session.read", ("chat", SESSIONS_READ))
FILES = Reading("workspace.read", ("files:read",))
CATALOGUE = Reading("catalogue.read")
MEMORY = Reading("memory.read", ("memory",))
"""Facts and memories of the caller, and an export of all data about it."""
UPLOADS = Reading("asset.read")
"""The state of an upload, which its sender alone reads."""


class Reads:
    """Policy's permissions to read. Each is remembered for `seconds`, under the revision that gave it."""

    def __init__(self, policy: Policy, *, seconds: float) -> None:
        self._policy, self._seconds = policy, seconds
        self._known: OrderedDict[tuple[Principal, str], tuple[float, str]] = OrderedDict()
        """By caller and action, when policy allowed it, and the revision."""

    async def check(self, who: Principal, reading: Reading) -> None:
        """Ask policy whether the caller may read.

        Raises:
            ScopeMissing: the caller has none of the scopes.
            PolicyDenied: policy denied the action.
            Unavailable: policy does not answer, so nothing is read.
        """
        if reading.scopes and not any(map(who.may, reading.scopes)):
            raise ScopeMissing(reading.scopes[0])
        now, key = asyncio.get_running_loop().time(), (who, reading.action)
        at, revision = self._known.get(key, (-math.inf, ""))
        # A problem of policy, such as a silent server, ends what is remembered.
        if now - at < self._seconds and revision == self._policy.revision and self._policy.problem is None:
            return
        revision = await self._ask(who, reading.action)
        self._known[key] = now, revision
        if len(self._known) > REMEMBERED_MOST:
            self._known.popitem(last=False)

    async def _ask(self, who: Principal, action: str) -> str:
        """Return the revision under which policy allows it."""
        principal = {"id": who.id, "scopes": sorted(who.scopes)}
        # Without the session: who sees which is the gateway's to check, and one answer serves all of a caller's reads.
        decision = await self._policy.decide(action, {"tenant": who.tenant, "principal": principal, "session": None})
        if not decision.allowed:
            denied = PolicyDenied(f"{action}: {decision.reason}")
            # Recorded like other refusals of reads: at most once a minute.
            denied.recorded = False
            raise denied
        return decision.revision
