"""Leases: long work and every wait, as rows claimed with a fencing token (bus.md 17 and 18).

Work runs outside any transaction and is finished by a changeset that an older token cannot apply. A wait is an
unclaimed lease that falls due later; one loop sweeps both.
"""

from libs.leases.ports import Cancelled, Lease, NewLease, ProcessDied

__all__ = [
    "Cancelled",
    "Lease",
    "NewLease",
    "ProcessDied",
    "postgres",
]
