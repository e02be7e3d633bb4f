"""The ranking of candidates by their earlier outcomes (S3-20). It orders; it never adds or removes one (S3-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")
SUCCESS, LATENCY, QUALITY, COST = 0.4, 0.2, 0.3, 0.1
"""The weights of requirement S3-20."""
UNKNOWN = 0.5
"""The share of successes and the quality of a candidate without outcomes: neither praised nor blamed."""


class Ranking(StrEnum):
    """The use of the ranking: it only logs where it differs (S3-21), or it breaks ties of the registry (S3-22)."""

    SHADOW = "shadow"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Sums over the attempts of a capability at one step type. `quality` is the sum over those that were judged."""

    attempts: int = 0
    successes: int = 0
    latency_ms: int = 0
    quality: float = 0.0
    judged: int = 0
    cost_micros: int = 0


NONE = Outcomes()


def scores(outcomes: Mapping[str, Outcomes], names: Sequence[str]) -> Mapping[str, float]:
    """Return the score of each candidate, from 0 to 1.

    score = 0.4·success_rate + 0.2·(1 − norm_latency) + 0.3·quality + 0.1·(1 − norm_cost); latency and cost are means,
    divided by the largest among these candidates.
    """
    known = {name: outcomes.get(name, NONE) for name in names}
    slowest = max((_mean(each.latency_ms, each.attempts) for each in known.values()), default=0.0) or 1.0
    dearest = max((_mean(each.cost_micros, each.attempts) for each in known.values()), default=0.0) or 1.0
    return {
        name: SUCCESS * (_mean(each.successes, each.attempts) if each.attempts else UNKNOWN)
        + LATENCY * (1 - _mean(each.latency_ms, each.attempts) / slowest)
        + QUALITY * (_mean(each.quality, each.judged) if each.judged else UNKNOWN)
        + COST * (1 - _mean(each.cost_micros, each.attempts) / dearest)
        for name, each in known.items()
    }


def ties_broken(allowed: Sequence[tuple[int, str, T]], by: Mapping[str, float]) -> list[T]:
    """Return candidates, given as priority, name and value in their order, with equals by priority the best first."""
    return [value for _, _, value in sorted(allowed, key=lambda each: (each[0], -by.get(each[1], 0.0)))]


def _mean(total: float, count: int) -> float:
    return total / count if count else 0.0
