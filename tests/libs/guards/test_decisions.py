"""A guard's decision is a value for the record; anything else does not allow."""

from __future__ import annotations

import pytest

from libs.errors import Denied
from libs.guards import Decision, decided
from libs.guards.commands import check_args
from libs.guards.paths import within


@pytest.mark.requirement("A3")
def test_a_refusal_is_recorded_with_its_link_rule_and_reason() -> None:
    decision = decided("guards", lambda: check_args({"x": "curl y"}))
    assert decision == Decision("guards", False, "The text runs curl.", "curl")


@pytest.mark.requirement("A5")
def test_a_pass_is_recorded_too() -> None:
    assert decided("scope", lambda: within("/work", "a")) == Decision("scope", True)


@pytest.mark.requirement("A7")
def test_a_check_that_breaks_is_not_a_pass() -> None:
    def broken() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        decided("guards", broken)


@pytest.mark.requirement("A5")
def test_every_refusal_is_a_denial() -> None:
    with pytest.raises(Denied) as refused:
        within("/work", "/etc")
    assert refused.value.code == "PATH_REFUSED"
