"""A task: one call of a tool that makes an asset, as the chain sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from libs.changes import Row
from libs.errors import Rejected
from libs.events import Event, ToolRequested
from libs.leases import Lease
from libs.multimodal.ports import StepType
from services.tool_executor.multimodal.drafting import Draft


@dataclass(frozen=True, slots=True)
class Task:
    """A call under its lease. `draft` takes the attempt's number, from 1; `check` raises on a cancel."""

    lease: Lease
    request: ToolRequested
    session: str
    step_type: StepType
    args: Mapping[str, Any]
    draft: Callable[[int], Awaitable[Draft]]
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Produced:
    """The asset of a task: its result, its bytes, and the rows and events that commit with the call."""

    data: dict[str, Any]
    summary: str
    content: bytes
    rows: tuple[Row, ...]
    events: tuple[Event, ...]
    warnings: tuple[str, ...] = ()


class NoCapability(Rejected):
    """No capability may do this task now."""

    code = "NO_CAPABILITY"


class ProviderFailed(Rejected):
    """The provider did not answer, and no other may replace it."""

    code = "PROVIDER_FAILED"


class ProviderInDoubt(Rejected):
    """An attempt that may have been paid for was interrupted; it is not repeated."""

    code = "PROVIDER_IN_DOUBT"


class QualityNotReached(Rejected):
    """No attempt passed the critic."""

    code = "QUALITY_NOT_REACHED"
