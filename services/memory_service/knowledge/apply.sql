-- Apply the writes of knowledge bases, for memory.apply: return the changes that applied.
create or replace function memory.apply_knowledge(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    -- knowledge.read: begin a reading. A later reading of the base replaces an earlier one.
    if changes ? 'knowledge.read' then
        insert into memory.knowledge_bases (tenant_id, base_id, user_id, name, source, strategy, chunk_size, job, state, detail, files, done)
        select distinct on (c.tenant_id, c.base_id)
            c.tenant_id, c.base_id, c.user_id, c.name, c.source, c.strategy, c.chunk_size, c.job, 'reading', '', 0, 0
        from jsonb_to_recordset(changes -> 'knowledge.read') as c(i int, tenant_id text, base_id text, user_id text, name text,
            source text, strategy text, chunk_size int, job text)
        order by c.tenant_id, c.base_id, c.i desc
        on conflict (tenant_id, base_id) do update set source = excluded.source, strategy = excluded.strategy,
            chunk_size = excluded.chunk_size, job = excluded.job, state = 'reading', detail = '', done = 0, updated_at = now();
    end if;

    -- knowledge.progress: only by the reading under way. It locks the base first, so that no removal leaves a file behind.
    if changes ? 'knowledge.progress' then
        with locked as (
            select b.tenant_id, b.base_id, b.job from memory.knowledge_bases b
            where (b.tenant_id, b.base_id) in (
                select c.tenant_id, c.base_id from jsonb_to_recordset(changes -> 'knowledge.progress') as c(tenant_id text, base_id text))
            order by b.tenant_id, b.base_id for update of b
        ), fit as (
            select c.* from jsonb_to_recordset(changes -> 'knowledge.progress')
                as c(i int, tenant_id text, base_id text, job text, state text, detail text, files int, done int)
            join locked using (tenant_id, base_id, job)
        ), latest as (
            update memory.knowledge_bases b
            set state = t.state, detail = t.detail, files = t.files, done = t.done, updated_at = now()
            from (select distinct on (tenant_id, base_id) * from fit order by tenant_id, base_id, i desc) as t
            where b.tenant_id = t.tenant_id and b.base_id = t.base_id
        )
        select coalesce(array_agg(i), '{}') into part from fit;
        done := done || part;
    end if;

    -- knowledge.drop: forget files, with their chunks.
    if changes ? 'knowledge.drop' then
        delete from memory.knowledge_files f using jsonb_to_recordset(changes -> 'knowledge.drop')
            as c(tenant_id text, base_id text, path text)
        where f.tenant_id = c.tenant_id and f.base_id = c.base_id and f.path = c.path;
        delete from memory.knowledge_chunks k using jsonb_to_recordset(changes -> 'knowledge.drop')
            as c(tenant_id text, base_id text, path text)
        where k.tenant_id = c.tenant_id and k.base_id = c.base_id and k.path = c.path;
    end if;

    -- knowledge.file: what was read of a file. With another digest its old chunks are gone.
    if changes ? 'knowledge.file' then
        delete from memory.knowledge_chunks k using jsonb_to_recordset(changes -> 'knowledge.file')
            as c(tenant_id text, base_id text, path text, digest text), memory.knowledge_files f
        where k.tenant_id = c.tenant_id and k.base_id = c.base_id and k.path = c.path and f.digest <> c.digest
            and f.tenant_id = c.tenant_id and f.base_id = c.base_id and f.path = c.path;
        insert into memory.knowledge_files (tenant_id, base_id, user_id, path, stamp, digest, chunks, gap)
        select distinct on (c.tenant_id, c.base_id, c.path)
            c.tenant_id, c.base_id, b.user_id, c.path, c.stamp, c.digest, c.chunks, c.gap
        from jsonb_to_recordset(changes -> 'knowledge.file') as c(i int, tenant_id text, base_id text, path text, stamp text, digest text,
            chunks int, gap text)
        join memory.knowledge_bases b using (tenant_id, base_id)
        order by c.tenant_id, c.base_id, c.path, c.i desc
        on conflict (tenant_id, base_id, path) do update
            set stamp = excluded.stamp, digest = excluded.digest, chunks = excluded.chunks, gap = excluded.gap;
    end if;

    if changes ? 'knowledge.chunk' then
        insert into memory.knowledge_chunks (tenant_id, base_id, user_id, path, place, unit, first, last, text, embedder, embedding)
        select c.tenant_id, c.base_id, b.user_id, c.path, c.place, c.unit, c.first, c.last, c.text, c.embedder,
            c.embedding::public.sparsevec::public.vector::public.halfvec
        from jsonb_to_recordset(changes -> 'knowledge.chunk') as c(tenant_id text, base_id text, path text, place int, unit text, first int,
            last int, text text, embedder text, embedding text)
        join memory.knowledge_bases b using (tenant_id, base_id)
        order by c.tenant_id, c.base_id, c.path, c.place
        on conflict (tenant_id, base_id, path, place) do nothing;
    end if;

    -- knowledge.remove: the base first, which a reading locks. Safe to repeat.
    if changes ? 'knowledge.remove' then
        delete from memory.knowledge_bases b using jsonb_to_recordset(changes -> 'knowledge.remove') as c(tenant_id text, base_id text)
        where b.tenant_id = c.tenant_id and b.base_id = c.base_id;
        delete from memory.knowledge_files f using jsonb_to_recordset(changes -> 'knowledge.remove') as c(tenant_id text, base_id text)
        where f.tenant_id = c.tenant_id and f.base_id = c.base_id;
        delete from memory.knowledge_chunks k using jsonb_to_recordset(changes -> 'knowledge.remove') as c(tenant_id text, base_id text)
        where k.tenant_id = c.tenant_id and k.base_id = c.base_id;
    end if;

    -- These kinds have no condition and always apply.
    select done || coalesce(array_agg((c ->> 'i')::int), '{}') into done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
    where k.key in ('knowledge.read', 'knowledge.drop', 'knowledge.file', 'knowledge.chunk', 'knowledge.remove');
    return done;
end
$$;
