"""The contract as files, for programs in other languages: `make contracts` writes `proto/` from the event classes.

`events/` holds a JSON Schema per version of an event; `topics.yaml` holds producers and consumers; `asyncapi.yaml`
holds all of it as one AsyncAPI document with the form of a Kafka message. `golden/` holds hand-written examples, which
never change and load for ever. A change that breaks an older event is refused, with a sentence that says what to do
instead (house style 23).
"""

from libs.events.contracts.compatibility import breaks
from libs.events.contracts.documents import document, read
from libs.events.contracts.files import GOLDEN, Files, incompatibilities, stale, without_example, written
from libs.events.contracts.schemas import schema

__all__ = [
    "GOLDEN",
    "Files",
    "breaks",
    "document",
    "incompatibilities",
    "read",
    "schema",
    "stale",
    "without_example",
    "written",
]
