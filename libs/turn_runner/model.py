"""The runner as a model: each turn is planned by a container, which receives the results of the steps.

`plan` lets the turn's container go on until it asks for tools, which is the next plan, or until it has written its
answer. Everything else is the configured model's. A container that waits for its calls stays warm until the next round;
if it is gone, another one is started with the finished calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import orjson

from libs.budgets import Payer
from libs.budgets.paying import NoPayer, payer
from libs.errors import Rejected, SumaError, Unavailable
from libs.events.committee import AgentRole, Task
from libs.events.values import Plan, Usage
from libs.guards import allows
from libs.models.ports import Answered, ClarificationNeeded, Model, ModelText, PlanDraft, PlannerOutcome
from libs.sandbox import Choice, Ended, Limits, NoSandboxHere, Sandboxes
from libs.skills import ToolDefinition
from libs.telemetry import logger
from libs.turn_runner import messages
from libs.turn_runner.config import Config
from libs.turn_runner.container import MB, Container
from libs.turn_runner.messages import Calls
from libs.turn_runner.pool import FAILED, Pool

DEFAULT = AgentRole(id="suma", role="assistant")
THOUGHTS_MOST = 8
"""Questions to the model in one round: each costs something."""
SWEEP_SECONDS = 300.0

log = logger("turns")


class RunnerFailed(Unavailable):
    """The turn's container ended without an answer."""

    code = "RUNNER_FAILED"


class TurnDeadline(Rejected):
    """The turn's container reached its deadline without an answer."""

    code = "TURN_DEADLINE"


class TooManyThoughts(Rejected):
    """The container asked the model too often without a call."""

    code = "TOO_MANY_THOUGHTS"


@dataclass(eq=False)
class Round:
    """One call of `plan`."""

    turn: Payer
    task: Task
    tools: Mapping[str, ToolDefinition]
    catalogue: Sequence[ToolDefinition]
    spent: Usage
    thoughts: int = 0
    wish: str = ""

    @property
    def agent(self) -> AgentRole:
        return self.task.agent or DEFAULT


