"""Save an asset as a new file of the stage."""

from __future__ import annotations

from posixpath import basename, dirname, join

from libs.skills import free_name
from libs.workspace.operations import Create
from libs.workspace.stage import Applied
from services.tool_executor.tools.tool_context import ToolContext


def save(context: ToolContext, path: str, content: bytes) -> tuple[str, Applied | None]:
    """Stage the content under this path, or under a numbered name beside a file that has it; return where it is."""
    target = context.within(path)
    folder = dirname(target) or "."
    name = free_name(basename(target), context.names_in(folder))
    target = name if folder == "." else join(folder, name)
    with context.stage.blob_cache.drafting() as draft:
        draft.write(content)
        draft.flush()
        kept = context.cached(draft)
    made = [*context.making(folder), Create(path=target, content=kept, reason=context.reason)]
    return target, context.put(made)
