-- name: task_now(tenant, caller, turn)^
-- A turn, when it got its status, and the last number of its session's sequence: of one moment, so that the events that follow
-- the number are those that the status does not show yet. Only a session's own principal gave it a name.
select t.turn_id, t.session_id, t.message_id, t.text, t.state, t.reason, t.detail, t.answer, t.created_at, t.started_at, t.ended_at,
    coalesce(t.ended_at, t.moved_at, t.started_at, t.created_at) as at, s.next_seq - 1 as seq,
    coalesce(case when s.principal = :caller then s.context end, t.session_id) as context_id
from gateway.turns t join gateway.session_envelopes s using (tenant_id, session_id)
where t.tenant_id = :tenant and t.turn_id = :turn;

-- name: tasks_before(tenant, caller, reader, session, states, since, at, turn, most)
-- The tasks that a principal sees, newest status first, after the place (at, turn). Open turns are few; ended ones are read along
-- the index on their end. A rollback is no task.
with open as (
    select t.turn_id, coalesce(t.moved_at, t.started_at, t.created_at) as at
    from gateway.turns t join gateway.session_envelopes s using (tenant_id, session_id)
    where t.tenant_id = :tenant and t.ended_at is null and t.message_id is not null
        and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
        and (cast(:session as text) is null or t.session_id = :session)
        and (cast(:states as text[]) is null or t.state = any (:states))
), ended as (
    select t.turn_id, t.ended_at as at
    from gateway.turns t join gateway.session_envelopes s using (tenant_id, session_id)
    where t.tenant_id = :tenant and t.ended_at is not null and t.message_id is not null
        and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
        and (cast(:session as text) is null or t.session_id = :session)
        and (cast(:states as text[]) is null or t.state = any (:states))
        and (cast(:since as timestamptz) is null or t.ended_at >= :since)
        and (cast(:at as timestamptz) is null or (t.ended_at, t.turn_id) < (:at, cast(:turn as text)))
    order by t.ended_at desc, t.turn_id desc limit :most
), page as (
    select n.turn_id, n.at from (select * from open union all select * from ended) as n
    where (cast(:since as timestamptz) is null or n.at >= :since)
        and (cast(:at as timestamptz) is null or (n.at, n.turn_id) < (:at, cast(:turn as text)))
    order by n.at desc, n.turn_id desc limit :most
)
select t.turn_id, t.session_id, t.message_id, t.text, t.state, t.reason, t.detail, t.answer, t.created_at, t.started_at, t.ended_at,
    p.at, coalesce(case when s.principal = :caller then s.context end, t.session_id) as context_id
from page p join gateway.turns t on t.tenant_id = :tenant and t.turn_id = p.turn_id
join gateway.session_envelopes s on s.tenant_id = :tenant and s.session_id = t.session_id
order by p.at desc, p.turn_id desc;

-- name: tasks_count(tenant, reader, session, states, since, most)$
-- The number of these tasks, counted up to a limit.
select count(*) from (
    select from gateway.turns t join gateway.session_envelopes s using (tenant_id, session_id)
    where t.tenant_id = :tenant and t.message_id is not null
        and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
        and (cast(:session as text) is null or t.session_id = :session)
        and (cast(:states as text[]) is null or t.state = any (:states))
        and (cast(:since as timestamptz) is null
            or coalesce(t.ended_at, t.moved_at, t.started_at, t.created_at) >= :since)
    limit :most
) as n;

-- name: task_files(tenant, turns)
-- The files that steps of these turns made, oldest first. The assets of a job are in the results of its steps, which name them.
select turn_id, asset_id, filename, media_type, step from (
    select a.turn_id, a.asset_id, a.filename, a.media_type, null as step, a.created_at as at
    from gateway.attachments a
    join gateway.turns t on t.tenant_id = a.tenant_id and t.turn_id = a.turn_id and t.session_id = a.session_id
    where a.tenant_id = :tenant and a.turn_id = any (:turns) and a.principal is null
    union all
    select t.turn_id, e.data #>> '{data,asset}', null, null, e.data::text, e.occurred_at
    from gateway.turns t
    join gateway.session_events e on e.tenant_id = t.tenant_id and e.session_id = t.session_id and e.turn_id = t.turn_id
    where t.tenant_id = :tenant and t.turn_id = any (:turns) and t.job and e.event_type = 'suma.step.changed.v1'
        and e.data ->> 'state' = 'succeeded' and jsonb_typeof(e.data #> '{data,asset}') = 'string'
) as f order by at, asset_id;

-- name: task_exchange(tenant, turns)
-- The questions of these turns, each by the number of its event, and their answers, in order. Few turns ask: only theirs are searched.
select turn_id, seq, data ->> 'message_id' as message_id, case event_type when 'suma.clarification.requested.v1' then 'agent' else 'user' end as role,
    coalesce(data ->> 'question', data ->> 'text') as text, occurred_at as at
from gateway.session_events
where tenant_id = :tenant and turn_id = any (:turns)
    and event_type in ('suma.clarification.requested.v1', 'suma.clarification.replied.v1') and data ->> 'instead' is null
order by session_id, seq;

-- name: push_configs(tenant, principal, turn)
-- A principal's addresses for a task's updates, by id.
select config_id, turn_id, session_id, principal, url, token, scheme, credentials, base, delivery, credential, oversees
from gateway.push_configs
where tenant_id = :tenant and turn_id = :turn and principal = :principal order by config_id;

-- name: push_config_of(tenant, turn, config, delivery)^
-- The address of a lease's delivery; no row if it was deleted or replaced since, or lost its access: its tenant or principal is
-- disabled, its key is revoked or expired, or the session is not visible to it any more.
select p.config_id, p.turn_id, p.session_id, p.principal, p.url, p.token, p.scheme, p.credentials, p.base, p.delivery, p.credential,
    p.oversees
from gateway.push_configs p
join gateway.session_envelopes s on s.tenant_id = p.tenant_id and s.session_id = p.session_id
where p.tenant_id = :tenant and p.turn_id = :turn and p.config_id = :config and p.delivery = :delivery
    and (s.principal = p.principal or s.shared is not null or p.oversees)
    and not exists (select from gateway.tenants t where t.tenant_id = p.tenant_id and t.disabled_at is not null)
    and not exists (
        select from gateway.principals w
        where w.tenant_id = p.tenant_id and w.principal_id = p.principal and w.disabled_at is not null
    )
    and not exists (
        select from gateway.api_keys k
        where k.tenant_id = p.tenant_id and k.key_id = p.credential
            and (k.revoked_at is not null or k.expires_at <= bus.now())
    );
