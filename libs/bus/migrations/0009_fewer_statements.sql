-- A commit in fewer statements, and a batch that says nothing twice. Batches of earlier releases are read as before.

-- Guard as before, for a batch with parked or retried items, or while events are parked.
alter function bus.guard(jsonb) rename to guard_parked;
alter function bus.guard_parked(jsonb) security invoker;

-- Guard every item of a batch: seen (its id is in the inbox), lost (its lease has moved on), behind (its key is parked), else
-- fresh. An item without `urgent` is not urgent, and one without a state is done. The usual batch needs one statement: the sort
-- of its insert reads all leases first, so leases and then inbox rows are locked in the order of their keys.
create function bus.guard(items jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    usual constant bus.item := row (null, null, null, null, null, null, null, null, false, null, 'done');
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    rows bus.item[]; fresh int[]; lost int[]; mixed int[]; foreign_row boolean; parks boolean;
begin
    select array_agg(i), bool_or((i.tenant = any (mine)) is not true), bool_or(i.parked is not null or i.state <> 'done')
    into rows, foreign_row, parks from jsonb_populate_recordset(usual, items) as i;
    if foreign_row then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;
    if parks or exists (select from bus.parked p where p.state = 'parked') then
        return bus.guard_parked((select jsonb_agg(i) from unnest(rows) as i));
    end if;

    with item as materialized (
        select * from unnest(rows) as i
    ), held as materialized (
        select i.n, l.id from item i
        join bus.leases l on l.id = i.lease and l.token = i.token and l.grp = i.grp and l.tenant = i.tenant
        order by l.id for update of l
    ), first as (
        insert into bus.inbox as b (grp, id, tenant, state, at)
        select i.grp, i.id, i.tenant, 'done', moment from item i
        where i.lease is null or i.n in (select h.n from held h) order by i.grp, i.id
        on conflict do nothing returning b.grp, b.id
    ), once as (
        -- The same input twice in one batch is answered once.
        select min(i.n) as n from item i join first f using (grp, id) group by grp, id
    ), gone as (
        delete from bus.leases l using held h where l.id = h.id and h.n in (select o.n from once o)
    )
    select (select coalesce(array_agg(distinct o.n), '{}') from once o),
           (select coalesce(array_agg(i.n), '{}') from item i where i.lease is not null and i.n not in (select h.n from held h)),
           -- Inputs that were gathered into one changeset are answered together or one by one, never in part.
           (select array_agg(g.n) from (
               select i.n, count(*) as inputs, (select count(*) from once o where o.n = i.n) as answered
               from item i group by i.n having count(*) > 1
           ) as g where g.answered not in (0, g.inputs))
    into fresh, lost, mixed;
    if mixed is not null then
        raise exception 'some of the inputs of one changeset were answered before' using errcode = 'SU001', detail = mixed::text;
    end if;
    if lost <> '{}' then
        -- What a lost answer hides: our own finish took the lease, and its inbox row says so.
        select coalesce(array_agg(i.n), '{}') into lost from unnest(rows) as i
        where i.n = any (lost) and not exists (select from bus.inbox b where b.grp = i.grp and b.id = i.id);
    end if;
    return (
        select jsonb_object_agg(i.n, case when i.n = any (fresh) then 'fresh' when i.n = any (lost) then 'lost' else 'seen' end)
        from unnest(rows) as i
    );
end
$$;

-- Leases and parked rows of a batch whose changesets are applied. Each refuses rows of tenants outside the set.
create function bus.settle_leases(batch jsonb, fresh int[]) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare moment constant timestamptz := bus.now();
begin
    if batch ? 'ends' then
        perform bus.closed_door(batch -> 'ends');
        delete from bus.leases l using (
            select l.id from bus.leases l
            join jsonb_to_recordset(batch -> 'ends') as e(n int, id text, grp text, tenant text) on l.id = e.id and l.grp = e.grp and l.tenant = e.tenant
            where e.n = any (fresh) order by l.id for update of l
        ) as gone where l.id = gone.id;
    end if;
    if batch ? 'cancels' then
        perform bus.closed_door(batch -> 'cancels');
        update bus.leases l set cancelled = true, due_at = case when l.owner is null then moment else l.due_at end
        from (
            select l.id from bus.leases l
            join jsonb_to_recordset(batch -> 'cancels') as c(n int, id text, grp text, tenant text) on l.id = c.id and l.grp = c.grp and l.tenant = c.tenant
            where c.n = any (fresh) order by l.id for update of l
        ) as marked where l.id = marked.id;
    end if;
    if batch ? 'parks' then
        perform bus.closed_door(batch -> 'parks');
        insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, attempts, since, due_at, state, error)
        -- Behind others a try does not count yet: its own begin when it stands first.
        select p.grp, p.topic, p.key, p.event_id, p.tenant, p.type, p.headers, p.data,
               case when p.state = 'parked' and exists (
                   select from bus.parked b where b.grp = p.grp and b.topic = p.topic and b.key = p.key and b.state = 'parked'
               ) then 0 else p.attempts end, moment,
               moment + make_interval(secs => p.delay), p.state, p.error
        from jsonb_to_recordset(batch -> 'parks')
            as p(n int, grp text, topic text, key text, event_id text, tenant text, type text, headers jsonb, data jsonb,
                 attempts int, delay float8, state text, error text)
        where p.n = any (fresh);
    end if;
end
$$;

