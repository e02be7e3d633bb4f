"""Importing: attached files become staged files of the workspace, under their own names. Nothing is overwritten.

An attached file is an upload that a message named. It is only read: what is staged is a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import join

from libs.errors import NotFound
from libs.events import Asset
from libs.skills import free_name
from libs.workspace.operations import Create
from services.tool_executor.tools.limits import Limits
from services.tool_executor.tools.tool_context import Args, ToolContext, ToolOutput, TooMuch, human, many


class NoAttachment(NotFound):
    """This conversation has no attached file; upload one, and name it in a message."""

    code = "NO_ATTACHMENT"


def chosen(attached: Sequence[Asset], args: Args, limits: Limits) -> list[Asset]:
    """Return the attached files that a call takes: those it names, else all.

    Raises:
        NoAttachment: there is none, or none of a name.
        TooMuch: they are larger than one call may copy.
    """
    if not attached or "names" not in args:
        files = list(attached)
    else:
        known = {file.filename: file for file in attached}
        if lost := next((name for name in args["names"] if name not in known), None):
            raise NoAttachment(f"no attached file is called {lost}; there are {', '.join(known)}")
        files = [known[name] for name in dict.fromkeys(args["names"])]
    if sum(file.size for file in files) > limits.copy_bytes_most:
        raise TooMuch(f"the attached files are over {human(limits.copy_bytes_most)}; take fewer")
    return files


def import_attachments(context: ToolContext, args: Args) -> ToolOutput:
    """Put the attached files into a folder of the workspace; a name in use gets a number."""
    if not context.attachments:
        raise NoAttachment
    target = context.within(args["target"])
    made = [*context.making(target), *_files(context, target)]
    applied = context.put(made)
    paths = [operation.path for operation in made if not operation.directory]
    size = sum(draft.seek(0, 2) for draft in context.attachments.values())
    summary = f"Imported {many(len(paths), 'file')}, {human(size)}."
    return ToolOutput({"nodes": paths, "files": len(paths), "bytes": size}, summary, applied=applied)


def _files(context: ToolContext, target: str) -> Iterator[Create]:
    taken = context.names_in(target)
    for given, draft in context.attachments.items():
        context.check()
        name = free_name(given, taken)
        taken.add(name)
        path = name if target in (".", "") else join(target, name)
        yield Create(path=path, content=context.cached(draft), reason=context.reason)
