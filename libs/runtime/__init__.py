"""The runtime: the platform of ports, services, and the host that runs them."""

ESSENTIAL = frozenset(("postgres", "policy", "bus", "redis", "objects"))
"""Dependencies without which a process is not ready, unless its settings say otherwise."""
