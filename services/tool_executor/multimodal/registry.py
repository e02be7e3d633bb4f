"""The registry of capabilities (S3-28): which producers there are, which can do a task, and whether they work (S3-29).

A lookup reads memory alone (S3-68). Health is checked every minute; a breaker that opens counts at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Rejected, SumaError
from libs.multimodal.ports import Capability, Modality, Producer, StepType
from libs.resilience import State
from libs.runtime import Platform
from libs.telemetry import logger, metrics
from libs.tools import attribute
from services.tool_executor.rows import CapabilityChecked
from services.tool_executor.workspaces import GROUP

CHECK_SECONDS, PROBE_SECONDS = 60.0, 10.0
"""Seconds between two checks of the health (S3-29), and the most that one of them may take."""
ENTRY_POINTS = "suma.multimodal"
"""The group of entry points of packages that bring producers."""
DEPLOYMENT = "local"
"""The tenant in whose name the deployment's own rows are written; they have no tenant themselves."""

log = logger("multimodal")


class BadProducer(Rejected):
    """A producer that the settings name cannot be used."""

    code = "BAD_PRODUCER"


class NameTaken(Rejected):
    """Another capability has this tool and provider."""

    code = "CAPABILITY_KNOWN"


@dataclass(slots=True)
class Entry:
    """A registered producer and its last check; a problem that is empty is none."""

    producer: Producer
    problem: str = ""
    checked: datetime | None = field(default=None)


class Registry:
    def __init__(self, platform: Platform, producers: Iterable[Producer] = (), *, every: float = CHECK_SECONDS) -> None:
        self._platform, self._every = platform, every
        self._entries: dict[str, Entry] = {}
        self._checking = asyncio.Lock()
        for producer in producers:
            self.register(producer)

    def register(self, producer: Producer) -> None:
        """Add a producer. Raises NameTaken."""
        name = producer.capability.name
        if name in self._entries:
            raise NameTaken(f"there are two capabilities {name}; rename one of them")
        self._entries[name] = Entry(producer)

    def find(
        self,
        step_type: StepType,
        *,
        modality: Modality,
        format: str,
        language: str = "",
        max_resolution: int | None = None,
    ) -> Sequence[Producer]:
        """Return the producers that can do a task, by priority and then by name, whether they work or not."""
        found = [
            entry.producer
            for entry in self._entries.values()
            if _fits(entry.producer.capability, step_type, modality, format, language, max_resolution)
        ]
        return sorted(found, key=lambda producer: (producer.capability.priority, producer.capability.name))

    def problem_of(self, capability: Capability) -> str:
        """Return why a capability cannot be used now; empty if it can."""
        if any(call.name == guard_of(capability) and call.state is State.OPEN for call in self._platform.guarded_calls):
            return "it has failed repeatedly and is left alone for a minute (circuit open)"
        return self._entries[capability.name].problem

    def entries(self) -> Sequence[Entry]:
        """Return every entry, by name."""
        return [self._entries[name] for name in sorted(self._entries)]

    def described(self, entry: Entry) -> dict[str, Any]:
        """Return an entry as JSON, with its health at this moment."""
        capability = entry.producer.capability
        problem = self.problem_of(capability)
        return {
            "tool_id": capability.tool_id,
            "provider": capability.provider,
            "step_types": sorted(capability.step_types),
            "modalities": sorted(capability.modalities),
            "formats": list(capability.formats),
            "languages": sorted(capability.languages),
            "constraints": dict(capability.constraints),
            "cost_tier": capability.cost_tier.value,
            "cost_micros": capability.cost_micros,
            "destination": capability.destination,
            "health_status": "unhealthy" if problem else "healthy",
            "problem": problem,
            "checked_at": entry.checked.isoformat() if entry.checked else None,
        }

    async def watch(self) -> None:
        """Check the health of every capability again and again, until cancelled."""
        while self._entries:
            await self.check()
            await asyncio.sleep(self._every)

    async def ready(self) -> None:
        """Return once the health of every capability was checked: before, all would seem to work."""
        if any(entry.checked is None for entry in self._entries.values()):
            async with self._checking:
                if any(entry.checked is None for entry in self._entries.values()):
                    await self._check()

    async def check(self) -> None:
        """Check the health of every capability now, and write it down."""
        async with self._checking:
            await self._check()

    async def _check(self) -> None:
        entries = self.entries()
        found = await asyncio.gather(*(_probed(entry.producer) for entry in entries), return_exceptions=True)
        for entry, problem in zip(entries, found, strict=True):
            # A producer may come from outside: its failure is its own problem, and must not end the watch.
            failed = isinstance(problem, BaseException)
            self._note(entry, f"its check failed ({type(problem).__name__})" if failed else str(problem))
        cause = Cause.request(GROUP, id=ids.new(), tenant=DEPLOYMENT, key=f"{DEPLOYMENT}:capabilities")
        try:
            await self._platform.writer.apply(Changeset(cause).put(*map(self._row, self.entries())))
        except SumaError as error:
            # A mirror for operators; the lookup does not read it.
            log.warning("could not write the health of capabilities", error=str(error))

    def _note(self, entry: Entry, problem: str) -> None:
        capability = entry.producer.capability
        if entry.problem != problem:
            log.info("capability changed", capability=capability.name, problem=problem)
        entry.problem, entry.checked = problem, self._platform.clock.now()
        healthy = not self.problem_of(capability)
        metrics.capability_health.labels(capability.tool_id, capability.provider).set(int(healthy))

    def _row(self, entry: Entry) -> CapabilityChecked:
        shown = self.described(entry)
        return CapabilityChecked(**{each.name: shown[each.name] for each in fields(CapabilityChecked)})


async def _probed(producer: Producer) -> str:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await producer.problem()
    except TimeoutError:
        return f"its check did not end within {PROBE_SECONDS:g} s"


def guard_of(capability: Capability) -> str:
    """Return the name of the guarded calls of a capability's provider."""
    return f"images:{capability.provider}"


def loaded(names: Iterable[str]) -> Sequence[Producer]:
    """Return the producers that settings name. Raises BadProducer."""
    return [producer for name in names for producer in _given(name)]


def _given(name: str) -> Sequence[Producer]:
    found, _ = attribute(name, group=ENTRY_POINTS, bad=BadProducer)
    made = found() if callable(found) else found
    given: list[Producer] = list(made) if isinstance(made, Iterable) else [made]
    if any(not isinstance(getattr(each, "capability", None), Capability) for each in given):
        raise BadProducer(f"{name}: it gives something that is no producer of a capability")
    return given


def _fits(
    capability: Capability,
    step_type: StepType,
    modality: Modality,
    format: str,
    language: str,
    max_resolution: int | None,
) -> bool:
    return (
        step_type in capability.step_types
        and modality in capability.modalities
        and format in capability.formats
        and (not language or language in capability.languages)
        # A bound above its own is met by a smaller picture.
        and (max_resolution is None or capability.constraints.get("min_resolution", 0) <= max_resolution)
    )
