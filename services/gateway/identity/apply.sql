-- The key behind a credential: `key` by its id, `web` and `code` by the hash of their text. `hash` is that of the key's secret.
create or replace function gateway.credential(kind text, value text)
returns table (
    tenant_id text, key_id text, hash text, principal text, scopes text[], roles text[],
    expires_at timestamptz, revoked_at timestamptz, used_at timestamptz, disabled boolean, origin text, signing_key jsonb
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select k.tenant_id, k.key_id, k.hash, k.principal, k.scopes, k.roles,
        least(k.expires_at, c.expires_at), coalesce(k.revoked_at, c.ended_at), k.used_at,
        t.disabled_at is not null or p.disabled_at is not null, k.origin, k.signing_key
    from (
        select k.tenant_id, k.key_id, null::timestamptz as expires_at, null::timestamptz as ended_at
        from gateway.api_keys k where kind = 'key' and k.key_id = value
        union all
        select w.tenant_id, w.key_id, w.expires_at, w.ended_at from gateway.web_sessions w where kind = 'web' and w.hash = value
        union all
        select s.tenant_id, s.key_id, s.expires_at, s.used_at from gateway.signin_codes s where kind = 'code' and s.hash = value
    ) as c
    join gateway.api_keys k on k.tenant_id = c.tenant_id and k.key_id = c.key_id
    join gateway.tenants t on t.tenant_id = k.tenant_id
    join gateway.principals p on p.tenant_id = k.tenant_id and p.principal_id = k.principal
$$;
revoke all on function gateway.credential(text, text) from public;
grant execute on function gateway.credential(text, text) to suma_app;

-- Apply the changes of the use of keys.
create or replace function gateway.apply_identity(changes jsonb) returns int[] language plpgsql as $$
declare
    done int[] := '{}';
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
        select done || array_agg(c.i) into done from c join put using (tenant_id, key_id, nonce);
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
