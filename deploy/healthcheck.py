"""Health check of the service in this container: `healthcheck.py [/readyz]` exits with 0 or 1.

By default it checks liveness: an orchestrator that restarts unhealthy containers must not restart all of them because
Postgres is unavailable.
"""

import http.client
import os
import sys

PORT = int(os.environ.get("SUMA_PORT") or 8010)
SECONDS = 4.0


def main(path: str = "/healthz") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=SECONDS)
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


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
