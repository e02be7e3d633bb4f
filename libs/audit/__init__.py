"""The audit log: one hash chain per tenant, signed checkpoints and offline verification (architecture.md 16).

`chain` defines records and links, `digests` refers to content without storing it, `checkpoint` signs the chain's state.
`export` and `verify` let a third party check the log offline.
"""

from libs.audit.chain import Record
from libs.audit.checkpoint import Checkpoint, CheckpointFile
from libs.audit.export import Entry, export
from libs.audit.verify import Report, verify

__all__ = [
    "Checkpoint",
    "CheckpointFile",
    "Entry",
    "Record",
    "Report",
    "chain",
    "checkpoint",
    "digests",
    "export",
    "trust",
    "verify",
]
