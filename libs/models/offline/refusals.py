"""What keeps one goal from its steps: what it lacks, what would be dangerous, and what could mean several files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from libs.models.offline import phrasebook as say
from libs.models.offline import quantities
from libs.models.offline.clauses import Clause, Name, Named
from libs.models.offline.drafting import paths
from libs.models.offline.ends import makes_copies, open_end
from libs.models.offline.excepting import parts
from libs.models.offline.filling import choosing, fill, filled_names, filters, folders, held, limited
from libs.models.offline.goals import Goal
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES as COUNTLESS
from libs.models.offline.originals import DETERMINERS
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.scenes import Scene
from libs.models.offline.selection import glob_folders, mixed, odd_kind, select
from libs.models.offline.voice import Voice
from libs.models.ports import Offer, PlannerOutcome, Unclear, Why
from libs.retrieval.words import Word
from libs.skills import Effect, ToolDefinition, selected


@dataclass(frozen=True, slots=True)
class Refusals:
    """Looks at a goal in its scene, before it becomes steps."""

    voice: Voice
    tools: Mapping[str, ToolDefinition]
    follows: bool = False
    """Has something been said before? Then "the invoices" may be those that were spoken of, and no folder."""

    def outcome(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        """The first objection, or None. Raises `Outside` or `NoSuchPlace`."""
        objections = (
            self._astray,
            self._too_many_names,
            self._no_folder,
            self._not_allowed,
            self._several_ends,
            self._choice,
            self._miscounted,
            self._that_folder,
            self._incomplete,
            self._everything,
            self._contradicted,
            self._invalid,
        )
        return next((said for object_to in objections if (said := object_to(goal, scene)) is not None), None)

    def _astray(self, goal: Goal, scene: Scene) -> Unclear | None:
        """A file was named to a tool that changes whole folders."""
        strays = [name.text for name in goal.clause.names if _stray(name, goal.tool)]
        return self.voice.asks(say.SPARE_WHAT, "path", said=" ".join(strays)) if strays else None

    def _no_folder(self, goal: Goal, scene: Scene) -> Unclear | None:
        """A folder that would go, where "the three invoices" names files that are called like it."""
        taken = {*_touched(goal, scene)} & scene.ground.folders if goal.tool.deletes({}) else set()
        folders = [name for name in goal.clause.names if scene.ground.has(name.text.strip("/")) in taken]
        if goal.clause.says("folder") or not any(self._as_files(name, goal.clause) for name in folders):
            return None
        return self.voice.asks(say.SPARE_WHAT, "paths", said=self.voice.said(goal.clause))

    def _as_files(self, name: Named, clause: Clause) -> bool:
        """A number before the name of a folder, or in talk of files an article, tells the files of that name."""
        at = clause.items.index(name)
        before = clause.items[at - 1] if at else None
        if not isinstance(before, Word) or name.kind is Name.QUOTE or "/" in name.text:
            return False
        counted = number_of(before.folded) is not None and before.folded not in COUNTLESS
        return counted or (self.follows and before.folded in DETERMINERS)

    def _too_many_names(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        """One new name, and several files that could get it."""
        if makes_copies(goal.tool):
            return self._copies_of_one_name(goal, scene)
        where = {place.item for place in places(goal.clause, scene.ground) if not place.target}
        names = [name for name in goal.clause.names if name.kind is not Name.GLOB and name not in where]
        one_to_one = {"file", "new_name"} <= {*goal.tool.roles.values()}
        if not one_to_one or len(names) <= 2 or not goal.tool.mutates:
            return None
        return self.voice.asks(say.WHAT_WITH, "file", said=self.voice.said(goal.clause))

    def _copies_of_one_name(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        """Several copies of one name, or a name that is there already: nobody knows what should become of that."""
        args = fill(goal.tool, goal.clause, scene).args
        given = {role: args.get(param) for param, role in goal.tool.roles.items()}
        files, name, target = paths(given["files"]), given["copy_name"], given["target"]
        within = next((path for path in files if target is not None and f"{target}/".startswith(f"{path}/")), None)
        if within is not None:
            return self.voice.answers(say.INTO_ITSELF, Why.DECLINED, name=within)
        if not parts(goal.tool, args, scene) and (one := open_end(goal.tool, args, goal.clause, scene)) is not None:
            return self._inside_or_named(goal, scene, name=one, end=str(target))
        if name is not None and len(files) != 1:
            return self.voice.asks(say.WHAT_WITH, "source", said=self.voice.said(goal.clause))
        if len(files) != 1:
            return None
        around = target or files[0].rpartition("/")[0]
        end = str(target or "") if name is None else f"{around}/{name}".lstrip("/").removeprefix("./")
        return self.voice.asks(say.TAKEN, "copy_name", name=end) if self._is_a_file(end, scene) else None

    def _inside_or_named(self, goal: Goal, scene: Scene, *, name: str, end: str) -> Unclear:
        """Asks, and offers the request in the words of each answer."""
        inside, named = self.voice.say(say.INSIDE, end=end), self.voice.say(say.NAMED, end=end)
        asked = self.voice.asks(say.INSIDE_OR_NAMED, name=name, end=end, inside=inside, named=named)
        text, place = self.voice.reading.text, next(p for p in places(goal.clause, scene.ground) if p.target)
        at = goal.clause.items.index(place.item)
        head, tail = text[: goal.clause.items[at - 1].start if at else place.item.start], text[place.item.end :]
        into = f'{text[: place.item.start]}{self.voice.say(say.FOLDER)} "{end}"{tail}'
        as_it = f'{head}{self.voice.say(say.AS)} "{end}"{tail}'
        return replace(asked, offers=(Offer(inside, into), Offer(named, as_it)))

    def _is_a_file(self, path: str, scene: Scene) -> bool:
        ground = scene.ground
        return path in (ground.paths or ()) or (ground.has(path) in ground.files and "/" not in path)

    def _not_allowed(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        lacking = next((need.tool for need in goal.tool.needs if need.tool not in self.tools), None)
        return self.voice.answers(say.NOT_ALLOWED, Why.DECLINED, tool=lacking) if lacking else None

    def _several_ends(self, goal: Goal, scene: Scene) -> Unclear | None:
        targets = {place.said for place in places(goal.clause, scene.ground) if place.target}
        beside = goal.clause.says("beside") and (goal.tool.effect is Effect.MOVE or goal.clause.says("copy"))
        odd = len(targets) > 1 or beside or (targets and goal.tool.effect is Effect.DELETE)
        if not odd or not goal.tool.mutates:
            return None
        return self.voice.asks(say.WHAT_WITH, "target", said=self.voice.said(goal.clause))

    def _choice(self, goal: Goal, scene: Scene) -> Unclear | None:
        """Before a change: is anything left of the choice, is it understood, is "the photo" one of several?"""
        if not goal.tool.mutates:
            return None
        clause = choosing(goal.tool, goal.clause, scene)
        picked = select(clause, scene.ground, scene.categories)
        if picked.patterns and {*picked.patterns} <= {*scene.exclude}:
            return self.voice.asks(say.CONTRADICTS, said=self.voice.said(goal.clause))
        if picked.lost or len(glob_folders(clause)) > 1:
            return self.voice.asks(say.SPARE_WHAT, "paths", said=" ".join(picked.lost) or self.voice.said(clause))
        takes_files = {"files", "listed"} & {*goal.tool.roles.values()}
        lost = not picked.patterns or not (clause.says("all") or mixed(clause, scene.ground))
        if takes_files and lost and _names_them(clause) and fill(goal.tool, goal.clause, scene).listing:
            return self.voice.asks(say.SPARE_WHAT, "paths", said=self.voice.said(goal.clause))  # named, and lost
        if takes_files and (odd := odd_kind(clause, scene.ground)):
            return self.voice.asks(say.SPARE_WHAT, "paths", said=odd)
        if picked.strange and not picked.patterns and takes_files and not filled_names(clause, scene):
            return self.voice.asks(say.SPARE_WHAT, "paths", said=" ".join(picked.strange))
        return self._one_of_several(goal, clause, scene, chosen=picked.patterns)

    def _miscounted(self, goal: Goal, scene: Scene) -> Unclear | None:
        """ "The three invoices", where there are more or fewer."""
        number = quantities.counted(goal.clause)
        picks = {"files", "listed"} & {*goal.tool.roles.values()}
        if number is None or not goal.tool.mutates or not picks or goal.clause.filters or goal.clause.says("number"):
            return None
        clause = choosing(goal.tool, goal.clause, scene)
        there = held(clause, scene)
        if quantities.most(clause) or len(there) == number or _names_them(clause):
            return None
        return self.voice.which_of(goal.clause, there)

    def _one_of_several(self, goal: Goal, clause: Clause, scene: Scene, *, chosen: tuple[str, ...]) -> Unclear | None:
        there = held(clause, scene)
        few = 0 < quantities.singles(clause) < len(there)
        if not chosen or clause.names or not few or filters(clause, scene):
            return None
        return self.voice.which_of(goal.clause, there)

    def _that_folder(self, goal: Goal, scene: Scene) -> Unclear | None:
        """ "Put them into Bergen, then zip that folder": all that is here is another one."""
        whole = "archive" in goal.tool.roles.values() and fill(goal.tool, goal.clause, scene).listing
        if not whole or not goal.clause.says("folder") or folders(goal.clause, scene) != (".",):
            return None
        others = (clause for clause in self.voice.reading.clauses if clause.items[0].start < goal.clause.items[0].start)
        led = any(place.target for clause in others for place in places(clause, scene.ground))
        return self.voice.asks(say.SPARE_WHAT, "paths", said=self.voice.said(goal.clause)) if led else None

    def _incomplete(self, goal: Goal, scene: Scene) -> Unclear | None:
        missing = fill(goal.tool, goal.clause, scene).missing
        return self.voice.lacks(goal.tool, missing) if missing else None

    def _everything(self, goal: Goal, scene: Scene) -> PlannerOutcome | None:
        """Nothing deletes all that is here, nor changes the folder that we work in."""
        filled = fill(goal.tool, goal.clause, scene)
        listing = filled.listing and goal.tool.deletes(filled.args) and not goal.tool.roles.keys() <= {"groups"}
        all_of_it = listing and not _narrowed(choosing(goal.tool, goal.clause, scene), scene)
        root = goal.tool.mutates and "." in _touched(goal, scene)
        return self.voice.answers(say.DANGEROUS, Why.DANGEROUS) if all_of_it or root else None

    def _contradicted(self, goal: Goal, scene: Scene) -> Unclear | None:
        """What goes whole leaves nothing of it out: "zip the folder without the film"."""
        own = select(choosing(goal.tool, goal.clause, scene), scene.ground, scene.categories).patterns
        if goal.tool.mutates and own and scene.only and not limited(own, scene.only):
            return self.voice.asks(say.CONTRADICTS, said=self.voice.said(goal.clause))
        if parts(goal.tool, fill(goal.tool, goal.clause, scene).args, scene):
            return None
        touched = _touched(goal, scene)
        whole = [*touched, *(path for folder in touched for path in scene.ground.below(folder))]
        # Of a folder in which nobody said what is, nobody knows whether something of it stays out.
        unseen = scene.ground.paths is None and scene.exclude and {*touched} & scene.ground.folders
        goes = (selected(path, include=scene.only, exclude=scene.exclude) for path in whole)
        if not goal.tool.mutates or (not unseen and all(goes)):
            return None
        return self.voice.asks(say.CONTRADICTS, said=self.voice.said(goal.clause))

    def _invalid(self, goal: Goal, scene: Scene) -> Unclear | None:
        args = fill(goal.tool, goal.clause, scene).args
        listed = {need.param: "$step(1).x" for need in goal.tool.needs if need.param not in args}
        result = goal.tool.validate({**args, **listed})
        return None if result.valid else self.voice.lacks(goal.tool, tuple(result.missing or args))


def _touched(goal: Goal, scene: Scene) -> list[str]:
    """The files that are named outright."""
    args = fill(goal.tool, goal.clause, scene).args
    params = (param for param, role in goal.tool.roles.items() if role in ("file", "files", "listed"))
    return [path for param in params for path in paths(args.get(param))]


def _names_them(clause: Clause) -> bool:
    """Files by their names; a folder's name only says where they go."""
    return any(name.kind is not Name.GLOB and file_like(name) for name in clause.names)


def _narrowed(clause: Clause, scene: Scene) -> bool:
    chosen = select(clause, scene.ground, scene.categories).patterns or scene.only or filters(clause, scene)
    return bool(chosen) or folders(clause, scene) != (".",)


def _stray(name: Named, tool: ToolDefinition) -> bool:
    takes = {"file", "files", "name", "new_name", "archive", "base"} & {*tool.roles.values()}
    return tool.mutates and not takes and name.kind is not Name.GLOB and file_like(name)
