"""Readings as steps: selections become listings by the roles and needs that tools declare, references bind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape
from posixpath import basename, dirname, join
from typing import Any, NoReturn

from libs.models.offline import texts
from libs.models.offline.intents import Reading
from libs.models.offline.selection import Doubt, Selection, beyond, excluded
from libs.models.offline.slots import NUMBERED, Series, Several, Target
from libs.models.offline.workspace_index import WorkspaceIndex
from libs.skills import Effect, Need, ToolDefinition, selected
from libs.skills.categories import split_suffix
from libs.texts import count


class Ask(Exception):
    """The person is asked."""

    def __init__(self, doubt: Doubt) -> None:
        super().__init__(doubt.question)
        self.doubt = doubt


@dataclass(frozen=True)
class ClauseResult:
    """The result of a clause, for the pronouns of later ones."""

    tool: ToolDefinition
    chosen: tuple[Selection, ...] = ()
    nodes: tuple[str, ...] = ()
    """References to what listings found."""
    product: str = ""
    """The new or changed file, as a path or a reference."""
    target: str = ""
    name: str = ""
    """The product's name, where the request gives it."""


@dataclass
class Steps:
    """The steps of one plan, as they are put together."""

    tools: Mapping[str, ToolDefinition]
    index: WorkspaceIndex
    shown: Sequence[str] = ()
    """The files that the last turn named."""
    last: ClauseResult | None = None
    """The last turn's result, planned again."""
    made: list[tuple[ToolDefinition, dict[str, Any], str]] = field(default_factory=list)
    results: list[ClauseResult] = field(default_factory=list)

    def add(
        self, reading: Reading, said: str, spared: Sequence[Selection] = (), around: Sequence[Selection] = ()
    ) -> None:
        """Add the steps of one reading. Raises `Ask`."""
        tool, plain = reading.tool, dict(reading.intent.set)
        target, param = "", ""
        chosen: tuple[Selection, ...] = ()
        over: tuple[Selection, ...] | None = None
        each: tuple[str, Sequence[str]] = ("", ("",))
        for name, value in reading.values.items():
            slot = reading.intent.slots[name]
            match value.meant:
                case Target(path=path):
                    target = plain[slot.param] = path
                case Selection(folders=folders) if slot.type == "folder" and not slot.param:
                    over = _both(over or (Selection(kind="file"),), (Selection(folders=folders, placed=True),))
                case Selection() as one:
                    plain[slot.param] = self._single(one, slot.type)
                    target, chosen = (plain[slot.param], chosen) if slot.type == "target" else (target, (one,))
                case Several(names=names):
                    each = slot.param, names
                case Series(base=base, digits=digits):
                    plain |= {"base": base, "digits": digits}
                case tuple() as found if slot.type == "patterns":
                    plain[slot.param] = list(found)
                case tuple() as found:
                    over, param = _both(over, found) if over else found, slot.param or param
                case other if slot.param:
                    plain[slot.param] = other
        over = self._default(reading) if over is None else over
        if around:
            over = _both(over, around) if over else self._unplaced()
        if plain.get("target") == "$there":
            target = plain["target"] = self._single(Selection(refers="one", said="there"), "target")
        self._check_names(plain)
        self._finish_names(plain, chosen)
        if looks_at_all(tool) and tool.mutates and any(result.tool.method == "copy_nodes" for result in self.results):
            raise Ask(Doubt(texts.COPIES))
        if over is not None:
            self._over(tool, plain, self._spared(over, spared, target, tool), param, said, target)
            return
        for one_of in each[1]:
            self._put(tool, {**plain, each[0]: one_of} if each[0] else plain, said)
        self._close(tool, plain, chosen or ((Selection(names=tuple(each[1])),) if each[0] else ()), (), target)

    def _close(
        self,
        tool: ToolDefinition,
        plain: Mapping[str, Any],
        chosen: Sequence[Selection],
        nodes: Sequence[str],
        target: str,
    ) -> None:
        product, name = self._product(tool, plain, chosen), self._called(tool, plain, chosen)
        self.results.append(ClauseResult(tool, tuple(chosen), tuple(filter(None, nodes)), product, target, name))

    def _unplaced(self) -> NoReturn:
        raise Ask(Doubt(texts.STEPS))

    def _default(self, reading: Reading) -> tuple[Selection, ...] | None:
        """Return the folder's files if the template has no slot for files."""
        if looks_at_all(reading.tool):
            return (Selection(everything=True),)
        slots = [
            name for name, slot in reading.intent.slots.items() if slot.type in ("selection", "contents") and slot.param
        ]
        if not slots or slots[0] in reading.values:
            return None
        return (Selection(kind="file"),)

    def _finish_names(self, plain: dict[str, Any], chosen: Sequence[Selection]) -> None:
        """Keep the extension of the old name. A base with a number in it begins a series."""
        name, old = (
            _text(plain.get("new_name")),
            next((one.names[0] for one in chosen if one.names), _text(plain.get("path"))),
        )
        if name and old and old not in self.index.folders and not split_suffix(name)[1]:
            plain["new_name"] = name + split_suffix(basename(old))[1]
        if "new_name" in plain and old and "source" in plain:
            plain.setdefault("target", dirname(old) or ".")
        if "digits" not in plain and (found := NUMBERED.match(_text(plain.get("base")))):
            plain |= {"base": found["base"], "digits": len(found["number"])}

    def _check_names(self, plain: Mapping[str, Any]) -> None:
        """Raise `Ask` if no name has the text that is to be removed from names."""
        find = _text(plain.get("find"))
        if find and self.index.knows_all and not any(find in basename(path) for path in self.index.files):
            raise Ask(Doubt(texts.NOT_IN_NAMES.format(said=find), find))

    def _over(
        self,
        tool: ToolDefinition,
        plain: dict[str, Any],
        chosen: Sequence[Selection],
        param: str,
        said: str,
        target: str,
    ) -> None:
        """Apply the tool to selections. Each has its listing; a tool that takes one list gets them joined."""
        chosen = [self._opened(tool, plain, each) for each in chosen]
        if any(each.each for each in chosen) and not _repeats(tool) and "archive" not in plain:
            raise Ask(Doubt(texts.EACH))
        if len(chosen) > 1 and not _repeats(tool):
            chosen = (self._joined(chosen),)
        nodes: list[str] = []
        for each in chosen:
            args = dict(plain)
            if param:
                paths = self._paths(tool, each, said)
                args[param] = paths
                nodes.append(paths if isinstance(paths, str) else "")
            else:
                self._spread_over(tool, args, each, said)
            self._put(tool, args, said)
            if tool.effect in (Effect.READ, Effect.REPORT) and "nodes" in tool.returns:
                nodes.append(f"$step({len(self.made)}).nodes")
        self._close(tool, plain, chosen, nodes, target)

    def _opened(self, tool: ToolDefinition, plain: dict[str, Any], each: Selection) -> Selection:
        """Replace a folder by its contents if it is sorted, or packed without a part of it."""
        folders = bool(each.names) and all(name in self.index.folders for name in each.names)
        sorts = next((param for param, role in tool.roles.items() if role == "sorted_into"), None)
        if sorts is not None:
            each = replace(each, names=(), folders=each.names) if folders else each
            each = each if each.names else replace(each, kind="file")
            if len(each.tops) == 1 and not each.refers:
                plain.setdefault(sorts, each.tops[0])
        elif folders and each.exclude:
            if tool.deletes({}) or tool.effect is Effect.MOVE or len(each.names) > 1:
                raise Ask(Doubt(texts.PART_OF_FOLDER.format(said=each.names[0])))
            plain.setdefault("archive", f"{each.names[0]}.zip") if "archive" in tool.properties else None
            return replace(each, names=(), folders=each.names, kind=None)
        if any(
            _text(plain.get("target")) == name or _text(plain.get("target")).startswith(f"{name}/")
            for name in each.names
        ):
            raise Ask(Doubt(texts.INTO_ITSELF.format(said=each.names[0])))
        if each.order and not tool.mutates and not each.folders and not each.placed:
            each = replace(each, deep=True)
        if not tool.mutates and self._only_below(each):
            each = replace(each, deep=True)
        if "include" in tool.roles.values() and tool.effect is Effect.REPORT and (each.names or each.refers):
            if each.refers and self.results and len(self.results[-1].chosen) == 1:
                before = self.results[-1].chosen[0]
                return replace(before, shallow=not (before.deep or before.names))
            named = each.names or self._named(each)
            if len(named) > 1 and any(name in self.index.folders and not self.index.holds(name) for name in named):
                raise Ask(Doubt(texts.STEPS))  # One item, such as node_modules, is measured by itself.
            held = (escape(name) + ("/*" if name in self.index.folders else "") for name in named)
            each = replace(each, names=(), refers=None, patterns=tuple(held), folders=(".",))
        return each

    def _only_below(self, each: Selection) -> bool:
        """Return whether what names select is in subfolders alone."""
        if each.names or not each.include or not self.index.knows_all or each.shallow or each.placed:
            return False
        folders = each.kind == "directory"
        found = [
            self.index.matching(each.include, folders=each.tops, deep=deep, exclude=each.exclude, directories=folders)
            for deep in (False, True)
        ]
        return not found[0] and bool(found[1])

    def _spread_over(self, tool: ToolDefinition, args: dict[str, Any], each: Selection, said: str) -> None:
        """Set the parameters of the tool, or of the read that it needs, from a selection."""
        need = next(iter(tool.needs), None)
        if need is None:
            args.update(self._listing(tool, each))
            return
        look = self.tools[need.tool]
        moved = {name: args.pop(name) for name in [*args] if name not in tool.properties and name in look.properties}
        args[need.param] = self._looked(need, {**self._listing(look, each), **moved}, said)

    def _paths(self, tool: ToolDefinition, each: Selection, said: str) -> Any:
        """Return the paths of a selection: by name, from an earlier step, or from a listing of its own."""
        if each.refers:
            return self._earlier(tool, each, said)
        if each.names and not tool.deletes({}) and not each.exclude:
            return list(each.names)
        need = next((need for need in tool.needs), None)
        if need is None:
            raise Ask(Doubt(texts.STEPS))
        return self._looked(need, self._listing(self.tools[need.tool], each), said)

    def _looked(self, need: Need, args: dict[str, Any], said: str) -> str:
        """Return a reference to a read. An equal earlier one is used again if nothing has changed since."""
        look = self.tools[need.tool]
        for n, (tool, held, _) in enumerate(self.made, 1):
            if (
                tool is look
                and args.items() <= held.items() <= {**look.defaults(), **args}.items()
                and not any(later.mutates for later, _, _ in self.made[n:])
            ):
                return f"$step({n}).{need.field}"
        self._put(look, args, f"Find: {said}")
        return f"$step({len(self.made)}).{need.field}"

    def _listing(self, tool: ToolDefinition, each: Selection) -> dict[str, Any]:
        """Return a selection as arguments, by the roles of a listing's parameters. Raises `Ask` if it cannot."""
        if each.refers:
            each = self._recalled(each)
        said: dict[str, Any] = dict(each.limits)
        tops = each.tops
        if each.shallow and tool.properties.get("recursive", {"const": True}).get("const"):
            below = (f"{escape(top)}/*/*" if top != "." else "*/*" for top in tops)
            each = replace(each, exclude=(*each.exclude, *below))
        said |= {"folders": list(tops)} if len(tops) > 1 else {"folder": tops[0]}
        said |= {role: list(found) for role, found in (("include", each.include), ("exclude", each.exclude)) if found}
        said |= {role: found for role, found in (("order", each.order), ("most", each.most)) if found is not None}
        if each.sort and "order" not in said:
            said["order"] = each.sort
        if each.kind in ("file", "directory") and not each.names:
            said["node_kind"] = each.kind
        elif each.kind == "any" and each.limits and not dict(each.limits).get("empty"):
            said["node_kind"] = "file"  # A folder has no age and no size of its own.
        elif each.kind == "any" and (each.deep or each.limits):
            said["node_kind"] = "any"
        if each.deep:
            said["recursive"] = True
        return _by_roles(tool, said)

    def _spared(
        self, chosen: Sequence[Selection], spared: Sequence[Selection], target: str, tool: ToolDefinition
    ) -> list[Selection]:
        """Return the selections without what stays. Raises `Ask` if nothing is left, or if the words are ambiguous."""
        kept = [each for each in spared if each.bounded]
        patterns, misread = excluded(kept)
        limits = beyond(kept) or ()
        if misread and not limits:
            raise Ask(Doubt(texts.SPARED.format(said=kept[0].said), kept[0].said))
        chosen = _both(chosen, (Selection(limits=limits),)) if limits else chosen
        return [self._checked(each, patterns, target, tool) for each in chosen]

    def _checked(self, each: Selection, patterns: Sequence[str], target: str, tool: ToolDefinition) -> Selection:
        if each.other and not (patterns or each.exclude):
            raise Ask(Doubt(texts.OTHERS))
        if each.refers == "these" and not self.results and not self.shown and not tool.deletes({}):
            each = replace(each, refers=None, kind="file")
        if each.refers == "rest" and patterns:
            raise Ask(Doubt(texts.REST.format(names=texts.names(patterns)), "", ()))
        folders = any(name in self.index.folders for name in each.names)
        held = (*each.exclude, *(patterns if folders or not each.names else ()))
        if tool.deletes({}) and not each.bounded and not held and not looks_at_all(tool):
            raise Ask(Doubt(texts.EVERYTHING))
        if each.bare and not tool.mutates and self.shown and not self.results:
            each = replace(each, names=tuple(self.shown))
        if each.bare and (tool.mutates or (not self.shown and self.last and self.last.tool.effect is Effect.REPORT)):
            raise Ask(Doubt(texts.AMONG))
        kind = each.kind
        if each.everything and held and not self._are_paths(held):
            kind = "file"
        if each.everything and target and target in self.index.folders:
            held = (*held, escape(target))
        chosen = replace(each, exclude=tuple(dict.fromkeys(held)), kind=kind)
        before = {name for result in self.results for one in result.chosen for name in one.names}
        near = tuple(name for name in before if each.one and each.include and selected(name, include=each.include))
        if len(near) == 1:  # "Unzip fonts.zip, then delete the zip."
            chosen = replace(chosen, names=near, stems=(), endings=None, patterns=())
        if tool.mutates:
            self._count(chosen, said=bool(held))
        return chosen

    def _are_paths(self, patterns: Sequence[str]) -> bool:
        return all(any(escape(folder) == pattern for folder in self.index.folders) for pattern in patterns)

    def _count(self, each: Selection, *, said: bool) -> None:
        """Raise `Ask` if the number of known files contradicts the words, or if only the files can tell it."""
        if each.names or each.refers:
            return
        known = self.index.knows_all or (self.index.knows_top and not each.deep)
        if each.count is not None and each.order is None and not (known and each.by_name_only):
            raise Ask(Doubt(texts.WHICH_OF.format(count=each.count)))
        hollow = each.kind == "directory" and each.limits == (("empty", True),)
        if not known or not (each.by_name_only or hollow) or not (each.count or each.include or hollow):
            return
        found = self.index.matching(
            each.include, folders=each.tops, deep=each.deep, exclude=each.exclude, directories=each.kind == "directory"
        )
        found = [path for path in found if not (hollow and self.index.holds(path))]
        if said and not found and self.index.matching(each.include, folders=each.tops, deep=each.deep):
            raise Ask(Doubt(texts.NOTHING_LEFT))
        if each.count is not None and found and len(found) != each.count and each.order is None:
            raise Ask(
                Doubt(texts.COUNT.format(said=each.count, found=len(found), names=texts.names(found)), "", tuple(found))
            )
        if each.one and len(found) > 1 and (hollow or each.kind != "directory"):
            amount, offers = count(len(found), "folder" if hollow else "file"), found[: texts.SHOWN_MOST]
            question = texts.ONE.format(found=amount, said=each.said, names=texts.choices(offers))
            raise Ask(Doubt(question, each.said, tuple(offers)))

    def _joined(self, chosen: Sequence[Selection]) -> Selection:
        """Several selections as one list of names, where names alone decide."""
        names: list[str] = []
        for each in chosen:
            if not each.by_name_only or not self.index.knows_all or each.kind == "any":
                raise Ask(Doubt(texts.STEPS))
            found = each.names or self.index.matching(
                each.include, folders=each.tops, deep=each.deep, exclude=each.exclude
            )
            names += found or self._absent(each)
        return Selection(names=tuple(dict.fromkeys(names)))

    def _absent(self, each: Selection) -> NoReturn:
        """Ask about a part of a list that selects nothing here."""
        near = self.index.matching(each.include, folders=each.tops, deep=True, exclude=each.exclude)
        told = texts.NEAR.format(names=texts.names(near)) if near else ""
        raise Ask(Doubt(texts.NOT_HERE.format(said=each.said, near=told), each.said))

    def _recalled(self, each: Selection) -> Selection:
        """Return the files of the last turn that fit the words: "those 2 files", "those pdfs over 5 MB"."""
        kept = [name for name in self._named(each) if selected(name, include=each.include, exclude=each.exclude)]
        if each.count is not None and len(kept) != each.count:
            raise Ask(
                Doubt(texts.COUNT.format(said=each.count, found=len(kept), names=texts.names(kept)), "", tuple(kept))
            )
        names = tuple(kept) or self._unknown(each)
        return replace(each, refers=None, names=names, stems=(), endings=None, patterns=(), exclude=())

    def _earlier(self, tool: ToolDefinition, each: Selection, said: str) -> Any:
        """Resolve "it" and "them": from this request first, else from the last turn."""
        refers = each.refers or "many"
        last = self.results[-1] if self.results else None
        if refers == "thing" and last is not None:
            named = tuple(name for each in last.chosen for name in each.names)
            return self._paths(tool, Selection(names=named), said) if len(named) == 1 else self._unknown(each)
        if last is None:
            known = self._recalled(each)
            if known.by_name_only and not known.folders and not tool.deletes({}):
                return list(known.names)
            need = next(iter(tool.needs), None) or self._unknown(each)
            return self._looked(need, self._listing(self.tools[need.tool], known), said)
        if replace(each, refers=None).bounded or each.count:
            raise Ask(Doubt(texts.STEPS))
        if refers == "one" and tool.deletes({}) and last.tool.mutates and last.tool.method != "unpack_archive":
            self._unknown(each)
        if refers == "one" and last.product:
            return (
                [last.product]
                if last.product.startswith("$") or not tool.deletes({})
                else self._paths(tool, Selection(names=(last.product,)), said)
            )
        if last.tool.effect in (Effect.MOVE, Effect.RENAME, Effect.DELETE):
            names = self._moved(last)
            return self._paths(tool, Selection(names=names), said) if names else self._unknown(each)
        if len(last.nodes) == 1:
            return last.nodes[0]
        names = tuple(name for one in last.chosen for name in one.names)
        return self._paths(tool, Selection(names=names), said) if names else self._unknown(each)

    def _moved(self, last: ClauseResult) -> tuple[str, ...]:
        """Return the new paths of files that were moved by name."""
        if last.tool.effect is not Effect.MOVE or not last.target or not all(each.names for each in last.chosen):
            return ()
        return tuple(join(last.target, basename(name)) for each in last.chosen for name in each.names)

    def _named(self, each: Selection) -> tuple[str, ...]:
        """Return the files of the last turn. Raises `Ask` if it named none, or several and one is meant."""
        made = self.last.name if self.last else ""
        if not self.shown and made and each.refers == "one":
            return (made,)
        if not self.shown or each.refers == "rest":
            self._unknown(each)
        if each.refers in ("one", "thing") and len(self.shown) > 1:
            question = texts.IT_WHICH.format(said=each.said, names=texts.choices(self.shown[: texts.SHOWN_MOST]))
            raise Ask(Doubt(question, each.said, tuple(self.shown[: texts.SHOWN_MOST])))
        return tuple(self.shown)

    def _unknown(self, each: Selection) -> NoReturn:
        raise Ask(Doubt(texts.WHAT_BEFORE.format(said=each.said), each.said))

    def _single(self, one: Selection, type: str) -> str:
        """One path: named, a folder, or what "it" is."""
        if one.names:
            return one.names[0]
        if not one.refers:
            return one.folders[0]
        last = self.results[-1] if self.results else None
        if last is None:
            before = self.last.target if self.last and one.refers == "folder" else self.last.name if self.last else ""
            return before or self._named(one)[0]
        if one.refers == "folder":
            return last.target or self._unknown(one)
        if type == "target":
            return last.target or last.product or self._unknown(one)
        names = [name for each in last.chosen for name in each.names]
        return last.product or (names[0] if len(names) == 1 else self._unknown(one))

    def _product(self, tool: ToolDefinition, args: Mapping[str, Any], chosen: Sequence[Selection]) -> str:
        """Return what "it" means next: the new file, else the only one that was used."""
        at = len(self.made)
        if "archive" in tool.returns:
            return f"$step({at}).archive"
        names = [name for each in chosen for name in each.names]
        if tool.method == "create_node":
            return join(_text(args.get("path")) or ".", _text(args.get("name"))).removeprefix("./")
        if tool.effect is Effect.RENAME and len(names) == 1 and "new_name" in args:
            return f"$step({at}).path"
        if tool.effect is Effect.MOVE and len(names) == 1 and "target" in args:
            return join(_text(args["target"]), basename(names[0])).removeprefix("./")
        return names[0] if len(names) == 1 and tool.effect is not Effect.DELETE else ""

    def _called(self, tool: ToolDefinition, plain: Mapping[str, Any], chosen: Sequence[Selection]) -> str:
        """Its name, for a later turn."""
        product = self._product(tool, plain, chosen)
        return (
            _text(plain.get("archive")) if "archive" in tool.returns else product if not product.startswith("$") else ""
        )

    def _put(self, tool: ToolDefinition, args: dict[str, Any], said: str) -> None:
        needed = {name: value for name, value in tool.defaults().items() if name in tool.required}
        self.made.append((tool, {**needed, **args}, said[:1].upper() + said[1:]))


