-- name: credential(kind, value)^
-- The key behind a credential of any tenant: it is looked up before the tenant is known.
select tenant_id, key_id, hash, principal, scopes, roles, expires_at, revoked_at, used_at, disabled, origin,
    signing_key::text as signing_key
from gateway.credential(:kind, :value);

-- name: account(tenant, principal)$
-- Whether a principal of an outside issuer may act: null without its tenant, else whether it or the tenant is disabled.
select t.disabled_at is not null or p.disabled_at is not null
from gateway.tenants t
left join gateway.principals p on p.tenant_id = t.tenant_id and p.principal_id = :principal
where t.tenant_id = :tenant;

-- name: keys_of(tenant, id, principal, ended, before, most)
-- A tenant's keys, newest first, or one of them; without `ended`, only valid ones.
select k.tenant_id as tenant, k.key_id, k.principal, k.name, k.roles, k.scopes, k.origin, k.created_at, k.created_by, k.expires_at,
    k.revoked_at, k.used_at, k.signing_key is not null as signs,
    case when k.revoked_at is not null then 'revoked' when k.expires_at <= bus.now() then 'expired' else 'valid' end as state,
    (select count(*) from gateway.web_sessions w
        where w.tenant_id = k.tenant_id and w.key_id = k.key_id and w.ended_at is null and w.expires_at > bus.now()) as browsers
from gateway.api_keys k
where k.tenant_id = :tenant and (cast(:id as text) is null or k.key_id = :id)
    and (cast(:principal as text) is null or k.principal = :principal)
    and (:ended or (k.revoked_at is null and (k.expires_at is null or k.expires_at > bus.now())))
    and (cast(:before as text) is null or (k.created_at, k.key_id) < (
        select b.created_at, b.key_id from gateway.api_keys b where b.tenant_id = :tenant and b.key_id = :before
    ))
order by k.created_at desc, k.key_id desc limit :most;

-- name: principals_of(tenant, after, most)
-- A tenant's principals by id, with the number of their valid keys.
select p.tenant_id as tenant, p.principal_id as principal, p.created_at, p.disabled_at,
    (select count(*) from gateway.api_keys k
        where k.tenant_id = p.tenant_id and k.principal = p.principal_id and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > bus.now())) as keys
from gateway.principals p
where p.tenant_id = :tenant and (cast(:after as text) is null or p.principal_id > :after)
order by p.principal_id limit :most;
