"""The rows that the mind writes: one class for each paragraph of its `apply.sql`."""

from __future__ import annotations

from libs.changes import Row, row
from services.memory_service.rows import SCHEMA


@row(SCHEMA, "mind.modulate")
class Modulated(Row):
    """The neuromodulators of a person, from now on."""

    user_id: str
    dopamine: float
    serotonin: float
    noradrenaline: float
    acetylcholine: float


@row(SCHEMA, "mind.reset")
class AdaptationReset(Row):
    """Feedback of a person up to now no longer counts."""

    user_id: str


@row(SCHEMA, "persona.put")
class PersonaPut(Row):
    """How a person wants an agent's answers written."""

    user_id: str
    persona_id: str
    text: str


@row(SCHEMA, "persona.delete")
class PersonaDeleted(Row):
    user_id: str
    persona_id: str


@row(SCHEMA, "sleep.start")
class SleepStarted(Row):
    """A sleep of a person; a conflict while another is running."""

    sleep_id: str
    user_id: str
    nrem: bool
    rem: bool


@row(SCHEMA, "sleep.merge")
class MemoryMerged(Row):
    """A memory that has the same words as a later one, which is recalled instead."""

    sleep_id: str
    memory_id: str
    other_id: str


@row(SCHEMA, "sleep.link")
class MemoriesLinked(Row):
    """Two memories of one scope that are near, without saying the same."""

    sleep_id: str
    user_id: str
    memory_id: str
    other_id: str
    likeness: float


@row(SCHEMA, "sleep.step")
class SleepStep(Row):
    """The progress of a sleep: totals so far, and up to which memory. With `state`, its end."""

    sleep_id: str
    user_id: str
    scanned: int
    merged: int
    linked: int
    to: str | None = None
    """The time of the last consolidated memory."""
    state: str | None = None
    fade_days: float | None = None
    """Memories older than this fade from now on."""


@row(SCHEMA, "sleep.undo")
class SleepUndone(Row):
    """A sleep whose merges, links and fading are taken back; a conflict while it runs, or if it was undone."""

    sleep_id: str
    user_id: str
