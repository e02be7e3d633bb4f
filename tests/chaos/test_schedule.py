"""A schedule is made of its seed alone, forgets no kind of fault and no target, and leaves the platform a chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from tests.chaos.profiles import PROFILES, Profile
from tests.chaos.schedule import FROZEN_MOST, LEASE_SECONDS, SERVER_FAULTS, Fault, schedule

every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
LONG = 1800.0


def made(profile: Profile, seed: int = 1) -> Sequence[Fault]:
    return schedule(profile, seed=seed, seconds=LONG)


@every_profile
def test_equal_seeds_give_equal_schedules_and_others_do_not(profile: Profile) -> None:
    assert made(profile) == made(profile)
    assert made(profile) != made(profile, seed=2)


@every_profile
def test_shorter_run_of_a_seed_begins_the_longer_one(profile: Profile) -> None:
    short = schedule(profile, seed=1, seconds=60)
    assert short == made(profile)[: len(short)]


@every_profile
def test_half_an_hour_has_every_fault_on_every_target(profile: Profile) -> None:
    hit = {(fault.kind, target) for fault in made(profile) for target in fault.target.split("+")}
    processes_and_servers = [kind for kind in profile.weights if kind not in ("cut", "hold", "slow", "refuse")]
    assert {kind for kind, _ in hit} == set(profile.weights)
    assert {(kind, target) for kind in processes_and_servers for target in profile.targets(kind)} <= hit


@every_profile
def test_frozen_processes_outlast_any_lease_and_most_stay_awake(profile: Profile) -> None:
    frozen = [fault for fault in made(profile) if fault.kind == "freeze"]
    assert all(fault.seconds > LEASE_SECONDS for fault in frozen)
    asleep = [sum(other.at <= fault.at < other.until for other in frozen) for fault in frozen]
    assert max(asleep) <= FROZEN_MOST


@every_profile
def test_one_server_is_away_at_a_time(profile: Profile) -> None:
    away = [fault for fault in made(profile) if fault.kind in SERVER_FAULTS]
    assert all(earlier.until < later.at for earlier, later in pairwise(away))
