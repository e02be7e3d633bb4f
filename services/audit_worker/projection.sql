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

-- A member of canonical JSON with a text; null for an absent one. `to_json` escapes as RFC 8785 asks. This function and the next
-- two are expanded where they are called, which needs that they set nothing; `audit.project` fixes their search path.
create or replace function audit.member(name text, value text) returns text language sql stable as $$
    select to_json(name) || ':' || to_json(value)
$$;

-- Members of an object of texts as canonical JSON, in the order of their names' UTF-16 code units. That is the order of UTF-8 bytes,
-- but for characters of four bytes (U+10000 and above), which come before U+E000.
create or replace function audit.members(texts jsonb) returns text language sql stable as $$
    select '{' || coalesce(string_agg(audit.member(t.key, t.value), ',' order by translate(
        convert_from(convert_to(t.key, 'UTF8'), 'LATIN1'), U&'\00EE\00EF\00F0\00F1\00F2\00F3\00F4', U&'\00F3\00F4\00EE\00EF\00F0\00F1\00F2'
    ) collate "C"), '') || '}'
    from jsonb_each_text(texts) as t
$$;

-- The record of an action as canonical JSON (libs/keys/canonical.py): its members in the order of their names, without nulls. Members
-- of the action that this release does not know are left out, as by an earlier release's event class.
create or replace function audit.canonical(tenant text, id text, headers jsonb, turn text, action jsonb) returns text
language sql stable as $$
    select '{' || concat_ws(',',
        audit.member('causation', headers ->> 'causationid'),
        audit.member('correlation', headers ->> 'correlationid'),
        '"data":{' || concat_ws(',',
            audit.member('action', action ->> 'action'),
            audit.member('call_id', action ->> 'call_id'),
            '"digests":' || audit.members(coalesce(action -> 'digests', '{}')),
            audit.member('phase', action ->> 'phase'),
            audit.member('principal', action ->> 'principal'),
            audit.member('resource', coalesce(action ->> 'resource', '')),
            audit.member('revision', coalesce(action ->> 'revision', '')),
            audit.member('rule', coalesce(action ->> 'rule', '')),
            audit.member('step_id', action ->> 'step_id'),
            audit.member('turn_id', action ->> 'turn_id'),
            audit.member('verdict', action ->> 'verdict')
        ) || '}',
        audit.member('id', id),
        audit.member('session', headers ->> 'sessionid'),
        audit.member('source', coalesce(headers ->> 'source', '')),
        audit.member('tenant', tenant),
        audit.member('time', headers ->> 'time'),
        audit.member('turn', turn),
        audit.member('type', 'suma.action.recorded.v1')
    ) || '}'
$$;

-- Chain the records of these events in their order. The records of a changeset travel as one event; each is chained as if it had
-- travelled alone, with the id EVENT.N. The function runs with its owner's rights and services only read the tables, so the chain can
-- only be appended to, by what is in the log.
create or replace function audit.project(events bus.log[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    tenants constant text[] := array(select distinct e.tenant from unnest(events) as e order by 1);
begin
    -- Lock all heads first, in one order, so that two writers of the same tenants never deadlock.
    insert into audit.heads (tenant_id, count, link)
    select w.tenant_id, 0, sha256(convert_to('suma.audit.v1:' || w.tenant_id, 'UTF8')) from unnest(tenants) as w(tenant_id)
    where not exists (select from audit.heads h where h.tenant_id = w.tenant_id) order by w.tenant_id
    on conflict do nothing;
    perform from audit.heads h where h.tenant_id = any (tenants) order by h.tenant_id for update;

    with each as (
        select e.n, 0 as place, e.tenant, e.event_id as id, e.headers, e.headers ->> 'turnid' as turn, e.data as action
        from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, at, n)
        where e.type = 'suma.action.recorded.v1'
        union all
        select e.n, r.place, e.tenant, e.event_id || '.' || (r.place - 1), e.headers,
            coalesce(nullif(r.action ->> 'turn_id', ''), e.headers ->> 'turnid'), r.action
        from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, at, n)
        cross join lateral jsonb_array_elements(e.data -> 'records') with ordinality as r(action, place)
        where e.type = 'suma.actions.recorded.v1'
    ), c as materialized (
        select row_number() over (order by each.n, each.place) as i, each.*, audit.canonical(tenant, id, headers, turn, action) as record
        from each
    ), arrived as (
        select c.tenant, array_agg(c.i order by c.i) as numbers,
            array_agg(sha256(convert_to(c.record, 'UTF8')) order by c.i) as leaves
        from c group by c.tenant
    ), linked as materialized (
        select a.tenant, h.count, a.numbers, a.leaves, audit.links(h.link, a.leaves) as links
        from arrived a join audit.heads h on h.tenant_id = a.tenant
    ), moved as (
        update audit.heads h set count = h.count + cardinality(l.links), link = l.links[cardinality(l.links)]
        from linked l where h.tenant_id = l.tenant
    )
    insert into audit.audit_events
        (tenant_id, position, event_id, occurred_at, action, phase, verdict, principal, session_id, turn_id, record, leaf, link)
    select l.tenant, l.count + p.place, c.id, (c.headers ->> 'time')::timestamptz, c.action ->> 'action', c.action ->> 'phase',
        c.action ->> 'verdict', c.action ->> 'principal', c.headers ->> 'sessionid', c.turn, c.record::jsonb, p.leaf, p.link
    from linked l
    cross join lateral unnest(l.numbers, l.leaves, l.links) with ordinality as p(i, leaf, link, place)
    join c on c.i = p.i;
end
$$;
revoke all on function audit.project(bus.log[]) from public;
grant usage on schema audit to suma_bus;
grant execute on function audit.project(bus.log[]) to suma_bus;
select bus.declare_projection('audit_worker', 'audit.events', 'audit.project');
