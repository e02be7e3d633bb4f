"""Uploads: files that a principal sends piece by piece, and that its messages can name (decision 0058).

Each piece is a blob of the tenant's own area. A row refers to a blob before it is stored, and a blob is deleted only
after no row refers to it, so a killed process leaves nothing that is not found again. The whole content is one more
blob, named by its SHA-256, so equal files of a tenant share one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Conflict, NotFound, Rejected, SumaError, Unavailable
from libs.events import ActionRecorded, Asset
from libs.identity import Principal
from libs.leases import Lease, NewLease
from libs.objects import UPLOADS, Blob, BlobCorrupt, area
from libs.runtime import Kind, Platform
from libs.skills import free_name
from services.gateway.files import rows
from services.gateway.files.incoming import Body, Draft
from services.gateway.files.media_types import HEAD, recorded
from services.gateway.files.models import Upload
from services.gateway.files.store import FileStore
from services.gateway.files.tus import Announced
from services.gateway.http import commands
from services.gateway.http.admission import TooMany
from services.gateway.settings import Settings

WRITE, DELETE = "asset.write", "asset.delete"
EXPIRY, COLLECTION = "upload", "upload_blobs"
TRIES = 5
PAUSES = (0.05, 0.2, 1.0)
"""Seconds to wait for a blob of the same name to be deleted."""
BLOBS_MOST = 500
"""Blobs that one lease deletes."""
AGAIN_SECONDS, RETRY_SECONDS = 60.0, 3600.0
FULL_SECONDS = 60.0


class NoSuchUpload(NotFound):
    """There is no such upload; it may have expired, so start a new one."""


class NoSuchAttachment(Rejected):
    """There is no such complete upload of yours; upload the file, and name its id."""

    code = "NO_SUCH_ATTACHMENT"


class UploadTooLarge(Rejected):
    """The file is too large; send a smaller one."""

    code = "UPLOAD_TOO_LARGE"


class OffsetMoved(Rejected):
    """The upload is at another offset; ask for it with HEAD, and go on from there."""

    code = "UPLOAD_OFFSET"


class TooSlow(Rejected):
    """No bytes arrived for too long; ask for the offset with HEAD, and go on from there."""

    code = "UPLOAD_TOO_SLOW"


class ChecksumMismatch(Rejected):
    """The content does not have the announced SHA-256, and was deleted; send it again."""

    code = "CHECKSUM_MISMATCH"


class Busy(Unavailable):
    """Concurrent uploads conflicted; retry."""

    code = "CONTENDED"


@dataclass(frozen=True)
class Whole:
    """Content made of stored pieces and a last one."""

    pieces: Callable[[str], AsyncIterator[bytes]]
    names: Sequence[str]
    last: Draft

    async def chunks(self) -> AsyncIterator[bytes]:
        for name in self.names:
            async for chunk in self.pieces(name):
                yield chunk
        async for chunk in self.last.chunks():
            yield chunk

    async def named(self) -> tuple[Blob, bytes]:
        """Return the content's name, and its first bytes."""
        if not self.names:
            return self.last.blob, self.last.head
        # The pieces are read again: no state of a hash can be stored between two requests.
        digest, size, head = hashlib.sha256(), 0, b""
        async for chunk in self.chunks():
            await asyncio.to_thread(digest.update, chunk)
            head, size = head or chunk[:HEAD], size + len(chunk)
        return Blob(digest.hexdigest(), size), head


