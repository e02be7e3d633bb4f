"""Turns in containers, on each sandbox: from the request to the approved diff and back (decision 0114)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from deploy.local.runner_image import RUNNER
from libs.budgets import Payer, paid_by
from libs.database import Dsns
from libs.errors import Unavailable
from libs.events import AgentRole, MessageCompleted, Observation, Plan, StepState, Task, ToolRequested, Usage
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, Model, PlanDraft, PlannerOutcome
from libs.sandbox import Limits, Mount, NoSandbox, Sandboxes
from libs.sandbox.sessions import Channel, Launcher
from libs.skills import ToolDefinition
from libs.turn_runner import Config, RunnerFailed, TurnDeadline, TurnRunner
from tests.conformance.sandbox.rigs import Rig
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model, skills
from tests.support.scripted import Scripted

READ = ("edit-files.read", {"path": "area.py"})
EDIT = ("edit-files.edit", {"path": "area.py", "old": "width + height", "new": "width * height"})
RUN = ("run-commands.run", {"command": "python3 -B area.py"})
BROKEN = "width, height = 3, 4\nprint(width + height)\n"
AGENT = (RUNNER / "agent.py").read_text().partition("if __name__")[0]
"""The bundled program without its start, for programs that use its parts."""


def as_call(call: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool": call[0], "args": call[1]}


@asynccontextmanager
async def running(
    where: Dsns,
    folder: Path,
    rig: Rig,
    model: Model,
    *,
    launcher: Launcher | None = None,
    around: Callable[[Model], Model] = lambda runner: runner,
    **fields: Any,
) -> AsyncIterator[RunningPlatform]:
    """Yield a platform whose turns run in containers of this backend."""
    async with runner_of(rig, folder, model, launcher=launcher, **fields) as runner:
        sandboxes = (Sandboxes(rig.launcher()),)
        async with run_platform(where, folder, model=around(runner), sandboxes=sandboxes) as at:
            (at.root / "area.py").write_text(BROKEN)
            yield at


@asynccontextmanager
async def runner_of(
    rig: Rig, folder: Path, model: Model | None = None, *, launcher: Launcher | None = None, **fields: Any
) -> AsyncIterator[TurnRunner]:
    config = Config(**{"program": RUNNER / "agent.py", "home": folder / "turns", **fields})
    async with TurnRunner(model or scripted_model(), (Sandboxes(launcher or rig.launcher()),), config) as runner:
        yield runner


def script(folder: Path, *rounds: Any) -> dict[str, Any]:
    """Return the settings of the mode `mock` that plays these rounds."""
    file = folder / "script.json"
    file.write_text(json.dumps(rounds))
    return {"mode": "mock", "script": file}


def program(folder: Path, text: str) -> dict[str, Any]:
    """Return the settings of a program of one's own. It has `given`, the input, and `host`."""
    file = folder / "own.py"
    begun = "given = json.load(open('{TURN}/input.json'.format(TURN=TURN)))\nhost = Host(given)\n"
    ends = "def end(text):\n    open(OUTPUT, 'w').write(json.dumps({'text': str(text)}))\n"
    file.write_text(f"{AGENT}\n{begun}{ends}{text}\n")
    return {"program": file}


async def planned(
    runner: TurnRunner, *done: tuple[str, str], text: str = "do it", turn: str = "t", tenant: str = "local"
) -> PlannerOutcome:
    """Ask for the next plan of a turn, of which these calls (tool, result) have ended."""
    seen = tuple(
        Observation(ordinal=1, tool=tool, description="it", state=StepState.SUCCEEDED, data=result)
        for tool, result in done
    )
    agent = AgentRole(id="editor", role="edits", prompt="Be short.")
    task = Task(text=text, intent="other", tools=("edit-files.*",), agent=agent, observations=seen)
    with paid_by(Payer(tenant, "s", turn)):
        return await runner.plan(task, skills().tools)


def calls(outcome: PlannerOutcome) -> list[tuple[str, dict[str, Any]]]:
    assert isinstance(outcome, PlanDraft)
    return [(step.tool, step.args) for step in outcome.plan.steps]


