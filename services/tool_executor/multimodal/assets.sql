-- Apply the changes of assets. A content is written before its blob is stored, and an asset only while its content stays.
create or replace function executor.apply_assets(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    -- content.refer: a content that is about to be stored. One that is known, or is being deleted, conflicts.
    if changes ? 'content.refer' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'content.refer')
                as c(i int, tenant_id text, retention text, name text, sha256 text, size bigint, blob text, wrapped_key text,
                     credentials boolean)
        ), put as (
            insert into executor.asset_contents (tenant_id, retention, name, sha256, size, blob, wrapped_key, credentials, used_at)
            select c.tenant_id, c.retention, c.name, c.sha256, c.size, c.blob, c.wrapped_key, c.credentials, bus.now()
            from c order by c.tenant_id, c.retention, c.name on conflict do nothing returning tenant_id, retention, name
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, retention, name);
        done := done || part;
    end if;

    -- content.use: a content that another asset is about to name; one that is being deleted conflicts.
    if changes ? 'content.use' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'content.use') as c(i int, tenant_id text, retention text, name text)
        ), used as (
            update executor.asset_contents k set used_at = bus.now()
            from c where k.tenant_id = c.tenant_id and k.retention = c.retention and k.name = c.name and k.collector is null returning c.i
        )
        select coalesce(array_agg(i), '{}') into part from used;
        done := done || part;
    end if;

    -- asset.put: an asset with its provenance. The content is locked, so that it cannot be condemned meanwhile. An asset that is
    -- known, since its call ran again, stays as it is.
    if changes ? 'asset.put' then
        perform from executor.asset_contents k
        join jsonb_to_recordset(changes -> 'asset.put') as c(tenant_id text, retention text, content text)
            on k.tenant_id = c.tenant_id and k.retention = c.retention and k.name = c.content
        order by k.tenant_id, k.retention, k.name for share of k;
        with c as (
            select c.* from jsonb_to_recordset(changes -> 'asset.put')
                as c(i int, tenant_id text, id text, session_id text, turn_id text, call_id text, asset_type text, format text,
                     media_type text, retention text, content text, checksum text, size bigint, title text, width int, height int,
                     created_at timestamptz, keep_seconds float8, provenance jsonb)
            join executor.asset_contents k on k.tenant_id = c.tenant_id and k.retention = c.retention and k.name = c.content
            where k.collector is null
        ), put as (
            insert into executor.multimodal_assets
                (tenant_id, id, session_id, turn_id, call_id, asset_type, format, media_type, retention, content, checksum, size, title,
                 width, height, created_at, expires_at)
            select c.tenant_id, c.id, c.session_id, c.turn_id, c.call_id, c.asset_type, c.format, c.media_type, c.retention, c.content,
                c.checksum, c.size, c.title, c.width, c.height, c.created_at,
                bus.now() + make_interval(secs => c.keep_seconds)
            from c order by c.tenant_id, c.id on conflict do nothing returning tenant_id, id
        ), known as (
            insert into executor.asset_provenance
                (tenant_id, asset_id, session_id, request_id, execution_id, plan_id, user_id, tool_id, provider, model, params,
                 prompt_summary, prompt_is_full, quality, parents, made_from, anchor_key, anchor)
            select c.tenant_id, c.id, c.session_id, p.request_id, p.execution_id, p.plan_id, p.user_id, p.tool_id, p.provider,
                p.model, p.params, p.prompt_summary, p.prompt_is_full, p.quality, p.parents, p.made_from, p.anchor_key, p.anchor
            from c join put on put.tenant_id = c.tenant_id and put.id = c.id
            cross join lateral jsonb_to_record(c.provenance)
                as p(request_id text, execution_id text, plan_id text, user_id text, tool_id text, provider text, model text,
                     params jsonb, prompt_summary text, prompt_is_full boolean, quality float8, parents jsonb, made_from jsonb,
                     anchor_key text, anchor text)
        )
        select coalesce(array_agg(i), '{}') into part from c;
        done := done || part;
    end if;

    -- asset.expire: an asset whose time has come.
    if changes ? 'asset.expire' then
        delete from executor.multimodal_assets a
        using jsonb_to_recordset(changes -> 'asset.expire') as c(tenant_id text, id text)
        where a.tenant_id = c.tenant_id and a.id = c.id and a.expires_at <= bus.now();
    end if;

    -- content.condemn: the contents that no asset has named for some time. The rows are locked first: the update then sees every
    -- asset that was committed before.
    if changes ? 'content.condemn' then
        perform from executor.asset_contents k
        join jsonb_to_recordset(changes -> 'content.condemn') as c(tenant_id text, seconds float8) on k.tenant_id = c.tenant_id
        where k.collector is null and k.used_at <= bus.now() - make_interval(secs => c.seconds)
        order by k.tenant_id, k.retention, k.name for update of k;
        update executor.asset_contents k set collector = c.collector
        from jsonb_to_recordset(changes -> 'content.condemn') as c(tenant_id text, collector text, seconds float8)
        where k.tenant_id = c.tenant_id and k.collector is null and k.used_at <= bus.now() - make_interval(secs => c.seconds)
            and not exists (
                select from executor.multimodal_assets a
                where a.tenant_id = k.tenant_id and a.retention = k.retention and a.content = k.name
            );
    end if;

    -- content.forget: a condemned content whose blob is deleted.
    if changes ? 'content.forget' then
        delete from executor.asset_contents k
        using jsonb_to_recordset(changes -> 'content.forget') as c(tenant_id text, retention text, name text, collector text)
        where k.tenant_id = c.tenant_id and k.retention = c.retention and k.name = c.name and k.collector = c.collector;
    end if;

    select done || coalesce(array_agg((c ->> 'i')::int), '{}') into done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
    where k.key in ('asset.expire', 'content.condemn', 'content.forget');
    return done;
end
$$;
