-- The age of leases, for operators (libs.leases).

-- Leases that exist now count from this migration.
alter table bus.leases add column since timestamptz not null default now();

-- A tenant's leases by group and kind: how many are held, how many are due and wait for a process, and the oldest one's time.
create function bus.leased(tenant text)
returns table (grp text, kind text, leases bigint, held bigint, due bigint, since timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select l.grp, l.kind, count(*), count(l.owner),
           count(*) filter (where l.owner is null and l.due_at <= (select bus.now())), min(l.since)
    from bus.leases l where l.tenant = leased.tenant group by l.grp, l.kind order by l.grp, l.kind
$$;

revoke all on function bus.leased(text) from public;
