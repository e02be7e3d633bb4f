"""A session in process: the offline model, the executor's primitives and a commit, on a real folder.

The committee is here, as its checks and the model's review; policy and approvals are not.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from libs import ids
from libs.errors import SumaError
from libs.events.committee import MORE_BELOW, Exchange, Task
from libs.events.values import Observation, Plan, Step, StepState
from libs.models.offline import OfflineModel
from libs.models.ports import Answered, AnswerKind, ClarificationNeeded, Model, PlanDraft
from libs.search import HashedEmbedder
from libs.skills import Categories, Primitive, Skills
from libs.workspace.commit import commit
from libs.workspace.scan import Scan
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from services.cli.evals import cases, trees
from services.cli.evals.cases import Cases, Outcome
from services.cli.evals.scoring import Did, Ran, Score, judge
from services.cli.evals.scoring import Stage as Wrong
from services.committee_worker.domain import verdict
from services.committee_worker.domain.checks import Case, examine
from services.conversation_worker.domain import (
    event_sizes,
    memory_window,
    referenced_files,
    step_references,
    subfolder_hints,
)
from services.conversation_worker.domain.analysis import analyse
from services.conversation_worker.domain.memory_window import SEEN_MOST
from services.conversation_worker.turn.state import COMMIT
from services.settings import ROOT
from services.tool_executor import api
from services.tool_executor.content import Contents, Question, as_data
from services.tool_executor.indexes import Indexes
from services.tool_executor.settings import Settings
from services.tool_executor.tools.primitives import PRIMITIVES
from services.tool_executor.tools.tool_context import ToolContext
from services.tool_executor.workspaces import Workspace

ROUNDS_MOST, REJECTIONS_MOST = 10, 3
CATEGORIES = ROOT / "skills" / "organize-by-type" / "references" / "categories.yaml"
DECLINED = (AnswerKind.DECLINED, AnswerKind.DANGEROUS, AnswerKind.UNDO)


@dataclass(frozen=True)
class Agent:
    """The parts that all sessions share."""

    skills: Skills
    categories: Categories
    model: Model

    @staticmethod
    def offline() -> Agent:
        categories = Categories.load(CATEGORIES)
        return Agent(Skills.load((ROOT / "skills",)), categories, OfflineModel(categories))


@dataclass
class Session:
    """One session in one folder: what was said, and the turn's stage."""

    agent: Agent
    root: Path
    history: list[Exchange] = field(default_factory=list)
    asking: Task | None = None
    """The turn that asked back: what is said next answers it."""

    async def ask(self, text: str) -> Did:
        """One turn, to its end."""
        before = trees.seen(self.root)
        task = self._task(text) if self.asking is None else _replied(self.asking, text)
        turn = _Turn(self.agent, self.root, task)
        outcome, said = await turn.run()
        self.asking = task if outcome is Outcome.ASKS else None
        if self.asking is None:
            text, wish = task.text[:2000], turn.wish[:2000] or None
            last = Exchange(text=text, answer=said[:2000], wish=wish, reason=turn.reason, shown=turn.shown)
            self.history = [*memory_window.remembered(self.history, last, talked=not turn.ran)]
        return Did(outcome, self.root, before, trees.seen(self.root), tuple(turn.ran), said)

    def _task(self, text: str) -> Task:
        facts = api.facts_of(Stage(Tree.scan(self.root)))  # the very facts that the worker asks for
        return Task(
            text=text,
            intent=analyse(text).intent,
            history=event_sizes.history(self.history),
            root=str(self.root),
            workspace=event_sizes.facts(facts),
            tools=("*",),
        )


def _replied(task: Task, text: str) -> Task:
    """The turn that asked, with what was said to it, as the conversation worker goes on with it."""
    before = (*task.replies, task.clarification) if task.clarification is not None else task.replies
    return task.model_copy(update={"clarification": text, "replies": before})


async def _scan(folder: Path) -> Scan:
    return await asyncio.to_thread(Scan.of, folder)


