"""The graph primitives (S4-14, S4-18 … S4-29): each takes a stage and args, and says what it showed or staged.

They see and change the stage alone; files on disk are only read. One call is one operation of the stage, all of it or
none. What a reference brought and is no longer there is left out and said so; a path that a person named and is not
there is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname, join
from typing import Any

from libs.errors import NotFound, Rejected
from libs.skills import Categories, free_name, selected
from libs.workspace.operations import AnyOperation, Batch, Create, Delete, Inline, Move, Rename
from libs.workspace.stage import Applied, Stage
from libs.workspace.survey import Group
from libs.workspace.view import Node

READS_MOST = 2_000
Args = Mapping[str, Any]


@dataclass(frozen=True)
class Done:
    """What a primitive showed (`data`, by the fields that its tool declares) and what it staged."""

    data: dict[str, Any]
    summary: str
    reads: tuple[str, ...] = ()
    applied: Applied | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bench:
    """What primitives work with."""

    stage: Stage
    categories: Categories
    mutates: bool = False
    reason: str = ""
    missing: list[str] = field(default_factory=list)


Primitive = Callable[[Bench, Args], Done]


def get_children(bench: Bench, args: Args) -> Done:
    """The files and folders in a folder; with `recursive`, the files at every depth."""
    nodes = [node for node in _listed(bench.stage, args) if _wanted(node, args)]
    paths = [node.path for node in nodes]
    files = sum(node.kind == "file" for node in nodes)
    return Done(
        {"nodes": paths, "count": len(paths)},
        f"{many(files, 'file')} and {many(len(paths) - files, 'folder')} in {_place(args)}.",
        reads=tuple(paths[:READS_MOST]),
    )


def get_metadata(bench: Bench, args: Args) -> Done:
    """Size, kind and time of one thing; of a folder, also what it holds."""
    node = bench.stage.get_metadata(args["path"])
    data: dict[str, Any] = {
        "path": node.path,
        "kind": node.kind,
        "size": node.size,
        "modified_at": node.modified_at.isoformat() if node.modified_at else None,
        "extensions": [node.extension] if node.extension else [],
        "files": int(node.kind == "file"),
        "directories": 0,
        "bytes": node.size,
    }
    if node.kind == "directory":
        found = bench.stage.statistics(args["path"])
        data |= {
            "extensions": sorted(found.extensions),
            "files": found.files,
            "directories": found.directories,
            "bytes": found.size,
        }
    return Done(data, f"{node.path}: {many(data['files'], 'file')}, {human(data['bytes'])}.", reads=(node.path,))


def statistics(bench: Bench, args: Args) -> Done:
    """What is there: counts, sizes, kinds, ages, empties, duplicates."""
    everything = list(bench.stage.walk(args["path"]))
    nodes = [node for node in everything if node.kind != "directory" and _wanted(node, args)]
    folders = sum(node.kind == "directory" for node in everything)
    dated = sorted((n for n in nodes if n.modified_at is not None), key=lambda n: (n.modified_at, n.path))
    groups = [group for group in _groups(bench.stage, args) if len(group.paths) > 1]
    data = {
        "files": len(nodes),
        "directories": folders,
        "bytes": sum(node.size for node in nodes),
        "by_category": _extents((bench.categories.category_of(n.name), n.size) for n in nodes),
        "by_extension": _extents((n.extension or "none", n.size) for n in nodes),
        "largest": [{"path": n.path, "size": n.size} for n in sorted(nodes, key=lambda n: (-n.size, n.path))[:10]],
        "oldest": _dated(dated[0]) if dated else None,
        "newest": _dated(dated[-1]) if dated else None,
        "empty": [node.path for node in nodes if node.size == 0 and node.kind == "file"][:100],
        "duplicates": {
            "groups": len(groups),
            "files": sum(len(group.paths) - 1 for group in groups),
            "bytes": sum(group.size * (len(group.paths) - 1) for group in groups),
        },
    }
    size = sum(node.size for node in nodes)
    return Done(data, f"{many(len(nodes), 'file')} in {many(folders, 'folder')}, {human(size)}.")


def find_duplicates(bench: Bench, args: Args) -> Done:
    """Groups of files with the same bytes; of each, one is kept and the others may go. Empty files are none."""
    keep = args.get("keep", "newest")
    groups = [_group(bench.stage, group, keep) for group in _groups(bench.stage, args) if len(group.paths) > 1]
    files = sum(len(group["remove"]) for group in groups)
    spare = sum(group["size"] * len(group["remove"]) for group in groups)
    reads = tuple(path for group in groups for path in group["paths"])
    return Done(
        {"groups": groups, "files": files, "bytes": spare},
        f"{many(len(groups), 'group')} of duplicates: {many(files, 'file')} could go, {human(spare)}.",
        reads=reads[:READS_MOST],
    )


def create_node(bench: Bench, args: Args) -> Done:
    """A new, empty folder or a small file; or a folder for each of `types`."""
    names = [str(name) for name in args["types"]] if "types" in args else [args["name"]]
    directory = args.get("type", "directory") == "directory" or "types" in args
    content = None if directory else Inline.of(str(args.get("content", "")).encode())
    made = [
        Create(path=join(args["path"], name), directory=directory, content=content, reason=bench.reason)
        for name in names
    ]
    applied = _stage(bench, made)
    paths = [operation.path for operation in made]
    return Done({"created": paths}, f"Created {', '.join(paths)}.", applied=applied)


def move_node(bench: Bench, args: Args) -> Done:
    """Things into a folder or to a new name; with `by: extension_category`, each file into its category's folder."""
    sources = args["source"] if isinstance(args["source"], list) else [args["source"]]
    kept = list(_present(bench, sources, strict=isinstance(args["source"], str)))
    if args.get("by") == "extension_category":
        return _sorted(bench, kept, args["target"])
    moves = (
        list(_into(bench, kept, args["target"]))
        if len(sources) > 1 or _is_folder(bench.stage, args["target"])
        else None
    )
    operations: list[AnyOperation] = list(moves) if moves is not None else []
    if moves is None:
        operations = [Move(path=path, target=args["target"], reason=bench.reason) for path in kept]
    return _moved(bench, operations, [])


