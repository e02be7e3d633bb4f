"""Connect to Kafka: addresses and credentials, error translation, and topic creation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.conn import AIOKafkaConnection, collect_hosts
from aiokafka.errors import (
    AuthenticationFailedError,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    for_code,
)
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.metadata import MetadataRequest
from typing_extensions import override

from libs.errors import Rejected, Unavailable
from libs.events.topics import Topic

REQUEST_SECONDS = 15.0
"""Seconds for one request. Joining a group takes as long as its slowest member, at most the session timeout."""
ASK_SECONDS = 3.0
"""Seconds for a request that a healthy broker answers at once."""
DECLARE_SECONDS = 30.0
CREDENTIALS = "SUMA_KAFKA__SECURITY_PROTOCOL, SUMA_KAFKA__SASL_USERNAME and its password"
SEEN_SECONDS = 0.1
SELDOM_SECONDS = 30.0
REFUSALS = (AuthenticationFailedError, SaslAuthenticationFailed, UnsupportedSaslMechanismError)
UNPERMITTED = (TopicAuthorizationFailedError, GroupAuthorizationFailedError, ClusterAuthorizationFailedError)
CHATTY = ("client", "conn", "cluster", "consumer.fetcher", "consumer.group_coordinator", "producer.sender")


class KafkaDown(Unavailable):
    """Kafka does not answer."""

    code = "KAFKA_UNAVAILABLE"


class BadKafka(Rejected):
    """Kafka's settings contradict each other, or name unreadable files."""

    code = "BAD_KAFKA"


class KafkaRefused(Rejected):
    """Kafka answers but refuses this user, or its request; correct the credentials or the user's permissions."""

    code = "KAFKA_REFUSED"


class BadTopic(Rejected):
    """An existing topic differs from its declaration."""

    code = "BAD_TOPIC"


@dataclass(frozen=True, slots=True)
class Address:
    """A cluster and the client's identity there.

    `prefix` precedes the names of all topics and groups, so several installations may share a cluster.
    `instance` makes group membership static: a restart within the session timeout moves no partition.
    """

    bootstrap: str
    prefix: str = ""
    replication: int = 1
    instance: str | None = None
    protocol: str = "PLAINTEXT"
    mechanism: str = "PLAIN"
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    def client(self, name: str) -> dict[str, Any]:
        """Return the arguments that every Kafka client gets. Raises `BadKafka`."""
        _quieten()
        return {
            "bootstrap_servers": self.bootstrap,
            "client_id": name,
            "request_timeout_ms": int(REQUEST_SECONDS * 1000),
            "security_protocol": self.protocol,
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.username,
            "sasl_plain_password": self.password,
            "ssl_context": self._tls() if self.protocol.endswith("SSL") else None,
        }

    def _tls(self) -> SSLContext:
        try:
            context: SSLContext = create_ssl_context(
                cafile=self.ca_file, certfile=self.cert_file, keyfile=self.key_file
            )
        except OSError as error:
            raise BadKafka(f"Kafka's certificates cannot be used: {error}") from error
        return context


class Seldom(logging.Filter):
    """While a broker is away, the client logs that several times a second; keep one line in a while."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        now, last = time.monotonic(), self._said.get(str(record.msg))
        if last is not None and now - last < SELDOM_SECONDS:
            return False
        self._said[str(record.msg)] = now
        return True


def _quieten() -> None:
    for name in CHATTY:
        chatty = logging.getLogger(f"aiokafka.{name}")
        if not chatty.filters:
            chatty.addFilter(Seldom())


@asynccontextmanager
async def answering(seconds: float = REQUEST_SECONDS) -> AsyncIterator[None]:
    """Bound a request in time and translate its errors.

    Raises:
        KafkaDown: Kafka refuses, disconnects, or does not answer in time.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise KafkaDown(f"Kafka did not answer within {seconds:g} s") from error
    except (KafkaError, OSError) as error:
        raise KafkaDown(f"{type(error).__name__}: {error}") from error


@contextmanager
def permitted(address: Address) -> Iterator[None]:
    """Translate the refusal of a permission, which trying again would not change. Raises `KafkaRefused`."""
    try:
        yield
    except UNPERMITTED as error:
        raise KafkaRefused(f"Kafka refuses {address.username}: {error}; see deploy/kafka/provision.sh") from error


