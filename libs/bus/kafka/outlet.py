"""Kafka as the relay's outlet: one idempotent producer that waits for every replica's acknowledgement.

The producer itself retries while a broker is away, without repeating or reordering. When it gives up or takes too long,
a new one replaces it; records in flight may then be stored twice, which the inbox makes harmless.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, ProducerClosed
from aiokafka.producer.message_accumulator import BatchBuilder

from libs.bus.kafka import broker
from libs.bus.kafka.broker import Address, answering, permitted
from libs.bus.kafka.messages import written
from libs.bus.ports import Record
from libs.events.topics import Topic

SEND_SECONDS = 30.0
START_SECONDS = 5.0
CLOSE_SECONDS = 3.0
BATCH_BYTES = 768 * 1024
"""More than the largest event with its attributes, and less than a topic's usual limit of 1 MiB."""


class Stretch(NamedTuple):
    """A stored batch: `offset` is its first record's, negative when the broker stored it before and cannot tell."""

    offset: int
    records: int


class KafkaOutlet:
    """Sends partitions side by side through one producer; the relay sends one batch per partition at a time."""

    def __init__(self, address: Address, member: str) -> None:
        self._address, self._member = address, member
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()

    async def declare(self, topics: Sequence[Topic]) -> None:
        await broker.declare(self._address, topics)

    async def send(self, records: Sequence[Record], *, safe: int) -> int | None:
        producer = await self._started()
        try:
            async with answering(SEND_SECONDS):
                with permitted(self._address):
                    first = await self._send(producer, records, safe)
        except BaseException:
            # It may hold a batch that it would retry forever.
            await self._drop(producer)
            raise
        return first

    async def close(self) -> None:
        if self._producer is not None:
            await self._drop(self._producer)

    async def _send(self, producer: AIOKafkaProducer, records: Sequence[Record], safe: int) -> int | None:
        topic, part = self._address.prefix + records[0].topic, records[0].part
        batch, stretches = producer.create_batch(), list[Stretch]()
        for record in records:
            key, value, headers = written(record, safe)
            if batch.append(timestamp=None, key=key, value=value, headers=headers) is None:
                stretches.append(await _sent(producer, batch, topic, part))
                batch = producer.create_batch()
                batch.append(timestamp=None, key=key, value=value, headers=headers)
        stretches.append(await _sent(producer, batch, topic, part))
        return beginning(stretches)

    async def _started(self) -> AIOKafkaProducer:
        if self._producer is not None:
            return self._producer
        async with self._starting:
            # Another send may have started it while this one waited for the lock.
            if self._producer is None:
                producer = AIOKafkaProducer(
                    **self._address.client(f"{self._member}-relay"),
                    acks="all",
                    enable_idempotence=True,
                    max_batch_size=BATCH_BYTES,
                )
                try:
                    async with answering(START_SECONDS):
                        await producer.start()
                except BaseException:
                    await _ended(producer)
                    raise
                self._producer = producer
            return self._producer

    async def _drop(self, producer: AIOKafkaProducer) -> None:
        if self._producer is producer:
            self._producer = None
            await _ended(producer)


def beginning(stretches: Sequence[Stretch]) -> int | None:
    """Return the first offset if all offsets are consecutive, without other writers' records between them."""
    expected = first = stretches[0].offset
    for stretch in stretches:
        if stretch.offset < 0 or stretch.offset != expected:
            return None
        expected += stretch.records
    return first


async def _sent(producer: AIOKafkaProducer, batch: BatchBuilder, topic: str, part: int) -> Stretch:
    told = await (await producer.send_batch(batch, topic, partition=part))
    return Stretch(told.offset, batch.record_count())


async def _ended(producer: AIOKafkaProducer) -> None:
    """Close a producer without waiting for records in flight.

    An idempotent producer would wait for them forever and offers no abort, so its tasks are cancelled by name.
    """
    sender = producer._sender
    with suppress(TimeoutError, KafkaError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await producer.client.close()
            await sender.close()
    producer._message_accumulator.fail_all(ProducerClosed())
    with suppress(TimeoutError, KafkaError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await producer.stop()
