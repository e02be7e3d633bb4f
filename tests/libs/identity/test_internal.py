"""Tokens between services: one tenant, one audience, one minute."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.identity import internal
from libs.identity.internal import LIFETIME, LONGEST, PURPOSE, InternalClaims
from libs.identity.tokens import BadToken, seal
from libs.keys import Keys

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def issued(keys: Keys, **others: Any) -> str:
    call: dict[str, Any] = {"tenant": "acme", "session": "s-1", "audience": "memory_service", "now": NOW}
    return internal.issue(keys, **call | others)


def check(keys: Keys, token: str, **others: Any) -> InternalClaims:
    place: dict[str, Any] = {"audience": "memory_service", "now": NOW}
    return internal.verify(keys, token, **place | others)


@pytest.mark.requirement("S3-51")
def test_a_token_says_on_whose_behalf_a_service_calls(keys: Keys) -> None:
    claims = check(keys, issued(keys))
    assert (claims.tenant, claims.session) == ("acme", "s-1")


@pytest.mark.requirement("S3-51")
def test_a_token_names_the_principal_under_its_signature(keys: Keys) -> None:
    assert check(keys, issued(keys, user="ada")).user == "ada"
    payload, signer, signature = issued(keys, user="ada").split(".")
    other = issued(keys, user="eve").split(".")[0]
    with pytest.raises(BadToken):
        check(keys, f"{other}.{signer}.{signature}")
    assert payload != other


def test_a_token_may_concern_the_whole_tenant(keys: Keys) -> None:
    assert check(keys, issued(keys, session=None)).session is None


@pytest.mark.requirement("S3-51", "A21")
def test_a_token_for_another_service_is_refused(keys: Keys) -> None:
    with pytest.raises(BadToken, match="not for audit_worker"):
        check(keys, issued(keys), audience="audit_worker")


@pytest.mark.requirement("S3-51", "A21")
def test_a_token_is_refused_from_its_expiry_on(keys: Keys) -> None:
    token = issued(keys)
    check(keys, token, now=NOW + LIFETIME - timedelta(microseconds=1))
    with pytest.raises(BadToken, match="expired"):
        check(keys, token, now=NOW + LIFETIME)


@pytest.mark.requirement("S3-51", "A21")
def test_a_forged_token_is_refused(keys: Keys, foreign: Keys) -> None:
    with pytest.raises(BadToken):
        check(keys, issued(foreign))


def test_a_token_that_would_last_is_refused(keys: Keys) -> None:
    claims = InternalClaims(tenant="acme", session=None, audience="memory_service", expires=NOW + 2 * LONGEST)
    with pytest.raises(BadToken, match="valid for longer"):
        check(keys, seal(keys, PURPOSE, claims))
