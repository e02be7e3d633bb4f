"""Assets: made pictures and documents, kept once for a tenant, with their provenance, for as long as their class says.

A content is written down, then stored, then named by its asset in the transaction of the call: a process that dies in
between leaves no blob that nothing knows of. Contents of an encrypted class are sealed with a data key each, which is
kept wrapped (S3-57).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs import ids
from libs.changes import Cause, Changeset, Row
from libs.errors import Conflict, NotFound, Rejected, SumaError, Unavailable
from libs.events import ActionRecorded
from libs.keys import Signature, canonical, sealing
from libs.keys.sealing import FRAME, TAG
from libs.leases import Lease, NewLease
from libs.multimodal.children import CannotRun
from libs.multimodal.credentials import SIGNABLE, Credentials
from libs.multimodal.ports import CannotProduce, Input, Made, StepType
from libs.objects import ASSETS as AREAS
from libs.objects import Blob, BlobMissing, area
from libs.runtime import Platform, PolicyDenied, permitted
from libs.telemetry import logger
from services.tool_executor import calls
from services.tool_executor.multimodal import asset_rows as rows
from services.tool_executor.multimodal.asset_settings import Retention
from services.tool_executor.workspaces import GROUP

ASSETS = "assets"
"""The kind of lease that deletes assets whose time has come, and contents that no asset names."""
FULL_PROMPT = "provenance.store_full_prompt"
"""The policy action without which only a summary of a prompt is kept."""
UNUSED_SECONDS = 3600.0
"""Seconds for which a content stays that no asset names yet: its call has yet to commit."""
RETRY_SECONDS, MOST = 600.0, 500
PAUSES = (0.05, 0.2, 0.5, 1.0)
SUMMARY_MOST = 200
PIECE = 16 * FRAME
_PRIVATE = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+\.[\w.]+)|(?P<link>https?://\S+)"
    r"|(?P<secret>\b(?=\S*\d)[\w+/=-]{20,})|(?P<number>\d[\d .-]{4,}\d)"
)

log = logger("assets")
queries: Any = aiosql.from_path(Path(__file__).parent / "assets_queries.sql", "asyncpg")


class NoSuchAsset(NotFound):
    """There is no such asset, or its time has come; make it again."""

    code = "NO_SUCH_ASSET"


class NoSuchRetention(Rejected):
    """The settings name no such class of retention; use one that they name."""

    code = "NO_SUCH_RETENTION"


class Busy(Unavailable):
    """The content is being deleted; try again."""

    code = "ASSET_BUSY"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a request as they may be kept: in full, with the record of the permission, or summed up."""

    text: str = ""
    full: bool = False
    records: tuple[ActionRecorded, ...] = ()


NO_WORDS = Words()


