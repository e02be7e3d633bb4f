"""The port: questions, decisions, and the meaning of a missing answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

from libs.errors import Rejected, Unavailable
from libs.telemetry import metrics

Json = object
"""Any JSON value."""

ENTRYPOINT = "suma/decision"
"""The one rule that is evaluated: package `suma`, rule `decision`."""

DEEPEST = 64
"""Most levels that a question may nest; ours use two."""


class PolicyUnanswered(Unavailable):
    """The policy engine did not answer; nothing runs until it does."""

    code = "POLICY_UNAVAILABLE"


class QuestionRefused(Rejected):
    """The policy question is invalid: a field is missing, or the engine would change its value."""

    code = "POLICY_QUESTION"


@dataclass(frozen=True)
class Decision:
    """A recorded decision. `obligations` must be met before the action may run (`approval`, `human_sees_payload`).
    `rule` names the grant, or is `default`. `revision` is the bundle that answered.
    """

    action: str
    allowed: bool
    rule: str
    reason: str
    obligations: tuple[str, ...]
    revision: str


class Policy(Protocol):
    """Decides whether an action is allowed, one action at a time.

    - A missing answer never allows. An engine that is down, slow, without a bundle, or that fails during evaluation
      raises `PolicyUnanswered`: retry later, and run nothing meanwhile.
    - An answer whose `allowed` is not exactly true denies, whatever else it holds.
    - The same question under the same revision has the same answer: rules read no clock and no network.
    - Each answer carries the revision of the bundle that gave it, also while a new bundle is being activated.
    - A broken bundle never replaces a working one; `problem` gives the reason until a good one is read.
    """

    @property
    def revision(self) -> str:
        """SHA-256 of the active bundle, in hex; empty while there is none."""
        ...

    @property
    def problem(self) -> str | None:
        """The problem for readiness to report, or None when the active bundle is the one on disk."""
        ...

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        """Decide `action` for `input`, whose fields deploy/opa/README.md names.

        Raises QuestionRefused, PolicyUnanswered.
        """
        ...

    async def reload(self) -> bool:
        """Check for a changed bundle; return true when another one became active. A failure sets `problem`."""
        ...


async def committee_required(policy: Policy, input: Mapping[str, Json]) -> Decision:
    """Decide whether the committee must review a plan: `allowed` is true if it must.

    Here true is the stricter answer, so a lost or malformed answer must mean true. The rules are therefore asked for
    `committee.exempt`, and only a clear permission exempts the plan.
    """
    exempt = await policy.decide("committee.exempt", input)
    return replace(exempt, action="committee.required", allowed=not exempt.allowed)


def question(action: str, input: Mapping[str, Json]) -> dict[str, Json]:
    """Return the document for the engine. Raises QuestionRefused if the engine would read it differently."""
    if action == "committee.required":
        raise QuestionRefused("Call committee_required(): a denial of this question would exempt the plan.")
    if input.get("action", action) != action:
        raise QuestionRefused(f"The input is about {input['action']!r}, not {action!r}.")
    document = {**input, "action": action}
    _check_identity(document)
    _check_json(document, depth=0)
    return document


def answer(action: str, result: object, *, revision: str) -> Decision:
    """Parse an engine's result. Anything but a well-formed permission denies."""
    if not isinstance(result, dict) or not isinstance(result.get("allowed"), bool):
        return Decision(action, False, "malformed", "The policy engine's answer was not a decision.", (), revision)
    rule, reason, owed = result.get("rule"), result.get("reason"), result.get("obligations")
    if not (isinstance(rule, str) and isinstance(reason, str) and _texts(owed)):
        return Decision(
            action,
            False,
            "malformed",
            "The policy engine's answer lacked its rule, reason or obligations.",
            (),
            revision,
        )
    return Decision(action, result["allowed"], rule, reason, tuple(sorted(owed)), revision)


def counted(decision: Decision) -> Decision:
    """Return the decision, and count it in the metrics."""
    metrics.policy_decisions.labels(decision.action, str(decision.allowed).lower()).inc()
    return decision


@contextmanager
def counting_silence(action: str) -> Iterator[None]:
    """Count a missing answer in the metrics."""
    try:
        yield
    except PolicyUnanswered:
        metrics.policy_unanswered.labels(action).inc()
        raise


def _texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check_identity(document: Mapping[str, Json]) -> None:
    principal = document.get("principal")
    if not document["action"] or not _named(document.get("tenant")):
        raise QuestionRefused("A policy question needs an action and a tenant.")
    if not isinstance(principal, Mapping) or not _named(principal.get("id")):
        raise QuestionRefused("A policy question needs a principal.")


def _named(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _check_json(value: Json, *, depth: int) -> None:
    """Refuse values that an engine would silently change: wide integers, NaN, lone surrogates, other types."""
    if depth > DEEPEST:
        raise QuestionRefused("The policy question nests too deeply.")
    match value:
        # Before `int`: a boolean is one, too.
        case None | bool():
            return
        case str():
            _check_unicode(value)
        case int():
            # Engines read numbers as doubles, in which neighbours beyond this limit are equal.
            if abs(value) >= 1 << 53:
                raise QuestionRefused("An integer in a policy question must be below 2**53.")
        case float():
            if not math.isfinite(value):
                raise QuestionRefused("A number in a policy question must be finite.")
        case Mapping():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise QuestionRefused("A key in a policy question must be text.")
                _check_unicode(key)
                _check_json(item, depth=depth + 1)
        case list() | tuple():
            for item in value:
                _check_json(item, depth=depth + 1)
        case _:
            raise QuestionRefused(f"A policy question cannot contain a {type(value).__name__}.")


def _check_unicode(text: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise QuestionRefused("Text in a policy question must be valid Unicode.")
