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

-- Chain the records of these events in their order: link = sha256(previous link || leaf), as in libs/audit/chain.py. The records of a
-- changeset travel as one event; each is chained as if it had travelled alone, with the id EVENT.N. The function runs with its owner's
-- rights and services only read the tables, so the chain can only be appended to, by what is in the log.
create or replace function audit.project(events bus.log[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    c record; head audit.heads; leaf bytea;
begin
    insert into audit.heads (tenant_id, count, link)
    select distinct e.tenant, 0, sha256(convert_to('suma.audit.v1:' || e.tenant, 'UTF8')) from unnest(events) as e
    where not exists (select from audit.heads h where h.tenant_id = e.tenant) order by e.tenant
    on conflict do nothing;
    -- Heads are locked in one order, so that two writers of the same tenants never deadlock.
    for c in
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
        )
        select each.*, audit.canonical(tenant, id, headers, turn, action) as record from each order by tenant, n, place
    loop
        if c.tenant is distinct from head.tenant_id then
            update audit.heads h set count = head.count, link = head.link where h.tenant_id = head.tenant_id;
            select h.* into strict head from audit.heads h where h.tenant_id = c.tenant for update;
        end if;
        leaf := sha256(convert_to(c.record, 'UTF8'));
        head.link := sha256(head.link || leaf);
        head.count := head.count + 1;
        insert into audit.audit_events
            (tenant_id, position, event_id, occurred_at, action, phase, verdict, principal, session_id, turn_id, record, leaf, link)
        values (
            c.tenant, head.count, c.id, (c.headers ->> 'time')::timestamptz, c.action ->> 'action', c.action ->> 'phase',
            c.action ->> 'verdict', c.action ->> 'principal', c.headers ->> 'sessionid', c.turn, c.record::jsonb, leaf, head.link
        );
    end loop;
    update audit.heads h set count = head.count, link = head.link where h.tenant_id = head.tenant_id;
end
$$;
revoke all on function audit.project(bus.log[]) from public;
grant usage on schema audit to suma_bus;
grant execute on function audit.project(bus.log[]) to suma_bus;
select bus.declare_projection('audit_worker', 'audit.events', 'audit.project');
