-- name: mind(tenant, person, half_life, counted)$
select memory.mind_of(:tenant, :person, :half_life, :counted);

-- name: persona(tenant, person, persona)$
select text from memory.personas where tenant_id = :tenant and user_id = :person and persona_id = :persona;

-- name: linked(tenant, person, ids, most)
-- Memories that are linked with these, nearest first.
select * from (
    select distinct on (m.memory_id) m.memory_id, m.text, m.kind, m.created_at, l.likeness
    from memory.links l join memory.memories m on m.tenant_id = l.tenant_id and m.memory_id = l.other_id and m.user_id = l.user_id
    where l.tenant_id = :tenant and l.user_id = :person and l.memory_id = any(:ids::text[]) and not l.other_id = any(:ids::text[])
        and m.merged_into is null
    order by m.memory_id, l.likeness desc
) as near order by likeness desc, memory_id limit :most;

-- name: neighbours(tenant, person, at, id, most, near)
-- The next memories to consolidate, oldest first, each with the nearest earlier ones of its scope, and with none if it has none.
with batch as materialized (
    select memory_id, universe, scope, kind, text, embedder, embedding, created_at from memory.memories
    where tenant_id = :tenant and user_id = :person and merged_into is null
        and (created_at, memory_id) > (:at::timestamptz, :id::text)
    order by created_at, memory_id limit :most
)
select b.memory_id as id, b.created_at, b.kind, b.text, n.memory_id as other_id, n.kind as other_kind, n.text as other_text, n.cosine
from batch b left join lateral (
    select m.memory_id, m.kind, m.text, 1 - (m.embedding <=> b.embedding) as cosine from memory.memories m
    where m.tenant_id = :tenant and m.user_id = :person and m.universe = b.universe and m.scope = b.scope and m.embedder = b.embedder
        and m.merged_into is null and (m.created_at, m.memory_id) < (b.created_at, b.memory_id)
    -- The latest of equal ones, so that each of a row of repetitions is compared with the next.
    order by m.embedding <=> b.embedding, m.created_at desc, m.memory_id desc limit :near
) as n on n.cosine > 0
order by b.created_at, b.memory_id, n.cosine desc;

-- name: sleeps(tenant, person, most)
-- A person's sleeps, latest first.
select sleep_id as id, nrem, rem, state, scanned, merged, linked, faded_to as faded_before, started_at, ended_at from memory.sleeps
where tenant_id = :tenant and user_id = :person order by started_at desc, sleep_id limit :most;

-- name: ratings(tenant, person, most)
-- A person's feedback, latest first.
select feedback_id as id, subject, score, comment, created_at as at from memory.feedback
where tenant_id = :tenant and user_id = :person order by created_at desc, feedback_id limit :most;

-- name: slept_to(tenant, person)$
select nullif(slept_to, '-infinity') from memory.minds where tenant_id = :tenant and user_id = :person;
