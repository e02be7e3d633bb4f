"""Programs of skills on each sandbox: from the plan to the approved diff and back, and what keeps them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.events import StepChanged, ToolFailed, ToolSucceeded
from libs.events.topics import EXECUTOR
from libs.events.values import Plan
from libs.sandbox import Sandboxes
from libs.skills import Catalogue, Place, Source
from tests.conformance.sandbox.rigs import Rig
from tests.libs.skills.folders import skill
from tests.support.platform import REPOSITORY, TENANT, WHO, RunningPlatform, plan, run_platform, scripted_model

TOOLS = """
tools:
  - name: count
    description: Count the lines of a file into another.
    primitive: program
    method: scripts/count.py
    mutates: true
    effect: run
    params:
      type: object
      additionalProperties: false
      required: [path]
      properties: {path: {type: string, format: workspace-path}, target: {type: string, default: count.txt}}
    returns: {count: integer}
"""
COUNT = """\
import json, sys
context = json.load(sys.stdin)
assert (context['workspace'], context['skill'], context['session']) == ('/workspace', '/skill', 's'), context
count = len(open(context['args']['path']).read().splitlines())
open(context['args']['target'], 'w').write(str(count))
print('counted', file=sys.stderr)
json.dump({'count': count}, sys.stdout)
"""


def programs(*calls: tuple[str, dict[str, Any]]) -> Plan:
    """A plan of programs, which all may change files."""
    drafted = plan(*calls)
    return drafted.model_copy(update={"steps": [step.model_copy(update={"mutates": True}) for step in drafted.steps]})


CALL = programs(("lines.count", {"path": "a.txt"}))


def catalogue(folder: Path, program: str = COUNT) -> Catalogue:
    """The bundled skills, and the user's `lines` with this program."""
    skill(folder / "user", "lines", tools_dot_yaml=TOOLS, scripts__count_dot_py=program)
    return Catalogue((Place(folder / "user", Source.USER), Place(REPOSITORY / "skills", Source.BUNDLED)))


def running(where: Dsns, folder: Path, rig: Rig, *plans: Any, **ports: Any) -> Any:
    """A platform that plays these plans, with this sandbox."""
    sandboxes = (Sandboxes(rig.launcher()),)
    return run_platform(where, folder, model=scripted_model(*plans), sandboxes=sandboxes, **ports)


async def done(at: RunningPlatform) -> dict[str, Any]:
    """The result of the last program."""
    found = next(event for event in reversed(await at.logged("s")) if isinstance(event, ToolSucceeded | ToolFailed))
    assert isinstance(found, ToolSucceeded), found
    result: dict[str, Any] = found.data.json_
    return result


async def failed(at: RunningPlatform, root: Path) -> ToolFailed:
    """Say something, and return the failure of its only step."""
    turn = await at.say("count", session="s", root=root, hitl="bypass")
    await at.ended(turn, session="s")
    return next(event for event in reversed(await at.logged("s")) if isinstance(event, ToolFailed))


