"""The graph primitives (S4-14, S4-18 … S4-29): each takes a stage and args, and says what it showed or staged.

They see and change the stage alone; files on disk are only read. One call is one operation of the stage, all of it or
none. A path from a reference that no longer exists is left out with a warning; one that a person named is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename, dirname, join
from typing import Any

from libs.errors import Rejected
from libs.skills import ATTACHMENTS, free_name
from libs.workspace import reserved
from libs.workspace.operations import AnyOperation, Create, Delete, Inline, Move, Rename
from libs.workspace.queries import Duplicates, Group
from libs.workspace.signature import kind_of
from libs.workspace.stage import Stage
from libs.workspace.view import Node
from services.tool_executor.tools.containing import asked
from services.tool_executor.tools.copying import copy_nodes, is_its_folder
from services.tool_executor.tools.counting import count_rows
from services.tool_executor.tools.duplicate_choice import shared_out
from services.tool_executor.tools.editing import edit_file, write_file
from services.tool_executor.tools.explaining import explain_node
from services.tool_executor.tools.finding import find_files, grep_files
from services.tool_executor.tools.importing import import_attachments
from services.tool_executor.tools.listing import (
    admitted,
    bounded,
    chosen,
    further,
    inside,
    left_alone,
    sizes,
    sought,
    weighed,
)
from services.tool_executor.tools.packing import pack_nodes
from services.tool_executor.tools.parsing import parse_content
from services.tool_executor.tools.reading import read_file
from services.tool_executor.tools.renaming import rename_many
from services.tool_executor.tools.sorting import sorting
from services.tool_executor.tools.summarizing import summarize_texts
from services.tool_executor.tools.tool_context import (
    READS_MOST,
    Args,
    ToolContext,
    ToolOutput,
    human,
    many,
    omitted,
    topmost,
)
from services.tool_executor.tools.unpacking import archive_contents, unpack_archive

Primitive = Callable[[ToolContext, Args], ToolOutput]


def get_children(context: ToolContext, args: Args) -> ToolOutput:
    """List the files and folders in a folder; with `recursive`, the files at every depth, or the folders if those are
    requested.
    """
    found, inner = _listed(context.stage, args), asked(context, args)
    nodes = chosen(context.stage, found if inner is None else inner.kept(admitted(context.stage, found, args)), args)
    paths = [node.path for node in nodes]
    files = sum(node.kind == "file" for node in nodes)
    data: dict[str, Any] = {"nodes": paths, "count": len(paths)}
    if files < len(paths):
        data["folders"] = len(paths) - files
    if args.get("order") in ("largest", "smallest") or {"larger_than", "smaller_than"} & args.keys():
        data["sizes"] = sizes(context.stage, nodes[:READS_MOST])
    if args.get("order") in ("newest", "oldest") or {"modified_before", "modified_after"} & args.keys():
        data["days"] = [node.modified_at.date().isoformat() if node.modified_at else "" for node in nodes[:READS_MOST]]
    if deeper := further(context.stage, args, inner.kept if inner is not None else None):
        data["deeper"] = deeper
    data |= inner.as_data() if inner is not None else {}
    data |= left_alone(context.stage, args)
    if not nodes:
        data["sought"] = sought(args)
    return ToolOutput(
        data,
        f"{_counted(files, len(paths) - files)}.",
        reads=tuple(paths[:READS_MOST]),
    )


def get_metadata(context: ToolContext, args: Args) -> ToolOutput:
    """Size, kind and time of one thing; of a folder, also what it holds."""
    node = context.stage.get_metadata(args["path"])
    data: dict[str, Any] = {
        "path": node.path,
        "kind": node.kind,
        "size": node.size,
        "modified_at": node.modified_at.isoformat() if node.modified_at and not node.is_folder else None,
        "extensions": [node.extension] if node.extension else [],
        "files": int(node.kind == "file"),
        "directories": 0,
        "bytes": node.size,
    }
    if node.kind in reserved.WHOLE:
        inside = context.stage.contents_of(args["path"])
        sizes = {found.ino: found.size for found in inside.values() if kind_of(found.mode) == "file"}
        folders = sum(found.is_directory for found in inside.values())
        data |= {"files": len(inside) - folders, "directories": folders, "bytes": sum(sizes.values())}
    if node.kind == "directory":
        context.stage.readable(args["path"])
        found = context.stage.totals(args["path"])
        data |= {
            "extensions": sorted(found.extensions),
            "files": found.files,
            "directories": found.directories,
            "bytes": found.size,
            **omitted(unread=left_alone(context.stage, args, recursive=True).get("left_alone", {}).get("unread", ())),
        }
    return ToolOutput(data, f"{node.path}: {many(data['files'], 'file')}, {human(data['bytes'])}.", reads=(node.path,))


def statistics(context: ToolContext, args: Args) -> ToolOutput:
    """Report counts, sizes, kinds, ages, empty files and duplicates."""
    everything = list(context.stage.walk(args["path"]))
    nodes = admitted(context.stage, (node for node in everything if node.kind != "directory"), args)
    picked = set(args) - {"path", "node_kind"}
    around = {node.path.rpartition("/")[0] for node in nodes}
    folders = [node for node in everything if node.kind == "directory" and (not picked or node.path in around)]
    dated = sorted((n for n in nodes if n.modified_at is not None), key=lambda n: (n.modified_at, n.path))
    duplicates = context.stage.find_duplicates(args["path"])
    groups = [group for group in _groups(context.stage, duplicates, args) if len(group.paths) > 1]
    sized = list(weighed(nodes))
    data: dict[str, Any] = {
        "files": len(nodes),
        "directories": len(folders) if args.get("node_kind") != "file" else 0,
        "bytes": sum(size for _, size in sized),
        "by_category": _extents((context.categories.category_of(n.name), size) for n, size in sized),
        "by_extension": _extents((n.extension or "none", size) for n, size in sized),
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
    data |= left_alone(context.stage, args, recursive=True, unread=duplicates.unreadable)
    if picked:
        data["nodes"] = [node.path for node in nodes]
    return ToolOutput(
        data, f"{many(len(nodes), 'file')} in {many(data['directories'], 'folder')}, {human(data['bytes'])}."
    )


def find_duplicates(context: ToolContext, args: Args) -> ToolOutput:
    """Find groups of files with the same bytes; one of each is kept, the others may go. Empty files do not count, and
    neither do groups of which nothing may go.
    """
    duplicates = context.stage.find_duplicates(args["path"])
    found = (_group(context.stage, group, args) for group in _groups(context.stage, duplicates, args))
    groups = [group for group in found if group["remove"]]
    files = sum(len(group["remove"]) for group in groups)
    spare = sum(group["size"] * len(group["remove"]) for group in groups)
    reads = tuple(path for group in groups for path in group["paths"])
    among = {} if groups or not bounded(args) else {"sought": sought(args)}
    among |= left_alone(context.stage, args, recursive=True, unread=duplicates.unreadable)
    return ToolOutput(
        {"groups": groups, "files": files, "bytes": spare, **among},
        f"{many(len(groups), 'group')} of duplicates: {many(files, 'file')} can be removed, {human(spare)}.",
        reads=reads[:READS_MOST],
    )


def create_node(context: ToolContext, args: Args) -> ToolOutput:
    """Create an empty folder or a small file, or a folder for each of `types`."""
    names = [str(name) for name in args["types"]] if "types" in args else [args["name"]]
    directory = args.get("type", "directory") == "directory" or "types" in args
    content = None if directory else Inline.of(str(args.get("content", "")).encode())
    made = [
        Create(path=join(args["path"], name), directory=directory, content=content, reason=context.reason)
        for name in names
    ]
    applied = context.put(made)
    paths = [operation.path for operation in made]
    return ToolOutput({"created": paths}, f"Created {', '.join(paths)}.", applied=applied)


def move_node(context: ToolContext, args: Args) -> ToolOutput:
    """Things into a folder or to a new name; with `by`, each file into the folder of its category, year or month."""
    sources = args["source"] if isinstance(args["source"], list) else [args["source"]]
    kept, alone = context.movable(list(context.present(sources, strict=isinstance(args["source"], str))), "source")
    target = context.within(args["target"])
    if "by" in args:
        return _moved(context, *sorting(context, kept, target, by=args["by"]), alone)
    listed = isinstance(args["source"], list)
    if len(sources) > 1 or is_its_folder(context, sources[0] if sources else "", target, listed=listed):
        made = context.making(target) if kept else []
        moves = list(_into(context, topmost(kept), target))
        return _moved(context, [*made, *moves], [folder.path for folder in made], alone)
    return _moved(context, [Move(path=path, target=target, reason=context.reason) for path in kept], [], alone)


def rename_node(context: ToolContext, args: Args) -> ToolOutput:
    """Another name in the same folder; never over something that is there."""
    path, name = args["path"], args["new_name"]
    applied = context.put([Rename(path=path, new_name=name, reason=context.reason)])
    new = join(dirname(path), name)
    return ToolOutput(
        {"path": new, "renamed": {"from": path, "to": new}}, f"Renamed {path} to {name}.", applied=applied
    )


class CannotDelete(Rejected):
    """This cannot be deleted so; nothing was changed."""

    code = "CANNOT_DELETE"


def delete_node(context: ToolContext, args: Args) -> ToolOutput:
    """Away with paths, or with the surplus of groups of duplicates."""
    kept = {path: group for group in args.get("groups", ()) for path in group["remove"]}
    asked = list(kept) if "groups" in args else args["paths"] if "paths" in args else [args["path"]]
    present = list(context.present(asked, strict="groups" not in args and len(asked) == 1))
    whole, unread = context.whole(present, "paths")
    paths = topmost(whole)
    deletes = [Delete(path=path, same_as=_stays(context, kept.get(path)), reason=context.reason) for path in paths]
    _refuse_what_was_made(context, paths)
    # Measured before it is staged: afterwards the paths lead nowhere.
    nodes = [context.stage.get_metadata(path) for path in paths]
    freed = sum(size for node, size in weighed(nodes) if not node.is_folder)
    more = omitted(unread=unread) | _linked(context, nodes)
    applied = context.put(deletes)
    # A folder is as large as all that goes with it, which the diff knows.
    freed += sum(
        one.size for one in context.stage.diff().of("deleted") if one.kind == "directory" and one.path in paths
    )
    return ToolOutput(
        {"deleted": paths, "files": len(paths), "bytes": freed, "kept_days": context.history_days, **more},
        f"Removed {many(len(paths), 'file')}; {human(freed)} kept in history.",
        applied=applied,
        warnings=tuple(context.missing),
    )


def _linked(context: ToolContext, nodes: Sequence[Node]) -> dict[str, Any]:
    """Return the deleted files whose content stays under another name, as the field `linked`."""
    going = Counter(node.inode for node in nodes)
    files = (node for node in nodes if node.kind == "file")
    linked = [node.path for node in files if context.stage.links(node.path) > going[node.inode]]
    return {"linked": linked} if linked else {}


def _stays(context: ToolContext, group: Mapping[str, Any] | None) -> str | None:
    """Return the file of a group of duplicates that stays; None without a group."""
    if group is None:
        return None
    staying = [str(path) for path in (group["keep"], *group["paths"]) if path not in group["remove"]]
    found = next(filter(context.exists, staying), None)
    if found is None:
        raise CannotDelete(f"{group['keep']} was to stay and is no longer there; look for duplicates again")
    return found


def _refuse_what_was_made(context: ToolContext, paths: Sequence[str]) -> None:
    """Refuse to delete a new archive together with the folder that holds it: a person who packs a folder and then
    deletes it wants to keep the archive.
    """
    made = [] if not paths else [path for path in context.stage.made if not context.is_folder(path)]
    for folder in {*paths} - {*context.stage.made}:
        if lost := next((path for path in made if path.startswith(f"{folder}/")), None):
            raise CannotDelete(f"{lost} was made just now and would be deleted with {folder}; put it elsewhere first")


PRIMITIVES: Mapping[str, Primitive] = {
    "get_children": get_children,
    "get_metadata": get_metadata,
    "statistics": statistics,
    "find_duplicates": find_duplicates,
    "create_node": create_node,
    "move_node": move_node,
    "copy_nodes": copy_nodes,
    ATTACHMENTS: import_attachments,
    "rename_node": rename_node,
    "delete_node": delete_node,
    "rename_many": rename_many,
    "pack_nodes": pack_nodes,
    "archive_contents": archive_contents,
    "unpack_archive": unpack_archive,
    "parse_content": parse_content,
    "count_rows": count_rows,
    "explain_node": explain_node,
    "summarize_texts": summarize_texts,
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "find_files": find_files,
    "grep_files": grep_files,
}


def _listed(stage: Stage, args: Args) -> Sequence[Node]:
    tops = args.get("folders") or [args["path"]]
    if not args.get("recursive"):
        return list({node.path: node for top in tops for node in stage.get_children(top)}.values())
    folders = args.get("node_kind") == "directory"
    found = {node.path: node for top in tops for node in stage.walk(top)}
    both = args.get("node_kind") == "any"
    return [node for node in found.values() if both or node.is_folder is folders or node.kind in reserved.WHOLE]


def _groups(stage: Stage, duplicates: Duplicates, args: Args) -> Iterator[Group]:
    """Return groups of equal files; empty files are no copies of each other."""
    for group in duplicates:
        among = map(stage.get_metadata, inside(group.paths, args.get("folders", ())))
        wanted = admitted(stage, among, args)
        if group.size > 0 and len(wanted) > 1:
            yield Group(group.sha256, group.size, tuple(node.path for node in wanted))


def _group(stage: Stage, group: Group, args: Args) -> dict[str, Any]:
    nodes = [stage.get_metadata(path) for path in group.paths]
    kept, rest = shared_out(nodes, args.get("keep", "natural"), args.get("spare", ()))
    return {
        "id": group.sha256[:12],
        "sha256": group.sha256,
        "size": group.size,
        "keep": kept[0],
        "remove": rest,
        "paths": [*kept, *rest],
    }


def _into(context: ToolContext, paths: Sequence[str], target: str) -> Iterator[Move]:
    taken = context.names_in(target)
    for path in paths:
        if dirname(path) == ("" if target == "." else target):
            continue
        name = free_name(basename(path), taken)
        taken.add(name)
        yield Move(path=path, target=join(target, name), reason=context.reason)


def _moved(
    context: ToolContext, operations: Sequence[AnyOperation], made: list[str], alone: dict[str, Any]
) -> ToolOutput:
    moves = [{"from": op.path, "to": op.target} for op in operations if isinstance(op, Move)]
    applied = context.put(operations)
    folders = sorted({dirname(move["to"]) for move in moves} | set(made))
    where = (
        f" into {len(folders)} folders" if len(folders) > 1 else f" into {folders[0]}" if folders and folders[0] else ""
    )
    return ToolOutput(
        {"moved": moves, "files": len(moves), "folders": folders, **alone},
        f"Moved {many(len(moves), 'file')}{where}.",
        applied=applied,
        warnings=tuple(context.missing),
    )


def _extents(sized: Iterator[tuple[str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name, size in sized:
        extent = found.setdefault(name, {"files": 0, "bytes": 0})
        extent["files"] += 1
        extent["bytes"] += size
    return dict(sorted(found.items()))


def _dated(node: Node) -> dict[str, Any]:
    return {"path": node.path, "modified_at": node.modified_at.isoformat() if node.modified_at else None}


def _counted(files: int, folders: int) -> str:
    parts = [many(count, noun) for count, noun in ((files, "file"), (folders, "folder")) if count]
    return " and ".join(parts) or "No files"