-- The last statement of every commit: leases, parked rows, and then the events, whose positions are given under the
-- locked heads in ascending order, so that they are dense and no key is ever reordered. An event or a started lease names the
-- item (`c`, from 0) whose tenant, key and headers it shares; what it says itself goes before.
create or replace function bus.settle(batch jsonb, fresh int[]) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    positions jsonb; said int; written int; foreign_rows int;
begin
    if batch ?| array['ends', 'cancels', 'parks'] then
        perform bus.settle_leases(batch, fresh);
    end if;
    if batch ? 'starts' then
        with s as materialized (
            select s.*, coalesce(s.tenant, i.item ->> 'tenant') as whose, coalesce(s.key, i.item ->> 'key') as place,
                   coalesce(s.grp, i.item ->> 'grp') as consumers
            from jsonb_to_recordset(batch -> 'starts') as s(n int, c int, id text, grp text, kind text, tenant text, key text,
                owner text, delay float8, ttl float8, input jsonb)
            left join jsonb_array_elements(batch -> 'items') with ordinality as i(item, o) on i.o = s.c + 1
        ), put as (
            insert into bus.leases (id, grp, kind, tenant, key, owner, token, due_at, attempts, input)
            select s.id, s.consumers, s.kind, s.whose, s.place, s.owner, (s.owner is not null)::int,
                   moment + make_interval(secs => case when s.owner is null then coalesce(s.delay, 0) else s.ttl end),
                   (s.owner is not null)::int, s.input
            from s where s.n = any (fresh) and s.whose = any (mine)
        )
        select count(*) filter (where (s.whose = any (mine)) is not true) into foreign_rows from s;
        if foreign_rows > 0 then
            raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
        end if;
    end if;
    if batch ? 'events' then
        with event as materialized (
            select e.*, coalesce(e.tenant, i.item ->> 'tenant') as whose, coalesce(e.key, i.item ->> 'key') as place,
                   coalesce(i.item -> 'headers', '{}') || coalesce(e.headers, '{}') as attributes
            from jsonb_to_recordset(batch -> 'events') as e(n int, o int, c int, id text, topic text, part int, tenant text, key text,
                type text, headers jsonb, data jsonb)
            left join jsonb_array_elements(batch -> 'items') with ordinality as i(item, o) on i.o = e.c + 1
        ), said as materialized (
            select e.*, row_number() over (partition by e.topic, e.part order by e.o) as rank
            from event e where e.n = any (fresh) and e.whose = any (mine)
        ), counted as (
            select topic, part, count(*) as k from said group by topic, part
        ), locked as materialized (
            select h.topic, h.part, h.next, c.k from bus.heads h join counted c using (topic, part) order by h.topic, h.part for update of h
        ), moved as (
            update bus.heads h set next = h.next + l.k from locked l where h.topic = l.topic and h.part = l.part
        ), written as (
            insert into bus.log as g (topic, part, position, event_id, tenant, key, type, headers, data, at)
            select s.topic, s.part, l.next + s.rank - 1, s.id, s.whose, s.place, s.type, s.attributes, s.data, moment
            from said s join locked l using (topic, part)
            returning g.event_id, g.position
        )
        select (select jsonb_object_agg(w.event_id, w.position) from written w), (select count(*) from written),
               (select count(*) from said), (select count(*) from event e where (e.whose = any (mine)) is not true)
        into positions, written, said, foreign_rows;
        if foreign_rows > 0 then
            raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
        end if;
        if written <> said then
            raise exception 'an event names a topic or partition that is not declared' using errcode = '23503';
        end if;
    end if;
    return coalesce(positions, '{}');
end
$$;

-- Apply a batch of changesets in one transaction and one round trip (bus.md 6): guards, each schema's apply, events last.
-- An apply answers with the numbers that it applied; a missing one is its changeset's conflict: SQLSTATE SU001, detail = its n.
-- `counts` says how many changes each schema has: where as many are applied, none is missing.
create or replace function bus.commit(batch jsonb) returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    verdicts jsonb; fresh int[]; fine boolean; home text; kinds jsonb; applied int[]; lacking int[];
begin
    perform set_config('suma.tenants', batch ->> 'tenants', true);
    verdicts := bus.guard(batch -> 'items');
    select coalesce(array_agg(v.key::int) filter (where v.value = 'fresh'), '{}'), bool_and(v.value = 'fresh') into fresh, fine
    from jsonb_each_text(verdicts) as v;

    if batch ? 'changes' then
        for home, kinds in select c.key, c.value from jsonb_each(batch -> 'changes') as c order by c.key loop
            if not fine then
                select coalesce(jsonb_object_agg(k.key, kept.rows), '{}') into kinds
                from jsonb_each(kinds) as k
                cross join lateral (select jsonb_agg(r) as rows from jsonb_array_elements(k.value) as r where (r ->> 'n')::int = any (fresh)) as kept
                where kept.rows is not null;
            end if;
            execute format('select %I.apply($1)', home) into applied using kinds;
            if not fine or (select count(distinct a) from unnest(applied) as a) is distinct from (batch -> 'counts' ->> home)::bigint then
                select array_agg(distinct (r ->> 'n')::int) into lacking
                from jsonb_each(kinds) as k cross join lateral jsonb_array_elements(k.value) as r
                where ((r ->> 'i')::int = any (applied)) is not true;
                if lacking is not null then
                    raise exception 'a decision rests on a row that has changed' using errcode = 'SU001', detail = lacking::text;
                end if;
            end if;
        end loop;
    end if;
    if batch ? 'asides' then
        perform bus.decide(batch -> 'asides', fresh);
    end if;
    return jsonb_build_object('verdicts', verdicts, 'positions', bus.settle(batch, fresh));
end
$$;

revoke all on function bus.guard(jsonb), bus.guard_parked(jsonb), bus.settle_leases(jsonb, int[]) from public;
revoke all on function bus.guard_parked(jsonb) from suma_app;
grant execute on function bus.guard(jsonb) to suma_app;
