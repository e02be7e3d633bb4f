#!/bin/sh
# Write new random secrets for docker-compose.yaml into an environment file, readable by its owner alone:
#   deploy/secrets.sh [FILE]      FILE is .env by default. What it has stays; an upgrade adds what is new
# They are hexadecimal, because some become parts of URLs.
set -eu
file=${1:-.env}
# The script opens the file itself: a shell that redirects would open it with its own umask, for all to read.
umask 077
touch "$file"
chmod go-rwx "$file"
[ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

names="POSTGRES_PASSWORD SUMA_OWNER_PASSWORD KAFKA_BROKER_PASSWORD REDIS_PASSWORD S3_ACCESS_KEY S3_SECRET_KEY GRAFANA_PASSWORD"
for service in GATEWAY CONVERSATION_WORKER COMMITTEE_WORKER TOOL_EXECUTOR AUDIT_WORKER MEMORY_SERVICE; do
    names="$names SUMA_${service}_PASSWORD KAFKA_${service}_PASSWORD"
done
for name in $names; do
    grep -q "^$name=" "$file" || printf '%s=%s\n' "$name" "$(random)" >>"$file"
done
