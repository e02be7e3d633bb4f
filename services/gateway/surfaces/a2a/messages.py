"""Requests in a client's message: a new turn, the answer to a clarification, or to an approval."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_extension
from typing import Any

from a2a.types.a2a_pb2 import Part, SendMessageRequest
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import MessageToDict

from libs.events import ApprovalRequested
from services.gateway.sessions.models import Answer
from services.gateway.surfaces import questions
from services.gateway.surfaces.a2a.tasks import EXTENSION, how
from services.gateway.surfaces.files import Given

FILES = "attachments"
OPTIONS = frozenset(("root", "title", "hitl", "skill", "agent", FILES))
"""Options of a turn in a message's metadata, under Suma's extension."""
BOUND = re.compile(r"\s*(?P<verb>approved?|deny|denied)\s+(?P<digest>[0-9a-f]{8,64})\b(?P<rest>.*)", re.I | re.S)
"""An answer in words that begins the digest of its question."""
DIGEST_LEAST = 8
VERDICTS = frozenset(("verdict", "approve"))
"""Members of an object that answers an approval."""
TEXT, JSON = ("", "text/plain", "text/markdown"), ("", "application/json")


@dataclass(frozen=True, slots=True)
class MessageContent:
    """A client's message. `key` makes an equal one, with the same id, safe to repeat."""

    text: str
    data: Mapping[str, Any] | None
    """The first data part that is an object."""
    files: Sequence[Given]
    options: Mapping[str, Any]
    key: str

    @property
    def digest(self) -> str | None:
        """The digest of the question that the message answers, or its beginning; None if it names none."""
        if self.data is not None:
            return str(self.data["digest"]) if "digest" in self.data and VERDICTS & self.data.keys() else None
        found = BOUND.fullmatch(self.text)
        return found["digest"].lower() if found else None


def said(params: SendMessageRequest) -> MessageContent:
    """Return what a message says.

    Raises:
        ContentTypeNotSupportedError: a part is neither text, JSON nor a file's content.
        InvalidParamsError: its options are unknown.
    """
    parts = params.message.parts
    contents = [_content(part) for part in parts if part.WhichOneof("content") != "raw"]
    texts = [content for content in contents if isinstance(content, str)]
    data = next((content for content in contents if isinstance(content, Mapping)), None)
    return MessageContent("\n\n".join(texts), data, list(_files(parts)), _options(params), _key(params))


def answer_to(asked: ApprovalRequested, message: MessageContent, *, shown: bool) -> Answer:
    """Return the answer to an approval: a data part, or words. Without the digest of its question it counts only if
    the client cannot have been shown another question.

    Raises:
        ValidationError: the data part is not an answer.
        InvalidParamsError: it is unclear, or bound to something else than what is open.
    """
    digest = asked.digest
    if message.files:
        raise InvalidParamsError(f"an approval takes no file; {how(asked)}")
    if message.digest is None and not shown:
        raise InvalidParamsError(f"the answer names no question; {how(asked)}")
    if message.digest is not None and not (len(message.digest) >= DIGEST_LEAST and digest.startswith(message.digest)):
        raise InvalidParamsError(f"another question is open; {how(asked)}")
    if message.data is not None and "verdict" in message.data:
        return Answer.model_validate({"reason": message.text, **message.data, "digest": digest})
    answer = _in_words(asked, message.text) if message.data is None else questions.answer_from(asked, message.data)
    if answer is None:
        raise InvalidParamsError(f"the answer is unclear; {how(asked)}")
    return answer


def _in_words(asked: ApprovalRequested, text: str) -> Answer | None:
    bound = BOUND.fullmatch(text)
    return questions.answer_to(asked, f"{bound['verb']}{bound['rest']}" if bound else text)


def _content(part: Part) -> Any:
    kind = _kind(part)
    match part.WhichOneof("content"):
        case "text" if kind in TEXT:
            return part.text
        case "data" if kind in JSON:
            return MessageToDict(part.data)
        case None:
            raise InvalidParamsError("a part is empty; give it text or data")
        case _:
            raise ContentTypeNotSupportedError("a part is text, JSON, or a file's content; no address is fetched")


def _files(parts: Sequence[Part]) -> Iterator[Given]:
    for part in parts:
        if part.WhichOneof("content") == "raw":
            kind = _kind(part) or "application/octet-stream"
            name = part.filename or f"file{guess_extension(kind) or ''}"
            yield Given(None, f"data:{kind};base64,{b64encode(part.raw).decode()}", name)


def _kind(part: Part) -> str:
    return part.media_type.partition(";")[0].strip().lower()


def _options(params: SendMessageRequest) -> Mapping[str, Any]:
    """Return the options of a message, and those of its request, which every message of some clients carries."""
    found: dict[str, Any] = {}
    for metadata in (params.metadata, params.message.metadata):
        given = MessageToDict(metadata).get(EXTENSION, {})
        if not isinstance(given, dict) or not OPTIONS.issuperset(given) or not isinstance(given.get(FILES, []), list):
            raise InvalidParamsError(f"metadata {EXTENSION} may hold: {', '.join(sorted(OPTIONS))}; {FILES} is a list")
        found |= given
    return found


def _key(params: SendMessageRequest) -> str:
    """Return the idempotency key of a message: its id, and its content, since some clients use one id for several."""
    content = params.message.SerializeToString(deterministic=True) + params.metadata.SerializeToString(
        deterministic=True
    )
    return f"a2a:{sha256(content).hexdigest()}"
