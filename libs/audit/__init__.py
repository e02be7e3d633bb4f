"""The audit log that proves itself: one hash chain per tenant, signed checkpoints, offline verification (DESIGN §17).

`chain` says what a record is and how records hang together, `digests` how they speak of content without holding it,
`checkpoint` what is signed, `export` and `verify` how a stranger checks it all without us.
"""

from libs.audit.checkpoint import Checkpoint, CheckpointFile
from libs.audit.export import Entry, export
from libs.audit.verify import Report, verify

__all__ = ["Checkpoint", "CheckpointFile", "Entry", "Report", "export", "verify"]
