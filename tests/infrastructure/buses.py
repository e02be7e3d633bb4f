"""A process's platform whose bus is Kafka: what `infrastructure.platform` makes, with the relay's route beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocol
from aiokafka.errors import CoordinatorNotAvailableError

from libs.bus import relay
from libs.bus.kafka import Address, KafkaBus, KafkaOutlet
from libs.bus.postgres import PostgresBus
from libs.bus.relay import Route
from libs.database import Dsns
from libs.events.topics import TOPICS
from libs.runtime.platform import Platform
from tests import infrastructure

SESSION_SECONDS = 2.0
"""Short, so that a member which is stopped is missed soon."""


@asynccontextmanager
async def kafka_platform(
    where: Dsns, address: Address, member: str | None = None, **ports: Any
) -> AsyncIterator[Platform]:
    async with infrastructure.platform(where, member, **ports) as made:
        bus = KafkaBus(address, made.member, session=SESSION_SECONDS, scan=infrastructure.SCAN_SECONDS)
        log = PostgresBus(made.database, made.member, scan=infrastructure.SCAN_SECONDS)
        route = Route(log, KafkaOutlet(address, made.member))
        yield replace(made, **{"bus": bus, "route": route, "log_readers": relay.readers, **ports})


async def forget(address: Address) -> None:
    """Remove our topics, so that a broker of many tests does not fill."""
    async with _administrator(address) as administrator:
        await administrator.delete_topics([address.prefix + topic for topic in TOPICS])


async def shares(address: Address, group: str) -> dict[str, int]:
    """How many partitions each member of a group has, by Kafka's name for it; empty while they are being shared out."""
    async with _administrator(address) as administrator:
        try:
            (answer,) = await administrator.describe_consumer_groups([address.prefix + group])
        except CoordinatorNotAvailableError:  # it has just begun
            return {}
    (described,) = answer.to_object()["groups"]
    if described["state"] != "Stable":
        return {}
    return {
        member["member_id"]: sum(
            len(parts) for _, parts in ConsumerProtocol.ASSIGNMENT.decode(member["member_assignment"]).assignment
        )
        for member in described["members"]
    }


@asynccontextmanager
async def _administrator(address: Address) -> AsyncIterator[AIOKafkaAdminClient]:
    administrator = AIOKafkaAdminClient(**address.client("tests"))
    try:
        await administrator.start()
        yield administrator
    finally:
        await administrator.close()
