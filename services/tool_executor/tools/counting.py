"""Counting: the rows of tables, the lines of texts and the pages of documents, of many files at once (S4-59)."""

from __future__ import annotations

from typing import Any

from libs.errors import Rejected
from libs.workspace.view import Node
from services.tool_executor.tools.parsing import read
from services.tool_executor.tools.tool_context import READS_MOST, Args, ToolContext, ToolOutput, TooMuch, many

LINED = frozenset(("plain text", "Markdown"))
"""Forms of which every row is a line."""


def count_rows(context: ToolContext, args: Args) -> ToolOutput:
    """Count the rows, lines or pages of each file, as parsing reads it. Folders among them are skipped."""
    files = [node for node in context.named(args["paths"]) if node.kind == "file"]
    if len(files) > context.limits.summary_files_most:
        raise TooMuch(f"{len(files)} files are too many to count at once; at most {context.limits.summary_files_most}")
    found = [(node, _counted(context, node)) for node in files]
    counts = [count for _, count in found if count is not None]
    unread = [node.path for node, count in found if count is None]
    return ToolOutput(
        {"counts": counts, "files": len(counts), "rows": sum(count["rows"] for count in counts), "unread": unread},
        f"Counted {many(len(counts), 'file')}.",
        reads=tuple(node.path for node in files)[:READS_MOST],
        warnings=tuple(context.missing),
    )


def _counted(context: ToolContext, node: Node) -> dict[str, Any] | None:
    """Return the count; None if no rows could be read."""
    context.check()
    try:
        found = read(context, node)
    except Rejected:
        return None
    unit = "line" if found.unit == "row" and found.format in LINED else found.unit
    whole = {} if found.complete else {"complete": False}
    return {"path": node.path, "rows": found.rows, "unit": unit, **whole}
