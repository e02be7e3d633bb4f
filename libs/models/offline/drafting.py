"""From goals to a plan: reads before writes, in the order that the effects or the person set, with references between
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from libs.events.values import Plan, Step
from libs.models.offline.archives import into_archive, is_archive
from libs.models.offline.excepting import Part, inside, parts
from libs.models.offline.filling import choosing, every_folder, fill, folders, held, new_names, patterns, ruled
from libs.models.offline.goals import Goal, Intent
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.quantities import criteria, singles
from libs.models.offline.scenes import Scene
from libs.models.offline.selection import escaped
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word
from libs.skills import Effect, Need, ToolDefinition, sources

NewId = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before it has a number of its own."""

    tool: ToolDefinition
    args: Mapping[str, Any]


@dataclass(slots=True)
class Draughtsman:
    """Collects steps. A read that is there already is used again, unless something has changed since."""

    tools: Mapping[str, ToolDefinition]
    steps: list[Draft] = field(default_factory=list)

    def add(self, goal: Goal, scene: Scene) -> list[Draft]:
        """Put down the goal's steps, its reads first; all that are its own."""
        filled = fill(goal.tool, goal.clause, scene)
        args = dict(filled.args)
        if some := parts(goal.tool, args, scene):
            return [step for part in some for step in self._put_part(part, goal, args)]
        own: list[int] = []
        for need in goal.tool.needs:
            if need.param not in args:
                own.append(self._read(need, goal, scene))
                args[need.param] = f"$step({own[-1]}).{need.field}"
            elif goal.tool.deletes(args):
                self._look_at(args[need.param], need)
        own.append(self._put(Draft(goal.tool, args)))
        return [self.steps[n - 1] for n in own]

    def _put_part(self, part: Part, goal: Goal, args: Mapping[str, Any]) -> list[Draft]:
        """A list of what goes of a folder, and the change to that alone."""
        need = next(need for need in goal.tool.needs if need.field == "nodes")
        listing, own = self.tools[need.tool], {role: param for param, role in goal.tool.roles.items()}
        read = self._put(Draft(listing, part.listing({role: param for param, role in listing.roles.items()})))
        rest = {param: value for param, value in args.items() if param != own.get("copy_name")}
        ends = {own["target"]: part.target} if part.target is not None else {}
        if "archive" in own:
            ends = {own["archive"]: rest.get(own["archive"], f"{part.folder}.zip")}
        made = self._put(Draft(goal.tool, rest | ends | {need.param: f"$step({read}).{need.field}"}))
        return [self.steps[read - 1], self.steps[made - 1]]

    def _read(self, need: Need, goal: Goal, scene: Scene) -> int:
        tool = self.tools[need.tool]
        clause = choosing(goal.tool, goal.clause, scene)
        around = replace(without_target(scene, goal), changes=goal.tool.mutates, feeds=True)
        if "base" in goal.tool.roles.values() and not _of_folders(goal, scene):
            dated = any({"date", "age"} & {*word.concepts} for word in criteria(goal.clause))
            rule = ruled(goal.clause, scene)
            numbered, around = rule.get("base"), replace(around, only=_with_text(rule, patterns(clause, around)))
            order = {"order": "oldest"} if dated else {"order": "name"} if numbered else {}  # img2 before img10
            around = replace(around, node_kind="file", filters={**around.filters, **order})
        return self._put(Draft(tool, fill(tool, clause, around).args))

    def _look_at(self, paths: Sequence[str], need: Need) -> None:
        """Nothing is deleted that was not read before (S0-14): one path is looked at, several are listed with their
        folder.
        """
        beside = [tool for tool in self.tools.values() if tool.skill == self.tools[need.tool].skill]
        look = next((tool for tool in beside if set(tool.roles.values()) == {"file"} and not tool.mutates), None)
        if len(paths) == 1 and look is not None:
            self._put(Draft(look, {next(iter(look.roles)): paths[0]}))
            return
        for folder in dict.fromkeys(path.rpartition("/")[0] or "." for path in paths):
            self._put(Draft(self.tools[need.tool], {"path": folder}))

    def _put(self, draft: Draft) -> int:
        """The ordinal of this step, of an equal read since the last change if there is one."""
        changed = max((n for n, step in enumerate(self.steps) if step.tool.mutates), default=-1)
        for n in range(changed + 1, len(self.steps)):
            if self.steps[n] == draft:
                return n + 1
        self.steps.append(draft)
        return len(self.steps)


def _with_text(rule: Mapping[str, Any], chosen: Sequence[str]) -> tuple[str, ...]:
    """A word is replaced only in the names that have it: of their kind, no other files are listed."""
    find = str(rule.get("find_text", ""))
    kinds = 0 < len(chosen) <= FEW and all(KIND.fullmatch(pattern) for pattern in chosen)
    word = kinds and find.isascii() and WORD.fullmatch(find)
    return tuple(f"*{find}{pattern}" for pattern in chosen) if word else tuple(chosen)


KIND, WORD = regex(r"\*\.\w+"), regex(r"[\w -]+")
FEW = 4
"""So many kinds are still told by name."""


