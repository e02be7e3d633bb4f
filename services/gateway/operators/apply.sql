-- Apply the changes of dead letters.
create or replace function gateway.apply_operators(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
begin
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

    return done;
end
$$;
