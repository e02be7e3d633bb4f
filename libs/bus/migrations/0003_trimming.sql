-- Trimming: what nobody needs any more goes, from the oldest on, a little at a time.

-- All records up to this position were trimmed. Beside the heads, not in them: the hot path locks those.
create table bus.floors (
    topic text not null,
    part int not null,
    position bigint not null,
    primary key (topic, part)
) with (fillfactor = 50);

-- What is old is found without reading what is not. Rows of one batch share their time, so that the index stays small.
create index inbox_age on bus.inbox (grp, at) where state = 'done';

-- Both lose as many rows as they gain: their space is to be found again soon.
alter table bus.log set (autovacuum_vacuum_scale_factor = 0.05);
alter table bus.inbox set (autovacuum_vacuum_scale_factor = 0.05);

-- Delete, of each partition of these topics, at most `most` of the oldest records: those that are older than `keep` seconds and
-- that every group has done. The groups are those that are declared and those that must be (`readers`: topic → groups), so that
-- one which has never started yet loses nothing. A group without an offset has done nothing.
-- An offset that a crash of the server takes back was not trimmed by: its commit stands before ours in the write-ahead log.
create function bus.trim_log(topics text[], keeps float8[], readers jsonb, most int)
returns table (topic text, trimmed bigint) language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    with stood as materialized (
        select h.topic, h.part, coalesce(f.position, 0) as below, w.keep, d.done
        from unnest(topics, keeps) as w(topic, keep)
        join bus.heads h on h.topic = w.topic
        left join bus.floors f on f.topic = h.topic and f.part = h.part
        cross join lateral (
            select min(coalesce(o.position, 0)) as done
            from (
                select p.grp from bus.partitions p where p.topic = h.topic and p.part = h.part
                union select jsonb_array_elements_text(readers -> h.topic)
            ) as g
            left join bus.offsets o on o.grp = g.grp and o.topic = h.topic and o.part = h.part
        ) as d
    ), reached as materialized (
        select s.topic, s.part, s.below, c.upto
        from stood s
        cross join lateral (select least(s.done, s.below + most) as reach) as r
        cross join lateral (
            -- The first that must stay yet, by its age.
            select coalesce((
                select l.position - 1 from bus.log l
                where l.topic = s.topic and l.part = s.part and l.position > s.below and l.position <= r.reach
                    and l.at >= (select bus.now()) - make_interval(secs => s.keep)
                order by l.position limit 1
            ), r.reach) as upto offset 0
        ) as c
        where s.done > s.below and c.upto > s.below
    ), moved as (
        insert into bus.floors as f (topic, part, position)
        select r.topic, r.part, r.upto from reached r order by r.topic, r.part
        on conflict (topic, part) do update set position = greatest(f.position, excluded.position)
    ), gone as (
        delete from bus.log l using reached r where l.topic = r.topic and l.part = r.part and l.position <= r.upto returning l.topic
    )
    select g.topic, count(*) from gone g group by g.topic
$$;

-- Delete at most `most` of each group's inbox rows that are done and older than the longest `keep` (seconds) of the topics that
-- it hears, and than the oldest record that is still kept of any of them: whatever can be delivered again is still refused.
-- (An hour more: positions are in the order of commits, times nearly so.) Parked and dead rows stay.
create function bus.trim_inbox(grps text[], topics text[], keeps float8[], most int)
returns table (grp text, trimmed bigint) language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    with kept as (
        select w.grp, w.keep, o.at
        from unnest(grps, topics, keeps) as w(grp, topic, keep)
        left join lateral (
            select min(f.at) as at
            from bus.heads h
            left join bus.floors b on b.topic = h.topic and b.part = h.part
            cross join lateral (
                select l.at from bus.log l
                where l.topic = h.topic and l.part = h.part and l.position > coalesce(b.position, 0) order by l.position limit 1
            ) as f
            where h.topic = w.topic
        ) as o on true
    ), bound as materialized (
        select k.grp, least(bus.now() - make_interval(secs => max(k.keep)), min(k.at) - interval '1 hour') as before
        from kept k group by k.grp
    ), old as materialized (
        select o.grp, o.id from bound b
        cross join lateral (
            select i.grp, i.id from bus.inbox i
            where i.grp = b.grp and i.state = 'done' and i.at < b.before order by i.at limit most for update of i skip locked
        ) as o
    ), gone as (
        delete from bus.inbox i using old o where i.grp = o.grp and i.id = o.id returning i.grp
    )
    select g.grp, count(*) from gone g group by g.grp
$$;

-- What the log holds of each topic, and how old its oldest record is, in seconds; null where it holds none.
create function bus.kept(topics text[]) returns table (topic text, records bigint, age float8)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select h.topic, sum(h.next - 1 - coalesce(f.position, 0))::bigint, extract(epoch from bus.now() - min(o.at))::float8
    from bus.heads h
    left join bus.floors f using (topic, part)
    left join lateral (
        select l.at from bus.log l
        where l.topic = h.topic and l.part = h.part and l.position > coalesce(f.position, 0) order by l.position limit 1
    ) as o on true
    where h.topic = any (topics) group by h.topic
$$;

-- How far behind each group is, in records that there are.
create or replace function bus.lag(grps text[]) returns table (grp text, topic text, lag bigint) language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, sum(h.next - 1 - greatest(coalesce(o.position, 0), coalesce(f.position, 0)))::bigint
    from bus.partitions p join bus.heads h using (topic, part)
    left join bus.offsets o on o.grp = p.grp and o.topic = p.topic and o.part = p.part
    left join bus.floors f on f.topic = p.topic and f.part = p.part
    where p.grp = any (grps) group by p.grp, p.topic
$$;

revoke all on function
    bus.trim_log(text[], float8[], jsonb, int), bus.trim_inbox(text[], text[], float8[], int), bus.kept(text[])
    from public;
