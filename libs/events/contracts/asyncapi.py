"""The bus as an AsyncAPI 3 document: every topic with its events, producers and consumers, and the form of a Kafka
message (CloudEvents in binary mode: attributes in headers, the data as JSON).
"""

from __future__ import annotations

from typing import Any

from libs.events import registry
from libs.events.contracts.documents import MEDIA_TYPE
from libs.events.contracts.schemas import ATTRIBUTES, REQUIRED, components, sentence
from libs.events.topics import TOPICS, Topic

VERSION = "3.0.0"
BINDING = "0.5.0"
"""The version of the Kafka bindings."""

HEADERS = "CloudEventHeaders"
ABOUT = (
    "The events between the services. Each message is a CloudEvent 1.0.2 in binary mode. Its key determines the "
    "partition. Events of one key keep their order, and an event may be delivered more than once. An installation may "
    "add a prefix to the names of topics and groups (SUMA_KAFKA__PREFIX). Consumers ignore unknown fields."
)

LOGGED = (
    "Set by the transport: the record's position in the log of Suma, and the position up to which the whole partition "
    "was in the topic before it. Only consumers that continue from both need it."
)


def asyncapi() -> dict[str, Any]:
    """Return the whole document."""
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
    """Return the headers of every message."""
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
