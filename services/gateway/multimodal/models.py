"""The requests and answers of the multimodal routes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from libs.events import Hitl
from services.gateway.http.models import Id, RequestModel, ResponseModel
from services.gateway.sessions.models import Root, Text, Title, unless


class NewJob(RequestModel):
    """A job: in words, or as a document of the Task DSL 1.0. Without a session it opens one."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"required": ["plan"], "properties": {"plan": {"type": "object"}}},
            "then": {"properties": {"request": {"type": "null"}}, **unless("session_id", "root", "title")},
            "else": {
                "required": ["request"],
                "properties": {"request": {"type": "string"}},
                **unless("session_id", "root", "title"),
            },
        }
    )

    request: Text | None = Field(default=None, examples=["make a chart of the file types"])
    plan: dict[str, Any] | None = Field(
        default=None, description='A Task DSL document: `{"version": "1.0", "tasks": […]}` (proto/task-dsl.v1.json)'
    )
    session_id: Id | None = None
    title: Title | None = None
    root: Root | None = None
    """The folder to work in; only for a new session."""
    hitl: Hitl | None = None

    @model_validator(mode="after")
    def _one_form(self) -> NewJob:
        if (self.request is None) == (self.plan is None):
            raise ValueError("give a request in words or a plan, not both")
        if self.session_id is not None and (self.root is not None or self.title is not None):
            raise ValueError("root and title cannot change for an existing session; leave them out")
        return self


class JobLinks(ResponseModel):
    """The addresses of a job: itself, the events of its session, and how to cancel it."""

    job: str
    events: str
    cancel: str


class JobAccepted(ResponseModel):
    """A durable job. `job_id` is the id of its turn; read its session's events from `after`."""

    job_id: str
    session_id: str
    after: int
    links: JobLinks


class JobSummary(ResponseModel):
    """A job and its state. It ends in completed, refused, failed or cancelled."""

    job_id: str
    session_id: str
    request: str
    state: str
    reason: str | None
    detail: str
    steps: int
    """The number of steps of its latest plan; 0 before it."""
    created_at: datetime
    ended_at: datetime | None


class JobList(ResponseModel):
    jobs: list[JobSummary]
    next: str | None
    """`before=` of the next page; null at the end."""


class Execution(ResponseModel):
    """One attempt of a step with one provider. `critique` says what the critic wanted changed."""

    step_id: str
    step_index: int
    attempt: int
    tool_id: str
    provider: str
    status: str
    asset_id: str | None
    latency_ms: int | None
    cost_micros: int
    """Millionths of a US dollar."""
    quality: float | None
    critique: list[str]
    error: str | None
    at: datetime | None


class JobAsset(ResponseModel):
    """A result of a step. `content` and `provenance` are addresses."""

    asset_id: str
    step_id: str
    title: str
    format: str
    media_type: str
    size: int
    width: int
    height: int
    path: str | None
    """The file of the folder that also has it, once it is committed."""
    content: str
    provenance: str


class JobStep(ResponseModel):
    """A step of a plan. `depends_on` are the ordinals of the steps before it."""

    plan_id: str
    step_id: str
    ordinal: int
    tool: str
    description: str
    depends_on: list[int]
    state: str
    summary: str
    error: str | None
    executions: list[Execution]
    asset: JobAsset | None


class Job(JobSummary):
    """A job with its steps, and what they made and cost."""

    answer: str | None
    plan: list[JobStep]
    assets: list[JobAsset]
    warnings: list[str]
    cost_micros: int
    links: JobLinks


class NewLink(RequestModel):
    """The lifetime of a link; without one, the longest."""

    seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None


class AssetLink(ResponseModel):
    """A link that returns the content without a key to every holder, until `expires_at`."""

    url: str
    expires_at: datetime


class Provenance(ResponseModel):
    """Where an asset comes from: what made it, of what, when and for whom."""

    asset_id: str
    job_id: str
    session_id: str
    title: str
    media_type: str
    size: int
    sha256: str
    provenance: dict[str, Any]


class CapabilityShown(ResponseModel):
    """A capability of the registry. `problem` says why it does not work at the moment."""

    tool_id: str
    provider: str
    modalities: list[str]
    formats: list[str]
    constraints: dict[str, Any]
    cost_tier: str
    latency_ms: int | None = None
    """The mean time of the tenant's attempts, as of at most five minutes ago; null without any."""
    health_status: str
    checked_at: datetime | None
    problem: str


class CapabilityList(ResponseModel):
    """The capabilities; none where the deployment has not enabled them, and `problem` says how to."""

    enabled: bool
    problem: str
    capabilities: list[CapabilityShown]
