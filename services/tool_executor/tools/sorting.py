"""Sorting: each file into a folder that its category, or the year or month of its last change or in its name, names.

Dates are of the UTC calendar. A file without one, since it was made just now or its name has none or several, stays
where it is, with a warning. Folders are made as they are needed, those above them too, no name is ever overwritten, and
to sort twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename, dirname, join

from libs.skills import date_in, free_name
from libs.workspace.operations import AnyOperation, Move
from libs.workspace.view import Node
from services.tool_executor.tools.tool_context import ToolContext

FORMS = {"year": "%Y", "month": "%Y-%m"}
IN_NAMES = {"name_year": "year", "name_month": "month"}


def sorting(
    context: ToolContext, paths: Sequence[str], target: str, *, by: str
) -> tuple[list[AnyOperation], list[str]]:
    """Return the operations that sort files into `target/<group>`, and the new folders. Folders are not moved."""
    operations, folders, made = list[AnyOperation](), dict[str, set[str]](), list[str]()
    created = set[str]()
    for node in map(context.stage.get_metadata, paths):
        group = _group(context, node, by) if node.kind == "file" else None
        if group is None:
            continue
        folder = join("" if target == "." else target, group)
        if folder not in folders:
            folders[folder] = context.names_in(folder)
            lacking = [one for one in context.making(folder) if one.path not in created]
            operations += lacking
            created |= {one.path for one in lacking}
            made += [folder] if lacking else []
        if dirname(node.path) == folder:
            continue
        name = free_name(basename(node.path), folders[folder])
        folders[folder].add(name)
        operations.append(Move(path=node.path, target=join(folder, name), reason=context.reason))
    return operations, made


def _group(context: ToolContext, node: Node, by: str) -> str | None:
    if by in IN_NAMES:
        return _said_by_name(context, node, IN_NAMES[by])
    if by not in FORMS:
        return context.categories.category_of(node.name)
    if node.modified_at is None:
        context.missing.append(f"{node.path} has no date yet and was left where it is.")
        return None
    return node.modified_at.strftime(FORMS[by])


def _said_by_name(context: ToolContext, node: Node, unit: str) -> str | None:
    year, month = date_in(node.name) or (None, None)
    if year and (unit == "year" or month):
        return year if unit == "year" else f"{year}-{month}"
    context.missing.append(f"{node.path} has no single {unit} in its name and was left where it is.")
    return None
