"""The contract as files, for programs in other languages: `make contracts` writes `proto/` from the event classes.

`events/` holds a JSON Schema for each version of an event, `topics.yaml` who says and who listens, `asyncapi.yaml` all
of that as one AsyncAPI document with what a message on Kafka looks like. `golden/` holds examples written by hand,
which are never changed and load for ever. A change that an older event would not survive is refused, with a sentence
that says what to do instead (house style 23).
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
