"""A plan in plain words, with its files by name: what a question proposes, so that "yes" is enough.

Whoever is asked "manage-files or organize-by-type?" cannot know what either would do. So a question about a change says
what would happen to which files, as far as their names are known; where a size or a time chooses them, it says that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.events.values import Plan, Step
from libs.models.offline import phrasebook as say
from libs.models.offline.answers import Speaker
from libs.models.offline.ground import Ground
from libs.models.offline.rules import ruled
from libs.models.offline.selection import escaped
from libs.retrieval.lexicon import Language
from libs.skills import REFERENCE, Categories, Effect, ToolDefinition, selected

FEW = 5
"""Names that a proposal tells before the rest is only counted."""
FILES = ("paths", "source", "path")
"""The parameters that hold what a step is done to."""
RENAMES, MOVE = "batch-rename.rename", "manage-files.move"
SORTS = "organize-by-type.sort"
LISTINGS = ("manage-files.list", "search-files.find")


@dataclass(frozen=True, slots=True)
class Proposing:
    """Tells plans in one language, of what is known here."""

    tools: Mapping[str, ToolDefinition]
    ground: Ground
    categories: Categories
    language: Language

    def described(self, plan: Plan) -> str | None:
        """What the plan's changes come to; of a plan without any, its looks. None where it would find nothing to do."""
        changes = [step for step in plan.steps if step.mutates] or [plan.steps[-1]]
        teller = _Teller(plan, self)
        if any(teller.idle(step) for step in changes):
            return None
        told = [teller.deed(step, self.tools[step.tool]) for step in changes]
        return say.AND[self.language].join(dict.fromkeys(told))

    def finds(self, plan: Plan) -> bool:
        """Does each of its changes find files just where they are looked for, once those before it are done?"""
        teller = _Teller(plan, self)
        return all(teller.files(step) for step in plan.steps if step.mutates)

    def files(self, plan: Plan) -> tuple[str, ...]:
        """The files by name that the plan's changes are about, as far as they are known."""
        teller = _Teller(plan, self)
        changes = [step for step in plan.steps if step.mutates]
        return tuple(dict.fromkeys(path for step in changes for path in teller.files(step) if path != "."))

    def spoken(self, plan: Plan) -> Plan:
        """The plan with every step in plain words."""
        teller = _Teller(plan, self)
        steps = [
            step.model_copy(update={"description": _sentence(teller.deed(step, self.tools[step.tool]))})
            for step in plan.steps
        ]
        return plan.model_copy(update={"steps": tuple(steps)})


def _named(step: Step) -> list[str]:
    value = next((step.args[name] for name in FILES if name in step.args), ".")
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _holds(folder: str, target: str) -> bool:
    """Is it the folder itself, or one within it?"""
    return folder != "." and (target == folder or target.startswith(f"{folder}/"))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _sentence(deed: str) -> str:
    return f"{deed[:1].upper()}{deed[1:]}."


