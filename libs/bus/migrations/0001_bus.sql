-- The bus on Postgres (bus.md): the log, who reads it, what was handled, what waits, and the one function that writes.
-- Owner: suma_bus. Services (suma_app) may only execute; they have no grant on any table here.

create table bus.clock (
    one boolean primary key default true check (one),
    shift interval not null default interval '0'
);
insert into bus.clock default values;

-- All time in the bus is the database's, plus a shift that tests move so that leases run out without waiting.
create function bus.now() returns timestamptz language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select clock_timestamp() + shift from bus.clock
$$;

create table bus.heads (
    topic text not null,
    part int not null,
    next bigint not null default 1,
    primary key (topic, part)
) with (fillfactor = 50);

create table bus.log (
    topic text not null,
    part int not null,
    position bigint not null,
    event_id text not null,
    tenant text not null,
    key text not null,
    type text not null,
    headers jsonb not null,
    data jsonb not null,
    at timestamptz not null,
    primary key (topic, part, position)
);

create table bus.offsets (
    grp text not null,
    topic text not null,
    part int not null,
    position bigint not null,
    primary key (grp, topic, part)
) with (fillfactor = 50);

create table bus.members (
    grp text not null,
    member text not null,
    seen_at timestamptz not null,
    primary key (grp, member)
);

create table bus.partitions (
    grp text not null,
    topic text not null,
    part int not null,
    member text,
    token bigint not null default 0,
    due_at timestamptz not null,
    primary key (grp, topic, part)
);

create table bus.inbox (
    grp text not null,
    id text not null,
    tenant text not null,
    state text not null check (state in ('done', 'parked', 'dead')),
    at timestamptz not null,
    primary key (grp, id)
);

create table bus.parked (
    grp text not null,
    topic text not null,
    key text not null,
    seq bigint generated always as identity,
    event_id text not null,
    tenant text not null,
    type text not null,
    headers jsonb not null,
    data jsonb not null,
    attempts int not null default 0,
    since timestamptz not null,
    due_at timestamptz not null,
    state text not null check (state in ('parked', 'dead')),
    error text not null,
    primary key (grp, topic, key, seq)
);
create unique index parked_event on bus.parked (grp, event_id);
create index parked_due on bus.parked (grp, due_at) where state = 'parked';
create index parked_key on bus.parked (grp, topic, key) where state = 'parked';

create table bus.leases (
    id text primary key,
    grp text not null,
    kind text not null,
    tenant text not null,
    key text not null,
    owner text,
    token bigint not null default 0,
    due_at timestamptz not null,
    cancelled boolean not null default false,
    attempts int not null default 0,
    input jsonb not null
);
create index leases_due on bus.leases (grp, kind, due_at);
create index leases_owner on bus.leases (owner) where owner is not null;

-- The transaction's tenants; unset is nobody.
create function bus.tenants() returns text[] language sql stable set search_path = pg_catalog, pg_temp as $$
    select coalesce(nullif(current_setting('suma.tenants', true), '')::text[], '{}')
$$;

-- Refuse a batch that names a tenant outside the transaction's set.
create function bus.closed_door(rows jsonb) returns void language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
    mine constant text[] := bus.tenants();
begin
    if exists (select from jsonb_to_recordset(rows) as r(tenant text) where (r.tenant = any (mine)) is not true) then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;
end
$$;

-- One changeset of a batch: the inbox row that it becomes, the lease that it finishes, the parked row that it retries.
create type bus.item as (
    n int, grp text, id text, tenant text, key text, topic text, lease text, token bigint, urgent boolean, parked bigint, state text
);