class TurnRunner:
    """A model whose plans come from containers. Open it as a context, which ends all of them."""

    def __init__(
        self,
        model: Model,
        backends: Sequence[Sandboxes],
        config: Config,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._model, self._config, self._now = model, config, now
        self._choice, self._pool = Choice(backends), Pool(config)
        self._limits = Limits(seconds=config.seconds, disk=64 * MB, entries=5000, output=MB)

    async def __aenter__(self) -> TurnRunner:
        self._sweeping = asyncio.create_task(self._sweep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sweeping.cancel()
        await self._pool.close()
        await self._choice.close()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def behind(self) -> object:
        """The configured model itself, for readiness."""
        return getattr(self._model, "behind", self._model)

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """Return the next calls of the turn's container, as a plan, or its answer.

        Raises:
            RunnerFailed: it ended without an answer.
            TurnDeadline: it took too long.
            NoSandboxHere: no sandbox works here.
            NoPayer: no payer names the turn.
        """
        turn = payer()
        if turn is None:
            raise NoPayer
        tools = {tool.name: tool for tool in catalogue if allows(task.tools, tool.name)}
        round = Round(turn, task, tools, catalogue, Usage(model=self.name))
        if (warm := self._pool.take(turn)) is not None:
            try:
                return await self._go_on(warm, round)
            except (RunnerFailed, TurnDeadline) as error:
                # It may have ended while it waited: its calls are done, so that another one goes on from there.
                log.info("replaced a turn's container", turn=turn.turn, reason=error.code)
        return await self._go_on(await self._started(round), round)

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return await self._model.review(task, plan, catalogue)

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        """Revise the plan by the configured model; the container still waits for the results."""
        drafted = await self._model.resolve(task, plan, reason, catalogue)
        return replace(drafted, plan=drafted.plan.model_copy(update={"complete": plan.complete}))

    def answer(self, task: Task) -> AsyncIterator[ModelText]:
        return self._model.answer(task)

    async def sweep(self) -> None:
        """Remove old records of ended containers."""
        await asyncio.to_thread(self._pool.sweep, self._now())

    async def _started(self, round: Round) -> Container:
        try:
            backend = await self._choice.backend()
        except NoSandboxHere as error:
            raise NoSandboxHere(f"turns run in containers, and {error}") from error
        given = await asyncio.to_thread(self._input, round)
        await self._pool.enter(round.turn.tenant)
        container = Container(round.turn, given, self._limits, seen=len(round.task.observations))
        try:
            await container.start(backend, self._config.program)
        except BaseException as error:
            await asyncio.shield(self._pool.end(container, f"{FAILED}: {error}"))
            if isinstance(error, Unavailable | OSError):
                raise RunnerFailed(f"the turn's container did not start ({error})") from error
            raise
        log.info("started a turn's container", turn=round.turn.turn, backend=backend.name)
        return container

    def _input(self, round: Round) -> dict[str, Any]:
        """Return `input.json` but for the socket and the token (S1-14)."""
        plays = self._config.script if self._config.mode == "mock" else None
        return {
            "project": round.turn.session,
            "agent": {**round.agent.model_dump(), "model": self.name},
            "turn": messages.turn_of(round.turn.turn, round.task),
            "workspace": "/workspace",
            "runner": {"mode": self._config.mode, "script": orjson.loads(plays.read_bytes()) if plays else []},
            "tools": messages.tool_list(round.tools),
            "calls": messages.results(round.task.observations),
        }

    async def _go_on(self, container: Container, round: Round) -> PlannerOutcome:
        """Let a container go on until it needs something of others, or has ended."""
        how, waits = f"{FAILED}: crashed", False
        try:
            container.observe(round.task.observations)
            outcome = await self._until_asked(container, round)
            how, waits = "completed", _waits(outcome)
        except asyncio.CancelledError:
            how = "cancelled"
            raise
        except SumaError as error:
            how = f"{FAILED}: {error.code}: {error}"
            raise
        finally:
            await asyncio.shield(self._pool.put(container) if waits else self._pool.end(container, how))
        return replace(outcome, usage=round.spent)

    async def _until_asked(self, container: Container, round: Round) -> PlannerOutcome:
        while True:
            try:
                asked = await container.request()
            except Unavailable as error:
                raise RunnerFailed(f"the turn's container failed ({error})") from error
            if isinstance(asked, Ended):
                return _answer(container, asked)
            if isinstance(asked, Calls):
                if asked.final:
                    container.reply({"calls": []})
                    await container.ended()
                return PlanDraft(messages.plan_of(asked, round.tools), wish=round.wish)
            outcome = await self._think(container, round)
            if isinstance(outcome, ClarificationNeeded):
                # It goes on waiting: the model thinks again once the person has replied.
                return outcome

    async def _think(self, container: Container, round: Round) -> PlannerOutcome | None:
        """Ask the configured model for the container, and pass on its reply."""
        round.thoughts += 1
        if round.thoughts > THOUGHTS_MOST:
            container.refuse(TooManyThoughts())
            return None
        outcome = await self._model.plan(round.task, round.catalogue)
        round.spent = round.spent.plus(outcome.usage)
        match outcome:
            case PlanDraft(plan=plan, wish=wish):
                round.wish = wish
                container.reply(messages.as_calls(plan))
            case Answered(text=text):
                container.said = outcome
                container.reply({"text": text})
        return outcome

    async def _sweep(self) -> None:
        while True:
            # A record that cannot be removed now is tried again.
            with suppress(OSError):
                await self.sweep()
            await asyncio.sleep(SWEEP_SECONDS)


def _waits(outcome: PlannerOutcome) -> bool:
    """Return whether the container waits for the results of its calls, or for a thought."""
    return isinstance(outcome, ClarificationNeeded) or (isinstance(outcome, PlanDraft) and not outcome.plan.complete)


def _answer(container: Container, ended: Ended) -> Answered:
    """Return the answer of a container that has ended. What it wrote counts, however it ended: the file is whole."""
    report = container.report()
    if report is None and ended.limit == "time":
        raise TurnDeadline
    if report is None:
        why = f"it met its limit of {ended.limit}" if ended.limit else f"its program ended with code {ended.code}"
        raise RunnerFailed(f"the turn's container gave no answer: {why}")
    if container.said is not None and container.said.text.strip() == report.text.strip():
        # The model's own answer, with what it says of itself: a wish to undo, or that it declines.
        return container.said
    return Answered(report.text)
