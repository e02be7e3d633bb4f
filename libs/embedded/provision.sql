-- Provision a new cluster before the first connection. Run once, in single-user mode, before the cluster gets its name.

-- In template1, so that each database made later has it too. Only a superuser may create it.
create extension if not exists vector;

-- Migrations run as suma_owner. The bus's schema is suma_bus's own; the owner may hand things to it.
create role suma_owner login nosuperuser nobypassrls nocreaterole nocreatedb;

create role suma_bus login nosuperuser nobypassrls nocreaterole nocreatedb;

-- Requests run as suma_app: it owns nothing, so that row-level security holds for it.
create role suma_app login nosuperuser nobypassrls nocreaterole nocreatedb;

grant suma_bus to suma_owner;

create database suma owner suma_owner;
