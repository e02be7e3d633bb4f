"""Health check of the service in this container: `healthcheck.py [/readyz]` exits with 0 or 1.

By default it checks liveness: an orchestrator that restarts unhealthy containers must not restart all of them because
Postgres is unavailable.
"""

import http.client
import os
import ssl
import sys

PORT = int(os.environ.get("SUMA_PORT") or 8010)
SECONDS = 4.0


def main(path: str = "/healthz") -> int:
    connection = _connection()
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        said = answer.read(2000).decode(errors="replace")
    except OSError as error:
        said, healthy = str(error), False
    else:
        healthy = answer.status == 200
    sys.stdout.write(f"{said}\n")
    return 0 if healthy else 1


def _connection() -> http.client.HTTPConnection:
    if not os.environ.get("SUMA_TLS_CERT_FILE"):
        return http.client.HTTPConnection("127.0.0.1", PORT, timeout=SECONDS)
    # The certificate has the name that clients use, not this address. Nothing secret is sent.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", PORT, timeout=SECONDS, context=context)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
