-- name: receipt(tenant, principal, key, keep)^
-- The stored answer of this idempotency key, while it is valid.
select key, body_hash, receipt::text as receipt from gateway.idempotency
where tenant_id = :tenant and principal = :principal and key = :key and at >= bus.now() - make_interval(secs => :keep);

-- name: last_receipt(tenant, principal, prefix, keep)^
-- The newest stored answer among the idempotency keys with this beginning.
select key, body_hash, receipt::text as receipt from gateway.idempotency
where tenant_id = :tenant and principal = :principal and starts_with(key, :prefix)
    and at >= bus.now() - make_interval(secs => :keep)
order by at desc limit 1;
