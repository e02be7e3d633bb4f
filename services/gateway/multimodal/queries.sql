-- name: jobs_before(tenant, reader, state, before, most)
-- The newest jobs before a given one, of the sessions that a principal sees.
select j.id as job_id, j.session_id, t.text as request, j.status as state, t.reason, t.detail, t.created_at, t.ended_at,
    coalesce(jsonb_array_length(j.plan_json -> 'steps'), 0) as steps
from gateway.multimodal_job_plans j
join gateway.turns t on t.tenant_id = j.tenant_id and t.turn_id = j.id
join gateway.session_envelopes s on s.tenant_id = j.tenant_id and s.session_id = j.session_id
where j.tenant_id = :tenant and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
    and (cast(:state as text) is null or j.status = :state or (cast(:state as text) = 'open' and t.ended_at is null))
    and (cast(:before as text) is null or j.id < :before)
order by j.id desc limit :most;

-- name: job_by_id(tenant, job)^
select id from gateway.multimodal_job_plans where tenant_id = :tenant and id = :job;

-- name: job_events(tenant, session, job, most)
-- The plans of a job and the changes of its steps, in order.
select e.seq, e.event_type, e.turn_id, e.occurred_at, e.data::text as data, e.correlation
from gateway.session_events e
where e.tenant_id = :tenant and e.session_id = :session and e.turn_id = :job
    and e.event_type in ('suma.plan.proposed.v1', 'suma.step.changed.v1')
order by e.seq limit :most;
