-- The usage of a tenant's upload limits: open or unused files, and the bytes of all files.
create or replace function gateway.upload_usage(tenant text, out files bigint, out bytes bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select count(*) filter (where u.open), coalesce(sum(u.size), 0) from (
        select true as open, o.size from gateway.uploads o where o.tenant_id = tenant
        union all
        select a.expires_at is not null, a.size from gateway.attachments a where a.tenant_id = tenant and a.principal is not null
    ) as u
$$;

-- Condemn the given blobs that nothing refers to. The rows are locked first: a statement that follows sees every reference
-- that was committed before.
create or replace function gateway.condemn(tenant text, by_lease text, names text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    perform from gateway.upload_blobs b where b.tenant_id = tenant and b.sha256 = any (names) order by b.sha256 for update of b;
    update gateway.upload_blobs b set collector = by_lease
    where b.tenant_id = tenant and b.sha256 = any (names) and b.collector is null
        and not exists (select from gateway.upload_parts p where p.tenant_id = b.tenant_id and p.sha256 = b.sha256)
        and not exists (
            select from gateway.attachments a
            where a.tenant_id = b.tenant_id and a.sha256 = b.sha256 and a.principal is not null
        );
end
$$;

create or replace function gateway.forget_uploads(tenant text, by_lease text, ids text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    names text[];
begin
    -- No part can be added from here on: `upload.part` takes a share of the upload's row.
    perform from gateway.uploads u where u.tenant_id = tenant and u.upload_id = any (ids) order by u.upload_id for update of u;
    with gone as (
        delete from gateway.upload_parts p where p.tenant_id = tenant and p.upload_id = any (ids) returning p.sha256
    )
    select array_agg(distinct g.sha256) into names from gone g;
    delete from gateway.uploads u where u.tenant_id = tenant and u.upload_id = any (ids);
    perform gateway.condemn(tenant, by_lease, names);
end
$$;

create or replace function gateway.forget_assets(tenant text, by_lease text, ids text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    names text[];
begin
    with gone as (
        delete from gateway.attachments a
        where a.tenant_id = tenant and a.asset_id = any (ids) and a.principal is not null returning a.sha256
    )
    select array_agg(distinct g.sha256) into names from gone g;
    perform gateway.condemn(tenant, by_lease, names);
end
$$;

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

    -- nonce.put: the first request with its nonce succeeds; one that conflicts was sent before.
    if changes ? 'nonce.put' then
        delete from gateway.request_nonces d using (
            select o.tenant_id, o.key_id, o.nonce from gateway.request_nonces o
            join (select distinct c.tenant_id from jsonb_to_recordset(changes -> 'nonce.put') as c(tenant_id text)) as c
                on o.tenant_id = c.tenant_id and o.at < bus.now() - interval '15 minutes'
            order by o.tenant_id, o.at limit 200 for update of o skip locked
        ) as old where (d.tenant_id, d.key_id, d.nonce) = (old.tenant_id, old.key_id, old.nonce);
        with c as (
            select distinct on (p.tenant_id, p.key_id, p.nonce) p.*
            from jsonb_to_recordset(changes -> 'nonce.put') as p(i int, tenant_id text, key_id text, nonce text)
            order by p.tenant_id, p.key_id, p.nonce, p.i
        ), put as (
            insert into gateway.request_nonces (tenant_id, key_id, nonce, at)
            select c.tenant_id, c.key_id, c.nonce, bus.now() from c order by c.tenant_id, c.key_id, c.nonce
            on conflict (tenant_id, key_id, nonce) do nothing returning tenant_id, key_id, nonce
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, key_id, nonce);
        done := done || part;
    end if;

    -- session.open: the first with its id succeeds; a request that conflicts reads the session.
    if changes ? 'session.open' then
        with c as (
            select distinct on (m.tenant_id, m.session_id) m.*
            from jsonb_to_recordset(changes -> 'session.open')
                as m(
                    i int, tenant_id text, session_id text, principal text, title text, root text, hitl text, context text,
                    at timestamptz
                )
            order by m.tenant_id, m.session_id, m.i
        ), put as (
            insert into gateway.session_envelopes
                (tenant_id, session_id, principal, title, root, hitl, context, created_at, last_at)
            select c.tenant_id, c.session_id, c.principal, c.title, c.root, c.hitl, c.context, c.at, c.at
            from c order by c.tenant_id, c.session_id
            on conflict (tenant_id, session_id) do nothing returning tenant_id, session_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, session_id);
        done := done || part;
    end if;

    if changes ? 'session.share' then
        update gateway.session_envelopes s set shared = c.shared
        from (
            select distinct on (m.tenant_id, m.session_id) m.*
            from jsonb_to_recordset(changes -> 'session.share') as m(i int, tenant_id text, session_id text, shared text)
            order by m.tenant_id, m.session_id, m.i desc
        ) as c where s.tenant_id = c.tenant_id and s.session_id = c.session_id;
    end if;

    -- event: an event that the row names by its place in the log, or repeats; a place without it is a conflict, and the next try
    -- repeats it. Number under a lock on the session's row, so that the sequence has no gap and no viewer skips an uncommitted event.
    if changes ? 'event' then
        with named as materialized (
            select * from jsonb_to_recordset(changes -> 'event')
                as c(i int, tenant_id text, session_id text, event_id text, event_type text, turn_id text,
                     occurred_at timestamptz, data jsonb, correlation text, causation text, part int, "position" bigint)
        ), c as materialized (
            select n.i, n.tenant_id, n.session_id, n.event_id, n.event_type, n.turn_id, n.occurred_at, n.data, n.correlation, n.causation
            from named n where n.part is null
            union all
            select n.i, n.tenant_id, g.headers ->> 'sessionid', g.event_id, g.type, g.headers ->> 'turnid',
                (g.headers ->> 'time')::timestamptz, g.data, g.headers ->> 'correlationid', g.headers ->> 'causationid'
            from bus.recorded('conversation.outbound', (select array_agg(n.part) from named n where n.part is not null),
                (select array_agg(n."position") from named n where n.part is not null)) as g
            join named n on n.part = g.part and n."position" = g."position" and n.event_id = g.event_id and n.tenant_id = g.tenant
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
            ended_at = coalesce(t.ended_at, c.ended_at),
            moved_at = case when t.ended_at is null then coalesce(c.moved_at, t.moved_at) else t.moved_at end
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
                min(m.started_at) as started_at, min(m.ended_at) as ended_at, max(m.moved_at) as moved_at
            from jsonb_to_recordset(changes -> 'turn.move')
                as m(i int, tenant_id text, turn_id text, state text, reason text, detail text, answer text,
                     started_at timestamptz, ended_at timestamptz, moved_at timestamptz)
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

    -- approval.draft: the last one counts, while its question is open and still the one that was shown.
    if changes ? 'approval.draft' then
        update gateway.approvals a
        set draft = c.draft
        from (
            select distinct on (m.tenant_id, m.approval_id) m.* from jsonb_to_recordset(changes -> 'approval.draft')
                as m(i int, tenant_id text, approval_id text, digest text, draft jsonb)
            order by m.tenant_id, m.approval_id, m.i desc
        ) as c
        where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id and a.digest = c.digest and a.outcome is null;
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

    -- upload.open: admit uploads up to the tenant's limits; the lock makes concurrent ones count each other.
    if changes ? 'upload.open' then
        perform pg_advisory_xact_lock(hashtextextended('gateway.uploads:' || t.tenant_id, 0))
        from (select distinct c.tenant_id from jsonb_to_recordset(changes -> 'upload.open') as c(tenant_id text) order by 1) as t;
        with c as (
            select o.*, row_number() over w as files, sum(o.size) over w as bytes
            from jsonb_to_recordset(changes -> 'upload.open')
                as o(i int, tenant_id text, upload_id text, principal text, filename text, media_type text, sha256 text, size bigint,
                     metadata text, seconds float8, files_most bigint, bytes_most bigint)
            window w as (partition by o.tenant_id order by o.i)
        ), put as (
            insert into gateway.uploads
                (tenant_id, upload_id, principal, filename, media_type, sha256, size, metadata, created_at, expires_at)
            select c.tenant_id, c.upload_id, c.principal, c.filename, c.media_type, c.sha256, c.size, c.metadata, bus.now(),
                bus.now() + make_interval(secs => c.seconds)
            from c cross join lateral gateway.upload_usage(c.tenant_id) as u
            where u.files + c.files <= c.files_most and u.bytes + c.bytes <= c.bytes_most
            returning tenant_id, upload_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, upload_id);
        done := done || part;
    end if;

    -- upload.part: refer to a blob before it is stored. A condemned blob conflicts: it is about to be deleted.
    if changes ? 'upload.part' then
        -- Uploads are locked before blobs, here and in forget_uploads.
        perform from gateway.uploads u
        join jsonb_to_recordset(changes -> 'upload.part') as c(tenant_id text, upload_id text) using (tenant_id, upload_id)
        order by u.tenant_id, u.upload_id for key share of u;
        with c as (
            select p.* from jsonb_to_recordset(changes -> 'upload.part')
                as p(i int, tenant_id text, part_id text, upload_id text, start bigint, size bigint, sha256 text)
        ), blob as (
            insert into gateway.upload_blobs as b (tenant_id, sha256)
            select distinct c.tenant_id, c.sha256 from c order by c.tenant_id, c.sha256
            on conflict (tenant_id, sha256) do update set collector = b.collector
            returning b.tenant_id, b.sha256, b.collector
        ), put as (
            insert into gateway.upload_parts (tenant_id, part_id, upload_id, start, size, sha256)
            select c.tenant_id, c.part_id, c.upload_id, c.start, c.size, c.sha256
            from c join blob b on b.tenant_id = c.tenant_id and b.sha256 = c.sha256 and b.collector is null
            join gateway.uploads u on u.tenant_id = c.tenant_id and u.upload_id = c.upload_id
            returning tenant_id, part_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, part_id);
        done := done || part;
    end if;

    -- upload.advance: of two requests that sent the same bytes, one counts.
    if changes ? 'upload.advance' then
        with c as (
            select distinct on (a.tenant_id, a.upload_id) a.* from jsonb_to_recordset(changes -> 'upload.advance')
                as a(i int, tenant_id text, upload_id text, part_id text, start bigint, size bigint, seconds float8)
            order by a.tenant_id, a.upload_id, a.i
        ), moved as (
            update gateway.uploads u
            set received = c.start + c.size, expires_at = bus.now() + make_interval(secs => c.seconds)
            from c where u.tenant_id = c.tenant_id and u.upload_id = c.upload_id and u.received = c.start
            returning c.i, c.tenant_id, c.part_id
        ), stored as (
            update gateway.upload_parts p set stored = true
            from moved m where p.tenant_id = m.tenant_id and p.part_id = m.part_id
        )
        select coalesce(array_agg(m.i), '{}') into part from moved m;
        done := done || part;
    end if;

    -- upload.finish: the whole content is stored; the upload becomes an asset, which expires unless it is used.
    if changes ? 'upload.finish' then
        with c as (
            select distinct on (f.tenant_id, f.upload_id) f.* from jsonb_to_recordset(changes -> 'upload.finish')
                as f(i int, tenant_id text, upload_id text, received bigint, media_type text, sha256 text, seconds float8)
            order by f.tenant_id, f.upload_id, f.i
        ), locked as materialized (
            select c.*, u.principal, u.filename, u.size, u.metadata
            from (select * from c order by c.tenant_id, c.upload_id offset 0) as c
            cross join lateral (
                select u.principal, u.filename, u.size, u.metadata from gateway.uploads u
                where u.tenant_id = c.tenant_id and u.upload_id = c.upload_id and u.received = c.received for update of u
            ) as u
        ), put as (
            insert into gateway.attachments
                (tenant_id, asset_id, principal, filename, media_type, sha256, size, metadata, created_at, expires_at)
            select l.tenant_id, l.upload_id, l.principal, l.filename, l.media_type, l.sha256, l.size, l.metadata, bus.now(),
                bus.now() + make_interval(secs => l.seconds)
            from locked l
        )
        select coalesce(array_agg(l.i), '{}') into part from locked l;
        done := done || part;
        perform gateway.forget_uploads(u.tenant_id, u.collector, array_agg(u.upload_id))
        from jsonb_to_recordset(changes -> 'upload.finish') as u(i int, tenant_id text, upload_id text, collector text)
        where u.i = any (part) group by u.tenant_id, u.collector order by u.tenant_id, u.collector;
    end if;

    -- upload.drop: its principal deletes an upload. upload.expire: delete it if its time has come and no message named it.
    foreach kind in array array['upload.drop', 'upload.expire'] loop
        if changes ? kind then
            perform gateway.forget_uploads(u.tenant_id, u.collector, array_agg(u.upload_id)),
                gateway.forget_assets(u.tenant_id, u.collector, array_agg(u.upload_id))
            from (
                select c.* from jsonb_to_recordset(changes -> kind) as c(tenant_id text, upload_id text, collector text)
                where kind = 'upload.drop' or exists (
                    select from gateway.uploads o
                    where o.tenant_id = c.tenant_id and o.upload_id = c.upload_id and o.expires_at <= bus.now() for update of o
                ) or exists (
                    select from gateway.attachments a
                    where a.tenant_id = c.tenant_id and a.asset_id = c.upload_id and a.principal is not null
                        and a.expires_at <= bus.now() for update of a
                )
            ) as u group by u.tenant_id, u.collector order by u.tenant_id, u.collector;
        end if;
    end loop;

    -- blob.forget: a condemned blob has been deleted from the store; its name may be used again.
    if changes ? 'blob.forget' then
        delete from gateway.upload_blobs b
        using jsonb_to_recordset(changes -> 'blob.forget') as c(tenant_id text, sha256 text, collector text)
        where b.tenant_id = c.tenant_id and b.sha256 = c.sha256 and b.collector = c.collector;
    end if;

    -- message.attach: a message names an upload of its sender, which from then on does not expire.
    if changes ? 'message.attach' then
        with c as (
            select m.* from jsonb_to_recordset(changes -> 'message.attach')
                as m(i int, tenant_id text, session_id text, turn_id text, asset_id text, principal text, filename text)
        ), attached as (
            update gateway.attachments a set expires_at = null
            from (select distinct c.tenant_id, c.asset_id, c.principal from c) as k
            where a.tenant_id = k.tenant_id and a.asset_id = k.asset_id and a.principal = k.principal
            returning a.tenant_id, a.asset_id
        ), put as (
            insert into gateway.message_attachments (tenant_id, turn_id, asset_id, session_id, filename)
            select c.tenant_id, c.turn_id, c.asset_id, c.session_id, c.filename from c join attached k using (tenant_id, asset_id)
            on conflict (tenant_id, turn_id, asset_id) do nothing
        )
        select coalesce(array_agg(c.i), '{}') into part from c join attached k using (tenant_id, asset_id);
        done := done || part;
    end if;

    if changes ? 'push.put' then
        insert into gateway.push_configs as p (tenant_id, turn_id, config_id, principal, session_id, url, token, scheme, credentials,
            base, delivery, credential, oversees, created_at)
        select distinct on (c.tenant_id, c.turn_id, c.config_id) c.tenant_id, c.turn_id, c.config_id, c.principal, c.session_id, c.url,
            c.token, c.scheme, c.credentials, c.base, c.delivery, coalesce(c.credential, ''), coalesce(c.oversees, false), bus.now()
        from jsonb_to_recordset(changes -> 'push.put')
            as c(i int, tenant_id text, turn_id text, config_id text, principal text, session_id text, url text, token text,
                 scheme text, credentials text, base text, delivery text, credential text, oversees boolean)
        order by c.tenant_id, c.turn_id, c.config_id, c.i desc
        on conflict (tenant_id, turn_id, config_id) do update
            set url = excluded.url, token = excluded.token, scheme = excluded.scheme, credentials = excluded.credentials,
                base = excluded.base, delivery = excluded.delivery, credential = excluded.credential, oversees = excluded.oversees,
                created_at = excluded.created_at
            where p.principal = excluded.principal;
    end if;

    if changes ? 'push.drop' then
        delete from gateway.push_configs p
        using jsonb_to_recordset(changes -> 'push.drop') as c(tenant_id text, turn_id text, config_id text, principal text)
        where p.tenant_id = c.tenant_id and p.turn_id = c.turn_id and p.config_id = c.config_id and p.principal = c.principal;
    end if;

    -- None of these depends on a version: they are safe to repeat, or belong to a session whose row is locked above.
    foreach kind in array array[
        'session.title', 'turn.open', 'turn.move', 'asset.put', 'approval.open', 'approval.draft', 'approval.close', 'dead.put',
        'session.share', 'key.used', 'upload.drop', 'upload.expire', 'blob.forget',
        'push.put', 'push.drop'
    ] loop
        if changes ? kind then
            select array_agg((c ->> 'i')::int) into part from jsonb_array_elements(changes -> kind) as c;
            done := done || part;
        end if;
    end loop;
    return done;
end
$$;

-- Only the owner's role and suma_directory write identities (directory.py); the role that serves requests notes when a key was last used.
revoke insert, update, delete
    on gateway.tenants, gateway.principals, gateway.api_keys, gateway.web_sessions, gateway.signin_codes from suma_app;
grant update (used_at) on gateway.api_keys to suma_app;