class _Teller:
    """Tells the steps of one plan. A look sees what the changes before it have made."""

    def __init__(self, plan: Plan, about: Proposing) -> None:
        self._steps = {step.ordinal: step for step in plan.steps}
        self._language = about.language
        self._grounds: dict[int, Ground] = {}
        ground = about.ground
        for step in plan.steps:
            self._grounds[step.ordinal] = ground
            if step.tool == MOVE:
                ground = ground.moved(self.files(step), str(step.args.get("target", ".")))
        self._speaker = Speaker(about.language, about.categories)
        self._choosing = self._speaker.choosing

    def deed(self, step: Step, tool: ToolDefinition) -> str:
        form = say.DEEDS.get(step.tool)
        if form is None:
            return tool.description.rstrip(".").lower()
        args = {name: str(value) for name, value in step.args.items()}
        target = args.get("target", args.get("archive", ""))
        name = args.get("new_name") or args.get("name") or args.get("base") or args.get("query") or ""
        end = say.TO[self._language].format(end=self._choosing.quoted(target)) if target and target != "." else ""
        end = say.UP[self._language] if step.tool == MOVE and target == "." else end
        called = say.CALLED[self._language].format(name=self._choosing.quoted(name)) if name else ""
        if step.tool == RENAMES:
            called = ruled(step.args, self._language, self._choosing.quoted, files=self.files(step))
        what = self._listed(step, step.args) if step.tool in LISTINGS else self._what(step)
        by = say.SORTED_BY[args["by"]][self._language] if args.get("by") in say.SORTED_BY else ""
        named = self._choosing.quoted(name)
        told = form[self._language].format(
            what=what, end=end, called=called, name=named, by=by, among=self._among(step)
        )
        return " ".join(self._in_full(told, step, tool).split())

    def _in_full(self, told: str, step: Step, tool: ToolDefinition) -> str:
        """With what nobody would think of: that the originals go, that the new folders come to be elsewhere."""
        if tool.effect is not Effect.DELETE and tool.deletes(step.args):
            return say.AND_GONE[self._language].format(deed=told)
        target = str(step.args.get("target", "."))
        elsewhere = any(path.rpartition("/")[0] != target for path in self.files(step))
        if step.tool == SORTS and target != "." and elsewhere:
            return say.SORTED_INTO[self._language].format(deed=told, end=self._choosing.quoted(target))
        return told

    def idle(self, step: Step) -> bool:
        """Does it get its files from a listing that is known to find none, in subfolders neither, or look for a text
        that is in none of their names, or move a folder into itself?
        """
        listing, find = self._listing(step), step.args.get("find")
        held = self._held(listing, recursive=True) if listing is not None else None
        lacks = isinstance(find, str) and held is not None and not any(find in _name(path) for path in held)
        return held == [] or lacks or any(_holds(one, str(step.args.get("target", ""))) for one in _named(step))

    def files(self, step: Step) -> Sequence[str]:
        if (listing := self._listing(step)) is not None:
            return self._held(listing) or ()
        return _named(step)

    def _listing(self, step: Step) -> Step | None:
        value = next((step.args[name] for name in FILES if name in step.args), ".")
        found = REFERENCE.match(value) if isinstance(value, str) else None
        return self._steps[int(found.group(1))] if found else None

    def _among(self, step: Step) -> str:
        """Of twins, the files among which they are looked for, where these are told by name."""
        found = REFERENCE.match(str(step.args.get("groups", "")))
        scan = self._steps[int(found.group(1))] if found is not None else None
        held = self._held(scan, recursive=True) if scan is not None and scan.args.get("include") else None
        if held:
            return say.AMONG_THESE[self._language].format(what=self._names(held))
        inside = scan is not None and scan.args.get("path", ".") != "."
        return f" {self._choosing.within(scan.args)}" if scan is not None and inside else ""

    def _what(self, step: Step) -> str:
        listing = self._listing(step)
        if listing is not None:
            own = [one for one in listing.args.get("exclude", ()) if one != escaped(str(step.args.get("target", "")))]
            return self._listed(listing, {**listing.args, "exclude": own})
        names = _named(step)
        return say.ALL_HERE[self._language] if names == ["."] else self._names(names)

    def _listed(self, look: Step, args: Mapping[str, Any]) -> str:
        """The files that a listing comes to, or what it chooses them by."""
        bound = [name for name in (*say.BOUNDS, "empty") if args.get(name) is not None]
        if held := self._held(look, exclude=args.get("exclude", ())):
            if not bound:
                return self._names(held)
            if args.get("include") and not {"most", "empty"} & {*bound}:
                return self._choosing.of_these(self._names(held), args)
        spared = ", ".join(map(self._choosing.quoted, () if args.get("include") else args.get("exclude", ())))
        but = self._speaker.say("but", names=spared) if spared else ""
        told = f"{say.THE[self._language].format(what=self._choosing.what(args))}{but}"
        return told if args.get("path", ".") == "." else f"{told} {self._choosing.within(args)}"

    def _held(self, look: Step, **otherwise: Any) -> list[str] | None:
        """None where nobody said what is there."""
        args = {**look.args, **otherwise}
        ground, where = self._grounds[look.ordinal], str(args.get("path", "."))
        if ground.paths is None or args.get("node_kind") == "directory" or args.get("most"):
            return None
        inside = ground.below(where) if args.get("recursive") else ground.within(where)
        include, exclude = args.get("include", ()), args.get("exclude", ())
        return [path for path in inside if selected(path, include=include, exclude=exclude)]

    def _names(self, names: Sequence[str]) -> str:
        if len(names) == 1:
            return self._choosing.quoted(names[0])
        folders, rest = {name.rpartition("/")[0] for name in names}, len(names) - FEW
        inside = (
            f" {self._choosing.within({'path': next(iter(folders))})}"
            if len(folders) == 1 and {*folders} != {""}
            else ""
        )
        shown = ", ".join(self._choosing.quoted(_name(name) if inside else name) for name in names[:FEW])
        more = f", {self._speaker.say('more', n=self._speaker.number(rest))}" if rest > 0 else ""
        return f"{self._speaker.count('file', len(names))}{inside} ({shown}{more})"
