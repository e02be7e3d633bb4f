"""The offline planner: from a task to a plan, a question, or an honest answer that no tool is needed or able.

It is careful in one direction only: what it does not understand it asks about, before anything could change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

from libs.events.committee import Task
from libs.models.offline import phrasebook as say
from libs.models.offline.clauses import ACTIONS, Mood, Name
from libs.models.offline.drafting import Draughtsman, NewId, ordered, plan_of, spread
from libs.models.offline.earlier import Lost, in_full
from libs.models.offline.filling import fill
from libs.models.offline.goals import Goal, Intent, all_of, intent
from libs.models.offline.ground import Ground, NoSuchPlace, Outside
from libs.models.offline.matching import Matcher
from libs.models.offline.reading import read
from libs.models.offline.refusals import Refusals
from libs.models.offline.reservations import Reservations
from libs.models.offline.scenes import Scene, inherited, scene_of
from libs.models.offline.unplaced import Unplaced
from libs.models.offline.voice import Voice
from libs.models.ports import Drafted, PlannerOutcome, Unclear, Why
from libs.retrieval.words import fold, words
from libs.skills import Categories, Effect, ToolDefinition

YES = re.compile(
    r"^\W*(yes|yep|yeah|sure|ok|okay|do it|go ahead|please do|ja|klar|gerne?|mach das|si|vale|claro|hazlo)\b"
)
NO = re.compile(r"^\W*(no|nope|never ?mind|cancel|stop|nein|lass es|abbrechen|nada|dejalo)\W*$")
BOTH = re.compile(r"^\W*(both|all( of them)?|everything|beides?|alles?|alle|ambos|ambas|todo|las dos)\W*$")
REST = re.compile(r"\b(rm\s+-\w*[rf]|mkfs|dd\s+if=|:\(\)\s*\{)")

LINKS = {"target": "to", "new_name": "to", "name": "named", "query": "for"}
LEADING = (
    r"^(to|into|in|named|called|for|as|nach|namens|a|al|llamada?)\s+"
    r"(the\s+|den\s+|la\s+)?(folder\s+|ordner\s+|carpeta\s+)?"
)


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one set of categories and one embedder's matcher."""

    matcher: Matcher
    categories: Categories
    new_id: NewId
    now: Callable[[], datetime]

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        tools = _allowed(catalogue, task.tools)
        if not task.clarification:
            return await _Planning(self, task, tools).outcome()
        before = await _Planning(self, task.model_copy(update={"clarification": None}), tools).outcome()
        return await _Planning(self, _completed(task, before), tools).outcome()


