-- Every write of the conversation worker, one paragraph per kind of change, each over all rows of its batch.
-- Answers with the numbers (i) that were applied; only session.put can refuse: its version must be the next one.
-- Documents of sessions, turns and steps hold the fields that changed since the version which that guard names.
create or replace function conversation.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[]; kind text;
begin
    -- session.put: insert at version 1, or move from the version that the decision rests on.
    if changes ? 'session.put' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'session.put')
                as c(i int, tenant_id text, session_id text, version bigint, epoch bigint, root text, active_turn text, doc jsonb)
        ), put as (
            insert into conversation.sessions as s (tenant_id, session_id, version, epoch, root, active_turn, doc)
            select c.tenant_id, c.session_id, c.version, c.epoch, c.root, c.active_turn, c.doc from c order by c.tenant_id, c.session_id
            on conflict (tenant_id, session_id) do update
                set version = excluded.version, epoch = excluded.epoch, root = excluded.root,
                    active_turn = excluded.active_turn,
                    doc = case when excluded.doc = '{}' then s.doc else s.doc || excluded.doc end
                where s.version = excluded.version - 1
            returning s.tenant_id, s.session_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, session_id);
        done := done || part;
    end if;

    if changes ? 'turn.put' then
        insert into conversation.turns as t (tenant_id, session_id, turn_id, state, reason, doc, ended_at)
        select c.tenant_id, c.session_id, c.turn_id, c.state, c.reason, c.doc, case when c.ended then now() end
        from jsonb_to_recordset(changes -> 'turn.put')
            as c(tenant_id text, session_id text, turn_id text, state text, reason text, doc jsonb, ended boolean)
        order by c.tenant_id, c.turn_id
        on conflict (tenant_id, turn_id) do update
            set state = excluded.state, reason = excluded.reason, doc = t.doc || excluded.doc, ended_at = excluded.ended_at;
    end if;

    if changes ? 'step.put' then
        insert into conversation.plan_steps as s (tenant_id, step_id, session_id, turn_id, round, ordinal, tool, state, doc)
        select c.tenant_id, c.step_id, c.session_id, c.turn_id, c.round, c.ordinal, c.tool, c.state, c.doc
        from jsonb_to_recordset(changes -> 'step.put')
            as c(tenant_id text, step_id text, session_id text, turn_id text, round int, ordinal int, tool text, state text, doc jsonb)
        order by c.tenant_id, c.step_id
        on conflict (tenant_id, step_id) do update set state = excluded.state, doc = s.doc || excluded.doc;
    end if;

    if changes ? 'approval.put' then
        insert into conversation.approvals as a (tenant_id, approval_id, session_id, turn_id, kind, outcome, doc)
        select c.tenant_id, c.approval_id, c.session_id, c.turn_id, c.kind, c.outcome, c.doc
        from jsonb_to_recordset(changes -> 'approval.put')
            as c(tenant_id text, approval_id text, session_id text, turn_id text, kind text, outcome text, doc jsonb)
        order by c.tenant_id, c.approval_id
        on conflict (tenant_id, approval_id) do update set outcome = excluded.outcome, doc = excluded.doc;
    end if;

    -- session.erase: all that is kept of a session, whose turns have ended.
    if changes ? 'session.erase' then
        perform bus.erase('conversation', c.tenant_id, 'session_id', array_agg(c.session_id))
        from jsonb_to_recordset(changes -> 'session.erase') as c(tenant_id text, session_id text) group by c.tenant_id;
    end if;

    -- The unguarded kinds belong to a session whose row guards them in the same changeset. The previous release still sends plans
    -- and messages, which nothing reads (decision 0125).
    foreach kind in array array['turn.put', 'plan.add', 'step.put', 'approval.put', 'session.erase', 'message.add'] loop
        if changes ? kind then
            select array_agg((c ->> 'i')::int) into part from jsonb_array_elements(changes -> kind) as c;
            done := done || part;
        end if;
    end loop;
    return done;
end
$$;
