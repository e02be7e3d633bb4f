"""The state of the files room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from services.gateway.files.store import FileStore
from services.gateway.files.uploads import Uploads
from services.gateway.http.context import Room, state_of
from services.gateway.identity.context import Identity


@dataclass(frozen=True)
class Files(Room):
    identity: Identity
    store: FileStore
    uploads: Uploads


Here = Annotated[Files, state_of("files")]
