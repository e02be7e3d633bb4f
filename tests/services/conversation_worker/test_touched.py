"""What policy is told of a turn: the kinds of content that its earlier steps, and the session's history, have read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import NOTHING, ApprovalRequested, PlanProposed, StepChanged, Touched
from libs.events.committee import Task
from libs.events.tools import ToolRequested
from libs.events.values import Plan, Step
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition
from tests import infrastructure
from tests.support import effect_tools, platform
from tests.support.effect_tools import Count, Near, Send, World
from tests.support.examples import examples
from tests.support.platform import SERVICES, RunningPlatform
from tests.support.scripted import Scripted

NAMES = Touched(private=True, untrusted=False, secret=False)
CONTENTS = Touched(private=True, untrusted=True, secret=False)
READS = {"names": NAMES, "contents": CONTENTS, "hits": CONTENTS, "secret": Touched(), "outside": CONTENTS}
SENDS = {"ask": Count.name, "send": Send.name}
"""Calls that leave the machine: one that changes nothing, which no mode asks about by itself, and one that does."""
NUMBERS = count()


class Paid(Near):
    """A tool that is charged for."""

    name, costs_money = "outside.paid", True


def call(kind: str, number: int) -> tuple[str, dict[str, Any]]:
    """Return the call of a tool; no two have the same arguments."""
    match kind:
        case "names":
            return "manage-files.list", {"path": ".", "larger_than": number}
        case "hits":
            return "manage-files.list", {"path": ".", "containing": f"word {number}"}
        case "contents":
            return "parse-content.parse", {"path": f"notes{number % 2}.csv"}
        case "secret":
            return "parse-content.parse", {"path": f".ssh/known{number % 2}.csv"}
        case _:
            return {"outside": Near.name, "paid": Paid.name, **SENDS}[kind], {"text": str(number)}


class Obedient(Scripted):
    """Plans the calls that the message names, one after the other."""

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        steps = [
            Step(
                step_id=f"s{n}",
                ordinal=n,
                description=tool,
                tool=tool,
                args=args,
                depends_on=(n - 1,) if n > 1 else (),
                mutates=tool == Send.name,
            )
            for n, (tool, args) in enumerate(orjson.loads(task.text), 1)
        ]
        return PlanDraft(Plan(plan_id="p", steps=tuple(steps)))

    @override
    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true}')

    @override
    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        yield ModelText("done")


async def no_passages(tenant: str, **about: Any) -> list[Any]:
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningPlatform]:
    async with (
        infrastructure.world(server) as dsn,
        infrastructure.fresh_database(server, await platform.template(server)) as where,
    ):
        await (there := World(dsn)).prepare()
        folder, tools = tmp_path_factory.mktemp("touched"), [*effect_tools.tools(there), Paid(there)]
        async with platform.run_platform(where, folder, model=Obedient(), tools=tools) as made:
            made.folder("notes0.csv", "notes1.csv", ".ssh/known0.csv", ".ssh/known1.csv")
            near = cast("dict[str, Any]", made.platform.near)
            # A passage that is found in time is a read of its own, before the first call.
            near["tool_executor"] = {**near["tool_executor"], "passages": no_passages}
            yield made


async def play(at: RunningPlatform, session: str, kinds: Sequence[str], **fields: Any) -> None:
    """Let a turn make these calls, each approved where a person is asked."""
    calls = [call(kind, next(NUMBERS)) for kind in kinds]
    turn = await at.say(orjson.dumps(calls).decode(), session=session, **fields)
    assert (await at.finish(turn, session=session)).state == "completed"


async def requests(at: RunningPlatform, session: str) -> list[ToolRequested]:
    return [event for event in await at.logged(session) if isinstance(event, ToolRequested)]


def told(at: RunningPlatform, request: ToolRequested) -> list[Any]:
    """Return what policy was told before a call, by the worker and by the executor."""
    mine = (request.turn_id, request.tool)
    return [
        facts for action, facts in at.judge.told if action == "tool.execute" and (facts["turn"], facts["tool"]) == mine
    ]


def after(kinds: Sequence[str], *, rooted: bool) -> list[Touched]:
    """Return what was touched before each of these steps."""
    before = [NAMES if rooted else NOTHING]
    for kind in kinds:
        before.append(before[-1].plus(READS.get(kind, CONTENTS)))
    return before[:-1]


@pytest.mark.slow
@pytest.mark.requirement("S3-52", "P4")
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    turns=st.lists(st.lists(st.sampled_from([*READS, *SENDS]), min_size=1, max_size=4), min_size=1, max_size=3),
    rooted=st.booleans(),
    hitl=st.sampled_from(["key", "bypass"]),
)
async def test_policy_knows_exactly_the_reads_of_earlier_steps(
    running: RunningPlatform, turns: list[list[str]], rooted: bool, hitl: str
) -> None:
    session = f"s{next(NUMBERS)}"
    if not rooted:
        turns = [[kind if kind in ("outside", *SENDS) else "outside" for kind in kinds] for kinds in turns]
    for kinds in turns:
        await play(running, session, kinds, hitl=hitl, root=running.root / "work" if rooted else None)
    kinds = [kind for each in turns for kind in each]
    calls = await requests(running, session)
    asked = {
        event.approval_id: event for event in await running.logged(session) if isinstance(event, ApprovalRequested)
    }
    assert [call.touched for call in calls] == after(kinds, rooted=rooted)
    for kind, made in zip(kinds, calls, strict=True):
        assert made.touched.model_dump() in [facts["touched"] for facts in told(running, made)]
        if kind in SENDS and made.touched.untrusted:
            assert made.approval_id is not None
            assert asked[made.approval_id].args == made.args
        elif kind == "ask":
            assert made.approval_id is None


@pytest.mark.parametrize("hitl", ["key", "bypass"])
async def test_question_to_outside_passes_until_strangers_speak(running: RunningPlatform, hitl: str) -> None:
    await play(running, f"until-{hitl}", ["ask", "ask"], hitl=hitl)
    assert [each.approval_id is None for each in await requests(running, f"until-{hitl}")] == [True, False]


async def test_first_content_of_each_kind_has_its_source(running: RunningPlatform) -> None:
    await play(running, "marks", ["contents", "contents", "secret"], root=running.root / "work")
    events = await running.logged("marks")
    before = [mark.kind for event in events if isinstance(event, PlanProposed) for mark in event.marks]
    steps = {event.ordinal: event.marks for event in events if isinstance(event, StepChanged)}
    (untrusted,), second, (secret,) = (steps[n] for n in (1, 2, 3))
    assert (before, second) == (["private"], ())
    assert (untrusted.kind, untrusted.source[:5]) == ("untrusted", "notes")
    assert (secret.kind, secret.source[:10]) == ("secret", ".ssh/known")


async def test_question_names_the_content_behind_it(running: RunningPlatform) -> None:
    await play(running, "because", ["contents", "ask"], hitl="bypass", root=running.root / "work")
    (asked,) = [event for event in await running.logged("because") if isinstance(event, ApprovalRequested)]
    assert [(mark.kind, mark.source[:5]) for mark in asked.because] == [("untrusted", "notes")]


async def test_history_keeps_the_marks_of_its_turns(running: RunningPlatform) -> None:
    await play(running, "history", ["outside"])
    await play(running, "history", ["ask"])
    assert [each.approval_id is None for each in await requests(running, "history")] == [True, False]


async def test_failed_read_touches_as_much(running: RunningPlatform) -> None:
    gone = orjson.dumps([("parse-content.parse", {"path": "gone.csv"})]).decode()
    turn = await running.say(gone, session="failed", root=running.root / "work")
    await running.finish(turn, session="failed")
    await play(running, "failed", ["ask"])
    assert (await requests(running, "failed"))[-1].touched == CONTENTS


@pytest.mark.parametrize(("kind", "costs"), [("outside", False), ("paid", True)])
async def test_plan_with_a_charged_tool_costs_money(running: RunningPlatform, kind: str, costs: bool) -> None:
    await play(running, f"costs-{kind}", [kind])
    (asked,) = [
        facts
        for action, facts in running.judge.told
        if action == "committee.exempt" and facts["session"] == f"costs-{kind}"
    ]
    assert asked["costs_money"] is costs


def test_older_event_counts_as_having_read_everything() -> None:
    old = {"call_id": "c", "turn_id": "t", "plan_id": "p", "step_id": "s", "ordinal": 1, "tool": "x", "epoch": 0}
    request = ToolRequested.model_validate({**old, "deadline": 1, "principal": "ada", "grant": ""})
    assert request.touched == Touched(private=True, untrusted=True, secret=True)


async def test_memories_of_a_session_are_private(home: Dsns, tmp_path: Path, world: str) -> None:
    await (there := World(world)).prepare()
    async with platform.run_platform(
        home, tmp_path, model=Obedient(), names=(*SERVICES, "memory_service"), tools=effect_tools.tools(there)
    ) as at:
        # No plan of it can be read, but it is remembered.
        await at.finish(await at.say("the text of outside.count", session="memory"), session="memory")
        await at.quiet()
        await play(at, "memory", ["ask"])
        assert (await requests(at, "memory"))[-1].touched == NAMES
