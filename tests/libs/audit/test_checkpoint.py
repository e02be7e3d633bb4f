"""Checkpoints: signed states of a chain, and their file outside Postgres."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.audit.chain import genesis
from libs.audit.checkpoint import EVERY, EVERY_RECORDS, PURPOSE, Checkpoint, CheckpointFile, due, sign
from libs.keys import Keys

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sealed(keys: Keys, count: int = 7, tenant: str = "acme") -> Checkpoint:
    return sign(keys, tenant=tenant, count=count, head=genesis(tenant), time=NOW)


@pytest.mark.requirement("A36")
def test_a_checkpoint_holds_with_the_public_keys_alone(keys: Keys) -> None:
    assert sealed(keys).holds(keys.public(PURPOSE))


@pytest.mark.requirement("A36")
def test_a_checkpoint_by_another_key_does_not_hold(keys: Keys, foreign: Keys) -> None:
    assert not sealed(foreign).holds(keys.public(PURPOSE))


@pytest.mark.requirement("A36")
@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"count": 8},
        {"head": "00" * 32},
        {"time": NOW + timedelta(microseconds=1)},
        {"closes": "export-1"},
        {"signature": ""},
        {"signature": "zz" * 64},
        {"key_id": ""},
    ],
)
def test_a_changed_checkpoint_does_not_hold(keys: Keys, change: dict[str, Any]) -> None:
    assert not sealed(keys).model_copy(update=change).holds(keys.public(PURPOSE))


@pytest.mark.requirement("S3-59")
def test_a_checkpoint_outlives_the_rotation_of_its_key(fresh: Keys) -> None:
    before = sealed(fresh)
    fresh.rotate(PURPOSE)
    assert before.holds(fresh.public(PURPOSE))


@pytest.mark.parametrize(
    ("unsealed", "waited", "is_due"),
    [
        (EVERY_RECORDS, timedelta(0), True),
        (EVERY_RECORDS - 1, EVERY - timedelta(seconds=1), False),
        (1, EVERY, True),
        (0, 10 * EVERY, False),
    ],
)
def test_a_checkpoint_is_due_after_enough_records_or_enough_time(
    unsealed: int, waited: timedelta, is_due: bool
) -> None:
    assert due(unsealed=unsealed, since=NOW, now=NOW + waited) is is_due


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "checkpoints.jsonl")


@pytest.mark.requirement("A36")
def test_checkpoint_file_returns_its_lines_in_order(keys: Keys, file: CheckpointFile) -> None:
    written = [sealed(keys, count) for count in (1, 2, 3)]
    for checkpoint in written:
        file.append(checkpoint)
    assert list(file.read()) == written


def test_the_file_can_be_read_for_one_tenant(keys: Keys, file: CheckpointFile) -> None:
    file.append(sealed(keys, tenant="acme"))
    file.append(sealed(keys, tenant="other"))
    assert [checkpoint.tenant for checkpoint in file.read("other")] == ["other"]


def test_a_file_that_was_never_written_is_empty(file: CheckpointFile) -> None:
    assert list(file.read()) == []


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_partial_line_after_a_crash_damages_no_other_line(keys: Keys, file: CheckpointFile, cut: int) -> None:
    first, torn, last = (sealed(keys, count) for count in (1, 2, 3))
    file.append(first)
    file.append(torn)
    file.path.write_bytes(file.path.read_bytes()[:-cut])
    file.append(last)
    # In the first case only the line break was lost, so the checkpoint still counts.
    assert list(file.read()) == [first, *([torn] if cut == 1 else []), last]


def test_writers_side_by_side_do_not_mix_their_lines(keys: Keys, file: CheckpointFile) -> None:
    written = [sealed(keys, count) for count in range(1, 21)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(file.append, written))
    assert sorted(file.read(), key=lambda checkpoint: checkpoint.count) == written


def test_only_the_owner_may_read_the_file(keys: Keys, file: CheckpointFile) -> None:
    file.append(sealed(keys))
    assert file.path.stat().st_mode & 0o077 == 0
