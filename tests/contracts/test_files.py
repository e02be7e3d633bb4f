"""`proto/` matches the classes, and incompatible changes do not overwrite it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from libs.events import registry
from libs.events.contracts.__main__ import PROTO, main
from libs.events.topics import TOPICS
from services import catalog

MESSAGE = "events/suma.message.received.v1.json"


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    """Return a copy of the committed folder."""
    return shutil.copytree(PROTO, tmp_path / "proto")


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    schema = json.loads(path.read_text("utf-8"))
    change(schema)
    path.write_text(json.dumps(schema), "utf-8")


def fields(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["$defs"]["MessageReceived"]["properties"]
    return found


def test_committed_documents_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_stale_schema_is_named(proto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(proto / MESSAGE, lambda schema: schema.update(description="older"))
    assert main(["--check", str(proto)]) == 1
    assert "is stale; run `make contracts`" in (told := capsys.readouterr().err)
    assert MESSAGE in told


def test_a_missing_schema_is_written_and_then_all_is_fresh(proto: Path) -> None:
    (proto / MESSAGE).unlink()
    assert main([str(proto)]) == 0
    assert main(["--check", str(proto)]) == 0


def test_a_new_optional_field_is_written(proto: Path) -> None:
    edit(proto / MESSAGE, lambda schema: fields(schema).pop("skill"))
    assert main([str(proto)]) == 0
    assert "skill" in fields(json.loads((proto / MESSAGE).read_text("utf-8")))


@pytest.mark.parametrize("flags", [[], ["--check"]])
def test_removed_field_is_refused_and_nothing_is_written(
    proto: Path, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    edit(proto / MESSAGE, lambda schema: fields(schema).update(channel={"type": "string"}))
    before = (proto / MESSAGE).read_text("utf-8")
    assert main([*flags, str(proto)]) == 1
    assert (proto / MESSAGE).read_text("utf-8") == before
    assert "field `data.channel` was removed. Declare suma.message.received.v2 beside it" in capsys.readouterr().err


def test_removed_event_class_is_refused(proto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (proto / "events/suma.message.shouted.v1.json").write_text("{}", "utf-8")
    assert main([str(proto)]) == 1
    assert "suma.message.shouted.v1 has no class any more" in capsys.readouterr().err


def test_another_number_of_partitions_is_refused(proto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = proto / "topics.yaml"
    path.write_text(path.read_text("utf-8").replace("partitions: 6", "partitions: 8", 1), "utf-8")
    assert main([str(proto)]) == 1
    assert "partitions changed from 8 to 6" in capsys.readouterr().err


def test_an_event_without_an_example_is_named(proto: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (proto / "golden/suma.tool.failed.v1.json").unlink()
    assert main(["--check", str(proto)]) == 1
    assert "golden/suma.tool.failed.v1.json" in capsys.readouterr().err


def test_catalogue_lists_every_event_with_topic_and_description() -> None:
    topics = yaml.safe_load((PROTO / "topics.yaml").read_text("utf-8"))
    told = {event: (name, says) for name, topic in topics.items() for event, says in topic["events"].items()}
    assert {event: topic for event, (topic, _) in told.items()} == {n: e.topic.name for n, e in registry.items()}
    assert all(says for _, says in told.values())


@pytest.mark.parametrize("topic", TOPICS.values(), ids=lambda topic: topic.name)
def test_producers_and_consumers_of_topics_are_services(topic: Any) -> None:
    assert {*topic.producers, *topic.consumers} <= set(catalog.NAMES)
