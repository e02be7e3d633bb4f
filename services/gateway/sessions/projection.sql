-- Number events at the end of their sessions' sequences, in the order of `seq`; return those `seq` whose session exists. The lock on
-- the session's row keeps the sequence without a gap, so that no viewer skips an uncommitted event.
create or replace function gateway.number_events(events gateway.session_events[]) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    numbered bigint[];
begin
    with e as materialized (
        select * from unnest(events)
    ), counted as (
        select e.tenant_id, e.session_id, count(*) as k, max(e.occurred_at) as at from e group by e.tenant_id, e.session_id
    ), locked as materialized (
        -- One lookup by the whole key per session: a plain join would read all of the tenant's sessions (no statistics, and RLS).
        select s.tenant_id, s.session_id, s.next_seq, n.k, n.at
        from (select * from counted order by tenant_id, session_id offset 0) n
        cross join lateral (
            select o.tenant_id, o.session_id, o.next_seq from gateway.session_envelopes o
            where o.tenant_id = n.tenant_id and o.session_id = n.session_id for no key update of o
        ) s
    ), moved as (
        update gateway.session_envelopes s set next_seq = l.next_seq + l.k, last_at = greatest(s.last_at, l.at)
        from locked l where s.tenant_id = l.tenant_id and s.session_id = l.session_id
    ), written as (
        insert into gateway.session_events
            (tenant_id, session_id, seq, event_id, event_type, turn_id, occurred_at, data, correlation, causation)
        select e.tenant_id, e.session_id, l.next_seq + row_number() over (partition by e.tenant_id, e.session_id order by e.seq) - 1,
            e.event_id, e.event_type, e.turn_id, e.occurred_at, e.data, e.correlation, e.causation
        from e join locked l using (tenant_id, session_id)
    )
    select coalesce(array_agg(e.seq), '{}') into numbered from e join locked l using (tenant_id, session_id);
    return numbered;
end
$$;

