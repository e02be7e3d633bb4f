-- name: mind(tenant, person, half_life, counted)^
-- A person's state for recall. Feedback counts for the memory that it names, for those of the turn that it names, and for the kind of
-- each; half after `half_life` days. Memories that are not consolidated are counted up to `counted`.
with asked as (
    select :tenant::text as tenant_id, :person::text as user_id
), mine as (
    select dopamine, serotonin, noradrenaline, acetylcholine, adapted_since, nullif(slept_to, '-infinity') as slept_to,
        nullif(faded_to, '-infinity') as faded_to,
        extract(epoch from now() - modulated_at) / 60 as minutes
    from memory.minds m join asked using (tenant_id, user_id)
), given as (
    select f.subject, f.score * power(0.5, extract(epoch from now() - f.created_at) / 86400 / :half_life::float8) as points
    from memory.feedback f join asked using (tenant_id, user_id)
    where f.created_at > greatest((select adapted_since from mine), now() - interval '180 days')
    order by f.created_at desc limit 1000
), direct as (
    -- Lookups, kept from being planned as a join by `limit`: without statistics that would read the whole table.
    select m.memory_id, m.kind, given.points from given cross join asked cross join lateral (
        (select memory_id, kind, user_id from memory.memories where tenant_id = asked.tenant_id and memory_id = given.subject limit 1)
        union all
        (select memory_id, kind, user_id from memory.memories where tenant_id = asked.tenant_id and turn_id = given.subject limit 16)
    ) as m where m.user_id = asked.user_id
), points as (
    select memory_id as subject, points from direct
    union all select 'kind:' || kind, points from direct
    union all select subject, points from given where subject like 'kind:%'
)
select mine.*,
    (select jsonb_object_agg(p.persona_id, p.text) from memory.personas p where p.tenant_id = asked.tenant_id and p.user_id = asked.user_id)
        as personas,
    (select jsonb_object_agg(subject, total) from (select subject, sum(points) as total from points group by subject) as p) as points,
    (select count(*) from (
        select from memory.memories m where m.user_id = asked.user_id and m.tenant_id = asked.tenant_id
            and m.created_at > coalesce((select slept_to from mine), '-infinity') limit :counted
    ) as later) as awake
from asked left join mine on true;

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

-- name: slept_to(tenant, person)$
select nullif(slept_to, '-infinity') from memory.minds where tenant_id = :tenant and user_id = :person;
