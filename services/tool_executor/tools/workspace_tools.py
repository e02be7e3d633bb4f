"""The tools of the workspace itself: they end a stage, or undo what was committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class WorkspaceTool:
    """`action` is what policy is asked about; `changes_files` says whether the disk is touched."""

    action: str
    changes_files: bool


COMMIT, DROP, RESTORE = "workspace.commit", "workspace.drop", "workspace.restore"
ROLLBACK, REDO = "workspace.rollback", "workspace.redo"

WORKSPACE_TOOLS: Mapping[str, WorkspaceTool] = MappingProxyType(
    {
        COMMIT: WorkspaceTool("workspace.commit", changes_files=True),
        DROP: WorkspaceTool("workspace.commit", changes_files=False),
        RESTORE: WorkspaceTool("workspace.rollback", changes_files=False),
        ROLLBACK: WorkspaceTool("workspace.rollback", changes_files=True),
        # A redo is the rollback of a rollback.
        REDO: WorkspaceTool("workspace.rollback", changes_files=True),
    }
)
