-- Return the links that follow `before`: link = sha256(previous link || leaf), as in libs/audit/chain.py.
create or replace function audit.links(before bytea, leaves bytea[]) returns bytea[]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
    made bytea[] := '{}'; leaf bytea;
begin
    foreach leaf in array leaves loop
        before := sha256(before || leaf);
        made := made || before;
    end loop;
    return made;
end
$$;

-- Apply every write of the audit worker. Only a place in the log without its event conflicts: a second writer waits for the lock on the head's row and continues
-- from it. The function runs with its owner's rights and suma_app only reads the tables, so the chain can only be appended to.
create or replace function audit.apply(changes jsonb) returns int[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    plain constant jsonb := '{"resource": "", "rule": "", "revision": "", "digests": {}}';
    known constant text[] := '{action,phase,verdict,principal,resource,rule,revision,turn_id,step_id,call_id,digests}';
    -- A digest of those names and defaults: a worker of another release, which chains other fields, repeats its records instead.
    release constant text := '81bd243d';
    tenants text[]; done int[]; missing int[];
begin
    select array_agg(distinct r ->> 'tenant_id'), array_agg((r ->> 'i')::int) into tenants, done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as r;

    -- Lock all heads first, in one order, so that two writers of the same tenants never deadlock.
    insert into audit.heads (tenant_id, count, link)
    select w.tenant_id, 0, sha256(convert_to('suma.audit.v1:' || w.tenant_id, 'UTF8')) from unnest(tenants) as w(tenant_id)
    where not exists (select from audit.heads h where h.tenant_id = w.tenant_id) order by w.tenant_id
    on conflict do nothing;
    perform from audit.heads h where h.tenant_id = any (tenants) order by h.tenant_id for update;

    -- chain, chain.together, chain.logged: in arrival order, which is the order of the batch. Records of one changeset come
    -- together, each with what it does not share, or by their event's place in the log. The leaf is of the record as
    -- libs/audit/chain.py makes it: without nulls, with the defaults of an action.
    if changes ?| array['chain', 'chain.together', 'chain.logged'] then
        with named as materialized (
            select * from jsonb_to_recordset(coalesce(changes -> 'chain.logged', '[]'))
                as n(i int, tenant_id text, event_id text, part int, "position" bigint, form text, leaves jsonb)
        ), found as materialized (
            select n.i, n.tenant_id, n.leaves, g.event_id, g.type, g.data, jsonb_strip_nulls(jsonb_build_object(
                'time', g.headers ->> 'time', 'source', g.headers ->> 'source', 'tenant', g.tenant, 'session', g.headers ->> 'sessionid',
                'correlation', g.headers ->> 'correlationid', 'causation', g.headers ->> 'causationid', 'turn', g.headers ->> 'turnid',
                'type', 'suma.action.recorded.v1'
            )) as origin
            from bus.recorded('audit.events', (select array_agg(n.part) from named n), (select array_agg(n."position") from named n)) as g
            join named n on n.part = g.part and n."position" = g."position" and n.event_id = g.event_id and n.tenant_id = g.tenant
            where n.form = release and not exists (
                select from jsonb_array_elements(coalesce(g.data -> 'records', jsonb_build_array(g.data))) as r
                cross join lateral jsonb_object_keys(r) as k(name) where k.name <> all (known)
            )
        ), each as (
            select c.i as change, 0 as place, c.tenant_id, c.record, c.leaf
            from jsonb_to_recordset(coalesce(changes -> 'chain', '[]')) as c(i int, tenant_id text, record jsonb, leaf text)
            union all
            select t.i, e.place, t.tenant_id, t.origin || (e.entry - 'leaf'), e.entry ->> 'leaf'
            from jsonb_to_recordset(coalesce(changes -> 'chain.together', '[]')) as t(i int, tenant_id text, origin jsonb, entries jsonb)
            cross join lateral jsonb_array_elements(t.entries) with ordinality as e(entry, place)
            union all
            select f.i, 0, f.tenant_id,
                f.origin || jsonb_build_object('id', f.event_id, 'data', jsonb_strip_nulls(plain || f.data)), f.leaves ->> 0
            from found f where f.type = 'suma.action.recorded.v1'
            union all
            select f.i, r.place, f.tenant_id,
                f.origin || jsonb_strip_nulls(jsonb_build_object('id', f.event_id || '.' || (r.place - 1),
                    'turn', coalesce(nullif(r.record ->> 'turn_id', ''), f.origin ->> 'turn'), 'data', plain || r.record)),
                f.leaves ->> (r.place - 1)::int
            from found f cross join lateral jsonb_array_elements(f.data -> 'records') with ordinality as r(record, place)
            where f.type = 'suma.actions.recorded.v1'
        ), c as materialized (
            select row_number() over (order by each.change, each.place) as i, each.tenant_id, each.record,
                   decode(each.leaf, 'hex') as leaf
            from each
        ), arrived as (
            select c.tenant_id, array_agg(c.i order by c.i) as numbers, array_agg(c.leaf order by c.i) as leaves from c group by c.tenant_id
        ), linked as materialized (
            select a.tenant_id, h.count, a.numbers, audit.links(h.link, a.leaves) as links
            from arrived a join audit.heads h using (tenant_id)
        ), moved as (
            update audit.heads h set count = h.count + cardinality(l.links), link = l.links[cardinality(l.links)]
            from linked l where h.tenant_id = l.tenant_id
        ), written as (
            insert into audit.audit_events
                (tenant_id, position, event_id, occurred_at, action, phase, verdict, principal, session_id, turn_id, record, leaf, link)
            select l.tenant_id, l.count + p.place, c.record ->> 'id', (c.record ->> 'time')::timestamptz,
                   c.record #>> '{data,action}', c.record #>> '{data,phase}', c.record #>> '{data,verdict}', c.record #>> '{data,principal}',
                   c.record ->> 'session', c.record ->> 'turn', c.record, c.leaf, p.link
            from linked l
            cross join lateral unnest(l.numbers, l.links) with ordinality as p(i, link, place)
            join c on c.i = p.i
        )
        select array_agg(n.i) into missing from named n where n.i not in (select f.i from found f);
        if missing is not null then
            -- A conflict: the next try repeats these records.
            done := array(select unnest(done) except select unnest(missing));
        end if;
    end if;

    -- seal: store a checkpoint, signed over a committed head. Two workers may seal the same head.
    if changes ? 'seal' then
        insert into audit.checkpoints (tenant_id, count, head, time, key_id, signature)
        select s.tenant_id, s.count, s.head, s.time, s.key_id, s.signature from jsonb_to_recordset(changes -> 'seal')
            as s(tenant_id text, count bigint, head text, time text, key_id text, signature text)
        order by s.tenant_id, s.count
        on conflict do nothing;
        update audit.heads h set sealed = greatest(h.sealed, s.count), since = greatest(h.since, s.time)
        from (
            select s.tenant_id, max(s.count) as count, max(s.time) as time
            from jsonb_to_recordset(changes -> 'seal') as s(tenant_id text, count bigint, time timestamptz) group by s.tenant_id
        ) as s where h.tenant_id = s.tenant_id;
    end if;
    return done;
end
$$;

-- Return the chains of all tenants with records that no checkpoint covers: ids and counts, no content.
create or replace function audit.unsealed() returns table (tenant_id text, count bigint, link bytea, sealed bigint, since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select h.tenant_id, h.count, h.link, h.sealed, h.since from audit.heads h where h.count > h.sealed order by h.since
$$;
revoke all on function audit.unsealed() from public;
grant execute on function audit.unsealed() to suma_app;

revoke all on function audit.apply(jsonb) from public;
grant execute on function audit.apply(jsonb) to suma_app;
revoke insert, update, delete on audit.audit_events, audit.checkpoints, audit.heads from suma_app;
