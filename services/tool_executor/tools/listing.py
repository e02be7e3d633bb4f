"""Which of the files and folders that a tool sees it is about: one rule for every listing, like `selected` for names.

A filter by size, time or emptiness means files, unless folders are asked for outright; a folder is as large as what it
holds. A date is its first instant, in UTC: `modified_before` is without it, `modified_after` with it, so that the two
cut time without a gap. A node that is only staged has no time yet and counts as changed now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from posixpath import basename
from typing import Any

from libs.errors import Rejected
from libs.search.index import under
from libs.skills import selected
from libs.skills.globs import WILD
from libs.workspace import queries, reserved
from libs.workspace.signature import kind_of
from libs.workspace.stage import Stage
from libs.workspace.view import Node

FILTERS = ("larger_than", "smaller_than", "modified_before", "modified_after", "empty", "containing", "lacking")
PLACES = ("path", "folders", "recursive")
NAMED_MOST = 5
NOW = datetime.max.replace(tzinfo=UTC)


class BadMoment(Rejected):
    """This is no date."""

    code = "BAD_MOMENT"


def chosen(stage: Stage, nodes: Iterable[Node], args: Mapping[str, Any]) -> list[Node]:
    """Return the nodes that the args select, in their order, limited to the requested number."""
    kept = admitted(stage, nodes, args)
    order, most = args.get("order"), args.get("most")
    if most is not None and order not in (None, "name") and "node_kind" not in args:
        # The five largest are five files.
        kept = [node for node in kept if node.kind == "file"]
    return _ordered(stage, kept, order)[:most]


def admitted(stage: Stage, nodes: Iterable[Node], args: Mapping[str, Any]) -> list[Node]:
    """Return the nodes that the args select, in their given order."""
    kind = args.get("node_kind") or ("file" if any(name in args for name in FILTERS) else None)
    kind = None if kind == "any" else kind
    before, after = _moment(args.get("modified_before")), _moment(args.get("modified_after"))
    return [
        node
        for node in nodes
        if (kind in (None, node.kind) or (kind == "directory" and node.is_folder))
        and (not node.left_alone or named(node, args))
        and _patterned(node, args)
        and (before is None or _time(node) < before)
        and (after is None or _time(node) >= after)
        and _sized(stage, node, args)
    ]


def named(node: Node, args: Mapping[str, Any]) -> bool:
    """Return whether a pattern asks for a node that is otherwise left alone, by its name or as `*.part` does; or an
    order by size, since the largest folder may be one.
    """
    if node.is_folder and args.get("node_kind") == "directory" and args.get("order") in ("largest", "smallest"):
        return True
    patterns = (one for one in args.get("include", ()) if not WILD.search(one) or reserved.by_name(basename(one)))
    return any(selected(node.path, include=[one]) for one in patterns)


def _patterned(node: Node, args: Mapping[str, Any]) -> bool:
    return selected(node.path, include=args.get("include", ()), exclude=args.get("exclude", ()))


def left_alone(
    stage: Stage, args: Mapping[str, Any], *, recursive: bool | None = None, unread: Iterable[str] = ()
) -> dict[str, Any]:
    """Return what the same selection left out and the files that it could not read, as the result's field `left_alone`;
    empty if that is nothing.
    """
    deep = bool(args.get("recursive")) if recursive is None else recursive
    tops = args["folders"] if "folders" in args else [args["path"]]
    told = queries.left_alone(stage, tops, recursive=deep, named=lambda node: _apart(node, args, deep), unread=unread)
    return {"left_alone": told} if told else {}


def _apart(node: Node, args: Mapping[str, Any], deep: bool) -> bool:
    """Return whether it does not concern the selection. A folder that is one item may hold what patterns select."""
    return named(node, args) or not ((deep and node.is_folder) or _patterned(node, args))


def inside(paths: Iterable[str], folders: Sequence[str]) -> list[str]:
    """Return the nodes in one of the folders, at any depth; all of them if there is no folder."""
    tops = [folder.removeprefix("./").strip("/") for folder in folders]
    return [path for path in paths if not tops or any(under(path, top or ".") for top in tops)]


def further(
    stage: Stage, args: Mapping[str, Any], kept: Callable[[Sequence[Node]], Sequence[Node]] | None = None
) -> dict[str, Any]:
    """Return how many more matches the subfolders have, and which subfolders.
    Nothing where nothing was chosen by; what is not all files says what it is.
    """
    narrowed = any(name in args for name in (*FILTERS, "include")) or (
        "exclude" in args and args.get("node_kind") == "file"
    )
    if args.get("recursive") or not narrowed or "most" in args:
        return {}
    kind = args.get("node_kind") or "file"
    tops = args.get("folders") or [args["path"]]
    shown = {node.path for top in tops for node in stage.get_children(top)}
    deep = (node for top in tops for node in stage.walk(top) if node.path not in shown)
    below = (node for node in deep if kind in (node.kind, "any") or node.kind in reserved.WHOLE)
    chosen = admitted(stage, below, args)
    nodes = kept(chosen) if kept else chosen
    kind = "any" if kind == "file" and any(node.is_folder for node in nodes) else kind
    found = list(dict.fromkeys(node.path for node in nodes))
    folders = list(dict.fromkeys(path.rpartition("/")[0] for path in found))
    hint = {"count": len(found), "folders": folders[:NAMED_MOST]}
    return {**hint, **({"node_kind": kind} if kind != "file" else {})} if found else {}


def sought(args: Mapping[str, Any]) -> dict[str, Any]:
    """Describe what an empty list or comparison searched for, and where."""
    return {name: args[name] for name in (*PLACES, *FILTERS, "include", "exclude", "node_kind") if name in args}


def bounded(args: Mapping[str, Any]) -> bool:
    """Return whether the args concern some files only, or one folder."""
    return args.get("path", ".") != "." or any(name in args for name in (*FILTERS, "folders", "include", "exclude"))


def weighed(nodes: Iterable[Node]) -> Iterator[tuple[Node, int]]:
    """Yield each node with its size; of hard links to one file only the first has one."""
    seen = set[int]()
    for node in nodes:
        yield node, 0 if node.inode in seen else node.size
        seen.add(node.inode)


def sizes(stage: Stage, nodes: Iterable[Node]) -> list[int]:
    """Return the size of each node in bytes."""
    return [_size(stage, node) for node in nodes]


def _sized(stage: Stage, node: Node, args: Mapping[str, Any]) -> bool:
    larger, smaller, empty = args.get("larger_than"), args.get("smaller_than"), args.get("empty")
    if larger is not None and not _size(stage, node) > larger:
        return False
    if smaller is not None and not _size(stage, node) < smaller:
        return False
    return empty is None or _hollow(stage, node) is empty


def _ordered(stage: Stage, nodes: list[Node], order: str | None) -> list[Node]:
    match order:
        case "largest":
            return sorted(nodes, key=lambda node: (-_size(stage, node), node.path))
        case "smallest":
            return sorted(nodes, key=lambda node: (_size(stage, node), node.path))
        case "newest":
            return sorted(sorted(nodes, key=lambda node: node.path), key=_time, reverse=True)
        case "oldest":
            return sorted(nodes, key=lambda node: (_time(node), node.path))
        case "name":
            return sorted(nodes, key=lambda node: (_natural(node.name), node.path))
        case _:
            return sorted(nodes, key=lambda node: [_natural(part) for part in node.path.split("/")])


def _natural(name: str) -> list[str | int]:
    """Return a sort key of texts and numbers in turn: `img2` comes before `img10`."""
    return [int(part) if n % 2 else part for n, part in enumerate(re.split(r"(\d+)", name.casefold()))]


def _size(stage: Stage, node: Node) -> int:
    if node.kind in reserved.WHOLE:
        return sum(one.size for one in stage.contents_of(node.path).values() if kind_of(one.mode) == "file")
    return stage.totals(node.path).size if node.kind == "directory" else node.size


def _hollow(stage: Stage, node: Node) -> bool:
    return stage.is_empty(node.path) if node.kind == "directory" else node.size == 0


def _time(node: Node) -> datetime:
    return node.modified_at or NOW


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadMoment(f"{text} is no date") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
