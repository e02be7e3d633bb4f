"""Blobs in an S3 bucket: the adapter for many machines.

    bucket/<tenant>/ab/abcdef…        S3 shows an object whole or not at all

The name of a stream is known only at its end, so content is first buffered, in memory or in an unnamed file, and then
sent: small content in one request, large content in parts. An error or a cancel aborts its parts at once; those of a
killed process are aborted by the first large `put` of a later one, once they are a day old.

boto3 blocks, so it runs in a bounded pool of threads. Each request has a timeout and at most three attempts.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import IO, TYPE_CHECKING, ParamSpec, TypeVar

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
)

from libs.errors import Rejected, Unavailable
from libs.objects.content import CHUNK, disposition, gathered, place, place_of_area
from libs.objects.ports import Blob, BlobCorrupt, BlobMissing, BlobTooLarge
from libs.telemetry.logs import logger

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import CompletedPartTypeDef

PART = 8 * 1024 * 1024
"""Bytes beyond which content is sent in parts of this size. (S3 requires at least 5 MiB for all parts but the last.)"""

STALE = timedelta(days=1)
"""Seconds after which unfinished parts are abandoned."""

THREADS = 16
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 2.0, 8.0, 3
PROBE_SECONDS = 1.5
ABSENT = frozenset({"404", "NoSuchKey", "NotFound"})
UNCACHED = {"ResponseCacheControl": "private, no-store"}
PLAIN_REGIONS = (None, "us-east-1", "aws-global")
"""The region that a new bucket must not name."""

log = logger("objects")
P = ParamSpec("P")
T = TypeVar("T")


class BucketRefused(Rejected):
    """The bucket belongs to another account, or its name is invalid."""

    code = "BUCKET_REFUSED"


@dataclass(frozen=True)
class Account:
    """The bucket's address and credentials. Omitted parts come from the AWS tools' usual places."""

    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = None


@dataclass(frozen=True)
class Outside:
    """The address at which holders of a link reach the server, and the lifetime of a link in seconds."""

    endpoint: str
    seconds: int


@dataclass(frozen=True)
class Clients:
    """A client for work, one for health checks with a short timeout, and the signer of links, if configured."""

    usual: S3Client
    probe: S3Client
    signer: Signer | None


class S3Objects:
    """`Objects` in `bucket`. `max_bytes` bounds one blob."""

    def __init__(self, clients: Clients, bucket: str, *, max_bytes: int) -> None:
        self._s3, self._probe_s3, self._signer = clients.usual, clients.probe, clients.signer
        self._bucket = bucket
        self._max_bytes = max_bytes
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="s3")
        self._probing: asyncio.Future[str | None] | None = None
        self._claimed = self._swept = False

    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        with _Incoming(self._max_bytes) as incoming:
            async for piece in gathered(content if isinstance(content, AsyncIterable) else _once(content)):
                await self._run(incoming.add, piece)
            blob = incoming.blob()
            if not await self._holds(tenant, blob):
                await self._send(place(tenant, blob.sha256), incoming)
            return blob

    async def get(self, tenant: str, sha256: str) -> bytes:
        return await self._run(self._get, place(tenant, sha256), sha256)

    async def open(self, tenant: str, sha256: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        bucket, key, digest = self._bucket, place(tenant, sha256), hashlib.sha256()
        # The size first: a range outside the content would be refused, and an empty one cannot be written.
        size = (await self._run(self._s3.head_object, Bucket=bucket, Key=key))["ContentLength"]
        stop = size if end is None else min(end, size)
        if start < stop:
            part = f"bytes={start}-{stop - 1}"
            body = (await self._run(self._s3.get_object, Bucket=bucket, Key=key, Range=part))["Body"]
            try:
                while chunk := await self._run(_read, body, digest.update):
                    yield chunk
            finally:
                await self._run(body.close)
        if (start, stop) == (0, size) and digest.hexdigest() != sha256:
            raise BlobCorrupt(f"the blob {sha256} holds other content")

    async def exists(self, tenant: str, sha256: str) -> bool:
        try:
            await self._run(self._s3.head_object, Bucket=self._bucket, Key=place(tenant, sha256))
        except BlobMissing:
            return False
        return True

    async def delete(self, tenant: str, sha256: str) -> None:
        await self._run(self._s3.delete_object, Bucket=self._bucket, Key=place(tenant, sha256))

    async def clear(self, area: str) -> None:
        await self._run(self._clear, place_of_area(area))

    async def link(self, tenant: str, sha256: str, *, filename: str, media_type: str) -> str | None:
        key = place(tenant, sha256)
        await self._run(self._s3.head_object, Bucket=self._bucket, Key=key)
        if self._signer is None:
            return None
        shown = {"ResponseContentType": media_type, "ResponseContentDisposition": disposition(filename)}
        return await self._run(self._signer.link, {"Bucket": self._bucket, "Key": key, **shown, **UNCACHED})

    async def alive(self) -> None:
        # One check at a time: a hanging store must not fill the pool with health checks.
        if self._probing is None or self._probing.done():
            self._probing = asyncio.get_running_loop().run_in_executor(self._pool, self._probed)
        # A check that runs out of time must not end the probe that the next one waits for.
        if problem := await asyncio.shield(self._probing):
            raise Unavailable(problem)

    async def claim(self) -> None:
        """Create the bucket if it is missing. A store that does not answer yet is reported by `alive`.

        Raises:
            BucketRefused: it belongs to another account, or the credentials or the name are invalid.
        """
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._claim)
        except (ClientError, BotoCoreError) as error:
            if not _passing(error):
                raise BucketRefused(f"the bucket {self._bucket!r} cannot be used: {_said(error)}") from error
            log.warning("waited for the object store", reason=_said(error))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._s3.close()
        self._probe_s3.close()
        if self._signer is not None:
            self._signer.close()

    def _get(self, key: str, sha256: str) -> bytes:
        body = self._s3.get_object(Bucket=self._bucket, Key=key)["Body"]
        try:
            content = body.read()
        finally:
            body.close()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BlobCorrupt(f"the blob {sha256} holds other content")
        return content

    def _clear(self, prefix: str) -> None:
        for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
            for found in page.get("Contents", ()):
                self._s3.delete_object(Bucket=self._bucket, Key=found["Key"])

    async def _holds(self, tenant: str, blob: Blob) -> bool:
        """Return whether intact content is there: it is never overwritten, damaged content always is."""
        try:
            async for _ in self.open(tenant, blob.sha256):
                pass
        except (BlobMissing, BlobCorrupt):
            return False
        return True

    async def _send(self, key: str, incoming: _Incoming) -> None:
        if incoming.size > PART:
            return await self._send_in_parts(_Upload(self._s3, self._bucket, key), incoming)
        content = await self._run(incoming.part)
        await self._run(self._s3.put_object, Bucket=self._bucket, Key=key, Body=content)
        return None

    async def _send_in_parts(self, upload: _Upload, incoming: _Incoming) -> None:
        try:
            await self._run(upload.begin)
            # After `begin`: this upload shows S3's own time, by which others are old.
            await self._sweep(upload)
            while part := await self._run(incoming.part):
                await self._run(upload.add, part)
            await self._run(upload.complete)
        except BaseException:
            with suppress(Unavailable, BlobMissing):
                await self._run(upload.abort)
            raise

    async def _sweep(self, upload: _Upload) -> None:
        if not self._swept:
            self._swept = True
            # The credentials may allow writing but not listing.
            with suppress(Unavailable, BlobMissing):
                await self._run(upload.abort_older)

    def _claim(self) -> None:
        try:
            self._probe_s3.head_bucket(Bucket=self._bucket)
        except ClientError as error:
            # The bucket existed at the start; if someone removed it since, do not create it again.
            if self._claimed or _code(error) not in ABSENT:
                raise
            self._make_bucket()
        self._claimed = True

    def _make_bucket(self) -> None:
        region = self._s3.meta.region_name
        try:
            if region in PLAIN_REGIONS:
                self._s3.create_bucket(Bucket=self._bucket)
            else:
                self._s3.create_bucket(Bucket=self._bucket, CreateBucketConfiguration={"LocationConstraint": region})  # type: ignore[typeddict-item]
        except ClientError as error:
            # Another process created it first.
            if _code(error) != "BucketAlreadyOwnedByYou":
                raise

    def _probed(self) -> str | None:
        """Return why the store cannot be used now."""
        try:
            self._claim()
        except (ClientError, BotoCoreError) as error:
            return f"the object store: the bucket {self._bucket!r}: {_said(error)}"
        return None

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call in a thread and translate its errors. When cancelled, wait until the thread releases its file."""
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])
            raise
        except ClientError as error:
            if _code(error) in ABSENT:
                raise BlobMissing from error
            raise Unavailable(f"the object store: {_said(error)}") from error
        except (BotoCoreError, OSError) as error:
            raise Unavailable(f"the object store: {_said(error)}") from error


