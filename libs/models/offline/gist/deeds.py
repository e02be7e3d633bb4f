"""Deeds that a gist comes to: the steps of a plan, as they are offered for a yes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.models.offline.gist.story import Some
from libs.models.offline.selection import escaped
from libs.models.ports import Call

LIST, NODES = "manage-files.list", "$step({n}).nodes"


@dataclass(frozen=True, slots=True)
class Deed:
    """Calls of tools in their order; `$step(n)` counts from this deed's first."""

    calls: tuple[Call, ...]

    def then(self, other: Deed) -> Deed:
        """Both, one after the other."""
        later = ((tool, _shifted(args, len(self.calls))) for tool, args in other.calls)
        return Deed((*self.calls, *later))

    def bounded(self, **bounds: Any) -> Deed:
        """The same of what its lists show within these bounds."""
        return Deed(tuple((tool, {**args, **bounds} if tool == LIST else args) for tool, args in self.calls))


def listing(some: Some) -> Call:
    """A look at just these files, as far as sizes and times let them through. Names at the top are for files there:
    what is called so in a folder is another file.
    """
    here = {"path": ".", "recursive": any("/" in path for path in some.files), "node_kind": "file"}
    return LIST, {**here, "include": [escaped(path) for path in some.files], **some.filters}


def on(some: Some, tool: str, param: str, **args: Any) -> Deed:
    """One change to these files, which are looked at first (S0-14)."""
    return Deed((listing(some), (tool, {**args, param: NODES.format(n=1)})))


def delete(some: Some) -> Deed:
    return on(some, "manage-files.delete", "paths")


def move(some: Some, folder: str) -> Deed:
    return on(some, "manage-files.move", "source", target=folder)


def rename(path: str, new_name: str) -> Deed:
    """One file or folder; `new_name` is whole, with its extension."""
    return Deed((("manage-files.rename", {"path": path, "new_name": new_name}),))


def restyle(some: Some, **rule: Any) -> Deed:
    """Many by one rule of `batch-rename`: base and digits, find and replace, prefix, suffix, case, dated, written."""
    deed = on(some, "batch-rename.rename", "paths", **rule)
    if "base" not in rule:
        return deed
    (tool, args), *rest = deed.calls
    return Deed(((tool, {**args, "order": "name"}), *rest))


def pack(some: Some, archive: str, *, remove: bool = False) -> Deed:
    return on(some, "archive-files.pack", "paths", archive=archive, remove=remove)


def pack_folder(folder: str, **args: Any) -> Deed:
    """All of a folder, called like it if no `archive` is; with `remove` it is the folder that goes."""
    look = ("manage-files.get_metadata", {"path": folder})
    return Deed((look, ("archive-files.pack", {"paths": [folder], **args})))


def sort(some: Some, by: str, target: str) -> Deed:
    """By `extension_category`, `year`, `month`, `name_year` or `name_month`, into folders within `target`."""
    return on(some, "organize-by-type.sort", "source", by=by, target=target)


def undouble(folder: str = ".", **bounds: Any) -> Deed:
    """Of files with one content one is kept."""
    scan = {"path": folder, "strategy": "hash", **bounds}
    return Deed((("remove-duplicates.scan", scan), ("remove-duplicates.remove", {"groups": "$step(1).groups"})))


def twins(folder: str = ".") -> Deed:
    """A look at what is there more than once."""
    return Deed((("remove-duplicates.scan", {"path": folder, "strategy": "hash"}),))


def search(query: str, folder: str = ".", among: Sequence[str] = ()) -> Deed:
    """For what files say."""
    within = {"among": list(among)} if among else {}
    return Deed((("search-files.search", {"query": query, "top_k": 10, "path": folder, **within}),))


def show(some: Some, **how: Any) -> Deed:
    """A list of these: `order` and `most` for the largest, the newest and the like."""
    tool, args = listing(some)
    return Deed(((tool, {**args, **how}),))


def _shifted(value: Any, by: int) -> Any:
    if isinstance(value, Mapping):
        return {name: _shifted(one, by) for name, one in value.items()}
    if isinstance(value, list):
        return [_shifted(one, by) for one in value]
    if isinstance(value, str) and value.startswith("$step("):
        number, _, rest = value.removeprefix("$step(").partition(")")
        return f"$step({int(number) + by}){rest}"
    return value
