"""Requests in a client's message: a new turn, the answer to a clarification, or to an approval."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from a2a.types.a2a_pb2 import Message, Part
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import MessageToDict

from services.gateway.api.models import Answer, ApprovalShown
from services.gateway.surfaces.a2a.tasks import EXTENSION

OPTIONS = frozenset(("root", "title", "hitl", "skill", "attachments"))
"""Options of a turn in a message's metadata, under Suma's extension."""
IN_WORDS = re.compile(r"\s*(approve|deny)\s+([0-9a-f]{8,64})\s*", re.IGNORECASE)
TEXT, JSON = ("", "text/plain", "text/markdown"), ("", "application/json")


@dataclass(frozen=True, slots=True)
class MessageContent:
    """A client's message. `key` makes an equal one, with the same id, safe to repeat."""

    text: str
    data: Mapping[str, Any] | None
    """The first data part that is an object."""
    options: Mapping[str, Any]
    key: str


def said(message: Message) -> MessageContent:
    """Return what a message says.

    Raises:
        ContentTypeNotSupportedError: a part is neither text nor JSON; files are uploaded and named by id.
        InvalidParamsError: its options are unknown.
    """
    texts, data = [], None
    for part in message.parts:
        content = _content(part)
        if isinstance(content, str):
            texts.append(content)
        elif data is None and isinstance(content, Mapping):
            data = content
    options = _options(message)
    return MessageContent("\n\n".join(texts), data, options, _key(message))


def answer_to(approval: ApprovalShown, message: MessageContent) -> Answer:
    """Return the answer to an approval: a data part, or words that begin its digest.

    Raises:
        ValidationError: the data part is not an answer.
        InvalidParamsError: the words are none, or are bound to something else than what is open.
    """
    if message.data is not None:
        reason = {"reason": message.text} if message.text and "reason" not in message.data else {}
        return Answer.model_validate({**message.data, **reason})
    found = IN_WORDS.fullmatch(message.text)
    if found is None or not approval.digest.startswith(found[2].lower()):
        wanted = approval.digest[:16]
        raise InvalidParamsError(f'answer with a data part, or with "approve {wanted}" or "deny {wanted}"')
    return Answer.model_validate({"verdict": found[1].lower(), "digest": approval.digest})


def _content(part: Part) -> Any:
    kind = part.media_type.partition(";")[0].strip().lower()
    match part.WhichOneof("content"):
        case "text" if kind in TEXT:
            return part.text
        case "data" if kind in JSON:
            return MessageToDict(part.data)
        case None:
            raise InvalidParamsError("a part is empty; give it text or data")
        case _:
            raise ContentTypeNotSupportedError(
                "a part is text or JSON; upload a file (POST /v1/uploads), and name it in attachments"
            )


def _options(message: Message) -> Mapping[str, Any]:
    given = MessageToDict(message.metadata).get(EXTENSION, {})
    if not isinstance(given, dict) or not OPTIONS.issuperset(given):
        raise InvalidParamsError(f"metadata {EXTENSION} may hold: {', '.join(sorted(OPTIONS))}")
    return given


def _key(message: Message) -> str:
    """Return the idempotency key of a message: its id, and its content, since some clients use one id for several."""
    return f"a2a:{sha256(message.SerializeToString(deterministic=True)).hexdigest()}"