class Signer:
    """Signing is local, but temporary credentials may have to be renewed first."""

    def __init__(self, client: S3Client, seconds: int) -> None:
        self._s3, self._seconds = client, seconds

    def link(self, asked: dict[str, str]) -> str:
        return self._s3.generate_presigned_url("get_object", Params=asked, ExpiresIn=self._seconds)

    def close(self) -> None:
        self._s3.close()


class _Incoming:
    """Content that is buffered, hashed as it grows, and then read part by part. On disk it has no name, so nothing
    remains after a crash.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(PART)  # noqa: SIM115 -- closed at our own end
        self._digest = hashlib.sha256()
        self.size = 0

    def __enter__(self) -> _Incoming:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self._max_bytes:
            raise BlobTooLarge(f"the content is larger than {self._max_bytes} bytes")
        self._digest.update(piece)
        self._file.write(piece)

    def blob(self) -> Blob:
        """Return the whole content for reading from its start."""
        self._file.seek(0)
        return Blob(self._digest.hexdigest(), self.size)

    def part(self) -> bytes:
        return self._file.read(PART)


class _Upload:
    """A multipart upload. Its id is recorded as soon as S3 assigns it, even if the caller was cancelled."""

    def __init__(self, client: S3Client, bucket: str, key: str) -> None:
        self._s3, self._bucket, self._key = client, bucket, key
        self._id = ""
        self._parts: list[CompletedPartTypeDef] = []

    def begin(self) -> None:
        self._id = self._s3.create_multipart_upload(Bucket=self._bucket, Key=self._key)["UploadId"]

    def add(self, part: bytes) -> None:
        number = len(self._parts) + 1
        sent = self._s3.upload_part(Bucket=self._bucket, Key=self._key, UploadId=self._id, PartNumber=number, Body=part)
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"]})

    def complete(self) -> None:
        self._s3.complete_multipart_upload(
            Bucket=self._bucket, Key=self._key, UploadId=self._id, MultipartUpload={"Parts": self._parts}
        )

    def abort(self) -> None:
        if self._id:
            self._s3.abort_multipart_upload(Bucket=self._bucket, Key=self._key, UploadId=self._id)

    def abort_older(self) -> None:
        """Abort uploads that began long before this one, by S3's clock."""
        begun = {
            (each["Key"], each["UploadId"]): each["Initiated"]
            for each in self._s3.list_multipart_uploads(Bucket=self._bucket).get("Uploads", [])
        }
        ours = begun.get((self._key, self._id))
        for (key, id), when in begun.items():
            if ours is not None and when < ours - STALE:
                self._s3.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=id)


