"""One coroutine per event: load the conversation, let the turn decide, return the changeset.

Each may run twice: the input's id is the changeset's, and the session's version guards every row. Where policy does not
answer, the input is tried again for a minute, and nothing runs meanwhile; then it is refused (DESIGN §8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import (
    ActionRecorded,
    ApprovalDecided,
    EffectResolved,
    MessageReceived,
    PlanApproved,
    PlanRejected,
    PlanUnclear,
    RollbackRequested,
    ToolDenied,
    ToolFailed,
    ToolSucceeded,
    ToolUnknown,
    TurnCancelRequested,
)
from libs.events.envelope import Envelope
from libs.events.values import Plan
from libs.leases.ports import Start
from libs.policy.ports import PolicyUnanswered
from libs.policy.retry_deadline import RetryDeadline
from libs.telemetry.logs import logger
from services.conversation_worker.domain import event_sizes, reasons
from services.conversation_worker.domain.call_results import Result
from services.conversation_worker.turn import (
    commit,
    decisions,
    finish,
    plan,
    results,
    rollback,
    start,
    unknown_effects,
)
from services.conversation_worker.turn.context import LOST, Office, recorded
from services.conversation_worker.turn.state import Ending, QueuedMessage, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

COMMITTEE_SAYS_NO = ("COMMITTEE_REJECTED", "POLICY_UNAVAILABLE", "POLICY_DENIED")
NO_FOLDER = "This session has no folder to work in. Start one in a folder, as with `suma run … --in DIR`."

log = logger("conversation")
Decide = Callable[[Scene], Awaitable[None]]
Otherwise = Callable[[Scene, Ending], None]


class Handlers:
    def __init__(self, office: Office) -> None:
        self._office, self._store = office, office.store
        self._patience = RetryDeadline(office.platform.clock, office.settings.policy_seconds)

    # conversation.inbound

    async def message(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        letter = QueuedMessage.model_validate(event.data.model_dump())

        async def decide(scene: Scene) -> None:
            await self._heard(scene, letter, event.data)

        def otherwise(scene: Scene, refused: Ending) -> None:
            start.refuse(scene, letter, refused.reason or "", refused.detail)

        return await self.deciding(cause, decide, otherwise)

    async def approval(self, cause: Cause, event: Envelope[ApprovalDecided]) -> Changeset:
        """Unanswered by policy, the answer does not count, and the question stays."""

        def otherwise(scene: Scene, refused: Ending) -> None:
            scene.void(event.data, f"{refused.reason}: {refused.detail}")

        return await self.deciding(cause, lambda scene: decisions.decided(self._office, scene, event.data), otherwise)

    async def effect(self, cause: Cause, event: Envelope[EffectResolved]) -> Changeset:
        """Unanswered by policy, the answer does not count, and the question stays."""

        def otherwise(scene: Scene, refused: Ending) -> None:
            scene.void(event.data, f"{refused.reason}: {refused.detail}")

        return await self.deciding(
            cause, lambda scene: unknown_effects.resolved(self._office, scene, event.data), otherwise
        )

    async def cancel(self, cause: Cause, event: Envelope[TurnCancelRequested]) -> Changeset:
        scene = await self.scene(cause)
        decisions.cancel(self._office, scene, event.data)
        return scene.close(self._store)

    async def rollback(self, cause: Cause, event: Envelope[RollbackRequested]) -> Changeset:
        letter = rollback.wish(event.data)

        def otherwise(scene: Scene, refused: Ending) -> None:
            start.refuse(scene, letter, refused.reason or "", refused.detail)

        return await self.deciding(cause, lambda scene: rollback.roll_back(self._office, scene, event.data), otherwise)

    # committee.decisions

    async def approved(self, cause: Cause, event: Envelope[PlanApproved]) -> Changeset:
        approved = event.data

        async def decide(scene: Scene) -> None:
            if self._expected(scene, approved):
                plan.thought(self._office, scene, approved.usage)
                scene.set_turn(wish=approved.wish or scene.turn.wish)
                await self._planned(scene, approved)

        def otherwise(scene: Scene, refused: Ending) -> None:
            if self._expected(scene, approved):
                finish.stop(self._office, scene, refused)

        return await self.deciding(cause, decide, otherwise)

    async def rejected(self, cause: Cause, event: Envelope[PlanRejected]) -> Changeset:
        scene, no = await self.scene(cause), event.data
        if not self._expected(scene, no):
            return scene.close(self._store)
        plan.thought(self._office, scene, no.usage)
        state = TurnState.REFUSED if no.code in COMMITTEE_SAYS_NO else TurnState.FAILED
        finish.stop(self._office, scene, Ending(state=state, reason=no.code, detail=no.reason))
        return scene.close(self._store)

    async def unclear(self, cause: Cause, event: Envelope[PlanUnclear]) -> Changeset:
        scene = await self.scene(cause)
        if not self._expected(scene, event.data):
            return scene.close(self._store)
        plan.thought(self._office, scene, event.data.usage)
        plan.ask_back(self._office, scene, event.data)
        return scene.close(self._store)

    # tool.results

    async def result(
        self, cause: Cause, event: Envelope[ToolSucceeded | ToolFailed | ToolDenied | ToolUnknown]
    ) -> Changeset:
        told = event.data

        async def decide(scene: Scene) -> None:
            if results.awaited(scene, told):
                await results.told(self._office, scene, told)
            elif not await unknown_effects.late(self._office, scene, told):
                log.info("a result that nobody waits for", call_id=told.call_id, turn=told.turn_id)

        def otherwise(scene: Scene, refused: Ending) -> None:
            if results.awaited(scene, told):
                _leave(self._office, scene, told, refused)

        return await self.deciding(cause, decide, otherwise)

    # Dead letters

    def unheard(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        """Something that a turn waits for, or is, cannot be handled: the turn ends, as soon as it can be loaded."""
        turn = dead.header("turnid") or str(dead.fields().get("turn_id", ""))
        if not turn or cause.session is None:
            return Changeset(cause)
        about = {"turn_id": turn, "code": error.code, "detail": f"{dead.type} could not be handled"}
        return Changeset(cause).start(Start(ids.new(), LOST, about))

    # What all share

    async def scene(self, cause: Cause) -> Scene:
        if cause.session is None:
            raise Rejected("the event names no session")
        return Scene(cause, await self._store.load(cause.tenant, cause.session))

    async def deciding(self, cause: Cause, decide: Decide, otherwise: Otherwise) -> Changeset:
        """What follows; or, when something has been asked in vain for too long, how it is refused."""
        scene = await self.scene(cause)
        try:
            await decide(scene)
        except Unavailable as error:
            if not self._patience.over(cause.id):
                raise
            code = "POLICY_UNAVAILABLE" if isinstance(error, PolicyUnanswered) else error.code
            scene = await self.scene(cause)
            otherwise(scene, Ending(state=TurnState.REFUSED, reason=code, detail=str(error)))
        return scene.close(self._store)

    async def _heard(self, scene: Scene, letter: QueuedMessage, said: MessageReceived) -> None:
        if scene.knows(letter.turn_id):
            if letter.turn_id in scene.session.ended:
                scene.say(_stale(letter))
            return
        if letter.turn_id in scene.session.cancelled:
            scene.end_turn(letter.turn_id, Ending(state=TurnState.CANCELLED, reason="CANCELLED"))
            return
        if event_sizes.size(said.text) > event_sizes.TEXT_MOST:
            start.refuse(scene, letter, "MESSAGE_TOO_LARGE", f"a message has at most {event_sizes.TEXT_MOST} bytes")
            return
        decision = await self._office.decide("conversation.send", scene, letter, length=len(said.text))
        scene.say(recorded(decision, letter, turn_id=letter.turn_id, resource=letter.message_id))
        if not decision.allowed:
            start.refuse(scene, letter, "POLICY_DENIED", decision.reason)
            return
        if said.root is not None and scene.session.root is None:
            scene.set_session(root=said.root)
        start.receive(self._office, scene, letter, on_busy=said.on_busy)

    async def _planned(self, scene: Scene, approved: PlanApproved) -> None:
        if scene.session.root is None and self._needs_folder(approved.plan):
            finish.complete(self._office, scene, NO_FOLDER, reason=reasons.DECLINED)
        elif approved.plan.steps or approved.answer is None:
            await plan.propose(self._office, scene, approved)
        elif scene.turn.dirty:
            await commit.ask(self._office, scene)
        else:
            finish.complete(self._office, scene, approved.answer, reason=reasons.of_answer(approved))

    def _needs_folder(self, proposed: Plan) -> bool:
        """Would a step work in the session's folder? Tools from outside need none."""
        named = {step.tool for step in proposed.steps}
        return not named <= {tool.name for tool in self._office.platform.skills.tools if not tool.in_workspace}

    def _expected(self, scene: Scene, decision: PlanApproved | PlanRejected | PlanUnclear) -> bool:
        """Is this the decision that the turn is waiting for?"""
        return (
            scene.active(decision.turn_id)
            and scene.turn.state is TurnState.THINKING
            and plan.request_id(scene.turn) == decision.request_id
        )


def _stale(letter: QueuedMessage) -> ActionRecorded:
    """A message that comes again after its turn, as from a dead letter, begins none."""
    return ActionRecorded(
        action="conversation.send",
        phase="decision",
        verdict="stale",
        principal=letter.principal,
        resource=letter.message_id,
        turn_id=letter.turn_id,
    )


def _leave(office: Office, scene: Scene, told: Result, refused: Ending) -> None:
    """The result counts; what would follow from it cannot be policed."""
    if scene.turn.working == told.call_id:
        scene.set_turn(working=None, state=TurnState.ACTING, commit_id=None)
    else:
        results.record(office, scene, told)
    if scene.talk.turn is not None and scene.turn.ending is None:
        finish.stop(office, scene, refused)
    elif scene.talk.turn is not None:
        finish.wind_down(office, scene)
