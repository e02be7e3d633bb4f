"""Guard calls that leave the process: a time limit, metrics, and a circuit breaker for each dependency (S3-58).

A `GuardedCall` belongs to one dependency. `GuardedCalls` holds those of one process; the wiring passes it to adapters
and clients.
"""

from libs.resilience.circuit_breaker import Breaker, Rules, State
from libs.resilience.degradation import Level
from libs.resilience.guarded_call import CallFailed, CallTimedOut, CircuitOpen, GuardedCall, GuardedCalls

__all__ = [
    "Breaker",
    "CallFailed",
    "CallTimedOut",
    "CircuitOpen",
    "GuardedCall",
    "GuardedCalls",
    "Level",
    "Rules",
    "State",
]