-- Guard every item of a batch: seen (its id is in the inbox), lost (its lease has moved on), behind (its key is parked), else
-- fresh. Leases and inbox rows are taken in key order: random order deadlocks.
create function bus.guard(items jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

    -- A retried or replayed event already has its row: it moves from parked to what it becomes now.
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
    -- What a lost answer hides: our own finish took the lease, and its inbox row says so.
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

-- The last statement of every commit: leases, parked rows, and then the events, whose positions are given under the
-- locked heads in ascending order, so that they are dense and no key is ever reordered.
create function bus.settle(batch jsonb, fresh int[]) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    moment constant timestamptz := bus.now();
    positions jsonb;
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
    if batch ? 'starts' then
        perform bus.closed_door(batch -> 'starts');
        insert into bus.leases (id, grp, kind, tenant, key, owner, token, due_at, attempts, input)
        select s.id, s.grp, s.kind, s.tenant, s.key, s.owner, (s.owner is not null)::int,
               moment + make_interval(secs => case when s.owner is null then s.delay else s.ttl end),
               (s.owner is not null)::int, s.input
        from jsonb_to_recordset(batch -> 'starts')
            as s(n int, id text, grp text, kind text, tenant text, key text, owner text, delay float8, ttl float8, input jsonb)
        where s.n = any (fresh);
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
    if batch ? 'events' then
        perform bus.closed_door(batch -> 'events');
        with said as (
            select e.*, row_number() over (partition by e.topic, e.part order by e.o) as rank
            from jsonb_to_recordset(batch -> 'events')
                as e(n int, o int, id text, topic text, part int, tenant text, key text, type text, headers jsonb, data jsonb)
            where e.n = any (fresh)
        ), counted as (
            select topic, part, count(*) as k from said group by topic, part
        ), locked as materialized (
            select h.topic, h.part, h.next, c.k from bus.heads h join counted c using (topic, part) order by h.topic, h.part for update of h
        ), moved as (
            update bus.heads h set next = h.next + l.k from locked l where h.topic = l.topic and h.part = l.part
        ), written as (
            insert into bus.log as g (topic, part, position, event_id, tenant, key, type, headers, data, at)
            select s.topic, s.part, l.next + s.rank - 1, s.id, s.tenant, s.key, s.type, s.headers, s.data, moment
            from said s join locked l using (topic, part)
            returning g.event_id, g.position
        )
        select jsonb_object_agg(event_id, position) into positions from written;
        if (select count(*) from jsonb_object_keys(coalesce(positions, '{}')))
            <> (select count(*) from jsonb_to_recordset(batch -> 'events') as e(n int) where e.n = any (fresh)) then
            raise exception 'an event names a topic or partition that is not declared' using errcode = '23503';
        end if;
    end if;
    return coalesce(positions, '{}');
end
$$;

-- Apply a batch of changesets in one transaction and one round trip (bus.md 6): guards, each schema's apply, events last.
-- An apply answers with the numbers that it applied; a missing one is its changeset's conflict: SQLSTATE SU001, detail = its n.
create function bus.commit(batch jsonb) returns jsonb language plpgsql set search_path = pg_catalog, pg_temp as $$
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
            select array_agg(distinct (r ->> 'n')::int) into lacking
            from jsonb_each(kinds) as k cross join lateral jsonb_array_elements(k.value) as r
            where ((r ->> 'i')::int = any (applied)) is not true;
            if lacking is not null then
                raise exception 'a decision rests on a row that has changed' using errcode = 'SU001', detail = lacking::text;
            end if;
        end loop;
    end if;
    return jsonb_build_object('verdicts', verdicts, 'positions', bus.settle(batch, fresh));
end
$$;

-- The records after each position, in order. Gapless, because positions are given under the head's lock.
create function bus.read(topics text[], parts int[], after bigint[], most int)
returns table (topic text, part int, "position" bigint, event_id text, tenant text, key text, type text, headers text, data text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select l.topic, l.part, l.position, l.event_id, l.tenant, l.key, l.type, l.headers::text, l.data::text
    from unnest(topics, parts, after) as w(topic, part, after)
    cross join lateral (
        select * from bus.log g where g.topic = w.topic and g.part = w.part and g.position > w.after order by g.position limit most
    ) as l
    order by l.topic, l.part, l.position
$$;

-- Claim a fair share of the group's partitions for a member: at most ceil(P / live members), for ttl seconds.
create function bus.own(grps text[], member text, ttl float8)
returns table (grp text, topic text, part int, token bigint, "position" bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    insert into bus.members as m (grp, member, seen_at) select g, own.member, bus.now() from unnest(grps) as g order by g
    on conflict (grp, member) do update set seen_at = excluded.seen_at;
    delete from bus.members m where m.grp = any (grps) and m.seen_at < bus.now() - make_interval(secs => ttl * 4);

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
create function bus.leave(grps text[], member text) returns void language sql set search_path = pg_catalog, pg_temp as $$
    delete from bus.members m where m.grp = any (grps) and m.member = leave.member;
    update bus.partitions p set member = null where p.grp = any (grps) and p.member = leave.member;
$$;

-- Move the group's hints forward, never back.
create function bus.advance(grps text[], topics text[], parts int[], positions bigint[]) returns void
language sql set search_path = pg_catalog, pg_temp as $$
    insert into bus.offsets as o (grp, topic, part, position)
    select * from unnest(grps, topics, parts, positions) as w(grp, topic, part, position) order by 1, 2, 3
    on conflict (grp, topic, part) do update set position = greatest(o.position, excluded.position)
$$;

-- Claim due leases: unheld ones that are due and held ones that ran out, round-robin by tenant.
create function bus.due(grp text, member text, kind text, room int, per_tenant int, ttl float8)
returns table (id text, tenant text, key text, token bigint, attempts int, cancelled boolean, input text)
language sql set search_path = pg_catalog, pg_temp as $$
    with busy as (
        select l.tenant, count(*) as held from bus.leases l
        where l.grp = due.grp and l.kind = due.kind and l.owner = due.member and l.due_at > (select bus.now()) group by l.tenant
    ), ranked as (
        select l.id, l.due_at, row_number() over (partition by l.tenant order by l.due_at) + coalesce(b.held, 0) as turn
        from bus.leases l left join busy b using (tenant)
        where l.grp = due.grp and l.kind = due.kind and l.due_at <= (select bus.now())
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
create function bus.pending(grps text[]) returns table (grp text, kind text) language sql stable set search_path = pg_catalog, pg_temp as $$
    select distinct l.grp, l.kind from bus.leases l where l.grp = any (grps) and l.due_at <= (select bus.now())
    union all
    select distinct p.grp, '' from bus.parked p where p.grp = any (grps) and p.state = 'parked' and p.due_at <= (select bus.now())
$$;

-- Renew what is still ours; an id that does not come back is lost.
create function bus.beat(ids text[], tokens bigint[], ttl float8) returns table (id text, cancelled boolean)
language sql set search_path = pg_catalog, pg_temp as $$
    with mine as (
        select l.id from bus.leases l join unnest(ids, tokens) as h(id, token) on l.id = h.id and l.token = h.token
        where l.due_at > (select bus.now()) order by l.id for update of l
    )
    update bus.leases l set due_at = bus.now() + make_interval(secs => ttl) from mine where l.id = mine.id
    returning l.id, l.cancelled
$$;

-- Which of these are marked as cancelled, or gone?
create function bus.marked(ids text[], tokens bigint[]) returns table (id text, lost boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select h.id, l.id is null from unnest(ids, tokens) as h(id, token)
    left join bus.leases l on l.id = h.id and l.token = h.token
    where l.id is null or l.cancelled
$$;

-- Give a lease back, to be taken again after some seconds.
create function bus.release(ids text[], tokens bigint[], delay float8) returns void language sql set search_path = pg_catalog, pg_temp as $$
    update bus.leases l set owner = null, due_at = bus.now() + make_interval(secs => delay)
    from unnest(ids, tokens) as h(id, token) where l.id = h.id and l.token = h.token
$$;

-- Free at once what owners that are known to be dead still hold. Only the holder of the data directory's lock may ask.
create function bus.free(owners text[]) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare freed bigint;
begin
    update bus.leases l set owner = null, due_at = bus.now() where l.owner = any (owners);
    get diagnostics freed = row_count;
    update bus.partitions p set member = null, due_at = bus.now() where p.member = any (owners);
    delete from bus.members m where m.member = any (owners);
    return freed;
end
$$;

-- The parked heads that are due: the first of each key, pushed back at once so that a crash only retries later. One that only
-- stood behind others begins to age at its own first try: an outage must not kill a whole queue at its end.
create function bus.retries(grp text, most int)
returns table (topic text, key text, seq bigint, event_id text, tenant text, type text, headers text, data text, attempts int, age float8)
language sql set search_path = pg_catalog, pg_temp as $$
    with heads as (
        select distinct on (p.topic, p.key) p.topic, p.key, p.seq, p.due_at from bus.parked p
        where p.grp = retries.grp and p.state = 'parked' order by p.topic, p.key, p.seq
    ), chosen as (
        select p.topic, p.key, p.seq from bus.parked p join heads h using (topic, key, seq)
        where p.grp = retries.grp and p.due_at <= bus.now() order by p.topic, p.key, p.seq limit most for update of p skip locked
    )
    update bus.parked p set attempts = p.attempts + 1, due_at = bus.now() + interval '30 seconds',
        since = case when p.attempts = 0 then bus.now() else p.since end
    from chosen c where p.grp = retries.grp and p.topic = c.topic and p.key = c.key and p.seq = c.seq
    returning p.topic, p.key, p.seq, p.event_id, p.tenant, p.type, p.headers::text, p.data::text, p.attempts,
        extract(epoch from bus.now() - p.since)::float8
$$;

-- A retry failed again: when is the next one?
create function bus.postpone(grp text, seq bigint, delay float8, error text) returns void language sql set search_path = pg_catalog, pg_temp as $$
    update bus.parked p set due_at = bus.now() + make_interval(secs => delay), error = postpone.error
    where p.grp = postpone.grp and p.seq = postpone.seq and p.state = 'parked'
$$;

-- Replay a dead letter: to the failing group only, at the tail of its key, with its id, by compare-and-set from dead.
create function bus.replay(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
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

-- How far behind each group is, in records.
create function bus.lag(grps text[]) returns table (grp text, topic text, lag bigint) language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, sum(h.next - 1 - coalesce(o.position, 0))::bigint
    from bus.partitions p join bus.heads h using (topic, part)
    left join bus.offsets o on o.grp = p.grp and o.topic = p.topic and o.part = p.part
    where p.grp = any (grps) group by p.grp, p.topic
$$;

revoke all on all functions in schema bus from public;
grant usage on schema bus to suma_app;
grant execute on function bus.now(), bus.tenants(), bus.closed_door(jsonb), bus.guard(jsonb), bus.settle(jsonb, int[]), bus.commit(jsonb) to suma_app;
