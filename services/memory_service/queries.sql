-- name: ranked(tenant, universe, scope, person, embedders, queries, codes, words, pool, deep, minded, half_life, counted)
-- The memories of one scope by vector distance and by common words, with their rank in each ranking; one row at least,
-- which says what was searched, and the mind of `minded`, if that is not null. Vectors of each embedder are compared with its own query. An index proposes memories if
-- it is complete, else all of its scope are read. A `limit` or `offset 0` keeps a part from being planned as a join: without statistics
-- that would read whole tables.
with asked as materialized (
    -- Parse once: a prepared statement would parse the parameters again for every row.
    select replace(plainto_tsquery('pg_catalog.simple', :words)::text, ' & ', ' | ')::tsquery as any_word,
        tsvector_to_array(to_tsvector('pg_catalog.simple', :words)) as lexemes
), parts as materialized (
    select s.embedder, g.query::sparsevec::halfvec(768) as query, ('x' || g.code)::bit(768) as code, s.number, s.probes
    from memory.scopes s
    left join unnest(:embedders::text[], :queries::text[], :codes::text[]) as g(embedder, query, code) using (embedder)
    where s.scope = :scope and s.universe = :universe and s.user_id = :person and s.tenant_id = :tenant
), near as (
    select c.number, p.embedder from parts p cross join lateral (
        select c.number, c.bits <~> p.code as bits from (
            select l.list from memory.lists l where l.tenant_id = :tenant and l.scope_number = p.number order by l.centroid <=> p.query, l.list limit p.probes
        ) as l cross join lateral (
            select c.number, c.bits from memory.codes c where c.scope_number = p.number and c.list = l.list offset 0
        ) as c
        order by bits limit :deep
    ) as c
    where p.query is not null and p.probes is not null
), worded as (
    select w.number, p.embedder from asked cross join unnest(asked.lexemes) as looked_up(lexeme) cross join parts p
    cross join lateral (
        select w.number from memory.rare_words w where w.scope_number = p.number and w.word = looked_up.lexeme limit 2000
    ) as w
    group by w.number, p.embedder order by count(*) desc, w.number desc limit :deep
), mine as materialized (
    select m.*, p.embedder, p.probes is null as read from parts p cross join asked cross join lateral (
        select m.memory_id, m.text, m.kind, m.created_at, m.turn_id, m.source, m.valid_from, m.confidence,
            m.embedding <=> p.query as distance, case when m.tsv @@ asked.any_word then ts_rank(m.tsv, asked.any_word) end as rank
        from memory.memories m
        where m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope and m.user_id = :person
            and m.embedder = p.embedder and p.probes is null and m.merged_into is null
            and (m.valid_to is null or m.valid_to > now())
        offset 0
    ) as m
    union all
    select m.memory_id, m.text, m.kind, m.created_at, m.turn_id, m.source, m.valid_from, m.confidence,
        m.embedding <=> p.query, case when m.tsv @@ asked.any_word then ts_rank(m.tsv, asked.any_word) end, p.embedder, false
    from (select * from near union select * from worded) as c join parts p using (embedder) cross join asked cross join lateral (
        select * from memory.memories m
        where m.number = c.number and m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope
            and m.user_id = :person and m.embedder = p.embedder and m.merged_into is null
            and (m.valid_to is null or m.valid_to > now())
        limit 1
    ) as m
), placed as (
    -- A distance of 1 is orthogonal: nothing in common. Postgres sorts NaN, the distance of a text without words, above all numbers.
    select memory_id, text, kind, created_at, turn_id, source, valid_from, confidence, 1 - distance as similarity, rank as overlap,
        case when distance < 1 then row_number() over (partition by embedder order by distance, memory_id) end as near,
        case when rank > 0 then row_number() over (order by rank desc nulls last, memory_id) end as worded
    from mine
)
select (select array_agg(embedder) from parts) as embedders, (select count(*) filter (where read) from mine) as read,
    (select memory.mind_of(:tenant, :minded, :half_life, :counted)) as mind,
    p.memory_id, p.text, p.kind, p.created_at, p.near, p.worded, p.similarity, p.overlap, p.turn_id, p.source, p.valid_from,
    p.confidence
from (select) as always left join placed p on p.near <= :pool or p.worded <= :pool;

-- name: numbered(tenant, universe, scope, person, embedder, after, most)
-- Memories of a scope and embedder in order, with their vectors, from after a number on.
select m.memory_id, m.number, halfvec_send(m.embedding) as embedding from memory.memories m
where m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope and m.user_id = :person
    and m.embedder = :embedder and m.number > :after
order by m.number limit :most;

-- name: missed(tenant, universe, scope, person, embedder, most)
-- Memories that the index of their scope lacks: they were committed after the fill had passed.
select m.memory_id, m.number, halfvec_send(m.embedding) as embedding from memory.memories m
where m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope and m.user_id = :person
    and m.embedder = :embedder and not exists (select from memory.codes c where c.tenant_id = :tenant and c.number = m.number)
order by m.number limit :most;

-- name: sampled(tenant, universe, scope, person, embedder, step, most)
-- One of `step` memories of a scope, at random but always the same ones, with the words of their texts.
select m.number, halfvec_send(m.embedding) as embedding, tsvector_to_array(m.tsv) as lexemes from memory.memories m
where m.tenant_id = :tenant and m.universe = :universe and m.scope = :scope and m.user_id = :person
    and m.embedder = :embedder and (hashint8(m.number) & 2147483647) % :step = 0
limit :most;

-- name: scope_of(tenant, universe, scope, person, embedder)$
-- The number of a scope with an embedder.
select number from memory.scopes
where tenant_id = :tenant and universe = :universe and scope = :scope and user_id = :person and embedder = :embedder;

-- name: centroids_of(tenant, number)
-- The centroids of an index, by number.
select halfvec_send(centroid) as centroid from memory.lists where tenant_id = :tenant and scope_number = :number order by list;

-- name: outdated(tenant, embedder, after, most)
-- Texts that another embedder embedded, by id.
select memory_id, embedder, left(text, 8000) as text from memory.memories
where tenant_id = :tenant and memory_id > :after and embedder <> :embedder order by memory_id limit :most;

-- name: message(tenant, person, memory)^
-- A message of a person, and for how many seconds its session has been silent.
select m.text, extract(epoch from now() - (
    select max(l.created_at) from memory.memories l
    where l.tenant_id = :tenant and l.universe = m.universe and l.scope = m.scope and l.user_id = m.user_id
))::float as silent
from memory.memories m where m.tenant_id = :tenant and m.user_id = :person and m.memory_id = :memory;

-- name: facts_of(tenant, person, history, most)
-- A person's facts that are true, latest first; with their history, also those that were, and tombstones.
select fact_id as id, subject, key, value, many, state, source, confidence, valid_from, valid_to, replaced_by,
    event_id, turn_id, session_id, private, untrusted, secret, forgotten_at, updated_at
from memory.facts where tenant_id = :tenant and user_id = :person and (:history::boolean or state = 'active')
order by updated_at desc, fact_id desc limit :most;

-- name: outcomes(tenant, step_type)
-- The sums of a tenant's attempts at one step type, by capability.
select o.tool_id, o.provider, o.attempts, o.successes, o.latency_ms, o.quality, o.judged, o.cost_micros
from memory.outcomes o where o.tenant_id = :tenant and o.step_type = :step_type;
