-- name: letters_before(tenant, state, grp, topic, types, code, session, since, until, before, most)
-- A tenant's dead letters after a given one, newest first, with the end of their turns.
select d.letter_id, d.grp as "group", d.event_id, d.topic, d.event_type, d.event_key, d.session_id, d.turn_id, d.code, d.error, d.attempts,
    d.died_at, d.state, d.closed_by, d.closed_at, d.reason, t.state as turn_state, t.reason as turn_reason, t.ended_at as turn_ended_at
from gateway.dlq_messages d
left join gateway.turns t on t.tenant_id = d.tenant_id and t.turn_id = d.turn_id
where d.tenant_id = :tenant
    and (cast(:state as text) is null or d.state = :state)
    and (cast(:grp as text) is null or d.grp = :grp)
    and (cast(:topic as text) is null or d.topic = :topic)
    and (cast(:types as text[]) is null or d.event_type = any (:types))
    and (cast(:code as text) is null or d.code = :code)
    and (cast(:session as text) is null or d.session_id = :session)
    and (cast(:since as timestamptz) is null or d.died_at >= :since)
    and (cast(:until as timestamptz) is null or d.died_at < :until)
    and (cast(:before as text) is null or (d.died_at, d.letter_id) < (
        select b.died_at, b.letter_id from gateway.dlq_messages b where b.tenant_id = :tenant and b.letter_id = :before
    ))
order by d.died_at desc, d.letter_id desc limit :most;

-- name: letters_by_code(tenant, state, grp, topic, types, code, session, since, until)
-- How many of a tenant's dead letters have each code.
select d.code, count(*) as letters
from gateway.dlq_messages d
where d.tenant_id = :tenant
    and (cast(:state as text) is null or d.state = :state)
    and (cast(:grp as text) is null or d.grp = :grp)
    and (cast(:topic as text) is null or d.topic = :topic)
    and (cast(:types as text[]) is null or d.event_type = any (:types))
    and (cast(:code as text) is null or d.code = :code)
    and (cast(:session as text) is null or d.session_id = :session)
    and (cast(:since as timestamptz) is null or d.died_at >= :since)
    and (cast(:until as timestamptz) is null or d.died_at < :until)
group by d.code order by letters desc, d.code;

-- name: letter_by_id(tenant, letter)^
select d.letter_id, d.grp as "group", d.event_id, d.topic, d.event_type, d.event_key, d.session_id, d.turn_id, d.code, d.error, d.attempts,
    d.died_at, d.state, d.closed_by, d.closed_at, d.reason, t.state as turn_state, t.reason as turn_reason, t.ended_at as turn_ended_at
from gateway.dlq_messages d
left join gateway.turns t on t.tenant_id = d.tenant_id and t.turn_id = d.turn_id
where d.tenant_id = :tenant and d.letter_id = :letter;

-- name: original(tenant, letter)^
-- The original event, inline or by its digest, and the principal of its session.
select d.event::text as event, s.principal
from gateway.dlq_messages d
left join gateway.session_envelopes s on s.tenant_id = d.tenant_id and s.session_id = d.session_id
where d.tenant_id = :tenant and d.letter_id = :letter;
