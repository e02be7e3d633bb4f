"""Copying: files and folders of the staged view once more, in another folder, under another name or beside themselves.

A copy is a creation: the original stays as it is, and no existing name is ever overwritten. A folder is copied with all
that it holds, a link as the same link. Files are counted first, so that too many are refused before anything is staged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import basename, dirname, join

from libs.errors import Rejected
from libs.skills import free_name
from libs.skills.categories import split_suffix
from libs.workspace.operations import Copy
from libs.workspace.queries import Totals
from services.tool_executor.tools.tool_context import (
    Args,
    ToolContext,
    ToolOutput,
    TooMuch,
    human,
    many,
    omitted,
    topmost,
)


class CannotCopy(Rejected):
    """This cannot be copied so; nothing was changed."""

    code = "CANNOT_COPY"


def copy_nodes(context: ToolContext, args: Args) -> ToolOutput:
    """Things once more: into `target`, which is made where it is missing, or beside themselves where there is none;
    with `new_name`, under that name. A name that is taken gets ` (2)`. All of them or none.
    """
    asked = [args["source"]] if isinstance(args["source"], str) else args["source"]
    whole, unread = context.whole(list(context.present(asked, strict=len(asked) == 1)), "source")
    paths = topmost(whole)
    ends = list(_ends(context, paths, args, several=len(asked) > 1))
    weight = _weighed(context, [path for path, _, _ in ends])
    copies = list(_copies(context, ends))
    made = [operation for folder in dict.fromkeys(to for _, to, _ in ends) for operation in context.making(folder)]
    applied = context.put([*made, *copies])
    copied = [{"from": copy.path, "to": copy.target} for copy in copies]
    return ToolOutput(
        {
            "copied": copied,
            "files": weight.files,
            "folders": weight.directories,
            "bytes": weight.size,
            **omitted(unread=unread),
        },
        _summary(copies, weight),
        applied=applied,
        warnings=tuple(context.missing),
    )


End = tuple[str, str, str]
"""The original, the folder of the copy, and its name there."""


def _ends(context: ToolContext, paths: Sequence[str], args: Args, *, several: bool) -> Iterator[End]:
    folder, name = _aim(context, paths, args, several=several)
    for path in paths:
        to = folder or _folder_of(path)
        _refuse_inside(path, to)
        if several and folder == _folder_of(path):
            # Of many, those that lie there already have nothing to gain.
            context.missing.append(f"{path} is in {folder} already and was left out.")
            continue
        yield path, to, name or basename(path)


def _aim(context: ToolContext, paths: Sequence[str], args: Args, *, several: bool) -> tuple[str | None, str | None]:
    """Return the folder of the copies (None: beside the original) and the name of a single copy (None: its own)."""
    name = args.get("new_name")
    if name is not None and several:
        raise CannotCopy(f"several things cannot all be called {name}")
    if "target" not in args:
        return None, name
    target = context.within(args["target"])
    listed = not isinstance(args["source"], str)
    if name is not None or several or not paths or is_its_folder(context, paths[0], target, listed=listed):
        return target, name
    return _folder_of(target), basename(target)


def is_its_folder(context: ToolContext, path: str, target: str, *, listed: bool) -> bool:
    """Return whether the target is a folder: a listing goes into one unless the target has a file's extension."""
    if listed and not context.is_folder(target):
        return not any(letter.isalpha() for letter in split_suffix(basename(target))[1])
    return context.means_folder(path, target)


def _folder_of(path: str) -> str:
    return dirname(path) or "."


def _refuse_inside(path: str, folder: str) -> None:
    if path == ".":
        raise CannotCopy("the whole workspace cannot be copied into itself; name what is in it")
    if folder == path or folder.startswith(f"{path}/"):
        raise CannotCopy(f"{path} cannot be copied into itself")


def _weighed(context: ToolContext, paths: Sequence[str]) -> Totals:
    """Check the size. Raises `TooMuch` before anything is staged, and `Sealed` if a part cannot be read."""
    files = folders = size = 0
    for path in paths:
        top = context.stage.get_metadata(path)
        if top.kind == "directory":
            context.stage.check_whole(path)
        for node in (top, *(context.stage.walk(path) if top.kind == "directory" else ())):
            context.check()
            folders += node.kind == "directory"
            files += node.kind != "directory"
            size += node.size if node.kind == "file" else 0
            if files + folders > context.limits.copy_entries_most:
                raise TooMuch(f"one call copies at most {context.limits.copy_entries_most} files and folders")
            if size > context.limits.copy_bytes_most:
                raise TooMuch(f"more than {human(context.limits.copy_bytes_most)} would be copied")
    return Totals(files, folders, size, frozenset())


def _copies(context: ToolContext, ends: Sequence[End]) -> Iterator[Copy]:
    taken: dict[str, set[str]] = {}
    for path, folder, wished in ends:
        names = taken.setdefault(folder, context.names_in(folder))
        name = free_name(wished, names)
        names.add(name)
        yield Copy(path=path, target=join("" if folder == "." else folder, name), reason=context.reason)


def _summary(copies: Sequence[Copy], weight: Totals) -> str:
    files = many(weight.files, "file")
    what = f"{files} and {many(weight.directories, 'folder')}" if weight.directories else files
    return f"Copied {what} ({human(weight.size)}){_where([copy.target for copy in copies])}."


def _where(ends: Sequence[str]) -> str:
    places = {dirname(end) for end in ends}
    if len(ends) == 1:
        return f" to {ends[0]}"
    return f" into {places.pop()}" if len(places) == 1 and "" not in places else ""
