"""The bus as an AsyncAPI 3 document: every topic with its events, who sends and who receives them, and what a message
on Kafka looks like (CloudEvents in binary mode: attributes in headers, the data as JSON)."""

from __future__ import annotations

from typing import Any

from libs.events import registry
from libs.events.contracts.documents import MEDIA_TYPE
from libs.events.contracts.schemas import ATTRIBUTES, REQUIRED, components, sentence
from libs.events.topics import TOPICS, Topic

VERSION = "3.0.0"
BINDING = "0.5.0"
"""Of the Kafka bindings."""

HEADERS = "CloudEventHeaders"
ABOUT = (
    "How the services speak to each other. Each message is a CloudEvent 1.0.2 in binary mode. Its key is that of its "
    "partition; of one key the order is kept, and the same event may be delivered again. An installation may put a "
    "prefix before the names of topics and groups (SUMA_KAFKA__PREFIX). Consumers ignore fields that they do not know."
)

LOGGED = (
    "Of the transport: the record's position in our log, and up to which position all of that partition was in the "
    "topic before it. For whoever goes on from both; others take no notice."
)


def asyncapi() -> dict[str, Any]:
    """The whole document."""
    references, schemas = components(registry.values(), "#/components/schemas/{model}")
    messages = {name: _message(name, references[event]) for name, event in sorted(registry.items())}
    return {
        "asyncapi": VERSION,
        "info": {"title": "Suma's bus", "version": "1", "description": ABOUT},
        "defaultContentType": MEDIA_TYPE,
        "channels": {name: _channel(topic) for name, topic in TOPICS.items()},
        "operations": {name: part for topic in TOPICS.values() for name, part in _operations(topic).items()},
        "components": {"messages": messages, "schemas": {HEADERS: headers(), **schemas}},
    }


def headers() -> dict[str, Any]:
    """What every message has in its headers."""
    return {
        "description": "The CloudEvent's attributes, each with `ce_` before it; its type is the message's name.",
        "type": "object",
        "properties": {_header(name): {"type": "string", **schema} for name, schema in ATTRIBUTES.items()}
        | {"suma-log": {"type": "string", "pattern": r"^\d+ \d+$", "description": LOGGED}},
        "required": [_header(name) for name in (*REQUIRED, "datacontenttype") if name != "data"],
    }


def _header(attribute: str) -> str:
    return "content-type" if attribute == "datacontenttype" else f"ce_{attribute}"


def _channel(topic: Topic) -> dict[str, Any]:
    kept = int(topic.retention.total_seconds() * 1000)
    events = sorted(name for name, event in registry.items() if event.topic is topic)
    return {
        "address": topic.name,
        "description": f"From {_listed(topic.producers)} to {_listed(topic.consumers)}.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in events},
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {"cleanup.policy": ["delete"], "retention.ms": kept},
                "bindingVersion": BINDING,
            }
        },
    }


def _operations(topic: Topic) -> dict[str, Any]:
    channel = {"$ref": f"#/channels/{topic.name}"}
    sent = {
        f"{service}.sends.{topic.name}": {"action": "send", "channel": channel, "tags": [{"name": service}]}
        for service in topic.producers
    }
    received = {
        f"{service}.receives.{topic.name}": {
            "action": "receive",
            "channel": channel,
            "tags": [{"name": service}],
            "bindings": {"kafka": {"groupId": {"type": "string", "const": service}, "bindingVersion": BINDING}},
        }
        for service in topic.consumers
    }
    return sent | received


def _message(name: str, data: dict[str, Any]) -> dict[str, Any]:
    own = {"type": "object", "properties": {"ce_type": {"type": "string", "const": name}}, "required": ["ce_type"]}
    return {
        "name": name,
        "title": name,
        "summary": sentence(registry[name]),
        "contentType": MEDIA_TYPE,
        "headers": {"type": "object", "allOf": [{"$ref": f"#/components/schemas/{HEADERS}"}, own]},
        "correlationId": {"location": "$message.header#/ce_correlationid"},
        "payload": data,
        "bindings": {
            "kafka": {
                "key": {"type": "string", "description": "`tenant:session`, or `tenant:subject` without a session."},
                "bindingVersion": BINDING,
            }
        },
    }


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)
