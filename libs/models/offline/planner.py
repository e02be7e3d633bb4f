"""The offline planner: from a task to a plan, a question, or an honest answer that no tool is needed or able.

It is careful in one direction only: what it does not understand it asks about, before anything could change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from libs.events.committee import Task
from libs.events.values import Candidate
from libs.models.offline import phrasebook as say
from libs.models.offline import quantities
from libs.models.offline.drafting import Draughtsman, NewId, ordered, plan_of, spread
from libs.models.offline.earlier import Lost, in_full
from libs.models.offline.filling import KEEP, Scene, choosing, fill, filled_names, filters, folders
from libs.models.offline.goals import PRONOUNS, Doubt, Goal, Intent, all_of, intent
from libs.models.offline.matching import Matcher
from libs.models.offline.measures import Filters, opposed
from libs.models.offline.places import Ground, NoSuchPlace, Outside, file_like, places
from libs.models.offline.reading import ACTIONS, KINDS, Clause, Mood, Name, Named, folded, read
from libs.models.offline.selection import Selection, select, spared, the_rest
from libs.models.ports import Answered, Drafted, PlannerOutcome, Unclear, Why
from libs.retrieval.words import language_of, words
from libs.skills import Categories, Effect, ToolDefinition, selected

QUESTION = re.compile(
    r"^\W*(how (do|can|would|could|should|to|does)|why|should (i|we)|what (if|happens|would|does)|did |have you|when "
    r"|who |(can|could|may|should) i "
    r"|is it (ok|okay|safe|fine)|do i (need|have)|darf|kann ich|puedo |podria yo"
    r"|se puede|es seguro|wie (kann|konnte|mach|losch|funktioniert)|warum|soll ich|was passiert|como "
    r"|por ?que |debo |deberia )"
)
YES = re.compile(
    r"^\W*(yes|yep|yeah|sure|ok|okay|do it|go ahead|please do|ja|klar|gerne?|mach das|si|vale|claro|hazlo)\b"
)
NO = re.compile(r"^\W*(no|nope|never ?mind|cancel|stop|nein|lass es|abbrechen|nada|dejalo)\W*$")
BOTH = re.compile(r"^\W*(both|all( of them)?|everything|beides?|alles?|alle|ambos|ambas|todo|las dos)\W*$")
REST = re.compile(r"\b(rm\s+-\w*[rf]|mkfs|dd\s+if=|:\(\)\s*\{)")

LEAST_OF_TALK = 3
"""Words that a sentence must have to be talk: shorter ones may be a deed that nobody knows ("defragment")."""
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
        self._answer = folded(task.clarification or "")
        self._now = planner.now()
        self._full = in_full(task, self._ground, self._now)
        self._reading = read(self._text(), self._ground.spoken, now=self._now)

    async def outcome(self) -> PlannerOutcome:
        if NO.match(self._answer):
            return self._answered(say.UNDONE)
        if REST.search(folded(self._task.text)):
            return self._answered(say.DANGEROUS, Why.DANGEROUS)
        if isinstance(self._full, Lost) and not self._answer:
            return Unclear(self._say(say.EARLIER, said=self._full.said), missing=("paths",))
        if self._says("undo"):
            return self._answered(say.UNDO, Why.DECLINED)
        if (beyond := self._outside()) is not None:
            return self._answered(say.OUTSIDE, Why.DANGEROUS, name=f"“{beyond}”")
        found = await intent(self._reading, self._planner.matcher, self._ground, self._task.skill, tools=self._all())
        if BOTH.match(self._answer):
            found = all_of(found)
        try:
            return self._no_goal(found) if not found.goals else self._open(found) or self._drafted(found)
        except Outside as place:
            return self._answered(say.OUTSIDE, Why.DANGEROUS, name=f"“{place}”")
        except NoSuchPlace as place:
            return self._no_such(str(place))

    def _outside(self) -> str | None:
        """A path beyond the workspace, whatever shall be done with it."""
        for name in (name for clause in self._reading.wishes(Mood.DO) for name in clause.names):
            try:
                if name.kind is Name.PATH:
                    self._ground.path(name.text, new=True)
            except Outside as place:
                return str(place)
        return None

    def _no_such(self, name: str) -> Unclear:
        """A name that is not there is asked about, with those that look like it."""
        if near := (*self._ground.deep(name), *self._ground.close(name)):
            names = self._say(say.OR).join(f"“{one}”" for one in dict.fromkeys(near))
            return Unclear(self._say(say.MEANT, name=name, names=names), missing=("path",))
        among = self._say(say.AMONG, names=", ".join((self._ground.names or ())[:8])) if self._ground.names else ""
        return Unclear(self._say(say.NO_SUCH, name=name, among=among), missing=("path",))

    def _all(self) -> list[ToolDefinition]:
        return list(self._tools.values())

    def _text(self) -> str:
        """The request, with the person's answer to our question as its last words."""
        text, answer = self._full if isinstance(self._full, str) else self._task.text, self._task.clarification
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
        ours = [doubt for doubt in asked if _of_its_own(doubt.clause) or self._names_files(doubt.clause)]
        if ours and not any(doubt.clause.says("foreign") for doubt in asked):
            return Unclear(self._say(say.WHAT_WITH, said=" … ".join(self._said(doubt.clause) for doubt in ours)))
        return self._answered(say.DECLINED, Why.DECLINED, examples=self._examples())

    def _names_files(self, clause: Clause) -> bool:
        """Does it speak of files here, in a pronoun or by words of their names?"""
        said = any(word.folded in PRONOUNS for word in clause.words)
        return said or any(self._ground.called(word.text) for word in clause.words if word.unknown)

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
        doubts = [doubt for doubt in doubts if self._matters(doubt)]
        if not changes:
            if any(doubt.clause.says("foreign") for doubt in doubts) and not any(
                _of_its_own(g.clause) for g in found.goals
            ):
                return self._answered(say.DECLINED, Why.DECLINED, examples=self._examples())
            doubts = [doubt for doubt in doubts if doubt.clause.acts]
        if changes and QUESTION.match(folded(self._task.text)) and not self._answer:
            return self._answered(say.HOW_TO, Why.CAPABILITY, skill=changes[0].tool.skill)
        if doubts and not YES.match(self._answer):
            return self._in_part(doubts)
        vague = next((goal for goal in found.goals if self._vague(goal)), None)
        if vague is not None:
            return self._unfiltered(vague)
        if changes and (left := self._left_open(changes)):
            return Unclear(self._say(say.SPARE_WHAT, said=left), missing=("exclude",))
        strange = [word for picked in self._spared() for word in picked.strange] + self._forbidden_unknown()
        if changes and strange:
            return Unclear(self._say(say.SPARE_WHAT, said=" ".join(strange)), missing=("exclude",))
        return None

    def _vague(self, goal: Goal) -> bool:
        """Are files chosen by a size or an age that no number says, or by one that no tool of the goal can take?"""
        takes = {*goal.tool.roles.values()}
        takes |= {
            role
            for need in goal.tool.needs
            if need.tool in self._tools
            for role in self._tools[need.tool].roles.values()
        }
        said = filters(goal.clause, self._scene())
        if goal.tool.mutates and quantities.ranking(goal.clause) and "most" not in said:
            return True
        if not said.keys() <= takes | {"order", "most"} or (
            goal.tool.mutates and "most" in said and "most" not in takes
        ):
            return True
        chooses = goal.tool.mutates or "larger_than" in goal.tool.roles
        return chooses and goal.tool.effect is not Effect.REPORT and _unmeasured(goal.clause)

    def _matters(self, doubt: Doubt) -> bool:
        """A whole sentence that names no file and no deed of ours is talk around the request."""
        clause = doubt.clause
        if clause.acts or _of_its_own(clause) or self._names_files(clause):
            return True
        return clause.joined in ("and", "or") or len(clause.items) < LEAST_OF_TALK

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
        if (open := self._open_choice(goal, scene)) is not None:
            return open
        filled = fill(goal.tool, goal.clause, scene)
        if filled.missing:
            return self._missing(goal.tool, filled.missing)
        everything = filled.listing and goal.tool.deletes(filled.args) and not goal.tool.roles.keys() <= {"groups"}
        if everything and not _narrowed(choosing(goal.tool, goal.clause, scene), scene, self._planner.categories):
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

    def _open_choice(self, goal: Goal, scene: Scene) -> Unclear | None:
        """Before a change: is "the photo" one of several, is anything left of the choice, is a name elsewhere?"""
        if not goal.tool.mutates:
            return None
        targets = {place.said for place in places(goal.clause, scene.ground) if place.target}
        if len(targets) > 1 or (targets and goal.tool.effect is Effect.DELETE):
            return Unclear(self._say(say.WHAT_WITH, said=self._said(goal.clause)), missing=("target",))
        clause = choosing(goal.tool, goal.clause, scene)
        chosen = select(clause, scene.ground, scene.categories).patterns
        if chosen and all(_covered(pattern, scene.exclude) for pattern in chosen):
            return Unclear(self._say(say.CONTRADICTS, said=self._said(goal.clause)))
        strange = select(clause, scene.ground, scene.categories).strange
        if (
            strange
            and not chosen
            and {"files", "listed"} & {*goal.tool.roles.values()}
            and not filled_names(clause, scene)
        ):
            return Unclear(self._say(say.SPARE_WHAT, said=" ".join(strange)), missing=("paths",))
        where = folders(clause, scene)[0]
        held = [path for path in scene.ground.within(where) if selected(path, include=chosen, exclude=scene.exclude)]
        if chosen and not clause.names and 0 < quantities.singles(clause) < len(held) and not filters(clause, scene):
            names = self._say(say.AMONG, names=", ".join(held[:8]))
            return Unclear(self._say(say.NO_SUCH_ONE, said=self._said(goal.clause), among=names), missing=("paths",))
        for name in clause.names:
            written = self._reading.text[name.start : name.end]
            if "/" in name.text and "/" not in written and where == "." and name.kind is Name.PATH:
                return self._no_such(name.text.rpartition("/")[2])
        return None

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
            self._reading.text,
            self._ground,
            self._planner.categories,
            only=tuple(only),
            exclude=tuple(exclude),
            filters=self._bounds(),
            node_kind=self._node_kind(),
        )

    def _bounds(self) -> Filters:
        """Sizes and times of the whole request: "only those of this year", "except what is over 1 GB"."""
        told: dict[str, Any] = {}
        for clause in self._reading.wishes(Mood.ONLY):
            told |= clause.filters
        for clause in self._reading.wishes(Mood.SPARE):
            told |= opposed(clause.filters) or {}
        return told

    def _node_kind(self) -> str | None:
        for clause in self._reading.clauses:
            plain = all(
                word.filler or {*word.concepts} <= {"file", "folder", "only", "not", "except", "keep"}
                for word in clause.words
            )
            if clause.names or not plain or clause.filters or clause.says("file") is clause.says("folder"):
                continue
            if clause.mood is Mood.ONLY or clause.mood is Mood.SPARE:
                only_files = clause.says("file") is (clause.mood is Mood.ONLY)
                return "file" if only_files else "directory"
        return None

    def _inherited(self, goal: Goal, scene: Scene) -> Scene:
        """A goal without a folder of its own works in the one that was named before it, or anywhere if only one was."""
        named = [
            (clause.items[0].start, place.said)
            for clause in self._reading.wishes(Mood.DO)
            for place in places(clause, self._ground)
            if not place.target and not (place.beside and clause.says("create", "remove", "rename", "move", "pack"))
        ]
        before = [said for start, said in named if start <= goal.clause.items[0].start]
        said = before[-1] if before else None
        return replace(scene, folder=self._ground.path(said)) if said else scene

    def _left_open(self, changes: Sequence[Goal]) -> str | None:
        """What is kept "but the newest", or "the rest" of nothing in particular, no listing can leave out."""
        for clause in self._reading.clauses:
            kept = clause.mood is not Mood.DO or clause.says("keep")
            of_copies = clause.says("duplicate") or any(goal.clause.says("duplicate") for goal in changes)
            if kept and not of_copies and quantities.superlative(clause):
                return self._said(clause)
        spares = any(clause.mood in (Mood.SPARE, Mood.ONLY) for clause in self._reading.clauses)
        rest = [
            goal.clause
            for goal in changes
            if goal.tool.deletes({}) and the_rest(goal.clause) and not goal.clause.says("duplicate")
        ]
        return self._said(rest[0]) if rest and not spares else None

    def _forbidden_unknown(self) -> list[str]:
        """Words of a "don't …" that nobody knows: what must not happen has to be understood."""
        never = self._reading.wishes(Mood.NEVER)
        return [
            word.text for clause in never for word in clause.words if word.unknown and not self._ground.has(word.text)
        ]

    def _spared(self) -> list[Selection]:
        return [
            spared(clause, self._ground, self._planner.categories)
            for clause in self._reading.wishes(Mood.SPARE)
            if opposed(clause.filters) is None and not _only_kinds_of_node(clause)
        ]

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
        """What each skill is good for; of one that is not ours, its tools' own sentences."""
        told: dict[str, str] = {}
        for tool in _foremost(self._all()):
            if (ours := say.ABILITIES.get(tool.skill)) is not None:
                told[tool.skill] = ours[self._reading.language]
            else:
                told[tool.name] = tool.description.split(". ")[0].rstrip(".").lower()
        return "; ".join(told.values())

    def _examples(self) -> str:
        """What could be said instead, one example of each skill."""
        told: dict[str, str] = {}
        for tool in _foremost(self._all()):
            usual = [phrase for phrase in tool.phrases if not re.search("[`«]", phrase)]
            spoken = [phrase for phrase in usual if language_of(phrase) == self._reading.language]
            plain = next(iter(spoken or (usual if self._reading.language == "en" else ())), None)
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


