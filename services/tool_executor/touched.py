"""The kinds of content that a call touches: its result, or its error, may show them (docs/security.md).

It follows from the primitive, not from a declaration: a primitive that is not listed here counts as one that reads
contents, so a new one is never trusted by an omission.
"""

from __future__ import annotations

from collections.abc import Sequence

from libs.errors import Rejected
from libs.events import NAMES, NOTHING, ToolRequested, Touched
from libs.guards import paths
from libs.skills import Primitive, Skills, ToolDefinition
from services.tool_executor.tools import containing
from services.tool_executor.tools.tool_context import READS_MOST
from services.tool_executor.tools.workspace_tools import WORKSPACE_TOOLS

CONTENTS = Touched(private=True, untrusted=True, secret=False)
PAGE = Touched(private=False, untrusted=True, secret=False)
OUTSIDE = Touched(private=True, untrusted=True, secret=False)
"""The answer of an external tool: it may tell of the person, in words of others."""

BY_NAME = frozenset(
    (
        "get_children",
        "get_metadata",
        "statistics",
        "find_duplicates",
        "find_files",
        "create_node",
        "move_node",
        "copy_nodes",
        "rename_node",
        "rename_many",
        "delete_node",
        "pack_nodes",
    )
)
"""Primitives whose results hold names, sizes, times and hashes alone."""


def by(skills: Skills, request: ToolRequested, reads: Sequence[str] = ()) -> Touched:
    """Return what a call touched that read these paths; everything, if its tool is gone."""
    if request.tool in WORKSPACE_TOOLS:
        return NAMES
    try:
        tool = skills.tool(request.tool)
    except Rejected:
        return Touched()
    match tool.primitive:
        case None:
            return OUTSIDE
        case Primitive.WEB:
            return PAGE
        case Primitive.MEMORY:
            # Its result is a sentence of the call's own arguments, or a count.
            return NAMES
        case Primitive.COMMAND | Primitive.PROGRAM:
            # A program may read any file of the workspace, whatever its arguments name.
            return Touched()
        case Primitive.SKILL:
            # Its instructions were approved by their digest.
            return NOTHING
    chosen_by_content = not request.args.keys().isdisjoint(containing.ASKED)
    if tool.method in BY_NAME and not chosen_by_content:
        return NAMES
    return CONTENTS.model_copy(update={"secret": _is_secret(tool, request, reads)})


def _is_secret(tool: ToolDefinition, request: ToolRequested, reads: Sequence[str]) -> bool:
    """Return whether a path has the name of a secret. What a bound cut off, or a blob holds, counts as one."""
    if len(reads) >= READS_MOST or any(isinstance(value, dict) and "$blob" in value for value in request.args.values()):
        return True
    return any(map(paths.is_secret, (*reads, *paths.path_args(tool.params, request.args))))
