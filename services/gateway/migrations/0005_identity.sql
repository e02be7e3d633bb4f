-- Tenants, principals, keys, sign-ins (docs/identity.md). The role that serves requests reads them and notes a key's last use; only
-- the owner's role writes them (apply.sql ends with the grants).

create table gateway.tenants (
    tenant_id text not null,
    name text not null default '',
    created_at timestamptz not null,
    disabled_at timestamptz,
    primary key (tenant_id)
);

create table gateway.principals (
    tenant_id text not null,
    principal_id text not null,
    name text not null default '',
    created_at timestamptz not null,
    disabled_at timestamptz,
    primary key (tenant_id, principal_id),
    foreign key (tenant_id) references gateway.tenants
);

alter table gateway.api_keys
    add column name text not null default '',
    add column roles text[] not null default '{}',
    add column origin text not null default 'admin' check (origin in ('admin', 'file')),
    add column created_by text not null default '',
    add column used_at timestamptz;

-- Null: private to its principal.
alter table gateway.session_envelopes add column shared text check (shared in ('read', 'write'));
create index session_envelopes_principal on gateway.session_envelopes (tenant_id, principal, session_id);

-- Row-level security hides every row from a migration too: it belongs to no tenant.
alter table gateway.api_keys no force row level security;
alter table gateway.session_envelopes no force row level security;
insert into gateway.tenants (tenant_id, created_at)
    select tenant_id, min(created_at) from (
        select tenant_id, created_at from gateway.api_keys union all select tenant_id, created_at from gateway.session_envelopes
    ) as known group by tenant_id;
insert into gateway.principals (tenant_id, principal_id, created_at)
    select tenant_id, principal, min(created_at) from (
        select tenant_id, principal, created_at from gateway.api_keys
        union all select tenant_id, principal, created_at from gateway.session_envelopes
    ) as known group by tenant_id, principal;
-- Until now every key came from a key file.
update gateway.api_keys set origin = 'file', name = 'key file', roles = '{admin}' where scopes = '{*}';
alter table gateway.api_keys add foreign key (tenant_id, principal) references gateway.principals;
alter table gateway.session_envelopes force row level security;
alter table gateway.api_keys force row level security;

-- A browser that is signed in, as long as its key is valid. The cookie's text is stored only as a hash.
create table gateway.web_sessions (
    tenant_id text not null,
    hash text not null,
    key_id text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    primary key (tenant_id, hash),
    foreign key (tenant_id, key_id) references gateway.api_keys
);
create index web_sessions_hash on gateway.web_sessions (hash);

create table gateway.signin_codes (
    tenant_id text not null,
    hash text not null,
    key_id text not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (tenant_id, hash),
    foreign key (tenant_id, key_id) references gateway.api_keys
);
create index signin_codes_hash on gateway.signin_codes (hash);

-- A credential is looked up before its tenant is known, and a platform administrator lists tenants.
create policy lookup on gateway.tenants for select to suma_owner using (true);
create policy lookup on gateway.principals for select to suma_owner using (true);
create policy lookup on gateway.web_sessions for select to suma_owner using (true);
create policy lookup on gateway.signin_codes for select to suma_owner using (true);

-- The key behind a credential: `key` by its id, `web` and `code` by the hash of their text. `hash` is that of the key's secret.
create function gateway.credential(kind text, value text)
returns table (
    tenant_id text, key_id text, hash text, principal text, scopes text[], roles text[],
    expires_at timestamptz, revoked_at timestamptz, used_at timestamptz, disabled boolean
)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select k.tenant_id, k.key_id, k.hash, k.principal, k.scopes, k.roles,
        least(k.expires_at, c.expires_at), coalesce(k.revoked_at, c.ended_at), k.used_at,
        t.disabled_at is not null or p.disabled_at is not null
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
