-- Apply every write of the gateway: one statement per kind of change, over all rows of the batch. Return the numbers (i) of the
-- applied changes; a missing number is a conflict of its changeset.
create or replace function gateway.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[]; kind text;
begin
    -- idempotency.put: the first with its key succeeds; a request that conflicts reads the first one's receipt.
    if changes ? 'idempotency.put' then
        delete from gateway.idempotency d using (
            select o.tenant_id, o.principal, o.key from gateway.idempotency o
            join (
                select c.tenant_id, max(c.keep) as keep from jsonb_to_recordset(changes -> 'idempotency.put')
                    as c(tenant_id text, keep float8) group by c.tenant_id
            ) as c on o.tenant_id = c.tenant_id and o.at < bus.now() - make_interval(secs => c.keep)
            order by o.tenant_id, o.at limit 200 for update of o skip locked
        ) as old where (d.tenant_id, d.principal, d.key) = (old.tenant_id, old.principal, old.key);
        with c as (
            select distinct on (p.tenant_id, p.principal, p.key) p.*
            from jsonb_to_recordset(changes -> 'idempotency.put')
                as p(i int, tenant_id text, principal text, key text, body_hash text, receipt jsonb, keep float8)
            order by p.tenant_id, p.principal, p.key, p.i
        ), put as (
            insert into gateway.idempotency as p (tenant_id, principal, key, body_hash, receipt, at)
            select c.tenant_id, c.principal, c.key, c.body_hash, c.receipt, bus.now() from c order by c.tenant_id, c.principal, c.key
            on conflict (tenant_id, principal, key) do update
                set body_hash = excluded.body_hash, receipt = excluded.receipt, at = excluded.at
                where p.at < bus.now() - make_interval(secs => (select max(c.keep) from c where c.tenant_id = p.tenant_id))
            returning p.tenant_id, p.principal, p.key
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, principal, key);
        done := done || part;
    end if;

    if changes ? 'session.open' then
        insert into gateway.session_envelopes (tenant_id, session_id, principal, title, root, hitl, created_at, last_at)
        select c.tenant_id, c.session_id, c.principal, c.title, c.root, c.hitl, c.at, c.at
        from jsonb_to_recordset(changes -> 'session.open')
            as c(tenant_id text, session_id text, principal text, title text, root text, hitl text, at timestamptz)
        order by c.tenant_id, c.session_id;
    end if;

    if changes ? 'session.share' then
        update gateway.session_envelopes s set shared = c.shared
        from (
            select distinct on (m.tenant_id, m.session_id) m.*
            from jsonb_to_recordset(changes -> 'session.share') as m(i int, tenant_id text, session_id text, shared text)
            order by m.tenant_id, m.session_id, m.i desc
        ) as c where s.tenant_id = c.tenant_id and s.session_id = c.session_id;
    end if;

    -- event: number under a lock on the session's row, so that the sequence has no gap and no viewer skips an uncommitted event.
    if changes ? 'event' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'event')
                as c(i int, tenant_id text, session_id text, event_id text, event_type text, turn_id text,
                     occurred_at timestamptz, data jsonb, correlation text, causation text)
        ), counted as (
            select c.tenant_id, c.session_id, count(*) as k, max(c.occurred_at) as at from c group by c.tenant_id, c.session_id
        ), locked as materialized (
            -- One lookup by the whole key per session: a plain join would read all of the tenant's sessions (no statistics, and RLS).
            select s.tenant_id, s.session_id, s.next_seq, n.k, n.at
            from (select * from counted order by tenant_id, session_id offset 0) n
            cross join lateral (
                select e.tenant_id, e.session_id, e.next_seq from gateway.session_envelopes e
                where e.tenant_id = n.tenant_id and e.session_id = n.session_id for no key update of e
            ) s
        ), moved as (
            update gateway.session_envelopes s set next_seq = l.next_seq + l.k, last_at = greatest(s.last_at, l.at)
            from locked l where s.tenant_id = l.tenant_id and s.session_id = l.session_id
        ), written as (
            insert into gateway.session_events
                (tenant_id, session_id, seq, event_id, event_type, turn_id, occurred_at, data, correlation, causation)
            select c.tenant_id, c.session_id, l.next_seq + row_number() over (partition by c.tenant_id, c.session_id order by c.i) - 1,
                c.event_id, c.event_type, c.turn_id, c.occurred_at, c.data, c.correlation, c.causation
            from c join locked l using (tenant_id, session_id)
        )
        select coalesce(array_agg(c.i), '{}') into part from c join locked l using (tenant_id, session_id);
        done := done || part;
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
        insert into gateway.turns (tenant_id, turn_id, session_id, message_id, text, state, created_at)
        select c.tenant_id, c.turn_id, c.session_id, c.message_id, c.text, c.state, c.at
        from jsonb_to_recordset(changes -> 'turn.open')
            as c(tenant_id text, turn_id text, session_id text, message_id text, text text, state text, at timestamptz)
        order by c.tenant_id, c.turn_id
        on conflict (tenant_id, turn_id) do nothing;
    end if;

    -- turn.move: merge an event's data into its turn. An ended turn keeps its final state.
    if changes ? 'turn.move' then
        update gateway.turns t set
            state = case when t.ended_at is null then coalesce(c.state, t.state) else t.state end,
            reason = coalesce(t.reason, c.reason),
            detail = coalesce(nullif(t.detail, ''), c.detail, ''),
            answer = coalesce(c.answer, t.answer),
            started_at = coalesce(t.started_at, c.started_at),
            ended_at = coalesce(t.ended_at, c.ended_at)
        from (
            -- A batch may contain several changes of one turn, in the order of i.
            select m.tenant_id, m.turn_id,
                coalesce(
                    (array_agg(m.state order by m.i) filter (where m.ended_at is not null))[1],
                    (array_agg(m.state order by m.i desc) filter (where m.state is not null))[1]
                ) as state,
                (array_agg(m.reason order by m.i) filter (where m.reason is not null))[1] as reason,
                (array_agg(m.detail order by m.i) filter (where m.detail <> ''))[1] as detail,
                (array_agg(m.answer order by m.i desc) filter (where m.answer is not null))[1] as answer,
                min(m.started_at) as started_at, min(m.ended_at) as ended_at
            from jsonb_to_recordset(changes -> 'turn.move')
                as m(i int, tenant_id text, turn_id text, state text, reason text, detail text, answer text,
                     started_at timestamptz, ended_at timestamptz)
            group by m.tenant_id, m.turn_id
        ) as c
        where t.tenant_id = c.tenant_id and t.turn_id = c.turn_id;
    end if;

    if changes ? 'approval.open' then
        insert into gateway.approvals (tenant_id, approval_id, session_id, turn_id, kind, digest, data, opened_at, expires_at)
        select c.tenant_id, c.approval_id, c.session_id, c.turn_id, c.kind, c.digest, c.data, c.at, c.at + make_interval(secs => c.expires_in)
        from jsonb_to_recordset(changes -> 'approval.open')
            as c(tenant_id text, approval_id text, session_id text, turn_id text, kind text, digest text, data jsonb,
                 at timestamptz, expires_in float8)
        order by c.tenant_id, c.approval_id
        on conflict (tenant_id, approval_id) do nothing;
    end if;

    if changes ? 'asset.put' then
        insert into gateway.attachments (tenant_id, asset_id, session_id, turn_id, filename, media_type, sha256, size, created_at)
        select c.tenant_id, c.asset_id, c.session_id, c.turn_id, c.filename, c.media_type, c.sha256, c.size, c.at
        from jsonb_to_recordset(changes -> 'asset.put')
            as c(tenant_id text, asset_id text, session_id text, turn_id text, filename text, media_type text, sha256 text,
                 size bigint, at timestamptz)
        order by c.tenant_id, c.asset_id
        on conflict (tenant_id, asset_id) do nothing;
    end if;

    -- approval.close: the first answer counts.
    if changes ? 'approval.close' then
        update gateway.approvals a
        set outcome = c.outcome, principal = c.principal, reason = c.reason, closed_at = c.at
        from (
            select distinct on (m.tenant_id, m.approval_id) m.* from jsonb_to_recordset(changes -> 'approval.close')
                as m(i int, tenant_id text, approval_id text, outcome text, principal text, reason text, at timestamptz)
            order by m.tenant_id, m.approval_id, m.i
        ) as c
        where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id and a.outcome is null;
    end if;

    -- dead.put: a dead letter's id is that of the event that reported it (events before release 2 have none).
    if changes ? 'dead.put' then
        insert into gateway.dlq_messages
            (tenant_id, letter_id, grp, event_id, topic, event_type, event_key, session_id, turn_id, event, code, error, attempts, died_at)
        select c.tenant_id, coalesce(c.letter_id, gen_random_uuid()::text), c.grp, c.event_id, c.topic, c.event_type, c.event_key,
            c.session_id, c.turn_id, c.event, c.code, c.error, c.attempts, c.at
        from jsonb_to_recordset(changes -> 'dead.put')
            as c(tenant_id text, letter_id text, grp text, event_id text, topic text, event_type text, event_key text,
                 session_id text, turn_id text, event jsonb, code text, error text, attempts int, at timestamptz)
        order by c.tenant_id, c.letter_id
        on conflict (tenant_id, letter_id) do nothing;
    end if;

    -- dead.close: replay or discard an open dead letter once; later requests conflict and read the first one's result.
    if changes ? 'dead.close' then
        with c as (
            select distinct on (m.tenant_id, m.letter_id) m.* from jsonb_to_recordset(changes -> 'dead.close')
                as m(i int, tenant_id text, letter_id text, state text, closed_by text, reason text)
            order by m.tenant_id, m.letter_id, m.i
        ), locked as materialized (
            select c.i, c.state, c.closed_by, c.reason, o.tenant_id, o.letter_id
            from (select * from c order by c.tenant_id, c.letter_id offset 0) c
            cross join lateral (
                select d.tenant_id, d.letter_id from gateway.dlq_messages d
                where d.tenant_id = c.tenant_id and d.letter_id = c.letter_id and d.state = 'open' for update of d
            ) o
        ), closed as (
            update gateway.dlq_messages d set state = l.state, closed_by = l.closed_by, closed_at = bus.now(), reason = l.reason
            from locked l where d.tenant_id = l.tenant_id and d.letter_id = l.letter_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from closed;
        done := done || part;
    end if;

    -- key.used: note a key's last use, at most once a minute.
    if changes ? 'key.used' then
        update gateway.api_keys k set used_at = bus.now()
        from (
            select o.tenant_id, o.key_id from gateway.api_keys o
            join (select distinct u.tenant_id, u.key_id from jsonb_to_recordset(changes -> 'key.used') as u(tenant_id text, key_id text))
                as c using (tenant_id, key_id)
            where o.used_at is null or o.used_at < bus.now() - interval '1 minute'
            order by o.tenant_id, o.key_id for update of o skip locked
        ) as l where k.tenant_id = l.tenant_id and k.key_id = l.key_id;
    end if;

    -- None of these depends on a version: they are safe to repeat, or belong to a session whose row is locked above.
    foreach kind in array array[
        'session.open', 'session.title', 'turn.open', 'turn.move', 'asset.put', 'approval.open', 'approval.close', 'dead.put',
        'session.share', 'key.used'
    ] loop
        if changes ? kind then
            select array_agg((c ->> 'i')::int) into part from jsonb_array_elements(changes -> kind) as c;
            done := done || part;
        end if;
    end loop;
    return done;
end
$$;

-- Only the owner's role writes identities (directory.py); the role that serves requests notes when a key was last used.
revoke insert, update, delete
    on gateway.tenants, gateway.principals, gateway.api_keys, gateway.web_sessions, gateway.signin_codes from suma_app;
grant update (used_at) on gateway.api_keys to suma_app;
