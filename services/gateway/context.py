"""The composition of the rooms: everything that they share is made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from libs.runtime import Health, Platform
from services.gateway.files.context import Files
from services.gateway.files.store import FileStore
from services.gateway.files.uploads import Uploads
from services.gateway.http.admission import ConcurrencyLimiter, RateLimiter
from services.gateway.http.context import Room
from services.gateway.http.refusals import RefusalLog
from services.gateway.http.store import Receipts
from services.gateway.identity.context import Identity
from services.gateway.identity.credentials import Credentials
from services.gateway.identity.directory import Directory
from services.gateway.identity.reading import Reads
from services.gateway.identity.store import Keys
from services.gateway.identity.verification import Verification
from services.gateway.operators.context import Operators, Process
from services.gateway.operators.dead_letters import DeadLetters
from services.gateway.operators.samples import Samples
from services.gateway.schema import GROUP
from services.gateway.sessions.open_turns import OpenTurns
from services.gateway.sessions.store import Store
from services.gateway.sessions.streams import Streams
from services.gateway.settings import Settings
from services.gateway.surfaces.a2a.push import Webhooks
from services.gateway.surfaces.context import Gateway


@dataclass(frozen=True)
class Rooms:
    """The rooms of one gateway. The routes of sessions and the surfaces share one state, of which surfaces see more."""

    identity: Identity
    files: Files
    operators: Operators
    sessions: Gateway
    rate_limiter: RateLimiter


def rooms(platform: Platform, settings: Settings, *, opening: Callable[[], Sequence[str]] = list) -> Rooms:
    """Build the rooms. `opening` returns the reasons why a valid key may still be unknown."""
    database, refusals = platform.database, RefusalLog(platform)
    room = vars(Room(platform, settings, Receipts(database)))
    keys = Keys(database)
    credentials = Credentials(platform, keys, refusals=refusals, opening=opening, settings=settings)
    identity = Identity(
        **room,
        keys=keys,
        directory=Directory(database, changed=credentials.forget),
        credentials=credentials,
        verification=Verification(seconds=settings.verify_seconds),
        reads=Reads(platform.policy, seconds=settings.key_seconds),
    )
    kept = FileStore(database)
    files = Files(**room, identity=identity, store=kept, uploads=Uploads(platform, kept, settings))
    operators = Operators(
        **room,
        identity=identity,
        dead_letters=DeadLetters(database),
        samples=Samples(platform),
        process=Process(Health(platform, [GROUP])),
    )
    store = Store(database)
    streams = Streams(store, platform.deltas, most=settings.streams_most, each=settings.streams_most_each)
    sessions = Gateway(
        **room,
        identity=identity,
        files=files,
        store=store,
        streams=streams,
        open_turns=OpenTurns(platform, store, settings),
        refusals=refusals,
        concurrency=ConcurrencyLimiter(settings),
        webhooks=Webhooks(platform, streams, settings),
    )
    return Rooms(identity, files, operators, sessions, RateLimiter(platform, settings))
