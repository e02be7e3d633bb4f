"""The catalogue: what it says of the services is what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.events.topics import EVERYONE, TOPICS
from services import catalog

ROOT = Path(__file__).parents[2]


def test_catalogue_lists_exactly_the_service_folders() -> None:
    folders = {path.parent.name for path in (ROOT / "services").glob("*/service.py")}
    assert set(catalog.NAMES) == folders


def test_every_producer_and_consumer_of_a_topic_is_a_service() -> None:
    named = {name for topic in TOPICS.values() for name in (*topic.producers, *topic.consumers)}
    assert named | set(EVERYONE) <= set(catalog.NAMES)


def test_no_two_services_share_a_port() -> None:
    ports = [entry.port for entry in catalog.SERVICES]
    assert len(set(ports)) == len(ports)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(catalog.UnknownService, match=r"no service 'gatway'.*gateway"):
        catalog.entry("gatway")
