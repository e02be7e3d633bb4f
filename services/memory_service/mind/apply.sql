-- Apply the changes of the mind: one statement per kind of change, over all rows of the batch.
create or replace function memory.apply_mind(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}'; part int[];
begin
    if changes ? 'mind.modulate' then
        insert into memory.minds (tenant_id, user_id, dopamine, serotonin, noradrenaline, acetylcholine, modulated_at)
        select distinct on (c.tenant_id, c.user_id) c.tenant_id, c.user_id, c.dopamine, c.serotonin, c.noradrenaline, c.acetylcholine, now()
        from jsonb_to_recordset(changes -> 'mind.modulate') as c(i int, tenant_id text, user_id text, dopamine double precision,
            serotonin double precision, noradrenaline double precision, acetylcholine double precision)
        order by c.tenant_id, c.user_id, c.i desc
        on conflict (tenant_id, user_id) do update
            set dopamine = excluded.dopamine, serotonin = excluded.serotonin, noradrenaline = excluded.noradrenaline,
                acetylcholine = excluded.acetylcholine, modulated_at = excluded.modulated_at;
    end if;

    if changes ? 'mind.reset' then
        insert into memory.minds (tenant_id, user_id, adapted_since)
        select distinct c.tenant_id, c.user_id, now() from jsonb_to_recordset(changes -> 'mind.reset') as c(tenant_id text, user_id text)
        order by c.tenant_id, c.user_id
        on conflict (tenant_id, user_id) do update set adapted_since = excluded.adapted_since;
    end if;

    if changes ? 'persona.put' then
        insert into memory.personas (tenant_id, user_id, persona_id, text, updated_at)
        select distinct on (c.tenant_id, c.user_id, c.persona_id) c.tenant_id, c.user_id, c.persona_id, c.text, now()
        from jsonb_to_recordset(changes -> 'persona.put') as c(i int, tenant_id text, user_id text, persona_id text, text text)
        order by c.tenant_id, c.user_id, c.persona_id, c.i desc
        on conflict (tenant_id, user_id, persona_id) do update set text = excluded.text, updated_at = excluded.updated_at;
    end if;

    if changes ? 'persona.delete' then
        delete from memory.personas p
        using jsonb_to_recordset(changes -> 'persona.delete') as c(tenant_id text, user_id text, persona_id text)
        where p.tenant_id = c.tenant_id and p.user_id = c.user_id and p.persona_id = c.persona_id;
    end if;

    -- sleep.start: none starts while another of the same person runs.
    if changes ? 'sleep.start' then
        insert into memory.sleeps (tenant_id, sleep_id, user_id, nrem, rem, state)
        select c.tenant_id, c.sleep_id, c.user_id, c.nrem, c.rem, 'running'
        from jsonb_to_recordset(changes -> 'sleep.start') as c(i int, tenant_id text, sleep_id text, user_id text, nrem boolean, rem boolean)
        order by c.tenant_id, c.user_id, c.i
        on conflict do nothing;
        select array_agg(c.i) into part from jsonb_to_recordset(changes -> 'sleep.start') as c(i int, tenant_id text, sleep_id text, user_id text)
        join memory.sleeps s on s.tenant_id = c.tenant_id and s.sleep_id = c.sleep_id and s.user_id = c.user_id;
        done := done || part;
    end if;

    -- sleep.merge: a memory is merged once, and not if it was forgotten meanwhile.
    if changes ? 'sleep.merge' then
        update memory.memories m set merged_into = c.other_id, merged_by = c.sleep_id
        from jsonb_to_recordset(changes -> 'sleep.merge') as c(tenant_id text, sleep_id text, memory_id text, other_id text)
        where m.tenant_id = c.tenant_id and m.memory_id = c.memory_id and m.merged_into is null
            and exists (select from memory.memories o where o.tenant_id = c.tenant_id and o.memory_id = c.other_id for key share of o);
    end if;

    -- sleep.link: both ways, since either may be recalled.
    if changes ? 'sleep.link' then
        insert into memory.links (tenant_id, user_id, memory_id, other_id, likeness, sleep_id)
        select c.tenant_id, c.user_id, e.a, e.b, max(c.likeness), min(c.sleep_id)
        from jsonb_to_recordset(changes -> 'sleep.link') as c(tenant_id text, sleep_id text, user_id text, memory_id text, other_id text,
            likeness double precision)
        join memory.memories m on m.tenant_id = c.tenant_id and m.memory_id = c.memory_id
        join memory.memories o on o.tenant_id = c.tenant_id and o.memory_id = c.other_id
        cross join lateral (values (c.memory_id, c.other_id), (c.other_id, c.memory_id)) as e(a, b)
        group by c.tenant_id, c.user_id, e.a, e.b order by c.tenant_id, e.a, e.b
        on conflict (tenant_id, memory_id, other_id) do nothing;
    end if;

    -- sleep.step: totals, not increments, so that it is safe to repeat.
    if changes ? 'sleep.step' then
        with step as (
            select distinct on (c.tenant_id, c.sleep_id) c.*, now() - make_interval(secs => c.fade_days * 86400) as fade
            from jsonb_to_recordset(changes -> 'sleep.step') as c(i int, tenant_id text, sleep_id text, user_id text, scanned int, merged int,
                linked int, "to" timestamptz, state text, fade_days double precision)
            order by c.tenant_id, c.sleep_id, c.i desc
        ), stepped as (
            update memory.sleeps s
            set scanned = step.scanned, merged = step.merged, linked = step.linked, state = coalesce(step.state, 'running'),
                ended_at = case when step.state is not null then now() end,
                faded_from = case when step.fade is not null then coalesce(m.faded_to, '-infinity') end, faded_to = step.fade
            from step left join memory.minds m on m.tenant_id = step.tenant_id and m.user_id = step.user_id
            where s.tenant_id = step.tenant_id and s.sleep_id = step.sleep_id and s.user_id = step.user_id and s.state = 'running'
            returning s.tenant_id, s.user_id, step.to, step.fade
        )
        insert into memory.minds (tenant_id, user_id, slept_to, faded_to)
        select tenant_id, user_id, coalesce("to", '-infinity'), coalesce(fade, '-infinity') from stepped order by tenant_id, user_id
        on conflict (tenant_id, user_id) do update
            set slept_to = greatest(minds.slept_to, excluded.slept_to), faded_to = greatest(minds.faded_to, excluded.faded_to);
    end if;

    -- sleep.undo: what a later sleep changed again stays as that left it.
    if changes ? 'sleep.undo' then
        with undone as (
            update memory.sleeps s set state = 'undone'
            from jsonb_to_recordset(changes -> 'sleep.undo') as c(i int, tenant_id text, sleep_id text, user_id text)
            where s.tenant_id = c.tenant_id and s.sleep_id = c.sleep_id and s.user_id = c.user_id and s.state in ('done', 'failed')
            returning c.i, s.tenant_id, s.sleep_id, s.user_id, s.faded_from, s.faded_to
        ), apart as (
            update memory.memories m set merged_into = null, merged_by = null
            from undone u where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.merged_by = u.sleep_id
        ), loose as (
            delete from memory.links l using undone u where l.tenant_id = u.tenant_id and l.user_id = u.user_id and l.sleep_id = u.sleep_id
        ), fresh as (
            update memory.minds m set faded_to = u.faded_from
            from undone u where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.faded_to = u.faded_to
        )
        select array_agg(i) into part from undone;
        done := done || part;
    end if;

    -- The others have no condition and always apply.
    return done || array(
        select (c ->> 'i')::int from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
        where k.key in ('mind.modulate', 'mind.reset', 'persona.put', 'persona.delete', 'sleep.merge', 'sleep.link', 'sleep.step'));
