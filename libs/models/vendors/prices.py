"""What a call used and what that costs: the vendor's count, at its list price or at the one that is configured."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from pydantic_ai.messages import ModelResponse

from libs.events.values import Usage
from libs.telemetry.logs import logger

LETTERS_PER_TOKEN = 4
"""For vendors that count nothing: a limit on tokens must not be void with them."""
MICROS = 1_000_000

log = logger("model")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


class Till:
    """Prices the calls of one model."""

    def __init__(self, name: str, price: Price | None) -> None:
        self.name, self._price = name, price
        self._unknown = False

    @property
    def unknown(self) -> bool:
        """Has a call been made whose price nobody knows?"""
        return self._unknown

    def usage(self, response: ModelResponse, *, sent: int, heard: int) -> Usage:
        """`sent` and `heard` are letters: an estimate, where the vendor counts nothing."""
        told = response.usage
        tokens = (told.input_tokens or 0, told.output_tokens or 0)
        if not any(tokens):
            tokens = (_estimate(sent), _estimate(heard))
        return Usage(
            model=self.name,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost_micros=self._cost(response, *tokens),
        )

    def _cost(self, response: ModelResponse, input_tokens: int, output_tokens: int) -> int:
        if self._price is not None:
            # Dollars for a million tokens, times tokens, are millionths of a dollar.
            return math.ceil(round(self._price.input * input_tokens + self._price.output * output_tokens, 6))
        listed = _listed(response)
        if listed is None and not self._unknown:
            self._unknown = True
            log.warning("nobody knows what this model costs: its calls are counted as free", model=self.name)
        return listed or 0


def _listed(response: ModelResponse) -> int | None:
    if not response.model_name or not any((response.usage.input_tokens, response.usage.output_tokens)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return math.ceil(response.cost().total_price * MICROS)
    except (LookupError, ValueError):
        return None


def _estimate(letters: int) -> int:
    return -(-letters // LETTERS_PER_TOKEN)
