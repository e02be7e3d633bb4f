"""The schedule: which fault befalls what, and when, all from one seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random

from tests.chaos.profiles import Profile

LEASE_SECONDS = 15.0
FREEZE = (LEASE_SECONDS + 2, LEASE_SECONDS + 8)
"""Beyond every lease and every session timeout: who wakes then is a zombie."""
SECONDS = {
    "freeze": FREEZE,
    "hold": (2.0, LEASE_SECONDS + 5),
    "slow": (3.0, 10.0),
    "refuse": (2.0, 8.0),
    "outage": (8.0, 11.0),
    "crash": (0.5, 3.0),
    "stall": (8.0, 11.0),
    "rebalance": (7.0, 9.0),
    "redeliver": (7.0, 9.0),
    "join": (4.0, 9.0),
}
SERVER_FAULTS = frozenset({"outage", "crash", "stall", "bereave"})
REST_SECONDS = 8.0
"""Between two faults of servers, to come back from one before the next."""
FROZEN_MOST = 2


@dataclass(frozen=True)
class Fault:
    """One thing that happens: `at` seconds after the beginning, for so many seconds. `amount` is of the kind."""

    at: float
    kind: str
    target: str
    seconds: float = 0.0
    amount: float = 0.0

    @property
    def until(self) -> float:
        return self.at + self.seconds


def schedule(profile: Profile, *, seed: int, seconds: float) -> Sequence[Fault]:
    """Every fault of a run, all of which are to begin within `seconds`."""
    rng = Random(f"{profile.name}:{seed}")
    dealt, made = _dealt(profile, rng), list[Fault]()
    put_off: list[tuple[str, str]] = []
    at = rng.uniform(*profile.gap)
    while at < seconds:
        cards = [*put_off, next(dealt)]
        drawn = [_drawn(round(at, 2), kind, target, rng) for kind, target in cards]
        chosen = next((n for n, fault in enumerate(drawn) if _fits(fault, made)), None)
        if chosen is not None:
            made.append(drawn[chosen])
            at += rng.uniform(*profile.gap)
        put_off = [card for n, card in enumerate(cards) if n != chosen]
    return made


def _drawn(at: float, kind: str, target: str, rng: Random) -> Fault:
    return Fault(at, kind, target, round(rng.uniform(*SECONDS.get(kind, (0, 0))), 2), _amount(kind, rng))


def _dealt(profile: Profile, rng: Random) -> Iterator[tuple[str, str]]:
    """Kinds by their weights and targets evenly, as from decks of cards: none is forgotten for long."""
    targets = {kind: _shuffled(profile.targets(kind), rng) for kind in profile.weights}
    kinds = _shuffled([kind for kind, weight in profile.weights.items() for _ in range(weight)], rng)
    for kind in kinds:
        first = next(targets[kind])
        yield kind, f"{first}+{next(targets[kind])}" if kind == "kill_two" else first


def _shuffled(cards: Sequence[str], rng: Random) -> Iterator[str]:
    for _ in cycle("~"):
        deck = list(cards)
        rng.shuffle(deck)
        yield from deck


def _amount(kind: str, rng: Random) -> float:
    match kind:
        case "slow":
            return round(rng.uniform(0.02, 0.3), 3)  # seconds, each way
        case "redeliver":
            return rng.choice((20, 100, 100_000))  # records back; the last is all of them
        case "kill" | "kill_two" | "restart" | "bereave":
            return rng.choice((0, 0, 0, 1))  # also while it starts
        case "outage" | "rebalance":
            return rng.choice((0, 1))  # in order, or not
        case _:
            return 0.0


def _fits(fault: Fault, before: Sequence[Fault]) -> bool:
    """One server is away at a time, and most processes are awake."""
    if fault.kind in SERVER_FAULTS:
        return all(earlier.until + REST_SECONDS < fault.at for earlier in before if earlier.kind in SERVER_FAULTS)
    if fault.kind == "freeze":
        frozen = [earlier for earlier in before if earlier.kind == "freeze" and earlier.until > fault.at]
        return len(frozen) < FROZEN_MOST and fault.target not in {earlier.target for earlier in frozen}
    return True
