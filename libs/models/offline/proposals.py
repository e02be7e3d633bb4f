"""A plan in plain words, with its files by name: what a question proposes, so that "yes" is enough.

Whoever is asked "manage-files or organize-by-type?" cannot know what either would do. So a question about a change says
what would happen to which files, as far as their names are known; where a size or a time chooses them, it says that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from libs.events.values import Plan, Step
from libs.models.offline import phrasebook as say
from libs.models.offline.answers import Speaker
from libs.models.offline.ground import Ground
from libs.retrieval.lexicon import Language
from libs.skills import REFERENCE, ToolDefinition, selected

FEW = 5
"""Names that a proposal tells before the rest is only counted."""
FILES = ("paths", "source", "path")
"""The parameters that hold what a step is done to."""
LISTINGS = ("manage-files.list", "search-files.find")


def described(plan: Plan, tools: Mapping[str, ToolDefinition], ground: Ground, language: Language) -> str | None:
    """What the plan's changes come to; of a plan without any, its looks. None where it would find nothing to do."""
    changes = [step for step in plan.steps if step.mutates] or [plan.steps[-1]]
    teller = _Teller(plan, ground, language)
    if any(teller.idle(step) for step in changes):
        return None
    told = [teller.deed(step, tools[step.tool]) for step in changes]
    return say.AND[language].join(dict.fromkeys(told))


def spoken(plan: Plan, tools: Mapping[str, ToolDefinition], ground: Ground, language: Language) -> Plan:
    """The plan with every step in plain words."""
    teller = _Teller(plan, ground, language)
    steps = [
        step.model_copy(update={"description": _sentence(teller.deed(step, tools[step.tool]))}) for step in plan.steps
    ]
    return plan.model_copy(update={"steps": tuple(steps)})


def _sentence(deed: str) -> str:
    return f"{deed[:1].upper()}{deed[1:]}."


class _Teller:
    """Tells the steps of one plan."""

    def __init__(self, plan: Plan, ground: Ground, language: Language) -> None:
        self._steps = {step.ordinal: step for step in plan.steps}
        self._ground, self._language = ground, language
        self._speaker = Speaker(language)

    def deed(self, step: Step, tool: ToolDefinition) -> str:
        form = say.DEEDS.get(step.tool)
        if form is None:
            return tool.description.rstrip(".").lower()
        args = {name: str(value) for name, value in step.args.items()}
        target = args.get("target", args.get("archive", ""))
        name = args.get("new_name") or args.get("name") or args.get("base") or args.get("query") or ""
        end = say.TO[self._language].format(end=f"“{target}”") if target and target != "." else ""
        called = say.CALLED[self._language].format(name=f"“{name}”") if name else ""
        what = self._listed(step.args) if step.tool in LISTINGS else self._what(step)
        told = form[self._language].format(what=what, end=end, called=called, name=f"“{name}”")
        return " ".join(told.split())

    def idle(self, step: Step) -> bool:
        """Does it get its files from a listing that is known to find none?"""
        listing = self._listing(step)
        return listing is not None and self._held(listing) == []

    def _listing(self, step: Step) -> Mapping[str, Any] | None:
        value = next((step.args[name] for name in FILES if name in step.args), ".")
        found = REFERENCE.match(value) if isinstance(value, str) else None
        return self._steps[int(found.group(1))].args if found else None

    def _what(self, step: Step) -> str:
        listing = self._listing(step)
        if listing is not None:
            return self._listed(listing)
        value = next((step.args[name] for name in FILES if name in step.args), ".")
        names = [str(one) for one in value] if isinstance(value, list) else [str(value)]
        return say.ALL_HERE[self._language] if names == ["."] else self._names(names)

    def _listed(self, args: Mapping[str, Any]) -> str:
        """The files that a listing comes to, or what it chooses them by."""
        bound = [name for name in say.BOUNDS if args.get(name) is not None]
        held = self._held(args)
        if held is not None and not bound:
            return self._names(held)
        kinds = [str(pattern) for pattern in args.get("include", ())]
        told = [say.FILES[self._language], ", ".join(kinds[:FEW]), *(self._bound(name, args[name]) for name in bound)]
        where = str(args.get("path", "."))
        told.append(say.WITHIN[self._language].format(place=f"“{where}”") if where != "." else "")
        return " ".join(part for part in told if part)

    def _held(self, args: Mapping[str, Any]) -> list[str] | None:
        """None where nobody said what is there."""
        ground, where = self._ground, str(args.get("path", "."))
        if ground.paths is None or args.get("node_kind") == "directory" or args.get("order"):
            return None
        inside = ground.below(where) if args.get("recursive") else ground.within(where)
        include, exclude = args.get("include", ()), args.get("exclude", ())
        return [path for path in inside if selected(path, include=include, exclude=exclude)]

    def _bound(self, name: str, value: object) -> str:
        told = self._speaker.size(value) if isinstance(value, int) and name.endswith("_than") else str(value)[:10]
        return say.BOUNDS[name][self._language].format(value=told)

    def _names(self, names: Sequence[str]) -> str:
        shown = ", ".join(f"“{name}”" for name in names[:FEW])
        rest = len(names) - FEW
        if len(names) == 1:
            return shown
        more = f", {self._speaker.say('more', n=self._speaker.number(rest))}" if rest > 0 else ""
        return f"{self._speaker.count('file', len(names))} ({shown}{more})"
