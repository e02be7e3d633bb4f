"""Clients of our own HTTP APIs, for queries only: commands and facts travel as events (DESIGN §4).

Each call carries a one-minute token for one tenant and one service. In one process it goes to the app directly.
"""
