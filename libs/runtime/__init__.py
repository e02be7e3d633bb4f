"""The runtime: the platform of ports, services, and the host that runs them."""
