"""Surfaces of other protocols over the gateway's turns (architecture.md 14). Each is imported on its first request."""
