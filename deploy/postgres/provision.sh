#!/bin/sh
# Prepare a PostgreSQL for Suma, as a superuser: three roles, one database, pgvector. Safe to repeat; a repetition
# sets the passwords again.
#
#   PGHOST=… PGUSER=postgres SUMA_OWNER_PASSWORD=… SUMA_BUS_PASSWORD=… SUMA_APP_PASSWORD=… deploy/postgres/provision.sh
#
# docker-compose.yaml runs it at the first start of a new volume. SUMA_DATABASE names the database; `suma` otherwise.
set -eu
: "${SUMA_OWNER_PASSWORD:?}" "${SUMA_BUS_PASSWORD:?}" "${SUMA_APP_PASSWORD:?}"
export PGUSER="${PGUSER:-${POSTGRES_USER:-postgres}}" SUMA_DATABASE="${SUMA_DATABASE:-suma}"

# Passwords come from the environment, because every process on the machine may read arguments.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv owner SUMA_OWNER_PASSWORD
\getenv bus SUMA_BUS_PASSWORD
\getenv app SUMA_APP_PASSWORD
\getenv database SUMA_DATABASE
set password_encryption = 'scram-sha-256';
-- Statements with a password in them stay out of the server's log.
set log_statement = 'none';
set log_min_error_statement = 'panic';

select format('create role %I', name)
from unnest(array['suma_owner', 'suma_bus', 'suma_app']) as name
where not exists (select from pg_roles where rolname = name) \gexec

-- suma_owner migrates. suma_bus owns the bus's schema. Requests run as suma_app, which owns nothing, so that row-level
-- security applies to it.
alter role suma_owner login nosuperuser nobypassrls nocreaterole nocreatedb noreplication password :'owner';
alter role suma_bus login nosuperuser nobypassrls nocreaterole nocreatedb noreplication password :'bus';
alter role suma_app login nosuperuser nobypassrls nocreaterole nocreatedb noreplication password :'app';
grant suma_bus to suma_owner;

select format('create database %I owner suma_owner', :'database')
where not exists (select from pg_database where datname = :'database') \gexec

select format('revoke connect, temporary on database %I from public', :'database') \gexec
select format('grant connect on database %I to suma_owner, suma_bus, suma_app', :'database') \gexec
SQL

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$SUMA_DATABASE" <<'SQL'
create extension if not exists vector;
SQL
