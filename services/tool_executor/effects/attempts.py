"""One attempt at an effect outside: what the class demands first, then the effect itself (decision 0017).

It says how it ended: with an outcome, with `DidNotHappen`, with `Unavailable` (it did nothing), or in any other way,
which leaves the effect in doubt until the next attempt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from libs.changes import Cause
from libs.errors import Rejected, SumaError, Unavailable
from libs.leases import Lease
from libs.runtime import Platform
from libs.tools import Compensable, Effect, Intent, Outcome, Reconcilable, Tool
from services.tool_executor import calls
from services.tool_executor.chain import Outside, expanded
from services.tool_executor.effects.ledger import Ledger
from services.tool_executor.effects.recovery import RecoveryAction, forgives, recovery_action, waits
from services.tool_executor.settings import Settings
from services.tool_executor.workspaces import GROUP

LET_GO_SECONDS = 2.0
"""How long a tool may take to notice that it was cancelled."""


class DidNotHappen(Rejected):
    """The tool says so itself."""


class InDoubt(Unavailable):
    """The attempt ended, and did not say how."""

    code = "IN_DOUBT"


class NotHere(Unavailable):
    """This executor does not have the tool; another may."""

    code = "TOOL_NOT_HERE"


class EffectUnknown(Rejected):
    """Whether it happened is not known, and this tool cannot be asked."""

    code = "EFFECT_UNKNOWN"


class Attempts:
    def __init__(self, platform: Platform, settings: Settings, ledger: Ledger, outside: Outside) -> None:
        self._platform, self._settings, self._ledger, self._outside = platform, settings, ledger, outside

    async def run(self, lease: Lease) -> Outcome:
        """Make the effect, or find out that it was made.

        Raises: DidNotHappen: and it will not. Unavailable: this attempt did nothing, or its result is not known.
        EffectUnknown: an earlier attempt may have made it, and the tool cannot be asked.
        """
        # The intent first: a missing tool or arg is found while no attempt has begun, and leaves no doubt.
        effect, meant = effect_of(lease), await self._intent(lease)
        record = await self._ledger.record(lease)
        action = recovery_action(effect, in_doubt=record.in_doubt)
        # Before `begin`: an attempt that is not made must not be written as begun.
        if action is RecoveryAction.ASK:
            raise EffectUnknown()
        pure = effect is Effect.PURE
        # A pure effect may be repeated freely, so it costs no commit of its own.
        attempt = lease.attempts if pure else await self._ledger.begin(lease, record, action)
        with _acting(lease, meant, attempt) as intent:
            self._point("begun")
            found = await self._settled(intent, action) if action is not RecoveryAction.RUN else None
            if found is not None:
                return found
            self._point("clear")
            return await self._made(lease, intent, forgiven=forgives(effect, in_doubt=record.in_doubt))

    async def settle(self, lease: Lease) -> Outcome | None:
        """Return the outcome; None if it did not happen and will not, or was undone. Raises Unavailable."""
        meant, record = await self._intent(lease), await self._ledger.record(lease)
        action = recovery_action(effect_of(lease), in_doubt=True)
        with _acting(lease, meant, await self._ledger.begin(lease, record, action)) as intent:
            return await self._settled(intent, action)

    async def _settled(self, intent: Intent, action: RecoveryAction) -> Outcome | None:
        """End the doubt: return the outcome, or None if nothing happened and nothing will. Raises Unavailable."""
        tool = self._tool(intent.tool)
        # A request of the earlier attempt may still be on its way; probing too early would miss it.
        await asyncio.sleep(self._settings.settle_seconds)
        try:
            async with asyncio.timeout(self._settings.probe_seconds):
                if action is RecoveryAction.PROBE:
                    return await cast("Reconcilable", tool).probe(intent)
                await cast("Compensable", tool).undo(intent)
                return None
        except TimeoutError:
            raise InDoubt(f"its outcome was not found within {self._settings.probe_seconds:.0f} s") from None

    async def _made(self, lease: Lease, intent: Intent, *, forgiven: bool) -> Outcome:
        """Make the effect. If the tool did nothing and that ends all doubt (`forgiven`), the ledger records it."""
        patience = self._settings.cancel_seconds if waits(effect_of(lease)) else 0.0
        try:
            async with asyncio.timeout(calls.request_of(lease).deadline):
                return await _let_finish(self._tool(intent.tool).run(intent), lease, patience)
        except Unavailable:
            if forgiven:
                await self._ledger.settle(lease, intent.attempt)
            raise
        # By its port (`libs.tools`), a tool raises this only if nothing happened and nothing will.
        except Rejected as error:
            raise DidNotHappen(str(error), code=error.code) from error
        # Anything else says nothing about the effect.
        except (SumaError, TimeoutError) as error:
            raise InDoubt(f"the attempt ended with {type(error).__name__}") from error

    async def _intent(self, lease: Lease) -> Intent:
        """Return the intent, before an attempt has begun."""
        request = calls.request_of(lease)
        self._tool(request.tool)
        defaults = self._platform.skills.tool(request.tool).defaults()
        return Intent(
            id=lease.input["intent"],
            tenant=lease.tenant,
            session=Cause.of_lease(lease).session or "",
            turn=request.turn_id,
            step=request.step_id,
            tool=request.tool,
            args={**defaults, **await expanded(self._platform.objects, lease.tenant, request.args)},
            attempt=0,
            # No attempt has begun, so nothing may act under this intent yet.
            valid=lambda: False,
        )

    def _tool(self, name: str) -> Tool:
        tool = self._outside(name)
        if tool is None:
            raise NotHere(f"{name} is not plugged in here")
        return tool

    def _point(self, what: str) -> None:
        """Mark a point at which the process may die or stall."""
        self._platform.point(f"{GROUP}:effects:{what}")


def effect_of(lease: Lease) -> Effect:
    """Return the effect class that was written with the intent."""
    return Effect(lease.input["effect"])


@contextmanager
def _acting(lease: Lease, intent: Intent, attempt: int) -> Iterator[Intent]:
    """Yield the attempt's permission to act, which ends with the lease or the attempt, whichever is first.

    A thread or a request of an abandoned attempt must not act beside the next one.
    """
    over = False
    try:
        yield replace(intent, attempt=attempt, valid=lambda: not over and lease.valid())
    finally:
        over = True


async def _let_finish(work: Coroutine[Any, Any, Outcome], lease: Lease, patience: float) -> Outcome:
    """Let an effect that could not be probed later finish despite a cancel; report one that has ended as it ended."""
    task = asyncio.ensure_future(work)
    try:
        # Shielded: a cancel of this coroutine must not break off an effect that cannot be probed.
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        try:
            if lease.valid() and not task.done():
                await asyncio.wait({task}, timeout=patience)
        finally:
            task.cancel()
        await asyncio.wait({task}, timeout=LET_GO_SECONDS)
        if not task.done():
            raise
        return task.result()
