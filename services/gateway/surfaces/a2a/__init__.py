"""A2A 1.0: other agents start and follow turns. A task is a turn, and a context is a session (architecture.md 14).

Tasks are read from the gateway's own tables and events, so any replica serves any task. `routes` alone is imported at
start-up; the SDK is imported by the first request.
"""
