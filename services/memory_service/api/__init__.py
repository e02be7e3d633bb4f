"""The HTTP API on 9696, for our own services: remember, recall, facts, feedback (S3-06, DESIGN §12).

Tenant and session are the internal token's, never the request's. The person is whom the calling service names: nobody
but our services can make a token, and they know whom they serve.
"""

from services.memory_service.api.routes import PORT, build

__all__ = ["PORT", "build"]
