"""The runner as a model: each turn is planned by a container, which receives the results of the steps.

`plan` lets the turn's container go on until it asks for tools, which is the next plan, or until it has written its
answer. Everything else is the configured model's. A container that waits for its calls stays warm until the next round;
if it is gone, another one is started with the finished calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import orjson

from libs import ids
from libs.budgets import Payer, payer
from libs.errors import Rejected, SumaError, Unavailable
from libs.events.committee import AgentRole, Task
from libs.events.values import Json, Plan, Usage
from libs.guards import allows
from libs.models.ports import FREE, Answered, ClarificationNeeded, Model, ModelText, PlanDraft, PlannerOutcome
from libs.sandbox import Choice, Ended, Limits, NoSandbox, Sandboxes
from libs.skills import ToolDefinition
from libs.telemetry import logger
from libs.turn_runner import kept, messages
from libs.turn_runner.container import MB, Container, ticket
from libs.turn_runner.messages import Calls

Mode = Literal["model", "mock"]
Keep = Literal["none", "failed", "all"]
DEFAULT = AgentRole(id="suma", role="assistant")
WAITS = "waits"
THOUGHTS_MOST = 8
"""Questions to the model in one round: each costs something."""

log = logger("turns")
Tools = Mapping[str, ToolDefinition]


class RunnerFailed(Unavailable):
    """The turn's container ended without an answer."""

    code = "RUNNER_FAILED"


class TurnDeadline(Rejected):
    """The turn's container reached its deadline without an answer."""

    code = "TURN_DEADLINE"


class NoSandboxHere(Rejected):
    """Turns run in containers, and no sandbox works on this machine."""

    code = "NO_SANDBOX"


class TooManyThoughts(Rejected):
    """The container asked the model too often without a call."""

    code = "TOO_MANY_THOUGHTS"


@dataclass(frozen=True)
class Config:
    """How turns are run."""

    program: Path
    mode: Mode = "model"
    script: Path | None = None
    """The script of the mode `mock`: JSON, a list of rounds (docs/turn-runner.md)."""
    seconds: float = 600.0
    """The deadline of a container."""
    idle_seconds: float = 60.0
    """How long a container waits for its calls; after that, another one goes on with their results."""
    at_once: int = 8
    keep: Keep = "failed"
    keep_seconds: float = 86_400.0
    home: Path | None = None
    """Where folders of ended turns are kept."""


