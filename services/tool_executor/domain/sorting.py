"""Sorting: each file into a folder that its category, or the year or month of its last change, gives the name.

Dates are of the UTC calendar. What was made just now has none yet, and stays where it is. Folders are made as they are
needed, no name is ever overwritten, and to sort twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename, dirname, join

from libs.skills import free_name
from libs.workspace.operations import AnyOperation, Create, Move
from libs.workspace.view import Node
from services.tool_executor.domain.bench import Bench

FORMS = {"year": "%Y", "month": "%Y-%m"}


def sorting(bench: Bench, paths: Sequence[str], target: str, *, by: str) -> tuple[list[AnyOperation], list[str]]:
    """What sorts these files into `target/<group>`, and the folders that it makes. Folders among them stay."""
    operations, folders, made = list[AnyOperation](), dict[str, set[str]](), list[str]()
    for node in map(bench.stage.get_metadata, paths):
        group = _group(bench, node, by) if node.kind == "file" else None
        if group is None:
            continue
        folder = join("" if target == "." else target, group)
        if folder not in folders:
            folders[folder] = bench.names_in(folder)
            if not bench.exists(folder):
                operations.append(Create(path=folder, directory=True, reason=bench.reason))
                made.append(folder)
        if dirname(node.path) == folder:
            continue
        name = free_name(basename(node.path), folders[folder])
        folders[folder].add(name)
        operations.append(Move(path=node.path, target=join(folder, name), reason=bench.reason))
    return operations, made


def _group(bench: Bench, node: Node, by: str) -> str | None:
    if by not in FORMS:
        return bench.categories.category_of(node.name)
    if node.modified_at is None:
        bench.missing.append(f"{node.path} has no date yet and was left where it is.")
        return None
    return node.modified_at.strftime(FORMS[by])
