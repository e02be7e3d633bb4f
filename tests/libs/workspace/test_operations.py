"""Operations are data: an operation read from the log equals the one that was written."""

from __future__ import annotations

import base64
import json

import pytest
from pydantic import ValidationError

from libs.workspace.errors import BadContent
from libs.workspace.operations import (
    INLINE_MAX,
    AnyOperation,
    Batch,
    Blob,
    Copy,
    Create,
    Delete,
    Inline,
    Move,
    Operation,
    Rename,
    Write,
)

EACH: list[AnyOperation] = [
    Create(path="a", content=Inline.of(b"\0\xff"), reason="why"),
    Create(path="d", directory=True, mode=0o700),
    Write(path="a", content=Blob(sha256="0" * 64, size=3)),
    Move(path="a", target="b", seen={"a": "1:2:3:4"}),
    Rename(path="a", new_name="b"),
    Copy(path="a", target="b"),
    Delete(path="a"),
    Batch(operations=(Delete(path="a"), Move(path="b", target="a")), reason="swap"),
]


@pytest.mark.requirement("S4-19")
@pytest.mark.parametrize("operation", EACH, ids=lambda operation: operation.kind)
def test_operation_survives_a_json_round_trip(operation: AnyOperation) -> None:
    row = json.loads(Operation(operation).model_dump_json())
    assert Operation.model_validate(row).root == operation


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "chown", "path": "a"},
        {"kind": "delete"},
        {"kind": "delete", "path": "a", "force": True},
        {"kind": "create", "path": "a", "directory": True, "content": {"base64": ""}},
        {"kind": "create", "path": "a", "content": {"base64": "%%%"}},
        {"kind": "write", "path": "a", "content": {"sha256": "../../etc", "size": 1}},
        {"kind": "create", "path": "a", "mode": 0o4755},
    ],
)
def test_row_that_is_no_operation_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Operation.model_validate(row)


def test_large_content_does_not_travel_inline() -> None:
    with pytest.raises(BadContent):
        Inline.of(bytes(INLINE_MAX + 1))
    with pytest.raises(ValidationError):
        Inline(base64=base64.b64encode(bytes(INLINE_MAX + 3)).decode())
