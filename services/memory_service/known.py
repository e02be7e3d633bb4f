"""The facts that a turn is given: those that are true now and fit, the ones that bear on its request first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from libs.events import KnownFact, Touched
from libs.models import memory_block
from services.memory_service.domain import facts
from services.memory_service.domain.facts import Fact
from services.memory_service.recent import Recent
from services.memory_service.settings import Settings
from services.memory_service.store import Store

LETTERS_PER_TOKEN = 4
"""A cautious mean of the vendors' tokenizers for English."""
RECENT_SECONDS = 5.0
"""How long a person's facts are kept in memory: each plan and each answer asks for them."""


class Knowing:
    """Queries of a person's facts, for callers in this process."""

    def __init__(self, store: Store, recent: Recent[Sequence[Fact]], settings: Settings) -> None:
        self._store, self._recent, self._settings = store, recent, settings

    async def known(self, tenant: str, *, user: str, about: str) -> Sequence[KnownFact]:
        """Return the facts for a model that works on this text."""
        return known_of(await self._recent.of(tenant, user), about, tokens=self._settings.block_tokens)

    async def named(self, tenant: str, *, user: str, about: str) -> Sequence[str]:
        """Return the ids of the facts that a person means by these words."""
        return [fact.id for fact in facts.named(await self._store.facts(tenant, user), about)]


def known_of(kept: Sequence[Fact], about: str, *, tokens: int) -> tuple[KnownFact, ...]:
    """Return the facts whose block has at most `tokens` tokens, best first. One that is too long is left out."""
    return tuple(_fitting(facts.bearing(kept, about), tokens * LETTERS_PER_TOKEN))


def _fitting(kept: Sequence[Fact], room: int) -> Iterator[KnownFact]:
    room -= len(memory_block.OPEN) + len(memory_block.PREFACE) + len(memory_block.CLOSE) + 2
    for fact in kept:
        known = KnownFact(
            subject=fact.subject,
            key=fact.key,
            value=fact.value,
            since=fact.valid_from.date().isoformat(),
            touched=Touched(private=fact.private, untrusted=fact.untrusted, secret=fact.secret),
        )
        size = len(memory_block.line(known)) + 1
        if size <= room:
            room -= size
            yield known
