-- Apply the changes of the use of keys.
create or replace function gateway.apply_identity(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    -- nonce.put: the first request with its nonce succeeds; one that conflicts was sent before.
    if changes ? 'nonce.put' then
        delete from gateway.request_nonces d using (
            select o.tenant_id, o.key_id, o.nonce from gateway.request_nonces o
            join (select distinct c.tenant_id from jsonb_to_recordset(changes -> 'nonce.put') as c(tenant_id text)) as c
                on o.tenant_id = c.tenant_id and o.at < bus.now() - interval '15 minutes'
            order by o.tenant_id, o.at limit 200 for update of o skip locked
        ) as old where (d.tenant_id, d.key_id, d.nonce) = (old.tenant_id, old.key_id, old.nonce);
        with c as (
            select distinct on (p.tenant_id, p.key_id, p.nonce) p.*
            from jsonb_to_recordset(changes -> 'nonce.put') as p(i int, tenant_id text, key_id text, nonce text)
            order by p.tenant_id, p.key_id, p.nonce, p.i
        ), put as (
            insert into gateway.request_nonces (tenant_id, key_id, nonce, at)
            select c.tenant_id, c.key_id, c.nonce, bus.now() from c order by c.tenant_id, c.key_id, c.nonce
            on conflict (tenant_id, key_id, nonce) do nothing returning tenant_id, key_id, nonce
        )
        select coalesce(array_agg(c.i), '{}') into part from c join put using (tenant_id, key_id, nonce);
        done := done || part;
    end if;

    -- key.used: note a key's last use, at most once a minute.
    if changes ? 'key.used' then
        update gateway.api_keys k set used_at = bus.now()
        from (
            select o.tenant_id, o.key_id from gateway.api_keys o
            join (select distinct u.tenant_id, u.key_id from jsonb_to_recordset(changes -> 'key.used') as u(tenant_id text, key_id text))
                as c using (tenant_id, key_id)
            where o.used_at is null or o.used_at < bus.now() - interval '1 minute'
            order by o.tenant_id, o.key_id for update of o skip locked
        ) as l where k.tenant_id = l.tenant_id and k.key_id = l.key_id;
    end if;

    return done || gateway.numbers(changes, 'key.used');
end
$$;

-- Only the owner's role and suma_directory write identities (directory.py); the role that serves requests notes when a key was last used.
revoke insert, update, delete
    on gateway.tenants, gateway.principals, gateway.api_keys, gateway.web_sessions, gateway.signin_codes from suma_app;
grant update (used_at) on gateway.api_keys to suma_app;
