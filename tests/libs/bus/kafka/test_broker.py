"""Broker connections: topics are created as declared or refused, and TLS and SASL are enforced."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from aiokafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError

from deploy.local.kafka import PASSWORD, USER, Kafka, kafka, tool
from libs import ids
from libs.bus.kafka import Address, BadTopic, KafkaBus, KafkaDown, KafkaOutlet, KafkaRefused, reach
from libs.bus.kafka.broker import BadKafka, declare
from libs.bus.ports import Record
from libs.events.topics import MEMORY_EVENTS, TOPICS

PROVISION = Path(__file__).parents[4] / "deploy" / "kafka" / "provision.sh"
RECORD = Record(MEMORY_EVENTS.name, 2, 1, "e1", "t1", "t1:k", "suma.x.v1", {"time": "2026-01-01T00:00:00+00:00"}, b"{}")


@pytest.fixture
def address(broker: Kafka) -> Address:
    return Address(broker.bootstrap, prefix=f"{ids.new()}.")


async def described(broker: Kafka, topic: str) -> str:
    main = "org.apache.kafka.tools.TopicCommand"
    return await tool(main, "--bootstrap-server", broker.bootstrap, "--describe", "--topic", topic)


async def test_topics_are_made_with_their_partitions_and_retention(broker: Kafka, address: Address) -> None:
    await declare(address, list(TOPICS.values()))
    told = await described(broker, address.prefix + MEMORY_EVENTS.name)
    assert f"PartitionCount: {MEMORY_EVENTS.partitions}" in told
    assert f"retention.ms={int(MEMORY_EVENTS.retention / timedelta(milliseconds=1))}" in told


async def test_topics_may_be_declared_again_and_by_several_at_once(address: Address) -> None:
    await asyncio.gather(*(declare(address, [MEMORY_EVENTS]) for _ in range(3)))
    await declare(address, list(TOPICS.values()))


async def test_topic_with_wrong_partition_count_is_refused_by_name(address: Address) -> None:
    await declare(address, [replace(MEMORY_EVENTS, partitions=2)])
    with pytest.raises(BadTopic, match=r"memory\.events has 2 partitions instead of 6"):
        await declare(address, [MEMORY_EVENTS])


async def test_a_broker_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(KafkaDown):
        await reach(Address("127.0.0.1:1"))
    with pytest.raises(KafkaDown):
        await KafkaOutlet(Address("127.0.0.1:1"), "m").send([RECORD], safe=0)


async def carries(address: Address) -> None:
    await declare(address, [MEMORY_EVENTS])
    outlet = KafkaOutlet(address, "m")
    await outlet.send([RECORD], safe=0)
    await outlet.close()


def tls(broker: Kafka) -> Address:
    made = broker.certificates
    assert made is not None
    return Address(broker.tls, protocol="SSL", ca_file=made.authority, cert_file=made.client, key_file=made.client_key)


def sasl(broker: Kafka, mechanism: str) -> Address:
    made = broker.certificates
    assert made is not None
    return Address(
        broker.sasl, protocol="SASL_SSL", mechanism=mechanism, username=USER, password=PASSWORD, ca_file=made.authority
    )


async def test_events_travel_over_tls_with_a_client_certificate(broker: Kafka) -> None:
    await carries(tls(broker))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "PLAIN"])
async def test_events_go_over_sasl(broker: Kafka, mechanism: str) -> None:
    await carries(sasl(broker, mechanism))


async def test_connection_without_certificate_or_authority_is_refused(broker: Kafka) -> None:
    ours = tls(broker)
    for wrong in (replace(ours, cert_file=None, key_file=None), replace(ours, ca_file=None)):
        with pytest.raises(KafkaDown):
            await reach(wrong)


async def test_wrong_password_is_refused_and_appears_in_no_error(broker: Kafka) -> None:
    wrong = replace(sasl(broker, "SCRAM-SHA-256"), password="not-the-password")
    with pytest.raises(KafkaRefused, match=f"refuses the user {USER}") as refused:
        await reach(wrong)
    assert "not-the-password" not in f"{refused.value!r} {wrong!r}"


async def test_a_certificate_that_cannot_be_read_is_named_at_once(broker: Kafka, tmp_path: Path) -> None:
    with pytest.raises(BadKafka, match="certificates"):
        await reach(replace(tls(broker), ca_file=tmp_path / "absent.pem"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def closed() -> AsyncIterator[Kafka]:
    """The broker of docker-compose.yaml, with the topics that `migrate` makes."""
    async with kafka(closed=True) as broker:
        await declare(user(broker, "broker"), list(TOPICS.values()))
        yield broker


def user(broker: Kafka, name: str) -> Address:
    bare = Address(broker.bootstrap, protocol="SASL_PLAINTEXT", mechanism="PLAIN")
    return replace(bare, username=f"suma_{name}", password=broker.passwords[name])


async def test_closed_broker_refuses_clients_without_the_right_password(closed: Kafka) -> None:
    audit = user(closed, "audit_worker")
    assert await reach(audit) == closed.bootstrap
    with pytest.raises(KafkaRefused, match="does not sign in"):
        await reach(Address(closed.bootstrap))
    for wrong in (replace(audit, password="wrong"), replace(audit, mechanism="SCRAM-SHA-256")):
        with pytest.raises(KafkaRefused, match="refuses the user suma_audit_worker"):
            await reach(wrong)


async def test_closed_broker_lets_a_service_read_its_own_topics_only(closed: Kafka) -> None:
    await KafkaOutlet(user(closed, "conversation_worker"), "m").send([RECORD], safe=0)
    assert await first_topic(user(closed, "memory_service"), "memory_service") == MEMORY_EVENTS.name
    for group in ("audit_worker", "memory_service"):
        with pytest.raises((GroupAuthorizationFailedError, TopicAuthorizationFailedError)):
            await first_topic(user(closed, "audit_worker"), group)


async def first_topic(address: Address, group: str) -> str:
    """Return the topic of the first record that a member of the group reads."""
    reader = KafkaBus(address, "m").consumer(group)
    reader.subscribe([MEMORY_EVENTS.name])
    try:
        await reader.start()
        return str((await asyncio.wait_for(reader.getone(), 30)).topic)
    finally:
        await reader.stop()


async def test_member_without_rights_ends_instead_of_trying_again(closed: Kafka) -> None:
    bus = KafkaBus(user(closed, "audit_worker"), "m")
    with pytest.raises(KafkaRefused, match=r"refuses suma_audit_worker: .*memory_service"):
        await first_assignment(bus, "memory_service")
    await bus.leave(["memory_service"])


async def first_assignment(bus: KafkaBus, group: str) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(KafkaDown):
                await bus.assignments({group: [MEMORY_EVENTS.name]})
                return


async def test_relay_without_rights_ends_instead_of_trying_again(closed: Kafka) -> None:
    await declare(replace(user(closed, "broker"), prefix="z."), [MEMORY_EVENTS])
    outlet = KafkaOutlet(replace(user(closed, "gateway"), prefix="z."), "m")
    with pytest.raises(KafkaRefused, match=r"refuses suma_gateway: .*z\.memory\.events"):
        await outlet.send([RECORD], safe=0)
    await outlet.close()


async def test_rights_may_be_given_by_an_administrator_for_a_prefix(closed: Kafka, tmp_path: Path) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = f'username="suma_broker" password="{closed.passwords["broker"]}"'
    settings = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={module} required {login};\n"
    (tmp_path / "login").write_text(settings)
    memory = replace(user(closed, "memory_service"), prefix="y.")
    await declare(replace(user(closed, "broker"), prefix="y."), [MEMORY_EVENTS])
    with pytest.raises(KafkaRefused):
        await declare(memory, [MEMORY_EVENTS])
    given = {"KAFKA_LOGIN": str(tmp_path / "login"), "KAFKA_PREFIX": "y.", "KAFKA_ACLS": f"{closed.folder}/kafka-acls"}
    subprocess.run([PROVISION, closed.bootstrap], env={**os.environ, **given}, check=True)
    await declare(memory, [MEMORY_EVENTS])


async def test_service_may_not_create_topics_on_a_closed_broker(closed: Kafka) -> None:
    with pytest.raises(KafkaRefused, match=r"x\.memory\.events is missing, and suma_gateway may not create it"):
        await declare(replace(user(closed, "gateway"), prefix="x."), [MEMORY_EVENTS])
