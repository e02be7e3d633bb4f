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
