"""What the turn has under leases: the context, the answer, and every wait for a person. Their ends go on with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from libs.budgets import Payer
from libs.budgets.paying import paid_by
from libs.cache.ports import Delta, Stream
from libs.changes import Cause, Changeset
from libs.clients.calls import NotConfigured
from libs.clients.executor import workspace_facts
from libs.clients.memory import recall
from libs.errors import SumaError, Unavailable
from libs.events import TurnDegraded
from libs.events.values import StepState, Usage
from libs.leases.ports import Cancelled, Held
from libs.models.ports import InvalidModelOutput, ModelText
from libs.telemetry.logs import logger
from services.conversation_worker.domain import event_sizes, memory_window, reasons
from services.conversation_worker.handlers import Handlers
from services.conversation_worker.turn import decisions, finish, plan, start
from services.conversation_worker.turn.context import Office
from services.conversation_worker.turn.state import Ending, TurnState
from services.conversation_worker.turn.unit_of_work import Scene

WITHOUT_MEMORIES = "The memory service does not answer; this turn knows nothing of what was said in other sessions."

log = logger("conversation")
Written = tuple[str, Usage]


class Waits:
    def __init__(self, office: Office, handlers: Handlers) -> None:
        self._office, self._platform, self._store = office, office.platform, office.store
        self._scene, self._deciding = handlers.scene, handlers.deciding

    # The context

    async def gather(self, held: Held) -> dict[str, Any]:
        """What the planner may know: memories, and facts of the workspace."""
        talk = await self._store.peek(held.tenant, Cause.held(held).session or "", working=held.id)
        if talk.turn is None:
            return {}
        letter = talk.turn.letter
        memories, facts = await asyncio.gather(
            self._memories(held, letter.text, letter.principal), self._facts(held, talk.session.root)
        )
        return {"memories": memories, "facts": facts}

    async def gathered(self, held: Held, found: dict[str, Any]) -> Changeset:
        def think(scene: Scene) -> None:
            memories, facts = tuple(found.get("memories") or ()), found.get("facts")
            if found.get("memories", ()) is None:
                scene.say(TurnDegraded(turn_id=scene.turn.turn_id, missing="memory", detail=WITHOUT_MEMORIES))
            task = memory_window.task_of(scene.talk, self._office.settings, memories=memories, facts=facts)
            plan.think(scene, task)

        return await self._go_on(held, TurnState.CONTEXT, think)

    # The answer

    async def write(self, held: Held) -> Written:
        """The answer, streamed to whoever watches while it is written."""
        session = Cause.held(held).session or ""
        talk = await self._store.peek(held.tenant, session, working=held.id)
        if talk.turn is None:
            return "", Usage()
        model = self._platform.model
        assert model is not None
        stream, text, usage = Stream(held.tenant, talk.turn.turn_id), "", Usage()
        task = memory_window.task_of(talk, self._office.settings)
        with paid_by(Payer(held.tenant, session, stream.turn)):
            async with _closing(model.answer(task)) as answer:
                async for said in answer:
                    text += said.text
                    usage = usage.plus(said.usage)
                    if said.text:
                        await self._show(stream, Delta(held.id, held.attempts, said.text))
                    if len(text) > event_sizes.ANSWER_MOST:
                        break
        return text, usage

    async def written(self, held: Held, answer: Written) -> Changeset:
        def complete(scene: Scene) -> None:
            text, usage = answer
            reason = reasons.of(scene.turn.settled, scene.talk.steps)
            finish.complete(self._office, scene, text, scene.turn.usage.plus(usage), reason=reason)

        return await self._go_on(held, TurnState.ANSWERING, complete)

    async def failed(self, held: Held, error: SumaError) -> Changeset:
        """The context could not be had, or the answer not be written."""
        scene = await self._scene(Cause.held(held))
        if scene.active(held.input["turn_id"]) and scene.turn.working == held.id:
            if isinstance(error, InvalidModelOutput):
                scene.set_turn(usage=scene.turn.usage.plus(error.usage))
            self._give_up(scene, error)
        return scene.close(self._store)

    # Waits for people

    async def waited(self, held: Held) -> None:
        """A wait has no work; it only ends."""

    async def expired(self, held: Held, _: None) -> Changeset:
        async def decide(scene: Scene) -> None:
            if scene.active(held.input["turn_id"]):
                await decisions.expired(self._office, scene, held.input["approval_id"])

        def otherwise(scene: Scene, refused: Ending) -> None:
            if scene.active(held.input["turn_id"]) and scene.turn.ending is None:
                finish.stop(self._office, scene, refused)

        return await self._deciding(Cause.held(held), decide, otherwise)

    async def unanswered(self, held: Held, _: None) -> Changeset:
        scene = await self._scene(Cause.held(held))
        if self._at(scene, held, TurnState.AWAITING_CLARIFICATION):
            late = Ending(state=TurnState.FAILED, reason="CLARIFICATION_EXPIRED")
            finish.stop(self._office, scene, late)
        return scene.close(self._store)

    # What could not be handled

    async def lost(self, held: Held, _: None) -> Changeset:
        """End a turn of which an event or a wait could not be handled; one that never began ends as well."""
        scene, about = await self._scene(Cause.held(held)), held.input
        over = Ending(state=TurnState.FAILED, reason=about.get("code", "LOST"), detail=about.get("detail", ""))
        if scene.active(about["turn_id"]):
            _abandon(self._office, scene, over)
        elif not scene.knows(about["turn_id"]):
            scene.end_turn(about["turn_id"], over)
        return scene.close(self._store)

    async def waiting_failed(self, held: Held, error: SumaError) -> Changeset:
        """What a wait's end leads to cannot be decided: the turn does not wait for ever."""
        scene = await self._scene(Cause.held(held))
        if scene.active(held.input["turn_id"]):
            _abandon(self._office, scene, Ending(state=TurnState.FAILED, reason=error.code, detail=str(error)))
        return scene.close(self._store)

    # Helpers

    async def _go_on(self, held: Held, state: TurnState, then: Callable[[Scene], None]) -> Changeset:
        scene = await self._scene(Cause.held(held))
        if not self._at(scene, held, state):
            return scene.close(self._store)
        if scene.turn.ending is not None:
            self._give_up(scene, Cancelled())
        else:
            then(scene)
        return scene.close(self._store)

    def _give_up(self, scene: Scene, error: SumaError) -> None:
        state = TurnState.CANCELLED if isinstance(error, Cancelled) else TurnState.FAILED
        over = scene.turn.ending or Ending(state=state, reason=error.code, detail=f"{error}{_kept(scene)}")
        scene.set_turn(working=None, state=TurnState.ACTING, ending=over)
        finish.wind_down(self._office, scene)

    def _at(self, scene: Scene, held: Held, state: TurnState) -> bool:
        return scene.active(held.input["turn_id"]) and scene.turn.state is state and scene.turn.working == held.id

    async def _memories(self, held: Held, text: str, user: str) -> list[str] | None:
        """A turn goes on without memories when their service is away: None, so that people are told."""
        try:
            most = self._office.settings.recall_most
            return await recall(self._platform, held.tenant, Cause.held(held).session, text, user, most)
        except NotConfigured:
            return []
        except SumaError as error:
            log.warning("going on without memories", error=str(error))
            return None

    async def _facts(self, held: Held, root: str | None) -> dict[str, Any]:
        if root is None:
            return {}
        session, turn = Cause.held(held).session or "", held.input["turn_id"]
        return await workspace_facts(self._platform, held.tenant, session, root, turn)

    async def _show(self, stream: Stream, delta: Delta) -> None:
        try:
            await self._platform.deltas.append(stream, delta)
        except Unavailable:
            log.warning("nobody sees the deltas", turn=stream.turn)


