-- Work and events whose process dies: deaths are counted, and after some the work is a dead letter (libs.runtime.keeper and consumer).

alter table bus.leases add column deaths int not null default 0;

-- Begun and not ended, of events that another process may have had in hand before. A row outlives its event: the inbox decides.
create table bus.begun (
    grp text not null,
    event_id text not null,
    times int not null,
    at timestamptz not null,
    primary key (grp, event_id)
);

-- Begin to handle an event: how often that was begun before without an end, or null where it was handled. Only one that is handled
-- alone counts again, so that the events beside a deadly one do not die with it.
create function bus.attempt(grp text, event_id text, alone boolean) returns int
language sql set search_path = pg_catalog, pg_temp as $$
    with before as (
        select b.times from bus.begun b where b.grp = attempt.grp and b.event_id = attempt.event_id
    ), marked as (
        insert into bus.begun as b (grp, event_id, times, at)
        select attempt.grp, attempt.event_id, 1, bus.now()
        where not exists (select from bus.inbox i where i.grp = attempt.grp and i.id = attempt.event_id)
        on conflict (grp, event_id) do update set times = b.times + attempt.alone::int, at = excluded.at
        returning b.event_id
    )
    select coalesce((select times from before), 0) from marked
$$;

-- Forget what was begun longer ago than anything stays unhandled.
create function bus.forget_begun(most int) returns void language sql set search_path = pg_catalog, pg_temp as $$
    with old as (
        select b.grp, b.event_id from bus.begun b where b.at < bus.now() - interval '30 days'
        order by b.grp, b.event_id limit most for update skip locked
    )
    delete from bus.begun b using old o where b.grp = o.grp and b.event_id = o.event_id
$$;

-- Claim due leases: unheld ones that are due and held ones that ran out, round-robin by tenant. One that ran out in another's hands
-- has outlived its process. What has done so twice runs alone in its next process, so that its third death is its own.
drop function bus.due(text, text, text, int, int, float8);
create function bus.due(grp text, member text, kind text, room int, per_tenant int, ttl float8)
returns table (id text, tenant text, key text, token bigint, attempts int, cancelled boolean, input text, deaths int)
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
        select first.id, first.due_at, first.suspect, first.place + coalesce(b.held, 0) as turn
        from tenants t left join busy b using (tenant)
        cross join lateral (
            select l.id, l.due_at, l.deaths + (l.owner <> due.member is true)::int = 2 as suspect,
                   row_number() over (order by l.due_at) as place
            from bus.leases l
            where l.grp = due.grp and l.kind = due.kind and l.tenant = t.tenant and l.due_at <= (select bus.now())
            order by l.due_at limit due.room
        ) as first
        where t.tenant is not null
    ), alone as (
        select r.id from ranked r
        where r.suspect and not exists (
            select from bus.leases l where l.owner = due.member and l.deaths = 2 and l.due_at > (select bus.now())
        )
        order by r.due_at limit 1
    ), chosen as (
        select l.id from ranked r join bus.leases l on l.id = r.id and l.due_at <= (select bus.now())
        where r.turn <= due.per_tenant and (not r.suspect or r.id = (select a.id from alone a))
        order by r.turn, r.due_at limit due.room for update of l skip locked
    )
    update bus.leases l set owner = due.member, token = l.token + 1, attempts = l.attempts + 1,
        deaths = l.deaths + (l.owner <> due.member is true)::int,
        due_at = bus.now() + make_interval(secs => ttl)
    from chosen c where l.id = c.id
    returning l.id, l.tenant, l.key, l.token, l.attempts, l.cancelled, l.input::text, l.deaths
$$;

-- Free at once what owners that are known to be dead still hold. Only the holder of the data directory's lock may ask.
-- A lease that another transaction has at this moment is on its way already: whoever waited for it could deadlock at its start.
create or replace function bus.free(owners text[]) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare freed bigint;
begin
    with theirs as (select l.id from bus.leases l where l.owner = any (owners) for update skip locked)
    update bus.leases l set owner = null, due_at = bus.now(), deaths = l.deaths + 1 from theirs t where l.id = t.id;
    get diagnostics freed = row_count;
    with theirs as (
        select m.grp, m.member from bus.members m where m.member = any (owners) order by m.grp, m.member for update
    )
    delete from bus.members m using theirs t where m.grp = t.grp and m.member = t.member;
    with theirs as (
        select p.grp, p.topic, p.part from bus.partitions p where p.member = any (owners)
        order by p.grp, p.topic, p.part for update
    )
    update bus.partitions p set member = null, due_at = bus.now()
    from theirs t where p.grp = t.grp and p.topic = t.topic and p.part = t.part;
    return freed;
end
$$;

-- A process leaves in order, and gives back what it holds: that is no death.
create function bus.give_back(member text) returns void language sql set search_path = pg_catalog, pg_temp as $$
    with mine as (select l.id from bus.leases l where l.owner = give_back.member order by l.id for update)
    update bus.leases l set owner = null, due_at = bus.now() from mine m where l.id = m.id
$$;

revoke all on function
    bus.attempt(text, text, boolean), bus.forget_begun(int), bus.due(text, text, text, int, int, float8), bus.give_back(text)
    from public;
