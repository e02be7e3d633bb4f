-- name: bases(tenant, person, everyone)
-- The bases that a person can search, by name.
select base_id, name, user_id = :everyone as shared, source, strategy, chunk_size, state, detail, files, done, updated_at
from memory.knowledge_bases where tenant_id = :tenant and user_id in (:person, :everyone) order by name, user_id;

-- name: held(tenant, base)^
-- The number of chunks of a base, and of its files that were not read whole.
select coalesce(sum(chunks), 0)::int as chunks, (count(*) filter (where gap <> ''))::int as unread
from memory.knowledge_files where tenant_id = :tenant and base_id = :base;

-- name: base(tenant, base)^
-- One base, for its reading.
select base_id, source, strategy, chunk_size, job, files, done from memory.knowledge_bases
where tenant_id = :tenant and base_id = :base;

-- name: files(tenant, base)
-- The files of a base as they were read last.
select path, stamp, digest, chunks from memory.knowledge_files where tenant_id = :tenant and base_id = :base;

-- name: gaps(tenant, base, most)
-- Files of a base that have no chunks, or not all, and why.
select path, gap from memory.knowledge_files where tenant_id = :tenant and base_id = :base and gap <> ''
order by path limit :most;

-- name: ranked(tenant, bases, embedder, query, words, pool)
-- The chunks of some bases by vector distance and by common words, with their rank in each ranking. Exact: every chunk is compared.
with asked as materialized (
    -- Parse once: a prepared statement would parse the parameters again for every row.
    select replace(plainto_tsquery('pg_catalog.simple', :words)::text, ' & ', ' | ')::tsquery as any_word,
        :query::text::sparsevec::vector(768)::halfvec(768) as query
), known as materialized (
    select c.base_id, c.path, c.place,
        case when c.tsv @@ asked.any_word then ts_rank(c.tsv, asked.any_word) end as rank,
        case when c.embedder = :embedder then c.embedding <=> asked.query end as distance
    from memory.knowledge_chunks c cross join asked
    where c.tenant_id = :tenant and c.base_id = any(:bases)
), near as (
    -- A distance of 1 is orthogonal: nothing in common. Postgres sorts NaN, the distance of a text without words, above all numbers.
    -- The best few of each ranking alone are sorted: numbering all rows would take most of the time.
    select base_id, path, place, 1 - distance as similarity, row_number() over () as rank
    from (select * from known where distance < 1 order by distance, base_id, path, place limit :pool) as best
), worded as (
    select base_id, path, place, 1 - distance as similarity, row_number() over () as rank
    from (select * from known where rank > 0 order by rank desc, base_id, path, place limit :pool) as best
), best as materialized (
    select base_id, path, place, near.rank as near, worded.rank as worded, coalesce(near.similarity, worded.similarity) as similarity
    from near full join worded using (base_id, path, place)
)
select best.base_id, best.path, best.place, c.unit, c.first, c.last, c.text, best.near, best.worded, best.similarity
-- With a limit, so that each is looked up: a join of a table without statistics reads all of its tenant's rows.
from best cross join lateral (
    select k.unit, k.first, k.last, k.text from memory.knowledge_chunks k
    where k.tenant_id = :tenant and k.base_id = best.base_id and k.path = best.path and k.place = best.place limit 1
) as c;
