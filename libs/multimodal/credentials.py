"""Content credentials: a signed statement in a file about how it was made, and an anchor for it that does not expire.

The statement is a C2PA manifest, signed last, since any change of the file breaks it. Its certificates are Suma's own,
so other programs show it as valid but not as trusted until they are given the root. The anchor is a detached signature
over the file's SHA-256, by a key of the platform.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from libs.keys import Keys, Signature, canonical
from libs.keys.certificates import chain_of
from libs.multimodal.children import ask
from libs.multimodal.ports import CannotProduce, Json, StepType

CHILD = Path(__file__).parent / "credentials_child.py"
NAME = "credentials"
"""The name of the secret and of the key."""
SECONDS = 20.0
SIGNABLE = frozenset(("image/png", "image/jpeg", "image/webp", "image/svg+xml", "application/pdf"))
"""Media types that have room for a manifest."""
SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
SOURCES: Mapping[str, str] = {
    StepType.IMAGE: "trainedAlgorithmicMedia",
    StepType.CAPTURE: "screenCapture",
    StepType.ARRANGE: "composite",
    StepType.COMPOSE: "composite",
}
"""IPTC's digital source types of the steps; the others draw data by rule."""


@dataclass(frozen=True, slots=True)
class Report:
    """The credentials of a file. `trusted` is Suma's own; `valid` is whole, and from elsewhere."""

    state: Literal["trusted", "valid", "invalid", "absent"]
    facts: Mapping[str, Json]


class Credentials:
    """Signs and reads the credentials of files, with keys that follow from the secret of `NAME`."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    @property
    def root(self) -> str:
        """The root certificate as PEM, for programs that are to trust files of this deployment."""
        return chain_of(self._keys.secret(NAME), 2025).root

    async def sign(
        self,
        data: bytes,
        media_type: str,
        *,
        step: str,
        title: str,
        facts: Mapping[str, Json],
        at: datetime,
        check: Callable[[], None],
    ) -> bytes:
        """Return the file with its credentials.

        Raises:
            CannotProduce: the file is not what its media type says.
            CannotRun: signing takes too much.
        """
        # The year of this machine, with whose time the library compares the leaf's.
        chain = chain_of(self._keys.secret(NAME), time.gmtime().tm_year)
        asked = {
            "media_type": media_type,
            "title": title,
            "facts": dict(facts),
            "at": at.isoformat(timespec="seconds"),
            "made_by": SOURCE_TYPES + SOURCES.get(step, "algorithmicMedia"),
            "key": chain.key,
            "chain": chain.chain,
            "root": chain.root,
        }
        found, made = await ask(CHILD, asked, [data], seconds=SECONDS, check=check)
        if "refused" in found:
            raise CannotProduce(f"the file cannot hold content credentials: {found['refused']}")
        return made

    async def read(self, data: bytes, media_type: str, *, check: Callable[[], None] = lambda: None) -> Report:
        """Return the credentials of a file from anywhere. Raises CannotRun."""
        if media_type not in SIGNABLE:
            return Report("absent", {})
        asked = {"media_type": media_type, "root": self.root}
        found, _ = await ask(CHILD, asked, [data], seconds=SECONDS, check=check)
        return Report(found.get("state", "invalid"), found.get("facts", {}))

    def anchor(self, record: Mapping[str, Json]) -> Signature:
        """Return a signature over a record of a file; it holds for as long as the public key is kept."""
        return self._keys.sign(NAME, canonical(record))

    def anchored(self, record: Mapping[str, Json], signature: Signature) -> bool:
        """Return whether this deployment made the signature over this record."""
        return self._keys.verify(NAME, canonical(record), signature)
