"""The HTTP API on 9696 for Suma's services: remember, recall, facts, feedback, mind (S3-06, architecture.md 13).

Tenant and session come from the internal token, never from the request. The calling service names the person: only
Suma's services can issue tokens, and they know whom they serve.
"""

from services.memory_service.api.routes import build

__all__ = ["build"]