@dataclass(frozen=True, slots=True)
class Making:
    """Facts of the call that made an asset, for its row and its provenance."""

    cause: Cause
    asset_id: str
    step_type: StepType
    turn_id: str
    call_id: str
    execution_id: str
    principal: str
    tool_id: str
    provider: str
    title: str = ""
    plan_id: str = ""
    request_id: str = ""
    words: Words = NO_WORDS
    quality: float | None = None
    parents: tuple[str, ...] = ()
    """Ids of the assets that it was made of."""
    made_from: tuple[str, ...] = ()
    """Paths of the files that it was made of."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept asset. Its rows and events are to commit with the call; `data` is the file, with its credentials."""

    asset_id: str
    data: bytes
    sha256: str
    size: int
    media_type: str
    rows: tuple[Row, ...]
    events: tuple[ActionRecorded, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """An asset as it is stored. `provenance` is the row of S3-39."""

    id: str
    session_id: str
    turn_id: str
    call_id: str
    asset_type: str
    format: str
    media_type: str
    retention: str
    sha256: str
    size: int
    title: str
    width: int
    height: int
    created_at: datetime
    expires_at: datetime | None
    blob: str
    wrapped_key: str | None
    credentials: bool
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        """Return it as JSON, without keys."""
        hidden = ("blob", "wrapped_key", "created_at", "expires_at")
        times = {
            "created_at": self.created_at.isoformat(),
            "expires_at": self.expires_at and self.expires_at.isoformat(),
        }
        return {name: getattr(self, name) for name in self.__slots__ if name not in hidden} | times


@dataclass(frozen=True, slots=True)
class Swept:
    """The condemned contents whose blobs a lease deleted, and the seconds until its asset's time comes."""

    collector: str
    contents: Sequence[Mapping[str, str]]
    left: float | None


class Assets:
    """The assets of all tenants. `settings` has the classes of retention."""

    def __init__(self, platform: Platform, settings: Retention) -> None:
        self._platform, self._settings = platform, settings
        self._credentials = Credentials(platform.keys)

    def retention(self, named: str | None) -> str:
        """Return the class of retention that a call names, else the default. Raises NoSuchRetention."""
        if named is not None and named not in self._settings.classes:
            raise NoSuchRetention(f"there is no retention {named!r}; use {', '.join(sorted(self._settings.classes))}")
        return named or self._settings.default

    async def words(self, cause: Cause, asset_id: str, prompt: str, *, principal: str, scopes: Sequence[str]) -> Words:
        """Return the words of a request where policy allows to keep them with the asset, else their summary."""
        if not prompt:
            return Words()
        try:
            record = await permitted(
                self._platform, _own(cause), FULL_PROMPT, principal, scopes, resource=f"asset:{asset_id}"
            )
        except PolicyDenied:
            return Words(redacted(prompt))
        return Words(prompt, full=True, records=(record,))

    async def keep(
        self, made: Made, about: Making, *, retention: str, check: Callable[[], None] = lambda: None
    ) -> Kept:
        """Store what a producer made; return the rows that name it, to commit with the call.

        Raises:
            Busy, Unavailable: it is not stored; try again.
        """
        now, words = self._platform.clock.now(), about.words
        facts = {
            "tool": about.tool_id,
            "provider": about.provider,
            "model": made.model,
            "made_from": list(about.made_from),
        }
        name = await asyncio.to_thread(_name, made, facts)
        content, data, warnings = await self._content(made, about, facts, name, retention, check)
        record = _record(about.asset_id, content["sha256"], made.media_type, now)
        anchor = self._credentials.anchor(record)
        provenance = {
            "request_id": about.request_id,
            "execution_id": about.execution_id,
            "plan_id": about.plan_id,
            "user_id": about.principal,
            "tool_id": about.tool_id,
            "provider": about.provider,
            "model": made.model,
            "params": dict(made.parameters),
            "prompt_summary": words.text,
            "prompt_is_full": words.full,
            "quality": about.quality,
            "parents": list(about.parents),
            "made_from": list(about.made_from),
            "anchor_key": anchor.key_id,
            "anchor": anchor.value.hex(),
        }
        put = rows.AssetPut(
            id=about.asset_id,
            session_id=about.cause.session or "",
            turn_id=about.turn_id,
            call_id=about.call_id,
            asset_type=about.step_type.modality.value,
            format=made.format,
            media_type=made.media_type,
            retention=retention,
            content=content["name"],
            checksum=content["sha256"],
            size=content["size"],
            title=about.title,
            width=made.width,
            height=made.height,
            created_at=now.isoformat(),
            keep_seconds=self._settings.classes[retention].seconds,
            provenance=provenance,
        )
        return Kept(about.asset_id, data, put.checksum, put.size, made.media_type, (put,), words.records, warnings)

    async def find(self, tenant: str, asset_id: str) -> Stored:
        """Return an asset's row. Raises NoSuchAsset."""
        row = await self._platform.database.row(GROUP, tenant, queries.asset, asset=asset_id)
        if row is None or (row["expires_at"] is not None and row["expires_at"] <= self._platform.clock.now()):
            raise NoSuchAsset(f"there is no asset {asset_id}; it may have been deleted when its time came")
        return Stored(**{**row, "provenance": orjson.loads(row["provenance"])})

    async def load(self, tenant: str, asset_id: str, *, session: str) -> Input:
        """Return an asset of this session with its content and what a document says about it.

        Raises what `find` and `open` raise.
        """
        found = await self.find(tenant, asset_id)
        if found.session_id != session:
            # Policy and its owner decide who reads another session; a call has asked neither.
            raise NoSuchAsset(f"there is no asset {asset_id} in this session; make it here, or attach the file")
        data = b"".join([piece async for piece in self.open(tenant, found)])
        return Input(found.id, data, found.media_type, found.title, found.title, _facts(found))

    async def open(self, tenant: str, found: Stored, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` to before `end`.

        Raises:
            BlobMissing, BlobCorrupt, SealBroken: the stored content is not what was kept.
        """
        stop, place = found.size if end is None else min(end, found.size), _area(tenant, found.retention)
        if found.wrapped_key is None or start >= stop:
            async for piece in self._platform.objects.open(place, found.blob, start=start, end=stop):
                yield piece
            return
        key = self._key(tenant, found.retention, found.wrapped_key)
        part, first = sealing.frames(start, stop), start // FRAME
        begin, step = first * FRAME, FRAME + TAG
        sealed = self._platform.objects.open(place, found.blob, start=part.start, end=part.stop)
        async for frames in _regrouped(sealed, PIECE // FRAME * step):
            plain = await asyncio.to_thread(
                sealing.opened, key, frames, tenant.encode(), first=begin // FRAME, size=found.size
            )
            yield plain[max(0, start - begin) : stop - begin]
            begin += len(plain)
        if begin < stop:
            raise sealing.SealBroken

    def anchored(self, found: Stored) -> bool:
        """Return whether this deployment signed that it made this file as this asset, at this time."""
        known = Signature(found.provenance["anchor_key"], bytes.fromhex(found.provenance["anchor"]))
        record = _record(found.id, found.sha256, found.media_type, found.created_at)
        return self._credentials.anchored(record, known)

    async def run(self, lease: Lease) -> Swept:
        """Delete an asset whose time has come, and the blobs of contents that no asset names."""
        collector, asset = lease.input.get("collector", lease.id), lease.input.get("asset")
        condemned = rows.ContentsCondemned(collector=collector, seconds=UNUSED_SECONDS)
        expired = (rows.AssetExpired(id=asset),) if asset is not None else ()
        await self._platform.writer.apply(Changeset(calls.cause_within(lease, "assets")).put(*expired, condemned))
        found = await self._platform.database.rows(
            GROUP, lease.tenant, queries.condemned, collector=collector, most=MOST
        )
        for row in found:
            # Its holder may have forgotten the names already, and a new asset of the same content would lose its blob.
            if not lease.valid():
                raise Unavailable("the lease may be another process's by now")
            await self._platform.objects.delete(_area(lease.tenant, row["retention"]), row["blob"])
        return Swept(collector, [dict(row) for row in found], await self._left(lease.tenant, asset))

    async def ended(self, lease: Lease, swept: Swept) -> Changeset:
        """Forget the deleted contents; go on while there are more, or while the asset's time has not come."""
        done = Changeset(Cause.of_lease(lease)).put(
            *(
                rows.ContentForgotten(retention=row["retention"], name=row["name"], collector=swept.collector)
                for row in swept.contents
            )
        )
        if len(swept.contents) == MOST:
            return done.start(lease.successor({**_input(lease), "collector": swept.collector}))
        return done if swept.left is None else done.start(lease.successor(_input(lease), delay=swept.left))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Try later: what is condemned must not be forgotten."""
        collector = lease.input.get("collector", lease.id)
        later = lease.successor({**_input(lease), "collector": collector}, delay=RETRY_SECONDS)
        return Changeset(Cause.of_lease(lease)).start(later)

    async def _content(
        self,
        made: Made,
        about: Making,
        facts: Mapping[str, Any],
        name: str,
        retention: str,
        check: Callable[[], None],
    ) -> tuple[Mapping[str, Any], bytes, tuple[str, ...]]:
        """Return the row of a content that is stored, its bytes, and warnings. Raises Busy."""
        tenant, row = about.cause.tenant, None
        for pause in (0.0, *PAUSES):
            await asyncio.sleep(pause)
            check()
            row = await self._platform.database.row(GROUP, tenant, queries.content, retention=retention, name=name)
            try:
                if row is None:
                    return await self._new(made, about, facts, name, retention, check)
                used = rows.ContentUsed(retention=retention, name=name)
                await self._platform.writer.apply(self._started(about, retention).put(used))
                return row, await self._bytes(tenant, row), ()
            except (Conflict, BlobMissing):
                # Another call is storing the same, or it is being deleted for a moment.
                continue
        if row is not None and row["collector"] is None:
            # Its call died before it had stored the content, whose credentials nobody can make again.
            return await self._new(made, about, facts, f"{name}:{ids.new()}", retention, check)
        raise Busy("this content is being deleted; try again")

    async def _new(
        self,
        made: Made,
        about: Making,
        facts: Mapping[str, Any],
        name: str,
        retention: str,
        check: Callable[[], None],
    ) -> tuple[Mapping[str, Any], bytes, tuple[str, ...]]:
        """Sign, seal and store a content. Raises Conflict: it is known by now."""
        tenant, data, warnings = about.cause.tenant, made.data, tuple[str, ...]()
        signed = made.media_type in SIGNABLE
        if signed:
            try:
                data = await self._credentials.sign(
                    made.data,
                    made.media_type,
                    step=about.step_type,
                    title=f"asset.{made.format}",
                    facts=facts,
                    at=self._platform.clock.now(),
                    check=check,
                )
            except (CannotProduce, CannotRun) as error:
                signed, warnings = False, (f"the file has no content credentials: {error}",)
                log.warning("kept an asset without credentials", asset=about.asset_id, error=str(error))
        sha256 = await asyncio.to_thread(_sha256, data)
        sealed, wrapped = data, None
        if self._settings.classes[retention].encrypted:
            key = sealing.new_key()
            sealed = await asyncio.to_thread(sealing.seal, key, data, tenant.encode())
            secret, bound = self._platform.keys.secret(ASSETS), f"{tenant}\0{retention}".encode()
            wrapped = sealing.wrapped(secret, retention, key, bound).hex()
        blob = Blob(await asyncio.to_thread(_sha256, sealed), len(sealed))
        row = rows.ContentReferred(
            retention=retention,
            name=name,
            sha256=sha256,
            size=len(data),
            blob=blob.sha256,
            wrapped_key=wrapped,
            credentials=signed,
        )
        changeset = self._started(about, retention).put(row)
        await self._platform.writer.apply(changeset.start(collecting(changeset.cause.id)))
        self._platform.point(f"{GROUP}:multimodal:referred")
        await self._platform.objects.put(_area(tenant, retention), sealed)
        return {"name": name, "sha256": sha256, "size": len(data)}, data, warnings

    def _started(self, about: Making, retention: str) -> Changeset:
        """Return a changeset that starts the wait for the end of the asset's time, if it has one."""
        cause, seconds = _own(about.cause), self._settings.classes[retention].seconds
        changeset = Changeset(cause)
        if seconds is None:
            return changeset
        expiry = NewLease(ids.derived(cause.id, "expiry"), ASSETS, {"asset": about.asset_id}, delay=seconds + 1)
        return changeset.start(expiry)

    async def _bytes(self, tenant: str, row: Mapping[str, Any]) -> bytes:
        place = _area(tenant, row["retention"])
        data = await self._platform.objects.get(place, row["blob"])
        if row["wrapped_key"] is None:
            return data
        key = self._key(tenant, row["retention"], row["wrapped_key"])
        return await asyncio.to_thread(sealing.opened, key, data, tenant.encode(), first=0, size=row["size"])

    async def _left(self, tenant: str, asset: str | None) -> float | None:
        """Return the seconds until an asset's time comes; None if it is gone or has none."""
        left: float | None = await self._platform.database.row(GROUP, tenant, queries.left, asset=asset)
        return left

    def _key(self, tenant: str, retention: str, wrapped: str) -> bytes:
        bound = f"{tenant}\0{retention}".encode()
        return sealing.unwrapped(self._platform.keys.secret(ASSETS), retention, bytes.fromhex(wrapped), bound)


def collecting(cause: str) -> NewLease:
    """Return the lease that deletes the contents which a changeset leaves without an asset."""
    return NewLease(ids.derived(cause, ASSETS), ASSETS, {}, delay=UNUSED_SECONDS + 1)


def redacted(prompt: str) -> str:
    """Return the beginning of a prompt without addresses, links, numbers and what looks like a secret."""
    start = " ".join(prompt[: 4 * SUMMARY_MOST].split())
    shown = _PRIVATE.sub(lambda found: f"[{found.lastgroup}]", start)
    return shown if len(shown) <= SUMMARY_MOST else f"{shown[:SUMMARY_MOST]}…"


def _own(cause: Cause) -> Cause:
    """Return the cause of a commit in the middle of the call, which does not end it."""
    return replace(cause, id=f"{cause.id}:{ids.new()}", lease=None)


def _name(made: Made, facts: Mapping[str, Any]) -> str:
    """Return the name of a content: the SHA-256 of what was made, and of what its credentials say."""
    digest = hashlib.sha256(made.data)
    if made.media_type in SIGNABLE:
        digest.update(canonical(facts))
    return digest.hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _record(asset_id: str, sha256: str, media_type: str, at: datetime) -> dict[str, str]:
    seconds = at.astimezone(UTC).isoformat(timespec="seconds")
    return {"asset": asset_id, "sha256": sha256, "media_type": media_type, "at": seconds}


def _facts(found: Stored) -> dict[str, str]:
    """Return what an appendix says about an asset."""
    told = found.provenance
    quality = told["quality"]
    # How it was isolated and measured is for operators, who read the provenance itself.
    params = {name: value for name, value in (told["params"] or {}).items() if name not in ("walls", "measured")}
    facts = {
        "sha256": found.sha256,
        "made_at": found.created_at.isoformat(timespec="seconds"),
        "tool": told["tool_id"],
        "provider": told["provider"],
        "model": told["model"],
        "parameters": orjson.dumps(params).decode() if params else "",
        "quality": f"{quality:.2f}" if quality is not None else "",
        "prompt": told["prompt_summary"],
        "made_of": ", ".join(told["parents"]),
        "made_from": "\n".join(told["made_from"]),
    }
    return {name: value for name, value in facts.items() if value}


def _area(tenant: str, retention: str) -> str:
    return area(tenant, f"{AREAS}/{retention}")


def _input(lease: Lease) -> dict[str, Any]:
    return {name: value for name, value in lease.input.items() if name in ("asset", "collector")}


async def _regrouped(content: AsyncIterator[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield the content in pieces of this size; the last may be shorter."""
    held = bytearray()
    async for piece in content:
        held += piece
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)