@dataclass(eq=False)
class Round:
    """One call of `plan`."""

    turn: Payer
    task: Task
    tools: Tools
    catalogue: Sequence[ToolDefinition]
    spent: Usage = FREE
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
        self._model, self._config, self._now, self._choice = model, config, now, Choice(backends)
        self._limits = Limits(seconds=config.seconds, disk=64 * MB, entries=5000, output=MB)
        self._warm: dict[Payer, tuple[Container, asyncio.TimerHandle]] = {}
        self._open = 0
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> TurnRunner:
        self._spawn(self._sweep())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        for turn in list(self._warm):
            if (container := self._taken(turn)) is not None:
                await self._end(container, "stopped")
        await self._choice.close()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def behind(self) -> object:
        """The configured model itself, for readiness."""
        return getattr(self._model, "behind", self._model)

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        """Return what the turn's container asks for next, as a plan, or its answer.

        Raises:
            RunnerFailed: it ended without an answer. TurnDeadline: it took too long.
            NoSandboxHere: no sandbox works here, or no payer names the turn.
        """
        turn = payer()
        if turn is None:
            raise NoSandboxHere("no turn is named, for which a container could be started")
        tools = {tool.name: tool for tool in catalogue if allows(task.tools, tool.name)}
        round = Round(turn, task, tools, catalogue)
        if (warm := self._taken(turn)) is not None:
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
        """Remove what was kept for long enough."""
        if self._config.home is not None:
            await asyncio.to_thread(kept.sweep, self._config.home, self._now() - self._config.keep_seconds)

    # One round

    async def _go_on(self, container: Container, round: Round) -> PlannerOutcome:
        how = "failed: crashed"
        try:
            container.observe(round.task.observations)
            outcome = await self._until_asked(container, round)
            how = _how(outcome)
        except asyncio.CancelledError:
            how = "cancelled"
            raise
        except SumaError as error:
            how = f"failed: {error.code}: {error}"
            raise
        finally:
            if how == WAITS:
                await self._set_aside(round.turn, container)
            else:
                await asyncio.shield(self._end(container, how))
        return replace(outcome, usage=round.spent)

    async def _until_asked(self, container: Container, round: Round) -> PlannerOutcome:
        while True:
            try:
                asked = await container.request()
            except Unavailable as error:
                raise RunnerFailed(f"the turn's container failed ({error})") from error
            if isinstance(asked, Ended):
                return _answer(container, asked)
            if not isinstance(asked.what, Calls):
                outcome = await self._think(container, round)
                if isinstance(outcome, ClarificationNeeded):
                    # It goes on waiting: its next answer is that of the person.
                    return outcome
                continue
            if asked.what.final:
                container.reply({"calls": []})
                await container.ended()
            return PlanDraft(messages.plan_of(asked.what, round.tools), wish=round.wish)

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

    # Containers

    async def _started(self, round: Round) -> Container:
        try:
            backend = await self._choice.backend()
        except NoSandbox as error:
            raise NoSandboxHere(f"turns run in containers, and {error}") from error
        allowed = ticket(round.turn.turn, round.agent.id, frozenset(round.tools), self._config.seconds)
        container = Container(allowed, await asyncio.to_thread(self._input, round), self._limits)
        container.seen = len(round.task.observations)
        await self._room()
        try:
            await container.start(backend, self._config.program)
        except BaseException as error:
            await asyncio.shield(self._end(container, f"failed: {error}"))
            if isinstance(error, Unavailable | OSError):
                raise RunnerFailed(f"the turn's container did not start ({error})") from error
            raise
        log.info("started a turn's container", turn=round.turn.turn, binding=allowed.binding, backend=backend.name)
        return container

    async def _room(self) -> None:
        """Wait for room for one more; a container that only waits gives up its own."""
        async with self._changed:
            while self._open >= self._config.at_once:
                oldest = next(iter(self._warm), None)
                if oldest is None:
                    await self._changed.wait()
                elif (container := self._taken(oldest)) is not None:
                    self._spawn(self._end(container, "evicted"))
                    await self._changed.wait()
            self._open += 1

    def _input(self, round: Round) -> dict[str, Json]:
        """Return `input.json` but for the socket and the token (S1-14)."""
        config, script, agent = self._config, [], round.agent
        if config.mode == "mock" and config.script is not None:
            script = orjson.loads(config.script.read_bytes())
        return {
            "project": round.turn.session,
            "agent": {**agent.model_dump(), "model": self.name},
            "turn": messages.turn_of(round.turn.turn, round.task),
            "workspace": "/workspace",
            "runner": {"mode": config.mode, "script": script},
            "tools": messages.tool_list(round.tools),
            "calls": messages.results(round.task.observations),
        }

    async def _set_aside(self, turn: Payer, container: Container) -> None:
        """Let a container wait for the results of its calls, for a while."""
        timer = asyncio.get_running_loop().call_later(self._config.idle_seconds, self._expire, turn, container)
        if (other := self._taken(turn)) is not None:
            await self._end(other, "replaced")
        self._warm[turn] = container, timer
        async with self._changed:
            self._changed.notify_all()

    def _taken(self, turn: Payer) -> Container | None:
        container, timer = self._warm.pop(turn, (None, None))
        if timer is not None:
            timer.cancel()
        return container

    def _expire(self, turn: Payer, container: Container) -> None:
        if self._warm.get(turn, (None,))[0] is container:
            self._taken(turn)
            self._spawn(self._end(container, "idle"))

    async def _end(self, container: Container, how: str) -> None:
        kept_of, failed = self._config.keep, how.startswith("failed")
        try:
            if self._config.home is not None and (kept_of == "all" or (failed and kept_of == "failed")):
                folder = self._config.home / f"{container.ticket.turn}-{ids.new()}"
                with suppress(OSError):
                    await asyncio.to_thread(container.keep, folder, how)
        finally:
            await container.close()
            async with self._changed:
                self._open -= 1
                self._changed.notify_all()

    async def _sweep(self) -> None:
        while True:
            await self.sweep()
            await asyncio.sleep(kept.SWEEP_SECONDS)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _how(outcome: PlannerOutcome) -> str:
    """Return how a round left its container."""
    match outcome:
        case PlanDraft(plan=plan):
            return "completed" if plan.complete else WAITS
        case ClarificationNeeded():
            return WAITS
        case Answered():
            return "completed"


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
