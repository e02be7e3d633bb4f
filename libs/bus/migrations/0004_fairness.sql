-- Fairness with many thousands waiting: what is due is found tenant by tenant, through an index, instead of by ranking all of it.

create index leases_tenant on bus.leases (grp, kind, tenant, due_at);

-- Claim due leases: unheld ones that are due and held ones that ran out, round-robin by tenant.
create or replace function bus.due(grp text, member text, kind text, room int, per_tenant int, ttl float8)
returns table (id text, tenant text, key text, token bigint, attempts int, cancelled boolean, input text)
language sql set search_path = pg_catalog, pg_temp as $$
    with recursive tenants as (
        -- From one tenant to the next in the index: a step for each, however many leases it has.
        (select l.tenant from bus.leases l where l.grp = due.grp and l.kind = due.kind order by l.tenant limit 1)
        union all
        select (select l.tenant from bus.leases l where l.grp = due.grp and l.kind = due.kind and l.tenant > t.tenant order by l.tenant limit 1)
        from tenants t where t.tenant is not null
    ), busy as (
        select l.tenant, count(*) as held from bus.leases l
        where l.owner = due.member and l.grp = due.grp and l.kind = due.kind and l.due_at > (select bus.now()) group by l.tenant
    ), ranked as (
        select first.id, first.due_at, first.place + coalesce(b.held, 0) as turn
        from tenants t left join busy b using (tenant)
        cross join lateral (
            select l.id, l.due_at, row_number() over (order by l.due_at) as place from bus.leases l
            where l.grp = due.grp and l.kind = due.kind and l.tenant = t.tenant and l.due_at <= (select bus.now())
            order by l.due_at limit due.room
        ) as first
        where t.tenant is not null
    ), chosen as (
        select l.id from ranked r join bus.leases l on l.id = r.id and l.due_at <= (select bus.now())
        where r.turn <= due.per_tenant order by r.turn, r.due_at limit due.room for update of l skip locked
    )
    update bus.leases l set owner = due.member, token = l.token + 1, attempts = l.attempts + 1,
        due_at = bus.now() + make_interval(secs => ttl)
    from chosen c where l.id = c.id
    returning l.id, l.tenant, l.key, l.token, l.attempts, l.cancelled, l.input::text
$$;

-- What the sweep should look at: (group, kind) with leases due, and (group, '') with parked events due.
create or replace function bus.pending(grps text[]) returns table (grp text, kind text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with recursive kinds as (
        select g as grp, (select l.kind from bus.leases l where l.grp = g order by l.kind limit 1) as kind from unnest(grps) as g
        union all
        select k.grp, (select l.kind from bus.leases l where l.grp = k.grp and l.kind > k.kind order by l.kind limit 1)
        from kinds k where k.kind is not null
    )
    select k.grp, k.kind from kinds k
    where exists (select from bus.leases l where l.grp = k.grp and l.kind = k.kind and l.due_at <= (select bus.now()))
    union all
    select g, '' from unnest(grps) as g
    where exists (select from bus.parked p where p.grp = g and p.state = 'parked' and p.due_at <= (select bus.now()))
$$;

-- The parked heads that are due: the first of each key, in turn by tenant, pushed back at once so that a crash only retries
-- later. One that only stood behind others begins to age at its own first try: an outage must not kill a whole queue at its end.
create or replace function bus.retries(grp text, most int)
returns table (topic text, key text, seq bigint, event_id text, tenant text, type text, headers text, data text, attempts int, age float8)
language sql set search_path = pg_catalog, pg_temp as $$
    with heads as (
        select distinct on (p.topic, p.key) p.topic, p.key, p.seq, p.tenant, p.due_at from bus.parked p
        where p.grp = retries.grp and p.state = 'parked' order by p.topic, p.key, p.seq
    ), ranked as (
        select h.*, row_number() over (partition by h.tenant order by h.due_at, h.seq) as turn from heads h where h.due_at <= bus.now()
    ), chosen as (
        select p.topic, p.key, p.seq from ranked r join bus.parked p on p.grp = retries.grp and p.topic = r.topic and p.key = r.key and p.seq = r.seq
        where p.due_at <= bus.now() order by r.turn, r.due_at limit most for update of p skip locked
    )
    update bus.parked p set attempts = p.attempts + 1, due_at = bus.now() + interval '30 seconds',
        since = case when p.attempts = 0 then bus.now() else p.since end
    from chosen c where p.grp = retries.grp and p.topic = c.topic and p.key = c.key and p.seq = c.seq
    returning p.topic, p.key, p.seq, p.event_id, p.tenant, p.type, p.headers::text, p.data::text, p.attempts,
        extract(epoch from bus.now() - p.since)::float8
$$;

-- How much waits for work: leases that are due and held by nobody, counted up to a bound.
create function bus.backlog(most int) returns bigint language sql stable set search_path = pg_catalog, pg_temp as $$
    select count(*) from (
        select from bus.leases l where l.owner is null and l.due_at <= (select bus.now()) limit backlog.most
    ) as waiting
$$;
revoke all on function bus.backlog(int) from public;