class Uploads:
    def __init__(self, platform: Platform, store: FileStore, settings: Settings) -> None:
        self._platform, self._store, self._settings = platform, store, settings
        self._seconds = settings.upload_hours * 3600
        self._room = max(1, settings.uploads_at_once // 4)

    @property
    def kinds(self) -> Sequence[Kind[Any]]:
        """The leases that delete what expired, and what nothing refers to."""
        return [
            Kind(EXPIRY, self._left, self._expired, self._again, self._room, self._room),
            Kind(COLLECTION, self._collect, self._collected, self._again, self._room, self._room),
        ]

    async def own(self, who: Principal, upload_id: str) -> Upload:
        """Return an upload of this principal. Raises NoSuchUpload, also for one of others."""
        found = await self._store.upload(who.tenant, who.id, upload_id)
        if found is None:
            raise NoSuchUpload
        return found

    async def attached(self, who: Principal, uploads: Sequence[str]) -> tuple[Asset, ...]:
        """Return the files that a message of this principal names, each once and under a name of its own.

        Raises:
            NoSuchAttachment: one does not exist, is not complete, or is another principal's.
        """
        found = [await self._store.upload(who.tenant, who.id, upload) for upload in dict.fromkeys(uploads)]
        return _named_apart(_asset(upload) for upload in found)

    async def open(self, who: Principal, file: Announced, allowed: ActionRecorded) -> Upload:
        """Begin an upload.

        Raises:
            UploadTooLarge: it exceeds the limit of a file.
            TooMany: the tenant has too many unused uploads, or too many bytes.
        """
        if file.size > self._settings.upload_bytes_most:
            raise UploadTooLarge(f"the file is over {self._settings.upload_bytes_most} bytes; send a smaller one")
        for _ in range(TRIES):
            await self._check_room(who.tenant, file.size)
            upload_id = ids.new()
            row = rows.UploadOpened(
                upload_id=upload_id,
                principal=who.id,
                filename=file.filename,
                media_type=file.media_type,
                sha256=file.sha256,
                size=file.size,
                metadata=file.metadata,
                seconds=self._seconds,
                files_most=self._settings.uploads_most,
                bytes_most=self._settings.uploads_bytes_most,
            )
            # The row repeats the limits: concurrent uploads may use the room after the check; one of them conflicts.
            opened = _changeset(who).put(row)
            wait = NewLease(ids.derived(upload_id, EXPIRY), EXPIRY, {"upload_id": upload_id}, delay=self._seconds)
            try:
                await self._platform.writer.apply(opened.start(wait).emit(_about(allowed, upload_id)))
            except Conflict:
                continue
            return await self.own(who, upload_id)
        raise Busy

    async def receive(self, who: Principal, upload: Upload, body: Body, allowed: ActionRecorded) -> Upload:
        """Store the bytes of a request, and finish the upload with its last one. An interrupted request keeps what had
        arrived.

        Raises:
            UploadTooLarge: there are more bytes than were announced.
            OffsetMoved: another request sent the same bytes.
            TooSlow: the client stopped sending.
            TypeMismatch, ChecksumMismatch: the content is not what was announced; the upload is deleted.
        """
        while not upload.complete:
            left = upload.size - upload.received
            with Draft() as draft:
                await draft.fill(body, min(self._settings.upload_part_bytes, left))
                if draft.size == left and await body.more():
                    raise UploadTooLarge(f"more than the announced {upload.size} bytes arrived; announce them all")
                if draft.size == left:
                    upload = await self._finish(who, upload, draft, allowed)
                elif draft.size:
                    upload = await self._keep(who, upload, draft)
                else:
                    break
        if body.late:
            raise TooSlow
        return upload

    async def drop(self, who: Principal, upload_id: str, allowed: ActionRecorded) -> None:
        """Delete an upload, complete or not, also if messages have named it."""
        outcome = commands.outcome(who, DELETE, "deleted", f"asset:{upload_id}")
        await self._platform.writer.apply(
            dropping(_changeset(who), upload_id).emit(_about(allowed, upload_id), outcome)
        )

    async def _check_room(self, tenant: str, size: int) -> None:
        files, total = await self._store.upload_usage(tenant)
        if files >= self._settings.uploads_most:
            reason = f"your tenant has {files} unused uploads; use or delete some, or wait until they expire"
            raise TooMany("UPLOADS_FULL", reason, wait=FULL_SECONDS)
        if total + size > self._settings.uploads_bytes_most:
            reason = f"your tenant has {total} of {self._settings.uploads_bytes_most} bytes of uploads; delete some"
            raise TooMany("UPLOADS_FULL", reason, wait=FULL_SECONDS)

    async def _keep(self, who: Principal, upload: Upload, draft: Draft) -> Upload:
        """Store a piece that is not the last one."""
        part = await self._refer(who, upload, draft.blob)
        await self._put(who.tenant, draft.blob, draft.chunks())
        row = rows.UploadAdvanced(upload.upload_id, part, start=upload.received, size=draft.size, seconds=self._seconds)
        await self._applied(_changeset(who).put(row))
        return upload.model_copy(update={"received": upload.received + draft.size})

    async def _finish(self, who: Principal, upload: Upload, draft: Draft, allowed: ActionRecorded) -> Upload:
        """Store the whole content, and make it an asset."""
        names = await self._store.upload_parts(who.tenant, upload.upload_id)
        whole = Whole(partial(self._platform.objects.open, _home(who.tenant)), names, draft)
        blob, head = await whole.named()
        try:
            kind = _checked(upload, blob, head)
        except Rejected:
            await self._platform.writer.apply(dropping(_changeset(who), upload.upload_id).emit(allowed))
            raise
        await self._refer(who, upload, blob)
        await self._put(who.tenant, blob, whole.chunks())
        changeset = _changeset(who)
        collector = _collector(changeset.cause.id)
        row = rows.UploadFinished(
            upload_id=upload.upload_id,
            received=upload.received,
            media_type=kind,
            sha256=blob.sha256,
            seconds=self._seconds,
            collector=collector.id,
        )
        finished = changeset.put(row)
        outcome = commands.outcome(who, WRITE, "stored", f"asset:{upload.upload_id}")
        await self._applied(finished.start(collector).emit(_about(allowed, upload.upload_id), outcome))
        return await self.own(who, upload.upload_id)

    async def _refer(self, who: Principal, upload: Upload, blob: Blob) -> str:
        """Refer to a blob that is about to be stored; return the reference's id."""
        part = ids.new()
        row = rows.UploadPart(part, upload.upload_id, start=upload.received, size=blob.size, sha256=blob.sha256)
        for pause in PAUSES:
            try:
                await self._platform.writer.apply(_changeset(who).put(row))
            except Conflict:
                # The upload was deleted, which this raises, or a blob of this name is being deleted for a moment.
                await self.own(who, upload.upload_id)
                await asyncio.sleep(pause)
            else:
                return part
        raise Busy

    async def _put(self, tenant: str, blob: Blob, chunks: AsyncIterator[bytes]) -> None:
        if await self._platform.objects.put(_home(tenant), chunks) != blob:
            raise BlobCorrupt("the content changed while it was stored; send it again")

    async def _applied(self, changeset: Changeset) -> None:
        try:
            await self._platform.writer.apply(changeset)
        except Conflict:
            raise OffsetMoved from None

    async def _left(self, lease: Lease) -> float | None:
        return await self._store.upload_left(lease.tenant, lease.input["upload_id"])

    async def _expired(self, lease: Lease, left: float | None) -> Changeset:
        """Delete an upload whose time has come; else wait on."""
        done = Changeset(Cause.of_lease(lease))
        if left is None:
            return done
        # Bytes may arrive just now: then nothing is deleted, and this looks again.
        again = lease.successor(_input(lease), delay=max(left, AGAIN_SECONDS))
        if left > 0:
            return done.start(again)
        return _expiring(done, lease.input["upload_id"]).start(again)

    async def _collect(self, lease: Lease) -> Sequence[str]:
        names = await self._store.condemned_blobs(lease.tenant, lease.input["collector"], most=BLOBS_MOST)
        for name in names:
            # Its holder may have forgotten the names already, and a new upload of the same content would lose its blob.
            if not lease.valid():
                raise Unavailable("the lease may be another process's by now")
            await self._platform.objects.delete(_home(lease.tenant), name)
        return names

    async def _collected(self, lease: Lease, names: Sequence[str]) -> Changeset:
        done, collector = Changeset(Cause.of_lease(lease)), lease.input["collector"]
        done = done.put(*(rows.BlobForgotten(sha256=name, collector=collector) for name in names))
        if len(names) < BLOBS_MOST:
            return done
        return done.start(lease.successor(_input(lease)))

    async def _again(self, lease: Lease, error: SumaError) -> Changeset:
        """Try later: what is not deleted now must not be forgotten."""
        later = lease.successor(_input(lease), delay=RETRY_SECONDS)
        return Changeset(Cause.of_lease(lease)).start(later)


def _checked(upload: Upload, blob: Blob, head: bytes) -> str:
    """Return the media type to record. Raises TypeMismatch or ChecksumMismatch."""
    if upload.sha256 not in (None, blob.sha256):
        raise ChecksumMismatch
    return recorded(upload.media_type, head, upload.filename)


def _asset(upload: Upload | None) -> Asset:
    if upload is None or not upload.complete or upload.sha256 is None:
        raise NoSuchAttachment
    about = {"asset_id": upload.upload_id, "filename": upload.filename, "media_type": upload.media_type}
    return Asset(**about, sha256=upload.sha256, size=upload.size)


def _named_apart(files: Iterable[Asset]) -> tuple[Asset, ...]:
    """Return the files with a name each: tools reach them by it."""
    found: dict[str, Asset] = {}
    for file in files:
        name = free_name(file.filename, found)
        found[name] = file.model_copy(update={"filename": name})
    return tuple(found.values())


def _home(tenant: str) -> str:
    return area(tenant, UPLOADS)


def _input(lease: Lease) -> dict[str, Any]:
    return {name: value for name, value in lease.input.items() if name in ("upload_id", "collector")}


def _changeset(who: Principal) -> Changeset:
    return Changeset(commands.cause_of(who))


def _collector(cause: str) -> NewLease:
    """Return the lease that deletes what a changeset leaves without a reference."""
    name = ids.derived(cause, COLLECTION)
    return NewLease(name, COLLECTION, {"collector": name})


def dropping(changeset: Changeset, *uploads: str) -> Changeset:
    """Add the deletion of these uploads, complete or not, and of the contents that nothing else refers to."""
    if not uploads:
        return changeset
    collector = _collector(changeset.cause.id)
    gone = (rows.UploadDropped(upload_id=upload, collector=collector.id) for upload in uploads)
    return changeset.put(*gone).start(collector)


def _expiring(changeset: Changeset, upload_id: str) -> Changeset:
    collector = _collector(changeset.cause.id)
    return changeset.put(rows.UploadExpired(upload_id=upload_id, collector=collector.id)).start(collector)


def _about(record: ActionRecorded, upload_id: str) -> ActionRecorded:
    return record.model_copy(update={"resource": f"asset:{upload_id}"})