-- Project outbound events: their numbers, and the turns, questions and files that they change. Depends on nothing but the events, in
-- their order. One that belongs to no session is discarded, and listed as such.
create or replace function gateway.project_outbound(events bus.log[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    numbered bigint[];
    making bus.log[];
    -- Most events change little: a statement runs only where an event has one of its types.
    types constant text[] := array(select e.type from unnest(events) as e);
begin
    numbered := gateway.number_events(array(
        select row (
            e.tenant, coalesce(e.headers ->> 'sessionid', ''), e.n, e.event_id, e.type, e.headers ->> 'turnid',
            (e.headers ->> 'time')::timestamptz, e.data, e.headers ->> 'correlationid', e.headers ->> 'causationid'
        )::gateway.session_events
        from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, at, n)
    ));
    if cardinality(numbered) < cardinality(events) then
        insert into gateway.dlq_messages
            (tenant_id, letter_id, grp, event_id, topic, event_type, event_key, session_id, turn_id, event, code, error, attempts, died_at,
             state, closed_by, closed_at, reason)
        select e.tenant, e.event_id, 'gateway', e.event_id, e.topic, e.type, e.key, e.headers ->> 'sessionid', e.headers ->> 'turnid',
            jsonb_build_object('json', jsonb_build_object('headers', e.headers, 'data', e.data)), 'NO_SESSION',
            'the event belongs to no session of its tenant', 1, bus.now(), 'discarded', 'gateway', bus.now(), 'it cannot be shown'
        from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, at, n)
        where e.n <> all (numbered) order by e.tenant, e.event_id
        on conflict (tenant_id, letter_id) do nothing;
        events := array(
            select events[n] from unnest(numbered) as n order by n
        );
    end if;

    -- A reply that begins another turn opens that one.
    if types && '{suma.clarification.replied.v1}' then
        insert into gateway.turns (tenant_id, turn_id, session_id, message_id, text, state, created_at)
        select e.tenant, e.data ->> 'instead', e.headers ->> 'sessionid', e.data ->> 'message_id', e.data ->> 'text', 'received',
            (e.headers ->> 'time')::timestamptz
        from unnest(events) as e
        where e.type = 'suma.clarification.replied.v1' and e.data ->> 'instead' is not null
        order by 1, 2
        on conflict (tenant_id, turn_id) do nothing;
    end if;

    -- A plan that makes pictures or documents makes its turn a job. Other plans, which are most, look up no turn.
    making := case when types && '{suma.plan.proposed.v1}' then array(
        select e from unnest(events) as e
        where e.type = 'suma.plan.proposed.v1' and e.data @? '$.plan.steps[*] ? (@.skill == "make-documents")'
    ) end;
    if cardinality(making) > 0 then
        update gateway.turns t set job = true
        from unnest(making) as e
        where t.tenant_id = e.tenant and t.turn_id = e.data ->> 'turn_id' and not t.job;
    end if;

    -- An ended turn keeps its final state. Where several events change one turn, the first that ends it counts, else the last.
    if types && '{suma.turn.queued.v1,suma.turn.started.v1,suma.turn.ended.v1,suma.message.completed.v1,suma.clarification.requested.v1,
        suma.clarification.replied.v1,suma.approval.requested.v1,suma.approval.closed.v1}' then
        with changed as (
            select e.n, e.tenant as tenant_id, e.data ->> 'turn_id' as turn_id, e.data, (e.headers ->> 'time')::timestamptz as at,
                e.type = 'suma.turn.ended.v1' as ends, e.type = 'suma.turn.started.v1' as starts,
                e.type = 'suma.message.completed.v1' as answers, case e.type
                    when 'suma.turn.queued.v1' then 'queued'
                    when 'suma.turn.started.v1' then 'running'
                    when 'suma.clarification.requested.v1' then 'awaiting_clarification'
                    when 'suma.clarification.replied.v1' then 'running'
                    when 'suma.approval.requested.v1' then 'awaiting_approval'
                    when 'suma.approval.closed.v1' then 'running'
                    when 'suma.turn.ended.v1' then e.data ->> 'state'
                end as state
            from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, logged_at, n)
            -- An answer that came too late closes nothing.
            where (e.data ->> 'outcome' = 'stale' and e.type = 'suma.approval.closed.v1') is not true
                and (e.data ->> 'instead' is not null and e.type = 'suma.clarification.replied.v1') is not true
        ), ended as (
            select t.*, min(t.n) filter (where t.ends) over (partition by t.tenant_id, t.turn_id) as last
            from changed t where t.state is not null or t.answers
        ), c as (
            select t.tenant_id, t.turn_id,
                (array_agg(t.state order by t.n desc) filter (where t.state is not null and (t.n > t.last) is not true))[1] as state,
                (array_agg(t.at order by t.n desc) filter (where not t.ends and not t.answers and (t.n > t.last) is not true))[1] as moved_at,
                (array_agg(t.data ->> 'reason' order by t.n) filter (where t.ends and t.data ->> 'reason' is not null))[1] as reason,
                (array_agg(t.data ->> 'detail' order by t.n) filter (where t.ends and t.data ->> 'detail' <> ''))[1] as detail,
                (array_agg(t.data ->> 'text' order by t.n desc) filter (where t.answers))[1] as answer,
                (array_agg(t.at order by t.n) filter (where t.starts))[1] as started_at,
                (array_agg(t.at order by t.n) filter (where t.ends))[1] as ended_at
            from ended t group by t.tenant_id, t.turn_id
        )
        update gateway.turns t set
            state = case when t.ended_at is null then coalesce(c.state, t.state) else t.state end,
            reason = coalesce(t.reason, c.reason),
            detail = coalesce(nullif(t.detail, ''), c.detail, ''),
            answer = coalesce(c.answer, t.answer),
            started_at = coalesce(t.started_at, c.started_at),
            ended_at = coalesce(t.ended_at, c.ended_at),
            moved_at = case when t.ended_at is null then coalesce(c.moved_at, t.moved_at) else t.moved_at end
        from c where t.tenant_id = c.tenant_id and t.turn_id = c.turn_id;
    end if;

    if types && '{suma.approval.requested.v1}' then
        insert into gateway.approvals (tenant_id, approval_id, session_id, turn_id, kind, digest, data, opened_at, expires_at)
        select e.tenant, e.data ->> 'approval_id', e.headers ->> 'sessionid', e.data ->> 'turn_id', e.data ->> 'kind', e.data ->> 'digest',
            e.data, o.at, o.at + make_interval(secs => (e.data ->> 'expires_in')::float8)
        from unnest(events) as e
        cross join lateral (select (e.headers ->> 'time')::timestamptz as at) as o
        where e.type = 'suma.approval.requested.v1'
        order by 1, 2
        on conflict (tenant_id, approval_id) do nothing;
    end if;

    -- The first answer counts.
    if types && '{suma.approval.closed.v1}' then
        update gateway.approvals a set outcome = c.outcome, principal = c.principal, reason = c.reason, closed_at = c.at
        from (
            select distinct on (e.tenant, e.data ->> 'approval_id') e.tenant, e.data ->> 'approval_id' as approval_id,
                e.data ->> 'outcome' as outcome, e.data ->> 'principal' as principal, e.data ->> 'reason' as reason,
                (e.headers ->> 'time')::timestamptz as at
            from unnest(events) with ordinality as e(topic, part, "position", event_id, tenant, key, type, headers, data, logged_at, n)
            where e.type = 'suma.approval.closed.v1' and e.data ->> 'outcome' <> 'stale'
            order by e.tenant, e.data ->> 'approval_id', e.n
        ) as c
        where a.tenant_id = c.tenant and a.approval_id = c.approval_id and a.outcome is null;
    end if;

    if types && '{suma.step.changed.v1}' then
        insert into gateway.attachments (tenant_id, asset_id, session_id, turn_id, filename, media_type, sha256, size, created_at)
        select e.tenant, r.asset_id, e.headers ->> 'sessionid', e.data ->> 'turn_id', r.filename, r.media_type, r.sha256, r.size,
            (e.headers ->> 'time')::timestamptz
        from unnest(events) as e
        cross join lateral jsonb_to_record(e.data -> 'result') as r(asset_id text, filename text, media_type text, sha256 text, size bigint)
        where e.type = 'suma.step.changed.v1' and jsonb_typeof(e.data -> 'result') = 'object'
        order by 1, 2
        on conflict (tenant_id, asset_id) do nothing;
    end if;
end
$$;
revoke all on function gateway.project_outbound(bus.log[]) from public;
grant usage on schema gateway to suma_bus;
grant execute on function gateway.project_outbound(bus.log[]) to suma_bus;
select bus.declare_projection('gateway', 'conversation.outbound', 'gateway.project_outbound');
