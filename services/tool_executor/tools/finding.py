"""Finding files by glob and lines by pattern. What a `.gitignore` excludes is left out, unless it is asked for.

Patterns run by RE2, so that none takes more than linear time; a search stops after a bounded number of lines and of
seconds, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from posixpath import dirname, join
from typing import Any

import re2
from pathspec import GitIgnoreSpec

from libs.errors import Rejected
from libs.skills import linear
from libs.texts import composed
from libs.workspace import ignore_rules, names
from libs.workspace.view import Node
from services.tool_executor.tools.decoding import NoText, decoded
from services.tool_executor.tools.listing import left_alone
from services.tool_executor.tools.tool_context import READS_MOST, Args, ToolContext, ToolOutput, many

SECONDS = 10.0
"""Time of one search."""
LINE_MOST = 300
GITIGNORE = ".gitignore"


class BadPattern(Rejected):
    """This is not a pattern that can be used."""

    code = "BAD_PATTERN"


def find_files(context: ToolContext, args: Args) -> ToolOutput:
    """List the files whose paths match a glob, in the syntax of gitignore."""
    found, most = [node.path for node in _files(context, args)], args["most"]
    data = {"nodes": found[:most], "count": len(found), "complete": len(found) <= most}
    data |= left_alone(context.stage, {"path": args["path"]}, recursive=True)
    return ToolOutput(data, f"Found {many(len(found), 'file')}.", reads=tuple(found[: min(most, READS_MOST)]))


def grep_files(context: ToolContext, args: Args) -> ToolOutput:
    """Return the lines that match a regular expression (RE2), with lines around them."""
    search, most, around = _searching(args), args["most"], args.get("context", 0)
    until, matches, unread, read, whole = time.monotonic() + SECONDS, list[dict[str, Any]](), list[str](), 0, True
    for node in _files(context, args):
        if len(matches) >= most or time.monotonic() > until:
            whole = False
            break
        lines = _lines_of(context, node)
        if lines is None:
            unread.append(node.path)
            continue
        read += 1
        hits = (number for number, line in enumerate(lines, 1) if search(line))
        for number in islice(hits, most - len(matches)):
            matches.append({"path": node.path, "line": number, **_shown(lines, number, around)})
    files = dict.fromkeys(match["path"] for match in matches)
    data = {
        "matches": matches,
        "count": len(matches),
        "files": len(files),
        "searched": read,
        "unread": unread[:READS_MOST],
        "complete": whole and len(matches) < most,
    }
    summary = f"Found {many(len(matches), 'line')} in {many(len(files), 'file')}."
    short = () if data["complete"] else (f"The search stopped after {many(len(matches), 'line')}.",)
    return ToolOutput(data, summary, reads=tuple(files)[:READS_MOST], warnings=short)


def _searching(args: Args) -> Callable[[str], object]:
    try:
        return linear(f"(?i){args['pattern']}" if args.get("ignore_case") else args["pattern"]).search  # type: ignore[no-any-return]
    except re2.error as error:
        raise BadPattern(f"{args['pattern']!r} is not a regular expression of RE2: {error}") from error


def _shown(lines: Sequence[str], number: int, around: int) -> dict[str, Any]:
    shown: dict[str, Any] = {"text": lines[number - 1][:LINE_MOST]}
    if around:
        shown["before"] = [line[:LINE_MOST] for line in lines[max(0, number - 1 - around) : number - 1]]
        shown["after"] = [line[:LINE_MOST] for line in lines[number : number + around]]
    return shown


def _lines_of(context: ToolContext, node: Node) -> list[str] | None:
    """Return the lines of a text; None for a file that is none, or is too large."""
    try:
        excerpt = context.stage.read_content(node.path, context.limits.read_bytes_most)
        return None if excerpt.truncated else decoded(excerpt.data).text.splitlines()
    except (NoText, Rejected):
        return None


def _files(context: ToolContext, args: Args) -> Iterator[Node]:
    """Yield the files below `path` that match `include`, without those that are left alone or ignored, unless `ignored`
    is true.
    """
    wanted, unwanted = _spec(args.get("include", ["*"])), _spec(args.get("exclude", []))
    nodes = list(context.stage.walk(args["path"]))
    rules = {} if args["ignored"] else dict(_rules(context, args["path"], nodes))
    for node in nodes:
        context.check()
        skipped = not args["ignored"] and (node.left_alone or _ignored(node.path, rules))
        if node.kind == "file" and not skipped and wanted.match_file(node.path) and not unwanted.match_file(node.path):
            yield node


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(patterns, backend="re2")
    except (ValueError, re2.error) as error:
        raise BadPattern(f"this is not a glob: {error}") from error


def _rules(context: ToolContext, path: str, nodes: Sequence[Node]) -> Iterator[tuple[str, ignore_rules.Rules]]:
    """Yield the folder and the rules of each `.gitignore` at, above and below a folder."""
    above = [folder for folder in ("", *names.lineage(context.within(path))) if context.exists(join(folder, GITIGNORE))]
    below = [dirname(node.path) for node in nodes if node.name == GITIGNORE and node.kind == "file"]
    for folder in {*above, *below}:
        excerpt = context.stage.read_content(join(folder, GITIGNORE), ignore_rules.BYTES_MOST)
        text = composed(excerpt.data.decode("utf-8", "replace"))
        yield folder, ignore_rules.parsed(folder, GITIGNORE, text, whole=not excerpt.truncated)[0]


def _ignored(path: str, rules: Mapping[str, ignore_rules.Rules]) -> bool:
    # Only the folders on the way: a folder may have as many rules of its own as it has folders.
    way = ("", *reversed(names.lineage(dirname(path))))
    return ignore_rules.ignored(path, tuple(rules[folder] for folder in way if folder in rules))