class _Turn:
    """Think, act, commit, answer."""

    def __init__(self, agent: Agent, root: Path, task: Task) -> None:
        self._agent, self._root, self._task = agent, root, task
        self._stage = Stage(Tree.scan(root))
        self._contents = Contents(Indexes(Settings(), HashedEmbedder(), _scan))
        self._observed: list[Observation] = []
        self.ran: list[Ran] = []
        self.wish = ""

    @property
    def reason(self) -> str | None:
        """AnswerKind nothing came of it; nobody refuses anything here."""
        untouched = not any(each.tool == COMMIT for each in self._observed)
        return MORE_BELOW if untouched and subfolder_hints.only(each.data for each in self._observed) else None

    @property
    def shown(self) -> tuple[str, ...]:
        """The files that it has named; none where it has changed them."""
        changed = any(each.tool == COMMIT for each in self._observed)
        return (
            () if changed else referenced_files.whole(referenced_files.of_looks(each.data for each in self._observed))
        )

    async def run(self) -> tuple[Outcome, str]:
        for _ in range(ROUNDS_MOST):
            match await self._agent.model.plan(self._seen(), self._agent.skills.tools):
                case ClarificationNeeded(question=question):
                    return Outcome.ASKS, question
                case Answered(text=text, kind=kind, wish=wish):
                    self.wish = wish or self.wish
                    if self.ran:
                        break
                    return (Outcome.DECLINES if kind in DECLINED else Outcome.TALKS), text
                case PlanDraft(plan=plan, wish=wish):
                    self.wish = wish
                    agreed, reason = await self._agreed(plan)
                    if agreed is None:
                        return Outcome.DECLINES, reason
                    await self._carry_out(agreed)
                    if agreed.complete:
                        break
        self._commit()
        said = "".join([part.text async for part in self._agent.model.answer(self._seen())])
        return Outcome.DOES, said

    async def _agreed(self, plan: Plan) -> tuple[Plan | None, str]:
        """The committee: the plan as it was approved, or why it was refused for the third time."""
        tools = {tool.name: tool for tool in self._agent.skills.tools}
        reason = ""
        for _ in range(REJECTIONS_MOST):
            review = examine(Case(self._seen(), plan, tools))
            if review.approved and any(step.mutates for step in plan.steps):
                said = await self._agent.model.review(self._seen(), plan, self._agent.skills.tools)
                review = verdict.read(said.text)
            if review.approved:
                return plan, ""
            reason = review.reason
            plan = (await self._agent.model.resolve(self._seen(), plan, reason, self._agent.skills.tools)).plan
        return None, reason

    def _seen(self) -> Task:
        return self._task.model_copy(update={"observations": event_sizes.observed(self._observed)})

    async def _carry_out(self, plan: Plan) -> None:
        results: dict[int, Mapping[str, Any]] = {}
        states: dict[int, StepState] = {}
        wanted = {n for step in plan.steps for n in step_references.needs(step)}
        for step in sorted(plan.steps, key=lambda step: step.ordinal):
            state, data, said = await self._tried(step, results, states)
            states[step.ordinal], results[step.ordinal] = state, data
            self._note(step, state, data, said)
            good, feeds = state is StepState.SUCCEEDED, step.ordinal in wanted
            mutates = self._agent.skills.tool(step.tool).mutates
            self.ran.append(Ran(step.tool, mutates, good, feeds, step.args))

    async def _tried(
        self, step: Step, results: Mapping[int, Mapping[str, Any]], states: Mapping[int, StepState]
    ) -> tuple[StepState, dict[str, Any], str]:
        """How a step ended, what it showed, and what is said of it."""
        if not step_references.ready(step, states):
            return StepState.SKIPPED, {}, step_references.DependencyUnavailable.code
        try:
            args = {**self._agent.skills.tool(step.tool).defaults(), **step_references.resolve(step.args, results)}
            data, said = await self._done(step, args)
            return StepState.SUCCEEDED, data, said
        except SumaError as failure:
            return StepState.FAILED, {}, str(failure)

    async def _done(self, step: Step, args: dict[str, Any]) -> tuple[dict[str, Any], str]:
        tool = self._agent.skills.tool(step.tool)
        checked = tool.validate(args)
        if wrong := (*(f"{name} is missing" for name in checked.missing), *checked.extra, *checked.problems):
            raise BadArgs("; ".join(wrong))
        if tool.primitive is Primitive.RETRIEVAL:
            workspace = Workspace(self._root, self._stage, 0)
            found, stale = await self._contents.search("local", workspace, Question.of(args))
            return as_data(found, stale), f"{len(found.matches)} files match."
        if tool.method not in PRIMITIVES:
            raise BadArgs(f"nothing can run {tool.method} here")
        listed = frozenset(step_references.listed(step.args))
        context = ToolContext(self._stage, self._agent.categories, tool.mutates, reason=tool.name, listed=listed)
        done = PRIMITIVES[tool.method](context, args)
        return done.data, done.summary

    def _note(self, step: Step, state: StepState, data: dict[str, Any], said: str) -> None:
        good = state is StepState.SUCCEEDED
        self._observed.append(
            Observation(
                ordinal=step.ordinal,
                tool=step.tool,
                description=step.description,
                state=state,
                summary=said if good else "",
                data=data if good and event_sizes.size(data) <= SEEN_MOST else None,
                error=None if good else said,
            )
        )

    def _commit(self) -> None:
        if not (changes := len(self._stage.diff())):
            return
        commit(self._root, self._stage, commit_id=ids.new(), fence=lambda: None)
        told = Observation(
            ordinal=len(self._observed) + 1,
            tool=COMMIT,
            description="",
            state=StepState.SUCCEEDED,
            summary="",
            data={"operations": changes},
        )
        self._observed.append(told)


class BadArgs(SumaError):
    """The plan's args do not fit the tool."""

    code = "BAD_ARGS"


class Folders:
    """The folders of cases on disk. One that a case left as it was serves the next case as well."""

    def __init__(self, among: Cases, place: Path) -> None:
        self._among, self._place = among, place
        self._kept: dict[str, tuple[Path, trees.Tree]] = {}

    def of(self, name: str) -> Path:
        root, tree = self._kept.get(name, (None, None))
        if root is None or (root / trees.OWN).exists() or trees.seen(root) != tree:
            root = Path(tempfile.mkdtemp(dir=self._place)) / name
            self._among.make(name, root)
            self._kept[name] = root, trees.seen(root)
        return root


async def score(agent: Agent, among: Cases, case: cases.Case) -> Score:
    """Play one case in a folder of its own."""
    return (await scores(agent, among, [case]))[0]


async def scores(agent: Agent, among: Cases, chosen: Iterable[cases.Case]) -> list[Score]:
    """Play cases one after the other."""
    with tempfile.TemporaryDirectory(prefix="suma-eval-") as place:
        folders = Folders(among, Path(place).resolve())
        return [await _score(agent, case, folders.of(case.folder)) for case in chosen]


async def _score(agent: Agent, case: cases.Case, root: Path) -> Score:
    session = Session(agent, root)
    for turn in case.before:
        earlier = judge(case.earlier(turn), await session.ask(turn.request))
        if not earlier.right:
            return Score(case, False, Wrong.BEFORE, earlier.wrong_change, f"{turn.request!r}: {earlier.detail}")
    return judge(case, await session.ask(case.request))
