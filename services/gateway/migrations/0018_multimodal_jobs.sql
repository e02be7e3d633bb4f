-- Turns that make pictures and documents. Most turns are none, so the index is small, and their updates stay within their pages.
alter table gateway.turns add column job boolean not null default false;
create index turns_jobs on gateway.turns (tenant_id, turn_id) where job;

-- The jobs with their latest plan (S3-37, docs/decisions/0130): a job is a turn, and has its id.
create view gateway.multimodal_job_plans with (security_invoker = true) as
select t.turn_id as id, t.tenant_id, t.session_id, p.plan_json, t.state as status
from gateway.turns t
left join lateral (
    select e.data -> 'plan' as plan_json from gateway.session_events e
    where e.tenant_id = t.tenant_id and e.session_id = t.session_id and e.turn_id = t.turn_id
        and e.event_type = 'suma.plan.proposed.v1'
    order by e.seq desc limit 1
) as p on true
where t.job;
grant select on gateway.multimodal_job_plans to suma_app;
