"""The port: what may be asked, what an answer is, and what silence means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

from libs.errors import Rejected, Unavailable

Json = object
"""Anything that JSON can say."""

ENTRYPOINT = "suma/decision"
"""The one rule that is asked: package `suma`, rule `decision`."""

DEEPEST = 64
"""A question nests no deeper: ours nest twice."""


class PolicyUnanswered(Unavailable):
    """The policy engine gave no answer, so nothing may run."""

    code = "POLICY_UNAVAILABLE"


class QuestionRefused(Rejected):
    """This cannot be asked: a field is missing, or its value would not reach the engine as it is."""

    code = "POLICY_QUESTION"


@dataclass(frozen=True)
class Decision:
    """A recorded answer. `obligations` is what is still owed before the action may run (`approval`,
    `human_sees_payload`); `rule` names the grant, or `default`; `revision` is the bundle that answered."""

    action: str
    allowed: bool
    rule: str
    reason: str
    obligations: tuple[str, ...]
    revision: str


class Policy(Protocol):
    """The law, asked one action at a time.

    - No answer is never a yes. An engine that is down, slow, without a bundle or that fails while it evaluates is
      `PolicyUnanswered`: ask again later, and run nothing meanwhile.
    - An answer whose `allowed` is not exactly true is a no, whatever else it holds.
    - The same question under the same revision has the same answer: rules read no clock and no network.
    - Each answer carries the revision of the bundle that gave it, also while a new bundle is being swapped in.
    - A broken bundle never replaces a working one; `problem` then says why until a good one is read.
    """

    @property
    def revision(self) -> str:
        """SHA-256 of the bundle in force, in hex; empty while there is none."""
        ...

    @property
    def problem(self) -> str | None:
        """What readiness has to report, or None when the law in force is the law on disk."""
        ...

    async def decide(self, action: str, input: Mapping[str, Json]) -> Decision:
        """Answer `action` about `input`, whose fields deploy/opa/README.md names.

        Raises QuestionRefused, PolicyUnanswered."""
        ...

    async def reload(self) -> bool:
        """Look again for a changed bundle; true when another one is in force now. Trouble lands in `problem`."""
        ...


async def committee_required(policy: Policy, input: Mapping[str, Json]) -> Decision:
    """Whether the committee must see a plan: `allowed` is true where it must.

    A yes is a burden here, so a lost or garbled answer must read as yes. The rules are therefore asked for
    `committee.exempt`, and only its clear yes spares the committee.
    """
    exempt = await policy.decide("committee.exempt", input)
    return replace(exempt, action="committee.required", allowed=not exempt.allowed)


def question(action: str, input: Mapping[str, Json]) -> dict[str, Json]:
    """The document that an engine is asked about. Raises QuestionRefused rather than ask something else than meant."""
    if action == "committee.required":
        raise QuestionRefused("Ask committee_required(): a no to this question would spare the committee.")
    if input.get("action", action) != action:
        raise QuestionRefused(f"The input is about {input['action']!r}, not {action!r}.")
    document = {**input, "action": action}
    _identified(document)
    _sayable(document, depth=0)
    return document


def answer(action: str, result: object, *, revision: str) -> Decision:
    """The decision that an engine's result means. Anything but a well-formed yes is a no."""
    if not isinstance(result, dict) or not isinstance(result.get("allowed"), bool):
        return Decision(action, False, "malformed", "The policy's answer was not a decision.", (), revision)
    rule, reason, owed = result.get("rule"), result.get("reason"), result.get("obligations")
    if not (isinstance(rule, str) and isinstance(reason, str) and _texts(owed)):
        return Decision(action, False, "malformed", "The policy's answer lacked its rule or its duties.", (), revision)
    return Decision(action, result["allowed"], rule, reason, tuple(sorted(owed)), revision)


def _texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _identified(document: Mapping[str, Json]) -> None:
    principal = document.get("principal")
    if not document["action"] or not _named(document.get("tenant")):
        raise QuestionRefused("A question names its action and its tenant.")
    if not isinstance(principal, Mapping) or not _named(principal.get("id")):
        raise QuestionRefused("A question names its principal.")


def _named(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _sayable(value: Json, *, depth: int) -> None:
    """Refuse what an engine would silently change: wide integers, NaN, half a surrogate pair, other types."""
    if depth > DEEPEST:
        raise QuestionRefused("A question nests too deeply.")
    match value:
        case None | bool():
            return
        case str():
            _encodable(value)
        case int():
            if abs(value) >= 1 << 53:
                raise QuestionRefused("A whole number in a question stays below 2**53.")
        case float():
            if not math.isfinite(value):
                raise QuestionRefused("A number in a question is finite.")
        case Mapping():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise QuestionRefused("A key in a question is text.")
                _encodable(key)
                _sayable(item, depth=depth + 1)
        case list() | tuple():
            for item in value:
                _sayable(item, depth=depth + 1)
        case _:
            raise QuestionRefused(f"A question cannot hold a {type(value).__name__}.")


def _encodable(text: str) -> None:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise QuestionRefused("Text in a question is valid Unicode.")
