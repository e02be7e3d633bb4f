-- The bus's functions, re-created whenever this file changes. Owner: suma_bus. The tables are in migrations/.

-- The clock, and the tenants whose rows a transaction may touch.

-- All time in the bus is the database's, plus a shift that tests move so that leases run out without waiting.
create or replace function bus.now() returns timestamptz language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select clock_timestamp() + shift from bus.clock
$$;

-- The transaction's tenants; unset means none.
create or replace function bus.tenants() returns text[] language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce(nullif(current_setting('suma.tenants', true), '')::text[], '{}')
$$;

-- Refuse a batch that names a tenant outside the transaction's set.
create or replace function bus.refuse_other_tenants(rows jsonb) returns void language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    mine constant text[] := bus.tenants();
begin
    if exists (select from jsonb_to_recordset(rows) as r(tenant text) where (r.tenant = any (mine)) is not true) then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;
end
$$;

-- Committing: one batch of changesets in one transaction and one round trip (docs/bus.md 6 to 9).

-- Events of the transaction's tenants by their places in the log: for the apply functions of the previous release, until these
-- are replaced.
create or replace function bus.recorded(wanted text, parts int[], positions bigint[]) returns setof bus.log
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine constant text[] := bus.tenants();
begin
    -- One lookup by the whole key per place: a plain join may read all of the topic.
    return query select g.* from unnest(parts, positions) as w(part, position)
    cross join lateral (
        select l.* from bus.log l where l.topic = wanted and l.part = w.part and l.position = w.position offset 0
    ) as g
    where g.tenant = any (mine);
end
$$;

-- `guard` of a batch with parked or retried items, or while events are parked. Leases and inbox rows are taken in key order: random
-- order deadlocks.
create or replace function bus.guard_parked(items jsonb) returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    rows bus.item[]; held int[]; lost int[] := '{}'; behind int[] := '{}'; fresh int[]; again int[]; mixed int[];
begin
    select array_agg(i) into rows from jsonb_populate_recordset(null::bus.item, items) as i;
    if exists (select from unnest(rows) as i where (i.tenant = any (mine)) is not true) then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;

    if exists (select from unnest(rows) as i where i.lease is not null) then
        select array_agg(h.n) into held from (
            select i.n from unnest(rows) as i
            join bus.leases l on l.id = i.lease and l.token = i.token and l.grp = i.grp and l.tenant = i.tenant
            order by l.id for update of l
        ) as h;
        select coalesce(array_agg(i.n), '{}') into lost
        from unnest(rows) as i where i.lease is not null and (i.n = any (held)) is not true;
    end if;
    if exists (select from bus.parked p where p.state = 'parked') then
        select coalesce(array_agg(i.n), '{}') into behind from unnest(rows) as i
        where i.topic is not null and i.parked is null and i.state <> 'parked' and not i.urgent
          and exists (select from bus.parked p where p.grp = i.grp and p.topic = i.topic and p.key = i.key and p.state = 'parked')
          and not exists (select from bus.inbox b where b.grp = i.grp and b.id = i.id);
    end if;

    with item as (
        select * from unnest(rows) as i where i.parked is null and i.n <> all (lost) and i.n <> all (behind)
    ), first as (
        insert into bus.inbox as b (grp, id, tenant, state, at)
        select i.grp, i.id, i.tenant, i.state, moment from item i order by i.grp, i.id
        on conflict do nothing returning b.grp, b.id
    ), once as (
        -- The same input twice in one batch is answered once.
        select min(i.n) as n from item i join first using (grp, id) group by grp, id
    )
    select coalesce(array_agg(o.n), '{}') into fresh from once o;
    -- Inputs that were gathered into one changeset are answered together or one by one, never in part.
    select array_agg(g.n) into mixed from (
        select i.n from unnest(rows) as i group by i.n
        having count(*) > 1 and (i.n = any (behind) or count(*) <> coalesce(nullif((select count(*) from unnest(fresh) as f where f = i.n), 0), count(*)))
    ) as g;
    if mixed is not null then
        raise exception 'some of the inputs of one changeset were answered before' using errcode = 'SU001', detail = mixed::text;
    end if;

    -- A retried or replayed event already has its row: it moves from parked to its new state.
    if exists (select from unnest(rows) as i where i.parked is not null) then
        with moved as (
            update bus.inbox b set state = i.state, at = moment from unnest(rows) as i
            where i.parked is not null and b.grp = i.grp and b.id = i.id and b.state = 'parked' returning i.n
        )
        select coalesce(array_agg(n), '{}') into again from moved;
        fresh := fresh || again;
        delete from bus.parked p using unnest(rows) as i
        where i.n = any (again) and p.grp = i.grp and p.event_id = i.id and p.seq = i.parked;
    end if;
    if held is not null then
        delete from bus.leases l using unnest(rows) as i where l.id = i.lease and i.n = any (held) and i.n = any (fresh);
    end if;
    -- After a lost answer our own finish has taken the lease; its inbox row proves that.
    if lost <> '{}' then
        select coalesce(array_agg(i.n), '{}') into lost from unnest(rows) as i
        where i.n = any (lost) and not exists (select from bus.inbox b where b.grp = i.grp and b.id = i.id);
    end if;

    return (
        select jsonb_object_agg(i.n, case when i.n = any (fresh) then 'fresh' when i.n = any (lost) then 'lost'
            when i.n = any (behind) then 'behind' else 'seen' end)
        from unnest(rows) as i
    );
end
$$;

