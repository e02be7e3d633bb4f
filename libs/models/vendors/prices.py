"""What a call used and what that costs: the vendor's count, at its list price or at the one that is configured. And
what it may cost at most, before it is made."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from libs.budgets import Amount
from libs.events.values import Usage
from libs.models.vendors.opening import Opened
from libs.telemetry.logs import logger

LETTERS_PER_TOKEN = 4
"""For vendors that count nothing: a limit on tokens must not be void with them."""
MICROS = 1_000_000
TOKENS_MOST = 10**12

log = logger("model")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Listing:
    """By what a model is found in the lists of prices: the same before a call as in its response."""

    model: str
    provider: str
    url: str


def listing(opened: Opened) -> Listing:
    theirs = opened.model
    return Listing(theirs.model_name, theirs.system, theirs.base_url or "")


class Till:
    """Prices the calls of one model."""

    def __init__(self, name: str, price: Price | None, listing: Listing) -> None:
        self.name, self._price, self._listing = name, price, listing
        self._unknown = False

    @property
    def unknown(self) -> bool:
        """Has a call been made whose price nobody knows?"""
        return self._unknown

    def worst(self, input_tokens: int, output_tokens: int) -> Amount:
        """What a call uses that reads and writes so much."""
        asked = self._response(input_tokens, output_tokens)
        return Amount(input_tokens + output_tokens, self._cost(asked, input_tokens, output_tokens))

    def usage(self, response: ModelResponse, *, sent: int, heard: int) -> Usage:
        """`sent` and `heard` are letters: an estimate, where the vendor counts nothing."""
        told = response.usage
        tokens = (_believed(told.input_tokens), _believed(told.output_tokens))
        if not any(tokens):
            tokens = (_estimate(sent), _estimate(heard))
        if tokens != (told.input_tokens, told.output_tokens):
            response = self._response(*tokens)
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
        if listed is None:
            # What a vendor calls its model in the response may be in no list, though what we asked for is.
            listed = _listed(self._response(input_tokens, output_tokens))
        if listed is None and not self._unknown:
            self._unknown = True
            log.warning("nobody knows what this model costs: its calls are counted as free", model=self.name)
        return listed or 0

    def _response(self, input_tokens: int, output_tokens: int) -> ModelResponse:
        return ModelResponse(
            [],
            usage=RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens),
            model_name=self._listing.model,
            provider_name=self._listing.provider,
            provider_url=self._listing.url,
        )


def _listed(response: ModelResponse) -> int | None:
    if not response.model_name or not any((response.usage.input_tokens, response.usage.output_tokens)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return math.ceil(response.cost().total_price * MICROS)
    except (LookupError, ValueError):
        return None


def _believed(count: int | None) -> int:
    """What a vendor counts, if it is a count: nobody reads or writes less than nothing, or more than there is."""
    return min(max(count or 0, 0), TOKENS_MOST)


def _estimate(letters: int) -> int:
    return -(-letters // LETTERS_PER_TOKEN)
