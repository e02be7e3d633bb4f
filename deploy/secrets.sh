#!/bin/sh
# Print an environment file with new random secrets for docker-compose.yaml: `deploy/secrets.sh > .env`.
# They are hexadecimal, because some become parts of URLs.
set -eu
umask 077
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

for name in POSTGRES_PASSWORD SUMA_OWNER_PASSWORD SUMA_BUS_PASSWORD SUMA_APP_PASSWORD REDIS_PASSWORD \
    S3_ACCESS_KEY S3_SECRET_KEY GRAFANA_PASSWORD; do
    printf '%s=%s\n' "$name" "$(random)"
done
