-- name: stage(tenant, session)^
-- A session's stage: its revision, its length and its operations in order.
select s.revision, s.length, s.root, s.turn_id,
    (select coalesce(jsonb_agg(o.operation order by o.version), '[]')::text from executor.stage_operations o
        where o.tenant_id = s.tenant_id and o.session_id = s.session_id) as operations
from executor.stages s where s.tenant_id = :tenant and s.session_id = :session;

-- name: stage_head(tenant, session)^
-- Only the stage's version, to check whether a cached copy is current.
select s.revision, s.length, s.turn_id, s.contents from executor.stages s where s.tenant_id = :tenant and s.session_id = :session;

-- name: held(tenant, session)
-- All that is kept of a session, whichever table it is in.
select h.name, h.content::text as content from bus.held('executor', :tenant, 'session_id', array[:session]) as h;

-- name: snapshot(tenant, session, snapshot)$
-- The version of a snapshot.
select n.version from executor.snapshots n
where n.tenant_id = :tenant and n.session_id = :session and n.snapshot_id = :snapshot;

-- name: snapshots(tenant, session)
-- A session's snapshots, oldest first.
select n.snapshot_id, n.version, n.step_id, n.at from executor.snapshots n
where n.tenant_id = :tenant and n.session_id = :session order by n.version, n.at;

-- name: known(tenant, call, turn)^
-- Whether a call is known, so that a replayed request does not run again; and whether its turn was cancelled.
select
    exists (select from executor.tool_calls t where t.tenant_id = :tenant and t.call_id = :call) as call,
    exists (select from executor.cancelled_turns c where c.tenant_id = :tenant and c.turn_id = :turn) as cancelled;

-- name: running_calls(tenant, turn)
-- The calls of a turn that still run, to be cancelled.
select t.call_id from executor.tool_calls t
where t.tenant_id = :tenant and t.turn_id = :turn and t.state = 'running';

-- name: effect(tenant, intent)^
-- The state of an intent.
select f.intent_id, f.call_id, f.effect_class, f.state, f.begun, f.settled, f.outcome::text as outcome
from executor.effects f where f.tenant_id = :tenant and f.intent_id = :intent;

-- name: commits(tenant, root, most)
-- The commits of a folder, newest first.
select j.commit_id, j.session_id, j.turn_id, j.at, j.state, j.operations, j.diff::text as diff, j.freed_at
from executor.journal j where j.tenant_id = :tenant and j.root = :root order by j.at desc, j.commit_id limit :most;

-- name: unfreed(tenant, root)
-- Commits of a folder that were in its history at the last check.
select j.commit_id from executor.journal j where j.tenant_id = :tenant and j.root = :root and j.freed_at is null;

-- name: commit_freed(tenant, commit)^
-- When the history of a commit was removed; null where it was not.
select j.freed_at from executor.journal j where j.tenant_id = :tenant and j.commit_id = :commit;

-- name: rolling_back(tenant)
-- Commits that are being rolled back or redone now.
select t.args ->> 'commit_id' as commit_id from executor.tool_calls t
where t.tenant_id = :tenant and t.state = 'running' and t.tool in ('workspace.rollback', 'workspace.redo');

-- name: skill_approvals(tenant, root)
-- Which skills of a folder's own are approved, each in which version.
select a.name, a.digest from executor.skill_approvals a where a.tenant_id = :tenant and a.root = :root;

-- name: tool_approvals()
-- Which remote tools an operator approved, each with the description that was approved.
select a.tool, a.digest, a.definition::text as definition, a.principal, a.approved_at from executor.tool_approvals a;

-- name: executions_of_call(tenant, call)
-- The attempts of a multimodal call, in order.
select e.attempt, e.tool_id, e.provider, e.status, e.paid, e.critique::text as critique
from executor.multimodal_executions e where e.tenant_id = :tenant and e.call_id = :call order by e.attempt;

-- name: executions_of_turn(tenant, turn)
-- The attempts of a turn's multimodal calls, in order.
select e.step_id, e.step_index, e.attempt, e.tool_id, e.provider, e.status, e.asset_id, e.latency_ms, e.cost_micros,
    e.quality_score as quality, e.critique::text as critique, e.error, e.at
from executor.multimodal_executions e where e.tenant_id = :tenant and e.turn_id = :turn order by e.at, e.attempt;

-- name: paid_executions(tenant, since, until)$
-- How many attempts with paid capabilities a tenant made in a time.
select count(*) from executor.multimodal_executions e
where e.tenant_id = :tenant and e.paid and e.at >= :since and e.at < :until;
