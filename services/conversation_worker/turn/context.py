"""The context of a turn's code: ports, settings, the store, and policy with its records."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from libs.events import ActionRecorded, AgentRole, Args, EffectClass, KnownFact, Passage, Task
from libs.hooks import Action, Point
from libs.policy import Decision, scopes
from libs.runtime import Platform
from libs.skills import ToolDefinition
from services.conversation_worker.admission import Slots
from services.conversation_worker.domain import memory_window, messages
from services.conversation_worker.settings import Settings
from services.conversation_worker.store import Store
from services.conversation_worker.turn.state import Conversation, QueuedMessage
from services.conversation_worker.turn.unit_of_work import UnitOfWork

TURN, CONTEXT, ANSWER, CLARIFICATION, EXPIRY, LOST = "turn", "context", "answer", "clarification", "expiry", "lost"
"""The kinds of lease of this service."""


class Late:
    """Work that was begun while an event was handled and is awaited by a lease of this process, by the lease's id."""

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._begun: dict[str, asyncio.Future[Any]] = {}

    def put(self, lease: str, work: asyncio.Future[Any]) -> None:
        """Keep the work for its lease; the oldest is dropped if no lease takes it."""
        self._begun[lease] = work
        # Whoever takes it sees its error; without a taker nobody needs it.
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        if len(self._begun) > self._most:
            self._begun.pop(next(iter(self._begun))).cancel()

    def take(self, lease: str) -> asyncio.Future[Any] | None:
        return self._begun.pop(lease, None)


@dataclass(frozen=True)
class TurnContext:
    platform: Platform
    settings: Settings
    store: Store
    slots: Slots
    late: Late = field(default_factory=Late)

    def tools_of(self, message: QueuedMessage) -> tuple[str, ...]:
        """Return the tool allowlist of the message's agent; nothing for one that the settings no longer name."""
        if message.agent is None:
            return self.settings.tools
        agent = self.platform.agents.get(message.agent)
        return agent.tools if agent is not None else ()

    def role_of(self, message: QueuedMessage) -> AgentRole | None:
        """Return the role of the message's agent; None for the default one."""
        agent = self.platform.agents.get(message.agent or "")
        return AgentRole(id=message.agent or "", role=agent.role, prompt=agent.prompt) if agent is not None else None

    def tool(self, name: str) -> ToolDefinition:
        """Return a tool's definition. Raises `UnknownTool`."""
        return self.platform.skills.tool(name)

    def task(
        self,
        conversation: Conversation,
        *,
        memories: tuple[str, ...] = (),
        passages: tuple[Passage, ...] = (),
        known: tuple[KnownFact, ...] = (),
        facts: dict[str, Any] | None = None,
    ) -> Task:
        """Return all that a model may know of the turn under way, with its agent's tools and role."""
        assert conversation.turn is not None
        message = conversation.turn.message
        tools, agent = self.tools_of(message), self.role_of(message)
        return memory_window.task_of(
            conversation,
            self.settings,
            tools=tools,
            agent=agent,
            memories=memories,
            passages=passages,
            known=known,
            facts=facts,
        )

    async def decide(self, action: str, uow: UnitOfWork, message: QueuedMessage, **facts: Any) -> Decision:
        """Ask policy on behalf of the message's author.

        Raises:
            Unavailable: no answer; never a yes.
        """
        return await scopes.decide(
            self.platform.policy,
            action,
            {
                "tenant": uow.cause.tenant,
                "principal": {"id": message.principal, "scopes": list(message.scopes)},
                "session": uow.session.session_id,
                "turn": message.turn_id,
                **facts,
            },
        )

    async def gate(self, point: Point, uow: UnitOfWork, message: QueuedMessage, **about: Any) -> str | None:
        """Ask the gates of a point, record what they say, and return the reason of a refusal.

        Raises:
            Unavailable: a gate asks for another try.
        """
        turn, session = message.turn_id, uow.session.session_id
        action = Action(point, uow.cause.tenant, session, turn, message.principal, **about)
        verdicts = await self.platform.gates.ask(action)
        uow.emit(*(verdict.record for verdict in verdicts))
        return verdicts[-1].refusal if verdicts else None

    def now(self) -> datetime:
        return self.platform.clock.now()


def verdict_of(decision: Decision) -> str:
    """Return allow, deny, or ask if a person must still approve."""
    return ("ask" if decision.obligations else "allow") if decision.allowed else "deny"


def recorded(decision: Decision, message: QueuedMessage, **about: Any) -> ActionRecorded:
    """Return a decision's audit record: allow, deny, or ask if a person must still approve."""
    return ActionRecorded(
        action=decision.action,
        phase="decision",
        verdict=verdict_of(decision),
        principal=message.principal,
        rule=decision.rule,
        revision=decision.revision,
        **about,
    )


def undo_of(tool: ToolDefinition, args: Args) -> str:
    """Return the text that says how this can be undone, shown before it is approved (P5)."""
    staged = tool.deletes(args) or tool.effect_class is EffectClass.STAGED
    in_workspace, destination = tool.in_workspace, tool.destination_of(args)
    return messages.undo(tool.effect_class, in_workspace=in_workspace, staged=staged, destination=destination)