@pytest.mark.requirement("S2-22", "S2-23", "P4", "P5")
async def test_program_of_a_skill_is_approved_and_undone(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    async with running(where, tmp_path, rig, CALL, catalogue=catalogue(tmp_path)) as at:
        (at.root / "a.txt").write_text("one\ntwo\n")
        turn = await at.say("count the lines", session="s", root=at.root, hitl="bypass")
        asked = await at.asked(session="s")
        assert asked.diff is not None
        assert [(entry.change, entry.path) for entry in asked.diff.entries] == [("created", "count.txt")]
        assert not (at.root / "count.txt").exists()
        result = await done(at)
        assert (result["count"], result["exit_code"], result["changed"]) == (2, 0, ["count.txt"])
        (shown,) = [event for event in await at.logged("s") if isinstance(event, StepChanged) and event.data]
        assert isinstance(shown.data, dict)
        assert (shown.data["sandbox"], "counted" in str(shown.data["output"])) == (result["sandbox"], True)
        await at.decide(asked, session="s")
        assert (await at.ended(turn, session="s")).state == "completed"
        assert (at.root / "count.txt").read_text() == "2"
        await at.ended(await at.roll_back(session="s"), session="s")
        assert not (at.root / "count.txt").exists()


@pytest.mark.requirement("S2-22", "S4-59")
async def test_template_of_a_program_runs_without_a_model(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    places = Place(REPOSITORY / "skills" / "_template", Source.USER), Place(REPOSITORY / "skills", Source.BUNDLED)
    sandboxes = (Sandboxes(rig.launcher()),)
    async with run_platform(where, tmp_path, catalogue=Catalogue(places), sandboxes=sandboxes) as at:
        (at.root / "a.txt").write_text("one\ntwo\n")
        turn = await at.say("tally the lines", session="s", root=at.root)
        assert (await at.finish(turn, session="s")).state == "completed"
        result = await done(at)
        assert (result["lines"], result["count"]) == ({"a.txt": 2}, 2)


@pytest.mark.requirement("S2-22", "A3")
@pytest.mark.parametrize(
    ("program", "code", "why"),
    [
        ("print('hello')", "BAD_RESULT", "'count' is a required property"),
        ('print(\'{"count": "two"}\')', "BAD_RESULT", "'two' is not of type 'integer'"),
        ('print(\'{"count": 2, "more": 1}\')', "BAD_RESULT", "'more' was unexpected"),
        ("print('[' * 100_000)", "BAD_RESULT", "'count' is a required property"),
        ("print('{\"count\": ' + '[' * 900 + ']' * 900 + '}')", "BAD_RESULT", "more than 32 levels"),
        ("open('made.txt', 'w').write('x'); raise SystemExit('no such column')", "PROGRAM_FAILED", "no such column"),
        ("while True: print('x' * 100_000)", "PROGRAM_FAILED", "wrote more output than it may"),
        ("open('/skill/scripts/count.py', 'w')", "PROGRAM_FAILED", "Read-only file system"),
    ],
    ids=["text", "type", "more", "open", "deep", "exit", "flood", "write"],
)
async def test_program_that_misbehaves_fails_with_the_reason(
    where: Dsns, tmp_path: Path, rig: Rig, program: str, code: str, why: str
) -> None:
    async with running(where, tmp_path, rig, CALL, catalogue=catalogue(tmp_path, program)) as at:
        failure = await failed(at, at.folder("a.txt"))
        assert (failure.code, why in failure.error) == (code, True), failure.error


@pytest.mark.requirement("S2-22", "S4-17")
async def test_program_runs_the_bytes_that_its_digest_covers(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    fixed = Catalogue.fixed(catalogue(tmp_path).skills)
    (tmp_path / "user" / "lines" / "scripts" / "count.py").write_text("raise SystemExit('another program')")
    async with running(where, tmp_path, rig, CALL, catalogue=fixed) as at:
        await at.say("count", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.asked(session="s")
        assert (await done(at))["exit_code"] == 0


@pytest.mark.requirement("S2-22")
async def test_each_program_sees_the_files_of_its_own_skill(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    skill(tmp_path / "user", "other", scripts__list_dot_sh="#!/bin/sh\nfind /skill -type f | sort; echo $1 >&2")
    steps = programs(
        ("lines.count", {"path": "a.txt"}),
        ("skills.run", {"skill": "other", "program": "scripts/list.sh", "arguments": ["; rm -r x", "$(id)"]}),
        ("run-commands.run", {"command": "find /skill -type f"}),
    )
    async with running(where, tmp_path, rig, steps, catalogue=catalogue(tmp_path)) as at:
        await at.say("count", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.asked(session="s")
        _, other, command = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded)]
        assert sorted(other.data.json_["output"].split("\n")) == [
            "",
            "/skill/SKILL.md",
            "/skill/scripts/list.sh",
            "; rm -r x",
        ]
        assert command.data.json_["output"] == ""


@pytest.mark.requirement("S2-22", "S2-23", "S2-24", "A3")
async def test_program_of_a_folders_skill_runs_only_as_approved(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    run = programs(("skills.run", {"skill": "own", "program": "skill.py", "arguments": ["you"], "seconds": 5}))
    async with running(where, tmp_path, rig, run, run, run) as at:
        folder = skill(at.root / ".suma" / "skills", "own", skill_dot_py="import sys; print('hi', sys.argv[1])")
        assert (await failed(at, at.root)).code == "UNKNOWN_SKILL"
        about = {"root": str(at.root), "name": "own", "principal": WHO, "scopes": ("*",)}
        place = "/internal/v1/skills/own"
        found = await call(at.platform, EXECUTOR, "GET", place, tenant=TENANT, params={"root": str(at.root)})
        assert (found["kind"], found["programs"]) == ("code", {"skill.py": "import sys; print('hi', sys.argv[1])"})
        body = {**about, "digest": found["digest"]}
        await call(at.platform, EXECUTOR, "PUT", f"{place}/approval", tenant=TENANT, json=body)
        turn = await at.say("greet", session="s", root=at.root, hitl="bypass")
        await at.ended(turn, session="s")
        assert (await done(at))["output"] == "hi you\n"
        (folder / "skill.py").write_text("print('hi,  all')")
        assert (await failed(at, at.root)).code == "SKILL_CHANGED"


@pytest.mark.requirement("S2-22", "S2-20")
async def test_program_that_hangs_ends_at_its_limit(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    hang = programs(("skills.run", {"skill": "lines", "program": "scripts/count.py", "seconds": 1}))
    program = "print('begun', flush=True)\nwhile True: pass"
    async with running(where, tmp_path, rig, hang, catalogue=catalogue(tmp_path, program)) as at:
        turn = await at.say("count", session="s", root=at.folder("a.txt"), hitl="bypass")
        await at.ended(turn, session="s")
        result = await done(at)
        assert (result["limit"], result["output"]) == ("time", "begun\n")