def rename_node(bench: Bench, args: Args) -> Done:
    """Another name in the same folder; never over something that is there."""
    path, name = args["path"], args["new_name"]
    applied = _stage(bench, [Rename(path=path, new_name=name, reason=bench.reason)])
    new = join(dirname(path), name)
    return Done({"path": new, "renamed": {"from": path, "to": new}}, f"Renamed {path} to {name}.", applied=applied)


def delete_node(bench: Bench, args: Args) -> Done:
    """Away with paths, or with the surplus of groups of duplicates."""
    if "groups" in args:
        asked = [path for group in args["groups"] for path in group["remove"]]
    else:
        asked = args["paths"] if "paths" in args else [args["path"]]
    paths = list(_present(bench, asked, strict="groups" not in args and len(asked) == 1))
    sizes = [bench.stage.get_metadata(path) for path in paths]
    freed = sum(node.size for node in sizes)
    applied = _stage(bench, [Delete(path=path, reason=bench.reason) for path in paths])
    return Done(
        {"deleted": paths, "files": len(paths), "bytes": freed},
        f"Removed {many(len(paths), 'file')}, {human(freed)}.",
        applied=applied,
        warnings=tuple(bench.missing),
    )


PRIMITIVES: Mapping[str, Primitive] = {
    "get_children": get_children,
    "get_metadata": get_metadata,
    "statistics": statistics,
    "find_duplicates": find_duplicates,
    "create_node": create_node,
    "move_node": move_node,
    "rename_node": rename_node,
    "delete_node": delete_node,
}


