"""The trace of a job, from the request for it to the judgement of each attempt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opentelemetry.sdk.trace import ReadableSpan

from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.libs.telemetry.spans import Kept
from tests.support import stack as stacks
from tests.support.platform import skills
from tests.support.stack import Stack

Json = Any
CHART = {"task_id": "types", "step_type": "generate_chart", "modality": "image", "inputs": {"of": "file_types"}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    drawing, folder = replace(skills(), multimodal=True), tmp_path_factory.mktemp("traces")
    async with infrastructure.fresh_database(server) as where, stacks.served(where, folder, skills=drawing) as made:
        yield made


async def done(stack: Stack, folder: Path, **wanted: Json) -> tuple[str, Sequence[ReadableSpan]]:
    """Return the id of a finished job, and the spans of its trace."""
    with Kept() as kept:
        async with stack.api() as http:
            body = {**wanted, "root": str(folder), "hitl": "bypass"}
            begun = (await http.post("/v1/multimodal/jobs", json=body)).json()
            job = (await http.get(begun["links"]["job"], params={"wait": 60})).json()
        assert job["state"] == "completed", job
        (root,) = [made for made in kept.spans if made.name == "multimodal_job"]
        return job["job_id"], [made for made in kept.spans if made.context.trace_id == root.context.trace_id]


def above(spans: Sequence[ReadableSpan], name: str) -> Iterator[str]:
    """Yield the names of the spans above the first one with this name."""
    by_id = {made.context.span_id: made for made in spans}
    at = next(made for made in spans if made.name == name)
    while at.parent is not None and (parent := by_id.get(at.parent.span_id)) is not None:
        at = parent
        yield at.name


def told(spans: Sequence[ReadableSpan], name: str) -> Mapping[str, Json]:
    return dict(next(made for made in spans if made.name == name).attributes or {})


@pytest.mark.requirement("S3-62", "S3-63")
async def test_all_parts_of_a_job_are_below_its_span(stack: Stack) -> None:
    in_words, spans = await done(stack, stack.folder("words", a_txt="a"), request="make a chart of the file types")
    parts = ("plan_extraction", "step_01", "execution_attempt_1", "quality_evaluation")
    assert [part for part in (*parts, "plan_compilation") if "multimodal_job" not in above(spans, part)] == []
    assert [*above(spans, "quality_evaluation")][:2] == ["execution_attempt_1", "step_01"]
    assert {told(spans, part)["job_id"] for part in ("multimodal_job", *parts)} == {in_words}


@pytest.mark.requirement("S3-62", "S3-64")
async def test_spans_of_a_document_name_step_tool_and_quality(stack: Stack) -> None:
    plan = {"version": "1.0", "tasks": [CHART]}
    job, spans = await done(stack, stack.folder("document", a_txt="a"), plan=plan)
    assert "multimodal_job" in above(spans, "plan_compilation")
    step, attempt = told(spans, "step_01"), told(spans, "execution_attempt_1")
    assert (step["job_id"], step["modality"], bool(step["step_id"])) == (job, "image", True)
    assert (attempt["tool_id"], attempt["provider"]) == ("vega_lite", "local")
    assert 0 <= attempt["quality_score"] <= 1
