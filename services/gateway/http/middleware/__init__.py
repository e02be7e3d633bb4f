"""ASGI middleware around every route: request validation and concurrency limits."""