def many(count: int, word: str) -> str:
    """1 file, 2 files."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def human(size: int) -> str:
    """A size for people: 12 MB."""
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.0f} GB"


def _listed(stage: Stage, args: Args) -> Sequence[Node]:
    if args.get("recursive"):
        return [node for node in stage.walk(args["path"]) if node.kind != "directory"]
    return stage.get_children(args["path"])


def _wanted(node: Node, args: Args) -> bool:
    return selected(node.path, include=args.get("include", ()), exclude=args.get("exclude", ()))


def _groups(stage: Stage, args: Args) -> Iterator[Group]:
    """Groups of wanted files; what is empty is alike but no copy of anything."""
    for group in stage.find_duplicates(args["path"]):
        wanted = tuple(path for path in group.paths if _wanted(stage.get_metadata(path), args))
        if group.size > 0 and len(wanted) > 1:
            yield Group(group.sha256, group.size, wanted)


def _group(stage: Stage, group: Group, keep: str) -> dict[str, Any]:
    nodes = [stage.get_metadata(path) for path in group.paths]
    age = {node.path: node.modified_at.timestamp() if node.modified_at else 0.0 for node in nodes}
    order = {
        "newest": lambda path: (-age[path], len(path), path),
        "oldest": lambda path: (age[path], len(path), path),
        "shortest": lambda path: (len(path), path),
    }[keep]
    kept, *rest = sorted(age, key=order)
    return {
        "id": group.sha256[:12],
        "sha256": group.sha256,
        "size": group.size,
        "keep": kept,
        "remove": rest,
        "paths": [kept, *rest],
    }


def _present(bench: Bench, paths: Sequence[str], *, strict: bool) -> Iterator[str]:
    """Those that are still there; stale ones are noted (S4-36)."""
    for path in dict.fromkeys(paths):
        try:
            bench.stage.locate(path)
        except NotFound:
            if strict:
                raise
            bench.missing.append(f"{path} is no longer there and was left out.")
            continue
        yield path


def _into(bench: Bench, paths: Sequence[str], target: str) -> Iterator[Move]:
    taken = {node.name for node in bench.stage.get_children(target)}
    for path in paths:
        if dirname(path) == ("" if target == "." else target):
            continue
        name = free_name(basename(path), taken)
        taken.add(name)
        yield Move(path=path, target=join(target, name), reason=bench.reason)


def _sorted(bench: Bench, paths: Sequence[str], target: str) -> Done:
    """Each file into `target/<Category>`; a folder that lacks is made; no name is ever overwritten."""
    stage, operations = bench.stage, list[AnyOperation]()
    folders: dict[str, set[str]] = {}
    made: list[str] = []
    for path in paths:
        if stage.get_metadata(path).kind != "file":
            continue
        category = bench.categories.category_of(basename(path))
        folder = category if target == "." else join(target, category)
        if folder not in folders:
            folders[folder] = _names_in(stage, folder)
            if not _exists(stage, folder):
                operations.append(Create(path=folder, directory=True, reason=bench.reason))
                made.append(folder)
        if dirname(path) == folder:
            continue
        name = free_name(basename(path), folders[folder])
        folders[folder].add(name)
        operations.append(Move(path=path, target=join(folder, name), reason=bench.reason))
    return _moved(bench, operations, made)


def _moved(bench: Bench, operations: Sequence[AnyOperation], made: list[str]) -> Done:
    moves = [{"from": op.path, "to": op.target} for op in operations if isinstance(op, Move)]
    applied = _stage(bench, operations)
    folders = sorted({dirname(move["to"]) for move in moves} | set(made))
    where = (
        f" into {len(folders)} folders" if len(folders) > 1 else f" into {folders[0]}" if folders and folders[0] else ""
    )
    return Done(
        {"moved": moves, "files": len(moves), "folders": folders},
        f"Moved {many(len(moves), 'file')}{where}.",
        applied=applied,
        warnings=tuple(bench.missing),
    )


def _stage(bench: Bench, operations: Sequence[AnyOperation]) -> Applied | None:
    """One operation of the stage; nothing at all when there is nothing to do."""
    if not operations:
        return None
    if not bench.mutates:
        raise Rejected("a tool that only reads tried to change something")
    single = (
        operations[0]
        if len(operations) == 1
        else Batch.model_validate({"operations": operations, "reason": bench.reason})
    )
    return bench.stage.apply(single)


def _names_in(stage: Stage, folder: str) -> set[str]:
    return {node.name for node in stage.get_children(folder)} if _is_folder(stage, folder) else set()


def _exists(stage: Stage, path: str) -> bool:
    try:
        stage.locate(path)
    except NotFound:
        return False
    return True


def _is_folder(stage: Stage, path: str) -> bool:
    return _exists(stage, path) and stage.get_metadata(path).kind == "directory"


def _extents(sized: Iterator[tuple[str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name, size in sized:
        extent = found.setdefault(name, {"files": 0, "bytes": 0})
        extent["files"] += 1
        extent["bytes"] += size
    return dict(sorted(found.items()))


def _dated(node: Node) -> dict[str, Any]:
    return {"path": node.path, "modified_at": node.modified_at.isoformat() if node.modified_at else None}


def _place(args: Args) -> str:
    return "the folder" if args["path"] == "." else str(args["path"])
