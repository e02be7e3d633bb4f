"""The compiler: a document becomes a plan in topological order, or is refused with every problem."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.events.values import Plan
from libs.multimodal import compiler, dsl
from libs.multimodal.dsl import PlanRefused
from libs.skills import Skills, sources

TOOLS = Skills.load([Path(__file__).parents[3] / "skills"]).tools
Json = dict[str, Any]


def picture(name: str, *waits: str, **more: Any) -> Json:
    task = {"task_id": name, "step_type": "generate_diagram", "modality": "image", "depends_on": list(waits)}
    return {**task, **more}


def document(name: str, *waits: str, **more: Any) -> Json:
    return {**picture(name, *waits), "step_type": "compose_srs", "modality": "document", **more}


def compiled(*tasks: Json) -> Plan:
    return compiler.compiled(dsl.read({"version": "1.0", "tasks": list(tasks)}), TOOLS)


def refused(*tasks: Json) -> Sequence[str]:
    with pytest.raises(PlanRefused) as error:
        compiled(*tasks)
    return error.value.problems


@pytest.mark.requirement("S3-26", "S3-27", "S4-35")
def test_the_example_of_the_requirement_compiles() -> None:
    gate = {"enabled": True, "rubric": {"clarity": 0.7}}
    bounds = {"max_resolution": 1920, "format": "svg"}
    plan = compiled(picture("step_00", constraints=bounds, quality_gate=gate), document("step_01", "step_00"))
    first, last = plan.steps
    assert (first.tool, last.tool) == ("make-documents.diagram", "make-documents.document")
    assert first.args == {**bounds, "title": "Diagram", "of": "components", "rubric": {"clarity": 0.7}}
    assert last.args == {"title": "Software Requirements Specification", "assets": ["$step(1).asset"]}
    assert last.depends_on == (1,)


@st.composite
def graphs(draw: st.DrawFn) -> list[Json]:
    names = [f"t{n}" for n in range(draw(st.integers(1, 15)))]
    tasks = [
        picture(name, *draw(st.lists(st.sampled_from(names[:n] or names[:1]), max_size=3)) if n else ())
        for n, name in enumerate(names)
    ]
    return draw(st.permutations(tasks))


@pytest.mark.requirement("S3-27")
@given(graphs())
@settings(max_examples=60, deadline=None)
def test_every_graph_runs_in_topological_order(tasks: list[Json]) -> None:
    plan = compiled(*deepcopy(tasks))
    number = {step.step_id: step.ordinal for step in plan.steps}
    assert [step.ordinal for step in plan.steps] == list(range(1, len(tasks) + 1))
    for task in tasks:
        assert all(number[name] < number[task["task_id"]] for name in task["depends_on"])
    assert compiled(*tasks) == plan


def test_independent_tasks_keep_the_order_of_the_document() -> None:
    plan = compiled(picture("z"), picture("b", "c"), picture("a"), picture("c"))
    assert [step.step_id for step in plan.steps] == ["z", "a", "c", "b"]


def test_sections_name_the_assets_of_tasks() -> None:
    sections = [{"heading": "Parts", "assets": ["a"]}]
    last = compiled(picture("a"), picture("b"), document("d", "a", "b", inputs={"sections": sections})).steps[-1]
    assert last.args["sections"] == [{"heading": "Parts", "assets": ["$step(1).asset"]}]
    assert last.args["assets"] == ["$step(2).asset"]
    assert sources(last.args) == last.depends_on == (1, 2)


@pytest.mark.requirement("S3-35")
def test_a_task_chooses_a_retention() -> None:
    step = compiled(picture("a", inputs={"retention": "ephemeral"})).steps[0]
    assert step.args["retention"] == "ephemeral"


@pytest.mark.requirement("S3-39")
def test_a_plan_gets_the_words_of_its_request() -> None:
    plan = compiled(picture("a", prompt="Only the parts."), document("b", "a"))
    worded = compiler.worded(plan, "Draw a report of my shop")
    assert [step.args["prompt"] for step in worded.steps] == ["Only the parts.", "Draw a report of my shop"]
    assert compiler.worded(plan, '{"version": "1.0", "tasks": []}') == plan


def test_a_gate_that_is_off_asks_nothing_of_the_result() -> None:
    closed = {"enabled": False}
    plan = compiled(picture("a", quality_gate=closed), document("b", "a", quality_gate=closed))
    assert [step.args["rubric"] for step in plan.steps] == [{}, {}]


def test_the_words_choose_a_sequence() -> None:
    words = "a sequence diagram of the login"
    step = compiled(picture("a", prompt=words, inputs={"path": "src"})).steps[0]
    assert step.args == {"title": words, "prompt": words, "of": "sequence", "path": "src"}


IMAGE = {"step_type": "generate_image", "modality": "image"}
CHART = {"step_type": "generate_chart"}


@pytest.mark.requirement("S3-27")
@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        ([picture("a", "b"), picture("b", "a")], 'Step "a": it waits for itself (a → b → a)'),
        ([picture("a"), picture("a")], 'Step "a": 2 tasks have this id'),
        ([picture("a", "x")], 'Step "a": it depends on "x", which is no task'),
        ([picture("a", modality="document")], 'Step "a": modality document does not fit'),
        (
            [picture("a"), document("b", "a"), document("c", "b")],
            'Step "c": it depends on "b", a document, where pictures',
        ),
        ([picture("a", **CHART)], 'Step "a": a chart needs data'),
        ([picture("a", **IMAGE)], 'Step "a": a picture needs a prompt'),
        ([picture("a", step_type="compose_image")], 'Step "a": there are no pictures to arrange'),
        ([picture("a", step_type="capture_page")], 'Step "a": inputs.page is missing'),
        ([document("a")], 'Step "a": the document would be empty'),
        (
            [picture("a", constraints={"format": "mp3"})],
            "constraints.format 'mp3' is not supported by generate_diagram; use svg",
        ),
        ([picture("a"), document("b", "a", constraints={"max_resolution": 99})], "max_resolution does not apply"),
        ([picture("a", inputs={"colour": 1})], 'Step "a": inputs.colour is unknown; use'),
        ([picture("a", inputs={"title": "x"})], "inputs.title has a field of its own"),
        ([picture("a", inputs={"path": "$step(1).path"})], "inputs refer to a step by number"),
        ([picture("a", inputs={"of": "poem"})], "inputs.of: 'poem' is not one of"),
        ([picture(f"t{n}", *([f"t{n - 1}"] if n else [])) for n in range(21)], "21 steps wait for each other"),
    ],
)
def test_each_problem_names_the_step_and_the_mend(tasks: list[Json], told: str) -> None:
    assert any(told in problem for problem in refused(*tasks))


def test_all_problems_are_reported_at_once() -> None:
    assert len(refused(picture("a", "x"), picture("b", **IMAGE), document("c", modality="image"))) == 4


def test_a_step_without_a_tool_is_refused() -> None:
    with pytest.raises(PlanRefused, match="multimodal work is off"):
        compiler.planned(json.dumps({"version": "1.0", "tasks": [picture("a")]}), ())
