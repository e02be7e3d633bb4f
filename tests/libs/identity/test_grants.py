"""Grants: only the permitted call runs; one changed field, and nothing runs."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.events.tools import ToolRequested
from libs.identity.grants import HINTS, BadGrant, GrantClaims, digest_of, issue, verify
from libs.identity.internal import InternalClaims
from libs.identity.tokens import seal
from libs.keys import Keys
from libs.keys.canonical import Uncanonical
from tests.support.examples import examples

NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
PLAIN = ToolRequested(
    call_id="call-1",
    turn_id="turn-1",
    plan_id="plan-1",
    step_id="step-1",
    ordinal=1,
    tool="files.move",
    args={"source": "a.txt", "target": "b/a.txt", "ratio": 0.5, "limits": [1, 2.0]},
    skill="tidy",
    root="root-1",
    epoch=3,
    attempt=2,
    deadline=30.0,
    principal="ada",
    allowed=("files.move", "files.read"),
    approval_id="approval-1",
    grant="",
)
FIELDS = sorted(set(ToolRequested.model_fields) - {"grant", *HINTS})

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(text, json_values, max_size=4)
written: dict[str, st.SearchStrategy[Any]] = {"args": arguments, "deadline": st.floats(0, 10**6)}


def other_values(field: str) -> st.SearchStrategy[Any]:
    """Generate any value that the field can hold, or a later release's field, except the current value."""
    kind = cast("type[Any]", ToolRequested.model_fields[field].annotation)
    values = written[field] if field in written else st.from_type(kind)
    return values.filter(lambda value: value != getattr(PLAIN, field))


def claims_for(request: ToolRequested, **others: Any) -> GrantClaims:
    permitted: dict[str, Any] = {
        "request": digest_of(request),
        "tenant": "acme",
        "session": "session-1",
        "plan": "plan-digest",
        "verdict": "approved",
        "revision": "policy-1",
        "expires": NOW + timedelta(minutes=5),
    }
    return GrantClaims(**permitted | others)


def granted(keys: Keys, request: ToolRequested, **others: Any) -> ToolRequested:
    return request.model_copy(update={"grant": issue(keys, claims_for(request, **others))})


def check(keys: Keys, request: ToolRequested, **others: Any) -> GrantClaims:
    place: dict[str, Any] = {"tenant": "acme", "session": "session-1", "now": NOW}
    return verify(keys, request, **place | others)


@pytest.mark.requirement("A14a")
def test_granted_call_passes_and_returns_its_claims(keys: Keys) -> None:
    assert check(keys, granted(keys, PLAIN)) == claims_for(PLAIN)


@pytest.mark.requirement("A14a")
@pytest.mark.parametrize("field", FIELDS)
@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_changing_any_field_is_refused(keys: Keys, field: str, data: st.DataObject) -> None:
    other = PLAIN.model_copy(update={field: data.draw(other_values(field))})
    with pytest.raises(BadGrant, match="a field was changed"):
        check(keys, other.model_copy(update={"grant": granted(keys, PLAIN).grant}))


@pytest.mark.requirement("A14a")
@settings(max_examples=examples(100), deadline=None)
@given(arguments, arguments)
def test_other_args_have_another_digest(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (with_args(one) == with_args(other)) is (meaning(one) == meaning(other))


def meaning(args: dict[str, Any]) -> str:
    """Compare args as jsonb does: numbers by value, members in any order, `1` and `true` distinct."""
    text = json.dumps(args, sort_keys=True)
    return repr(json.loads(text, parse_int=by_value, parse_float=by_value))


def by_value(spelled: str) -> Decimal:
    return Decimal(spelled).normalize() + 0


def with_args(args: dict[str, Any]) -> str:
    return digest_of(PLAIN.model_copy(update={"args": args}))


@pytest.mark.requirement("A14a")
@settings(deadline=None)
@given(arguments)
def test_a_request_that_went_over_the_bus_keeps_its_digest(args: dict[str, Any]) -> None:
    request = PLAIN.model_copy(update={"args": args})
    assert digest_of(ToolRequested.model_validate_json(request.model_dump_json())) == digest_of(request)


def test_a_number_that_jsonb_spells_otherwise_keeps_its_digest() -> None:
    assert with_args({"n": 1e16}) == with_args({"n": 10000000000000000})
    assert with_args({"n": 2.0}) == with_args({"n": 2})


@pytest.mark.requirement("A14a")
def test_a_request_without_a_grant_is_refused(keys: Keys) -> None:
    with pytest.raises(BadGrant):
        check(keys, PLAIN)


@pytest.mark.requirement("A14a")
def test_grant_with_a_foreign_signature_is_refused(keys: Keys, foreign: Keys) -> None:
    with pytest.raises(BadGrant):
        check(keys, granted(foreign, PLAIN))


@pytest.mark.requirement("A14a")
@pytest.mark.parametrize("other", [{"tenant": "evil"}, {"session": "session-2"}])
def test_a_grant_of_another_tenant_or_session_is_refused(keys: Keys, other: dict[str, str]) -> None:
    request = granted(keys, PLAIN)
    with pytest.raises(BadGrant, match="another tenant or session"):
        check(keys, request, **other)


@pytest.mark.requirement("A14a")
def test_a_grant_is_refused_from_its_expiry_on(keys: Keys) -> None:
    request = granted(keys, PLAIN, expires=NOW)
    check(keys, request, now=NOW - timedelta(microseconds=1))
    with pytest.raises(BadGrant, match="expired"):
        check(keys, request)


@pytest.mark.requirement("A14a")
def test_an_internal_token_is_no_grant(keys: Keys) -> None:
    claims = InternalClaims(tenant="acme", session="session-1", audience="tool_executor", expires=NOW)
    with pytest.raises(BadGrant):
        check(keys, PLAIN.model_copy(update={"grant": seal(keys, "internal", claims)}))


def test_args_that_json_cannot_represent_are_never_granted(keys: Keys) -> None:
    odd = PLAIN.model_copy(update={"args": {"name": "\ud800"}})
    with pytest.raises((Uncanonical, ValueError)):
        granted(keys, odd)


class NextRelease(ToolRequested):
    """The event of a later release."""

    priority: int = 0


@pytest.mark.requirement("A14a")
def test_new_optional_field_accepts_older_grants_and_is_covered(keys: Keys) -> None:
    received = NextRelease.model_validate_json(granted(keys, PLAIN).model_dump_json())
    check(keys, received)
    with pytest.raises(BadGrant):
        check(keys, received.model_copy(update={"priority": 9}))
