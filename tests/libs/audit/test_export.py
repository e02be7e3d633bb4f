"""The export: lines that can be verified on their own."""

import json
from typing import Any

import pytest

from libs.audit.checkpoint import PURPOSE, Checkpoint
from libs.keys import Keys
from tests.libs.audit.exports import Log


def parsed(lines: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


@pytest.mark.requirement("A36")
def test_each_checkpoint_directly_follows_its_records(lines: list[bytes]) -> None:
    kinds = "".join(line["kind"][0] for line in parsed(lines))
    assert kinds == "h" + "rrrc" * 3 + "r" + "c"


@pytest.mark.requirement("A36")
def test_the_header_names_every_key_that_a_checkpoint_may_need(lines: list[bytes], keys: Keys) -> None:
    header, *_ = parsed(lines)
    assert header["keys"] == {key_id: raw.hex() for key_id, raw in keys.public(PURPOSE).items()}


@pytest.mark.requirement("A36")
def test_the_last_line_closes_this_very_export(lines: list[bytes], keys: Keys) -> None:
    header, *_, last = parsed(lines)
    assert last.pop("kind") == "checkpoint"
    closing = Checkpoint.model_validate(last)
    assert (closing.closes, closing.count) == (header["export"], 10)
    assert closing.holds(keys.public(PURPOSE))


@pytest.mark.requirement("A36")
async def test_checkpoints_beyond_the_last_row_are_not_left_out(log: Log) -> None:
    exported = parsed(await log.exported(log.entries()[:5]))
    assert [line["count"] for line in exported if line["kind"] == "checkpoint"] == [3, 6, 9, 5]


async def test_a_chain_without_records_is_header_and_closing(keys: Keys) -> None:
    exported = parsed(await Log(keys, "acme", ()).exported())
    assert [line["kind"] for line in exported] == ["header", "checkpoint"]
