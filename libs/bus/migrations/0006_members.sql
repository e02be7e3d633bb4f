-- Who takes members and partitions takes the members first, each in the order of its keys: a process that freed the dead could
-- otherwise meet a living one that was just forgetting them.

-- Claim a fair share of the group's partitions for a member: at most ceil(P / live members), for ttl seconds.
create or replace function bus.own(grps text[], member text, ttl float8)
returns table (grp text, topic text, part int, token bigint, "position" bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    insert into bus.members as m (grp, member, seen_at) select g, own.member, bus.now() from unnest(grps) as g order by g
    on conflict (grp, member) do update set seen_at = excluded.seen_at;
    -- Somebody else forgets those that another transaction has in hand.
    with gone as (
        select m.grp, m.member from bus.members m
        where m.grp = any (grps) and m.seen_at < bus.now() - make_interval(secs => ttl * 4) for update skip locked
    )
    delete from bus.members m using gone g where m.grp = g.grp and m.member = g.member;

    perform from bus.partitions p where p.grp = any (grps) order by p.grp, p.topic, p.part for update;
    with share as (
        select g as grp, ceil((select count(*) from bus.partitions p where p.grp = g)::numeric / greatest(1, count(m.member))) as most
        from unnest(grps) as g left join bus.members m on m.grp = g and m.seen_at > bus.now() - make_interval(secs => ttl)
        group by g
    ), ranked as (
        select p.grp, p.topic, p.part, p.member is not distinct from own.member as mine,
               row_number() over (partition by p.grp order by p.member is distinct from own.member, p.due_at, p.topic, p.part) as place, s.most
        from bus.partitions p join share s on s.grp = p.grp
        where p.member is null or p.member = own.member or p.due_at < bus.now()
    )
    update bus.partitions p set
        member = case when r.place <= r.most then own.member end,
        token = p.token + (not r.mine)::int,
        due_at = case when r.place <= r.most then bus.now() + make_interval(secs => ttl) else p.due_at end
    from ranked r
    where p.grp = r.grp and p.topic = r.topic and p.part = r.part and (r.mine or r.place <= r.most);

    return query
        select p.grp, p.topic, p.part, p.token, coalesce(o.position, 0)
        from bus.partitions p left join bus.offsets o on o.grp = p.grp and o.topic = p.topic and o.part = p.part
        where p.grp = any (grps) and p.member = own.member;
end
$$;

-- Free at once what owners that are known to be dead still hold. Only the holder of the data directory's lock may ask.
-- A lease that another transaction has at this moment is on its way already: whoever waited for it could deadlock at its start.
create or replace function bus.free(owners text[]) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare freed bigint;
begin
    with theirs as (select l.id from bus.leases l where l.owner = any (owners) for update skip locked)
    update bus.leases l set owner = null, due_at = bus.now() from theirs t where l.id = t.id;
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

-- Leave the group at once, so that others need not wait for the partitions to run out.
create or replace function bus.leave(grps text[], member text) returns void language sql set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select m.grp from bus.members m where m.grp = any (grps) and m.member = leave.member order by m.grp for update
    )
    delete from bus.members m using mine where m.grp = mine.grp and m.member = leave.member;
    with mine as (
        select p.grp, p.topic, p.part from bus.partitions p where p.grp = any (grps) and p.member = leave.member
        order by p.grp, p.topic, p.part for update
    )
    update bus.partitions p set member = null from mine m where p.grp = m.grp and p.topic = m.topic and p.part = m.part
$$;
