"""One run: the stage stands, the load begins, the faults come and go, the load drains, and the checker judges."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from libs.database import SILENCE
from tests.chaos import checker
from tests.chaos.faults import Faults
from tests.chaos.load import Journal, Load
from tests.chaos.profiles import Profile
from tests.chaos.schedule import Fault, schedule
from tests.chaos.stage import Stage, opened

DRAIN_SECONDS = 300.0
TELL_EVERY_SECONDS = 20.0
LOOK_SECONDS = 0.5
CHECK_SECONDS = 300.0
CHECKER = Path(__file__).with_name("checker.py")

WAITING = """
select count(*) || ' leases of ' || grp from bus.leases where kind not in ('history', 'assets') group by grp
union all select count(*) || ' parked events of ' || grp from bus.parked where state = 'parked' group by grp
union all select p.grp || ' is behind by ' || sum(h.next - 1 - coalesce(o.position, 0))
from bus.partitions p join bus.heads h using (topic, part)
left join bus.offsets o on (o.grp, o.topic, o.part) = (p.grp, p.topic, p.part)
where h.next - 1 > coalesce(o.position, 0) group by p.grp
union all select grp || ' has yet to project ' || sum(h.next - 1 - o.position)
from bus.projections join bus.offsets o using (grp, topic) join bus.heads h using (topic, part)
where h.next - 1 > o.position group by grp
"""
"""What there is still to do."""


@dataclass(frozen=True)
class Plan:
    """What is to happen; with the same seed, the same."""

    profile: Profile
    seed: int
    seconds: float
    people: int = 5
    warm: float = 3.0
    """Seconds of load before the first fault."""
    late: float = 0.0
    """Seconds by which faults may be late in all, before the last ones are left out."""
    ahead: float = 0.0
    """Seconds of each freeze that the database's clock skips. Leases count in its time. Less than two thirds of a lease
    where other processes go on, so that they renew theirs in time."""

    def faults(self) -> Sequence[Fault]:
        return schedule(self.profile, seed=self.seed, seconds=self.seconds)


@dataclass
class Ended:
    """How a run went."""

    plan: Plan
    load: Load
    faults: Faults
    starts: Mapping[str, int] = field(default_factory=dict)
    drained: float | None = None
    """Seconds until nothing was left to do; None: the time was over before."""
    waiting: Sequence[str] = ()
    """What there is still to do, once everyone has finished."""
    looked_at: Mapping[str, Any] = field(default_factory=dict)
    problems: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not self.problems

    def figures(self) -> dict[str, Any]:
        """What there is to say of it in a few lines."""
        happened = self.faults.counts
        return {
            "accepted": self.load.counts.accepted,
            **self.looked_at,
            "requests repeated": self.load.counts.repeated,
            "streams resumed": self.load.counts.resumed,
            "processes killed": happened["killed"],
            "starts of processes": sum(self.starts.values()),
            "processes stopped beyond a lease": happened["freeze"],
            "servers away": happened["outage"] + happened["crash"] + happened["stall"] + happened["bereave"],
            "connections cut": happened["connections cut"],
            "rebalances": happened["rebalance"] + happened["redeliver"],
            "records delivered again": happened["redelivered"],
            "quiet after": f"{self.drained:.1f} s" if self.drained is not None else "never",
            "problems": sum(map(len, self.problems.values())),
        }

    def report(self) -> dict[str, Any]:
        return {
            "profile": self.plan.profile.name,
            "seed": self.plan.seed,
            "seconds": self.plan.seconds,
            "figures": self.figures(),
            "counts": asdict(self.load.counts),
            "faults": dict(self.faults.counts),
            "starts": self.starts,
            "problems": self.problems,
            "happened": self.faults.happened,
        }


async def run(plan: Plan, place: Path, *, tell: Callable[[str], None]) -> Ended:
    """All of it. What the checker read, and whoever looks for a cause wants to see, stays in `place`."""
    async with performed(plan, place, tell=tell) as ended:
        tell("the checker reads")
        said = await judged(place / "case.json")
    ended.looked_at, problems = said["looked at"], dict(said["problems"])
    if ended.drained is None:
        left = ", ".join(ended.waiting) or "people wait for their turns"
        problems["everything_comes_to_rest"] = [f"the load has not drained in {DRAIN_SECONDS:.0f} s: {left}"]
    if ended.faults.untrue:
        problems["readiness_tells_the_truth"] = ended.faults.untrue
    ended.problems = problems
    return ended


@asynccontextmanager
async def performed(plan: Plan, place: Path, *, tell: Callable[[str], None]) -> AsyncIterator[Ended]:
    """Everything but the judgement: the platform has stopped in order, and its servers stand, for who wants to look."""
    async with opened(plan.profile, place) as stage:
        tell(f"{len(stage.programs)} processes are ready")
        ended = await _performed(plan, stage, tell)
        async with stage.at_rest():
            case = {"database": stage.database, "journal": str(stage.journal), "kafka": stage.kafka}
            (place / "case.json").write_text(json.dumps(case))
            yield ended


async def judged(case: Path) -> dict[str, Any]:
    """The checker is a program of its own, which has never heard of us."""
    judging = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(CHECKER), str(case)), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(CHECK_SECONDS):
        out, errors = await judging.communicate()
    if not out:
        raise RuntimeError(f"the checker failed: {errors.decode()}")
    return dict(json.loads(out))


async def _performed(plan: Plan, stage: Stage, tell: Callable[[str], None]) -> Ended:
    journal = Journal(stage.journal)
    load = Load(stage.url, stage.key, stage.folders, journal)
    ended = Ended(plan, load, Faults(stage, journal, plan.ahead))
    people = asyncio.ensure_future(load.run(plan.people, plan.seed))
    telling = asyncio.ensure_future(_progress(ended, stage, tell))
    try:
        await asyncio.sleep(plan.warm)
        await ended.faults.carry_out(plan.faults(), until=plan.seconds + plan.late)
        tell("no more faults; the load drains")
        load.closing.set()
        ended.drained = await _drained(ended, stage, people)
        for name in await stage.unready():
            ended.faults.untrue.append(f"{name} does not say that it is ready, though everything runs")
    finally:
        telling.cancel()
        people.cancel()
        await asyncio.gather(telling, people, return_exceptions=True)
        journal.close()
    ended.starts = {name: program.starts for name, program in stage.programs.items()}
    return ended


async def _drained(ended: Ended, stage: Stage, people: asyncio.Future[None]) -> float | None:
    """Until everyone has finished and nothing is left to do, or the time is over."""
    began = time.monotonic()
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            await asyncio.shield(people)
            while waiting := await _waiting(stage):
                ended.waiting = waiting
                await asyncio.sleep(LOOK_SECONDS)
            ended.waiting = ()
            return time.monotonic() - began
    return None


async def _waiting(stage: Stage) -> Sequence[str]:
    """What there is still to do, in a few words each."""
    try:
        database = await asyncpg.connect(stage.database, timeout=5, command_timeout=20)
        try:
            found: Sequence[str] = [row[0] for row in await database.fetch(WAITING)]
        finally:
            await database.close()
        return found or await asyncio.to_thread(_behind, stage)
    except (*SILENCE, subprocess.SubprocessError) as error:
        return [f"nobody knows: {error}"]


def _behind(stage: Stage) -> Sequence[str]:
    """Which of Kafka's groups have not come to the end of what the relay has brought."""
    groups = checker.groups(stage.kafka) if stage.kafka is not None else ()
    return [f"{group['group']} is behind by {group['lag']} in {group['topic']}" for group in groups if group["lag"]]


async def _progress(ended: Ended, stage: Stage, tell: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(TELL_EVERY_SECONDS)
        counts, starts = ended.load.counts, sum(program.starts for program in stage.programs.values())
        tell(
            f"{counts.accepted} turns accepted, {counts.ended} ended; {len(ended.faults.happened)} faults, "
            f"{starts} starts, {counts.repeated} requests repeated" + "".join(f"; {left}" for left in ended.waiting)
        )
