"""Summarising files: the most telling sentences of each that holds a text (S4-59)."""

from __future__ import annotations

from typing import Any

from libs import documents
from libs.errors import Rejected
from libs.retrieval.summary import summarize
from libs.workspace.view import Node
from services.tool_executor.domain.bench import READS_MOST, Args, Bench, Done, TooMuch, many
from services.tool_executor.domain.parsing import read

TEXTS = frozenset(
    ("plain text", "Markdown", "HTML", "mail", *(documents.FORMS[form] for form in (".pdf", ".docx", ".odt", ".epub")))
)
"""Forms that people write sentences in."""


def summarize_texts(bench: Bench, args: Args) -> Done:
    """Of each file at most so many of its sentences. A folder among the listed is passed over."""
    nodes = [bench.stage.get_metadata(path) for path in bench.present(args["paths"], strict=len(args["paths"]) == 1)]
    files = [node for node in nodes if node.kind == "file"]
    if nodes and not files:
        raise Rejected(f"{nodes[0].path} is not a file; list the files in it first")
    if len(files) > bench.limits.texts:
        raise TooMuch(f"{len(files)} files are too many for one summary; at most {bench.limits.texts}")
    told: list[dict[str, Any]] = []
    silent: list[str] = []
    for node in files:
        bench.check()
        found = _summary(bench, node, args.get("sentences", 5))
        told += [found] if found else []
        silent += [] if found else [node.path]
    summary = f"Summarised {many(len(told), 'file')}." if told else "There is no text to summarise."
    return Done(
        {"summaries": told, "files": len(told), "without_text": silent},
        summary,
        reads=tuple(node.path for node in files)[:READS_MOST],
        warnings=tuple(bench.missing),
    )


def _summary(bench: Bench, node: Node, most: int) -> dict[str, Any] | None:
    """None for a file in which nobody says anything."""
    try:
        found = read(bench, node)
    except Rejected:
        return None
    if found.format not in TEXTS:
        return None
    summary = summarize(found.text, most)
    if not summary.sentences:
        return None
    whole = {} if found.complete and summary.complete else {"complete": False}
    return {"path": node.path, "sentences": list(summary.sentences), "words": summary.words, **whole}
