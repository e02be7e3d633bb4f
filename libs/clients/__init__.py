"""Clients of our own HTTP APIs, for queries only: commands and facts travel as events (architecture.md 5).

Each call carries a one-minute token for one tenant and one service.
A query of a service in the same process is a call of its function, without HTTP or a token.
"""
