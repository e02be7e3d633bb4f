-- Apply every write of the memory service: one statement per kind of change, over all rows of the batch.
create or replace function memory.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    -- memory.add: insert once. The same id with the same content is the same memory; with other content it is a conflict.
    if changes ? 'memory.add' then
        insert into memory.memories (tenant_id, memory_id, user_id, session_id, universe, kind, text, embedder, embedding,
            event_id, turn_id, source, valid_from, valid_to, confidence)
        select c.tenant_id, c.memory_id, c.user_id, c.session_id, c.universe, c.kind, c.text, c.embedder,
            c.embedding::public.sparsevec::public.halfvec, c.event_id, c.turn_id, coalesce(c.source, ''),
            coalesce(c.valid_from, now()), c.valid_to, coalesce(c.confidence, 1)
        from jsonb_to_recordset(changes -> 'memory.add') as c(
            i int, tenant_id text, memory_id text, user_id text, session_id text, universe text, kind text, text text, embedder text, embedding text,
            event_id text, turn_id text, source text, valid_from timestamptz, valid_to timestamptz, confidence double precision)
        order by c.tenant_id, c.memory_id, c.i
        on conflict (tenant_id, memory_id) do nothing;
        select coalesce(array_agg(c.i), '{}') into part
        from jsonb_to_recordset(changes -> 'memory.add')
            as c(i int, tenant_id text, memory_id text, user_id text, session_id text, universe text, text text)
        join memory.memories m using (tenant_id, memory_id)
        where m.user_id = c.user_id and m.universe = c.universe and m.session_id is not distinct from c.session_id and m.text = c.text;
        done := done || part;
    end if;

    -- The indexes of large scopes (indexing.sql).
    done := done || memory.apply_indexing(changes);

    -- Safe to repeat: a fact by its id, a tombstone by what it took (facts.sql).
    if changes ? 'fact.put' then perform memory.put_facts(changes -> 'fact.put'); end if;
    if changes ? 'fact.forget' then perform memory.forget_facts(changes -> 'fact.forget'); end if;

    if changes ? 'feedback.add' then
        insert into memory.feedback as f (tenant_id, feedback_id, user_id, session_id, subject, score, comment)
        select distinct on (c.tenant_id, c.feedback_id) c.tenant_id, c.feedback_id, c.user_id, c.session_id, c.subject, c.score, c.comment
        from jsonb_to_recordset(changes -> 'feedback.add') as c(
            i int, tenant_id text, feedback_id text, user_id text, session_id text, subject text, score double precision, comment text)
        order by c.tenant_id, c.feedback_id, c.i desc
        on conflict (tenant_id, feedback_id) do update
            set score = excluded.score, comment = excluded.comment, created_at = excluded.created_at
            where f.user_id = excluded.user_id and f.subject = excluded.subject;
    end if;

    -- outcome.add: sums for each capability. Its event counts once: its input has a row in the inbox.
    if changes ? 'outcome.add' then
        insert into memory.outcomes as o
            (tenant_id, tool_id, provider, step_type, attempts, successes, latency_ms, quality, judged, cost_micros)
        select c.tenant_id, c.tool_id, c.provider, c.step_type, count(*), count(*) filter (where c.success), sum(c.latency_ms),
            coalesce(sum(c.quality), 0), count(c.quality), sum(c.cost_micros)
        from jsonb_to_recordset(changes -> 'outcome.add')
            as c(tenant_id text, tool_id text, provider text, step_type text, success boolean, latency_ms bigint, quality float8,
                 cost_micros bigint)
        group by c.tenant_id, c.step_type, c.provider, c.tool_id order by c.tenant_id, c.step_type, c.provider, c.tool_id
        on conflict (tenant_id, step_type, provider, tool_id) do update
            set attempts = o.attempts + excluded.attempts, successes = o.successes + excluded.successes,
                latency_ms = o.latency_ms + excluded.latency_ms, quality = o.quality + excluded.quality,
                judged = o.judged + excluded.judged, cost_micros = o.cost_micros + excluded.cost_micros;
    end if;

    done := done || memory.apply_knowledge(changes);
    done := done || memory.apply_mind(changes);
    if changes ? 'memory.forget' then
        delete from memory.memories m using jsonb_to_recordset(changes -> 'memory.forget') as c(tenant_id text, user_id text, memory_id text)
        where m.tenant_id = c.tenant_id and m.memory_id = c.memory_id and m.user_id = c.user_id;
    end if;

    -- person.erase: all that is remembered of a person, in every table. Last: it follows what the same batch adds.
    if changes ? 'person.erase' then
        perform bus.erase('memory', c.tenant_id, 'user_id', array_agg(c.user_id))
        from jsonb_to_recordset(changes -> 'person.erase') as c(tenant_id text, user_id text) group by c.tenant_id;
    end if;

    -- These kinds have no condition and always apply.
    select done || coalesce(array_agg((c ->> 'i')::int), '{}') into done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
    where k.key in ('fact.put', 'fact.forget', 'feedback.add', 'memory.forget', 'person.erase', 'outcome.add');
    return done;
end
$$;
