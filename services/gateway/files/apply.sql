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

-- Apply the changes of files and uploads.
create or replace function gateway.apply_files(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}'; part int[]; kind text;
begin
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
        select done || array_agg(c.i) into done from c join put using (tenant_id, upload_id);
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
        select done || array_agg(c.i) into done from c join put using (tenant_id, part_id);
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
        select done || array_agg(m.i) into done from moved m;
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
        select done || array_agg(c.i) into done from c join attached k using (tenant_id, asset_id);
    end if;

    return done || gateway.numbers(changes, 'upload.drop', 'upload.expire', 'blob.forget');
end
$$;
