"""A job as its events and its executions tell it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from libs.events import PlanProposed, Step, StepChanged, StepState
from libs.multimodal.ports import MEDIA_TYPES
from libs.texts import literal, one_line
from services.gateway.multimodal.models import Execution, Job, JobAsset, JobLinks, JobStep
from services.gateway.sessions.models import TurnShown
from services.gateway.sessions.store import Numbered

ROOT = "/v1/multimodal"
ENDINGS: Mapping[str, str] = {media: {"markdown": ".md"}.get(name, f".{name}") for name, media in MEDIA_TYPES.items()}
"""The ending of a file's name, by media type."""
NAME_MOST = 100
Json = Any


def links(session: str, job: str, *, after: int = 0) -> JobLinks:
    """Return the addresses of a job."""
    at = f"{ROOT}/jobs/{job}"
    return JobLinks(job=at, events=f"/v1/sessions/{session}/events?after={after}", cancel=f"{at}/cancel")


def job_of(turn: TurnShown, events: Iterable[Numbered], executions: Sequence[Json]) -> Job:
    """Return a job: the steps of all its plans in order, with the attempts of each."""
    planned: dict[tuple[str, int], Step] = {}
    changed: dict[tuple[str, int], StepChanged] = {}
    for item in events:
        match item.event:
            case PlanProposed(plan=plan):
                planned |= {(plan.plan_id, step.ordinal): step for step in plan.steps}
            case StepChanged() as change:
                changed[change.plan_id, change.ordinal] = change
            case _:
                pass
    attempts: dict[str, list[Execution]] = {}
    for told in executions:
        attempts.setdefault(told["step_id"], []).append(Execution.model_validate(told))
    steps = [_step(plan, step, changed.get((plan, n)), attempts) for (plan, n), step in planned.items()]
    results = [change.data for change in changed.values() if isinstance(change.data, Mapping)]
    return Job(
        job_id=turn.turn_id,
        request=turn.text,
        **turn.model_dump(include={"session_id", "state", "reason", "detail", "answer", "created_at", "ended_at"}),
        steps=len(steps),
        plan=steps,
        assets=[step.asset for step in steps if step.asset is not None],
        warnings=[str(warning) for told in results for warning in told.get("warnings") or ()],
        cost_micros=sum(one.cost_micros for tries in attempts.values() for one in tries),
        links=links(turn.session_id, turn.turn_id),
    )


def asset_of(change: StepChanged | None) -> JobAsset | None:
    """Return the asset that a step made, as its result names it."""
    told = change.data if change is not None and change.state is StepState.SUCCEEDED else None
    if change is None or not isinstance(told, Mapping) or not isinstance(told.get("asset"), str):
        return None
    at = f"{ROOT}/assets/{told['asset']}"
    return JobAsset(
        asset_id=told["asset"],
        step_id=change.step_id,
        title=str(told.get("title") or change.description),
        format=str(told.get("format") or ""),
        media_type=str(told.get("media_type") or "application/octet-stream"),
        size=int(told.get("size") or 0),
        width=int(told.get("width") or 0),
        height=int(told.get("height") or 0),
        path=told.get("path") or None,
        content=at,
        provenance=f"{at}/provenance",
    )


def linked(answer: str, made: Iterable[JobAsset], base: str, *, mark: str = "") -> str:
    """Return an answer that ends with links to what its turn made, if it made anything, and then with the mark. `base`
    is our address. A title shows as it is.
    """
    links = "\n".join(f"- [{literal(one_line(one.title))}]({base}{one.content})" for one in made)
    return "\n\n".join(filter(None, (answer, links, mark))) if links else answer


def in_words(change: StepChanged) -> str:
    """Return a step's result in words, with the address of the asset that it made."""
    made = asset_of(change)
    link = f"{made.title}: {made.content} ({made.media_type})" if made is not None else ""
    return "\n".join(part for part in (change.summary, link) if part)


def file_name(title: str, media_type: str) -> str:
    """Return the name of an asset's file, without anything that a folder could be."""
    return f"{title.replace('/', '-')[:NAME_MOST] or 'asset'}{ENDINGS.get(media_type, '')}"


def _step(plan: str, step: Step, change: StepChanged | None, attempts: Mapping[str, list[Execution]]) -> JobStep:
    return JobStep(
        plan_id=plan,
        step_id=step.step_id,
        ordinal=step.ordinal,
        tool=step.tool,
        description=step.description,
        depends_on=list(step.depends_on),
        state=change.state if change is not None else StepState.PENDING,
        summary=change.summary if change is not None else "",
        error=change.error if change is not None else None,
        executions=attempts.get(step.step_id, []),
        asset=asset_of(change),
    )
