"""Guarded ports: an outage costs one timeout, not one per call, and means the same as no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from libs import ids
from libs.cache import Delta, Limit, LimitState, Stream, StreamEntry
from libs.cache.guarded import GuardedDeltas, GuardedWindows
from libs.errors import Unavailable
from libs.objects import BlobMissing
from libs.objects.filesystem import FilesystemObjects
from libs.objects.guarded import GuardedObjects
from libs.policy.guarded import GuardedPolicy
from libs.policy.ports import Decision, PolicyUnanswered
from libs.resilience import CircuitOpen, GuardedCall, Rules, State


def guard(failures: int = 2) -> GuardedCall:
    return GuardedCall(ids.new(), Rules(failures=failures))


class Silent:
    """All ports in one object that never answers."""

    revision, problem = "r", "silent"

    def __init__(self) -> None:
        self.asked = 0

    async def decide(self, action: str, input: Mapping[str, object]) -> Decision:
        self.asked += 1
        raise PolicyUnanswered

    async def reload(self) -> bool:
        return False

    async def append(self, stream: Stream, delta: Delta) -> None:
        self.asked += 1
        raise Unavailable

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        return {}

    async def admit(self, limits: Sequence[Limit]) -> Sequence[LimitState]:
        self.asked += 1
        raise Unavailable


@pytest.mark.requirement("A8", "S3-58")
async def test_unavailable_policy_is_unanswered_with_or_without_open_circuit() -> None:
    silent = Silent()
    policy = GuardedPolicy(silent, guard())
    for _ in range(5):
        with pytest.raises(PolicyUnanswered):
            await policy.decide("tool.execute", {})
    assert silent.asked == 2
    assert (policy.revision, policy.problem) == ("r", "silent")


async def test_deltas_and_windows_share_one_circuit() -> None:
    silent, shared = Silent(), guard()
    deltas, windows = GuardedDeltas(silent, shared), GuardedWindows(silent, shared)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await deltas.append(Stream("t", "turn"), Delta("c", 1, "hi"))
    with pytest.raises(CircuitOpen):
        await windows.admit([])
    assert silent.asked == 2


async def test_a_guarded_store_is_the_store(tmp_path: Path) -> None:
    at = guard()
    objects = GuardedObjects(FilesystemObjects(tmp_path, max_bytes=1 << 20), at)
    blob = await objects.put("t", b"content")
    assert await objects.get("t", blob.sha256) == b"content"
    assert b"".join([chunk async for chunk in objects.open("t", blob.sha256, start=3)]) == b"tent"
    assert await objects.exists("t", blob.sha256)
    await objects.delete("t", blob.sha256)
    for _ in range(3):
        with pytest.raises(BlobMissing):
            await objects.get("t", blob.sha256)
    assert at.state is State.CLOSED, "what is not there was answered"
