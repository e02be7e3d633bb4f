"""Usage and cost of calls: the vendor's token count at its list price or the configured one, and an upper limit before
a call.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from libs.budgets import Amount
from libs.events.values import Usage
from libs.models.vendors.client import Opened
from libs.telemetry.logs import logger

LETTERS_PER_TOKEN = 4
"""For vendors that report no count: a token limit must still apply to them."""
MICROS = 1_000_000
TOKENS_MOST = 10**12

log = logger("model")


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars per million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Listing:
    """The key of a model in the price lists: the same before a call as in its response."""

    model: str
    provider: str
    url: str


def listing(opened: Opened) -> Listing:
    theirs = opened.model
    return Listing(theirs.model_name, theirs.system, theirs.base_url or "")


class Pricing:
    """Prices the calls of one model."""

    def __init__(self, name: str, price: Price | None, listing: Listing) -> None:
        self.name, self._price, self._listing = name, price, listing
        self.unknown = False
        """Whether a call was made whose price is unknown."""

    def worst(self, input_tokens: int, output_tokens: int) -> Amount:
        """Return the amount for so many input and output tokens."""
        asked = self._response(input_tokens, output_tokens)
        return Amount(input_tokens + output_tokens, self._cost(asked, input_tokens, output_tokens))

    def usage(self, response: ModelResponse, *, sent: int, received: int) -> Usage:
        """Return the usage of a call. `sent` and `received` are characters, for an estimate where the vendor reports no
        count.
        """
        told = response.usage
        tokens = (_plausible(told.input_tokens), _plausible(told.output_tokens))
        if not any(tokens):
            tokens = (_estimate(sent), _estimate(received))
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
            # Dollars per million tokens, times tokens, are millionths of a dollar.
            return math.ceil(round(self._price.input * input_tokens + self._price.output * output_tokens, 6))
        listed = _listed(response)
        if listed is None:
            # The price lists may lack the model name in the response, but contain the one that we requested.
            listed = _listed(self._response(input_tokens, output_tokens))
        if listed is None and not self.unknown:
            self.unknown = True
            log.warning("no price known for model; counted its calls as free", model=self.name)
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


def _plausible(count: int | None) -> int:
    """Return a vendor's token count, limited to plausible values."""
    return min(max(count or 0, 0), TOKENS_MOST)


def _estimate(letters: int) -> int:
    return -(-letters // LETTERS_PER_TOKEN)
