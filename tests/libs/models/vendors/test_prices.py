"""What a call costs: by the list, by the setting, or by nobody's word."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from libs.models.vendors.prices import Price, Till


def response(model: str, provider: str, tokens: tuple[int, int] = (1000, 100)) -> ModelResponse:
    usage = RequestUsage(input_tokens=tokens[0], output_tokens=tokens[1])
    return ModelResponse([], usage=usage, model_name=model, provider_name=provider, provider_url="http://127.0.0.1:1")


@pytest.mark.parametrize(("model", "provider"), [("gpt-4o", "openai"), ("claude-sonnet-4-5", "anthropic")])
def test_a_known_model_costs_what_its_list_says(model: str, provider: str) -> None:
    till = Till(f"{provider}:{model}", None)
    used = till.usage(response(model, provider), sent=0, heard=0)
    assert (used.input_tokens, used.output_tokens, till.unknown) == (1000, 100, False)
    assert 1_000 < used.cost_micros < 20_000, "thousandths of a dollar"


def test_a_price_that_is_set_goes_before_the_list_and_is_rounded_up() -> None:
    till = Till("openai:gpt-4o", Price(0.1, 0.3))
    assert till.usage(response("gpt-4o", "openai", (11, 1)), sent=0, heard=0).cost_micros == 2


def test_an_unknown_model_is_counted_as_free_and_known_to_be_unknown() -> None:
    till = Till("openai-compatible:toy", None)
    assert till.usage(response("toy", "openai-compatible"), sent=0, heard=0).cost_micros == 0
    assert till.unknown


def test_where_nothing_is_counted_four_letters_are_a_token() -> None:
    used = Till("x:y", Price(1, 1)).usage(response("y", "x", (0, 0)), sent=9, heard=4)
    assert (used.input_tokens, used.output_tokens, used.cost_micros) == (3, 1, 4)
