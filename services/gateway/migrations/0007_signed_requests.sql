-- Requests that a key's holder signs (docs/identity.md): the public key, and the nonces of the last minutes.

alter table gateway.api_keys add column signing_key jsonb;

create table gateway.request_nonces (
    tenant_id text not null,
    key_id text not null,
    nonce text not null,
    at timestamptz not null,
    primary key (tenant_id, key_id, nonce)
);
create index request_nonces_age on gateway.request_nonces (tenant_id, at);

drop function gateway.credential(text, text);

-- The key behind a credential: `key` by its id, `web` and `code` by the hash of their text. `hash` is that of the key's secret.
create function gateway.credential(kind text, value text)
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
