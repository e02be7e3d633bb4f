"""What a call costs: by the list, by the setting, or by nobody's word."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from libs.budgets import Amount
from libs.models.vendors.prices import Listing, Price, Till


def till(name: str, price: Price | None = None) -> Till:
    provider, model = name.split(":")
    return Till(name, price, Listing(model, provider, "http://127.0.0.1:1"))


def response(model: str, provider: str, tokens: tuple[int, int] = (1000, 100)) -> ModelResponse:
    usage = RequestUsage(input_tokens=tokens[0], output_tokens=tokens[1])
    return ModelResponse([], usage=usage, model_name=model, provider_name=provider, provider_url="http://127.0.0.1:1")


@pytest.mark.parametrize(("model", "provider"), [("gpt-4o", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_a_known_model_costs_what_its_list_says(model: str, provider: str) -> None:
    prices = till(f"{provider}:{model}")
    used = prices.usage(response(model, provider), sent=0, heard=0)
    assert (used.input_tokens, used.output_tokens, prices.unknown) == (1000, 100, False)
    assert 1_000 < used.cost_micros < 20_000, "thousandths of a dollar"


def test_a_price_that_is_set_goes_before_the_list_and_is_rounded_up() -> None:
    prices = till("openai:gpt-4o", Price(0.1, 0.3))
    assert prices.usage(response("gpt-4o", "openai", (11, 1)), sent=0, heard=0).cost_micros == 2


def test_an_unknown_model_is_counted_as_free_and_known_to_be_unknown() -> None:
    prices = till("openai-compatible:toy")
    assert prices.usage(response("toy", "openai-compatible"), sent=0, heard=0).cost_micros == 0
    assert prices.unknown


@pytest.mark.parametrize(("told", "believed"), [((-5, 7), (0, 7)), ((10**30, 1), (10**12, 1)), ((-5, -7), (2, 1))])
def test_a_count_that_is_none_is_not_believed(told: tuple[int, int], believed: tuple[int, int]) -> None:
    used = till("openai:gpt-4o").usage(response("gpt-4o", "openai", told), sent=8, heard=4)
    assert (used.input_tokens, used.output_tokens) == believed
    assert used.cost_micros >= 0


def test_where_nothing_is_counted_four_letters_are_a_token() -> None:
    used = till("x:y", Price(1, 1)).usage(response("y", "x", (0, 0)), sent=9, heard=4)
    assert (used.input_tokens, used.output_tokens, used.cost_micros) == (3, 1, 4)


@pytest.mark.parametrize(("model", "provider"), [("gpt-5-mini", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_what_a_call_may_cost_is_known_before_it_and_no_less_than_what_it_costs(model: str, provider: str) -> None:
    prices = till(f"{provider}:{model}")
    worst = prices.worst(1000, 100)
    assert worst.tokens == 1100
    assert worst.cost_micros == prices.usage(response(model, provider), sent=0, heard=0).cost_micros > 0


def test_a_model_that_answers_under_an_unknown_name_costs_what_the_one_that_was_asked_costs() -> None:
    used = till("openai:gpt-4o").usage(response("our-own-deployment", "openai"), sent=0, heard=0)
    assert used.cost_micros == till("openai:gpt-4o").worst(1000, 100).cost_micros > 0


def test_the_calls_of_an_unknown_model_are_bounded_in_tokens_alone() -> None:
    prices = till("openai-compatible:toy")
    assert (prices.worst(1000, 100), prices.unknown) == (Amount(1100, 0), True)
