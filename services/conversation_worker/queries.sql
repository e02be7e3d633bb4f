-- name: load_session(tenant, session)^
-- A session with its active turn, that turn's steps and its approvals, in one round trip.
select s.version, s.epoch, s.root, s.doc::text as session,
    (select t.doc::text from conversation.turns t where t.tenant_id = s.tenant_id and t.turn_id = s.active_turn) as turn,
    (select coalesce(jsonb_agg(p.doc order by p.round, p.ordinal), '[]')::text from conversation.plan_steps p
        where p.tenant_id = s.tenant_id and p.turn_id = s.active_turn) as steps,
    (select coalesce(jsonb_agg(a.doc order by a.asked_at), '[]')::text from conversation.approvals a
        where a.tenant_id = s.tenant_id and a.turn_id = s.active_turn and a.outcome is null) as approvals
from conversation.sessions s
where s.tenant_id = :tenant and s.session_id = :session;

-- name: at_work(tenants, sessions)
-- The given sessions whose turn does not wait for a person.
select s.tenant_id, s.session_id
from unnest(cast(:tenants as text[]), cast(:sessions as text[])) as o (tenant_id, session_id)
join conversation.sessions s using (tenant_id, session_id)
join conversation.turns t on t.tenant_id = s.tenant_id and t.turn_id = s.active_turn
where t.ended_at is null and t.state not in ('awaiting_clarification', 'awaiting_commit') and not exists (
    select from conversation.approvals a where a.tenant_id = t.tenant_id and a.turn_id = t.turn_id and a.outcome is null
);

-- name: open_question(tenant, session, approval)^
-- The question whether an effect happened, while it is open, with its step; its turn may be over.
select a.turn_id, a.doc::text as approval, p.doc::text as step
from conversation.approvals a
join conversation.plan_steps p on p.tenant_id = a.tenant_id and p.step_id = a.doc ->> 'step_id'
where a.tenant_id = :tenant and a.session_id = :session and a.approval_id = :approval and a.kind = 'effect' and a.outcome is null;

-- name: abandoned_step(tenant, session, step)^
-- A step whose turn ended before the step's outcome was known.
select p.turn_id, p.doc::text as step from conversation.plan_steps p
where p.tenant_id = :tenant and p.session_id = :session and p.step_id = :step and p.state = 'unknown';
