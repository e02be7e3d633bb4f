#!/bin/sh
# Give the users of a Kafka their rights, as the broker's own user. Safe to repeat; it takes no right away.
#
#   KAFKA_BROKER_PASSWORD=… deploy/kafka/provision.sh HOST:PORT
#
# docker-compose.yaml runs it at each start. For another cluster, KAFKA_LOGIN names a file with an administrator's client
# settings, and KAFKA_PREFIX is SUMA_KAFKA__PREFIX. Any service's relay sends whatever was committed (docs/decisions/0102), so
# all of them may write; each reads its own topics, in its own group. The topics are created by `migrate`.
set -eu
broker=${1:?"name the broker: provision.sh HOST:PORT"}
prefix=${KAFKA_PREFIX:-} login=${KAFKA_LOGIN:-}
if [ -z "$login" ]; then
    umask 077
    login=$(mktemp)
    trap 'rm -f "$login"' EXIT
    cat >"$login" <<EOF
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="suma_broker" password="${KAFKA_BROKER_PASSWORD:?}";
EOF
fi

allow() {
    "${KAFKA_ACLS:-/opt/kafka/bin/kafka-acls.sh}" \
        --bootstrap-server "$broker" --command-config "$login" --add --force "$@" >/dev/null
}

readers="
gateway conversation.outbound dlq.events
conversation_worker conversation.inbound committee.decisions tool.results
committee_worker committee.requests
tool_executor tool.requests
audit_worker audit.events
memory_service memory.events
"
set --
for word in $readers; do
    case $word in
        *.*) set -- "$@" --topic "$prefix$word" ;;
        *) set -- "$@" --allow-principal "User:suma_$word" ;;
    esac
done
allow "$@" --operation Write --operation Describe
printf '%s' "$readers" | while read -r service topics; do
    [ -n "$service" ] || continue
    set -- --allow-principal "User:suma_$service" --operation Read --group "$prefix$service"
    for topic in $topics; do
        set -- "$@" --topic "$prefix$topic"
    done
    allow "$@"
done
# The observers of SUMA_HOOKS run beside the gateway.
allow --allow-principal User:suma_gateway --operation Read --group "${prefix}observers"
# The page Operations shows the lag of every group.
allow --allow-principal User:suma_gateway --operation Describe --group '*'
