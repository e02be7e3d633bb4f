-- Apply the writes of scopes and their indexes: one statement per kind of change, over all rows of the batch.
create or replace function memory.apply_indexing(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[];
    coded jsonb := coalesce(changes -> 'memory.add', '[]') || coalesce(changes -> 'memory.code', '[]')
        || coalesce(changes -> 'memory.embed', '[]');
begin
    -- The scopes of new memories and of new vectors.
    if coded <> '[]' then
        insert into memory.scopes (tenant_id, universe, scope, user_id, embedder)
        select distinct m.tenant_id, m.universe, m.scope, m.user_id, c.embedder
        from jsonb_to_recordset(coded) as c(tenant_id text, memory_id text, embedder text)
        join memory.memories m using (tenant_id, memory_id)
        where c.embedder is not null
        order by m.scope, m.universe, c.embedder, m.user_id, m.tenant_id
        on conflict do nothing;
    end if;

    -- index.make: once for each scope and embedder, with its lists.
    if changes ? 'index.make' then
        with made as (
            update memory.scopes s set common = c.common
            from jsonb_to_recordset(changes -> 'index.make') as c(tenant_id text, number int, common text[])
            where s.tenant_id = c.tenant_id and s.number = c.number and s.common is null
            returning s.tenant_id, s.number
        )
        insert into memory.lists (tenant_id, scope_number, list, centroid)
        select made.tenant_id, made.number, l.list, l.centroid::public.halfvec
        from jsonb_to_recordset(changes -> 'index.make') as c(tenant_id text, number int, centroids jsonb)
        join made using (tenant_id, number)
        cross join lateral jsonb_array_elements_text(c.centroids) with ordinality as l(centroid, list)
        on conflict do nothing;
    end if;

    -- memory.embed: another embedder's vector, unless the memory has changed since. It leaves the index of the old ones.
    if changes ? 'memory.embed' then
        with moved as (
            update memory.memories m set embedder = c.embedder, embedding = c.embedding::public.sparsevec::public.halfvec
            from jsonb_to_recordset(changes -> 'memory.embed')
                as c(tenant_id text, memory_id text, was text, embedder text, embedding text)
            where m.tenant_id = c.tenant_id and m.memory_id = c.memory_id and m.embedder = c.was and c.was <> c.embedder
            returning m.tenant_id, m.number
        ), uncoded as (
            delete from memory.codes c using moved where c.tenant_id = moved.tenant_id and c.number = moved.number
        )
        delete from memory.rare_words w using moved where w.tenant_id = moved.tenant_id and w.number = moved.number;
    end if;

    -- memory.add, memory.code, memory.embed: into the index of the memory's scope and embedder, if there is one.
    if coded <> '[]' then
        with filed as (
            insert into memory.codes (tenant_id, scope_number, list, number, bits)
            select distinct on (m.number) m.tenant_id, s.number, coalesce(c.list, nearest.list), m.number, ('x' || c.bits)::bit(768)
            from jsonb_to_recordset(coded) as c(i int, tenant_id text, memory_id text, list int, bits text)
            join memory.memories m using (tenant_id, memory_id)
            join memory.scopes s using (tenant_id, universe, scope, user_id, embedder)
            left join lateral (
                select l.list from memory.lists l where c.list is null and l.tenant_id = s.tenant_id and l.scope_number = s.number
                order by l.centroid operator(public.<=>) m.embedding, l.list limit 1
            ) as nearest on true
            where s.common is not null and c.bits is not null
            order by m.number, c.i
            on conflict do nothing
            returning tenant_id, scope_number, number
        )
        insert into memory.rare_words (tenant_id, scope_number, word, number)
        select f.tenant_id, f.scope_number, rare.word, f.number
        from filed f join memory.memories m using (tenant_id, number)
        join memory.scopes s on s.tenant_id = f.tenant_id and s.number = f.scope_number
        -- 200 words describe a memory; a longer one is a document.
        cross join lateral (
            select word from unnest(tsvector_to_array(m.tsv)) as word where not word = any (s.common) limit 200
        ) as rare
        order by f.number, rare.word
        on conflict do nothing;
    end if;

    if changes ? 'index.ready' then
        update memory.scopes s set probes = c.probes
        from jsonb_to_recordset(changes -> 'index.ready') as c(tenant_id text, number int, probes int)
        where s.tenant_id = c.tenant_id and s.number = c.number;
    end if;

    -- scope.leave: of the scopes that another embedder's vectors filled, those that are empty.
    if changes ? 'scope.leave' then
        delete from memory.scopes s using jsonb_to_recordset(changes -> 'scope.leave') as c(tenant_id text, embedder text)
        where s.tenant_id = c.tenant_id and s.embedder <> c.embedder and not exists (
            select from memory.memories m where m.scope = s.scope and m.universe = s.universe and m.embedder = s.embedder
                and m.user_id = s.user_id and m.tenant_id = s.tenant_id
        );
    end if;

    -- These kinds have no condition and always apply.
    select coalesce(array_agg((c ->> 'i')::int), '{}') into done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
    where k.key in ('index.make', 'memory.embed', 'memory.code', 'index.ready', 'scope.leave');
    return done;
end
$$;
