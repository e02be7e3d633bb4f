-- name: session_by_id(tenant, session)^
-- A session with the last number of its sequence, and its open turn: the one that asks for a clarification, else the oldest.
select s.session_id, s.principal, s.shared, s.title, s.root, s.hitl, s.created_at, s.last_at, s.next_seq - 1 as last_seq,
    s.context, t.turn_id, t.state as turn_state,
    (select count(*) from gateway.approvals a
        where a.tenant_id = s.tenant_id and a.session_id = s.session_id and a.outcome is null) as approvals
from gateway.session_envelopes s
left join lateral (
    select t.turn_id, t.state from gateway.turns t
    where t.tenant_id = s.tenant_id and t.session_id = s.session_id and t.ended_at is null
    order by t.state <> 'awaiting_clarification', t.turn_id limit 1
) as t on true
where s.tenant_id = :tenant and s.session_id = :session;

-- name: sessions_before(tenant, reader, before, words, open, most)
-- The newest sessions before a given one that a principal sees. They sort by creation and not by id, which may be derived from a
-- name. `words` is part of a title, folder or id; `open` leaves out sessions without an open turn.
select s.session_id, s.principal, s.shared, s.title, s.root, s.hitl, s.created_at, s.last_at, s.next_seq - 1 as last_seq,
    s.context, t.turn_id, t.state as turn_state,
    (select count(*) from gateway.approvals a
        where a.tenant_id = s.tenant_id and a.session_id = s.session_id and a.outcome is null) as approvals
from gateway.session_envelopes s
left join lateral (
    select t.turn_id, t.state from gateway.turns t
    where t.tenant_id = s.tenant_id and t.session_id = s.session_id and t.ended_at is null
    order by t.state <> 'awaiting_clarification', t.turn_id limit 1
) as t on true
where s.tenant_id = :tenant
    and (cast(:before as text) is null or (s.created_at, s.session_id) < (
        select b.created_at, b.session_id from gateway.session_envelopes b where b.tenant_id = :tenant and b.session_id = :before
    ))
    and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
    and (cast(:words as text) is null
        or position(lower(:words) in lower(concat_ws(' ', s.title, s.root, s.session_id, s.principal))) > 0)
    and (not cast(:open as boolean) or t.turn_id is not null)
order by s.created_at desc, s.session_id desc limit :most;

-- name: events_after(tenant, session, after, most, bytes)
-- The next numbered events of a session: at most `most`, and at most `bytes` of data or one larger event.
select seq, event_type, turn_id, occurred_at, data, correlation, found
from (
    select n.*, count(*) over () as found, sum(octet_length(n.data)) over (order by n.seq) - octet_length(n.data) as before
    from (
        select e.seq, e.event_type, e.turn_id, e.occurred_at, e.data::text as data, e.correlation from gateway.session_events e
        where e.tenant_id = :tenant and e.session_id = :session and e.seq > :after order by e.seq limit :most
    ) as n
) as p where p.before < :bytes order by seq;

-- name: turn_by_id(tenant, turn)^
select turn_id, session_id, message_id, text, state, reason, detail, answer, created_at, started_at, ended_at
from gateway.turns where tenant_id = :tenant and turn_id = :turn;

-- name: turn_began(tenant, session, turn)$
-- The number before the turn's first event.
select coalesce(min(seq) - 1, 0) from gateway.session_events
where tenant_id = :tenant and session_id = :session and turn_id = :turn;

-- name: recalled_for(tenant, session, turn)$
-- The memories that a turn was planned with, as JSON.
select e.data ->> 'memories' from gateway.session_events e
where e.tenant_id = :tenant and e.session_id = :session and e.turn_id = :turn and e.event_type = 'suma.memories.recalled.v1'
order by e.seq limit 1;

-- name: open_question(tenant, session, turn)^
-- The event with which a turn asked a person last, unless that is answered: a turn has one open question.
select q.seq, q.event_type, q.turn_id, q.occurred_at, q.data::text as data, q.correlation
from (
    select * from gateway.session_events
    where tenant_id = :tenant and session_id = :session and turn_id = :turn
        and event_type in ('suma.clarification.requested.v1', 'suma.approval.requested.v1')
    order by seq desc limit 1
) as q
where exists (
    select from gateway.approvals a
    where a.tenant_id = q.tenant_id and a.approval_id = q.data ->> 'approval_id' and a.outcome is null
) or exists (
    select from gateway.turns t
    where t.tenant_id = q.tenant_id and t.turn_id = q.turn_id and t.state = 'awaiting_clarification'
);

