"""The Task DSL: strict, bounded, and its faults name the step and the mend."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from libs.multimodal import dsl
from libs.multimodal.dsl import PlanRefused

SEED: dict[str, Any] = {
    "version": "1.0",
    "tasks": [
        {
            "task_id": "step_00",
            "step_type": "generate_diagram",
            "modality": "image",
            "depends_on": [],
            "constraints": {"max_resolution": 1920, "format": "svg"},
            "quality_gate": {"enabled": True, "rubric": {"clarity": 0.6}},
        },
        {"task_id": "step_01", "step_type": "compose_srs", "modality": "document", "depends_on": ["step_00"]},
    ],
}


@pytest.mark.requirement("S3-26")
def test_the_example_of_the_requirement_is_read() -> None:
    document = dsl.read(SEED)
    assert [task.task_id for task in document.tasks] == ["step_00", "step_01"]
    assert document.tasks[0].constraints.max_resolution == 1920
    jsonschema.validate(SEED, json.loads(dsl.schema()))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"step_type": "generate_audio"}, "Step \"a\", step_type: 'generate_audio' is unknown; use 'generate_diagram'"),
        ({"modality": "audio"}, "Step \"a\", modality: 'audio' is unknown; use 'image' or 'document'"),
        ({"colour": "red"}, 'Step "a", colour: there is no such field'),
        ({"budget": {"max_cost_cents": 0}}, 'Step "a", budget.max_cost_cents: 0 does not fit'),
        ({"quality_gate": {"rubric": {"beauty": 1}}}, "'beauty' is unknown; use 'clarity'"),
        ({"constraints": {"max_resolution": -1}}, "constraints.max_resolution: -1 does not fit"),
    ],
)
def test_each_fault_names_the_step_and_the_mend(change: dict[str, Any], told: str) -> None:
    task = {"task_id": "a", "step_type": "generate_diagram", "modality": "image", **change}
    with pytest.raises(PlanRefused) as refused:
        dsl.read({"version": "1.0", "tasks": [task]})
    assert told in str(refused.value)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(PlanRefused) as refused:
        dsl.read({"version": "2.0", "tasks": [{"task_id": "a"}, "no task"]})
    assert len(refused.value.problems) == 4
    assert "Step 2" in refused.value.problems[3]


def test_a_document_has_bounds() -> None:
    many = [{"task_id": f"t{n}", "step_type": "generate_diagram", "modality": "image"} for n in range(101)]
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    for wrong in (
        {"version": "1.0", "tasks": many},
        {"version": "1.0", "tasks": [deep]},
        {"version": "1.0", "tasks": []},
    ):
        with pytest.raises(PlanRefused):
            dsl.read(wrong)


def test_only_an_object_with_version_and_tasks_is_a_document() -> None:
    assert dsl.found_in(f"```json\n{json.dumps(SEED)}\n```") == SEED
    for text in ("delete the old files", '{"tasks": []}', "[]", '{"kind": "plan", "steps": [{"version": "tasks"}]}'):
        assert dsl.found_in(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"version": "1.0",\n "tasks": [,]}', "line 2, column 12"),
        ('{"version": "1.0", "tasks": ' + "[" * 50_000, "nests deeper"),
        ('{"version": "1.0", "tasks": NaN}', "NaN is no number"),
        ('{"version": "1.0", "tasks": "' + "x" * 70_000, "write at most 64000"),
    ],
)
def test_damaged_documents_are_refused_with_the_place(text: str, told: str) -> None:
    with pytest.raises(PlanRefused, match=told):
        dsl.found_in(text)
