"""Calls that leave the process: each goes through the door of what it calls, which bounds it in time, counts it, and
shuts while nobody answers behind it (S3-58).

A `Door` belongs to one dependency; `Doors` are those of one process, handed to adapters and clients by the wiring.
"""

from libs.outbound.breaker import Breaker, Rules, State
from libs.outbound.door import CallTimedOut, CircuitOpen, Door, Doors
from libs.outbound.levels import Level

__all__ = ["Breaker", "CallTimedOut", "CircuitOpen", "Door", "Doors", "Level", "Rules", "State"]
