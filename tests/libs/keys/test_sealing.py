"""Sealed content: any part opens alone, and no change goes unnoticed."""

from __future__ import annotations

import pytest

from libs.keys import sealing
from libs.keys.sealing import FRAME, TAG, SealBroken

pytestmark = pytest.mark.requirement("S3-57")

STEP, SIZE = FRAME + TAG, 3 * FRAME + 17
CONTENT = bytes(n % 251 for n in range(SIZE))
KEY = sealing.new_key()
SEALED = sealing.seal(KEY, CONTENT, b"acme")


def opened(sealed: bytes, *, first: int = 0, size: int = SIZE, about: bytes = b"acme") -> bytes:
    return sealing.opened(KEY, sealed, about, first=first, size=size)


@pytest.mark.parametrize("size", [1, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME])
def test_content_of_any_size_opens(size: int) -> None:
    key = sealing.new_key()
    sealed = sealing.seal(key, CONTENT[:size], b"")
    assert sealing.opened(key, sealed, b"", first=0, size=size) == CONTENT[:size]
    assert len(sealed) == size + TAG * -(-size // FRAME)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (FRAME - 1, FRAME + 1), (2 * FRAME, SIZE), (FRAME, 2 * FRAME)])
def test_a_part_opens_alone(start: int, end: int) -> None:
    part = sealing.frames(start, end)
    some = opened(SEALED[part.start : part.stop], first=part.start // STEP)
    begin = start - part.start // STEP * FRAME
    assert some[begin : begin + end - start] == CONTENT[start:end]


@pytest.mark.parametrize(
    "broken",
    [
        SEALED[:9] + bytes([SEALED[9] ^ 1]) + SEALED[10:],
        SEALED[STEP : 2 * STEP] + SEALED[:STEP] + SEALED[2 * STEP :],
        SEALED[: 2 * STEP] + SEALED[3 * STEP :],
        SEALED[STEP:],
    ],
)
def test_changed_moved_and_missing_frames_do_not_open(broken: bytes) -> None:
    with pytest.raises(SealBroken):
        opened(broken)


def test_a_shortened_content_does_not_open_as_whole() -> None:
    with pytest.raises(SealBroken):
        opened(SEALED[: 2 * STEP], size=2 * FRAME)


def test_content_does_not_open_for_another_tenant() -> None:
    with pytest.raises(SealBroken):
        opened(SEALED, about=b"other")


def test_a_wrapped_key_opens_for_its_purpose_alone() -> None:
    secret = bytes(32)
    value = sealing.wrapped(secret, "standard", KEY, b"acme")
    assert sealing.unwrapped(secret, "standard", value, b"acme") == KEY
    for purpose, about in (("permanent", b"acme"), ("standard", b"other")):
        with pytest.raises(SealBroken):
            sealing.unwrapped(secret, purpose, value, about)
