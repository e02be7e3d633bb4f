-- name: work_for(tenants)$
-- Let the rest of the transaction see these tenants' rows.
select set_config('suma.tenants', :tenants, true);

-- name: become_writer()#
set local role suma_directory;

-- name: put_tenant(tenant, name)^
insert into gateway.tenants (tenant_id, name, created_at) values (:tenant, :name, bus.now())
on conflict (tenant_id) do nothing returning tenant_id as tenant, name, created_at, disabled_at;

-- name: tenant_exists(tenant)$
select 1 from gateway.tenants where tenant_id = :tenant;

-- name: put_principal(tenant, principal)!
insert into gateway.principals (tenant_id, principal_id, created_at) values (:tenant, :principal, bus.now())
on conflict (tenant_id, principal_id) do nothing;

-- name: put_key(tenant, id, hash, principal, scopes, roles, expires, name, origin, by, signing_key, successor_of)!
-- A key that was revoked stays revoked.
insert into gateway.api_keys
    (tenant_id, key_id, hash, principal, scopes, roles, expires_at, name, origin, created_by, created_at, signing_key)
values (
    :tenant, :id, :hash, :principal, :scopes, :roles, :expires, :name, :origin, :by, bus.now(),
    coalesce(
        cast(:signing_key as jsonb),
        (select o.signing_key from gateway.api_keys o where o.tenant_id = :tenant and o.key_id = :successor_of)
    )
)
on conflict (tenant_id, key_id) do nothing;

-- name: live_keys(tenant)$
select count(*) from gateway.api_keys
where tenant_id = :tenant and revoked_at is null and (expires_at is null or expires_at > bus.now());

-- name: revoke_key(tenant, id)!
update gateway.api_keys set revoked_at = bus.now() where tenant_id = :tenant and key_id = :id and revoked_at is null;

-- name: take_rotation(tenant, id)$
-- Mark a key as rotated: of two rotations at once the second waits for the first, and finds no key.
update gateway.api_keys set rotated_at = bus.now()
where tenant_id = :tenant and key_id = :id and revoked_at is null and rotated_at is null
    and (expires_at is null or expires_at > bus.now())
returning key_id;

-- name: end_key(tenant, id, seconds)!
-- Let a key expire after the overlap with its successor.
update gateway.api_keys set expires_at = least(expires_at, bus.now() + make_interval(secs => :seconds))
where tenant_id = :tenant and key_id = :id and revoked_at is null;

-- name: disable_tenant(tenant)$
update gateway.tenants set disabled_at = coalesce(disabled_at, bus.now()) where tenant_id = :tenant returning tenant_id;

-- name: enable_tenant(tenant)$
update gateway.tenants set disabled_at = null where tenant_id = :tenant returning tenant_id;

-- name: disable_principal(tenant, principal)!
-- A principal of an outside issuer gets its row here.
insert into gateway.principals as p (tenant_id, principal_id, created_at, disabled_at) values (:tenant, :principal, bus.now(), bus.now())
on conflict (tenant_id, principal_id) do update set disabled_at = coalesce(p.disabled_at, excluded.disabled_at);

-- name: enable_principal(tenant, principal)$
update gateway.principals set disabled_at = null where tenant_id = :tenant and principal_id = :principal returning principal_id;

-- name: all_tenants(after, most)
-- Every tenant, by the owner's lookup policy.
select tenant_id as tenant, name, created_at, disabled_at from gateway.tenants
where cast(:after as text) is null or tenant_id > :after order by tenant_id limit :most;

-- name: revoke_other_files(tenant, principal, id)!
-- Revoke the keys of a principal's other key files, unless this key was revoked itself.
update gateway.api_keys set revoked_at = bus.now()
where tenant_id = :tenant and principal = :principal and origin = 'file' and key_id <> :id and revoked_at is null
  and exists (select from gateway.api_keys k where k.tenant_id = :tenant and k.key_id = :id and k.revoked_at is null);

-- name: put_code(tenant, hash, key, seconds)$
insert into gateway.signin_codes (tenant_id, hash, key_id, expires_at)
values (:tenant, :hash, :key, bus.now() + make_interval(secs => :seconds)) returning expires_at;

-- name: use_code(tenant, hash)$
-- Use a code up. If two requests use one code, one finds it.
update gateway.signin_codes set used_at = bus.now()
where tenant_id = :tenant and hash = :hash and used_at is null and expires_at > bus.now() returning key_id;

-- name: put_web_session(tenant, hash, key, seconds)$
insert into gateway.web_sessions (tenant_id, hash, key_id, created_at, expires_at)
values (:tenant, :hash, :key, bus.now(), bus.now() + make_interval(secs => :seconds)) returning expires_at;

-- name: end_web_session(tenant, hash)!
update gateway.web_sessions set ended_at = bus.now() where tenant_id = :tenant and hash = :hash and ended_at is null;

-- name: forget_ended(tenant)!
-- Delete sign-ins that can no longer be used, a day after their end.
with codes as (delete from gateway.signin_codes where tenant_id = :tenant and expires_at < bus.now() - interval '1 day')
delete from gateway.web_sessions where tenant_id = :tenant and least(expires_at, ended_at) < bus.now() - interval '1 day';
