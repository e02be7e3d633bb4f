"""Requests to draw, chart and compose, as the offline planner reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import ClarificationNeeded, PlanDraft
from libs.skills import ToolDefinition
from tests.libs.models.offline.conftest import FOLDER, Read, calls

OVERVIEW = (
    "architecture overview of this folder: a component diagram, a sequence diagram, a chart of file types, as a PDF"
)
COMPONENTS = {"title": "Components", "of": "components", "path": "."}


@pytest.mark.requirement("S3-14", "S4-35")
def test_an_overview_becomes_drawings_and_a_document(read: Read) -> None:
    assert calls(read(OVERVIEW)) == [
        ("make-documents.diagram", COMPONENTS),
        ("make-documents.diagram", {"title": "Sequence diagram", "of": "sequence", "path": "."}),
        ("make-documents.chart", {"title": "File types", "of": "file_types", "path": "."}),
        (
            "make-documents.document",
            {
                "title": "Architecture overview",
                "format": "pdf",
                "save_as": "architecture-overview.pdf",
                "assets": ["$step(1).asset", "$step(2).asset", "$step(3).asset"],
            },
        ),
    ]


@pytest.mark.requirement("S3-14")
def test_the_request_of_the_requirement_is_planned(read: Read) -> None:
    tools = [tool for tool, _ in calls(read("Generate SRS with architecture diagrams"))]
    assert tools == ["make-documents.diagram", "make-documents.document"]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("draw a component diagram of Docs", {"title": "Components of Docs", "of": "components", "path": "Docs"}),
        (
            "Please make a chart of sales by month from sales.csv as PNG",
            {
                "title": "Sales by month",
                "format": "png",
                "path": "sales.csv",
                "x": "month",
                "y": "sales",
                "total": "sum",
            },
        ),
        (
            "plot average price by region from homes.xlsx",
            {"title": "Average price by region", "path": "homes.xlsx", "x": "region", "y": "price", "total": "mean"},
        ),
        (
            "plot price by region from the sheet New homes of homes.xlsx",
            {
                "title": "Price by region",
                "path": "homes.xlsx",
                "sheet": "New homes",
                "x": "region",
                "y": "price",
                "total": "sum",
            },
        ),
        (
            "can you make a pie chart of the file sizes?",
            {"title": "File sizes", "of": "file_sizes", "path": ".", "kind": "pie"},
        ),
        (
            "draw a sequence diagram called calls.svg",
            {"title": "Sequence diagram", "of": "sequence", "save_as": "calls.svg", "path": "."},
        ),
        (
            "draw a sequence diagram as PNG and save it as calls",
            {"title": "Sequence diagram", "of": "sequence", "save_as": "calls.png", "path": ".", "format": "png"},
        ),
    ],
)
def test_single_drawings_are_planned(read: Read, text: str, args: dict[str, Any]) -> None:
    assert [made for _, made in calls(read(text))] == [args]


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("architecture overview of this folder: a component diagram and a haiku, as a PDF", "“a haiku”"),
        ("make a chart of file types and delete x.tmp", "“delete x.tmp”"),
    ],
)
def test_unknown_parts_are_asked_about(read: Read, text: str, unknown: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, ClarificationNeeded)
    assert unknown in outcome.question


@pytest.mark.parametrize(
    "text", ["make a folder called charts", "give me an overview of this folder", "find duplicates"]
)
def test_other_requests_are_planned_as_before(read: Read, text: str) -> None:
    outcome = read(text)
    assert isinstance(outcome, PlanDraft)
    assert not any(step.tool.startswith("make-documents") for step in outcome.plan.steps)


def test_a_taken_name_is_not_used_again(read: Read) -> None:
    workspace = {**FOLDER, "names": ["architecture-overview.pdf"]}
    assert calls(read(OVERVIEW, workspace=workspace))[-1][1]["save_as"] == "architecture-overview (2).pdf"


async def test_the_critic_approves_a_drawing(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    for text in (OVERVIEW, "draw a component diagram of Docs"):
        task = Task.model_validate({"text": text, "intent": "", "tools": ("*",), "workspace": FOLDER})
        drafted = await model.plan(task, catalogue)
        assert isinstance(drafted, PlanDraft)
        assert '"approved": true' in (await model.review(task, drafted.plan, catalogue)).text


def test_nothing_is_drawn_without_the_tools(read: Read, planner: Any, catalogue: Sequence[ToolDefinition]) -> None:
    others = [tool for tool in catalogue if tool.skill != "make-documents"]
    task = Task.model_validate({"text": OVERVIEW, "intent": "", "tools": ("*",), "workspace": FOLDER})
    assert not isinstance(planner.plan(task, others), PlanDraft)
