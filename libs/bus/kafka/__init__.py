"""The bus on Apache Kafka: Kafka's consumer groups read what the relay has sent.

The log, the inbox, parked events, dead letters and leases stay in Postgres. Kafka carries events in CloudEvents binary
mode, in the partitions that the log assigned.
"""

from libs.bus.kafka.broker import Address, BadTopic, KafkaDown, KafkaRefused, reach
from libs.bus.kafka.bus import KafkaBus
from libs.bus.kafka.outlet import KafkaOutlet

__all__ = ["Address", "BadTopic", "KafkaBus", "KafkaDown", "KafkaOutlet", "KafkaRefused", "reach"]
