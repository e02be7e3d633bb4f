"""Strict parsing of a critic's verdict (acceptance 1)."""

from __future__ import annotations

import pytest

from services.committee_worker.domain.verdict import read

UNREADABLE = [
    "",
    "   ",
    "I approve this plan.",
    '{"approved": tru',
    '{"approved": "true"}',
    '{"approved": 1}',
    '{"approved": null}',
    '{"reason": "fine"}',
    "[true]",
    "true",
    '```json\n{"approved": true}\n```',
    '{"approved": true} and more',
    '{"approved": false, "approved": true}',
    '{"approved": true, "step": "2"}',
    "[" * 100_000,
]


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_anything_but_a_clear_verdict_is_a_rejection(text: str) -> None:
    assert not read(text).approved


@pytest.mark.requirement("S0-17")
def test_a_clear_verdict_is_taken() -> None:
    assert read('{"approved": true}').approved
    said = read('{"approved": false, "reason": "Step 2 writes to /etc/passwd", "step": 2}')
    assert (said.approved, said.reason, said.step) == (False, "Step 2 writes to /etc/passwd", 2)
