"""A folder, and what the offline planner makes of a request in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline.planner import Planner
from libs.models.ports import PlanDraft, PlannerOutcome
from libs.skills import Categories, ToolDefinition
from tests.libs.models.conftest import NOW

PATHS = (
    *("a.pdf", "b.pdf", "cv.docx", "notes.txt", "todo.md", "x.tmp", "y.tmp", "fonts.zip", "birds.csv", "old.log"),
    *("holiday 1.jpg", "holiday 2.jpg", "screenshot one.png", "screenshot two.png", "driver_setup.exe"),
    *("invoice-1.pdf", "invoice-2.pdf", "passport scan.pdf", "Docs/plan.md", "Italy/rome.jpg", "Italy/tickets.pdf"),
)
NAMES = (*(path for path in PATHS if "/" not in path), "Docs/", "Italy/", "Best/")
FOLDER = {"names": list(NAMES), "paths": list(PATHS), "files": len(PATHS), "extensions": ["pdf", "txt", "jpg"]}

Read = Callable[..., PlannerOutcome]


@pytest.fixture(scope="session")
def planner(categories: Categories) -> Planner:
    return Planner(categories, new_id=lambda: "id", now=lambda: NOW)


@pytest.fixture(scope="session")
def read(planner: Planner, catalogue: Sequence[ToolDefinition]) -> Read:
    """Plan a request in the folder."""

    def planned(text: str, **more: Any) -> PlannerOutcome:
        given = {"intent": "", "tools": ("*",), "workspace": FOLDER, **more}
        return planner.plan(Task(text=text, **given), catalogue)

    return planned


def calls(outcome: PlannerOutcome) -> list[tuple[str, dict[str, Any]]]:
    """The steps of a plan, without their defaults."""
    assert isinstance(outcome, PlanDraft), outcome
    return [(step.tool, dict(step.args)) for step in outcome.plan.steps]


def changes(outcome: PlannerOutcome) -> bool:
    return isinstance(outcome, PlanDraft) and any(step.mutates for step in outcome.plan.steps)
