"""The runtime: the platform of ports, the services, and the host that runs them."""

ESSENTIAL = frozenset(("postgres", "policy", "bus", "redis", "objects"))
"""Dependencies that a process needs to be ready, unless its settings name others."""
