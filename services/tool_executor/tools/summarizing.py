"""Summarising files: the most telling sentences of each that holds a text (S4-59)."""

from __future__ import annotations

from typing import Any

from libs import documents
from libs.errors import Rejected
from libs.search import summarize
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import NoText
from services.tool_executor.tools.parsing import read
from services.tool_executor.tools.tool_context import READS_MOST, Args, ToolContext, ToolOutput, TooMuch, many

TEXTS = frozenset(
    ("plain text", "Markdown", "HTML", "mail", *(documents.FORMS[form] for form in (".pdf", ".docx", ".odt", ".epub")))
)
"""Forms that people write sentences in."""


def summarize_texts(context: ToolContext, args: Args) -> ToolOutput:
    """Summarize each file in at most so many of its sentences. Skip folders among the paths."""
    nodes = context.named(args["paths"])
    files = [node for node in nodes if node.kind == "file"]
    if nodes and not files:
        raise Rejected(f"{nodes[0].path} is not a file; list the files in it first")
    if len(files) > context.limits.summary_files_most:
        raise TooMuch(f"{len(files)} files are too many for one summary; at most {context.limits.summary_files_most}")
    summaries: list[dict[str, Any]] = []
    silent: dict[str, str] = {}
    for node in files:
        context.check()
        found = _summary(context, node, args.get("sentences", 5))
        if isinstance(found, str):
            silent[node.path] = found
        else:
            summaries.append(found)
    summary = f"Summarized {many(len(summaries), 'file')}." if summaries else "There is no text to summarize."
    return ToolOutput(
        {
            "summaries": summaries,
            "files": len(summaries),
            "without_text": list(silent),
            "unread": {path: why for path, why in silent.items() if why},
        },
        summary,
        reads=tuple(node.path for node in files)[:READS_MOST],
        warnings=tuple(context.missing),
    )


def _summary(context: ToolContext, node: Node, most: int) -> dict[str, Any] | str:
    """Return the summary, or why there is none: empty for a file without sentences."""
    try:
        found = read(context, node)
    except Rejected as error:
        return "" if isinstance(error.__cause__, NoText) else str(error).removeprefix(f"{node.name} ")
    if found.format not in TEXTS:
        return ""
    summary = summarize(found.text, most)
    if not summary.sentences:
        return ""
    whole = {} if found.complete and summary.complete else {"complete": False}
    return {"path": node.path, "sentences": list(summary.sentences), "words": summary.words, **whole}
