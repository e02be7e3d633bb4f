-- name: held(tenant, named, given)
-- The rows of the gateway with one of these values in a column of this name.
select h.name, h.content::text as content from bus.held('gateway', :tenant, :named, cast(:given as text[])) as h;

-- name: sessions_of(tenant, principal, before, open, most)
-- A principal's sessions from before a time; `open`: only those with an open turn.
select s.session_id as id from gateway.session_envelopes s
where s.tenant_id = :tenant and s.principal = :principal and s.created_at <= :before
    and (not cast(:open as boolean) or exists (
        select from gateway.turns t where t.tenant_id = s.tenant_id and t.session_id = s.session_id and t.ended_at is null
    ))
order by s.session_id limit :most;

-- name: uploads_of(tenant, principal)
-- A principal's uploads, whether complete or not.
select u.upload_id as id from gateway.uploads u where u.tenant_id = :tenant and u.principal = :principal
union
select a.asset_id from gateway.attachments a where a.tenant_id = :tenant and a.principal = :principal;
