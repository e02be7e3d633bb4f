-- name: memories_of(tenant, person, session, before, most)
-- A person's memories, latest first, with where they come from.
select m.memory_id as id, m.text, m.kind, m.universe, m.session_id, m.turn_id, m.source, m.confidence, m.created_at
from memory.memories m
where m.tenant_id = :tenant and m.user_id = :person and (cast(:session as text) is null or m.session_id = :session)
    and (cast(:before as text) is null or (m.created_at, m.memory_id) < (
        select b.created_at, b.memory_id from memory.memories b where b.tenant_id = :tenant and b.memory_id = :before and b.user_id = :person
    ))
order by m.created_at desc, m.memory_id desc limit :most;

-- name: memory_of(tenant, person, memory)^
-- A memory of this person.
select m.memory_id as id, m.text, m.kind, m.universe, m.session_id, m.turn_id, m.source, m.confidence, m.created_at
from memory.memories m where m.tenant_id = :tenant and m.memory_id = :memory and m.user_id = :person;

-- name: worded(tenant, person, words, most)
-- A person's memories of every session, by common words, best first.
with asked as materialized (
    select replace(plainto_tsquery('pg_catalog.simple', :words)::text, ' & ', ' | ')::tsquery as any_word
)
select m.memory_id as id, m.text, m.kind, m.created_at, m.turn_id, m.source, m.valid_from, m.confidence
from memory.memories m cross join asked
where m.tenant_id = :tenant and m.user_id = :person and m.merged_into is null and m.tsv @@ asked.any_word
order by ts_rank(m.tsv, asked.any_word) desc, m.memory_id limit :most;

-- name: held(tenant, person)
-- All that is remembered of a person, whichever table it is in.
select h.name, h.content::text as content from bus.held('memory', :tenant, 'user_id', array[:person]) as h;