async def reach(address: Address) -> str:
    """Check that Kafka accepts this client. Return the brokers' address.

    Raises:
        KafkaRefused: a broker answers, and refuses the user, the password, or a client without them.
        KafkaDown: no broker answers, or the TLS settings are wrong.
    """
    await _sign_in(address)
    async with _administrator(address):
        return address.bootstrap


async def alive(address: Address) -> None:
    """Return once a broker has answered. Raises KafkaDown."""
    async with _administrator(address):
        pass


async def _sign_in(address: Address) -> None:
    """Sign in to the first broker that answers. Clients of aiokafka only log why they are refused, and try again."""
    client = address.client("suma-start")
    for host, port, _ in collect_hosts(client.pop("bootstrap_servers")):
        connection, greeted = AIOKafkaConnection(host, port, **client), False
        try:
            async with asyncio.timeout(ASK_SECONDS):
                await connection.connect()
                greeted = True
                await connection.send(MetadataRequest([]))
                return
        except REFUSALS as error:
            raise KafkaRefused(f"Kafka refuses the user {address.username}: {error}; correct {CREDENTIALS}") from None
        except (KafkaError, OSError, TimeoutError) as error:
            # A broker tells everybody its versions, and disconnects an anonymous client that asks for more.
            if greeted and isinstance(error, KafkaConnectionError) and address.username is None:
                raise KafkaRefused(f"Kafka refuses a client that does not sign in: set {CREDENTIALS}") from None
        finally:
            connection.close()


async def declare(address: Address, topics: Sequence[Topic]) -> None:
    """Create the missing topics with their partitions and retention; safe to repeat.

    Raises:
        BadTopic: a topic has another number of partitions. Changing it would move keys, so it is left alone.
        KafkaRefused: a topic is missing, and this user may not create it.
        KafkaDown: Kafka does not answer.
    """
    async with answering(DECLARE_SECONDS), _administrator(address) as administrator:
        there = await _partitions(administrator, address, topics)
        missing = [topic for topic in topics if topic.name not in there]
        if missing:
            await _create(administrator, address, missing)
        while missing and len(there) < len(topics):
            there = await _partitions(administrator, address, topics)
            await asyncio.sleep(SEEN_SECONDS)
    for topic in topics:
        if there[topic.name] != topic.partitions:
            raise BadTopic(
                f"Kafka's topic {address.prefix}{topic.name} has {there[topic.name]} partitions instead of"
                f" {topic.partitions}: remove it, or set another SUMA_KAFKA__PREFIX"
            )


@asynccontextmanager
async def _administrator(address: Address) -> AsyncIterator[AIOKafkaAdminClient]:
    administrator = AIOKafkaAdminClient(**address.client("suma-admin"))
    try:
        async with answering(ASK_SECONDS):
            await administrator.start()
        yield administrator
    finally:
        await administrator.close()


async def _partitions(administrator: AIOKafkaAdminClient, address: Address, topics: Sequence[Topic]) -> dict[str, int]:
    """Return the number of partitions of each existing topic."""
    described = await administrator.describe_topics([address.prefix + topic.name for topic in topics])
    return {
        entry["topic"].removeprefix(address.prefix): len(entry["partitions"])
        for entry in described
        if entry["error_code"] == 0 and entry["partitions"]
    }


async def _create(administrator: AIOKafkaAdminClient, address: Address, topics: Sequence[Topic]) -> None:
    # All replicas but one must have an event: with three, one broker may be away, and none of its events is lost.
    settings = {"cleanup.policy": "delete", "min.insync.replicas": str(max(1, address.replication - 1))}
    wanted = [
        NewTopic(
            address.prefix + topic.name,
            topic.partitions,
            address.replication,
            topic_configs={**settings, "retention.ms": str(int(topic.retention.total_seconds() * 1000))},
        )
        for topic in topics
    ]
    answer = await administrator.create_topics(wanted)
    for name, code, *rest in answer.topic_errors:
        # Another process may have created it first.
        if (error := for_code(code)) in UNPERMITTED:
            raise KafkaRefused(f"Kafka's topic {name} is missing, and {address.username} may not create it")
        if code and error is not TopicAlreadyExistsError:
            raise KafkaDown(f"Kafka's topic {name} cannot be made: {error.__name__} {rest[0] if rest else ''}".strip())
