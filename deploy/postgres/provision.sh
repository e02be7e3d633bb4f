#!/bin/sh
# Prepare a PostgreSQL for Suma, as a superuser: roles, one database, pgvector. Safe to repeat; a repetition sets the
# passwords again.
#
#   PGHOST=… PGUSER=postgres SUMA_OWNER_PASSWORD=… SUMA_GATEWAY_PASSWORD=… … deploy/postgres/provision.sh
#
# The owner and each of the six services have a role and a password. docker-compose.yaml runs it at the first start of a
# new volume. SUMA_DATABASE names the database; `suma` otherwise. suma_bus owns the bus's schema and suma_app has the
# rights that services share; both sign in only if SUMA_BUS_PASSWORD or SUMA_APP_PASSWORD is set (docs/operations.md).
set -eu
: "${SUMA_OWNER_PASSWORD:?}" "${SUMA_GATEWAY_PASSWORD:?}" "${SUMA_CONVERSATION_WORKER_PASSWORD:?}"
: "${SUMA_COMMITTEE_WORKER_PASSWORD:?}" "${SUMA_TOOL_EXECUTOR_PASSWORD:?}" "${SUMA_AUDIT_WORKER_PASSWORD:?}"
: "${SUMA_MEMORY_SERVICE_PASSWORD:?}"
export SUMA_BUS_PASSWORD="${SUMA_BUS_PASSWORD:-}" SUMA_APP_PASSWORD="${SUMA_APP_PASSWORD:-}"
export PGUSER="${PGUSER:-${POSTGRES_USER:-postgres}}" SUMA_DATABASE="${SUMA_DATABASE:-suma}"

# Passwords come from the environment, because every process on the machine may read arguments.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv owner SUMA_OWNER_PASSWORD
\getenv bus SUMA_BUS_PASSWORD
\getenv app SUMA_APP_PASSWORD
\getenv gateway SUMA_GATEWAY_PASSWORD
\getenv conversation_worker SUMA_CONVERSATION_WORKER_PASSWORD
\getenv committee_worker SUMA_COMMITTEE_WORKER_PASSWORD
\getenv tool_executor SUMA_TOOL_EXECUTOR_PASSWORD
\getenv audit_worker SUMA_AUDIT_WORKER_PASSWORD
\getenv memory_service SUMA_MEMORY_SERVICE_PASSWORD
\getenv database SUMA_DATABASE
set password_encryption = 'scram-sha-256';
set client_min_messages = 'warning';
-- Statements with a password in them stay out of the server's log.
set log_statement = 'none';
set log_min_error_statement = 'panic';

create temporary table roles (name text, password text);
insert into roles values
    ('suma_owner', :'owner'), ('suma_bus', :'bus'), ('suma_app', :'app'), ('suma_directory', ''), ('suma_gateway', :'gateway'),
    ('suma_conversation_worker', :'conversation_worker'), ('suma_committee_worker', :'committee_worker'),
    ('suma_tool_executor', :'tool_executor'), ('suma_audit_worker', :'audit_worker'), ('suma_memory_service', :'memory_service');

select format('create role %I', name) from roles
where not exists (select from pg_roles where rolname = name) \gexec

-- No role is a superuser, and only suma_owner and suma_bus own anything, so that row-level security applies to the others.
select format('alter role %I nosuperuser nobypassrls nocreaterole nocreatedb noreplication %s', name,
    case when password = '' then 'nologin' else format('login password %L', password) end)
from roles \gexec
grant suma_bus to suma_owner;
-- The gateway must become suma_directory to write a credential; no right comes by itself.
grant suma_directory to suma_gateway with inherit false, set true;

select format('create database %I owner suma_owner', :'database')
where not exists (select from pg_database where datname = :'database') \gexec

select format('revoke connect, temporary on database %I from public', :'database') \gexec
select format('grant connect on database %I to %I', :'database', name) from roles \gexec
SQL

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$SUMA_DATABASE" <<'SQL'
set client_min_messages = 'warning';
create extension if not exists vector;
SQL
