-- Apply the changes of the answers of requests.
create or replace function gateway.apply_requests(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
begin
    -- idempotency.put: the first with its key succeeds; a request that conflicts reads the first one's receipt.
    if changes ? 'idempotency.put' then
        delete from gateway.idempotency d using (
            select o.tenant_id, o.principal, o.key from gateway.idempotency o
            join (
                select c.tenant_id, max(c.keep) as keep from jsonb_to_recordset(changes -> 'idempotency.put')
                    as c(tenant_id text, keep float8) group by c.tenant_id
            ) as c on o.tenant_id = c.tenant_id and o.at < bus.now() - make_interval(secs => c.keep)
            order by o.tenant_id, o.at limit 200 for update of o skip locked
        ) as old where (d.tenant_id, d.principal, d.key) = (old.tenant_id, old.principal, old.key);
        with c as (
            select distinct on (p.tenant_id, p.principal, p.key) p.*
            from jsonb_to_recordset(changes -> 'idempotency.put')
                as p(i int, tenant_id text, principal text, key text, body_hash text, receipt jsonb, keep float8)
            order by p.tenant_id, p.principal, p.key, p.i
        ), put as (
            insert into gateway.idempotency as p (tenant_id, principal, key, body_hash, receipt, at)
            select c.tenant_id, c.principal, c.key, c.body_hash, c.receipt, bus.now() from c order by c.tenant_id, c.principal, c.key
            on conflict (tenant_id, principal, key) do update
                set body_hash = excluded.body_hash, receipt = excluded.receipt, at = excluded.at
                where p.at < bus.now() - make_interval(secs => (select max(c.keep) from c where c.tenant_id = p.tenant_id))
            returning p.tenant_id, p.principal, p.key
        )
        select done || array_agg(c.i) into done from c join put using (tenant_id, principal, key);
    end if;

    return done;
end
$$;