-- name: turns_after(tenant, session, after, most)
-- A session's turns in the order of their messages.
select turn_id, session_id, message_id, text, state, reason, detail, answer, created_at, started_at, ended_at
from gateway.turns
where tenant_id = :tenant and session_id = :session and (cast(:after as text) is null or turn_id > :after)
order by turn_id limit :most;

-- name: conversation(tenant, principal, root, turns, texts)$
-- A principal's session that holds a chat: that of the newest known turn, else that with the most of its texts (as MD5). Chats may
-- begin alike, so the session with the fewest turns comes first: in it nothing else followed.
select t.session_id
from gateway.turns t join gateway.session_envelopes s on s.tenant_id = t.tenant_id and s.session_id = t.session_id
where t.tenant_id = :tenant and s.principal = :principal and (cast(:root as text) is null or s.root = :root)
    and (t.turn_id = any(cast(:turns as text[])) or md5(t.answer) = any(cast(:texts as text[])))
group by t.session_id
order by max(array_position(cast(:turns as text[]), t.turn_id)) desc nulls last,
    count(distinct t.answer) + count(distinct t.text) filter (where md5(t.text) = any(:texts)) desc,
    (select count(*) from gateway.turns o where o.tenant_id = :tenant and o.session_id = t.session_id),
    max(t.turn_id) desc
limit 1;

-- name: approval_by_id(tenant, approval)^
select approval_id, session_id, turn_id, kind, digest, data::text as data, opened_at, expires_at, outcome, principal, reason, closed_at,
    case when outcome is null then draft::text end as draft
from gateway.approvals where tenant_id = :tenant and approval_id = :approval;

-- name: open_approvals(tenant, reader, session, kind, after, most)
-- The inbox of the sessions that a principal sees, oldest first, after a given one, which may be closed by now.
select approval_id, session_id, turn_id, kind, digest, data::text as data, opened_at, expires_at, outcome, principal, reason, closed_at,
    case when outcome is null then draft::text end as draft
from gateway.approvals a
where tenant_id = :tenant and outcome is null and (cast(:session as text) is null or session_id = :session)
    and (cast(:kind as text) is null or kind = :kind)
    and (cast(:reader as text) is null or exists (
        select from gateway.session_envelopes s
        where s.tenant_id = a.tenant_id and s.session_id = a.session_id and (s.principal = :reader or s.shared is not null)
    ))
    and (cast(:after as text) is null or (opened_at, approval_id) > (
        select b.opened_at, b.approval_id from gateway.approvals b where b.tenant_id = :tenant and b.approval_id = :after
    ))
order by opened_at, approval_id limit :most;

-- name: last_change(tenant, session, change)$
-- The session's commit that was committed, or rolled back as a whole, last; only one that it still is.
select commit_id from (
    select distinct on (commit_id) c.data ->> 'commit_id' as commit_id, c.data ->> 'change' as change, c.seq
    from gateway.session_events c
    where c.tenant_id = :tenant and c.session_id = :session and c.event_type = 'suma.workspace.changed.v1'
        and c.data ->> 'change' in ('committed', 'rolled_back') and c.data ->> 'commit_id' is not null
        and (c.data ->> 'whole')::boolean is not false
    order by commit_id, c.seq desc
) as latest
where change = :change order by seq desc limit 1;

-- name: counts(tenant, reader)^
-- The counts of the sessions that a principal sees.
with seen as (
    select s.session_id from gateway.session_envelopes s
    where s.tenant_id = :tenant and (cast(:reader as text) is null or s.principal = :reader or s.shared is not null)
)
select
    (select count(*) from seen) as sessions,
    (select count(*) from gateway.turns t join seen using (session_id) where t.tenant_id = :tenant and t.ended_at is null) as turns,
    (select count(*) from gateway.approvals a join seen using (session_id) where a.tenant_id = :tenant and a.outcome is null)
        as approvals,
    bus.now() as as_of;

-- name: waiting(tenant, session, most)^
-- Open turns of a tenant and of one of its sessions, counted up to the limit.
select
    (select count(*) from (select from gateway.turns t where t.tenant_id = :tenant and t.ended_at is null limit :most) as o) as tenant,
    (select count(*) from (
        select from gateway.turns t where t.tenant_id = :tenant and t.session_id = :session and t.ended_at is null limit :most
    ) as o) as session;

-- name: ended_lately(tenant, session, seconds)$
-- Turns of a tenant, or of one session, that ended recently, to estimate when room is free.
select count(*) from gateway.turns t
where t.tenant_id = :tenant and t.ended_at > bus.now() - make_interval(secs => :seconds)
    and (cast(:session as text) is null or t.session_id = :session);
