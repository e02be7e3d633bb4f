"""`proto/asyncapi.yaml` describes the bus's messages, and AsyncAPI's own parser accepts it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from deploy.local.cache import Unprovided
from libs.bus.kafka.messages import written
from libs.bus.ports import Record
from libs.events import registry
from libs.events.contracts import read
from libs.events.contracts.__main__ import PROTO, main
from libs.events.topics import TOPICS
from libs.skills import LOADER
from tests.infrastructure.asyncapi import parsed

GOLDENS = sorted((PROTO / "golden").glob("*.json"))


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(yaml.load((PROTO / "asyncapi.yaml").read_text("utf-8"), LOADER))


@pytest.fixture(scope="module")
def both(document: dict[str, Any]) -> list[dict[str, list[str]]]:
    """Return the parser's output for the document, and for one with a mistake."""
    wrong = json.dumps({**document, "channels": {"a": {"address": 5}}})
    try:
        return parsed((PROTO / "asyncapi.yaml").read_text("utf-8"), wrong)
    except Unprovided as reason:
        pytest.skip(f"no AsyncAPI parser: {reason}")


@pytest.fixture(scope="module")
def told(both: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    return both[0]


@pytest.mark.slow
def test_asyncapis_own_parser_finds_nothing_wrong(told: dict[str, list[str]]) -> None:
    assert (told["error"], told["warning"]) == ([], [])


@pytest.mark.slow
def test_parser_reads_every_event_sender_and_receiver(told: dict[str, list[str]]) -> None:
    sends = {f"{service}.sends.{topic.name}" for topic in TOPICS.values() for service in topic.producers}
    receives = {f"{service}.receives.{topic.name}" for topic in TOPICS.values() for service in topic.consumers}
    assert set(told["messages"]) == set(registry)
    assert set(told["operations"]) == sends | receives


@pytest.mark.slow
def test_a_document_that_is_wrong_is_noticed(both: list[dict[str, list[str]]]) -> None:
    assert both[1]["error"]


@pytest.mark.parametrize("topic", TOPICS.values(), ids=lambda topic: topic.name)
def test_channel_matches_its_declared_topic(document: dict[str, Any], topic: Any) -> None:
    channel = document["channels"][topic.name]
    kafka = channel["bindings"]["kafka"]
    assert channel["address"] == kafka["topic"] == topic.name
    assert kafka["partitions"] == topic.partitions
    assert kafka["topicConfiguration"]["retention.ms"] == topic.retention.total_seconds() * 1000
    assert set(channel["messages"]) == {name for name, event in registry.items() if event.topic is topic}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_kafka_message_matches_the_document(document: dict[str, Any], golden: Path) -> None:
    event = read(json.loads(golden.read_text("utf-8")))
    data = event.data.model_dump_json(by_alias=True).encode()
    record = Record(event.topic.name, 0, 1, event.id, event.tenant, event.key, event.type, event.headers(), data)
    key, value, headers = written(record, safe=0)
    message = document["components"]["messages"][event.type]
    said = {"headers": {name: text.decode() for name, text in headers}, "payload": json.loads(value or b"")}
    for part, content in said.items():
        schema = {**message[part], "components": document["components"]}
        assert [wrong.message for wrong in Draft202012Validator(schema).iter_errors(content)] == []
    known = document["components"]["schemas"]["CloudEventHeaders"]["properties"]
    assert set(said["headers"]) - {"ce_type"} <= set(known)
    assert key.decode() == event.key


def test_removed_kafka_header_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = shutil.copytree(PROTO, tmp_path / "proto")
    older = yaml.load((proto / "asyncapi.yaml").read_text("utf-8"), LOADER)
    older["components"]["schemas"]["CloudEventHeaders"]["properties"]["ce_channel"] = {"type": "string"}
    (proto / "asyncapi.yaml").write_text(json.dumps(older), "utf-8")
    assert main([str(proto)]) == 1
    assert "the headers on Kafka: field `ce_channel` was removed" in capsys.readouterr().err


def test_a_stale_document_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = shutil.copytree(PROTO, tmp_path / "proto")
    (proto / "asyncapi.yaml").unlink()
    assert main(["--check", str(proto)]) == 1
    assert "asyncapi.yaml" in capsys.readouterr().err
