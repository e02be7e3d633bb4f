"""The services: one package each, on top of `libs`; none imports another."""