def said(outcome: PlannerOutcome) -> Any:
    assert isinstance(outcome, Answered)
    return outcome.text


async def repaired(at: RunningPlatform, session: str = "s") -> list[str]:
    """Have the area mended and the change approved and rolled back; return the tools that were called."""
    turn = await at.say("mend the area", session=session, root=at.root, hitl="bypass")
    asked = await at.asked(session=session)
    assert asked.diff is not None
    assert [(entry.change, entry.path) for entry in asked.diff.entries] == [("changed", "area.py")]
    assert (at.root / "area.py").read_text() == BROKEN
    await at.decide(asked, session=session)
    assert (await at.ended(turn, session=session)).state == "completed"
    assert (at.root / "area.py").read_text() == BROKEN.replace("+", "*")
    await at.ended(await at.roll_back(session=session), session=session)
    assert (at.root / "area.py").read_text() == BROKEN
    sent = [event for event in await at.logged(session) if isinstance(event, ToolRequested)]
    return [event.tool for event in sent if not event.tool.startswith("workspace.")]


ONCE = [READ[0], EDIT[0], RUN[0]]


@pytest.mark.requirement("S1-04", "S1-05", "S1-12", "S1-13", "S1-19", "S1-21", "P4", "P5")
async def test_scripted_container_edits_runs_and_is_undone(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    played = script(tmp_path, as_call(READ), [as_call(EDIT), as_call(RUN)], "It prints the area.")
    async with running(where, tmp_path, rig, scripted_model(), **played) as at:
        assert await repaired(at) == ONCE


@pytest.mark.requirement("S1-05", "S1-13", "S1-21")
@pytest.mark.parametrize("complete", [True, False])
async def test_model_of_the_host_thinks_for_the_container(
    where: Dsns, tmp_path: Path, rig: Rig, complete: bool
) -> None:
    after = [] if complete else [Answered("Mended.")]
    model = scripted_model(plan(READ, complete=False), plan(EDIT, RUN, complete=complete), *after)
    async with running(where, tmp_path, rig, model) as at:
        assert await repaired(at) == ONCE
    assert model.asked.count("plan") == (2 if complete else 3)


@pytest.mark.requirement("S1-15")
async def test_answer_without_a_change_is_the_output(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    model = scripted_model()
    async with running(where, tmp_path, rig, model, **script(tmp_path, as_call(READ), "It adds.")) as at:
        turn = await at.say("what does it do?", session="s", root=at.root)
        assert (await at.ended(turn, session="s")).state == "completed"
        assert (await at.until(MessageCompleted, session="s")).text == "It adds."
    assert "answer" not in model.asked


EDITING = ("read", "write", "edit", "find", "grep")
LOOKS = """
import os
files = sorted(os.listdir('/turn')), sorted(os.listdir('/workspace')), sorted(os.listdir('/program'))
own = {name: value for name, value in os.environ.items() if name.startswith('SUMA_')}
end(json.dumps({'given': given, 'files': files, 'own': own, 'all': dict(os.environ)}))
"""


@pytest.mark.requirement("S1-14", "S1-16", "S1-17", "S1-18", "S1-22")
async def test_program_of_ones_own_gets_all_by_one_file(
    tmp_path: Path, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-host")
    async with runner_of(rig, tmp_path, **program(tmp_path, LOOKS)) as runner:
        seen = json.loads(said(await planned(runner, ("edit-files.read", "1"), text="look around")))
    given, own = seen["given"], seen["own"]
    assert given.keys() >= {"project", "agent", "turn", "workspace", "controllerUrl", "token", "runner", "tools"}
    assert given["agent"] == {"id": "editor", "role": "edits", "prompt": "Be short.", "model": "scripted"}
    assert (given["turn"]["id"], given["turn"]["prompt"]) == ("t", "look around")
    assert (given["workspace"], given["controllerUrl"]) == ("/workspace", "unix:///turn/tool.sock")
    assert {tool["name"] for tool in given["tools"]} == {f"edit-files.{name}" for name in EDITING}
    assert [(call["tool"], call["status"], call["result"]) for call in given["calls"]] == [
        ("edit-files.read", "succeeded", "1")
    ]
    assert own == {"SUMA_PROJECT": "s", "SUMA_AGENT": "editor", "SUMA_TURN": "t", "SUMA_TOKEN": given["token"]}
    assert seen["files"] == [["input.json", "tool.sock"], [], ["agent.py"]]
    assert "secret-of-the-host" not in json.dumps(seen)


TRIES = """
import http.client
def status(token, path, body):
    connection = Controller('/turn/tool.sock')
    connection.request('POST', path, json.dumps(body), {'Authorization': 'Bearer ' + token})
    return connection.getresponse().status
call = {'calls': [{'tool': 'edit-files.read', 'args': {}}]}
own, other = given['token'], given['turn']['prompt']
other = other if ' ' not in other else own[::-1]
unlisted = {'calls': [{'tool': 'run-commands.run', 'args': {}}]}
asked = [(other, '/tool', call), ('', '/tool', call), (own, '/tool', unlisted), (other, '/model', {})]
tried = [status(*each) for each in asked]
end(own if ' ' in given['turn']['prompt'] else json.dumps(tried))
"""


@pytest.mark.requirement("S1-21", "S1-22", "A31")
async def test_token_is_bound_to_its_turn_and_tools(tmp_path: Path, rig: Rig) -> None:
    async with runner_of(rig, tmp_path, **program(tmp_path, TRIES)) as runner:
        ended = said(await planned(runner, turn="first"))
        assert len(ended) > 40
        # Its turn is over; it is tried in another one.
        assert json.loads(said(await planned(runner, text=ended, turn="second"))) == [403, 403, 403, 403]


WALLS = """
import socket
def refused(act):
    try: act()
    except OSError: return True
found = [refused(lambda: open(path, 'w')) for path in ('/program/agent.py', '/program/x', '/etc/x', '/usr/x', '/x')]
found += [refused(lambda: socket.create_connection(('192.0.2.1', 80), 1)), os.getuid() != 0]
found += [['NoNewPrivs:', '1'] in [line.split() for line in open('/proc/self/status')]]
end(json.dumps(found))
"""


@pytest.mark.requirement("S1-17", "A30")
async def test_container_has_the_walls_of_a_sandbox(tmp_path: Path, rig: Rig) -> None:
    async with runner_of(rig, tmp_path, **program(tmp_path, WALLS)) as runner:
        assert json.loads(said(await planned(runner))) == [True] * 8


LIES = {
    "no output": "",
    "no JSON": "open(OUTPUT, 'w').write('{')",
    "no text": "open(OUTPUT, 'w').write('{\"text\": 7}')",
    "a link to a file of the host": "os.symlink('/proc/1/environ', OUTPUT)",
    "a link to its input": "os.symlink('input.json', OUTPUT)",
    "a pipe": "os.mkfifo(OUTPUT)",
    "a huge file": "open(OUTPUT, 'w').write('{\"text\": \"a\"}' + ' ' * 300_000)",
    "a crash": "raise SystemExit(3)",
    "another socket": "os.unlink('/turn/tool.sock'); host.tools([{'tool': 'edit-files.read', 'args': {}}])",
    "garbage on the socket": "s = socket.socket(socket.AF_UNIX); s.connect('/turn/tool.sock'); s.sendall(b'x' * 10**6)",
    "calls of no form": "host._post('/tool', {'calls': 'rm'})",
    "a huge body": "host.tools([{'tool': 'edit-files.read', 'args': {'path': 'x' * 10**6}}])",
    "much output": "while True: print('x' * 10**5)",
}


@pytest.mark.requirement("S1-15", "S1-34")
async def test_lying_program_gives_no_answer_and_harms_nothing(tmp_path: Path, rig: Rig) -> None:
    one_of = "LIES = " + repr(LIES) + "\nlie = given['turn']['prompt']\nexec(LIES[lie]) if lie in LIES else end('fine')"
    async with runner_of(rig, tmp_path, **program(tmp_path, one_of)) as runner:
        for lie in LIES:
            with pytest.raises(RunnerFailed):
                await planned(runner, text=lie)
        assert said(await planned(runner, text="be honest")) == "fine"


WASTES = "for _ in range(20): host._post('/model', {})"


async def test_thoughts_of_one_round_are_bounded(tmp_path: Path, rig: Rig) -> None:
    model = scripted_model(*[Answered("hm")] * 20)
    async with runner_of(rig, tmp_path, model, **program(tmp_path, WASTES)) as runner:
        with pytest.raises(RunnerFailed):
            await planned(runner)
    assert model.asked.count("plan") == 8


async def test_thoughts_are_counted_in_their_plan(tmp_path: Path, rig: Rig) -> None:
    used = Usage(model="scripted", input_tokens=7, cost_micros=3)
    model = scripted_model(PlanDraft(plan(READ, complete=False), used), Answered("Done.", usage=used))
    async with runner_of(rig, tmp_path, model) as runner:
        assert (await planned(runner)).usage == used
        assert (await planned(runner, (READ[0], "text"))).usage == used


async def test_answer_of_the_model_keeps_its_kind(tmp_path: Path, rig: Rig) -> None:
    model = scripted_model(Answered("I cannot.", AnswerKind.DECLINED))
    async with runner_of(rig, tmp_path, model) as runner:
        outcome = await planned(runner)
    assert isinstance(outcome, Answered)
    assert (outcome.text, outcome.kind) == ("I cannot.", AnswerKind.DECLINED)


async def test_question_of_the_model_is_asked_and_answered(tmp_path: Path, rig: Rig) -> None:
    model = scripted_model(ClarificationNeeded("Which?"), Answered("That one."))
    async with runner_of(rig, tmp_path, model) as runner:
        assert isinstance(await planned(runner), ClarificationNeeded)
        assert said(await planned(runner)) == "That one."


@pytest.mark.requirement("S1-34", "P2")
async def test_repeated_question_gives_the_same_plan(tmp_path: Path, rig: Rig) -> None:
    async with runner_of(rig, tmp_path, **script(tmp_path, as_call(READ), "Done.")) as runner:
        assert calls(await planned(runner)) == calls(await planned(runner)) == [READ]
        assert said(await planned(runner, ("edit-files.read", "text"))) == "Done."


@pytest.mark.requirement("S1-04", "S1-34")
async def test_gone_container_is_replaced_with_finished_calls(tmp_path: Path, rig: Rig) -> None:
    played = script(tmp_path, as_call(READ), as_call(EDIT), "Done.")
    counted = Counted(rig.launcher())
    async with runner_of(rig, tmp_path, launcher=counted, idle_seconds=0, **played) as runner:
        assert calls(await planned(runner)) == [READ]
        await counted.none_left()
        assert calls(await planned(runner, ("edit-files.read", "text"))) == [EDIT]
        await counted.none_left()
        assert said(await planned(runner, ("edit-files.read", "text"), ("edit-files.edit", ""))) == "Done."
    assert counted.turns == 3


@pytest.mark.requirement("S1-04")
async def test_waiting_container_makes_room_for_another_turn(tmp_path: Path, rig: Rig) -> None:
    counted = Counted(rig.launcher())
    async with runner_of(
        rig, tmp_path, launcher=counted, at_once=1, **script(tmp_path, as_call(READ), "Done.")
    ) as runner:
        both = await asyncio.gather(planned(runner, turn="a"), planned(runner, turn="b"))
        assert [calls(each) for each in both] == [[READ], [READ]]
        assert counted.most == 1
        assert said(await planned(runner, ("edit-files.read", "text"), turn="a")) == "Done."


HANGS = """
import time
while given['turn']['prompt'] == 'hang': time.sleep(60)
end('fine')
"""


@pytest.mark.requirement("P8")
async def test_containers_of_one_tenant_leave_room_for_others(tmp_path: Path, rig: Rig) -> None:
    counted = Counted(rig.launcher())
    bounds = {"at_once": 2, "at_once_per_tenant": 1, **program(tmp_path, HANGS)}
    async with runner_of(rig, tmp_path, launcher=counted, **bounds) as runner:
        hung = [asyncio.create_task(planned(runner, text="hang", turn=turn)) for turn in ("a", "b")]
        assert said(await planned(runner, tenant="other")) == "fine"
        for task in hung:
            task.cancel()
        await asyncio.wait(hung)
        await counted.none_left()
        assert counted.turns == 2


@pytest.mark.requirement("S1-04", "S1-20")
async def test_deadline_ends_a_container_and_its_turn(tmp_path: Path, rig: Rig) -> None:
    counted = Counted(rig.launcher())
    async with runner_of(rig, tmp_path, launcher=counted, seconds=1, **program(tmp_path, "while True: pass")) as runner:
        with pytest.raises(TurnDeadline):
            await planned(runner)
        assert counted.live == 0


@pytest.mark.requirement("S1-20")
@pytest.mark.parametrize(("keep", "kept"), [("none", []), ("failed", [2]), ("all", [0, 2])])
async def test_ended_containers_are_kept_as_set_and_swept(tmp_path: Path, rig: Rig, keep: str, kept: list[int]) -> None:
    now = [0.0]
    text = "print('hello'); end('fine') if given['turn']['prompt'] == 'good' else sys.exit(2)"
    config = Config(**program(tmp_path, text), home=tmp_path / "turns", keep=keep, keep_seconds=60)  # type: ignore[arg-type]
    async with TurnRunner(scripted_model(), (Sandboxes(rig.launcher()),), config, now=lambda: now[0]) as runner:
        await planned(runner, text="good")
        with pytest.raises(RunnerFailed):
            await planned(runner, text="bad")
        folders = sorted((tmp_path / "turns").glob("t-*"))
        assert [("code 2" in (folder / "ended").read_text()) * 2 for folder in folders] == kept
        for folder in folders:
            assert (folder / "log").read_text() == "hello\n"
            assert json.loads((folder / "input.json").read_text())["token"] is None
        now[0] = max([folder.stat().st_mtime for folder in folders], default=0.0) + 59
        await runner.sweep()
        assert sorted((tmp_path / "turns").glob("t-*")) == folders
        now[0] += 2
        await runner.sweep()
        assert not list((tmp_path / "turns").glob("t-*"))


async def test_without_a_sandbox_no_turn_runs(where: Dsns, tmp_path: Path) -> None:
    model = scripted_model(Answered("never said"))
    async with (
        TurnRunner(model, (), Config(RUNNER / "agent.py")) as runner,
        run_platform(where, tmp_path, model=runner) as at,
    ):
        turn = await at.say("hello", session="s", root=at.root)
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason) == ("failed", "NO_SANDBOX")
    assert model.asked == []


class Counted:
    """A launcher that counts the containers of turns, and can end them."""

    def __init__(self, behind: Launcher, *, before: int = 0, at_once: int = 0) -> None:
        self.name, self.cures = behind.name, behind.cures
        self._behind, self._before, self._at_once = behind, before, at_once
        """How many do not start, and how many end as soon as they have started."""
        self.turns = self.live = self.most = 0
        self.channels: list[Channel] = []
        self._changed = asyncio.Event()

    async def prepare(self) -> None:
        await self._behind.prepare()

    async def launch(
        self, session: str, workspace: Path, limits: Limits, mounts: Sequence[Mount]
    ) -> tuple[Channel, Mapping[str, Any]]:
        if not session.startswith("turn-"):
            return await self._behind.launch(session, workspace, limits, mounts)
        self.turns += 1
        if self.turns <= self._before:
            raise NoSandbox("the engine is away", "wait")
        channel, resources = await self._behind.launch(session, workspace, limits, mounts)
        self.live += 1
        self.most = max(self.most, self.live)
        self.channels.append(_Channel(channel, self))
        if self.turns <= self._before + self._at_once:
            await channel.kill()
        return self.channels[-1], resources

    async def kill(self) -> None:
        """End the newest container, as a crash of its process 1 would."""
        await self.channels[-1].kill()

    async def none_left(self) -> None:
        async with asyncio.timeout(30):
            while self.live:
                self._changed.clear()
                await self._changed.wait()

    def gone(self) -> None:
        self.live -= 1
        self._changed.set()


class _Channel:
    def __init__(self, behind: Channel, counted: Counted) -> None:
        self._behind, self._counted, self._live = behind, counted, True

    async def write(self, raw: bytes) -> None:
        await self._behind.write(raw)

    async def read(self, size: int) -> bytes:
        return await self._behind.read(size)

    async def kill(self) -> None:
        await self._behind.kill()
        if self._live:
            self._live = False
            self._counted.gone()


class Killing:
    """A model around the runner that ends the turn's container before or after a call of `plan`."""

    def __init__(self, runner: Model, counted: Counted, at: str) -> None:
        self._runner, self._counted, self._at, self._plans = runner, counted, at, 0
        self.name, self.review, self.resolve, self.answer = runner.name, runner.review, runner.resolve, runner.answer

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        self._plans += 1
        await self._kill(f"before plan {self._plans}")
        outcome = await self._runner.plan(task, catalogue)
        await self._kill(f"after plan {self._plans}")
        return outcome

    async def _kill(self, now: str) -> None:
        if now == self._at:
            await self._counted.kill()


class Thinking(Scripted):
    """The scripted model, during whose first or second thought the container is ended."""

    def __init__(self, counted: Counted, at: str, *plans: Plan | PlannerOutcome) -> None:
        outcomes = [PlanDraft(each) if isinstance(each, Plan) else each for each in plans]
        super().__init__(plans=outcomes, reviews=['{"approved": true}'] * 20, answers=[("do", "ne")] * 5)
        self._counted, self._at, self._thoughts = counted, at, 0

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        self._thoughts += 1
        if self._at == f"thought {self._thoughts}":
            await self._counted.kill()
            raise Unavailable("the answer came too late")
        return await super().plan(task, catalogue)


KILLS = (
    *("before it starts", "as soon as it has started", "thought 1", "thought 2"),
    # While it waits for its calls, before they run and after they have.
    *("after plan 1", "before plan 2", "after plan 2", "before plan 3"),
    "after its answer is written",
)


@pytest.mark.requirement("S1-34", "A31", "A32", "P2")
@pytest.mark.parametrize("at", KILLS, ids=lambda at: at.replace(" ", "-"))
async def test_killed_container_leaves_one_effect(where: Dsns, tmp_path: Path, rig: Rig, at: str) -> None:
    counted = Counted(rig.launcher(), before=at == KILLS[0], at_once=at == KILLS[1])
    model = Thinking(counted, at, plan(READ, complete=False), plan(EDIT, RUN, complete=False), Answered("Mended."))
    dies = "main()\nimport signal\nos.kill(os.getpid(), signal.SIGKILL)"
    own = program(tmp_path, dies) if at == KILLS[-1] else {}
    async with running(
        where, tmp_path, rig, model, launcher=counted, around=lambda runner: Killing(runner, counted, at), **own
    ) as platform:
        assert await repaired(platform) == ONCE
    assert counted.live == 0


@pytest.mark.requirement("S1-34", "A31")
async def test_failed_container_ends_the_turn_and_not_the_session(where: Dsns, tmp_path: Path, rig: Rig) -> None:
    counted = Counted(rig.launcher(), before=5)
    async with running(where, tmp_path, rig, scripted_model(Answered("Hello.")), launcher=counted) as at:
        turn = await at.say("hello", session="s", root=at.root)
        ended = await at.ended(turn, session="s")
        assert (ended.state, ended.reason, counted.turns) == ("failed", "RUNNER_FAILED", 5)
        assert "the engine is away" in ended.detail
        again = await at.say("hello", session="s", root=at.root)
        assert (await at.ended(again, session="s")).state == "completed"
        assert (await at.until(MessageCompleted, session="s")).text == "Hello."
