"""The cost of a call: from the price list, the settings, or unknown."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from libs.budgets import Amount
from libs.models.vendors.pricing import Listing, Price, Pricing


def pricing(name: str, price: Price | None = None) -> Pricing:
    provider, model = name.split(":")
    return Pricing(name, price, Listing(model, provider, "http://127.0.0.1:1"))


def response(model: str, provider: str, tokens: tuple[int, int] = (1000, 100)) -> ModelResponse:
    usage = RequestUsage(input_tokens=tokens[0], output_tokens=tokens[1])
    return ModelResponse([], usage=usage, model_name=model, provider_name=provider, provider_url="http://127.0.0.1:1")


@pytest.mark.parametrize(("model", "provider"), [("gpt-4o", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_known_model_costs_its_list_price(model: str, provider: str) -> None:
    prices = pricing(f"{provider}:{model}")
    used = prices.usage(response(model, provider), sent=0, received=0)
    assert (used.input_tokens, used.output_tokens, prices.unknown) == (1000, 100, False)
    assert 1_000 < used.cost_micros < 20_000, "thousandths of a dollar"


def test_configured_price_overrides_the_list_and_is_rounded_up() -> None:
    prices = pricing("openai:gpt-4o", Price(0.1, 0.3))
    assert prices.usage(response("gpt-4o", "openai", (11, 1)), sent=0, received=0).cost_micros == 2


def test_unknown_model_counts_as_free_and_unpriced() -> None:
    prices = pricing("openai-compatible:toy")
    assert prices.usage(response("toy", "openai-compatible"), sent=0, received=0).cost_micros == 0
    assert prices.unknown


@pytest.mark.parametrize(("told", "believed"), [((-5, 7), (0, 7)), ((10**30, 1), (10**12, 1)), ((-5, -7), (2, 1))])
def test_impossible_token_counts_are_corrected(told: tuple[int, int], believed: tuple[int, int]) -> None:
    used = pricing("openai:gpt-4o").usage(response("gpt-4o", "openai", told), sent=8, received=4)
    assert (used.input_tokens, used.output_tokens) == believed
    assert used.cost_micros >= 0


def test_missing_token_count_is_estimated_from_the_text() -> None:
    used = pricing("x:y", Price(1, 1)).usage(response("y", "x", (0, 0)), sent=9, received=4)
    assert (used.input_tokens, used.output_tokens, used.cost_micros) == (3, 1, 4)


@pytest.mark.parametrize(("model", "provider"), [("gpt-5-mini", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_upper_limit_of_cost_is_known_before_the_call(model: str, provider: str) -> None:
    prices = pricing(f"{provider}:{model}")
    worst = prices.worst(1000, 100)
    assert worst.tokens == 1100
    assert worst.cost_micros == prices.usage(response(model, provider), sent=0, received=0).cost_micros > 0


def test_unknown_response_name_is_priced_as_the_requested_model() -> None:
    used = pricing("openai:gpt-4o").usage(response("our-own-deployment", "openai"), sent=0, received=0)
    assert used.cost_micros == pricing("openai:gpt-4o").worst(1000, 100).cost_micros > 0


def test_unknown_models_calls_are_limited_only_in_tokens() -> None:
    prices = pricing("openai-compatible:toy")
    assert (prices.worst(1000, 100), prices.unknown) == (Amount(1100, 0), True)