def _of_folders(goal: Goal, scene: Scene) -> bool:
    """Are folders what is spoken of, and not only where: "in the folder Docs"?"""
    items = goal.clause.items
    where = {place.item for place in places(goal.clause, scene.ground)}
    nouns = [n for n, item in enumerate(items) if isinstance(item, Word) and "folder" in item.concepts]
    return any(not where & {*items[max(0, n - 1) : n + 3]} for n in nouns)


def without_target(scene: Scene, goal: Goal) -> Scene:
    """A folder that files are moved into is not itself moved."""
    if goal.tool.roles.get("target") != "target":
        return scene
    target = fill(goal.tool, goal.clause, scene).args.get("target")
    above = any(folder.startswith(f"{target}/") for folder in folders(goal.clause, scene))  # all of it would be out
    if above or not isinstance(target, str) or "/" in target:
        return scene
    return replace(scene, exclude=(*scene.exclude, target))


def ordered(intent: Intent) -> tuple[Goal, ...]:
    """As the person ordered them ("then"), else by effect: duplicates go before sorting, a report comes last.

    A list that was asked for keeps its place among the changes. Beside an archive that is unpacked or packed, and
    beside a copy, all is done as it was said, for what is deleted first is not there any more; but duplicates go before
    there are copies.
    """
    goals = list(intent.goals)
    first = [goal for goal in goals if goal.clause.says("first")]
    rest = [goal for goal in goals if goal not in first]
    if any(goal.clause.says("then", "unpack") for goal in goals):
        return (*first, *rest)
    if any(goal.clause.says("copy") or "archive" in goal.tool.roles.values() for goal in goals):
        return (*first, *sorted(rest, key=lambda goal: not _removes_duplicates(goal)))
    ranks: dict[int, int] = {}
    highest = 0
    for goal in rest:
        if goal.tool.effect is not Effect.READ:
            highest = max(highest, goal.tool.effect.rank)
        ranks[id(goal)] = highest if goal.tool.effect is Effect.READ else goal.tool.effect.rank
    return (*first, *sorted(rest, key=lambda goal: ranks[id(goal)]))


def _removes_duplicates(goal: Goal) -> bool:
    return goal.tool.mutates and any(need.field == "groups" for need in goal.tool.needs)


def spread(goal: Goal, scene: Scene) -> list[Scene]:
    """One scene per folder that the goal names: "sort Photos and Music by type"; one for all of them where its list or
    its comparison goes over several, or they go into one archive. One for each archive that is unpacked.
    """
    if archives := _archives(goal, scene):
        return [replace(scene, only=(escaped(archive),)) for archive in archives]
    if each := _each_folder(goal, scene):
        return [replace(scene, whole=folder) for folder in each]
    together = {"files", "file", "folders", "archive"} & {*goal.tool.roles.values()}
    if together or any(need.field == "groups" for need in goal.tool.needs):
        return [scene]
    if "name" in goal.tool.roles.values() and len(names := new_names(goal.clause, scene)) > 1:
        return [replace(scene, named=name) for name in names]
    where = folders(choosing(goal.tool, goal.clause, scene), scene)
    return [replace(scene, chosen=folder) for folder in where]


def _each_folder(goal: Goal, scene: Scene) -> list[str]:
    """Of "zip each folder in Trips", those right in it."""
    if "archive" not in goal.tool.roles.values() or not every_folder(goal.clause) or scene.ground.paths is None:
        return []
    told = [place for place in places(goal.clause, scene.ground) if into_archive(goal.clause) or not place.target]
    return inside(scene.ground.path(told[0].said) if told else ".", scene.ground)


def _archives(goal: Goal, scene: Scene) -> list[str]:
    """Of "unpack the zips", each: an archive is unpacked by itself, into a folder of its own."""
    clause = goal.clause
    ends = any(place.target for place in places(clause, scene.ground))
    if not clause.says("unpack") or ends or singles(clause) or any(map(file_like, clause.names)):
        return []
    return [path for path in held(clause, scene) if is_archive(path)]


def plan_of(steps: Sequence[Draft], *, reasoning: str, new_id: NewId) -> Plan:
    return Plan(
        plan_id=new_id(),
        reasoning=reasoning,
        steps=tuple(_step(n, draft, new_id) for n, draft in enumerate(steps, start=1)),
    )


def _step(ordinal: int, draft: Draft, new_id: NewId) -> Step:
    return Step(
        step_id=new_id(),
        ordinal=ordinal,
        description=described(draft),
        skill=draft.tool.skill,
        tool=draft.tool.name,
        args=dict(draft.args),
        depends_on=sources(draft.args),
        mutates=draft.tool.mutates,
    )


def described(draft: Draft) -> str:
    """The tool's own sentence and where: the step's words must find the skill again (DESIGN §7)."""
    where = draft.args.get("path")
    return draft.tool.description.rstrip(".") + (f" ({where})" if isinstance(where, str) and where != "." else "") + "."


def paths(value: object) -> list[str]:
    """The paths of an arg that holds one or several."""
    return [value] if isinstance(value, str) else [str(path) for path in value] if isinstance(value, list) else []