end
$$;

-- A person's state for recall; null without a person. Feedback counts for the memory that it names, for those of the turn that it names,
-- and for the kind of each; half after `half_life` days. Memories that are not consolidated are counted up to `counted`.
create or replace function memory.mind_of(tenant text, person text, half_life double precision, counted int) returns jsonb
language sql stable strict set search_path = pg_catalog, pg_temp as $$
with asked as (
    select tenant as tenant_id, person as user_id
), mine as (
    select dopamine, serotonin, noradrenaline, acetylcholine, adapted_since, nullif(slept_to, '-infinity') as slept_to,
        nullif(faded_to, '-infinity') as faded_to,
        extract(epoch from now() - modulated_at) / 60 as minutes
    from memory.minds m join asked using (tenant_id, user_id)
), given as (
    select f.subject, f.score * power(0.5, extract(epoch from now() - f.created_at) / 86400 / half_life) as points
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
select coalesce(to_jsonb(mine), '{}') || jsonb_build_object(
    'personas', (select jsonb_object_agg(p.persona_id, p.text) from memory.personas p
        where p.tenant_id = asked.tenant_id and p.user_id = asked.user_id),
    'points', (select jsonb_object_agg(subject, total) from (select subject, sum(points) as total from points group by subject) as p),
    'awake', (select count(*) from (
        select from memory.memories m where m.user_id = asked.user_id and m.tenant_id = asked.tenant_id
            and m.created_at > coalesce((select slept_to from mine), '-infinity') limit counted
    ) as later))
from asked left join mine on true
$$;
