"""API keys: shown once, stored as a hash, refused when wrong, expired or revoked."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

from libs.identity.keys import ApiKey, BadKey, Principal, ScopeMissing, authenticate, id_of, mint

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def minted() -> tuple[str, ApiKey]:
    return mint("acme", "ada", scopes=["chat"], expires=NOW + SECOND)


@pytest.mark.requirement("S3-50")
def test_key_identifies_its_tenant_principal_and_scopes(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    assert authenticate(text, key, now=NOW) == Principal("acme", "ada", frozenset({"chat"}))


def test_the_key_is_found_by_the_id_in_its_text(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    assert text.startswith(f"suma_{key.id}_")
    assert id_of(text) == key.id


@pytest.mark.requirement("S3-50")
def test_the_server_keeps_nothing_that_could_be_presented(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    secret = text.split("_")[2]
    assert len(secret) >= 52
    assert secret not in str(asdict(key))


def test_no_two_keys_are_alike() -> None:
    made = [mint("acme", "ada", scopes=[]) for _ in range(50)]
    assert len({text for text, _ in made} | {key.id for _, key in made} | {key.hash for _, key in made}) == 150


@pytest.mark.requirement("A21")
def test_another_secret_with_a_known_id_is_refused(minted: tuple[str, ApiKey]) -> None:
    _, key = minted
    forged = f"suma_{key.id}_{'a' * 52}"
    with pytest.raises(BadKey):
        authenticate(forged, key, now=NOW)


@pytest.mark.requirement("A21")
def test_a_key_does_not_open_another_keys_row(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    with pytest.raises(BadKey):
        authenticate(text, replace(key, id="a" * 16), now=NOW)


@pytest.mark.requirement("A21")
def test_an_expired_key_is_refused_from_its_expiry_on(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    with pytest.raises(BadKey, match="expired"):
        authenticate(text, key, now=NOW + SECOND)


@pytest.mark.requirement("A21")
def test_a_revoked_key_is_refused(minted: tuple[str, ApiKey]) -> None:
    text, key = minted
    with pytest.raises(BadKey, match="revoked"):
        authenticate(text, replace(key, revoked=NOW - SECOND), now=NOW)


def test_unknown_id_and_wrong_secret_are_indistinguishable(minted: tuple[str, ApiKey]) -> None:
    _, key = minted
    forged, told = f"suma_{key.id}_{'a' * 52}", set()
    for stored in (None, key, replace(key, revoked=NOW)):
        with pytest.raises(BadKey) as refused:
            authenticate(forged, stored, now=NOW)
        told.add(str(refused.value))
    assert len(told) == 1


@pytest.mark.parametrize(
    "text", ["", "suma__", "suma_a_b", "Bearer x", "suma_" + "a" * 16 + "_" + "A" * 52, "x" * 9999]
)
def test_malformed_key_is_refused_before_any_look_up(text: str) -> None:
    with pytest.raises(BadKey):
        id_of(text)


@pytest.mark.parametrize(
    ("scope", "holders"),
    [
        ("admin.keys", [{"admin.keys"}, {"admin.*"}, {"*"}]),
        ("admin.bus.lag", [{"admin.bus.lag"}, {"admin.bus.*"}, {"admin.*"}, {"*"}]),
        ("chat", [{"chat"}, {"*"}]),
    ],
)
def test_a_scope_is_held_by_name_or_by_family(scope: str, holders: list[set[str]]) -> None:
    assert all(Principal("acme", "ada", frozenset(held)).may(scope) for held in holders)


@pytest.mark.requirement("S3-50")
@pytest.mark.parametrize("held", [set(), {"chat"}, {"admin"}, {"admin.key"}, {"adm.*"}, {"admin.keys.*"}])
def test_a_scope_that_is_not_held_is_denied_by_name(held: set[str]) -> None:
    with pytest.raises(ScopeMissing, match=r"admin\.keys") as denied:
        Principal("acme", "ada", frozenset(held)).require("admin.keys")
    assert denied.value.scopes == ("admin.keys",)
