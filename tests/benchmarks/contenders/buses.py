"""What carries a contender's events: the log in PostgreSQL, or Kafka, where one is named."""

from __future__ import annotations

from dataclasses import replace

from libs import ids
from libs.bus import relay
from libs.bus.kafka import Address, KafkaBus, KafkaOutlet
from libs.bus.postgres import PostgresBus
from libs.runtime.platform import Platform


def carried(made: Platform, bootstrap: str | None) -> Platform:
    """At its usual pace, which a test's platform has not."""
    log = PostgresBus(made.database, made.member)
    if bootstrap is None:
        return replace(made, bus=log)
    address = Address(bootstrap, prefix=f"{ids.new()}.")
    route = relay.Route(log, KafkaOutlet(address, made.member))
    return replace(made, bus=KafkaBus(address, made.member), route=route, log_readers=relay.readers)
