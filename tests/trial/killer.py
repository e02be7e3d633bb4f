"""One contender's run: turns are handed over, its executor is killed as the schedule says and started anew, until every
turn has ended or nothing moves any more."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.leases.ports import DEATHS_MOST
from tests.trial.contenders import DRIVER, HARNESS, Contender, Stage
from tests.trial.count import Found, State
from tests.trial.processes import START_SECONDS, Broken, Executor, Stem, ended, lines
from tests.trial.schedule import Doom, Turn, Window
from tests.trial.wire import BEGUN, DONE, RETURNED
from tests.trial.world import EFFECTS

AT_ONCE = 8
PATIENCE_SECONDS = 60.0
"""Without a sign of life for this long nothing is expected any more."""
MET_MOST = DEATHS_MOST - 1
"""No kill is aimed while it could meet an open turn once more than this: Suma sets aside work whose process died so
often, wherever in it the kill came."""
LOOK_SECONDS = 0.2
STOPPED_SECONDS = 17.0
"""Longer than a lease (15 s), so that others have taken over what the stopped process worked on."""
WOKEN_SECONDS = 2.0
"""What a woken process gets to do harm."""
SESSIONS = "select count(*) from pg_stat_activity where datname = any($1) and application_name <> all($2)"
MOMENT_OF = {Window.BEFORE: BEGUN, Window.DURING: BEGUN, Window.HELD: DONE, Window.RETURNED: RETURNED}
UNANSWERED = frozenset({Window.BEFORE, Window.HELD})
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Result:
    """What happened, to be counted."""

    ended: Mapping[str, State]
    words: Mapping[str, str]
    """How the contender itself put it, where it said more."""
    unknown: frozenset[str]
    hits: Mapping[str, int]
    """How often a kill met each turn between intent and outcome."""
    exposed: frozenset[str]
    """Those of them whose effect had happened when a kill met them."""
    found: Mapping[str, Found]
    kills: int
    aimed: Mapping[str, int]
    """Kills by the window that they were aimed at."""
    met: Mapping[str, int]
    """Those of them that met the turn that they were aimed at between intent and outcome."""
    stops: int
    stopped: frozenset[str]
    """Turns that were under way in a process that was stopped for longer than its leases."""
    versions: Mapping[str, str]
    seconds: float


async def run(
    contender: Contender,
    stage: Stage,
    turns: Sequence[Turn],
    folder: Path,
    tell: Tell,
    *,
    at_once: int = AT_ONCE,
    stops: int = 0,
    stopped: float = STOPPED_SECONDS,
    least: float = 0.0,
    patience: float = PATIENCE_SECONDS,
) -> Result:
    """Run the turns through a contender, so many of them at once; `folder` is empty.

    `least` is the share of each effect's turns that a kill must meet: where the drawn kills meet fewer, more are added.

    Raises:
        Broken: one of its processes failed by itself.
    """
    began, socket = asyncio.get_running_loop().time(), str(folder / "wire")
    tell("importing")
    async with Stem.planted(contender, folder) as stem:
        killer = Killer(
            stem,
            stage,
            socket,
            turns,
            at_once=at_once,
            stops=stops,
            stopped_seconds=stopped,
            least=least,
            patience=patience,
        )
        async with await asyncio.start_unix_server(killer.hear, socket):
            await killer.run(tell)
    return Result(
        ended=killer.ended,
        words=killer.words,
        unknown=frozenset(killer.unknown),
        hits=killer.hits,
        exposed=frozenset(killer.exposed),
        found=await _found(stage),
        kills=killer.kills,
        aimed=killer.aimed,
        met=killer.met,
        stops=killer.stops,
        stopped=frozenset(killer.stopped),
        versions=killer.versions,
        seconds=asyncio.get_running_loop().time() - began,
    )


async def _found(stage: Stage) -> dict[str, Found]:
    """What the world holds of each turn."""
    rows: Iterable[Any] = await stage.world.fetch(EFFECTS)
    return {row["turn"]: Found(row["made"], row["left"]) for row in rows}


class Killer:
    """Hands over the turns, hears the moments, and kills."""

    def __init__(
        self,
        stem: Stem,
        stage: Stage,
        socket: str,
        turns: Sequence[Turn],
        *,
        at_once: int,
        stops: int,
        stopped_seconds: float,
        least: float,
        patience: float,
    ) -> None:
        self._stem, self._stage, self._socket = stem, stage, socket
        self._at_once, self._patience = at_once, patience
        self._stopped_seconds, self._least = stopped_seconds, least
        self._turns = {turn.name: turn for turn in turns}
        self._to_come = list(reversed(turns))
        # Stops come at even distances, at the first moment after so many turns have ended.
        self._stops_at = [len(turns) * n // (stops + 1) for n in range(1, stops + 1)]
        self._open: dict[str, Turn] = {}
        self._frozen: dict[str, Executor] = {}
        """Open turns that a stopped process holds up."""
        self._asleep: set[Executor] = set()
        self._calls: Counter[str] = Counter()
        self._deaths: Counter[str] = Counter()
        """How often a process died while a turn was open."""
        self._executor: Executor | None = None
        self._expected: dict[str, Executor] = {}
        self._desk: asyncio.StreamWriter | None = None
        self._dead: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._started, self._moved = asyncio.Event(), asyncio.Event()
        self._failure: Broken | None = None
        self._over = False
        self.ended: dict[str, State] = {}
        self.words: dict[str, str] = {}
        self.unknown: set[str] = set()
        self.hits: Counter[str] = Counter()
        self.exposed: set[str] = set()
        self.kills, self.stops = 0, 0
        self.aimed: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        self.stopped: set[str] = set()
        self.versions: dict[str, str] = {}

    async def run(self, tell: Tell) -> None:
        """Until every turn has ended, or nothing has moved for long: what is open then is lost."""
        if self._stage.driver is not None:
            await self._stem.spawn(self._stage.driver(self._socket))
        self._background(self._start())
        while self._tasks or len(self.ended) < len(self._turns):
            tell(f"{len(self.ended)} of {len(self._turns)} turns, {self.kills} kills, {len(self.hits)} turns hit")
            self._moved.clear()
            try:
                async with asyncio.timeout(self._patience):
                    await self._moved.wait()
            except TimeoutError:
                if not self._tasks:
                    break
            if self._failure is not None:
                raise self._failure
        self._over = True

    # What the processes say

    async def hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One process's end of the channel, to its end."""
        executor: Executor | None = None
        async for line in lines(reader):
            heard = json.loads(line)
            if heard.get("role") == DRIVER:
                self._desk = writer
                self._hand()
            elif "role" in heard:
                executor = self._expected.pop(heard["role"])
                executor.writer, executor.pid = writer, heard["pid"]
            else:
                self._heard(executor, heard)
            self._moved.set()
        if not (self._over or (executor is not None and executor.dying)):
            self._fail("a process ended by itself")
        writer.close()

    def _heard(self, executor: Executor | None, heard: Mapping[str, Any]) -> None:
        match heard:
            case {"versions": versions}:
                self.versions |= versions
                self._started.set()
            case {"ended": name, "state": state}:
                self.words[name] = heard.get("words", "")
                self._end(name, state)
            case {"unknown": name}:
                self.unknown.add(name)
            case {"turn": name, "at": moment} if executor is not None:
                self._at(executor, name, moment, heard.get("asks"))

    def _end(self, name: str, state: State) -> None:
        self.ended.setdefault(name, state)
        self._open.pop(name, None)
        self._frozen.pop(name, None)
        self._hand()

    def _hand(self) -> None:
        """As many turns at once as there may be; those that a stopped process holds up do not count.

        While no kill may be aimed, no other turn begins: it would go through unmet. Only turns of one process may be
        lost, and nothing waits for those.
        """
        if self._stage.driver is not None and self._weary():
            return
        while self._counter and self._to_come and len(self._open.keys() - self._frozen.keys()) < self._at_once:
            turn = self._to_come.pop()
            self._open[turn.name] = turn
            self._give(turn)

    def _give(self, turn: Turn) -> None:
        if (to := self._counter) is not None:
            to.write(json.dumps({"turn": turn.name, "effect": turn.effect, "seconds": turn.seconds}).encode() + b"\n")

    @property
    def _counter(self) -> asyncio.StreamWriter | None:
        """Who takes turns now."""
        if self._stage.driver is not None:
            return self._desk
        return self._executor.writer if self._executor is not None and self._started.is_set() else None

    # Kills and stops

    def _at(self, executor: Executor, name: str, moment: str, asks: int | None) -> None:
        """A moment of a tool: it goes on, or its process is killed or stopped there."""
        self._calls[name] += moment == BEGUN
        if executor.stopped:
            executor.hold(asks)
        elif executor is not self._executor and not executor.dying:
            executor.go(asks)
        elif executor.dying:
            return
        elif asks is not None and self._stop_is_due():
            self._stops_at.pop(0)
            executor.hold(asks)
            self._background(self._stop(executor))
        else:
            self._doomed(executor, name, moment, asks)

    def _doomed(self, executor: Executor, name: str, moment: str, asks: int | None) -> None:
        doom = None if self._weary() else self._turns[name].doom(self._calls[name]) or self._added(name)
        if doom is None or MOMENT_OF[doom.window] != moment:
            executor.go(asks)
            return
        asyncio.get_running_loop().call_later(doom.after, self._kill, executor, name, doom)
        if doom.window not in UNANSWERED:
            executor.go(asks)

    def _added(self, name: str) -> Doom | None:
        """A kill that was not drawn, where too few turns of this effect were met for the figures to mean anything."""
        effect = self._turns[name].effect
        begun = [turn for turn in self._calls if self._turns[turn].effect == effect]
        met = sum(turn in self.hits for turn in begun)
        return Doom(Window.HELD, 0.0) if met < self._least * len(begun) else None

    def _stop_is_due(self) -> bool:
        """A stop is a death of the turns that it holds up, so it comes where none has died yet."""
        due = bool(self._stops_at) and len(self.ended) >= self._stops_at[0]
        return due and not any(self._deaths[name] for name in self._open)

    def _weary(self) -> bool:
        return any(self._deaths[name] >= MET_MOST for name in self._open)

    def _kill(self, executor: Executor, name: str, doom: Doom) -> None:
        if executor is self._executor and not (self._over or executor.dying or executor.stopped):
            executor.dying = True
            self._deaths.update(self._open.keys())
            os.kill(executor.pid, signal.SIGKILL)
            self._background(self._bury(executor, name, doom))

    async def _bury(self, executor: Executor, name: str, doom: Doom) -> None:
        """See whom the kill met, and start another executor."""
        self.kills += 1
        await self._gone(executor)
        met = await self._between() - self._frozen.keys()
        self.hits.update(met)
        self.exposed |= met & {name for name, found in (await _found(self._stage)).items() if found.left}
        self.aimed[doom.window] += 1
        self.met[doom.window] += name in met
        await self._start()

    async def _start(self) -> None:
        """Another executor, in the place of those that are known to be dead; the turns go on."""
        self._started.clear()
        name = f"executor-{self.kills}-{self.stops}"
        self._executor = self._expected[name] = Executor(name)
        dead, self._dead = self._dead, []
        pid = await self._stem.spawn(self._stage.executor(self._socket, name, dead))
        async with asyncio.timeout(START_SECONDS):
            while not await self._begins():
                if ended(pid):
                    raise Broken("a process ended before it began")
        if self._stage.driver is None:
            # Its client sends again what has not ended.
            for turn in self._open.values():
                self._give(turn)
        self._hand()

    async def _begins(self) -> bool:
        """Has the new executor begun, after a moment's wait?"""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._started.wait()
        return self._started.is_set()

    async def _gone(self, executor: Executor) -> None:
        """Until the process is reaped and its database sessions have ended; then it is known to be dead."""
        await self._stem.reap(executor.pid)
        # One that was started in its place has sessions too, which stay.
        others = {*self._asleep, *filter(None, [self._executor])} - {executor}
        spared = [HARNESS, DRIVER, *(other.name for other in others)]
        while await self._stage.eye.fetchval(SESSIONS, await self._stage.databases(), spared):
            await asyncio.sleep(0.001)
        self._dead.append(executor.name)

    async def _between(self) -> set[str]:
        """The turns between intent and outcome."""
        return {row[0] for row in await self._stage.eye.fetch(self._stage.open)} & self._open.keys()

    async def _stop(self, executor: Executor) -> None:
        """Hold it where it stands until others have long taken over, then wake it, see what it does, and end it."""
        os.kill(executor.pid, signal.SIGSTOP)
        executor.stopped = True
        # Whoever takes its leases over takes it for dead.
        self._deaths.update(self._open.keys())
        self._asleep.add(executor)
        self.stops += 1
        frozen = await self._between()
        self._frozen |= dict.fromkeys(frozen, executor)
        self.stopped |= frozen
        await self._start()
        await asyncio.sleep(self._stopped_seconds)
        executor.wake()
        await asyncio.sleep(WOKEN_SECONDS)
        # It has taken work again, which dies with it.
        while self._weary():
            await asyncio.sleep(LOOK_SECONDS)
        self._deaths.update(self._open.keys())
        executor.dying = True
        os.kill(executor.pid, signal.SIGKILL)
        await self._gone(executor)
        self._asleep.discard(executor)

    # Tasks

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._moved.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(str(error) or repr(error))

    def _fail(self, why: str) -> None:
        self._failure = self._failure or Broken(f"{why}\n{self._stem.complaint()}")
        self._moved.set()
