"""The bus: an ordered log per partition key, read without gaps, handled once (docs/bus.md).

Postgres holds the truth for every adapter: events are written to `bus.log` in the transaction of the state that they
report, next to inbox, parked rows, dead letters and leases. An adapter only carries records to their readers.
"""

from libs.bus.parked import ParkedCount, ParkedEvents, Waiting
from libs.bus.ports import Record
from libs.bus.projections import Subject

__all__ = [
    "ParkedCount",
    "ParkedEvents",
    "Record",
    "Subject",
    "Waiting",
    "kafka",
    "log",
    "postgres",
    "relay",
]