class _Planning:
    """One request on its way to an outcome."""

    def __init__(self, planner: Planner, task: Task, tools: Sequence[ToolDefinition]) -> None:
        self._planner, self._task = planner, task
        # What a tool from outside is good for takes a model to tell; words alone would call it by accident.
        self._tools = {tool.name: tool for tool in tools if tool.in_workspace}
        self._ground = Ground.of(task.root, task.workspace)
        self._answer = fold(task.clarification or "")
        now = planner.now()
        self._full = in_full(task, self._ground, now)
        self._reading = read(self._text(), self._ground.spoken, now=now)
        self._voice = Voice(self._reading, self._tools)

    async def outcome(self) -> PlannerOutcome:
        if (told := self._beforehand()) is not None:
            return told
        matcher, tools = self._planner.matcher, list(self._tools.values())
        found = await intent(self._reading, matcher, self._ground, self._task.skill, tools=tools)
        found = all_of(found) if BOTH.match(self._answer) else found
        try:
            return self._planned(found) if found.goals else Unplaced(self._voice, self._ground).outcome(found)
        except Outside as place:
            return self._outside(str(place))
        except NoSuchPlace as place:
            return self._voice.no_such(str(place), self._ground)

    def _beforehand(self) -> PlannerOutcome | None:
        """What needs no look at the tools."""
        if NO.match(self._answer):
            return self._voice.answers(say.UNDONE)
        if REST.search(fold(self._task.text)):
            return self._voice.answers(say.DANGEROUS, Why.DANGEROUS)
        if isinstance(self._full, Lost) and not self._answer:
            return self._voice.asks(say.EARLIER, "paths", said=self._full.said)
        if self._reading.torn and not self._answer:
            return self._voice.asks(say.WHAT_WITH, said=self._task.text)
        if self._reading.says("undo"):
            return self._voice.answers(say.UNDO, Why.DECLINED)
        return self._outside(beyond) if (beyond := self._beyond()) is not None else None

    def _beyond(self) -> str | None:
        """A path beyond the workspace, whatever shall be done with it."""
        for name in (name for clause in self._reading.wishes(Mood.DO) for name in clause.names):
            try:
                if name.kind is Name.PATH:
                    self._ground.path(name.text, new=True)
            except Outside as place:
                return str(place)
        return None

    def _outside(self, place: str) -> PlannerOutcome:
        return self._voice.answers(say.OUTSIDE, Why.DANGEROUS, name=f"“{place}”")

    def _text(self) -> str:
        """The request, with the person's answer to our question as its last words."""
        text, answer = self._full if isinstance(self._full, str) else self._task.text, self._task.clarification
        if not answer or YES.match(self._answer) or BOTH.match(self._answer):
            return text
        return f"{text.rstrip(' .!?')}, {answer}"

    def _planned(self, found: Intent) -> PlannerOutcome:
        scene = scene_of(self._reading, self._ground, self._planner.categories)
        open_still = Reservations(
            self._voice,
            scene,
            self._tools,
            self._task.text,
            answered=bool(self._answer),
            agreed=YES.match(self._answer) is not None,
        )
        return open_still.outcome(found) or self._drafted(found, scene)

    def _drafted(self, found: Intent, scene: Scene) -> PlannerOutcome:
        drawn, refusals = Draughtsman(self._tools), Refusals(self._voice, self._tools)
        goals = [allowed for goal in ordered(found) for allowed in self._permitted(goal, found)]
        for goal in goals:
            here = inherited(scene, goal.clause, self._reading)
            for where in spread(goal, _unspared(here, goal, goals)):
                if (refusal := refusals.outcome(goal, where)) is not None:
                    return refusal
                drawn.add(goal, where)
            scene = _after(goal, scene)
        if not drawn.steps:
            return self._voice.answers(say.UNDONE)
        return Drafted(plan_of(drawn.steps, reasoning=self._reasoning(goals), new_id=self._planner.new_id))

    def _permitted(self, goal: Goal, found: Intent) -> list[Goal]:
        """The goal, or only its reads where the person ruled the change out."""
        if goal.tool.effect not in found.forbidden and goal.tool.name not in found.unwanted:
            return [goal]
        reads = [self._tools[need.tool] for need in goal.tool.needs if need.tool in self._tools]
        return [replace(goal, tool=tool) for tool in reads]

    def _reasoning(self, goals: Sequence[Goal]) -> str:
        return " ".join(
            f"“{self._voice.said(goal.clause)}” means {goal.tool.name} ({goal.score:.2f})." for goal in goals
        )


def _completed(task: Task, before: PlannerOutcome) -> Task:
    """The task with a bare answer put where it belongs: asked "into which folder?", `Docs` means "to Docs"."""
    answer = (task.clarification or "").strip(" .!?\"'“”„«»`")
    param = before.missing[0] if isinstance(before, Unclear) and len(before.missing) == 1 else ""
    link = LINKS.get(param)
    bare = re.sub(LEADING, "", answer, flags=re.IGNORECASE)
    acts = any(not ACTIONS.isdisjoint(word.concepts) for word in words(bare))
    wordy = len(bare.split()) > 6 or acts or NO.match(fold(answer))
    if link is None or wordy or not bare:
        return task
    return task.model_copy(update={"text": f'{task.text.rstrip(" .!?")} {link} "{bare}"', "clarification": None})


def _allowed(catalogue: Sequence[ToolDefinition], allowlist: Sequence[str]) -> list[ToolDefinition]:
    """The tools that the agent may use; an empty list is no list."""
    if not allowlist:
        return list(catalogue)
    return [tool for tool in catalogue if any(fnmatchcase(tool.name, pattern) for pattern in allowlist)]


def _unspared(scene: Scene, goal: Goal, goals: Sequence[Goal]) -> Scene:
    """What is to be left alone still counts in a report beside the changes."""
    if goal.tool.mutates or not any(other.tool.mutates for other in goals):
        return scene
    return replace(scene, exclude=(), only=())


def _after(goal: Goal, scene: Scene) -> Scene:
    """A folder that was just made is what "it" means next."""
    if goal.tool.effect is not Effect.CREATE:
        return scene
    args = fill(goal.tool, goal.clause, scene).args
    where, name = str(args.get("path", ".")), str(args.get("name", ""))
    return replace(scene, created=name if where == "." else f"{where}/{name}")
