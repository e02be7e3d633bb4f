-- Every write of the executor. A stage's changes rest on its revision: the loser of a race decides again.
create or replace function executor.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    -- call.open: the intent, before anything happens. A call that is known already is a conflict, and so is one of a cancelled
    -- turn where the row says so: the handler then looks which it is.
    if changes ? 'call.open' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'call.open')
                as c(i int, tenant_id text, call_id text, session_id text, turn_id text, step_id text, tool text, state text, args jsonb, outcome jsonb,
                     unless_cancelled boolean)
        ), put as (
            insert into executor.tool_calls (tenant_id, call_id, session_id, turn_id, step_id, tool, state, args, outcome)
            select c.tenant_id, c.call_id, c.session_id, c.turn_id, c.step_id, c.tool, c.state, c.args, c.outcome from c
            where c.unless_cancelled is not true
                or not exists (select from executor.cancelled_turns x where x.tenant_id = c.tenant_id and x.turn_id = c.turn_id)
            order by c.tenant_id, c.call_id on conflict do nothing returning tenant_id, call_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, call_id);
        done := done || part;
    end if;

    -- call.dead: a request that could not be handled; should it be replayed, it is known.
    if changes ? 'call.dead' then
        insert into executor.tool_calls (tenant_id, call_id, session_id, turn_id, step_id, tool, state, args, ended_at)
        select c.tenant_id, c.call_id, c.session_id, c.turn_id, c.step_id, c.tool, 'dead', '{}', now()
        from jsonb_to_recordset(changes -> 'call.dead')
            as c(tenant_id text, call_id text, session_id text, turn_id text, step_id text, tool text)
        on conflict do nothing;
    end if;

    if changes ? 'turn.cancel' then
        insert into executor.cancelled_turns (tenant_id, turn_id)
        select c.tenant_id, c.turn_id from jsonb_to_recordset(changes -> 'turn.cancel') as c(tenant_id text, turn_id text)
        order by c.tenant_id, c.turn_id on conflict do nothing;
    end if;

    -- call.close: the outcome, of a call that still runs.
    if changes ? 'call.close' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'call.close') as c(i int, tenant_id text, call_id text, state text, outcome jsonb)
        ), locked as materialized (
            -- One look by the whole key for each: a plain join would read all of the tenant's calls (no statistics, and RLS).
            select c.i, c.state, c.outcome, t.tenant_id, t.call_id
            from (select * from c order by c.tenant_id, c.call_id offset 0) c
            cross join lateral (
                select k.tenant_id, k.call_id from executor.tool_calls k
                where k.tenant_id = c.tenant_id and k.call_id = c.call_id and k.state = 'running' for update of k
            ) t
        ), closed as (
            update executor.tool_calls t set state = l.state, outcome = l.outcome, ended_at = now()
            from locked l where t.tenant_id = l.tenant_id and t.call_id = l.call_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from closed;
        done := done || part;
    end if;

    -- effect.intend: the intent, before anything happens. One that is under way, has happened or is unknown is a conflict.
    if changes ? 'effect.intend' then
        with c as (
            select distinct on (e.tenant_id, e.intent_id) e.* from jsonb_to_recordset(changes -> 'effect.intend')
                as e(i int, tenant_id text, intent_id text, call_id text, session_id text, turn_id text, step_id text, tool text,
                     effect_class text)
            order by e.tenant_id, e.intent_id, e.i
        ), put as (
            insert into executor.effects as f
                (tenant_id, intent_id, call_id, session_id, turn_id, step_id, tool, effect_class, state)
            select c.tenant_id, c.intent_id, c.call_id, c.session_id, c.turn_id, c.step_id, c.tool, c.effect_class, 'open' from c
            order by c.tenant_id, c.intent_id
            on conflict (tenant_id, intent_id) do update
                set call_id = excluded.call_id, turn_id = excluded.turn_id, effect_class = excluded.effect_class,
                    state = 'open', settled = f.begun, outcome = null, ended_at = null
                where f.state in ('did_not_happen', 'undone')
            returning f.tenant_id, f.intent_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, intent_id);
        done := done || part;
    end if;

    -- effect.begin: the next attempt may act. If two executors believe that they own it, one begins; a lower attempt never begins.
    if changes ? 'effect.begin' then
        with c as (
            select distinct on (e.tenant_id, e.intent_id) e.* from jsonb_to_recordset(changes -> 'effect.begin')
                as e(i int, tenant_id text, intent_id text, call_id text, attempt int)
            order by e.tenant_id, e.intent_id, e.i
        ), locked as materialized (
            select c.i, c.attempt, f.tenant_id, f.intent_id
            from (select * from c order by c.tenant_id, c.intent_id offset 0) c
            cross join lateral (
                select k.tenant_id, k.intent_id from executor.effects k
                where k.tenant_id = c.tenant_id and k.intent_id = c.intent_id and k.call_id = c.call_id and k.state = 'open'
                    and k.begun = c.attempt - 1 for update of k
            ) f
        ), moved as (
            update executor.effects f set begun = l.attempt, begun_at = now()
            from locked l where f.tenant_id = l.tenant_id and f.intent_id = l.intent_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from moved;
        done := done || part;
    end if;

    -- effect.settle: nothing of the newest attempt, or of one before it, is in doubt.
    if changes ? 'effect.settle' then
        with c as (
            select distinct on (e.tenant_id, e.intent_id) e.* from jsonb_to_recordset(changes -> 'effect.settle')
                as e(i int, tenant_id text, intent_id text, attempt int)
            order by e.tenant_id, e.intent_id, e.i
        ), locked as materialized (
            select c.i, c.attempt, f.tenant_id, f.intent_id
            from (select * from c order by c.tenant_id, c.intent_id offset 0) c
            cross join lateral (
                select k.tenant_id, k.intent_id from executor.effects k
                where k.tenant_id = c.tenant_id and k.intent_id = c.intent_id and k.state = 'open' and k.begun = c.attempt for update of k
            ) f
        ), moved as (
            update executor.effects f set settled = l.attempt
            from locked l where f.tenant_id = l.tenant_id and f.intent_id = l.intent_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from moved;
        done := done || part;
    end if;

    -- effect.close: record its outcome.
    if changes ? 'effect.close' then
        with c as (
            select distinct on (e.tenant_id, e.intent_id) e.* from jsonb_to_recordset(changes -> 'effect.close')
                as e(i int, tenant_id text, intent_id text, state text, outcome jsonb)
            order by e.tenant_id, e.intent_id, e.i
        ), locked as materialized (
            select c.i, c.state, c.outcome, f.tenant_id, f.intent_id
            from (select * from c order by c.tenant_id, c.intent_id offset 0) c
            cross join lateral (
                select k.tenant_id, k.intent_id from executor.effects k
                where k.tenant_id = c.tenant_id and k.intent_id = c.intent_id and k.state = 'open' for update of k
            ) f
        ), closed as (
            update executor.effects f set state = l.state, outcome = l.outcome, ended_at = now()
            from locked l where f.tenant_id = l.tenant_id and f.intent_id = l.intent_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from closed;
        done := done || part;
    end if;

    -- stage.move: from the revision that the decision rests on to the next. The first `base` stored operations stay.
    -- The snapshot of version `base` stays with them, unless the stage has ended: no turn could be rolled back to it.
    if changes ? 'stage.move' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'stage.move')
                as c(i int, tenant_id text, session_id text, revision bigint, length int, root text, turn_id text, contents boolean)
        ), put as (
            insert into executor.stages as s (tenant_id, session_id, revision, length, root, turn_id, contents)
            select c.tenant_id, c.session_id, c.revision, c.length, c.root, c.turn_id, coalesce(c.contents, false)
            from c order by c.tenant_id, c.session_id
            on conflict (tenant_id, session_id) do update
                set revision = excluded.revision, length = excluded.length, root = excluded.root, turn_id = excluded.turn_id,
                    contents = excluded.contents
                where s.revision = excluded.revision - 1
            returning s.tenant_id, s.session_id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, session_id);
        done := done || part;
        delete from executor.stage_operations o
        using jsonb_to_recordset(changes -> 'stage.move') as c(tenant_id text, session_id text, base int)
        where o.tenant_id = c.tenant_id and o.session_id = c.session_id and o.version > c.base;
        delete from executor.snapshots n
        using jsonb_to_recordset(changes -> 'stage.move') as c(tenant_id text, session_id text, base int, ended boolean)
        where n.tenant_id = c.tenant_id and n.session_id = c.session_id and (n.version > c.base or c.ended);
    end if;

    if changes ? 'stage.append' then
        insert into executor.stage_operations (tenant_id, session_id, version, step_id, operation)
        select c.tenant_id, c.session_id, c.version, c.step_id, c.operation
        from jsonb_to_recordset(changes -> 'stage.append')
            as c(tenant_id text, session_id text, version int, step_id text, operation jsonb);
    end if;

    if changes ? 'snapshot.add' then
        insert into executor.snapshots (tenant_id, session_id, snapshot_id, version, step_id)
        select c.tenant_id, c.session_id, c.snapshot_id, c.version, c.step_id
        from jsonb_to_recordset(changes -> 'snapshot.add')
            as c(tenant_id text, session_id text, snapshot_id text, version int, step_id text)
        on conflict do nothing;
    end if;

    if changes ? 'journal.put' then
        insert into executor.journal as j (tenant_id, commit_id, session_id, turn_id, root, state, operations, diff)
        select c.tenant_id, c.commit_id, c.session_id, c.turn_id, c.root, c.state, c.operations, c.diff
        from jsonb_to_recordset(changes -> 'journal.put')
            as c(tenant_id text, commit_id text, session_id text, turn_id text, root text, state text, operations int, diff jsonb)
        order by c.tenant_id, c.commit_id
        on conflict (tenant_id, commit_id) do update set state = excluded.state;
    end if;

    -- journal.free: the files that a commit could be undone with are removed.
    if changes ? 'journal.free' then
        update executor.journal j set freed_at = now()
        from jsonb_to_recordset(changes -> 'journal.free') as c(tenant_id text, commit_id text)
        where j.tenant_id = c.tenant_id and j.commit_id = c.commit_id and j.freed_at is null;
    end if;

    -- skill.approve: one version of a skill in a folder; an approval of another version before it ends.
    if changes ? 'skill.approve' then
        insert into executor.skill_approvals as a (tenant_id, root, name, digest, principal)
        select distinct on (c.tenant_id, c.root, c.name) c.tenant_id, c.root, c.name, c.digest, c.principal
        from jsonb_to_recordset(changes -> 'skill.approve')
            as c(i int, tenant_id text, root text, name text, digest text, principal text)
        order by c.tenant_id, c.root, c.name, c.i desc
        on conflict (tenant_id, root, name) do update
            set digest = excluded.digest, principal = excluded.principal, approved_at = now();
    end if;

    -- skill.revoke: the folder's skill is off, whether it was on or not.
    if changes ? 'skill.revoke' then
        delete from executor.skill_approvals a
        using jsonb_to_recordset(changes -> 'skill.revoke') as c(tenant_id text, root text, name text)
        where a.tenant_id = c.tenant_id and a.root = c.root and a.name = c.name;
    end if;

    -- tool.approve: one description of a remote tool; an approval of another one before it ends.
    if changes ? 'tool.approve' then
        insert into executor.tool_approvals as a (tool, digest, definition, principal)
        select distinct on (c.tool) c.tool, c.digest, c.definition, c.principal
        from jsonb_to_recordset(changes -> 'tool.approve')
            as c(i int, tool text, digest text, definition jsonb, principal text)
        order by c.tool, c.i desc
        on conflict (tool) do update
            set digest = excluded.digest, definition = excluded.definition, principal = excluded.principal,
                approved_at = now();
    end if;

    -- capability.check: the last check of a capability, by whichever process made it.
    if changes ? 'capability.check' then
        insert into executor.multimodal_capabilities as k
            (tool_id, provider, modalities, formats, constraints, cost_tier, health_status, problem)
        select distinct on (c.tool_id, c.provider)
            c.tool_id, c.provider, c.modalities, c.formats, c.constraints, c.cost_tier, c.health_status, c.problem
        from jsonb_to_recordset(changes -> 'capability.check')
            as c(i int, tool_id text, provider text, modalities text[], formats text[], constraints jsonb, cost_tier text,
                 health_status text, problem text)
        order by c.tool_id, c.provider, c.i desc
        on conflict (tool_id, provider) do update
            set modalities = excluded.modalities, formats = excluded.formats, constraints = excluded.constraints,
                cost_tier = excluded.cost_tier, health_status = excluded.health_status, problem = excluded.problem,
                checked_at = now();
    end if;

    -- execution.open: an attempt, before its producer is called. A newer holder of the lease takes over one that is open.
    if changes ? 'execution.open' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'execution.open')
                as c(i int, tenant_id text, id text, session_id text, plan_id text, turn_id text, call_id text, step_id text,
                     step_index int, attempt int, token bigint, tool_id text, provider text, paid boolean)
        ), put as (
            insert into executor.multimodal_executions as e
                (tenant_id, id, session_id, plan_id, turn_id, call_id, step_id, step_index, attempt, token, tool_id, provider,
                 paid, status)
            select c.tenant_id, c.id, c.session_id, c.plan_id, c.turn_id, c.call_id, c.step_id, c.step_index, c.attempt, c.token,
                c.tool_id, c.provider, c.paid, 'running'
            from c order by c.tenant_id, c.id
            on conflict (tenant_id, id) do update
                set token = excluded.token, tool_id = excluded.tool_id, provider = excluded.provider, paid = excluded.paid
                where e.status = 'running' and e.token < excluded.token
            returning e.tenant_id, e.id
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, id);
        done := done || part;
    end if;

    -- execution.close: its outcome, unless a newer holder of the lease has taken over.
    if changes ? 'execution.close' then
        with c as (
            select * from jsonb_to_recordset(changes -> 'execution.close')
                as c(i int, tenant_id text, id text, token bigint, status text, asset_id text, latency_ms int, cost_micros bigint,
                     quality_score float8, critique jsonb, error text)
        ), closed as (
            update executor.multimodal_executions e
            set status = c.status, asset_id = c.asset_id, latency_ms = c.latency_ms, cost_micros = c.cost_micros,
                quality_score = c.quality_score, critique = c.critique, error = c.error, ended_at = now()
            from c where e.tenant_id = c.tenant_id and e.id = c.id and e.status = 'running' and e.token = c.token
            returning c.i
        )
        select coalesce(array_agg(i), '{}') into part from closed;
        done := done || part;
    end if;

    -- execution.leave: the call has ended, and with it an attempt that was under way.
    if changes ? 'execution.leave' then
        update executor.multimodal_executions e set status = 'failed', error = c.error, ended_at = now()
        from jsonb_to_recordset(changes -> 'execution.leave') as c(tenant_id text, call_id text, error text)
        where e.tenant_id = c.tenant_id and e.call_id = c.call_id and e.status = 'running';
    end if;

    -- session.erase: all that is kept of a session, whose turns have ended.
    if changes ? 'session.erase' then
        perform bus.erase('executor', c.tenant_id, 'session_id', array_agg(c.session_id))
        from jsonb_to_recordset(changes -> 'session.erase') as c(tenant_id text, session_id text) group by c.tenant_id;
    end if;

    -- tool.revoke: the remote tool is not offered, whether it was or not.
    if changes ? 'tool.revoke' then
        delete from executor.tool_approvals a
        using jsonb_to_recordset(changes -> 'tool.revoke') as c(tool text)
        where a.tool = c.tool;
    end if;
    -- These kinds have no condition and always apply.
    select done || coalesce(array_agg((c ->> 'i')::int), '{}') into done
    from jsonb_each(changes) as k cross join lateral jsonb_array_elements(k.value) as c
    where k.key in (
        'call.dead', 'turn.cancel', 'stage.append', 'snapshot.add', 'journal.put', 'journal.free', 'skill.approve',
        'skill.revoke', 'tool.approve', 'tool.revoke', 'session.erase', 'capability.check', 'execution.leave'
    );
    return done || executor.apply_assets(changes);
end
$$;