def _both(wanted: Sequence[Selection], said: Sequence[Selection]) -> tuple[Selection, ...]:
    """Merge limits and places from another part of the request into selections."""
    if len(said) != 1 or said[0].names or said[0].include or any(each.folders and said[0].folders for each in wanted):
        raise Ask(Doubt(texts.STEPS))
    more = said[0]
    return tuple(
        replace(
            each,
            limits=(*each.limits, *more.limits),
            folders=each.folders or more.folders,
            deep=each.deep or more.deep,
            exclude=(*each.exclude, *more.exclude),
            order=each.order or more.order,
            most=each.most or (more.most and (each.count or (1 if each.one else more.most))),
            placed=each.placed or more.placed,
        )
        for each in wanted
    )


def _repeats(tool: ToolDefinition) -> bool:
    """Return whether the tool may be called once for each selection."""
    return "archive" not in tool.returns


def looks_at_all(tool: ToolDefinition) -> bool:
    """Return whether the tool works on a whole folder by default, through a read that finds what it needs."""
    return any(need.field != "nodes" for need in tool.needs)


def _by_roles(tool: ToolDefinition, said: Mapping[str, Any]) -> dict[str, Any]:
    params = {role: param for param, role in tool.roles.items()} | (
        {"include": next((param for param, role in tool.roles.items() if role == "wanted"), "include")}
        if "wanted" in tool.roles.values()
        else {}
    )
    if "folders" in said and "folders" not in params:
        raise Ask(Doubt(texts.STEPS))
    unknown = [role for role in said if role not in params and role not in ("recursive",)]
    if unknown:
        raise Ask(Doubt(texts.STEPS))
    args = {params[role]: value for role, value in said.items() if role in params}
    return {**args, "path": "."} if "path" in tool.required and "path" not in args else args


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