def _unmeasured(clause: Clause) -> bool:
    """Does the clause choose files by age, size or worth without saying how old, large or worthless?"""
    placed = {place.item for place in places(clause, Ground())}
    clause = replace(clause, items=tuple(item for item in clause.items if item not in placed))
    if clause.says("junk") or (clause.says("size") and not {"larger_than", "smaller_than"} & clause.filters.keys()):
        return True
    if clause.says("empty") and not clause.says("create") and quantities.emptiness(clause) is None:
        return True
    if clause.says(*KEEP) and not clause.says("keep") and quantities.ranking(clause) is None:
        return True
    timed = {"modified_before", "modified_after"} & clause.filters.keys()
    return not timed and any("age" in word.concepts and "create" not in word.concepts for word in clause.words)


def _of_its_own(clause: Clause) -> bool:
    """Does the clause say what it is about?"""
    return bool(clause.names or clause.filters) or clause.says(*KINDS, "duplicate", "file", "folder")


def _covered(pattern: str, exclude: Sequence[str]) -> bool:
    return pattern in exclude


def _only_kinds_of_node(clause: Clause) -> bool:
    said = all(
        word.filler or {*word.concepts} <= {"file", "folder", "only", "not", "except", "keep"} for word in clause.words
    )
    return said and not clause.names and clause.says("folder") is not clause.says("file")


def _narrowed(clause: Clause, scene: Scene, categories: Categories) -> bool:
    chosen = select(clause, scene.ground, categories).patterns or scene.only or filters(clause, scene)
    return bool(chosen) or folders(clause, scene) != (".",)


def _stray(name: Named, tool: ToolDefinition) -> bool:
    """A file was named to a tool that changes whole folders."""
    takes = {"file", "files", "name", "new_name", "archive", "base"} & {*tool.roles.values()}
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
