-- name: ranked(tenant, universe, scope, person, embedder, query, words, pool)
-- The memories of one scope by vector distance and by common words, with their rank in each ranking.
-- One pass without a join: on a table without statistics, a lookup by id scans all of its tenant's rows.
with asked as materialized (
    -- Parse once: a prepared statement would parse the parameters again for every row.
    select replace(plainto_tsquery('pg_catalog.simple', :words)::text, ' & ', ' | ')::tsquery as any_word,
        :query::text::sparsevec::vector(768) as query
), mine as materialized (
    select m.memory_id, m.text, m.kind, m.created_at,
        case when m.tsv @@ asked.any_word then ts_rank(m.tsv, asked.any_word) end as rank,
        case when m.embedder = :embedder then m.embedding <=> asked.query end as distance
    from memory.memories m cross join asked
    where m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope and m.user_id = :person
        and m.merged_into is null
), placed as (
    -- A distance of 1 is orthogonal: nothing in common. Postgres sorts NaN, the distance of a text without words, above all numbers.
    select memory_id, text, kind, created_at, 1 - distance as similarity, rank as overlap,
        case when distance < 1 then row_number() over (order by distance, memory_id) end as near,
        case when rank > 0 then row_number() over (order by rank desc nulls last, memory_id) end as worded
    from mine
)
select memory_id, text, kind, created_at, near, worded, similarity, overlap from placed where near <= :pool or worded <= :pool;

-- name: facts_of(tenant, person, history, most)
-- A person's facts that are true, latest first; with their history, also those that were, and tombstones.
select fact_id as id, subject, key, value, many, state, source, confidence, valid_from, valid_to, replaced_by,
    event_id, turn_id, session_id, private, untrusted, secret, forgotten_at, updated_at
from memory.facts where tenant_id = :tenant and user_id = :person and (:history::boolean or state = 'active')
order by updated_at desc, fact_id desc limit :most;
