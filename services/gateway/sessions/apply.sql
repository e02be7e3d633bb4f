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

    -- event: an accepted message, which is no event of the bus. All others are projected from the log (docs/decisions/0120).
    if changes ? 'event' then
        done := done || gateway.number_events(array(
            select row (
                c.tenant_id, c.session_id, c.i, c.event_id, c.event_type, c.turn_id, c.occurred_at, c.data, c.correlation, c.causation
            )::gateway.session_events
            from jsonb_to_recordset(changes -> 'event')
                as c(i int, tenant_id text, session_id text, event_id text, event_type text, turn_id text,
                     occurred_at timestamptz, data jsonb, correlation text, causation text)
            where c.event_type = 'suma.message.accepted.v1'
        ));
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
        insert into gateway.turns (tenant_id, turn_id, session_id, message_id, text, state, created_at, job)
        select c.tenant_id, c.turn_id, c.session_id, c.message_id, c.text, c.state, c.at, coalesce(c.job, false)
        from jsonb_to_recordset(changes -> 'turn.open')
            as c(tenant_id text, turn_id text, session_id text, message_id text, text text, state text, at timestamptz, job boolean)
        order by c.tenant_id, c.turn_id
        on conflict (tenant_id, turn_id) do nothing;
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

    return done || gateway.numbers(changes, 'session.title', 'turn.open', 'approval.draft', 'session.share');
end
$$;
