-- Apply the changes of sessions, their events, turns and approvals.
create or replace function gateway.apply_sessions(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
begin
    -- session.open: the first with its id succeeds; a request that conflicts reads the session.
    if changes ? 'session.open' then
        with c as (
            select distinct on (m.tenant_id, m.session_id) m.*
            from jsonb_to_recordset(changes -> 'session.open')
                as m(
                    i int, tenant_id text, session_id text, principal text, title text, root text, hitl text, context text,
                    at timestamptz
                )
            order by m.tenant_id, m.session_id, m.i
        ), put as (
            insert into gateway.session_envelopes
                (tenant_id, session_id, principal, title, root, hitl, context, created_at, last_at)
            select c.tenant_id, c.session_id, c.principal, c.title, c.root, c.hitl, c.context, c.at, c.at
            from c order by c.tenant_id, c.session_id
            on conflict (tenant_id, session_id) do nothing returning tenant_id, session_id
        )
        select done || array_agg(c.i) into done from c join put using (tenant_id, session_id);
    end if;

    if changes ? 'session.share' then
        update gateway.session_envelopes s set shared = c.shared
        from (
            select distinct on (m.tenant_id, m.session_id) m.*
            from jsonb_to_recordset(changes -> 'session.share') as m(i int, tenant_id text, session_id text, shared text)
            order by m.tenant_id, m.session_id, m.i desc
        ) as c where s.tenant_id = c.tenant_id and s.session_id = c.session_id;
    end if;

    -- event: an event that the row names by its place in the log, or repeats; a place without it is a conflict, and the next try
    -- repeats it. Number under a lock on the session's row, so that the sequence has no gap and no viewer skips an uncommitted event.
    if changes ? 'event' then
        with named as materialized (
            select * from jsonb_to_recordset(changes -> 'event')
                as c(i int, tenant_id text, session_id text, event_id text, event_type text, turn_id text,
                     occurred_at timestamptz, data jsonb, correlation text, causation text, part int, "position" bigint)
        ), c as materialized (
            select n.i, n.tenant_id, n.session_id, n.event_id, n.event_type, n.turn_id, n.occurred_at, n.data, n.correlation, n.causation
            from named n where n.part is null
            union all
            select n.i, n.tenant_id, g.headers ->> 'sessionid', g.event_id, g.type, g.headers ->> 'turnid',
                (g.headers ->> 'time')::timestamptz, g.data, g.headers ->> 'correlationid', g.headers ->> 'causationid'
            from bus.recorded('conversation.outbound', (select array_agg(n.part) from named n where n.part is not null),
                (select array_agg(n."position") from named n where n.part is not null)) as g
            join named n on n.part = g.part and n."position" = g."position" and n.event_id = g.event_id and n.tenant_id = g.tenant
        ), counted as (
            select c.tenant_id, c.session_id, count(*) as k, max(c.occurred_at) as at from c group by c.tenant_id, c.session_id
        ), locked as materialized (
            -- One lookup by the whole key per session: a plain join would read all of the tenant's sessions (no statistics, and RLS).
            select s.tenant_id, s.session_id, s.next_seq, n.k, n.at
            from (select * from counted order by tenant_id, session_id offset 0) n
            cross join lateral (
                select e.tenant_id, e.session_id, e.next_seq from gateway.session_envelopes e
                where e.tenant_id = n.tenant_id and e.session_id = n.session_id for no key update of e
            ) s
        ), moved as (
            update gateway.session_envelopes s set next_seq = l.next_seq + l.k, last_at = greatest(s.last_at, l.at)
            from locked l where s.tenant_id = l.tenant_id and s.session_id = l.session_id
        ), written as (
            insert into gateway.session_events
                (tenant_id, session_id, seq, event_id, event_type, turn_id, occurred_at, data, correlation, causation)
            select c.tenant_id, c.session_id, l.next_seq + row_number() over (partition by c.tenant_id, c.session_id order by c.i) - 1,
                c.event_id, c.event_type, c.turn_id, c.occurred_at, c.data, c.correlation, c.causation
            from c join locked l using (tenant_id, session_id)
        )
        select done || array_agg(c.i) into done from c join locked l using (tenant_id, session_id);
    end if;

    -- session.title: the first message sets the title of a session without one.
    if changes ? 'session.title' then
        update gateway.session_envelopes s set title = c.title
        from (
            select distinct on (t.tenant_id, t.session_id) t.tenant_id, t.session_id, t.title
            from jsonb_to_recordset(changes -> 'session.title') as t(i int, tenant_id text, session_id text, title text)
            order by t.tenant_id, t.session_id, t.i
        ) as c where s.tenant_id = c.tenant_id and s.session_id = c.session_id and s.title is null;
    end if;

    if changes ? 'turn.open' then
        insert into gateway.turns (tenant_id, turn_id, session_id, message_id, text, state, created_at)
        select c.tenant_id, c.turn_id, c.session_id, c.message_id, c.text, c.state, c.at
        from jsonb_to_recordset(changes -> 'turn.open')
            as c(tenant_id text, turn_id text, session_id text, message_id text, text text, state text, at timestamptz)
        order by c.tenant_id, c.turn_id
        on conflict (tenant_id, turn_id) do nothing;
    end if;

    -- turn.move: merge an event's data into its turn. An ended turn keeps its final state.
    if changes ? 'turn.move' then
        update gateway.turns t set
            state = case when t.ended_at is null then coalesce(c.state, t.state) else t.state end,
            reason = coalesce(t.reason, c.reason),
            detail = coalesce(nullif(t.detail, ''), c.detail, ''),
            answer = coalesce(c.answer, t.answer),
            started_at = coalesce(t.started_at, c.started_at),
            ended_at = coalesce(t.ended_at, c.ended_at),
            moved_at = case when t.ended_at is null then coalesce(c.moved_at, t.moved_at) else t.moved_at end
        from (
            -- A batch may contain several changes of one turn, in the order of i.
            select m.tenant_id, m.turn_id,
                coalesce(
                    (array_agg(m.state order by m.i) filter (where m.ended_at is not null))[1],
                    (array_agg(m.state order by m.i desc) filter (where m.state is not null))[1]
                ) as state,
                (array_agg(m.reason order by m.i) filter (where m.reason is not null))[1] as reason,
                (array_agg(m.detail order by m.i) filter (where m.detail <> ''))[1] as detail,
                (array_agg(m.answer order by m.i desc) filter (where m.answer is not null))[1] as answer,
                min(m.started_at) as started_at, min(m.ended_at) as ended_at, max(m.moved_at) as moved_at
            from jsonb_to_recordset(changes -> 'turn.move')
                as m(i int, tenant_id text, turn_id text, state text, reason text, detail text, answer text,
                     started_at timestamptz, ended_at timestamptz, moved_at timestamptz)
            group by m.tenant_id, m.turn_id
        ) as c
        where t.tenant_id = c.tenant_id and t.turn_id = c.turn_id;
    end if;

    if changes ? 'approval.open' then
        insert into gateway.approvals (tenant_id, approval_id, session_id, turn_id, kind, digest, data, opened_at, expires_at)
        select c.tenant_id, c.approval_id, c.session_id, c.turn_id, c.kind, c.digest, c.data, c.at, c.at + make_interval(secs => c.expires_in)
        from jsonb_to_recordset(changes -> 'approval.open')
            as c(tenant_id text, approval_id text, session_id text, turn_id text, kind text, digest text, data jsonb,
                 at timestamptz, expires_in float8)
        order by c.tenant_id, c.approval_id
        on conflict (tenant_id, approval_id) do nothing;
    end if;

    -- approval.draft: the last one counts, while its question is open and still the one that was shown.
    if changes ? 'approval.draft' then
        update gateway.approvals a
        set draft = c.draft
        from (
            select distinct on (m.tenant_id, m.approval_id) m.* from jsonb_to_recordset(changes -> 'approval.draft')
                as m(i int, tenant_id text, approval_id text, digest text, draft jsonb)
            order by m.tenant_id, m.approval_id, m.i desc
        ) as c
        where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id and a.digest = c.digest and a.outcome is null;
    end if;

    -- approval.close: the first answer counts.
    if changes ? 'approval.close' then
        update gateway.approvals a
        set outcome = c.outcome, principal = c.principal, reason = c.reason, closed_at = c.at
        from (
            select distinct on (m.tenant_id, m.approval_id) m.* from jsonb_to_recordset(changes -> 'approval.close')
                as m(i int, tenant_id text, approval_id text, outcome text, principal text, reason text, at timestamptz)
            order by m.tenant_id, m.approval_id, m.i
        ) as c
        where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id and a.outcome is null;
    end if;

    return done || gateway.numbers(changes, 'session.title', 'turn.open', 'turn.move', 'approval.open', 'approval.draft', 'approval.close', 'session.share');
end
$$;
