-- The states of facts. A fact's state depends on its person's other facts, so one transaction at a time changes them.

create or replace function memory.lock_facts(changed jsonb) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform pg_advisory_xact_lock(people.person) from (
        select distinct hashtextextended(concat_ws(chr(31), 'memory.facts', c.tenant_id, c.user_id), 0) as person
        from jsonb_to_recordset(changed) as c(tenant_id text, user_id text) order by person
    ) as people;
end
$$;

-- Add a statement about a setting, also late: the time of its event decides, not its arrival.
create or replace function memory.put_fact(stated memory.facts) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    later memory.facts;
begin
    -- Repeated. A tombstone keeps its id, so a repetition does not bring a forgotten fact back.
    perform from memory.facts where tenant_id = stated.tenant_id and fact_id = stated.fact_id;
    if found then return; end if;

    -- Messages from before a tombstone may hold what was forgotten: only a person says it again.
    perform from memory.facts where tenant_id = stated.tenant_id and user_id = stated.user_id
        and stated.source <> 'person' and forgotten_at >= stated.valid_from;
    if found then return; end if;

    -- The same value again, perhaps from a better source.
    update memory.facts f set updated_at = greatest(f.updated_at, stated.valid_from), confidence = greatest(f.confidence, stated.confidence),
        source = case when stated.source = 'person' then 'person' else f.source end,
        untrusted = f.untrusted and stated.untrusted, secret = f.secret and stated.secret
    where f.tenant_id = stated.tenant_id and f.user_id = stated.user_id and f.subject = stated.subject and f.key = stated.key
        and f.value = stated.value and f.state = 'active' and f.valid_from <= stated.valid_from;
    if found then return; end if;

    -- A person's statement outranks later ones from elsewhere.
    perform from memory.facts f where f.tenant_id = stated.tenant_id and f.user_id = stated.user_id and f.subject = stated.subject
        and f.key = stated.key and f.source = 'person' and stated.source <> 'person' and not stated.many and not f.many
        and f.state <> 'invalidated' and f.valid_from <= stated.valid_from;
    if found then
        stated.state := 'invalidated';
        insert into memory.facts select stated.*;
        return;
    end if;

    if stated.source = 'person' and not stated.many then
        update memory.facts f set state = 'invalidated', valid_to = null, replaced_by = stated.fact_id
        where f.tenant_id = stated.tenant_id and f.user_id = stated.user_id and f.subject = stated.subject and f.key = stated.key
            and f.source <> 'person' and not f.many and f.state <> 'invalidated' and f.valid_from > stated.valid_from;
    end if;
    select f.* into later from memory.facts f
    where f.tenant_id = stated.tenant_id and f.user_id = stated.user_id and f.subject = stated.subject and f.key = stated.key
        and not f.many and f.state <> 'invalidated' and (f.valid_from, f.fact_id) > (stated.valid_from, stated.fact_id)
    order by f.valid_from, f.fact_id limit 1;
    if found then
        stated.state := 'superseded'; stated.valid_to := later.valid_from; stated.replaced_by := later.fact_id;
    end if;
    if not stated.many then
        -- The value that this one replaces ends where it begins.
        update memory.facts f set state = 'superseded', valid_to = stated.valid_from, replaced_by = stated.fact_id
        where f.tenant_id = stated.tenant_id and f.user_id = stated.user_id and f.subject = stated.subject and f.key = stated.key
            and (f.valid_from, f.fact_id) < (stated.valid_from, stated.fact_id)
            and (f.state = 'active' or (f.state = 'superseded' and f.valid_to > stated.valid_from));
    end if;
    insert into memory.facts select stated.* on conflict do nothing;
end
$$;

create or replace function memory.put_facts(changed jsonb) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    each jsonb; stated memory.facts;
begin
    perform memory.lock_facts(changed);
    for each in
        -- The release before wrote facts without these fields.
        select jsonb_build_object('subject', 'me', 'many', true, 'confidence', 1, 'valid_from', now(),
            'private', true, 'untrusted', true, 'secret', true) || c
        from jsonb_array_elements(changed) as c order by (c ->> 'valid_from')::timestamptz, (c ->> 'i')::int
    loop
        stated := jsonb_populate_record(null::memory.facts, each);
        stated.state := 'active'; stated.created_at := now(); stated.updated_at := stated.valid_from;
        stated.source := case stated.source when 'explicit' then 'person' when 'auto' then 'extraction' else stated.source end;
        perform memory.put_fact(stated);
    end loop;
end
$$;

-- Make tombstones of facts by id; the release before named a setting instead, with or without a value. A setting of one
-- value goes with its history and with the values that were not believed; so do the memories of the turns that stated it.
create or replace function memory.forget_facts(changed jsonb) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform memory.lock_facts(changed);
    with asked as (
        select c.* from jsonb_to_recordset(changed) as c(
            tenant_id text, user_id text, fact_id text, subject text, key text, value text, at timestamptz, turn_id text)
    ), named as (
        select f.tenant_id, f.user_id, f.subject, f.key, case when f.many then f.value end as value, a.at
        from memory.facts f join asked a using (tenant_id, user_id, fact_id) where f.forgotten_at is null
        union all
        select tenant_id, user_id, coalesce(subject, 'me'), key, value, at from asked where fact_id is null
    ), gone as (
        select f.tenant_id, f.fact_id, f.user_id, f.turn_id, max(n.at) as at from memory.facts f
        join named n on f.tenant_id = n.tenant_id and f.user_id = n.user_id and f.subject = n.subject and f.key = n.key
            and (n.value is null or f.value = n.value)
            -- A later statement stays, also if both arrive at once.
            and f.updated_at <= coalesce(n.at, now())
        where f.forgotten_at is null group by f.tenant_id, f.fact_id
    ), unlearned as (
        -- The turn that asks for it names what it asks to forget.
        delete from memory.memories m using (
            select tenant_id, user_id, turn_id from gone union select tenant_id, user_id, turn_id from asked
        ) as t where m.tenant_id = t.tenant_id and m.user_id = t.user_id and m.turn_id = t.turn_id
    )
    update memory.facts f set subject = '', key = '', value = '', state = 'invalidated', valid_to = null, replaced_by = null,
        event_id = null, turn_id = null, session_id = null, forgotten_at = coalesce(g.at, now()), updated_at = coalesce(g.at, now())
    from gone g where f.tenant_id = g.tenant_id and f.fact_id = g.fact_id;
end
$$;
