"""The offline planner: from a task to a plan, a question, or an honest answer that no tool is needed or able.

It is careful in one direction only: what it does not understand it asks about, before anything could change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from libs.events.committee import Task
from libs.events.values import Candidate
from libs.models.offline import phrasebook as say
from libs.models.offline.drafting import Draughtsman, NewId, ordered, plan_of, spread
from libs.models.offline.filling import KEEP, Scene, fill, folders
from libs.models.offline.goals import Doubt, Goal, Intent, all_of, intent
from libs.models.offline.matching import Matcher
from libs.models.offline.places import Ground, NoSuchPlace, Outside, file_like, places
from libs.models.offline.reading import ACTIONS, Clause, Mood, Name, Named, folded, read
from libs.models.offline.selection import Selection, select, spared
from libs.models.ports import Answered, Drafted, PlannerOutcome, Unclear, Why
from libs.retrieval.words import words
from libs.skills import Categories, Effect, ToolDefinition, selected

QUESTION = re.compile(
    r"^\W*(how (do|can|would|could|should|to|does)|why|should (i|we)|what (if|happens|would|does)|did |have you|when "
    r"|who |wie (kann|konnte|mach|losch|funktioniert)|warum|soll ich|was passiert|como |por ?que |debo |deberia )"
)
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
        self._answer = folded(task.clarification or "")
        self._reading = read(self._text(), self._ground.names or ())

    async def outcome(self) -> PlannerOutcome:
        if NO.match(self._answer):
            return self._answered(say.UNDONE)
        if REST.search(folded(self._task.text)):
            return self._answered(say.DANGEROUS, Why.DANGEROUS)
        found = await intent(self._reading, self._planner.matcher, self._ground, self._task.skill, tools=self._all())
        if BOTH.match(self._answer):
            found = all_of(found)
        try:
            return self._no_goal(found) if not found.goals else self._open(found) or self._drafted(found)
        except Outside as place:
            return self._answered(say.OUTSIDE, Why.DANGEROUS, name=f"“{place}”")
        except NoSuchPlace as place:
            among = self._say(say.AMONG, names=", ".join((self._ground.names or ())[:8])) if self._ground.names else ""
            return Unclear(self._say(say.NO_SUCH, name=str(place), among=among), missing=("path",))

    def _all(self) -> list[ToolDefinition]:
        return list(self._tools.values())

    def _text(self) -> str:
        """The request, with the person's answer to our question as its last words."""
        text, answer = self._task.text, self._task.clarification
        if not answer or YES.match(self._answer) or BOTH.match(self._answer):
            return text
        return f"{text.rstrip(' .!?')}, {answer}"

    # Without a goal.

    def _no_goal(self, found: Intent) -> PlannerOutcome:
        asked = [doubt for doubt in found.doubts if not doubt.clause.says("greeting", "capability")]
        near = [doubt for doubt in asked if doubt.near]
        if self._says("capability") and not near:
            return self._answered(say.CAPABILITY, Why.CAPABILITY, can=self._can())
        if not asked:
            return self._nothing_asked()
        if near:
            return self._which(near)
        return self._answered(say.DECLINED, Why.DECLINED, examples=self._examples())

    def _nothing_asked(self) -> PlannerOutcome:
        if any(clause.mood is not Mood.DO for clause in self._reading.clauses):
            return self._answered(say.UNDONE)
        if self._says("greeting"):
            return self._answered(say.GREETING, Why.GREETING, examples=self._examples())
        return Unclear(self._say(say.WHAT))

    def _which(self, near: Sequence[Doubt]) -> Unclear:
        best: dict[str, Candidate] = {}
        for found in sorted((found for doubt in near for found in doubt.near), key=lambda found: -found.score):
            best.setdefault(
                found.tool.skill,
                Candidate(skill=found.tool.skill, score=round(found.score, 3), description=found.tool.description),
            )
        said = " … ".join(self._said(doubt.clause) for doubt in near)
        choices = self._say(say.OR).join(best)
        return Unclear(self._say(say.WHICH, said=said, choices=choices), tuple(best.values()))

    # With goals: what keeps them from a plan.

    def _open(self, found: Intent) -> PlannerOutcome | None:
        changes = [goal for goal in found.goals if goal.tool.mutates]
        doubts = [doubt for doubt in found.doubts if not doubt.vague and not doubt.clause.says("greeting")]
        if changes and QUESTION.match(folded(self._task.text)) and not self._answer:
            return self._answered(say.HOW_TO, Why.CAPABILITY, skill=changes[0].tool.skill)
        if doubts and not YES.match(self._answer):
            return self._in_part(doubts)
        by_age = next((goal for goal in changes if _filters(goal.clause)), None)
        if by_age is not None:
            return self._unfiltered(by_age)
        strange = [word for picked in self._spared() for word in picked.strange]
        if changes and strange:
            return Unclear(self._say(say.SPARE_WHAT, said=" ".join(strange)), missing=("exclude",))
        return None

    def _in_part(self, doubts: Sequence[Doubt]) -> Unclear:
        near = [doubt for doubt in doubts if doubt.near]
        if near:
            return self._which(near)
        return Unclear(self._say(say.ONLY_PART, said=" … ".join(self._said(doubt.clause) for doubt in doubts)))

    def _unfiltered(self, goal: Goal) -> Unclear:
        if "duplicate" in goal.clause.concepts and goal.clause.says(*KEEP, "age"):
            return Unclear(self._say(say.MISSING["keep"]), missing=("keep",))
        return Unclear(self._say(say.BY_AGE_OR_SIZE, said=self._said(goal.clause)), missing=("paths",))

    # The plan.

    def _drafted(self, found: Intent) -> PlannerOutcome:
        scene = self._scene()
        drawn = Draughtsman(self._tools)
        goals = [allowed for goal in ordered(found) for allowed in self._permitted(goal, found)]
        for goal in goals:
            for where in spread(goal, _unspared(self._inherited(goal, scene), goal, goals)):
                refusal = self._refusal(goal, where)
                if refusal is not None:
                    return refusal
                drawn.add(goal, where)
            scene = _after(goal, scene)
        if not drawn.steps:
            return self._answered(say.UNDONE)
        return Drafted(plan_of(drawn.steps, reasoning=self._reasoning(goals), new_id=self._planner.new_id))

    def _permitted(self, goal: Goal, found: Intent) -> list[Goal]:
        """The goal, or only its reads where the person ruled the change out."""
        if goal.tool.effect not in found.forbidden and goal.tool.name not in found.unwanted:
            return [goal]
        reads = [self._tools[need.tool] for need in goal.tool.needs if need.tool in self._tools]
        return [replace(goal, tool=tool) for tool in reads]

    def _refusal(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        strays = [name.text for name in goal.clause.names if _stray(name, goal.tool)]
        if strays:
            return Unclear(self._say(say.SPARE_WHAT, said=" ".join(strays)), missing=("path",))
        lacking = next((need.tool for need in goal.tool.needs if need.tool not in self._tools), None)
        if lacking:
            return self._answered(say.NOT_ALLOWED, Why.DECLINED, tool=lacking)
        filled = fill(goal.tool, goal.clause, scene)
        if filled.missing:
            return self._missing(goal.tool, filled.missing)
        everything = filled.listing and goal.tool.effect is Effect.DELETE and "files" in goal.tool.roles.values()
        if everything and not _narrowed(goal.clause, scene, self._planner.categories):
            return self._answered(say.DANGEROUS, Why.DANGEROUS)
        touched = [
            path
            for param, role in goal.tool.roles.items()
            if role in ("file", "files")
            for path in _paths(filled.args.get(param))
        ]
        if "." in touched and goal.tool.mutates:
            return self._answered(say.DANGEROUS, Why.DANGEROUS)
        if goal.tool.mutates and not all(selected(path, exclude=scene.exclude) for path in touched):
            return Unclear(self._say(say.CONTRADICTS, said=self._said(goal.clause)))
        result = goal.tool.validate(
            {**filled.args, **{need.param: "$step(1).x" for need in goal.tool.needs if need.param not in filled.args}}
        )
        return None if result.valid else self._missing(goal.tool, tuple(result.missing or filled.args))

    def _missing(self, tool: ToolDefinition, params: Sequence[str]) -> Unclear:
        roles = [tool.roles.get(param, param) for param in params]
        asked = [self._say(say.MISSING[role]) for role in roles if role in say.MISSING]
        question = " ".join(asked) or self._say(say.REQUIRED, missing=", ".join(params))
        return Unclear(question, (Candidate(skill=tool.skill, score=1.0, description=tool.description),), tuple(params))

    def _scene(self) -> Scene:
        only = [
            pattern
            for clause in self._reading.wishes(Mood.ONLY)
            for pattern in select(clause, self._ground, self._planner.categories).patterns
        ]
        exclude = dict.fromkeys(pattern for picked in self._spared() for pattern in picked.patterns)
        return Scene(
            self._reading.text, self._ground, self._planner.categories, only=tuple(only), exclude=tuple(exclude)
        )

    def _inherited(self, goal: Goal, scene: Scene) -> Scene:
        """A goal without a folder of its own works in the one that was named before it, or anywhere if only one was."""
        named = [
            (clause.items[0].start, place.said)
            for clause in self._reading.wishes(Mood.DO)
            for place in places(clause, self._ground)
            if not place.target and not (place.beside and clause.says("create", "remove", "rename", "move"))
        ]
        before = [said for start, said in named if start <= goal.clause.items[0].start]
        said = before[-1] if before else None
        return replace(scene, folder=self._ground.path(said)) if said else scene

    def _spared(self) -> list[Selection]:
        return [spared(clause, self._ground, self._planner.categories) for clause in self._reading.wishes(Mood.SPARE)]

    # Words.

    def _reasoning(self, goals: Sequence[Goal]) -> str:
        return " ".join(f"“{self._said(goal.clause)}” means {goal.tool.name} ({goal.score:.2f})." for goal in goals)

    def _said(self, clause: Clause) -> str:
        """The clause as it was written."""
        start = min(item.start for item in clause.items)
        return self._reading.text[start : max(item.end for item in clause.items)]

    def _says(self, concept: str) -> bool:
        return any(clause.says(concept) for clause in self._reading.clauses)

    def _can(self) -> str:
        """What the tools do, one sentence each."""
        return "; ".join(tool.description.split(". ")[0].rstrip(".").lower() for tool in _foremost(self._all()))

    def _examples(self) -> str:
        """What could be said instead, one example of each skill."""
        told: dict[str, str] = {}
        for tool in _foremost(self._all()):
            plain = next((phrase for phrase in tool.phrases if not re.search("[`«]", phrase)), None)
            if plain:
                told.setdefault(tool.skill, f"“{plain}”")
        return ", ".join(told.values())

    def _say(self, phrases: say.Phrases, **values: str) -> str:
        return phrases[self._reading.language].format(**values)

    def _answered(self, phrases: say.Phrases, why: Why = Why.ANSWER, **values: str) -> Answered:
        return Answered(self._say(phrases, **values), why)


def _completed(task: Task, before: PlannerOutcome) -> Task:
    """The task with a bare answer put where it belongs: asked "into which folder?", `Docs` means "to Docs"."""
    answer = (task.clarification or "").strip(" .!?\"'“”„«»`")
    param = before.missing[0] if isinstance(before, Unclear) and len(before.missing) == 1 else ""
    link = LINKS.get(param)
    bare = re.sub(LEADING, "", answer, flags=re.IGNORECASE)
    wordy = (
        len(bare.split()) > 6
        or any(not ACTIONS.isdisjoint(word.concepts) for word in words(bare))
        or NO.match(folded(answer))
    )
    if link is None or wordy or not bare:
        return task
    return task.model_copy(update={"text": f'{task.text.rstrip(" .!?")} {link} "{bare}"', "clarification": None})


def _allowed(catalogue: Sequence[ToolDefinition], allowlist: Sequence[str]) -> list[ToolDefinition]:
    """The tools that the agent may use; an empty list is no list."""
    if not allowlist:
        return list(catalogue)
    return [tool for tool in catalogue if any(fnmatchcase(tool.name, pattern) for pattern in allowlist)]


def _foremost(tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """What is worth telling: each skill's changes, and the reads of skills that change nothing."""
    changing = {tool.skill for tool in tools if tool.mutates}
    return [tool for tool in tools if tool.mutates or tool.skill not in changing]


def _filters(clause: Clause) -> bool:
    """Does the clause choose files by age, size, or worth, which no tool can?"""
    if clause.says("size", "empty", "junk"):
        return True
    if clause.says(*KEEP):
        return not clause.says("keep")
    return any("age" in word.concepts and "create" not in word.concepts for word in clause.words)


def _narrowed(clause: Clause, scene: Scene, categories: Categories) -> bool:
    return bool(select(clause, scene.ground, categories).patterns or scene.only) or folders(clause, scene) != (".",)


def _stray(name: Named, tool: ToolDefinition) -> bool:
    """A file was named to a tool that changes whole folders."""
    takes = {"file", "files", "name", "new_name"} & {*tool.roles.values()}
    return tool.mutates and not takes and name.kind is not Name.GLOB and file_like(name)


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


def _paths(value: object) -> list[str]:
    return [value] if isinstance(value, str) else [str(path) for path in value] if isinstance(value, list) else []
