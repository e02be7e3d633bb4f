"""The Task DSL 1.0: a multimodal job as tasks that depend on each other, as programs and models write it (S3-26).

`proto/task-dsl.v1.json` is its schema for other languages. `libs.multimodal.compiler` turns a document into a plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs.errors import Rejected
from libs.multimodal.ports import Modality, StepType

TEXT_MOST = 64_000
"""Characters of a document."""
PROMPT_MOST = 4000
"""Characters of the words of a request."""
TASKS_MOST, NESTING_MOST, PROBLEMS_MOST = 100, 20, 50
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Criterion = Literal["clarity", "relevance", "aesthetic"]


class PlanRefused(Rejected):
    """The Task DSL document cannot be run; correct the steps that it names."""

    code = "PLAN_REFUSED"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems[:PROBLEMS_MOST])
        """A sentence each, with the step and the mend."""
        super().__init__(" ".join(self.problems))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Constraints(_Strict):
    """Bounds of a result."""

    max_resolution: int | None = Field(default=None, ge=16, le=8192, description="pixels of the longer side")
    format: str | None = Field(default=None, max_length=20, description="such as svg, png or pdf")


class QualityGate(_Strict):
    """Whether a critic must pass the result, and the least score of each criterion."""

    enabled: bool = True
    rubric: dict[Criterion, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)


class Budget(_Strict):
    """The most that a task may cost. Work on this machine is free."""

    max_cost_cents: int = Field(gt=0, le=10_000)


class Task(_Strict):
    """One step of a job."""

    task_id: Name
    step_type: StepType
    modality: Modality
    depends_on: list[Name] = Field(default_factory=list, max_length=TASKS_MOST, description="ids of other tasks")
    constraints: Constraints = Constraints()
    quality_gate: QualityGate = QualityGate()
    title: str = Field(default="", max_length=200, description="the caption")
    prompt: str = Field(default="", max_length=PROMPT_MOST, description="the request in words")
    inputs: dict[str, Any] = Field(
        default_factory=dict,
        max_length=20,
        description="further parameters of the tool, such as path, of, source or sections; lists of assets name tasks",
    )
    budget: Budget | None = None


class Document(_Strict):
    """A whole job."""

    version: Literal["1.0"]
    tasks: list[Task] = Field(min_length=1, max_length=TASKS_MOST)


def schema() -> str:
    """Return the JSON Schema of the DSL, as `proto/` holds it."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Suma Task DSL 1.0"}
    return json.dumps(Document.model_json_schema() | head, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def looks_like_one(text: str) -> bool:
    """Return whether a text is meant as a document, valid or not."""
    text = unfenced(text)
    return text.startswith("{") and '"tasks"' in text and '"version"' in text


def found_in(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object if the text is meant as a document of the DSL: it has `version` and `tasks`.

    Raises:
        PlanRefused: it is longer than any document, or is not JSON.
    """
    if not looks_like_one(text):
        return None
    text = unfenced(text)
    if len(text) > TEXT_MOST:
        raise PlanRefused([f"The document has {len(text)} characters; write at most {TEXT_MOST}."])
    try:
        found = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as wrong:
        place = f"line {wrong.lineno}, column {wrong.colno}"
        raise PlanRefused([f"The document is not valid JSON: {wrong.msg} in {place}; correct it there."]) from None
    except RecursionError:
        raise PlanRefused([f"The document nests deeper than {NESTING_MOST} levels; flatten its inputs."]) from None
    return found if isinstance(found, dict) and {"version", "tasks"} <= found.keys() else None


def unfenced(text: str) -> str:
    """Return the text without space and a code fence around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") : -3].strip()
    return text


def read(found: Mapping[str, Any]) -> Document:
    """Parse a document. Raises `PlanRefused` with every fault of its form."""
    if _deep(found, NESTING_MOST):
        raise PlanRefused([f"The document nests deeper than {NESTING_MOST} levels; flatten its inputs."])
    try:
        return Document.model_validate(found)
    except ValidationError as wrong:
        raise PlanRefused(list(_faults(wrong, found))) from None


def _refuse(name: str) -> NoReturn:
    raise PlanRefused([f"The document is not valid JSON: {name} is no number; write one."])


def _deep(value: Any, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    below = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_deep(each, left - 1) for each in below)


def _faults(wrong: ValidationError, found: Mapping[str, Any]) -> Iterator[str]:
    for fault in wrong.errors(include_url=False)[:PROBLEMS_MOST]:
        yield f"{_where(fault['loc'], found)}: {_mend(fault)}."


def _where(place: Sequence[int | str], found: Mapping[str, Any]) -> str:
    """Name the step by its id, else by its number, and the field."""
    if len(place) < 2 or place[0] != "tasks":
        return f"The field {place[0] if place else 'version'}"
    number = int(place[1])
    task = found["tasks"][number]
    name = task.get("task_id") if isinstance(task, dict) else None
    step = f'Step "{name[:64]}"' if isinstance(name, str) and name else f"Step {number + 1}"
    fields = [str(each) for each in place[2:] if each != "[key]"]
    return f"{step}, {'.'.join(fields)[:100]}" if fields else step


def _mend(fault: Mapping[str, Any]) -> str:
    given = f"{fault.get('input')!r}"[:60]
    match fault["type"]:
        case "missing":
            return "it is missing; add it"
        case "extra_forbidden":
            return "there is no such field; remove it, or put a parameter of the tool into inputs"
        case "enum" | "literal_error":
            return f"{given} is unknown; use {fault['ctx']['expected']}"
        case _:
            message = str(fault["msg"])
            return f"{given} does not fit; {message[:1].lower()}{message[1:]}"
