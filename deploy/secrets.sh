#!/bin/sh
# Write an environment file with new random secrets for docker-compose.yaml, readable by its owner alone:
#   deploy/secrets.sh [FILE]      FILE is .env by default, and must not exist
# They are hexadecimal, because some become parts of URLs.
set -eu
file=${1:-.env}
# The script opens the file itself: a shell that redirects would open it with its own umask, for all to read.
umask 077
set -C
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

{
    for name in POSTGRES_PASSWORD SUMA_OWNER_PASSWORD SUMA_BUS_PASSWORD SUMA_APP_PASSWORD REDIS_PASSWORD \
        S3_ACCESS_KEY S3_SECRET_KEY GRAFANA_PASSWORD; do
        printf '%s=%s\n' "$name" "$(random)"
    done
} >"$file"
