"""Pauses between looks: longer after ten that found nothing, until something is found."""

from __future__ import annotations

from libs.polling import QUIET_LOOKS, QUIET_TIMES, Pause


def test_quiet_loop_rests_longer_until_it_finds_something() -> None:
    pause = Pause(0.5)
    assert [pause.next() for _ in range(QUIET_LOOKS)] == [0.5] * QUIET_LOOKS
    assert [pause.next(), pause.next()] == [0.5 * QUIET_TIMES] * 2
    pause.found()
    assert pause.next() == 0.5
