-- Leases and shares: rows that are taken together are taken in the order of their keys, as everywhere else in the bus, since random
-- order deadlocks; and a beat renews only what is held.

-- Give a lease back, to be taken again after some seconds.
create or replace function bus.release(ids text[], tokens bigint[], delay float8) returns void
language sql set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select l.id from bus.leases l join unnest(ids, tokens) as h(id, token) on l.id = h.id and l.token = h.token
        order by l.id for update of l
    )
    update bus.leases l set owner = null, due_at = bus.now() + make_interval(secs => delay) from mine where l.id = mine.id
$$;

-- Free at once what owners that are known to be dead still hold. Only the holder of the data directory's lock may ask.
-- A row that another transaction has at this moment is on its way already: whoever waited for it could deadlock at its start.
create or replace function bus.free(owners text[]) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare freed bigint;
begin
    with theirs as (select l.id from bus.leases l where l.owner = any (owners) for update skip locked)
    update bus.leases l set owner = null, due_at = bus.now() from theirs t where l.id = t.id;
    get diagnostics freed = row_count;
    with theirs as (
        select p.grp, p.topic, p.part from bus.partitions p where p.member = any (owners)
        order by p.grp, p.topic, p.part for update
    )
    update bus.partitions p set member = null, due_at = bus.now()
    from theirs t where p.grp = t.grp and p.topic = t.topic and p.part = t.part;
    delete from bus.members m where m.member = any (owners);
    return freed;
end
$$;

-- Leave the group at once, so that others need not wait for the partitions to run out.
create or replace function bus.leave(grps text[], member text) returns void language sql set search_path = pg_catalog, pg_temp as $$
    delete from bus.members m where m.grp = any (grps) and m.member = leave.member;
    with mine as (
        select p.grp, p.topic, p.part from bus.partitions p where p.grp = any (grps) and p.member = leave.member
        order by p.grp, p.topic, p.part for update
    )
    update bus.partitions p set member = null from mine m where p.grp = m.grp and p.topic = m.topic and p.part = m.part
$$;

-- Renew what is still ours; an id that does not come back is lost. What was just given back is nobody's, and due when it says.
create or replace function bus.beat(ids text[], tokens bigint[], ttl float8) returns table (id text, cancelled boolean)
language sql set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select l.id from bus.leases l join unnest(ids, tokens) as h(id, token) on l.id = h.id and l.token = h.token
        where l.owner is not null and l.due_at > (select bus.now()) order by l.id for update of l
    )
    update bus.leases l set due_at = bus.now() + make_interval(secs => ttl) from mine where l.id = mine.id
    returning l.id, l.cancelled
$$;