@asynccontextmanager
async def connected(
    bucket: str, account: Account, *, max_bytes: int, outside: Outside | None = None
) -> AsyncIterator[S3Objects]:
    """Open the store in `bucket`, which is created if it is missing. Raises BucketRefused."""
    clients = await asyncio.to_thread(_clients, bucket, account, outside)
    objects = S3Objects(clients, bucket, max_bytes=max_bytes)
    try:
        await objects.claim()
        yield objects
    finally:
        objects.close()


def _clients(bucket: str, account: Account, outside: Outside | None) -> Clients:
    session = Session()
    try:
        usual = _client(session, account, seconds=(CONNECT_SECONDS, READ_SECONDS), attempts=ATTEMPTS)
        probe = _client(session, account, seconds=(PROBE_SECONDS, PROBE_SECONDS), attempts=1)
        return Clients(usual, probe, _signer(session, account, outside, usual) if outside is not None else None)
    except (BotoCoreError, ValueError) as error:
        raise BucketRefused(f"the bucket {bucket!r} cannot be reached: {error}") from error


def _signer(session: Session, account: Account, outside: Outside, usual: S3Client) -> Signer:
    """Return the same client with the address that link holders use."""
    elsewhere = replace(account, endpoint=outside.endpoint, region=usual.meta.region_name)
    return Signer(_client(session, elsewhere, seconds=(PROBE_SECONDS, PROBE_SECONDS), attempts=1), outside.seconds)


def _client(session: Session, account: Account, *, seconds: tuple[float, float], attempts: int) -> S3Client:
    return session.client(
        "s3",
        endpoint_url=account.endpoint,
        region_name=account.region or ("us-east-1" if account.endpoint else None),
        aws_access_key_id=account.access_key,
        aws_secret_access_key=account.secret_key,
        config=Config(
            connect_timeout=seconds[0],
            read_timeout=seconds[1],
            retries={"mode": "standard", "total_max_attempts": attempts},
            max_pool_connections=THREADS,
            # Sign each body's SHA-256, which every server can verify; the newer checksums are not supported everywhere.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            # Links too: boto3's default form ends at a time and covers neither host nor region.
            signature_version="s3v4",
            s3={"payload_signing_enabled": True, "addressing_style": "path" if account.endpoint else "auto"},
        ),
    )


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _read(body: StreamingBody, seen: Callable[[bytes], None]) -> bytes:
    chunk = body.read(CHUNK)
    # Hashed in the thread as well, which leaves the event loop free.
    seen(chunk)
    return chunk


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def _passing(error: Exception) -> bool:
    """Return whether the answer may change later by itself."""
    if isinstance(error, ClientError):
        return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) >= 500
    return isinstance(error, ConnectionError | HTTPClientError)


def _said(error: Exception) -> str:
    if isinstance(error, ClientError):
        told = error.response.get("Error", {})
        return f"{told.get('Message') or 'refused'} ({told.get('Code', 'no code')})"
    return str(error)
