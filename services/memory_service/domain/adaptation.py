"""Adaptation: a person's feedback as weights of memories and of their kinds, and memories that fade after sleep.

A weight is bounded, decays by half in 30 days, and begins anew after a reset. It is computed from the feedback itself,
so that it can be explained and never drifts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from libs.search import Match, Source
from services.memory_service.domain.modulators import Modulators
from services.memory_service.domain.ranking import Found

HALF_LIFE_DAYS = 30.0
"""Feedback counts half after this time."""
MEMORY_MOST, KIND_MOST = 0.10, 0.05
"""The most that feedback on a memory and on its kind adds to a score or takes from it. By reciprocal rank, a tenth is
about seven places.
"""
LEVELS = ("dopamine", "serotonin", "noradrenaline", "acetylcholine")
MIND_READ = {"half_life": HALF_LIFE_DAYS, "counted": 1_000}
"""Arguments of `memory.mind_of`."""
KIND = "kind:"
"""The subject of feedback on a whole kind begins with this."""
FADED_EACH, FADED_LEAST = 0.95, 0.8
"""A faded memory's factor for each 30 days of age beyond the limit, and the lowest one."""
FEEDBACK, FADED = "feedback", "faded"
EMPATHY = "First acknowledge, in a few words, how the person seems to feel about it."


@dataclass(frozen=True, slots=True)
class Mind:
    """A person's state, which shapes recall. `points` has the decayed sums of feedback: by memory, and by kind as
    `kind:NAME`.
    """

    modulators: Modulators = field(default_factory=Modulators)
    points: Mapping[str, float] = field(default_factory=dict)
    faded_to: datetime | None = None
    """Memories from before this time fade."""
    slept: bool = False
    awake: int = 0
    """Memories that are not consolidated yet; counted up to 1,000."""
    personas: Mapping[str, str] = field(default_factory=dict)
    """How to write answers to the person, by the name of the agent."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Mind:
        """Return the state as `memory.mind_of` gives it, with dopamine as it has decayed."""
        points, personas, awake = found["points"] or {}, found["personas"] or {}, found["awake"]
        if found.get("minutes") is None:
            return cls(points=points, personas=personas, awake=awake)
        faded, slept = found["faded_to"], found["slept_to"] is not None
        levels = Modulators(*(found[name] for name in LEVELS)).after(found["minutes"])
        return cls(levels, points, faded and datetime.fromisoformat(faded), slept, awake, personas)

    def manner(self, agent: str) -> str:
        """Return how to write an agent's answers; empty if nothing is asked for."""
        return "\n".join(filter(None, (self.personas.get(agent), EMPATHY if self.modulators.empathy_boost else "")))

    def weight(self, memory: str, kind: str) -> float:
        """Return the factor of feedback, from 0.85 to 1.15."""
        gain = self.modulators.learning
        direct, general = (self.points.get(subject, 0.0) for subject in (memory, KIND + kind))
        return 1.0 + MEMORY_MOST * math.tanh(gain * direct) + KIND_MOST * math.tanh(gain * general)

    def strength(self, made: datetime) -> float:
        """Return the factor of age: 1, and from 0.8 for memories that faded in sleep."""
        if self.faded_to is None or made >= self.faded_to:
            return 1.0
        months = 1 + (self.faded_to - made).days // 30
        return max(FADED_LEAST, FADED_EACH**months)


def adapted(matches: Sequence[Match], found: Sequence[Found], mind: Mind) -> tuple[Match, ...]:
    """Return the matches by their weighted scores, best first. Each weight is one more source of the score."""
    by_id = {one.id: one for one in found}
    weighed = [_weighed(match, by_id[match.id], mind) for match in matches]
    return tuple(sorted(weighed, key=lambda match: (-match.score, match.id)))


def _weighed(match: Match, memory: Found, mind: Mind) -> Match:
    factors = {FEEDBACK: mind.weight(memory.id, memory.kind), FADED: mind.strength(memory.created_at)}
    for name, factor in factors.items():
        score = match.score * factor
        if factor != 1.0:
            # Not a ranking: it moves the place that the rankings gave.
            share = Source(name, 0, score - match.score)
            match = replace(match, score=score, sources=(*match.sources, share))
    return match
