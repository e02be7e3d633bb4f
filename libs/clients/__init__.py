"""Clients of our own HTTP APIs: for queries alone, since commands and facts travel as events (DESIGN §4).

Each call carries a token of a minute, for one tenant and one service. In one process it goes to the app directly.
"""
