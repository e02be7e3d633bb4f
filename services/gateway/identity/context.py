"""The state of the identity room: keys, sign-ins, and the callers whose answers last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from services.gateway.http.context import Room, state_of
from services.gateway.identity.credentials import Credentials
from services.gateway.identity.directory import Directory
from services.gateway.identity.reading import Reads
from services.gateway.identity.store import Keys
from services.gateway.identity.verification import Verification


@dataclass(frozen=True)
class Identity(Room):
    keys: Keys
    directory: Directory
    credentials: Credentials
    verification: Verification
    reads: Reads


Here = Annotated[Identity, state_of("identity")]
