"""Signed tokens: one spelling, one purpose, and untrusted bytes are never parsed."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.identity.tokens import MAX_LENGTH, BadToken, Claims, seal, unseal
from libs.keys import Keys
from tests.support.examples import examples

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n"


class Ticket(Claims):
    seat: int


class Berth(Claims):
    seat: int
    only: str = "sleeping"


def test_token_returns_its_sealed_claims(keys: Keys) -> None:
    assert unseal(keys, "train", Ticket, seal(keys, "train", Ticket(seat=7))) == Ticket(seat=7)


@pytest.mark.requirement("A21")
@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 500), st.sampled_from(LETTERS))
def test_changing_any_letter_is_refused(keys: Keys, at: int, letter: str) -> None:
    token = seal(keys, "train", Ticket(seat=7))
    at %= len(token)
    if token[at] == letter:
        return
    with pytest.raises(BadToken):
        unseal(keys, "train", Ticket, token[:at] + letter + token[at + 1 :])


@pytest.mark.requirement("A21")
def test_a_token_by_another_key_is_refused(keys: Keys, foreign: Keys) -> None:
    with pytest.raises(BadToken):
        unseal(keys, "train", Ticket, seal(foreign, "train", Ticket(seat=7)))


@pytest.mark.requirement("A21")
def test_a_token_for_another_purpose_is_refused(keys: Keys) -> None:
    with pytest.raises(BadToken):
        unseal(keys, "train", Ticket, seal(keys, "theatre", Ticket(seat=7)))


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.requirement("A21")
@pytest.mark.parametrize(
    "token",
    [
        "",
        "..",
        "a.b.c",
        f"{encoded({'seat': 7})}.{'0' * 16}.",
        f"{encoded({'alg': 'none'})}.{encoded({'seat': 7})}.",
        "ü.ü.ü",
        "a" * (MAX_LENGTH + 1),
        "." * MAX_LENGTH,
    ],
)
def test_unsigned_token_is_refused(keys: Keys, token: str) -> None:
    with pytest.raises(BadToken):
        unseal(keys, "train", Ticket, token)


def test_an_unknown_claim_is_refused_because_it_may_restrict(keys: Keys) -> None:
    with pytest.raises(BadToken):
        unseal(keys, "train", Ticket, seal(keys, "train", Berth(seat=7, only="smokers")))


@pytest.mark.requirement("S3-59")
def test_a_token_outlives_the_rotation_of_its_key(fresh: Keys) -> None:
    token = seal(fresh, "train", Ticket(seat=7))
    fresh.rotate("train")
    assert unseal(fresh, "train", Ticket, token) == Ticket(seat=7)
