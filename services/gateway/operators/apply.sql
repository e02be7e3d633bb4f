-- Apply the changes of dead letters.
create or replace function gateway.apply_operators(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
begin
    -- dead.put: a dead letter's id is that of the event that reported it (events before release 2 have none).
    if changes ? 'dead.put' then
        insert into gateway.dlq_messages
            (tenant_id, letter_id, grp, event_id, topic, event_type, event_key, session_id, turn_id, event, code, error, attempts, died_at)
        select c.tenant_id, coalesce(c.letter_id, gen_random_uuid()::text), c.grp, c.event_id, c.topic, c.event_type, c.event_key,
            c.session_id, c.turn_id, c.event, c.code, c.error, c.attempts, c.at
        from jsonb_to_recordset(changes -> 'dead.put')
            as c(tenant_id text, letter_id text, grp text, event_id text, topic text, event_type text, event_key text,
                 session_id text, turn_id text, event jsonb, code text, error text, attempts int, at timestamptz)
        order by c.tenant_id, c.letter_id
        on conflict (tenant_id, letter_id) do nothing;
    end if;

    -- dead.close: replay or discard an open dead letter once; later requests conflict and read the first one's result.
    if changes ? 'dead.close' then
        with c as (
            select distinct on (m.tenant_id, m.letter_id) m.* from jsonb_to_recordset(changes -> 'dead.close')
                as m(i int, tenant_id text, letter_id text, state text, closed_by text, reason text)
            order by m.tenant_id, m.letter_id, m.i
        ), locked as materialized (
            select c.i, c.state, c.closed_by, c.reason, o.tenant_id, o.letter_id
            from (select * from c order by c.tenant_id, c.letter_id offset 0) c
            cross join lateral (
                select d.tenant_id, d.letter_id from gateway.dlq_messages d
                where d.tenant_id = c.tenant_id and d.letter_id = c.letter_id and d.state = 'open' for update of d
            ) o
        ), closed as (
            update gateway.dlq_messages d set state = l.state, closed_by = l.closed_by, closed_at = bus.now(), reason = l.reason
            from locked l where d.tenant_id = l.tenant_id and d.letter_id = l.letter_id returning l.i
        )
        select done || array_agg(i) into done from closed;
    end if;

    return done || gateway.numbers(changes, 'dead.put');
end
$$;
