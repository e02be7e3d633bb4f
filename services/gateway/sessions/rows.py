"""The rows that the gateway writes: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from libs.changes import Row
from libs.events import Json

SCHEMA = "gateway"


@dataclass(frozen=True, slots=True)
class SessionOpened(Row):
    """A new session."""

    into: ClassVar = (SCHEMA, "session.open")

    session_id: str | None
    principal: str
    title: str | None
    root: str | None
    hitl: str
    at: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class SessionShared(Row):
    """The access of others in the tenant to a session; None for no access."""

    into: ClassVar = (SCHEMA, "session.share")

    session_id: str
    shared: str | None


@dataclass(frozen=True, slots=True)
class SessionTitled(Row):
    """The title of a session that has none."""

    into: ClassVar = (SCHEMA, "session.title")

    session_id: str | None
    title: str


@dataclass(frozen=True, slots=True)
class LoggedEvent(Row):
    """An event of a session's sequence, named by its place in the log; a place without it conflicts."""

    into: ClassVar = (SCHEMA, "event")

    event_id: str
    part: int
    position: int


@dataclass(frozen=True, slots=True)
class CopiedEvent(Row):
    """An event of a session's sequence, in full."""

    into: ClassVar = (SCHEMA, "event")

    session_id: str | None
    event_id: str
    event_type: str
    turn_id: str | None
    occurred_at: str
    data: Json
    correlation: str | None
    causation: str | None


@dataclass(frozen=True, slots=True)
class TurnOpened(Row):
    """A turn, before anything of it has happened; one without a message is a rollback's."""

    into: ClassVar = (SCHEMA, "turn.open")

    turn_id: str
    session_id: str | None
    message_id: str | None
    text: str
    state: str
    at: str


@dataclass(frozen=True, slots=True)
class TurnMoved(Row):
    """The fields of a turn that an event changes; an ended turn keeps its final state."""

    into: ClassVar = (SCHEMA, "turn.move")

    turn_id: str
    state: str | None = None
    reason: str | None = None
    detail: str | None = None
    answer: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    moved_at: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalOpened(Row):
    """A question to a person, which expires in `expires_in` seconds."""

    into: ClassVar = (SCHEMA, "approval.open")

    approval_id: str
    session_id: str | None
    turn_id: str
    kind: str
    digest: str
    data: Json
    at: str
    expires_in: float


@dataclass(frozen=True, slots=True)
class ApprovalDraft(Row):
    """A prepared answer to a question with this digest; the last one counts."""

    into: ClassVar = (SCHEMA, "approval.draft")

    approval_id: str
    digest: str
    draft: Json


@dataclass(frozen=True, slots=True)
class ApprovalClosed(Row):
    """The answer to a question; the first one counts."""

    into: ClassVar = (SCHEMA, "approval.close")

    approval_id: str
    outcome: str
    principal: str | None
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class AssetPut(Row):
    """A file that a step has made."""

    into: ClassVar = (SCHEMA, "asset.put")

    asset_id: str
    session_id: str | None
    turn_id: str
    filename: str
    media_type: str
    sha256: str
    size: int
    at: str


@dataclass(frozen=True, slots=True)
class MessageAttached(Row):
    """An upload of the principal that a message names; from then on it does not expire."""

    into: ClassVar = (SCHEMA, "message.attach")

    session_id: str | None
    turn_id: str
    asset_id: str
    principal: str
    filename: str


@dataclass(frozen=True, slots=True)
class ReceiptPut(Row):
    """The receipt of an idempotent request, kept for `keep` seconds; a second one with its key conflicts."""

    into: ClassVar = (SCHEMA, "idempotency.put")

    principal: str
    key: str
    body_hash: str
    receipt: Mapping[str, Any]
    keep: float


@dataclass(frozen=True, slots=True)
class NoncePut(Row):
    """The nonce of a signed request; a second one conflicts."""

    into: ClassVar = (SCHEMA, "nonce.put")

    key_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class KeyUsed(Row):
    """A use of a key, noted at most once a minute."""

    into: ClassVar = (SCHEMA, "key.used")

    key_id: str


@dataclass(frozen=True, slots=True)
class DeadLetterPut(Row):
    """A dead letter, under the id of the event that reported it."""

    into: ClassVar = (SCHEMA, "dead.put")

    letter_id: str
    grp: str
    event_id: str
    topic: str
    event_type: str
    event_key: str
    session_id: str | None
    turn_id: str | None
    event: Json
    code: str
    error: str
    attempts: int
    at: str


@dataclass(frozen=True, slots=True)
class DeadLetterClosed(Row):
    """The replay or discard of an open dead letter; one that is closed conflicts."""

    into: ClassVar = (SCHEMA, "dead.close")

    letter_id: str
    state: str
    closed_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class UploadOpened(Row):
    """A new upload, within the tenant's limits of unused files and of bytes; else it conflicts."""

    into: ClassVar = (SCHEMA, "upload.open")

    upload_id: str
    principal: str
    filename: str
    media_type: str
    sha256: str | None
    size: int
    metadata: str
    seconds: float
    files_most: int
    bytes_most: int


@dataclass(frozen=True, slots=True)
class UploadPart(Row):
    """A reference to a blob that is about to be stored; a condemned blob conflicts."""

    into: ClassVar = (SCHEMA, "upload.part")

    part_id: str
    upload_id: str
    start: int
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class UploadAdvanced(Row):
    """A stored piece of an upload; of two with the same bytes, one conflicts."""

    into: ClassVar = (SCHEMA, "upload.advance")

    upload_id: str
    part_id: str
    start: int
    size: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UploadFinished(Row):
    """The end of an upload: it becomes an asset. `collector` is the lease that deletes its pieces."""

    into: ClassVar = (SCHEMA, "upload.finish")

    upload_id: str
    received: int
    media_type: str
    sha256: str
    seconds: float
    collector: str


@dataclass(frozen=True, slots=True)
class UploadDropped(Row):
    """An upload that its principal deletes."""

    into: ClassVar = (SCHEMA, "upload.drop")

    upload_id: str
    collector: str


@dataclass(frozen=True, slots=True)
class UploadExpired(Row):
    """An upload that is deleted if its time has come and no message named it."""

    into: ClassVar = (SCHEMA, "upload.expire")

    upload_id: str
    collector: str


@dataclass(frozen=True, slots=True)
class BlobForgotten(Row):
    """A condemned blob that is gone from the store."""

    into: ClassVar = (SCHEMA, "blob.forget")

    sha256: str
    collector: str


@dataclass(frozen=True, slots=True)
class WebhookPut(Row):
    """A webhook of a task (A2A), which only its principal replaces."""

    into: ClassVar = (SCHEMA, "push.put")

    turn_id: str
    config_id: str
    principal: str
    session_id: str
    url: str
    token: str
    scheme: str
    credentials: str
    base: str
    delivery: str
    credential: str
    oversees: bool


@dataclass(frozen=True, slots=True)
class WebhookDropped(Row):
    """A webhook that its principal deletes."""

    into: ClassVar = (SCHEMA, "push.drop")

    turn_id: str
    config_id: str
    principal: str
