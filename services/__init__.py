"""The services, each a room of its own over `libs`; none knows another."""
