"""The files that `proto/` should hold, and the differences from the present ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import yaml
from typing_extensions import override

from libs.events import registry
from libs.events.contracts.asyncapi import HEADERS, asyncapi
from libs.events.contracts.compatibility import breaks
from libs.events.contracts.schemas import schema, sentence
from libs.events.topics import TOPICS, Topic

Files: TypeAlias = Mapping[str, str]
"""Texts by their path in `proto/`."""

EVENTS, GOLDEN, CATALOGUE, BUS = "events", "golden", "topics.yaml", "asyncapi.yaml"
HEAD = "# Written from libs/events by `make contracts`: change the classes, not this file.\n"


@cache
def written() -> Files:
    """Return every file generated from the classes; constant while a process runs."""
    schemas = {f"{EVENTS}/{name}.json": _json(schema(event)) for name, event in sorted(registry.items())}
    return MappingProxyType({**schemas, CATALOGUE: _yaml(catalogue()), BUS: _yaml(asyncapi())})


def catalogue() -> dict[str, Any]:
    """Return the topics: producers, consumers and events."""
    return {name: _topic(topic) for name, topic in TOPICS.items()}


def stale(folder: Path, files: Files) -> list[str]:
    """Return the files in `folder` that are stale."""
    return [path for path, text in files.items() if _text(folder / path) != text]


def incompatibilities(folder: Path, files: Files) -> list[str]:
    """Return the changes that break old events or their consumers, one sentence each."""
    found = []
    for path in sorted((folder / EVENTS).glob("*.json")):
        name = path.stem
        if name not in registry:
            found.append(f"{name} has no class any more: old events must load for ever")
        else:
            new = json.loads(files[f"{EVENTS}/{name}.json"])
            reasons = breaks(json.loads(path.read_text("utf-8")), new)
            found += [f"{name}: {reason}. Declare {_next(name)} beside it" for reason in reasons]
    return found + _moved(folder, files) + _reworded(folder, files)


def without_example(folder: Path) -> list[str]:
    """Return the events without an example."""
    return [name for name in sorted(registry) if not (folder / GOLDEN / f"{name}.json").exists()]


def _topic(topic: Topic) -> dict[str, Any]:
    events = {name: sentence(event) for name, event in sorted(registry.items()) if event.topic is topic}
    return {
        "partitions": topic.partitions,
        "retention": f"P{topic.retention.days}D",
        "key": "tenant:session",
        "producers": list(topic.producers),
        "consumers": list(topic.consumers),
        "events": events,
    }


def _moved(folder: Path, files: Files) -> list[str]:
    """With another number of partitions, a key's next event could overtake those still waiting."""
    old = _loaded(_text(folder / CATALOGUE))
    new = _loaded(files[CATALOGUE])
    gone = [f"topic {name} was removed: its retained events would have no reader" for name in old if name not in new]
    return gone + [
        f"topic {name}: partitions changed from {was['partitions']} to {new[name]['partitions']}, "
        f"which breaks the order of keys that have events waiting. Declare another topic"
        for name, was in old.items()
        if name in new and was["partitions"] != new[name]["partitions"]
    ]


def _reworded(folder: Path, files: Files) -> list[str]:
    """Consumers that read the headers of a Kafka message must still find them."""
    old, new = (_loaded(text) for text in (_text(folder / BUS), files[BUS]))
    if not old:
        return []
    had, has = (document["components"]["schemas"][HEADERS] for document in (old, new))
    return [f"the headers on Kafka: {reason}" for reason in breaks(had, has)]


def _next(name: str) -> str:
    """Return the type of the next version."""
    stem, version = name.rsplit(".v", 1)
    return f"{stem}.v{int(version) + 1}"


def _loaded(text: str | None) -> dict[str, Any]:
    """Load with libyaml, which is ten times as fast."""
    return dict(yaml.load(text or "{}", yaml.CSafeLoader))


def _text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


class _Whole(yaml.SafeDumper):
    """A YAML dumper that repeats shared parts instead of using aliases, which many readers do not follow."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(value: Any) -> str:
    return HEAD + yaml.dump(value, Dumper=_Whole, sort_keys=False, allow_unicode=True, width=120)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
