"""Codes and sentences are translated into plain words."""

from __future__ import annotations

import pytest

from libs.events import reasons


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("policy: no rule allows this", "the policy does not allow it"),
        ("policy: no rule allows this; missing scope: b", "the policy does not allow it; your key lacks the scope b"),
        ("policy: not on Sundays", "the policy does not allow it: not on Sundays"),
        ("COMMITTEE_REJECTED: Step 1 touches x — path is outside the workspace.", "it is outside this folder"),
        ("COMMITTEE_REJECTED: Step 1 deletes x. Rejected.", "the plan did not pass its review: Step 1 deletes x."),
        ("COMMITTEE_REJECTED", "the plan did not pass its review: say it in other words"),
        ("CIRCUIT_OPEN: the model server of toy is unavailable", "the model server of toy is unavailable"),
        ("MAX_ROUNDS: A turn plans at most 2 times.", "A turn plans at most 2 times."),
        ("NO_SUCH_PATH: a b/c.txt does not exist", "“a b/c.txt” does not exist"),
        ("SEALED: shut: it cannot be read", "shut: it cannot be read"),
        ("APPROVAL_EXPIRED", "there was no answer in time; ask again"),
        ("a person said no", "you said no"),
        ("UNSAFE_ARCHIVE: '../x' would be written outside", "'../x' would be written outside"),
        ("REJECTED: the moon is full", "the moon is full"),
        ("STRANGE_CODE: the moon is full", "the moon is full"),
        ("PDF: is no code", "PDF: is no code"),
    ],
)
def test_reason_codes_are_shown_as_plain_text(error: str, said: str) -> None:
    assert reasons.plain(error) == said


@pytest.mark.parametrize(
    ("error", "code"),
    [("policy: no", "POLICY_DENIED"), ("NO_SPACE: x", "NO_SPACE"), ("PDF: x", None), ("no such thing", None)],
)
def test_only_known_codes_are_reasons(error: str, code: str | None) -> None:
    assert reasons.code(error) == code
