-- What stands aside, parked or dead, and what a person decides about it, in the transaction that records the decision.

-- Discard a dead letter, by compare-and-set from dead. Its inbox row stays, done: a redelivery is still refused.
create function bus.discard(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    update bus.inbox b set state = 'done', at = bus.now()
    where b.grp = discard.grp and b.id = discard.event_id and b.tenant = discard.tenant and b.state = 'dead';
    if not found then return false; end if;
    delete from bus.parked p where p.grp = discard.grp and p.event_id = discard.event_id and p.state = 'dead';
    return true;
end
$$;

-- Try a parked event again at once. Only the first of its key can go, so that one is made due.
create function bus.hurry(grp text, tenant text, event_id text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    update bus.parked p set due_at = bus.now()
    from (
        select h.topic, h.key, min(h.seq) as seq
        from bus.parked e join bus.parked h on h.grp = e.grp and h.topic = e.topic and h.key = e.key and h.state = 'parked'
        where e.grp = hurry.grp and e.event_id = hurry.event_id and e.tenant = hurry.tenant and e.state = 'parked'
        group by h.topic, h.key
    ) as first
    where p.grp = hurry.grp and p.topic = first.topic and p.key = first.key and p.seq = first.seq;
    return found;
end
$$;

-- What changesets decide about events that stand aside, in the order in which those came to stand there. Someone else may have
-- been first: then the decision rests on a row that has changed, and its changeset fails alone.
create function bus.decide(asides jsonb, fresh int[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    a record; held boolean; lacking int[];
begin
    perform bus.closed_door(asides);
    for a in
        select d.n, d.verb, d.grp, d.tenant, d.id from jsonb_to_recordset(asides) as d(n int, verb text, grp text, tenant text, id text)
        left join bus.parked p on p.grp = d.grp and p.event_id = d.id
        where d.n = any (fresh) order by p.seq, d.grp, d.id, d.n
    loop
        held := case a.verb
            when 'replay' then bus.replay(a.grp, a.tenant, a.id)
            when 'discard' then bus.discard(a.grp, a.tenant, a.id)
            when 'retry' then bus.hurry(a.grp, a.tenant, a.id)
        end;
        if held is not true then lacking := lacking || a.n; end if;
    end loop;
    if lacking is not null then
        raise exception 'an event does not stand aside any more' using errcode = 'SU001', detail = lacking::text;
    end if;
end
$$;

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
            select array_agg(distinct (r ->> 'n')::int) into lacking
            from jsonb_each(kinds) as k cross join lateral jsonb_array_elements(k.value) as r
            where ((r ->> 'i')::int = any (applied)) is not true;
            if lacking is not null then
                raise exception 'a decision rests on a row that has changed' using errcode = 'SU001', detail = lacking::text;
            end if;
        end loop;
    end if;
    if batch ? 'asides' then
        perform bus.decide(batch -> 'asides', fresh);
    end if;
    return jsonb_build_object('verdicts', verdicts, 'positions', bus.settle(batch, fresh));
end
$$;

-- A tenant's parked events that wait for one reason (an error begins with its code), the longest waiting first; or the one of
-- this id. Those that only stand behind another of their key are not among them.
create function bus.waiting(tenant text, code text, id text, most int)
returns table (grp text, topic text, key text, event_id text, type text, headers text, attempts int, since timestamptz, due_at timestamptz, error text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, p.key, p.event_id, p.type, p.headers::text, p.attempts, p.since, p.due_at, p.error
    from bus.parked p
    where p.tenant = waiting.tenant and p.state = 'parked' and starts_with(p.error, waiting.code || ':')
        and (waiting.id is null or p.event_id = waiting.id)
    order by p.since, p.seq limit waiting.most
$$;
create index parked_tenant on bus.parked (tenant, state, since);

-- How many of a tenant's events stand aside, and since when.
create function bus.standing(tenant text)
returns table (grp text, topic text, state text, events bigint, since timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select p.grp, p.topic, p.state, count(*), min(p.since) from bus.parked p where p.tenant = standing.tenant group by p.grp, p.topic, p.state
$$;

revoke all on function
    bus.discard(text, text, text), bus.hurry(text, text, text), bus.decide(jsonb, int[]), bus.waiting(text, text, text, int), bus.standing(text)
    from public;
grant execute on function bus.decide(jsonb, int[]) to suma_app;
