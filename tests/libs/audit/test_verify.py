"""The offline verifier reports the first bad record after any change to the export or the database."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.audit.chain import record_of
from libs.audit.checkpoint import PURPOSE, CheckpointFile
from libs.audit.verify import MAX_LINE, verify
from libs.keys import Keys
from tests.libs.audit.exports import EXPORTED, Log, checkpoint_at, event, record_at, relinked, rewritten
from tests.support.examples import examples


def found(lines: list[bytes], said: str = "") -> int | None:
    """Verify an export that must fail; check its problem and return the first bad position."""
    report = verify(lines)
    assert not report.ok
    assert report.problem
    assert said in report.problem
    assert "\n" not in report.problem
    return report.first_bad


@pytest.mark.requirement("A36")
def test_a_whole_export_verifies_by_itself(lines: list[bytes]) -> None:
    report = verify(lines)
    assert (report.ok, report.count, report.first_bad, report.tenant) == (True, 10, None, "acme")


@pytest.mark.requirement("A36")
def test_a_file_verifies_as_its_lines_do(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b"".join(lines))
    assert verify(path) == verify(lines)


async def test_an_empty_chain_verifies(keys: Keys) -> None:
    assert verify(await Log(keys, "acme", ()).exported()).ok


@pytest.mark.requirement("A36", "P6")
@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_one_byte_changed_anywhere_is_found_at_its_record(kept: list[bytes], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(kept) - 1))
    line = bytearray(kept[number])
    at, value = data.draw(st.integers(0, len(line) - 1)), data.draw(st.integers(0, 255))
    if line[at] == value:
        return
    line[at] = value
    place = found([*kept[:number], bytes(line), *kept[number + 1 :]])
    position = json.loads(kept[number]).get("position")
    assert position is None or place == position


@pytest.fixture(scope="session")
async def kept(keys: Keys) -> list[bytes]:
    """One export for all examples of a property."""
    return await Log(keys, "acme", tuple(dict(record_of(event(number))) for number in range(1, 11))).exported()


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("position", range(1, 11))
def test_a_removed_record_is_named(lines: list[bytes], position: int) -> None:
    del lines[record_at(lines, position)]
    assert found(lines, "cut out" if position in (3, 6, 9, 10) else f"record {position} is missing") == position


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("position", range(1, 10))
def test_first_of_two_swapped_records_is_named(lines: list[bytes], position: int) -> None:
    one, other = record_at(lines, position), record_at(lines, position + 1)
    lines[one], lines[other] = lines[other], lines[one]
    assert found(lines) == position


@pytest.mark.requirement("A36")
def test_swapped_records_that_keep_their_numbers_are_named(lines: list[bytes]) -> None:
    one, other = record_at(lines, 4), record_at(lines, 5)
    records = [json.loads(lines[at])["record"] for at in (one, other)]
    lines[one], lines[other] = rewritten(lines[one], record=records[1]), rewritten(lines[other], record=records[0])
    assert found(lines) == 4


@pytest.mark.requirement("A36")
def test_duplicate_record_is_reported_at_its_second_position(lines: list[bytes]) -> None:
    at = record_at(lines, 4)
    lines.insert(at, lines[at])
    assert found(lines, "record 4 is repeated") == 5


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("number", [0, -5, 4, 6, 50])
def test_a_record_with_another_number_is_named(lines: list[bytes], number: int) -> None:
    at = record_at(lines, 5)
    lines[at] = rewritten(lines[at], position=number)
    assert found(lines) == 5


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("count", [3, 6, 9])
def test_a_tail_cut_behind_a_checkpoint_is_found(lines: list[bytes], count: int) -> None:
    assert found(lines[: checkpoint_at(lines, count) + 1]) == count + 1


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("count", [3, 6, 9])
def test_tail_cut_before_the_final_checkpoint_is_found(lines: list[bytes], count: int) -> None:
    assert found([*lines[: checkpoint_at(lines, count) + 1], lines[-1]]) == count + 1


@pytest.mark.requirement("A36")
def test_records_that_nothing_seals_are_not_believed(lines: list[bytes]) -> None:
    assert found(lines[:-1]) == 10


@pytest.mark.requirement("A36")
@pytest.mark.parametrize("position", [1, 5, 10])
def test_relinked_change_is_found_at_the_next_checkpoint(lines: list[bytes], position: int) -> None:
    at = record_at(lines, position)
    record = json.loads(lines[at])["record"]
    lines[at] = rewritten(lines[at], record=record | {"id": "forged"})
    # Records between two checkpoints cannot be told apart, so the first of them is reported.
    assert found(relinked(lines)) == {1: 1, 5: 4, 10: 10}[position]


@pytest.mark.requirement("A36")
def test_removal_with_recomputed_links_is_found(lines: list[bytes]) -> None:
    del lines[record_at(lines, 5)]
    # The links up to 5 are consistent again, but the checkpoint covers 6.
    assert found(relinked(lines)) == 6


@pytest.mark.requirement("A36")
def test_a_forged_checkpoint_is_found(lines: list[bytes], log: Log, foreign: Keys) -> None:
    forged = replace(log, keys=foreign).checkpoints()[1]
    lines[checkpoint_at(lines, 6)] = rewritten(lines[checkpoint_at(lines, 6)], **forged.model_dump(mode="json"))
    report = verify(lines)
    assert (report.ok, report.first_bad) == (False, 4)
    assert "forged" in report.problem


@pytest.mark.requirement("A36")
def test_a_checkpoint_moved_elsewhere_is_found(lines: list[bytes]) -> None:
    lines.insert(record_at(lines, 5), lines.pop(checkpoint_at(lines, 3)))
    assert found(lines, "is misplaced after record 5") == 1


@pytest.mark.requirement("A36")
async def test_the_closing_checkpoint_of_another_export_is_found(lines: list[bytes], log: Log) -> None:
    header, *_ = await log.exported()
    assert found([rewritten(header, export="export-2"), *lines[1:]]) == 10


@pytest.mark.requirement("A36")
async def test_a_record_of_another_tenant_is_named(log: Log) -> None:
    mixed = replace(log, records=(*log.records[:6], dict(record_of(event(7, "other"))), *log.records[7:]))
    assert found(await mixed.exported()) == 7


@pytest.mark.requirement("A36")
async def test_another_tenants_chain_does_not_pass_under_this_ones_name(log: Log) -> None:
    others = await replace(log, tenant="other").exported()
    renamed = rewritten(others[0], tenant="acme")
    assert found([renamed, *others[1:]]) is None


@pytest.mark.requirement("A36")
def test_line_after_the_closing_checkpoint_is_refused(lines: list[bytes]) -> None:
    for extra in (lines[-1], lines[record_at(lines, 10)]):
        assert found([*lines, extra], "continues after") == 11


@pytest.mark.requirement("A36")
def test_a_key_in_the_header_has_one_spelling(lines: list[bytes]) -> None:
    shouted = {key_id: raw.upper() for key_id, raw in json.loads(lines[0])["keys"].items()}
    assert found([rewritten(lines[0], keys=shouted), *lines[1:]]) is None


@pytest.mark.parametrize(
    "extra", [b"", b"\n", b"null\n", b"[]\n", b"[" * 10_000, b'{"kind":"note"}\n', b"{" * (MAX_LINE + 1)]
)
def test_foreign_line_is_refused_at_its_position(lines: list[bytes], extra: bytes) -> None:
    lines.insert(record_at(lines, 5), extra)
    assert found(lines) == 5


@pytest.mark.parametrize("spelling", [b"%s \n", b" %s\n", b"%s\r\n", b"%s"])
def test_a_line_in_another_spelling_is_refused(lines: list[bytes], spelling: bytes) -> None:
    at = record_at(lines, 5)
    lines[at] = spelling % lines[at].rstrip(b"\n")
    assert found(lines) == 5


@pytest.mark.requirement("A36")
def test_a_checkpoints_time_spelled_otherwise_is_refused(lines: list[bytes]) -> None:
    at = checkpoint_at(lines, 6)
    lines[at] = rewritten(lines[at], time=json.loads(lines[at])["time"].replace("Z", "+00:00"))
    assert found(lines) == 4


@pytest.mark.parametrize("lines", [[], [b"\n"]])
def test_an_export_without_a_header_is_refused(lines: list[bytes]) -> None:
    assert found(lines) is None


def test_lines_before_the_header_are_refused(lines: list[bytes]) -> None:
    assert found(lines[1:]) is None


@pytest.mark.requirement("A36", "S3-59")
async def test_export_across_a_key_rotation_verifies(fresh: Keys, log: Log) -> None:
    mine = replace(log, keys=fresh)
    before = mine.checkpoints()
    fresh.rotate(PURPOSE)
    report = verify(await mine.exported(checkpoints=before))
    assert (report.ok, len(report.signed_by)) == (True, 2)


@pytest.mark.requirement("A36")
async def test_export_signed_by_foreign_keys_fails(log: Log, keys: Keys, foreign: Keys) -> None:
    theirs = await replace(log, keys=foreign).exported()
    assert verify(theirs).ok
    report = verify(theirs, trusted_keys=keys.public(PURPOSE))
    assert (report.ok, report.first_bad) == (False, 1)


@pytest.mark.requirement("A36")
def test_our_own_export_passes_against_our_keys(lines: list[bytes], keys: Keys) -> None:
    assert verify(lines, trusted_keys=keys.public(PURPOSE)).ok


@pytest.mark.requirement("A36")
def test_outside_checkpoints_agree_with_an_honest_export(lines: list[bytes], log: Log) -> None:
    assert verify(lines, outside_checkpoints=log.checkpoints()).ok


async def rewritten_database(log: Log, position: int) -> list[bytes]:
    """The owner changed a record, relinked the chain and dropped the checkpoints before the export was signed."""
    changed = log.records[position - 1] | {"id": "forged"}
    other = replace(log, records=(*log.records[: position - 1], changed, *log.records[position:]))
    return await other.exported(checkpoints=())


@pytest.mark.requirement("A36")
async def test_a_rewritten_database_is_found_by_the_outside_checkpoints(log: Log) -> None:
    lines = await rewritten_database(log, 5)
    assert verify(lines).ok
    report = verify(lines, outside_checkpoints=log.checkpoints())
    assert (report.ok, report.first_bad) == (False, 4)


@pytest.mark.requirement("A36")
async def test_database_tail_cut_is_found_by_outside_checkpoints(log: Log) -> None:
    lines = await log.exported(log.entries()[:7], log.checkpoints()[:2])
    assert verify(lines).ok
    report = verify(lines, outside_checkpoints=log.checkpoints())
    assert (report.ok, report.first_bad) == (False, 8)


@pytest.mark.requirement("A36")
async def test_database_tail_cut_is_found_by_remaining_checkpoints(log: Log) -> None:
    assert found(await log.exported(log.entries()[:7])) == 8


def test_a_checkpoint_signed_after_the_export_says_nothing_about_it(lines: list[bytes], log: Log) -> None:
    last = replace(log, records=log.records * 2).entries()[-1]
    before, after = (log.seal(last, time=EXPORTED + timedelta(seconds=shift)) for shift in (-1, 1))
    assert verify(lines, outside_checkpoints=[after]).ok
    assert verify(lines, outside_checkpoints=[before]).first_bad == 11


@pytest.mark.requirement("A36")
def test_a_forged_outside_checkpoint_is_reported_as_such(lines: list[bytes], log: Log, foreign: Keys) -> None:
    report = verify(lines, outside_checkpoints=replace(log, keys=foreign).checkpoints())
    assert (report.ok, report.first_bad) == (False, None)
    assert "not signed by a trusted key" in report.problem


@pytest.mark.requirement("A36")
async def test_outside_checkpoints_that_contradict_each_other_show_a_rewritten_database(
    lines: list[bytes], log: Log
) -> None:
    other = replace(log, records=({"id": "forged"}, *log.records[1:]))
    report = verify(lines, outside_checkpoints=[*log.checkpoints(), *other.checkpoints()])
    assert not report.ok
    assert "contradict" in report.problem


@pytest.mark.requirement("A36")
def test_other_tenants_outside_checkpoints_are_passed_over(lines: list[bytes], log: Log, tmp_path: Path) -> None:
    file = CheckpointFile(tmp_path / "checkpoints.jsonl")
    for checkpoint in (*log.checkpoints(), *replace(log, tenant="other").checkpoints()):
        file.append(checkpoint)
    assert verify(lines, outside_checkpoints=file.read()).ok


def test_a_long_export_is_read_as_a_stream(lines: list[bytes]) -> None:
    read: list[int] = []

    def endless() -> Iterator[bytes]:
        for number, line in enumerate([*lines[: record_at(lines, 5)], *[b"garbage\n"] * 1000]):
            read.append(number)
            yield line

    report = verify(endless())
    assert (report.first_bad, read[-1]) == (5, record_at(lines, 5))


def test_sample_of_the_web_application_verifies() -> None:
    sample = Path(__file__).parents[3] / "services/gateway/web/tests/audit-export.jsonl"
    report = verify(sample)
    assert (report.ok, report.count) == (True, 3)
