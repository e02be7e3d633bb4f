"""Questions of a turn as forms of MCP (elicitation), and a person's answers as decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitResult
from mcp_types.version import is_version_at_least

from libs.events import ApprovalRequested, ClarificationRequested
from libs.texts import literal
from services.gateway.sessions.models import Answer
from services.gateway.sessions.outcomes import EFFECT
from services.gateway.surfaces import questions
from services.gateway.surfaces.questions import Asked

Schema = dict[str, Any]

APPROVE, DENY = "approve", "deny"
CHOICES_MOST = 100
"""Items that a form lists one by one; of more, a person types the ids."""
MULTI_SELECT = "2025-11-25"
"""The first revision whose forms have lists to choose from."""


def is_asked(asked: Asked) -> bool:
    """Return whether a form can ask this. Whether an effect happened is found out elsewhere, and reported there."""
    return isinstance(asked, ClarificationRequested) or asked.kind != EFFECT


def form(asked: Asked, version: str) -> ElicitRequestFormParams:
    """Return the form that asks a person."""
    schema = _approval_schema(asked, version) if isinstance(asked, ApprovalRequested) else _answer_schema(asked)
    return ElicitRequestFormParams(message=text_of(asked), requested_schema=schema)


def text_of(asked: Asked) -> str:
    """Return a question in words, with what an answer is about."""
    if isinstance(asked, ClarificationRequested):
        return questions.text_of(asked)
    tool = [literal(f"{asked.tool} {_short(asked.args)}")] if asked.tool else []
    return "\n".join((*questions.described(asked), *tool))


def answer_of(question: ApprovalRequested, said: ElicitResult) -> Answer | None:
    """Return the answer to an approval; None if the person gave none."""
    if said.action == "cancel":
        return None
    content = said.content or {}
    if said.action == "decline" or content.get("decision") != APPROVE:
        reason = content.get("reason")
        return Answer(verdict="deny", digest=question.digest, reason=reason if isinstance(reason, str) else "")
    left_out = _left_out(content.get("exclude"))
    verdict = "override" if left_out else "approve"
    return Answer.model_validate({"verdict": verdict, "digest": question.digest, "exclude": left_out})


def reply_of(said: ElicitResult) -> str | None:
    """Return the reply to a clarification; None if the person gave none."""
    text = (said.content or {}).get("answer")
    return text if said.action == "accept" and isinstance(text, str) and text.strip() else None


def _answer_schema(asked: ClarificationRequested) -> Schema:
    answer: Schema = {"type": "string", "title": "Answer", "minLength": 1, "maxLength": 2000}
    if asked.missing:
        answer["description"] = f"Missing: {', '.join(asked.missing)}"
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}


def _approval_schema(question: ApprovalRequested, version: str) -> Schema:
    # A form that is sent off unread denies.
    decision = {"type": "string", "title": "Decision", "enum": [APPROVE, DENY], "default": DENY}
    reason = {"type": "string", "title": "Reason", "description": "Why not, if denied", "maxLength": 2000}
    properties: Schema = {"decision": decision, "reason": reason}
    items = [str(item["id"]) for item in question.items if isinstance(item, Mapping) and "id" in item]
    if items:
        properties["exclude"] = _exclude_schema(items, version)
    return {"type": "object", "properties": properties, "required": ["decision"]}


def _exclude_schema(items: Sequence[str], version: str) -> Schema:
    about = {"title": "Leave out", "description": "These stay as they are, if you approve the rest"}
    if is_version_at_least(version, MULTI_SELECT) and len(items) <= CHOICES_MOST:
        return {"type": "array", **about, "items": {"type": "string", "enum": items}}
    return {"type": "string", **about, "description": "One id a line; these stay as they are"}


def _left_out(said: Any) -> tuple[str, ...]:
    if isinstance(said, str):
        return tuple(line.strip() for line in said.splitlines() if line.strip())
    return tuple(map(str, said)) if isinstance(said, list) else ()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
