-- Apply erasures (docs/decisions/0124).
create or replace function gateway.apply_erasures(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
begin
    -- session.erase: the lock keeps messages out, which would open a turn of what is gone.
    if changes ? 'session.erase' then
        perform from gateway.session_envelopes s
        join jsonb_to_recordset(changes -> 'session.erase') as c(tenant_id text, session_id text) using (tenant_id, session_id)
        order by s.tenant_id, s.session_id for update of s;
        select coalesce(array_agg(c.i), '{}') into done
        from jsonb_to_recordset(changes -> 'session.erase') as c(i int, tenant_id text, session_id text)
        where not exists (
            select from gateway.turns t where t.tenant_id = c.tenant_id and t.session_id = c.session_id and t.ended_at is null
        );
        perform bus.erase('gateway', c.tenant_id, 'session_id', array_agg(c.session_id))
        from jsonb_to_recordset(changes -> 'session.erase') as c(i int, tenant_id text, session_id text)
        where c.i = any (done) group by c.tenant_id;
    end if;

    if changes ? 'person.erase' then
        delete from gateway.push_configs p using jsonb_to_recordset(changes -> 'person.erase') as c(tenant_id text, principal text)
        where p.tenant_id = c.tenant_id and p.principal = c.principal;
        delete from gateway.idempotency r using jsonb_to_recordset(changes -> 'person.erase') as c(tenant_id text, principal text)
        where r.tenant_id = c.tenant_id and r.principal = c.principal;
    end if;

    return done || gateway.numbers(changes, 'person.erase');
end
$$;