-- Guard every item of a batch: seen (its id is in the inbox), lost (its lease has moved on), behind (its key is parked), else
-- fresh. An item without `urgent` is not urgent, and one without a state is done. The usual batch has fresh items alone, which
-- two small statements find out; leases are locked before inbox rows, each in the order of their keys.
create or replace function bus.guard(items jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    usual constant bus.item := row (null, null, null, null, null, null, null, null, false, null, 'done');
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    rows bus.item[]; held int[] := '{}'; once int[]; fresh int[]; lost int[]; mixed int[];
    foreign_row boolean; parks boolean; leased boolean; projected int[]; written int;
begin
    select array_agg(i), bool_or((i.tenant = any (mine)) is not true), bool_or(i.parked is not null or i.state <> 'done'),
        bool_or(i.lease is not null),
        array_agg(i.n) filter (where i.parked is null and (i.grp, i.topic) in (select j.grp, j.topic from bus.projections j))
    into rows, foreign_row, parks, leased, projected from jsonb_populate_recordset(usual, items) as i;
    if foreign_row then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;
    if projected is not null then
        -- Handlers of the previous release: the projection has done these events, or will.
        return (select jsonb_object_agg(p, 'seen') from unnest(projected) as p)
            || coalesce(bus.guard((select jsonb_agg(i) from unnest(rows) as i where i.n <> all (projected))), '{}');
    end if;
    if parks or exists (select from bus.parked p where p.state = 'parked') then
        return bus.guard_parked((select jsonb_agg(i) from unnest(rows) as i));
    end if;

    if leased then
        select coalesce(array_agg(f.n), '{}') into held from (
            select i.n from unnest(rows) as i
            join bus.leases l on l.id = i.lease and l.token = i.token and l.grp = i.grp and l.tenant = i.tenant
            order by l.id for update of l
        ) as f;
    end if;
    with first as (
        insert into bus.inbox as b (grp, id, tenant, state, at)
        select i.grp, i.id, i.tenant, 'done', moment from unnest(rows) as i
        where i.lease is null or i.n = any (held) order by i.grp, i.id
        on conflict do nothing returning b.grp, b.id
    )
    -- The same input twice in one batch is answered once.
    select coalesce(array_agg(o.n), '{}'), coalesce(sum(o.inputs), 0) into once, written from (
        select min(i.n) as n, count(*) as inputs from unnest(rows) as i join first f using (grp, id) group by grp, id
    ) as o;
    if leased then
        delete from bus.leases l where l.id in (
            select i.lease from unnest(rows) as i where i.n = any (held) and i.n = any (once)
        );
    end if;
    if written = cardinality(rows) and cardinality(once) = written then
        return (select jsonb_object_agg(i.n, 'fresh') from unnest(rows) as i);
    end if;

    select coalesce(array_agg(distinct o.n), '{}') into fresh from unnest(once) as o(n);
    -- Inputs that were gathered into one changeset are answered together or one by one, never in part.
    select array_agg(g.n) into mixed from (
        select i.n, count(*) as inputs, (select count(*) from unnest(once) as o(n) where o.n = i.n) as answered
        from unnest(rows) as i group by i.n having count(*) > 1
    ) as g where g.answered not in (0, g.inputs);
    if mixed is not null then
        raise exception 'some of the inputs of one changeset were answered before' using errcode = 'SU001', detail = mixed::text;
    end if;
    -- After a lost answer our own finish has taken the lease; its inbox row proves that.
    select coalesce(array_agg(i.n), '{}') into lost from unnest(rows) as i
    where i.lease is not null and i.n <> all (held) and not exists (select from bus.inbox b where b.grp = i.grp and b.id = i.id);
    return (
        select jsonb_object_agg(i.n, case when i.n = any (fresh) then 'fresh' when i.n = any (lost) then 'lost' else 'seen' end)
        from unnest(rows) as i
    );
end
$$;

-- Replay a dead letter: to the failing group only, at the tail of its key, with its id, by compare-and-set from dead.
create or replace function bus.replay(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    update bus.inbox b set state = 'parked', at = bus.now()
    where b.grp = replay.grp and b.id = replay.event_id and b.tenant = replay.tenant and b.state = 'dead'
      and exists (select from bus.parked p where p.grp = replay.grp and p.event_id = replay.event_id and p.state = 'dead');
    if not found then return false; end if;
    with dead as (
        delete from bus.parked p where p.grp = replay.grp and p.event_id = replay.event_id and p.state = 'dead' returning *
    )
    insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, attempts, since, due_at, state, error)
    select d.grp, d.topic, d.key, d.event_id, d.tenant, d.type, d.headers, d.data, 0, bus.now(), bus.now(), 'parked', d.error from dead d;
    return true;
end
$$;

-- Discard a dead letter, by compare-and-set from dead. Its inbox row stays, done: a redelivery is still refused.
create or replace function bus.discard(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    update bus.inbox b set state = 'done', at = bus.now()
    where b.grp = discard.grp and b.id = discard.event_id and b.tenant = discard.tenant and b.state = 'dead';
    if not found then return false; end if;
    delete from bus.parked p where p.grp = discard.grp and p.event_id = discard.event_id and p.state = 'dead';
    return true;
end
$$;

-- Try a parked event again at once. Only the first of its key can go, so that one is made due.
create or replace function bus.retry_now(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    update bus.parked p set due_at = bus.now()
    from (
        select h.topic, h.key, min(h.seq) as seq
        from bus.parked e join bus.parked h on h.grp = e.grp and h.topic = e.topic and h.key = e.key and h.state = 'parked'
        where e.grp = retry_now.grp and e.event_id = retry_now.event_id and e.tenant = retry_now.tenant and e.state = 'parked'
        group by h.topic, h.key
    ) as first
    where p.grp = retry_now.grp and p.topic = first.topic and p.key = first.key and p.seq = first.seq;
    return found;
end
$$;

-- Apply a person's decisions about parked and dead events, in the order in which these were parked, in the transaction that records
-- them. If another decision came first, the row has changed, and the changeset fails alone.
create or replace function bus.decide(asides jsonb, fresh int[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    a record; held boolean; lacking int[];
begin
    perform bus.refuse_other_tenants(asides);
    for a in
        select d.n, d.verb, d.grp, d.tenant, d.id from jsonb_to_recordset(asides) as d(n int, verb text, grp text, tenant text, id text)
        left join bus.parked p on p.grp = d.grp and p.event_id = d.id
        where d.n = any (fresh) order by p.seq, d.grp, d.id, d.n
    loop
        held := case a.verb
            when 'replay' then bus.replay(a.grp, a.tenant, a.id)
            when 'discard' then bus.discard(a.grp, a.tenant, a.id)
            when 'retry' then bus.retry_now(a.grp, a.tenant, a.id)
        end;
        if held is not true then lacking := lacking || a.n; end if;
    end loop;
    if lacking is not null then
        raise exception 'an event is neither parked nor dead any more' using errcode = 'SU001', detail = lacking::text;
    end if;
end
$$;

-- Leases and parked rows of a batch whose changesets are applied. Each refuses rows of tenants outside the set.
create or replace function bus.settle_leases(batch jsonb, fresh int[]) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare moment constant timestamptz := bus.now();
begin
    if batch ? 'ends' then
        perform bus.refuse_other_tenants(batch -> 'ends');
        delete from bus.leases l using (
            select l.id from bus.leases l
            join jsonb_to_recordset(batch -> 'ends') as e(n int, id text, grp text, tenant text) on l.id = e.id and l.grp = e.grp and l.tenant = e.tenant
            where e.n = any (fresh) order by l.id for update of l
        ) as ended where l.id = ended.id;
    end if;
    if batch ? 'cancels' then
        perform bus.refuse_other_tenants(batch -> 'cancels');
        update bus.leases l set cancelled = true, due_at = case when l.owner is null then moment else l.due_at end
        from (
            select l.id from bus.leases l
            join jsonb_to_recordset(batch -> 'cancels') as c(n int, id text, grp text, tenant text) on l.id = c.id and l.grp = c.grp and l.tenant = c.tenant
            where c.n = any (fresh) order by l.id for update of l
        ) as target where l.id = target.id;
    end if;
    if batch ? 'parks' then
        perform bus.refuse_other_tenants(batch -> 'parks');
        insert into bus.parked (grp, topic, key, event_id, tenant, type, headers, data, attempts, since, due_at, state, error)
        -- An attempt behind others does not count: its own attempts begin when it is the first of its key.
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

-- Refuse a chain that would handle an event before an earlier one of its key: one that its lane had not had (`after`) when it
-- decided. Called under the locked heads, so nothing can come in between any more. The chain's own earlier events were offered to
-- the lane first. Where Kafka carries the records, what the log has trimmed may still be on its way.
create or replace function bus.refuse_overtaking(batch jsonb, fresh int[], positions jsonb) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare overtaking int[];
begin
    with published as materialized (
        select (batch -> 'items' -> e.c ->> 'n')::int as n, e.id, e.topic, e.part
        from jsonb_to_recordset(batch -> 'events') as e(c int, id text, topic text, part int)
    ), consequence as (
        select s.n, s.id, s.topic, s.part, i.key, i.after
        from jsonb_to_recordset(batch -> 'items') as i(n int, id text, key text, after bigint) join published s using (n, id)
        where i.after is not null
        union all
        -- The previous release lists them.
        select f.* from jsonb_to_recordset(batch -> 'consequences') as f(n int, id text, topic text, part int, key text, after bigint)
    )
    select array_agg(distinct f.n) into overtaking from consequence f
    where f.n = any (fresh) and (
        exists (select from bus.floors w where w.topic = f.topic and w.part = f.part and w.position > f.after)
        or exists (
            select from bus.log l
            where l.topic = f.topic and l.part = f.part and l.position > f.after and l.position < (positions ->> f.id)::bigint
              and l.key = f.key and not exists (select from published e where e.id = l.event_id and e.n = f.n)
        )
    );
    if overtaking is not null then
        raise exception 'an earlier event of the key came first' using errcode = 'SU001', detail = overtaking::text;
    end if;
end
$$;

-- The last statement of every commit: leases, parked rows, then the events, and their projections. Positions are given under the
-- locked heads in ascending order, so that they are dense and no key is ever reordered. An event or a started lease names the
-- item (`c`, from 0) whose tenant, key and headers it shares; its own values take precedence. A lease's input may repeat (as the
-- member `repeats`) the data of the event that is its item.
create or replace function bus.settle(batch jsonb, fresh int[]) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    positions jsonb; accepted int; written int; foreign_rows int; appended bus.span[]; left_behind jsonb;
begin
    if batch ?| array['ends', 'cancels', 'parks'] then
        perform bus.settle_leases(batch, fresh);
    end if;
    if batch ? 'starts' then
        with s as materialized (
            select s.*, (i.item ->> 'n')::int as n, i.item ->> 'tenant' as for_tenant, i.item ->> 'key' as for_key,
                   i.item ->> 'grp' as consumers, i.item -> 'headers' as h, case when s.repeats is not null then (
                       select jsonb_build_object(s.repeats, e.data) from jsonb_to_recordset(batch -> 'events') as e(id text, data jsonb)
                       where e.id = i.item ->> 'id'
                   ) end as repeated
            from jsonb_to_recordset(batch -> 'starts') as s(c int, id text, kind text, owner text, delay float8, ttl float8,
                input jsonb, repeats text)
            left join jsonb_array_elements(batch -> 'items') with ordinality as i(item, o) on i.o = s.c + 1
        ), put as (
            insert into bus.leases (id, grp, kind, tenant, key, owner, token, due_at, attempts, input)
            select s.id, s.consumers, s.kind, s.for_tenant, s.for_key, s.owner, (s.owner is not null)::int,
                   moment + make_interval(secs => case when s.owner is null then coalesce(s.delay, 0) else s.ttl end),
                   (s.owner is not null)::int, s.input || coalesce(s.repeated, '{}') || case when s.input ? '_cause' then '{}'
                       else jsonb_build_object('_cause', jsonb_build_object('session', s.h -> 'sessionid', 'turn', s.h -> 'turnid',
                       'correlation', s.h -> 'correlationid', 'causation', s.h -> 'causationid', 'traceparent', s.h -> 'traceparent')) end
            from s where s.n = any (fresh) and s.for_tenant = any (mine)
        )
        select count(*) filter (where (s.for_tenant = any (mine)) is not true) into foreign_rows from s;
        if foreign_rows > 0 then
            raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
        end if;
    end if;
    if batch ? 'events' then
        with event as materialized (
            select e.*, (i.item ->> 'n')::int as n, i.item ->> 'tenant' as for_tenant, i.item ->> 'key' as for_key,
                   coalesce(i.item -> 'headers', '{}') || coalesce(e.headers, '{}') as attributes
            from rows from (jsonb_to_recordset(batch -> 'events') as (c int, id text, topic text, part int, type text, headers jsonb, data jsonb))
                with ordinality as e(c, id, topic, part, type, headers, data, o)
            left join jsonb_array_elements(batch -> 'items') with ordinality as i(item, o) on i.o = e.c + 1
        ), fresh_events as materialized (
            select e.*, row_number() over (partition by e.topic, e.part order by e.o) as rank
            from event e where e.n = any (fresh) and e.for_tenant = any (mine)
        ), counted as (
            select topic, part, count(*) as k from fresh_events group by topic, part
        ), locked as materialized (
            select h.topic, h.part, h.next, c.k from bus.heads h join counted c using (topic, part) order by h.topic, h.part for update of h
        ), moved as (
            update bus.heads h set next = h.next + l.k from locked l where h.topic = l.topic and h.part = l.part
        ), written as (
            insert into bus.log as g (topic, part, position, event_id, tenant, key, type, headers, data, at)
            select s.topic, s.part, l.next + s.rank - 1, s.id, s.for_tenant, s.for_key, s.type, s.attributes, s.data, moment
            from fresh_events s join locked l using (topic, part)
            returning g.event_id, g.position
        )
        select (select jsonb_object_agg(w.event_id, w.position) from written w), (select count(*) from written),
               (select count(*) from fresh_events), (select count(*) from event e where (e.for_tenant = any (mine)) is not true),
               (select array_agg(row (l.topic, l.part, l.next - 1, l.next + l.k - 1)::bus.span) from locked l)
        into positions, written, accepted, foreign_rows, appended;
        if foreign_rows > 0 then
            raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
        end if;
        if written <> accepted then
            raise exception 'an event names a topic or partition that is not declared' using errcode = '23503';
        end if;
        if batch @? '$.items[*].after' or batch ? 'consequences' then
            perform bus.refuse_overtaking(batch, fresh, positions);
        end if;
        left_behind := bus.project(appended);
    end if;
    return jsonb_build_object('positions', coalesce(positions, '{}'), 'left', coalesce(left_behind, '[]'));
end
$$;

-- Apply a batch of changesets in one transaction and one round trip (docs/bus.md 6): guards, each schema's apply, events last.
-- An item without a key has the tenant, the key and the headers of the first item with its `n`, and its own headers besides. The
-- source and, but for a lease, the causation are added; a header that is null is left out. The id of a finished lease is made of
-- the lease's and its token.
-- An apply answers with the numbers that it applied; a missing one is its changeset's conflict: SQLSTATE SU001, detail = its n.
-- `counts` says how many changes each schema has: where as many are applied, none is missing.
create or replace function bus.commit(batch jsonb) returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    verdicts jsonb; fresh int[]; fine boolean; home text; kinds jsonb; applied int[]; lacking int[];
begin
    perform set_config('suma.tenants', batch ->> 'tenants', true);
    batch := batch || jsonb_build_object('items', (
        select jsonb_agg(
            case when i.inherits then jsonb_build_object('tenant', i.first -> 'tenant', 'key', i.first -> 'key') else '{}' end
            || jsonb_build_object('id', coalesce(i.item ->> 'id', (i.item ->> 'lease') || ':' || (i.item ->> 'token'))) || i.item
            || jsonb_build_object('headers', jsonb_strip_nulls(
                case when i.inherits then i.first -> 'headers' else '{}' end || jsonb_build_object('source', 'suma/' || (i.item ->> 'grp'))
                || case when i.item ? 'lease' then '{}' else jsonb_build_object('causationid', i.item -> 'id') end
                || coalesce(i.item -> 'headers', '{}')
            )) order by i.o
        )
        from (
            select item, o, not item ? 'key' as inherits, first_value(item) over (partition by item -> 'n' order by o) as first
            from jsonb_array_elements(batch -> 'items') with ordinality as each(item, o)
        ) as i
    ));
    verdicts := bus.guard(batch -> 'items');
    select coalesce(array_agg(v.key::int) filter (where v.value = 'fresh'), '{}'), bool_and(v.value = 'fresh') into fresh, fine
    from jsonb_each_text(verdicts) as v;

    if batch ? 'changes' then
        for home, kinds in select c.key, c.value from jsonb_each(batch -> 'changes') as c order by c.key loop
            if not fine then
                select coalesce(jsonb_object_agg(k.key, remaining.rows), '{}') into kinds
                from jsonb_each(kinds) as k
                cross join lateral (select jsonb_agg(r) as rows from jsonb_array_elements(k.value) as r where (r ->> 'n')::int = any (fresh)) as remaining
                where remaining.rows is not null;
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
    return jsonb_build_object('verdicts', verdicts) || bus.settle(batch, fresh);
end
$$;

-- Projections (docs/bus.md 20): functions over records of the log, each with a cursor for every partition of its topic.

-- Project the appended records of each partition whose cursor is at the head before them. A projection that fails, or meets a row
-- that is not free at once, is rolled back alone: it neither undoes nor delays its cause. Return the partitions left to the
-- follower, as [[topic, part], …].
create or replace function bus.project(appended bus.span[]) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '10ms' as $$
declare
    projection record; projected int[]; events bus.log[]; behind jsonb := '[]';
begin
    for projection in
        select j.grp, j.topic, j.function, array_agg(row (s.topic, s.part, s.after, s.upto)::bus.span) as spans
        from bus.projections j join unnest(appended) as s using (topic) group by j.grp, j.topic order by j.grp, j.topic
    loop
        begin
            with free as materialized (
                select s.part, s.after, s.upto from unnest(projection.spans) as s
                join bus.offsets o on o.grp = projection.grp and o.topic = projection.topic and o.part = s.part and o.position = s.after
                order by s.part for update of o skip locked
            ), moved as (
                update bus.offsets o set position = f.upto from free f
                where o.grp = projection.grp and o.topic = projection.topic and o.part = f.part
            )
            select (select array_agg(f.part) from free f), array_agg(l.event order by (l.event).part, (l.event).position)
            into projected, events
            from free f cross join lateral (
                select g as event from bus.log g
                where g.topic = projection.topic and g.part = f.part and g.position > f.after and g.position <= f.upto offset 0
            ) as l;
            if events is not null then
                execute format('select %s($1)', projection.function) using events;
            end if;
        exception when others then
            -- The follower meets the same error, and reports it.
            projected := '{}';
        end;
        behind := behind || coalesce((
            select jsonb_agg(jsonb_build_array(s.topic, s.part)) from unnest(projection.spans) as s
            where (s.part = any (projected)) is not true
        ), '[]');
    end loop;
    return behind;
end
$$;

-- Project at most `most` of the next records of a partition; nothing while another process does. An error is searched by ever
-- fewer records, so that the cursor stops right before the record at fault. Return the cursor, and the error at which it stopped.
create or replace function bus.project_next(grp text, topic text, part int, most int) returns table ("position" bigint, error text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
    projection constant text := (select j.function from bus.projections j where j.grp = project_next.grp and j.topic = project_next.topic);
    place bigint; upto bigint; events bus.log[]; tenants text;
begin
    select greatest(o.position, f.position) into place from bus.offsets o
    left join bus.floors f on f.topic = o.topic and f.part = o.part
    where o.grp = project_next.grp and o.topic = project_next.topic and o.part = project_next.part for update of o skip locked;
    while place is not null loop
        begin
            -- Handlers of an earlier release have done the events in the inbox.
            select max(l.position), array_agg(l.event order by l.position) filter (where i.id is null), array_agg(distinct l.tenant)::text
            into upto, events, tenants
            from (
                select g as event, g.position, g.tenant, g.event_id from bus.log g
                where g.topic = project_next.topic and g.part = project_next.part and g.position > place order by g.position limit most
            ) as l
            left join bus.inbox i on i.grp = project_next.grp and i.id = l.event_id and i.state <> 'parked';
            if events is not null then
                perform set_config('suma.tenants', tenants, true);
                execute format('select %s($1)', projection) using events;
            end if;
            update bus.offsets o set position = coalesce(upto, place)
            where o.grp = project_next.grp and o.topic = project_next.topic and o.part = project_next.part;
            return query select coalesce(upto, place), null::text;
            return;
        exception
            when lock_not_available or deadlock_detected then
                return;
            when others then
                if most = 1 then
                    return query select place, sqlstate || ': ' || sqlerrm;
                    return;
                end if;
                most := greatest(1, most / 8);
        end;
    end loop;
end
$$;

-- The position of each cursor of these groups, the last one of its partition, and whether there is a process beside this member.
create or replace function bus.cursors(grps text[], member text)
returns table (grp text, topic text, part int, "position" bigint, last bigint, accompanied boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select o.grp, o.topic, o.part, o.position, h.next - 1, (
        select exists (select from bus.members m where m.member <> cursors.member and m.seen_at > bus.now() - interval '20 seconds')
    )
    from bus.projections j join bus.offsets o using (grp, topic) join bus.heads h using (topic, part)
    where j.grp = any (grps) order by o.grp, o.topic, o.part
$$;

-- The subjects of the records in these spans, without their data.
create or replace function bus.subjects(topic text, parts int[], after bigint[], upto bigint[])
returns table (type text, tenant text, session text, turn text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select distinct l.type, l.tenant, l.headers ->> 'sessionid', l.headers ->> 'turnid'
    from unnest(parts, after, upto) as w(part, after, upto)
    cross join lateral (
        select * from bus.log g
        where g.topic = subjects.topic and g.part = w.part and g.position > w.after and g.position <= w.upto offset 0
    ) as l
$$;

-- Declare the function of a schema that projects a topic. The cursors begin where handlers of an earlier release have left off: at the
-- group's offset, or before the first event that they parked. From then on `bus.guard` answers such handlers that all is done.
create or replace function bus.declare_projection(grp text, topic text, function text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into bus.projections values (grp, topic, function)
    on conflict on constraint projections_pkey do update set function = excluded.function;
    -- Wait for changesets that are being applied. The next ones meet the new functions, which know no change of those handlers.
    lock table bus.inbox in share mode;
    insert into bus.offsets as o (grp, topic, part, position, projected)
    select declare_projection.grp, h.topic, h.part, coalesce(least(o.position, min(l.position) - 1), 0), true
    from bus.heads h
    left join bus.offsets o on o.grp = declare_projection.grp and o.topic = h.topic and o.part = h.part
    left join bus.parked p on p.grp = declare_projection.grp and p.topic = h.topic and p.state = 'parked'
    left join bus.log l on l.topic = h.topic and l.part = h.part and l.event_id = p.event_id
    where h.topic = declare_projection.topic group by h.topic, h.part, o.position
    on conflict on constraint offsets_pkey do update set position = excluded.position, projected = true;
    with gone as (
        delete from bus.parked p
        where p.grp = declare_projection.grp and p.topic = declare_projection.topic and p.state = 'parked' returning p.event_id
    )
    delete from bus.inbox i using gone g where i.grp = declare_projection.grp and i.id = g.event_id;
end
$$;

-- Reading: the partitions of each member, and its offsets.

-- Lock members before partitions, each in the order of its keys: otherwise a process that frees dead members could deadlock with
-- a live one that deletes them.

-- Claim a fair share of the group's partitions for a member: at most ceil(P / live members), for ttl seconds.
create or replace function bus.own(grps text[], member text, ttl float8)
returns table (grp text, topic text, part int, token bigint, "position" bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    insert into bus.members as m (grp, member, seen_at) select g, own.member, bus.now() from unnest(grps) as g order by g
    on conflict (grp, member) do update set seen_at = excluded.seen_at;
    -- Skip members that another transaction has locked: it deletes them.
    with expired as (
        select m.grp, m.member from bus.members m
        where m.grp = any (grps) and m.seen_at < bus.now() - make_interval(secs => ttl * 4) for update skip locked
    )
    delete from bus.members m using expired g where m.grp = g.grp and m.member = g.member;

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

-- Leave the group at once, so that others need not wait for the partitions to run out.
create or replace function bus.leave(grps text[], member text) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
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

-- A process leaves in order, and gives back what it holds: that is no death.
create or replace function bus.release_all(member text) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
    with mine as (select l.id from bus.leases l where l.owner = release_all.member order by l.id for update)
    update bus.leases l set owner = null, due_at = bus.now() from mine m where l.id = m.id
$$;

-- The records after each position, in order. Gapless, because positions are given under the head's lock.
create or replace function bus.read(topics text[], parts int[], after bigint[], most int)
returns table (topic text, part int, "position" bigint, event_id text, tenant text, key text, type text, headers text, data text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select l.topic, l.part, l.position, l.event_id, l.tenant, l.key, l.type, l.headers::text, l.data::text
    from unnest(topics, parts, after) as w(topic, part, after)
    cross join lateral (
        select * from bus.log g where g.topic = w.topic and g.part = w.part and g.position > w.after order by g.position limit most
    ) as l
    order by l.topic, l.part, l.position
$$;

-- Move the group's hints forward, never back.
create or replace function bus.advance(grps text[], topics text[], parts int[], positions bigint[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
    insert into bus.offsets as o (grp, topic, part, position)
    select * from unnest(grps, topics, parts, positions) as w(grp, topic, part, position) order by 1, 2, 3
    on conflict (grp, topic, part) do update set position = greatest(o.position, excluded.position) where not o.projected
$$;

-- The lag of each group, in records that still exist.
create or replace function bus.lag(grps text[]) returns table (grp text, topic text, lag bigint) language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, sum(h.next - 1 - greatest(coalesce(o.position, 0), coalesce(f.position, 0)))::bigint
    from (
        select p.grp, p.topic, p.part from bus.partitions p
        union select j.grp, h.topic, h.part from bus.projections j join bus.heads h using (topic)
    ) as p join bus.heads h using (topic, part)
    left join bus.offsets o on o.grp = p.grp and o.topic = p.topic and o.part = p.part
    left join bus.floors f on f.topic = p.topic and f.part = p.part
    where p.grp = any (grps) group by p.grp, p.topic
$$;

-- The waiting work: leases that are due and not held, counted up to a bound.
create or replace function bus.backlog(most int) returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select count(*) from (
        select from bus.leases l where l.owner is null and l.due_at <= (select bus.now()) limit backlog.most
    ) as waiting
$$;

-- Leases (docs/bus.md 17 and 18). Rows that are taken together are taken in the order of their keys, as everywhere in the bus: random
-- order deadlocks.

-- Claim due leases: unheld ones that are due and held ones that ran out, round-robin by tenant. One that ran out in another's hands
-- has outlived its process. A lease that did so twice runs alone in its next process, so that its third death is its own.
create or replace function bus.due(grp text, member text, kind text, room int, per_tenant int, ttl float8)
returns table (id text, tenant text, key text, token bigint, attempts int, cancelled boolean, input text, deaths int)
language sql security definer set search_path = pg_catalog, pg_temp as $$
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

-- The work for the sweep: (group, kind) with leases due, and (group, '') with parked events due.
create or replace function bus.pending(grps text[]) returns table (grp text, kind text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
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

-- Renew what is still ours; an id that is not returned is lost. A released lease has no owner and keeps its due time.
create or replace function bus.beat(ids text[], tokens bigint[], ttl float8) returns table (id text, cancelled boolean)
language sql security definer set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select l.id from bus.leases l join unnest(ids, tokens) as h(id, token) on l.id = h.id and l.token = h.token
        where l.owner is not null and l.due_at > (select bus.now()) order by l.id for update of l
    )
    update bus.leases l set due_at = bus.now() + make_interval(secs => ttl) from mine where l.id = mine.id
    returning l.id, l.cancelled
$$;

-- Return the given leases that are cancelled or lost.
create or replace function bus.cancelled_or_lost(ids text[], tokens bigint[]) returns table (id text, lost boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select h.id, l.id is null from unnest(ids, tokens) as h(id, token)
    left join bus.leases l on l.id = h.id and l.token = h.token
    where l.id is null or l.cancelled
$$;

-- Give a lease back, to be taken again after some seconds.
create or replace function bus.release(ids text[], tokens bigint[], delay float8) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select l.id from bus.leases l join unnest(ids, tokens) as h(id, token) on l.id = h.id and l.token = h.token
        order by l.id for update of l
    )
    update bus.leases l set owner = null, due_at = bus.now() + make_interval(secs => delay) from mine where l.id = mine.id
$$;

-- Free at once the leases of owners that are known to be dead. Only the holder of the data directory's lock may call this.
-- Skip a lease that another transaction has locked: it is being released, and waiting for it could deadlock at a start.
create or replace function bus.free(owners text[]) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare freed bigint;
begin
    with stale as (select l.id from bus.leases l where l.owner = any (owners) for update skip locked)
    update bus.leases l set owner = null, due_at = bus.now(), deaths = l.deaths + 1 from stale t where l.id = t.id;
    get diagnostics freed = row_count;
    with stale as (
        select m.grp, m.member from bus.members m where m.member = any (owners) order by m.grp, m.member for update
    )
    delete from bus.members m using stale t where m.grp = t.grp and m.member = t.member;
    with stale as (
        select p.grp, p.topic, p.part from bus.partitions p where p.member = any (owners)
        order by p.grp, p.topic, p.part for update
    )
    update bus.partitions p set member = null, due_at = bus.now()
    from stale t where p.grp = t.grp and p.topic = t.topic and p.part = t.part;
    return freed;
end
$$;

-- A tenant's leases by group and kind: how many are held, how many are due and wait for a process, and the oldest one's time.
create or replace function bus.leased(tenant text)
returns table (grp text, kind text, leases bigint, held bigint, due bigint, since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select l.grp, l.kind, count(*), count(l.owner),
           count(*) filter (where l.owner is null and l.due_at <= (select bus.now())), min(l.since)
    from bus.leases l where l.tenant = leased.tenant group by l.grp, l.kind order by l.grp, l.kind
$$;

-- Parked and dead events (docs/bus.md 15 and 16).

-- Begin to handle an event: how often that was begun before without an end, or null where it was handled. Only an event that is
-- handled alone counts again, so that the events beside a deadly one do not die with it.
create or replace function bus.attempt(grp text, event_id text, alone boolean) returns int
language sql security definer set search_path = pg_catalog, pg_temp as $$
    with before as (
        select b.times from bus.begun b where b.grp = attempt.grp and b.event_id = attempt.event_id
    ), counted as (
        insert into bus.begun as b (grp, event_id, times, at)
        select attempt.grp, attempt.event_id, 1, bus.now()
        where not exists (select from bus.inbox i where i.grp = attempt.grp and i.id = attempt.event_id)
        on conflict (grp, event_id) do update set times = b.times + attempt.alone::int, at = excluded.at
        returning b.event_id
    )
    select coalesce((select times from before), 0) from counted
$$;

-- Forget rows that are older than any event can stay unhandled.
create or replace function bus.forget_begun(most int) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
    with old as (
        select b.grp, b.event_id from bus.begun b where b.at < bus.now() - interval '30 days'
        order by b.grp, b.event_id limit most for update skip locked
    )
    delete from bus.begun b using old o where b.grp = o.grp and b.event_id = o.event_id
$$;

-- The parked heads that are due: the first of each key, in turn by tenant, pushed back at once so that a crash only retries
-- later. One that was only parked behind others begins to age at its own first try: a long outage must not kill the whole queue.
create or replace function bus.retries(grp text, most int)
returns table (topic text, key text, seq bigint, event_id text, tenant text, type text, headers text, data text, attempts int, age float8)
language sql security definer set search_path = pg_catalog, pg_temp as $$
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

-- A retry failed again: when is the next one?
create or replace function bus.postpone(grp text, seq bigint, delay float8, error text) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
    update bus.parked p set due_at = bus.now() + make_interval(secs => delay), error = postpone.error
    where p.grp = postpone.grp and p.seq = postpone.seq and p.state = 'parked'
$$;

-- A tenant's parked events that wait for one reason (an error begins with its code), the longest waiting first; or the one of
-- this id. Events that are only parked behind another of their key are left out.
create or replace function bus.waiting(tenant text, code text, id text, most int)
returns table (grp text, topic text, key text, event_id text, type text, headers text, attempts int, since timestamptz, due_at timestamptz, error text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, p.key, p.event_id, p.type, p.headers::text, p.attempts, p.since, p.due_at, p.error
    from bus.parked p
    where p.tenant = waiting.tenant and p.state = 'parked' and starts_with(p.error, waiting.code || ':')
        and (waiting.id is null or p.event_id = waiting.id)
    order by p.since, p.seq limit waiting.most
$$;

-- How many of a tenant's events are parked or dead, and since when.
create or replace function bus.parked_counts(tenant text)
returns table (grp text, topic text, state text, events bigint, since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, p.state, count(*), min(p.since) from bus.parked p where p.tenant = parked_counts.tenant group by p.grp, p.topic, p.state
$$;

-- The parked events of these groups by topic, over all tenants, and the age of the oldest in seconds.
create or replace function bus.parked_backlog(grps text[]) returns table (grp text, topic text, events bigint, age float8)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, count(*), extract(epoch from bus.now() - min(p.since))::float8
    from bus.parked p where p.state = 'parked' and p.grp = any (grps) group by p.grp, p.topic
$$;

-- Trimming.

-- Delete, of each partition of these topics, at most `most` of the oldest records: those that are older than `keep` seconds and
-- that every group has done. The groups are those that are declared and those that must be (`readers`: topic → groups), so that
-- one which has never started yet loses nothing. A group without an offset has done nothing.
-- A crash of the server cannot undo an offset that was used here: its commit precedes ours in the write-ahead log.
create or replace function bus.trim_log(topics text[], keeps float8[], readers jsonb, most int)
returns table (topic text, trimmed bigint) language sql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    with candidates as materialized (
        select h.topic, h.part, coalesce(f.position, 0) as below, w.keep, d.done
        from unnest(topics, keeps) as w(topic, keep)
        join bus.heads h on h.topic = w.topic
        left join bus.floors f on f.topic = h.topic and f.part = h.part
        cross join lateral (
            select min(coalesce(o.position, 0)) as done
            from (
                select p.grp from bus.partitions p where p.topic = h.topic and p.part = h.part
                union select j.grp from bus.projections j where j.topic = h.topic
                union select jsonb_array_elements_text(readers -> h.topic)
            ) as g
            left join bus.offsets o on o.grp = g.grp and o.topic = h.topic and o.part = h.part
        ) as d
    ), reached as materialized (
        select s.topic, s.part, s.below, c.upto
        from candidates s
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
    ), deleted as (
        delete from bus.log l using reached r where l.topic = r.topic and l.part = r.part and l.position <= r.upto returning l.topic
    )
    select g.topic, count(*) from deleted g group by g.topic
$$;

-- Delete at most `most` of each group's inbox rows that are done and older than the longest `keep` (seconds) of the topics that
-- it consumes, and than the oldest record that any of them still keeps: an event that can be redelivered is still refused.
-- (An hour more: positions are in the order of commits, times nearly so.) Parked and dead rows stay.
create or replace function bus.trim_inbox(grps text[], topics text[], keeps float8[], most int)
returns table (grp text, trimmed bigint) language sql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    with retained as (
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
        from retained k group by k.grp
    ), old as materialized (
        select o.grp, o.id from bound b
        cross join lateral (
            select i.grp, i.id from bus.inbox i
            where i.grp = b.grp and i.state = 'done' and i.at < b.before order by i.at limit most for update of i skip locked
        ) as o
    ), deleted as (
        delete from bus.inbox i using old o where i.grp = o.grp and i.id = o.id returning i.grp
    )
    select g.grp, count(*) from deleted g group by g.grp
$$;

-- The number of records of each topic in the log, and the age of the oldest in seconds; null where there is none.
create or replace function bus.topic_sizes(topics text[]) returns table (topic text, records bigint, age float8)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select h.topic, sum(h.next - 1 - coalesce(f.position, 0))::bigint, extract(epoch from bus.now() - min(o.at))::float8
    from bus.heads h
    left join bus.floors f using (topic, part)
    left join lateral (
        select l.at from bus.log l
        where l.topic = h.topic and l.part = h.part and l.position > coalesce(f.position, 0) order by l.position limit 1
    ) as o on true
    where h.topic = any (topics) group by h.topic
$$;

-- The tables of a schema with a column of this name, and the columns of each that are derived. Tables with references to them come last.
create or replace function bus.tables_with(of_schema text, named text, out tab regclass, out derived text[]) returns setof record
language sql stable set search_path = pg_catalog, pg_temp as $$
    select c.oid, array(
        select d.attname::text from pg_attribute d
        where d.attrelid = c.oid and format_type(d.atttypid, null) ~ '(vector|halfvec|sparsevec|tsvector)$'
    )
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = named and not a.attisdropped
    where c.relnamespace = to_regnamespace(of_schema) and c.relkind in ('r', 'p') and not c.relispartition
    order by (select count(*) from pg_constraint f where f.confrelid = c.oid), c.relname
$$;

-- Delete the rows of a schema that have one of these values in a column of this name, whichever table they are in: a table that
-- is added later cannot be forgotten. The caller's rights and row-level security apply (docs/decisions/0124).
create or replace function bus.erase(of_schema text, of_tenant text, named text, given text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    tab regclass;
begin
    for tab in select t.tab from bus.tables_with(of_schema, named) as t loop
        execute format('delete from %s where tenant_id = $1 and %I = any ($2)', tab, named) using of_tenant, given;
    end loop;
end
$$;

-- The rows that `bus.erase` would delete, without vectors and word lists, which are derived from their texts.
create or replace function bus.held(of_schema text, of_tenant text, named text, given text[]) returns table (name text, content jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    one record;
begin
    for one in select t.tab, t.derived from bus.tables_with(of_schema, named) as t loop
        return query execute format('select %L::text, to_jsonb(h) - $3 from %s as h where tenant_id = $1 and %I = any ($2)', one.tab, one.tab, named)
            using of_tenant, given, one.derived;
    end loop;
end
$$;

revoke all on all functions in schema bus from public;
grant usage on schema bus to suma_app;
grant execute on function
    bus.now(), bus.tenants(), bus.refuse_other_tenants(jsonb), bus.guard(jsonb), bus.settle(jsonb, int[]), bus.decide(jsonb, int[]), bus.commit(jsonb),
    bus.tables_with(text, text), bus.erase(text, text, text, text[]), bus.held(text, text, text, text[])
    to suma_app;
grant execute on function bus.recorded(text, int[], bigint[]) to suma_app, suma_owner;
grant execute on function bus.declare_projection(text, text, text) to suma_owner;
