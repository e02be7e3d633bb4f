"""Neuromodulators: four numbers of a person that change how their memories are recalled and their answers are written.

The formulas are those of the SomaBrain API (S3-06); what each changes is decision 0126. The defaults change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

DOPAMINE, SEROTONIN = 0.4, 0.5
"""The defaults; noradrenaline and acetylcholine are 0."""
DECAY = 0.05
"""Dopamine moves this far toward its default, once a minute."""
BALANCE = 0.5
"""The weight of a score against repetition: with a half, a repeated memory comes after all others."""
FADE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Modulators:
    """The levels, each from 0 to 1, and the factors that follow from them."""

    dopamine: float = DOPAMINE
    serotonin: float = SEROTONIN
    noradrenaline: float = 0.0
    acetylcholine: float = 0.0

    def after(self, minutes: float) -> Modulators:
        """Return the levels after this time: only dopamine decays, in whole steps, and never past its default."""
        step = DECAY * int(max(0.0, minutes))
        lower = self.dopamine < DOPAMINE
        level = min(DOPAMINE, self.dopamine + step) if lower else max(DOPAMINE, self.dopamine - step)
        return replace(self, dopamine=level)

    @property
    def exploration_factor(self) -> float:
        return 0.5 + 0.5 * self.dopamine

    @property
    def creativity_boost(self) -> bool:
        return self.dopamine > 0.6

    @property
    def patience(self) -> float:
        return 0.5 + 0.5 * self.serotonin

    @property
    def empathy_boost(self) -> bool:
        return self.serotonin > 0.6

    @property
    def focus(self) -> float:
        return 0.5 + 0.5 * self.noradrenaline

    @property
    def alertness_boost(self) -> bool:
        return self.noradrenaline > 0.3

    # What they change

    @property
    def balance(self) -> float:
        """Return the weight of a score against repetition: low exploration lets a repeated memory stay."""
        return BALANCE + max(0.0, _NEUTRAL.exploration_factor - self.exploration_factor)

    @property
    def novelty(self) -> float:
        """Return from 0 to 1 how far memories that share words count as repetition: high exploration spreads recall."""
        usual = _NEUTRAL.exploration_factor
        return max(0.0, (self.exploration_factor - usual) / (1.0 - usual))

    def recalled(self, most: int) -> int:
        """Return how many memories to recall: full focus halves them."""
        return max(1, round(most * _NEUTRAL.focus / self.focus))

    @property
    def fade_days(self) -> float:
        """Return the age at which memories begin to fade in sleep: patience keeps them longer."""
        return FADE_DAYS * self.patience / _NEUTRAL.patience

    @property
    def learning(self) -> float:
        """Return the gain of feedback, from 1 to 2."""
        return 1.0 + self.acetylcholine


_NEUTRAL = Modulators()
