"""Whether the service in this container answers: `healthcheck.py [/readyz]` ends with 0 or 1.

Alive unless asked for more: who restarts what is not healthy must not restart everything because Postgres is away.
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