@asynccontextmanager
async def _closing(answer: AsyncIterator[ModelText]) -> AsyncIterator[AsyncIterator[ModelText]]:
    """Whoever stops listening closes the model's call at once, not when the garbage is collected."""
    try:
        yield answer
    finally:
        if isinstance(answer, AsyncGenerator):
            await answer.aclose()


def _kept(scene: Scene) -> str:
    """What stands although the answer does not: by then all that was to be done has been done or dropped."""
    done = sum(doing.state is StepState.SUCCEEDED for doing in scene.talk.steps)
    if scene.turn.state is not TurnState.ANSWERING or not done:
        return ""
    return f" (only the answer is missing: {done} of {len(scene.talk.steps)} steps are done and stay so)"


def _abandon(office: Office, scene: Scene, over: Ending) -> None:
    """End the turn although what it waits for will never be told: of a running call nobody knows the effect."""
    unknown = scene.turn.state in finish.BUSY
    for doing in scene.talk.steps:
        if doing.state is StepState.RUNNING:
            scene.set_step(doing, state=StepState.UNKNOWN, error=over.detail)
    over = scene.turn.ending or over
    if unknown:
        # Committed or not: a stage that is left over is dropped when the next turn begins its own.
        scene.set_turn(state=TurnState.ACTING, working=None, diff=None)
    finish.stop(office, scene, over)


QUEUED_AT_ONCE, QUEUED_EACH = 128, 4
"""Of what waits, so many stand at the slots of this process, and so many of one tenant; the others are rows alone."""


class Queue:
    def __init__(self, office: Office, handlers: Handlers) -> None:
        self._slots, self._store, self._scene = office.slots, office.store, handlers.scene
        self._office = office

    async def wait(self, held: Held) -> None:
        """Until there is a slot, which is then this session's."""
        await self._slots.take(_key(held), self._store.at_work)

    async def begin(self, held: Held, _: None) -> Changeset:
        """The session's next turn, if it is still wanted."""
        scene = await self._scene(Cause.held(held))
        start.begin_next(self._office, scene)
        # Its commit gives the slot back where no turn is at work after all.
        return scene.close(self._store)

    async def begin_anyway(self, held: Held, _: SumaError) -> Changeset:
        """A slot could not be waited for; a message that was accepted becomes a turn all the same."""
        return await self.begin(held, None)


def _key(held: Held) -> tuple[str, str]:
    return held.tenant, Cause.held(held).session or ""
