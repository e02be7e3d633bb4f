-- name: unsealed()
-- Heads of all tenants with records since their last checkpoint.
select tenant_id, count, link, sealed, since from audit.unsealed();

-- name: head_of(tenant)^
-- The end of a tenant's chain, and the number of its sealed records.
select tenant_id, count, link, sealed, since from audit.heads where tenant_id = :tenant;

-- name: checkpoints_of(tenant)
-- A tenant's checkpoints as signed, oldest first.
select tenant_id as tenant, count, head, time, key_id, signature from audit.checkpoints where tenant_id = :tenant order by count;

-- name: link_at(tenant, position)$
-- The link of one record.
select link from audit.audit_events where tenant_id = :tenant and position = :position;

-- name: entries_after(tenant, after, last, most)
-- A page of the stored chain.
select position, link, record::text as record from audit.audit_events
where tenant_id = :tenant and position > :after and position <= :last order by position limit :most;

-- name: entries_found(tenant, before, action, verdict, principal, session, turn, since, until, looks, limit)
-- The newest matching records below a position. Without looks, permissions to read are left out: they outnumber the rest.
select position, link, record::text as record from audit.audit_events
where tenant_id = :tenant
  and (:before::bigint is null or position < :before)
  and (:action::text is null or action = :action)
  and (:verdict::text is null or verdict = :verdict)
  and (:principal::text is null or principal = :principal)
  and (:session::text is null or session_id = :session)
  and (:turn::text is null or turn_id = :turn)
  and (:since::timestamptz is null or occurred_at >= :since)
  and (:until::timestamptz is null or occurred_at < :until)
  and (:looks::boolean or verdict <> 'allow' or (action not like '%.read' and action <> 'admin.audit'))
order by position desc limit :limit;
