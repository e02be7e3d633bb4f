"""What is drawn from the seed: the turns, how long each tool takes, and when its process is killed.

Each turn's draw is its own, so that neither the number of turns nor the order in which they run changes it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

LONGEST_CALL_SECONDS = 0.010
DOOMED = (0.45, 0.15)
"""How likely the first and the second call of a turn's tool end in a kill."""
SOON_SECONDS = 0.003


class Window(StrEnum):
    """Where a kill is aimed."""

    BEFORE = "before"
    """The tool was entered, its effect not begun."""
    DURING = "during"
    """At any moment from there on, up to 3 ms."""
    HELD = "held"
    """The effect is committed, the tool has not returned."""
    RETURNED = "returned"
    """Within 3 ms after the tool returned, while its outcome is being recorded, or just after."""


@dataclass(frozen=True, slots=True)
class Doom:
    """A kill to come; `after` seconds lie between the moment aimed by and the kill."""

    window: Window
    after: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: one tool call with one effect. `dooms` are of its first calls, None where there is no kill."""

    name: str
    effect: str
    seconds: float
    dooms: tuple[Doom | None, ...]

    def doom(self, call: int) -> Doom | None:
        """What is to come over the nth call of the turn's tool, from 1."""
        return self.dooms[call - 1] if call <= len(self.dooms) else None


def draw(seed: int, turns: int, effects: Sequence[str]) -> list[Turn]:
    """The turns, every effect equally often."""
    return [_turn(seed, n, effects[n % len(effects)]) for n in range(turns)]


def _turn(seed: int, n: int, effect: str) -> Turn:
    chance = random.Random(f"{seed}:{n}")
    seconds = chance.uniform(0, LONGEST_CALL_SECONDS)
    return Turn(f"t{n:05}", effect, seconds, tuple(_doom(chance, likely) for likely in DOOMED))


def _doom(chance: random.Random, likely: float) -> Doom | None:
    doomed, window, soon = chance.random() < likely, chance.choice(list(Window)), chance.uniform(0, SOON_SECONDS)
    if not doomed:
        return None
    return Doom(window, soon if window in (Window.DURING, Window.RETURNED) else 0.0)
